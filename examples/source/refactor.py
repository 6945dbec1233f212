"""The story of refactor.rollout.jsonl: splitting up the report of a small Rust tool."""

from __future__ import annotations

import re

from codex import Rollout
from common import diff_stat, line_of, load_bundle

GOLDEN = """# number;customer;cents;paid
R-1001;Harbour Cafe;12050;yes
R-1002;Bike "Fix" Corner;8990;no
R-1003;Mill, Stone & Co;150000;no
R-1004;Harbour Cafe;-2050;yes"""
CLI = ["csv_is_unchanged", "json_is_unchanged", "text_is_unchanged", "unknown_format_is_refused"]
UNIT = ["invoice::tests::names_the_bad_field", "invoice::tests::reads_a_line"]


def show(path, first=1, last=400):
    return (f"sed -n '{first},{last}p' {path}", lambda files: "\n".join(files[path].splitlines()[first - 1:last]))


def cargo_test(extra_unit=(), failed=None, seconds=2.31):
    """`failed` maps a cli test to the text of its panic."""
    failed = failed or {}
    out = ["   Compiling invoicer v0.6.2 (/home/dev/invoicer)",
           f"    Finished `test` profile [unoptimized + debuginfo] target(s) in {seconds:.2f}s",
           "     Running unittests src/main.rs (target/debug/deps/invoicer-4c1b0f92d7aa3e65)", ""]
    unit = sorted([*UNIT, *extra_unit])
    out += [f"running {len(unit)} tests", *(f"test {name} ... ok" for name in unit), "",
            f"test result: ok. {len(unit)} passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s", "",
            "     Running tests/cli.rs (target/debug/deps/cli-9e3d57a1b0c84f26)", "", f"running {len(CLI)} tests"]
    out += [f"test {name} ... {'FAILED' if name in failed else 'ok'}" for name in CLI] + [""]
    if failed:
        out.append("failures:\n")
        out += [f"---- {name} stdout ----\n{text}\n" for name, text in failed.items()]
        out += ["", "failures:", *(f"    {name}" for name in failed), ""]
    good = len(CLI) - len(failed)
    out.append(f"test result: {'FAILED' if failed else 'ok'}. {good} passed; {len(failed)} failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.03s")
    if failed:
        out.append("\nerror: test failed, to rerun pass `--test cli`")
    return ("cargo test", "\n".join(out), 101 if failed else 0, seconds + 0.6)


def rg(pattern, under="src"):
    def output(files):
        return "\n".join(f"{path}:{number}:{line}" for path in sorted(files) if path.startswith(under)
                         for number, line in enumerate(files[path].splitlines(), 1) if re.search(pattern, line))
    return (f"rg -n '{pattern}' {under}", output)


