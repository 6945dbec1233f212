"""A TypeScript monorepo is taken apart package by package, over three compactions."""

from noise import numbered
from noise import weave
from scene import Scene

TURBO = [
    "@harbor/<charts|forms|auth|i18n|dates|grid>:build: cache <hit|miss>, <replaying logs|executing> <#16>",
    "@harbor/<charts|forms|auth|i18n|dates|grid>:build: ESM dist/<index|chunk>-<#6>.js <2-90>.<10-99> KB",
    "planner:typecheck: src/<views|stores|hooks>/<board|berth|crane|shift|tide>.ts <10-900> ms",
    "berths:test: ✓ src/<views|stores|hooks>/<board|berth|crane|shift|tide>.test.ts (<2-30> tests) <10-900>ms",
    "@harbor/<charts|forms|auth|i18n|dates|grid>:lint: <0-4> warnings",
]


def turbo(d, count, facts=(), at=0.7):
    return weave(d.lines(count, TURBO), *facts, at=at)


def hits(d, count, facts=(), at=0.5):
    return weave(sorted(d.lines(count, ["<apps|packages>/<planner|berths|charts|forms|grid>/src/<views|stores|hooks>/<board|berth|crane|shift|tide>.ts<x|>:<1-30>:import { <Length|Draught|Berth|Limit|Tide|toMetres|clamp> } from '@harbor/core';"])), *facts, at=at)


def stat(d, count, total):
    return "\n".join(sorted(d.lines(count, [" <apps|packages>/<planner|berths|charts|forms|grid>/src/<views|stores|hooks>/<board|berth|crane|shift|tide>.ts | <2-20> <+|-><+|-><+|->"]))) + f"\n {total} files changed, {d.number(100, 900)} insertions(+), {d.number(100, 900)} deletions(-)"


