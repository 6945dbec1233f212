//! Which commands check or settle something: tests, builds, linters, types, deployments, version control.

use super::records::CheckKind;
use super::shell::Word;

/// Words in the name of a program, a script or a target, with what they check. The first kind that has one is meant.
const WORDS: [(CheckKind, &[&str]); 5] = [
    (
        CheckKind::Test,
        &[
            "test",
            "tests",
            "pytest",
            "jest",
            "vitest",
            "mocha",
            "rspec",
            "ctest",
            "tox",
            "nox",
            "nextest",
            "unittest",
            "phpunit",
            "karma",
            "cypress",
            "playwright",
            "spec",
            "e2e",
            "bats",
            "gotestsum",
            "ava",
            "tap",
            "busted",
            "ginkgo",
            "junit",
            "testacular",
            "minitest",
            "pest",
            "doctest",
            "bench",
            "verify",
            "ci",
            "trybuild",
            "miri",
            "hspec",
            "coverage",
        ],
    ),
    (
        CheckKind::Types,
        &[
            "tsc",
            "tsgo",
            "mypy",
            "pyright",
            "typecheck",
            "types",
            "dialyzer",
            "phpstan",
            "psalm",
            "sorbet",
            "flow",
            "check",
            "basedpyright",
            "ty",
            "pyre",
        ],
    ),
    (
        CheckKind::Lint,
        &[
            "lint",
            "clippy",
            "vet",
            "eslint",
            "ruff",
            "flake8",
            "pylint",
            "fmt",
            "format",
            "prettier",
            "black",
            "golangci",
            "rubocop",
            "shellcheck",
            "stylelint",
            "biome",
            "hadolint",
            "ktlint",
            "checkstyle",
            "phpcs",
            "credo",
            "staticcheck",
            "gofmt",
            "rustfmt",
            "isort",
            "oxlint",
            "standard",
            "detekt",
            "swiftlint",
            "actionlint",
            "markdownlint",
            "commit",
        ],
    ),
    (
        CheckKind::Deploy,
        &[
            "deploy", "apply", "rollout", "publish", "release", "migrate", "upgrade", "push", "plan", "destroy",
            "promote",
        ],
    ),
    (
        CheckKind::Build,
        &[
            "build",
            "compile",
            "make",
            "gmake",
            "ninja",
            "cmake",
            "gcc",
            "g++",
            "cc",
            "clang",
            "clang++",
            "rustc",
            "javac",
            "webpack",
            "rollup",
            "vite",
            "esbuild",
            "assemble",
            "package",
            "meson",
            "bazel",
            "buck2",
            "gradle",
            "gradlew",
            "mvn",
            "msbuild",
            "xcodebuild",
            "swiftc",
            "ghc",
            "stack",
            "cabal",
            "sbt",
            "nvcc",
            "zig",
            "nimble",
            "dune",
            "turbo",
            "nx",
        ],
    ),
];

/// Verbs of version control that change or tell what stands there.
const VERSION: [&str; 19] = [
    "status",
    "commit",
    "push",
    "merge",
    "rebase",
    "revert",
    "reset",
    "stash",
    "tag",
    "cherry-pick",
    "pull",
    "checkout",
    "switch",
    "restore",
    "am",
    "apply",
    "ci",
    "update",
    "describe",
];

/// What a command checks or settles.
pub(super) fn kind(name: &str, family: &str, rest: &[Word]) -> Option<CheckKind> {
    let plain: Vec<&str> = rest
        .iter()
        .map(|word| word.text.as_str())
        .filter(|word| !word.starts_with('-'))
        .take(2)
        .collect();
    match (name, plain.as_slice()) {
        ("git" | "hg" | "svn" | "jj" | "sl", _) => {
            let verb = family.split(' ').nth(1).or(plain.first().copied()).unwrap_or_default();
            return VERSION.contains(&verb).then_some(CheckKind::Version);
        }
        (
            "gh" | "glab" | "hub" | "tea" | "az",
            [
                "pr" | "mr" | "release" | "repos",
                "create" | "merge" | "close" | "edit" | "ready" | "checks" | "reopen",
            ],
        ) => {
            return Some(CheckKind::Version);
        }
        ("gh" | "glab", ["run" | "workflow" | "ci", "watch" | "view" | "run" | "rerun" | "status"]) => {
            return Some(CheckKind::Test);
        }
        ("gh" | "glab" | "hub" | "tea" | "apt" | "apt-get" | "brew" | "pip" | "pip3", _) => return None,
        ("npm" | "pnpm" | "yarn" | "bun", ["install" | "add" | "i" | "ci" | "remove" | "link", ..]) => return None,
        _ => {}
    }
    let is_word = |word: &str| {
        let found = WORDS.iter().find(|(_, words)| words.contains(&word));
        found.map(|(kind, _)| *kind)
    };
    let own = family.split(' ').find_map(is_word);
    // `npm run test:unit`, `./run_tests.sh`, `scripts/lint.py`: the pieces of the name.
    own.or_else(|| {
        let pieces = family
            .split([' ', ':', '_', '/', '.', '-'])
            .filter(|piece| *piece != "check" && piece.len() > 2);
        let mut kinds: Vec<CheckKind> = pieces.filter_map(is_word).collect();
        kinds.sort_unstable();
        kinds.first().copied()
    })
}