def build() -> list[dict]:
    bundle = load_bundle("invoicer.txt")
    new = {path[4:]: text for path, text in bundle.items() if path.startswith("new/")}
    files = {path: text for path, text in bundle.items() if not path.startswith("new/")}
    start = dict(files)
    r = Rollout("refactor", "2026-08-18T13:20:05.118", files)

    r.user("src/report.rs has become one long if/else over format strings, and main.rs checks the same strings again. Please split it: one file per format, and an enum instead of strings.\n\nThe output must stay byte for byte the same, other teams parse it. No new dependencies, and it still has to build with Rust 1.74.", 0)
    r.think("**Looking at the layout and the tests first**")
    r.say("I'll look at the code and the tests before I plan the split.")
    r.run(("git status --short --branch && ls -R src tests", "## split-report\nsrc:\ninvoice.rs\nmain.rs\nreport.rs\n\ntests:\ncli.rs\ngolden\n\ntests/golden:\ninvoices.txt\nreport.csv\nreport.json\nreport.text"),
          show("src/report.rs"), show("src/main.rs"))
    r.run(show("tests/cli.rs"), show("src/invoice.rs", 1, 32), ("cat tests/golden/invoices.txt", GOLDEN), show("Cargo.toml"))
    r.run(cargo_test(seconds=6.80), rg("format"))
    r.think("**Planning small steps with golden tests after each one**", 640)
    r.say("""The golden tests cover all three formats, so every step can be checked. My plan:

1. `src/format.rs` with `enum Format` and `FromStr`, so that the names are listed once.
2. `src/report/` with `text.rs`, `csv.rs` and `json.rs`; `mod.rs` keeps `amount` and the sums.
3. `render` takes a `Format` and can no longer fail.

One question: `run` returns `Result<String, String>` everywhere. Should I also introduce an error type, or leave that for another change?""", final=True)

    r.user("Good plan. Do the error type too, but as the last step and in its own patch, so that I can review it separately. The messages must stay the same as well.", 4)
    r.think("**Starting with the enum; a String error for now**")
    first = new["src/format.rs"].replace("use crate::error::Error;\n\n", "").replace("type Err = Error;", "type Err = String;").replace(
        "Err(Error::UnknownFormat(other.to_string()))", "Err(format!(\"unknown format {other:?}\"))")
    r.say("Step 1: the enum. It keeps a plain `String` as error for now, the error type comes last.")
    main = files["src/main.rs"].replace("mod invoice;\n", "mod format;\nmod invoice;\n").replace(
        '    let mut format = "text".to_string();\n', "    let mut format = Format::default();\n").replace(
        '''                format = args.next().ok_or("--format needs a value")?;
                if format != "text" && format != "csv" && format != "json" {
                    return Err(format!("unknown format {format:?}"));
                }
''', '''                format = args.next().ok_or("--format needs a value")?.parse()?;
''').replace("use std::process::ExitCode;\n", "use std::process::ExitCode;\n\nuse format::Format;\n").replace("report::render(&invoices, &format)", "report::render(&invoices, format)")
    r.apply({"src/format.rs": first, "src/main.rs": main})
    r.run(("cargo check", """    Checking invoicer v0.6.2 (/home/dev/invoicer)
error[E0308]: mismatched types
  --> src/main.rs:%d:31
   |
%d |     report::render(&invoices, format)
   |     --------------            ^^^^^^ expected `&str`, found `Format`
   |     |
   |     arguments to this function are incorrect
   |
note: function defined here
  --> src/report.rs:3:8
   |
3  | pub fn render(invoices: &[Invoice], format: &str) -> Result<String, String> {
   |        ^^^^^^                       ------------

For more information about this error, try `rustc --explain E0308`.
error: could not compile `invoicer` (bin "invoicer") due to 1 previous error""" % ((line_of(files, "src/main.rs", "report::render"),) * 2), 101, 0.74))
    r.say("That is expected: `render` still takes a string. Step 2 moves each format into its own file and changes the parameter.")
    wrong = new["src/report/json.rs"].replace('items.join(",")', 'items.join(", ")')
    r.apply({"src/report.rs": None, "src/report/mod.rs": new["src/report/mod.rs"], "src/report/text.rs": new["src/report/text.rs"]})
    r.apply({"src/report/csv.rs": new["src/report/csv.rs"], "src/report/json.rs": wrong})
    r.apply({"src/main.rs": files["src/main.rs"].replace("    report::render(&invoices, format)", "    Ok(report::render(&invoices, format))")})
    line = line_of(files, "tests/cli.rs", "assert_eq!((stdout")
    items = ['{\\"number\\":\\"R-1001\\",\\"customer\\":\\"Harbour Cafe\\",\\"cents\\":12050,\\"paid\\":true}',
             '{\\"number\\":\\"R-1002\\",\\"customer\\":\\"Bike \\\\\\"Fix\\\\\\" Corner\\",\\"cents\\":8990,\\"paid\\":false}',
             '{\\"number\\":\\"R-1003\\",\\"customer\\":\\"Mill, Stone & Co\\",\\"cents\\":150000,\\"paid\\":false}',
             '{\\"number\\":\\"R-1004\\",\\"customer\\":\\"Harbour Cafe\\",\\"cents\\":-2050,\\"paid\\":true}']
    sides = ['("{\\"invoices\\":[' + glue.join(items) + '],\\"total\\":168990,\\"open\\":158990}\\n", "", 0)' for glue in (", ", ",")]
    r.run(cargo_test(failed={"json_is_unchanged": f"thread 'json_is_unchanged' panicked at tests/cli.rs:{line}:5:\nassertion `left == right` failed\n  left: {sides[0]}\n right: {sides[1]}\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace"}))
    r.think("**The separator of the JSON items has a blank too many**")
    r.say("The golden test caught a mistake of mine: I joined the JSON items with a comma and a blank.")
    r.apply({"src/report/json.rs": new["src/report/json.rs"]})
    r.run(cargo_test(), rg("\\\"(text|csv|json)\\\""))
    r.say("Steps 1 and 2 are done, all tests pass, and the format names now appear only in `src/format.rs` and in the usage text. Before the error type: `amount` and `quoted` have no tests of their own yet. I can add a few, they would have caught the JSON slip earlier. Shall I?", final=True)

    r.user("Yes, a few, but in the files themselves, not in tests/. And one correction: I said Rust 1.74, but the build server was raised last week, it is 1.80 now. Please set rust-version to 1.80 as well.", 7)
    r.think("**Unit tests per file, and the new minimum version 1.80**")
    csv_tests = '''
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_only_when_needed() {
        assert_eq!(quoted("Harbour Cafe"), "Harbour Cafe");
        assert_eq!(quoted("Mill, Stone"), "\\"Mill, Stone\\"");
        assert_eq!(quoted("Bike \\"Fix\\""), "\\"Bike \\"\\"Fix\\"\\"\\"");
    }
}
'''
    mod_tests = '''
#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_keep_their_sign() {
        assert_eq!(amount(0), "0.00");
        assert_eq!(amount(5), "0.05");
        assert_eq!(amount(-2050), "-20.50");
    }

    #[test]
    fn open_counts_unpaid_only() {
        let one = |cents, paid| Invoice { number: "R".into(), customer: "C".into(), cents, paid };
        let totals = Totals::of(&[one(100, true), one(250, false), one(-50, false)]);
        assert_eq!(totals, Totals { total: 300, open: 200 });
    }
}
'''
    r.apply({"src/report/csv.rs": files["src/report/csv.rs"] + csv_tests, "src/report/mod.rs": files["src/report/mod.rs"] + mod_tests,
             "Cargo.toml": files["Cargo.toml"].replace('"1.74"', '"1.80"')})
    unit = ["report::csv::tests::quotes_only_when_needed", "report::tests::amounts_keep_their_sign", "report::tests::open_counts_unpaid_only"]
    r.run(cargo_test(unit), ("rustc --version && grep rust-version Cargo.toml", "rustc 1.80.1 (3f5fd8dd4 2024-08-06)\nrust-version = \"1.80\""))
    r.run(("cargo clippy --all-targets -- -D warnings", "    Checking invoicer v0.6.2 (/home/dev/invoicer)\n    Finished `dev` profile [unoptimized + debuginfo] target(s) in 0.91s", 0, 1.12))
    r.say("Three unit tests added in the files themselves, `rust-version` is 1.80, clippy is silent and all nine tests pass. Next is the error type, as a separate patch.", final=True)
    r.compact()

    r.user("Perfect. Now the error type please.", 12)
    r.think("**Reading main.rs again before changing every error path**")
    r.say("I'll read `main.rs` again and list every place that makes a message.")
    r.run(show("src/main.rs"), rg("Err\\(|map_err|ok_or"))
    r.think("**Variants: UnknownFormat, Usage, Read, Line**", 700)
    r.apply({"src/error.rs": new["src/error.rs"], "src/format.rs": new["src/format.rs"]})
    main = files["src/main.rs"]
    for old, fresh in [
            ("mod format;\n", "mod error;\nmod format;\n"), ("use format::Format;\n", "use error::Error;\nuse format::Format;\n"),
            ("Result<String, String>", "Result<String, Error>"), ("        Err(message) => {\n            eprintln!(\"invoicer: {message}\");", "        Err(error) => {\n            eprintln!(\"invoicer: {error}\");"),
            ('args.next().ok_or("--format needs a value")?.parse()?', 'value(&mut args, "--format")?.parse()?'),
            ('Some(args.next().ok_or("--customer needs a value")?)', 'Some(value(&mut args, "--customer")?)'),
            ('return Err(format!("unknown option {other}\\n{}", usage()))', 'return Err(Error::Usage(format!("unknown option {other}\\n{}", usage())))'),
            ("return Err(usage());", "return Err(Error::Usage(usage()));"),
            ('.map_err(|error| format!("{file}: {error}"))?', ".map_err(|source| Error::Read { file: file.clone(), source })?"),
            ('.map_err(|error| format!("{file}:{}: {error}", number + 1))?', ".map_err(|message| Error::Line { file: file.clone(), number: number + 1, message })?"),
            ("fn run(args: Vec<String>)", "fn value(args: &mut impl Iterator<Item = String>, option: &str) -> Result<String, Error> {\n    args.next().ok_or_else(|| Error::Usage(format!(\"{option} needs a value\")))\n}\n\nfn run(args: Vec<String>)")]:
        assert old in main, old
        main = main.replace(old, fresh)
    r.apply({"src/main.rs": main})
    r.run(cargo_test(unit, seconds=2.66))
    r.say("The suite passes. It covers only one error message, so I compare all of them with the version before the refactoring.")
    checks = ["invoicer: usage: invoicer [--format text|csv|json] [--customer NAME] [--open] FILE...", "invoicer: --format needs a value",
              "invoicer: unknown format \"xml\"", "invoicer: unknown option --colour\nusage: invoicer [--format text|csv|json] [--customer NAME] [--open] FILE...",
              "invoicer: missing.txt: No such file or directory (os error 2)", "invoicer: bad.txt:2: bad amount \"12,50\""]
    script = "for args in '' '--format' '--format xml x' '--colour' 'missing.txt' 'bad.txt'; do $BIN $args 2>&1; echo \"-> $?\"; done"
    messages = "\n".join(f"{text}\n-> 2" for text in checks)
    r.run((f"BIN=/tmp/invoicer-0.6.2; {script}", messages), (f"BIN=target/debug/invoicer; {script}", messages))
    r.run(("git diff --stat main", lambda files: diff_stat(start, files)), show("src/main.rs", 1, 50))
    r.say("""The error type is in, as its own patch (`src/error.rs`, `src/format.rs`, `src/main.rs`).

- All six error messages and exit codes are the same as in 0.6.2, compared side by side.
- Reports are byte for byte the same (golden tests), 9 tests pass.
- `invoice::parse_line` still returns a `String`; it is wrapped in `Error::Line`. I left it, because its messages are tested there.

Not checked: a build with exactly Rust 1.80.0, I only have 1.80.1 here.""", final=True)

    r.user("Fine with me. Last thing for today: please bump the version to 0.7.0 and write a short paragraph for the release notes.", 9)
    r.think("**Bumping the version and writing the notes**")
    r.apply({"Cargo.toml": files["Cargo.toml"].replace('"0.6.2"', '"0.7.0"')})
    r.run(("cargo check --quiet && head -3 Cargo.lock && grep -A1 'name = \"invoicer\"' Cargo.lock", "# This file is automatically @generated by Cargo.\n# It is not intended for manual editing.\nversion = 3\nname = \"invoicer\"\nversion = \"0.7.0\"", 0, 0.88))
    r.say("""Version 0.7.0 is set in `Cargo.toml` and `Cargo.lock`. For the release notes:

> **0.7.0** - The report code was split into one file per format, and formats and errors are types now instead of strings. Reports, messages and exit codes did not change. Building needs Rust 1.80 or newer.""", final=True)
    return r.rows
