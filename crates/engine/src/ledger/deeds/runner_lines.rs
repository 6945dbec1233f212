//! Lines of test runners, builds and linters that say how a run went: tests by name, counts, summaries.

use std::sync::LazyLock;

use regex::Regex;

/// What a summary says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Counts {
    /// How many tests passed, where it is counted.
    pub passed: u32,
    /// How many failed.
    pub failed: u32,
    /// Whether tests were counted.
    pub has_tests: bool,
    /// Whether the line says that all went well.
    pub is_good: bool,
    /// Whether the line says that the run failed, counted or not.
    pub is_bad: bool,
}

/// Reads a summary: `52 passed, 2 failed in 3.1s`, `BUILD SUCCESS`, `All checks passed!`.
pub(super) fn summary(plain: &str) -> Option<Counts> {
    // Summaries are short; the head of a table or a sentence about tests is not one.
    const LONGEST: usize = 200;
    // `[lint:go] 0 issues.`: tasks that run together put their name before each line.
    let plain = match plain.strip_prefix('[').and_then(|rest| rest.split_once("] ")) {
        Some((task, rest)) if !task.contains(' ') && task.contains(|letter: char| letter.is_lowercase()) => rest,
        _ => plain,
    };
    // `passed: 0` counts nothing.
    if plain.len() > LONGEST || plain.starts_with("passed: 0") {
        return None;
    }
    let is_count = COUNTING.is_match(plain);
    if !is_count && !VERDICT.is_match(plain) {
        return None;
    }
    let sum = |pattern: &Regex| {
        let numbers = pattern.captures_iter(plain).filter_map(|found| {
            let number = found.iter().skip(1).flatten().next()?;
            number.as_str().parse::<u32>().ok()
        });
        numbers.fold(0u32, u32::saturating_add)
    };
    let failed = if is_count || plain.contains("rror") {
        sum(&FAILED)
    } else {
        0
    };
    let says_bad = ["FAILED", "FAILURE", "FAIL\t", "✖", "unsuccessful"]
        .iter()
        .any(|word| plain.contains(word));
    Some(Counts {
        passed: if is_count { sum(&PASSED) } else { 0 },
        failed,
        has_tests: is_count,
        is_good: failed == 0 && !says_bad && GOOD.is_match(plain),
        is_bad: failed > 0 || says_bad || plain == "FAIL",
    })
}

/// The name of a test that passed.
pub(super) fn passed_test(plain: &str) -> Option<&str> {
    if let Some(rest) = plain.strip_prefix("test ") {
        return rest.strip_suffix(" ... ok");
    }
    if let Some(rest) = plain.strip_prefix("--- PASS: ") {
        return Some(without_time(rest));
    }
    if let Some(name) = plain
        .strip_prefix("PASSED ")
        .or_else(|| plain.split_once(" PASSED").map(|(name, _)| name))
    {
        return name.contains("::").then(|| name.trim());
    }
    if let Some(rest) = plain.strip_prefix("ok ") {
        return numbered(rest);
    }
    let ticked = plain.strip_prefix('✓').or_else(|| plain.strip_prefix('✔'))?;
    Some(without_time(ticked.trim()))
}

/// The name of a test that failed.
pub(super) fn failed_test<'a>(line: &'a str, plain: &'a str) -> Option<&'a str> {
    if let Some(rest) = plain.strip_prefix("test ") {
        return rest.strip_suffix(" ... FAILED");
    }
    if let Some(rest) = plain.strip_prefix("---- ") {
        return rest.strip_suffix(" stdout ----");
    }
    if let Some(rest) = plain.strip_prefix("--- FAIL: ") {
        return Some(without_time(rest));
    }
    if let Some(rest) = plain.strip_prefix("[  FAILED  ] ") {
        return Some(without_time(rest)).filter(|name| name.contains('.'));
    }
    if let Some(rest) = plain.strip_prefix("not ok ") {
        return numbered(rest);
    }
    for opening in ["FAILED ", "ERROR "] {
        if let Some(rest) = plain.strip_prefix(opening) {
            let name = rest.split(" - ").next().unwrap_or(rest).trim();
            return (name.contains("::") || name.ends_with(".py"))
                .then_some(name)
                .filter(|name| !name.contains(' ') || name.contains('['));
        }
    }
    for opening in ["FAIL: ", "ERROR: "] {
        if let Some(rest) = line.strip_prefix(opening) {
            return rest
                .split_once(" (")
                .map(|(name, _)| name)
                .filter(|name| name.starts_with("test") && !name.contains(' '));
        }
    }
    if let Some(rest) = plain.strip_prefix("FAIL ") {
        let rest = rest.trim();
        let rest = rest.split_once("] ").map_or(rest, |(_, rest)| rest);
        return (rest.contains(['.', '>']) && !rest.contains('\t')).then_some(rest);
    }
    if let Some(rest) = plain.strip_prefix('●') {
        return rest.contains('›').then(|| rest.trim());
    }
    let crossed = ['✗', '✕', '✘'].iter().find_map(|mark| plain.strip_prefix(*mark))?;
    Some(without_time(crossed.trim())).filter(|name| name.len() > 2)
}

fn without_time(name: &str) -> &str {
    name.split_once(" (").map_or(name, |(name, _)| name).trim()
}

/// `3 - adds numbers`
fn numbered(rest: &str) -> Option<&str> {
    let (number, name) = rest.split_once(' ')?;
    number.parse::<u32>().ok()?;
    Some(name.trim_start_matches('-').trim()).filter(|name| !name.is_empty() && !name.starts_with('#'))
}