def build() -> Scene:
    s = Scene(
        "chained-monorepo-split", "chained",
        "The core package of a port-planning monorepo is split into three over a long session that is compacted twice on the way and once at the end. "
        "Rules, names and decisions from the first stretch are asked for when they are long out of sight.",
        call_prefix="call_",
    )
    d = s.dice
    npm = s.secret("nope4471", "aaaa1111", "bbbb2222", "cccc3333")
    s.system("You are a coding assistant with a terminal and file tools. Work in small steps, run the checks, and report what changed and what is open.")
    # First stretch: survey, rules, names, the first package.
    s.user("""We are splitting packages/core in the harbor monorepo. It has grown to 41k lines and everything imports it. Target: three packages. Rules for the whole job:
- never push to main, work on branch split/core
- every commit builds on its own
- no `any`, no ts-ignore
- apps/legacy-portal is off limits, its contract pins core 3.x until March
CI runs Node 20. Start with a survey.""")
    s.do("Survey first.",
         ("terminal", {"command": "cat package.json .npmrc && ls packages apps && npx madge --circular packages/core/src"}, "{\n \"name\": \"harbor\",\n \"private\": true,\n \"packageManager\": \"pnpm@9.12.3\",\n \"engines\": {\"node\": \">=20\"}\n}\n@harbor:registry=http://npm.example.com:4873/\n//npm.example.com:4873/:_authToken=" + npm + "\n\nauth  charts  core  dates  forms  grid  i18n\nberths  legacy-portal  planner\n\n" + weave(d.lines(10, ["Processed <100-900> files (<1-9>.<0-9>s) (<10-99> warnings)"]), "✖ Found 1 circular dependency!", "1) units/convert.ts > rules/limits.ts", at=0.9)),
         ("terminal", {"command": "grep -rn \"from '@harbor/core'\" apps packages | wc -l; grep -rn \"from '@harbor/core'\" apps packages | head -30"}, "812\n" + hits(d, 28)))
    s.say("812 imports of @harbor/core. One circle: units/convert.ts and rules/limits.ts import each other. Proposed names: @harbor/kernel for the data types, @harbor/rules, @harbor/io.")
    s.user("Two corrections. CI moved to Node 22.11 last week, engines field is out of date. And not 'kernel': the simulation team calls its C++ part kernel, that will confuse everybody. Call it @harbor/model.")
    s.do("",
         ("terminal", {"command": "git switch -c split/core && sed -i 's/>=20/>=22.11/' package.json && git commit -qam 'build: say which Node CI runs' && time pnpm -r typecheck"}, turbo(d, 26, ["real 1m34.2s  (baseline: typecheck 94 s)"], 0.99)))
    s.say("Baseline before the split: the type check takes 94 s. Names are settled: @harbor/model, @harbor/rules, @harbor/io. What should happen to @harbor/core itself: delete it, or keep it?")
    s.user("Delete it in one go, clean cut.")
    s.do("Checking who would break.", ("terminal", {"command": "curl -s http://npm.example.com:4873/-/dependents/@harbor/core | jq -r '.[]'"}, "curl: (7) Failed to connect to npm.example.com port 4873: Connection refused"))
    s.say("The registry does not answer on the port of .npmrc.")
    s.user("The registry listens on 4874 since the move, fix .npmrc while you are there.")
    s.do("", ("terminal", {"command": "sed -i 's/4873/4874/' .npmrc && curl -s http://npm.example.com:4874/-/dependents/@harbor/core | jq -r '.[]'"}, "\n".join(f"@{d.pick(['quay', 'pilot', 'tug', 'yard'])}/{d.pick(['app', 'report', 'sync', 'kiosk', 'export'])}-{n}" for n in range(14))))
    s.say("Registry works on 4874. Fourteen packages outside of this repository depend on @harbor/core. A clean cut would break all of them on the same day.")
    s.user("14, I did not expect that. Then no clean cut: core stays as a shim that re-exports the three, for the whole of version 4, and goes away in version 5.")
    s.say("Decided: packages/core becomes a shim in 4.x and is removed in 5.0, because of the fourteen outside consumers. I will also write a codemod for them, tools/codemods/core-to-model.mjs, and hand it to the portal team with a short README when the split is done. That is a promise, not done yet.")
    s.do("Now the circle. LimitKind is what both files need.",
         ("read_file", {"path": "packages/core/src/rules/limits.ts"}, numbered("import { toMetres } from '../units/convert';\n\nexport enum LimitKind {\n  Draught = 'draught',\n  Length = 'length',\n  Beam = 'beam',\n  AirDraught = 'air-draught',\n}\n\nexport interface Limit {\n  kind: LimitKind;\n  value: number;\n  unit: 'm' | 'ft';\n}\n\nexport function within(limit: Limit, value: number): boolean {\n  return value <= toMetres(limit.value, limit.unit);\n}")),
         ("write_file", {"path": "packages/model/src/limit-kind.ts", "content": "export enum LimitKind {\n  Draught = 'draught',\n  Length = 'length',\n  Beam = 'beam',\n  AirDraught = 'air-draught',\n}\n"}, "created"),
         ("terminal", {"command": "pnpm --filter @harbor/model build"}, "error TS6305: Output file 'packages/model/dist/index.d.ts' has not been built from source file 'packages/model/src/index.ts'.\nELIFECYCLE  Command failed with exit code 2."))
    s.do("A project reference is missing.", ("write_file", {"path": "packages/model/tsconfig.json", "content": "{\n \"extends\": \"../../tsconfig.base.json\",\n \"compilerOptions\": {\"composite\": true, \"outDir\": \"dist\", \"rootDir\": \"src\"},\n \"include\": [\"src\"]\n}\n"}, "created"),
         ("terminal", {"command": "pnpm --filter @harbor/model build && npx madge --circular packages/*/src"}, "✔ No circular dependency found!"))
    s.say("TS6305 is solved with `composite`, and the circle is gone: LimitKind lives in packages/model/src/limit-kind.ts.")
    s.user("Good. One thing legal has to answer: packages/io contains the parser from the old vendor, we do not know whether its licence header may change. Until they answer, move those files byte for byte and do not publish @harbor/io.")
    s.say("Understood: @harbor/io is not published and the vendor's parser files are moved without a byte changed until legal answers.")
    s.do("Moving the first 60 files.", ("terminal", {"command": "node tools/move.mjs --from core --to model --list model-files.txt && git commit -qam 'model: the data types have their own package' && git show --stat HEAD | tail -32"}, stat(d, 24, 60)))
    s.say("Sixty files moved and committed; the build is green.")
    s.cut()
    # Second stretch: rules, boundaries, bundle size.
    s.user("On to the rules package. I want the direction enforced: model knows nobody, rules may use model, io may use both.")
    s.do("", ("terminal", {"command": "pnpm add -Dw eslint-plugin-boundaries && pnpm lint"}, turbo(d, 40, ["ESLint: 9.14.0", "TypeError: context.getAncestors is not a function", "Rule: \"boundaries/element-types\""], 0.9)))
    s.say("eslint-plugin-boundaries does not work with our ESLint 9. Alternatives: pin ESLint 8, or check with dependency-cruiser outside of ESLint.")
    s.user("Do not pin old tools. dependency-cruiser, as its own CI job.")
    s.do("", ("write_file", {"path": ".dependency-cruiser.cjs", "content": "module.exports = {\n  forbidden: [\n    { name: 'model-knows-nobody', from: { path: '^packages/model' }, to: { path: '^packages/(rules|io)' } },\n    { name: 'rules-not-io', from: { path: '^packages/rules' }, to: { path: '^packages/io' } },\n  ],\n};\n"}, "created"))
    s.do("", ("terminal", {"command": "npx depcruise packages --config .dependency-cruiser.cjs"}, weave(d.lines(18, ["  <info|warn> no-orphans: packages/<charts|grid|forms>/src/<index|theme|axis>.ts"]), "  error rules-not-io: packages/rules/src/tide/forecast.ts → packages/io/src/tide-file.ts", "x 1 dependency violations (1 errors, 17 warnings). 1,904 modules, 5,120 dependencies cruised.", at=0.95)))
    s.say("One real violation: the tide forecast in rules reads a file through io. I would pass the readings in as an argument.")
    s.user("Yes, pass them in. CI job name: boundaries. Make it required.")
    s.do("", ("patch", {"path": "packages/rules/src/tide/forecast.ts", "old": "export function forecast(port: string): Tide[] {\n  const readings = readTideFile(port);", "new": "export function forecast(readings: Reading[]): Tide[] {"}, "1 replacement"))
    s.do("", ("terminal", {"command": "pnpm --filter @harbor/rules test"}, turbo(d, 46, ["@harbor/rules:test: ❯ src/tide/forecast.test.ts (9 tests | 2 failed) 41ms", "@harbor/rules:test:   → expected 3.42 to be close to 3.24 (summer time shifts the second high water)"], 0.7)))
    s.do("The test fed local times as UTC; the old file reader hid that.", ("patch", {"path": "packages/rules/src/tide/forecast.test.ts", "old": "at: '2026-07-01T06:00'", "new": "at: '2026-07-01T04:00Z'"}, "2 replacements"))
    s.do("", ("terminal", {"command": "pnpm --filter @harbor/rules test && git commit -qam 'rules: forecasts take readings' && git show --stat HEAD | tail -20"}, turbo(d, 20, ["@harbor/rules:test: Tests  214 passed (214)"], 0.9) + "\n" + stat(d, 10, 31)))
    s.say("@harbor/rules stands, 214 tests pass, and the boundaries job is green.")
    s.user("Bundle size of planner? The limit is 180 kB.")
    s.do("", ("terminal", {"command": "pnpm --filter planner build && npx size-limit"}, turbo(d, 50, ["  planner: Size limit: 180 kB, size: 203.6 kB brotlied", "  Size limit has been exceeded by 23.6 kB"], 0.95)))
    s.do("", ("terminal", {"command": "npx source-map-explorer dist/planner/*.js --json | jq -r '.[] | \"\\(.bytes) \\(.path)\"' | sort -rn | head -40"}, "\n".join(f"{d.number(900, 30000)} {d.pick(['packages', 'node_modules'])}/{d.pick(['charts', 'grid', 'forms', 'date-fns', 'react-dom', 'zod'])}/{d.pick(['dist', 'src', 'lib'])}/{d.digits(5)}.js" for _ in range(38))))
    s.say("203.6 kB: the shim pulls in all three packages because packages/core lacks `sideEffects: false`. Adding it gives 176.1 kB. Or we raise the limit.")
    s.user("Raise it to 210 for now so the branch is green. Hm, no. Raising limits is how we got here. Keep 180, set sideEffects.")
    s.do("", ("terminal", {"command": "jq '.sideEffects=false' packages/core/package.json | sponge packages/core/package.json && pnpm --filter planner build && npx size-limit"}, turbo(d, 16, ["  planner: Size limit: 180 kB, size: 176.1 kB brotlied"], 0.95)))
    s.say("176.1 kB, the limit stays at 180 kB.")
    s.user("Next flake on the list: berths/board.test.ts times out one time in five on CI.")
    s.do("", ("terminal", {"command": "for i in $(seq 20); do pnpm --filter berths test board || echo FAIL $i; done 2>&1 | tail -60"}, turbo(d, 46, ["FAIL 4", "FAIL 11", "FAIL 17", "Error: Test timed out in 5000ms. (drag of a berth over midnight)"], 0.9)))
    s.say("Three of twenty fail, always 'drag of a berth over midnight'. It waits for an animation frame that never comes in jsdom. I skip nothing; I would replace the wait by a fake timer.")
    s.user("Later, after io. Put it on the list.")
    s.say("It is on the list, after io.")
    s.cut()
    # Third stretch: io, consumers, release.
    s.user("Now io.")
    s.do("", ("terminal", {"command": "node tools/move.mjs --from core --to io --list io-files.txt --byte-for-byte && git diff --stat -M100% HEAD | tail -30"}, stat(d, 24, 47)))
    s.do("", ("terminal", {"command": "pnpm -r build"}, turbo(d, 60, ["@harbor/io:build: src/edi/segments.ts(88,14): error TS7006: Parameter 'raw' implicitly has an 'any' type.", "@harbor/io:build: src/edi/segments.ts(131,9): error TS7006: Parameter 'row' implicitly has an 'any' type."], 0.9)))
    s.say("Two type errors in files that must not change. I exclude src/edi from the strict check with its own tsconfig instead of touching them.")
    s.user("Right.")
    s.do("", ("write_file", {"path": "packages/io/src/edi/tsconfig.json", "content": "{\n \"extends\": \"../../tsconfig.json\",\n \"compilerOptions\": {\"noImplicitAny\": false}\n}\n"}, "created"))
    s.do("", ("terminal", {"command": "pnpm -r build && pnpm -r test"}, turbo(d, 60, ["planner:test: ❯ src/stores/crane.test.ts (14 tests | 1 failed)", "planner:test:   → expected 'AirDraught' to be 'air-draught' (two copies of the enum are loaded)"], 0.8)))
    s.do("", ("terminal", {"command": "pnpm why @harbor/model --filter planner"}, "planner@0.0.0\ndependencies:\n@harbor/core link:../../packages/core\n└── @harbor/model link:../model\n@harbor/charts link:../../packages/charts\n└── @harbor/model 4.0.0-rc.1 (registry)"))
    s.say("charts takes the model from the registry (4.0.0-rc.1), everything else from the workspace: two copies of the enum. charts must use `workspace:^`.")
    s.user("Fix it, and look whether others do the same.")
    s.do("", ("terminal", {"command": "grep -rn '4.0.0-rc.1' --include=package.json . && sed -i 's/4.0.0-rc.1/workspace:^/' packages/charts/package.json packages/grid/package.json && pnpm i && pnpm -r test"}, "packages/charts/package.json:14\npackages/grid/package.json:17\n" + turbo(d, 50, ["planner:test: Tests  611 passed (611)"], 0.95)))
    s.say("charts and grid both had it, both fixed. 611 tests of planner pass.")
    s.user("How long is the type check now?")
    s.do("", ("terminal", {"command": "time pnpm -r typecheck"}, turbo(d, 40, ["real 0m52.7s"], 0.99)))
    s.say("52.7 s.")
    s.user("Nice, below the minute we wanted. Open a draft pull request, base develop, not main.")
    s.do("", ("terminal", {"command": "gh pr create --draft --base develop --title 'Split core into three packages' --body-file /tmp/body.md"}, "https://git.example.org/harbor/harbor/pull/977"))
    s.do("", ("terminal", {"command": "gh pr checks 977"}, "boundaries      pass  41s\nbuild           pass  4m02s\nlint            pass  1m11s\nsize            pass  58s\ntest (berths)   fail  3m20s\ntest (planner)  pass  2m49s\ntest (rest)     pass  5m31s"))
    s.do("", ("terminal", {"command": "gh run view --log-failed | tail -60"}, turbo(d, 44, ["Error: Test timed out in 5000ms. (drag of a berth over midnight)"], 0.9)))
    s.say("Pull request 977 is open as a draft against develop. One check is red: the berths test that is on the list.")
    s.user("Then that flake is next. After it, go through everything you still owe before this leaves draft.")

    s.bank_description = "Rules, names and promises of the first stretch, choices of the second, and the state at the end; four and more probes ask only for what stood before the first cut."
    s.ask("recall-rules", "recall", "Which rules did the user set for the whole job about branches, commits and typing?", [("never push to main", "no pushes to main", "do not push to main"), ("every commit builds on its own", "each commit builds", "every commit must build"), ("ts-ignore", "no ts-ignore", "@ts-ignore")])
    s.ask("recall-off-limits", "recall", "Which application must not be touched, and until when and why?", ["apps/legacy-portal", ("until March", "till March", "before March"), ("pins core 3.x", "pinned to core 3.x", "core 3.x")])
    s.ask("recall-environment", "recall", "Which Node version does CI run, and on which port does the package registry listen?", [("Node 22.11", "22.11", ">=22.11"), ("4874", "port 4874", ":4874")], [("CI runs Node 20", "Node 20", ">=20"), (":4873", "port 4873", "4873")])
    s.ask("recall-baseline", "recall", "How long did the type check take before the split?", [("94 s", "1m34", "94 seconds", "94s")])
    s.ask("artifact-circle", "artifact", "Which circular import was there, and to which file was the shared part moved?", ["units/convert.ts", "rules/limits.ts", "packages/model/src/limit-kind.ts"])
    s.ask("artifact-boundaries", "artifact", "Which file and which CI job enforce the direction of imports?", [".dependency-cruiser.cjs", ("CI job name: boundaries", "boundaries job", "job boundaries", "job `boundaries`")], [("pnpm add -Dw eslint-plugin-boundaries", "enforced by eslint-plugin-boundaries", "eslint-plugin-boundaries enforces")])
    s.ask("artifact-pr", "artifact", "Which pull request is open, against which branch, and which check is red?", [("pull/977", "Pull request 977", "#977", "PR 977"), ("base develop", "against develop", "into develop"), ("test (berths)", "berths test", "tests of berths")])
    s.ask("decision-name", "decision", "What is the package of the data types called, and why not as first proposed?", ["@harbor/model", ("simulation team", "team of the simulation", "simulation people"), ("C++", "C++ part", "in C++")], ["@harbor/kernel"])
    s.ask("decision-core", "decision", "What happens to the old package, for how long, and why was the first decision reversed?", [("shim", "re-exports the three", "re-exporting package"), ("goes away in version 5", "removed in 5.0", "until version 5", "dropped in v5"), ("Fourteen packages outside", "fourteen outside consumers", "14 dependents", "14 outside")], [("Delete it in one go", "delete @harbor/core at once", "clean cut is planned")])
    s.ask("decision-size", "decision", "What is the bundle limit of planner, and how was it met?", [("Keep 180", "limit stays at 180 kB", "180 kB", "180kB"), ("sideEffects", "side effects flag", "sideEffects: false")], [("Raise it to 210", "210 kB", "limit of 210")])
    s.ask("continuation-promise", "continuation", "Which tool does the assistant still owe, and to whom does it go?", ["tools/codemods/core-to-model.mjs", ("portal team", "team of the portal", "the portal people")])
    s.ask("continuation-legal", "continuation", "Which package must not be published, and what is it waiting for?", ["@harbor/io", ("legal has to answer", "until legal answers", "answer from legal", "waiting for legal"), ("licence header", "license header", "header of the licence")])
    return s