fn pattern(text: &str) -> Regex {
    // Word boundaries of ASCII keep the regex engine on its fast path.
    Regex::new(&text.replace(r"\b", r"(?-u:\b)"))
        .expect("the patterns of this file are well formed, which a test shows")
}

/// Lines that count tests.
static COUNTING: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"^test result: |^=+ .*\b\d+ (?:passed|failed|errors?)\b.* =+$|^\d+ (?:passed|failed|errors?)\b(?:, \d+ \w+)* in [\d.]+|^(?:Tests|Test Files|Test Suites|Tests results)\b:? +\d+ ",
        r"|^\d+ (?:passing|failing)\b|Tests run: \d+|^FAILED \((?:failures|errors)=|^OK \(\d+ tests?|^\d+ examples?, \d+ failures?|^# (?:pass|fail) \d+$|^\d+ tests?, \d+ assertions?|^\d+% tests passed",
        r"|^\d+ tests?,? (?:\d+ )?(?:passed|failures?)\b|^Summary \[.*\d+ tests? run|^\d+ passed\b[^.]*$|^Passed! +- |^Failed! +- |^(?:passed|failed): \d+|^\d+ tests? completed|^Executed \d+ tests?",
    ))
});

/// Lines that say how a build, a linter or another check ended.
static VERDICT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(concat!(
        r"\bBUILD (?:SUCCESSFUL|SUCCESS|FAILED|FAILURE)\b|^Build (?:succeeded|FAILED)|^\s*Finished `?\w+`? .*target|[Cc]ompiled successfully|^All (?:checks|tests|files) \w+|^Success: no issues found|^Found \d+ errors?\b|✖ \d+ problems?",
        r"|^\d+ (?:Error|Warning)\(s\)|^ok\s+\S+\s+(?:[\d.]+s|\(cached\))|^OK$|^(?:✓|✔) built in|\b[Nn]o (?:issues|problems|errors|vulnerabilities)(?: were)? found|^nothing to commit|working tree clean|^All matched files use|^Successfully (?:built|installed|tagged|applied)",
        r"|^0 errors\b|^(?:PASS|FAIL)$|^FAIL\t|^Everything up-to-date|^Apply complete!|^webpack .* compiled|^\+ \S+@\d|^added \d+ packages|^\d+ files? (?:reformatted|left unchanged|already formatted)",
        r"|^\d+ issues?[.:]|^Successfully rebased|^Switched to |^Already (?:on|up to date)|^[A-Z]+(?:_[A-Z]+)*_(?:OK|PASSED)$|^[A-Z]+ OK$",
    ))
});

/// Words of a summary that say that all went well.
static GOOD: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(?:passed|passing|ok|pass|success\w*|succeeded|finished|compiled|built|clean|no (?:issues|problems|errors|vulnerabilities)|0 errors?|0 failures?|up-to-date|complete|added|unchanged|formatted|installed|0 error\(s\)|nothing to commit|completed|executed|run|0 issues|rebased|switched|already)\b|_OK$|code style|# pass",
    )
});

static FAILED: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"(?i)\b(\d+) (?:tests? )?(?:failed|failing|failures?|errors?|errored|problems?|timed out)\b|\b(?:failures|errors|failed|fail)[:= ]+(\d+)|(\d+) error\(s\)",
    )
});

static PASSED: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)\b(\d+) (?:tests? )?(?:passed|passing)\b|\bpass(?:ed)?[:= ]+(\d+)"));

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn summaries_of_all_runners() {
        for (line, passed, failed, is_good) in [
            ("test result: ok. 3 passed; 0 failed; 0 ignored", 3, 0, true),
            ("test result: FAILED. 3 passed; 2 failed; 0 ignored", 3, 2, false),
            ("=== 1 failed, 3 passed in 0.1s ===", 3, 1, false),
            ("52 passed, 2 failed in 3.10s", 52, 2, false),
            ("12 passed in 0.30s", 12, 0, true),
            ("Tests:       1 failed, 3 passed, 4 total", 3, 1, false),
            ("Tests  7 passed (7)", 7, 0, true),
            ("Tests run: 4, Failures: 1, Errors: 0, Skipped: 0", 0, 1, false),
            ("5 examples, 0 failures", 0, 0, true),
            ("# fail 2", 0, 2, false),
            ("BUILD SUCCESSFUL in 3s", 0, 0, true),
            ("BUILD FAILED in 3s", 0, 0, false),
            ("Found 3 errors in 2 files (checked 9 source files)", 0, 3, false),
            ("All checks passed!", 0, 0, true),
            ("    Finished `dev` profile [unoptimized] target(s) in 3s", 0, 0, true),
            ("ok  \tpkg/x\t0.5s", 0, 0, true),
            ("0 issues.", 0, 0, true),
            ("[lint:go] 0 issues.", 0, 0, true),
            ("3 issues:", 0, 0, false),
            ("Successfully rebased and updated refs/heads/x.", 0, 0, true),
            ("Switched to a new branch 'x'", 0, 0, true),
            ("BUILD_OK", 0, 0, true),
        ] {
            let counts = summary(line.trim()).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(
                (counts.passed, counts.failed, counts.is_good),
                (passed, failed, is_good),
                "{line}"
            );
        }
        for line in [
            "ok",
            "the tests passed as they should",
            "3 files",
            "error: x",
            "Testing 3 things",
        ] {
            assert_eq!(summary(line), None, "{line}");
        }
    }
}
