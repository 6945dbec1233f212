"""A bookkeeping tool in Python learns to read bank statements, under a picky maintainer."""

from noise import numbered
from noise import weave
from scene import Scene

READER = '''
"""Reads bank statements in the camt.053 form."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from pathlib import Path


class StatementError(ValueError):
    """A file is not a statement, or not a safe one."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a statement."""

    booked: date
    amount: Decimal
    currency: str
    reference: str
    text: str


def read(path: Path) -> Iterator[Entry]:
    """Yields the entries of a statement in the order of the file."""
    raw = path.read_bytes()
    if b"<!DOCTYPE" in raw:
        raise StatementError(f"{path}: a statement has no document type")
    root = ElementTree.fromstring(raw)
    space = root.tag.partition("}")[0] + "}"
    for node in root.iter(f"{space}Ntry"):
        yield entry(node, space)


def entry(node: ElementTree.Element, space: str) -> Entry:
    amount = node.find(f"{space}Amt")
    if amount is None or amount.text is None:
        raise StatementError("an entry has no amount")
    return Entry(
        booked=date.fromisoformat(text(node, space, "BookgDt", "Dt")),
        amount=Decimal(amount.text),
        currency=amount.attrib["Ccy"],
        reference=text(node, space, "AcctSvcrRef"),
        text=text(node, space, "AddtlNtryInf"),
    )
'''


def pytest(d, count, facts=(), at=0.85):
    names = "accounts|budget|currency|export|journal|ledger|report|rules|tags|tax"
    return weave(d.lines(count, [
        f"tests/test_<{names}>.py::test_<empty|rounding|unicode|order|merge|split|negative|leap_day>[<plain|csv|json>-<0-9>] PASSED [ <+2>%]",
        f"tests/test_<{names}>.py::Test<Parser|Writer|Totals>::test_<roundtrip|missing_field|large_file|comment> PASSED [ <+1>%]",
    ]), *facts, at=at)


def build() -> Scene:
    s = Scene(
        "feature-statement-import", "feature",
        "An open-source bookkeeping tool in Python gets an import of bank statements. The maintainer corrects version, issue number and defaults, the parser and the "
        "key for duplicates are chosen twice, and one test is left failing on purpose.",
        call_prefix="toolu_0",
    )
    d = s.dice
    token = s.secret("nope4471", "bank5555", "eeee6666", "ffff7777")
    s.system("You are a coding agent in a Python repository. Tools: bash, view, str_replace, create. Follow the project's conventions and keep commits small.")
    s.user("Could you implement `pennybook import` for camt.053 statements, issue 1428? Conventions that always apply here: no new runtime dependencies, mypy --strict stays clean, never amend or force-push a commit that was pushed, and each change has a fragment in changelog.d named after the issue. We support Python 3.10 and later.")
    s.do("I read the repository first.",
         ("bash", {"command": "git log --oneline | head -8; ls; cat pyproject.toml | head -40; ls tests/data | head -40"}, "\n".join(d.lines(8, ["<#7> <journal|report|docs|rules>: <fix|add|rename|speed up> <currency totals|tag filter|csv export|date parsing>"])) + "\nCHANGELOG.md  changelog.d  docs  pennybook  pyproject.toml  tests\n\n[project]\nname = \"pennybook\"\nrequires-python = \">=3.11\"\ndependencies = []\n\n[tool.mypy]\nstrict = true\n\n" + weave(sorted(d.lines(16, ["<journal|rules|report|tags>_<empty|small|large|broken>_<1-9>.<txt|csv|json>"])), "camt_053_v2.xml", "camt_053_v8.xml")),
         ("bash", {"command": "gh issue view 1428"}, "title: Typo in the manual page of `report`\nstate: CLOSED\nlabels: docs"))
    s.say("Two questions. Issue 1428 is about a typo in a manual page. And pyproject.toml says Python 3.11, not 3.10.")
    s.user("Swapped digits: it is issue 1482. And 3.11 is right, we dropped 3.10 in May.")
    s.do("", ("bash", {"command": "gh issue view 1482 --comments; env | grep -i bank"}, "title: Import camt.053 statements\nstate: OPEN\n" + "\n".join(d.lines(14, ["comment by user-<10-99>: <+1, needed here too|works for me with a script|my bank sends version <2|4|8>|please keep the booking text|what about batches?>"])) + "\nBANK_SANDBOX_TOKEN=" + token))
    s.say("Plan: a module pennybook/importing/camt.py, a command, tests on both samples in tests/data. For XML I would take lxml, it validates against the schema.")
    s.user("lxml is fine, go ahead.")
    s.do("", ("bash", {"command": "pip install lxml && python - <<'P'\nimport lxml.etree as e\nprint(e.parse('tests/data/camt_053_v8.xml').getroot().tag)\nP"}, "Successfully installed lxml-5.3.0\n{urn:iso:std:iso:20022:tech:xsd:camt.053.001.08}Document"))
    s.say("lxml reads the sample; the root is a camt.053.001.08 document.")
    s.user("Wait, sorry, I contradicted myself: lxml would be a runtime dependency, and we have none. Use xml.etree from the standard library, and refuse any file with a DOCTYPE, because that is how entity bombs come in.")
    s.do("xml.etree it is, with the DOCTYPE check.",
         ("create", {"path": "pennybook/importing/camt.py", "text": READER.strip()}, f"created, {len(READER.strip().splitlines())} lines"),
         ("bash", {"command": "pip uninstall -qy lxml && pytest tests/test_camt.py -q"}, "F.                                                                       [100%]\nE   AssertionError: assert Decimal('120.00') == Decimal('-120.00')\nE    +  where Decimal('120.00') = Entry(booked=datetime.date(2026, 8, 3), ...).amount\ntests/test_camt.py:31: AssertionError\n1 failed, 1 passed in 0.21s"))
    s.do("The sign is in CdtDbtInd, not in the amount.", ("str_replace", {"path": "pennybook/importing/camt.py", "old": "        amount=Decimal(amount.text),", "new": "        amount=Decimal(amount.text) * (-1 if text(node, space, \"CdtDbtInd\") == \"DBIT\" else 1),"}, "1 replacement"),
         ("bash", {"command": "pytest tests/test_camt.py -q"}, "..                                                                       [100%]\n2 passed in 0.18s"))
    s.say("Debits are negative now, both samples are read. Next: how do we notice that an entry was imported before? I would compare date and amount.")
    s.user("Date and amount? I buy two identical coffees a day. Use the bank's AcctSvcrRef. Where a bank leaves it empty, fall back to a hash over date, amount, currency and text.")
    s.say("Key for duplicates: AcctSvcrRef, else a hash over date, amount, currency and text.")
    s.user("Yes. And the command must not write by default. In issue 1390 somebody lost a journal that way. So: a dry run unless --commit is given. I know I wrote the opposite in the issue.")
    s.say("Understood, the issue's text is out of date: dry run by default, writing only with --commit.")
    s.user("Version 2 files: tests/data/camt_053_v2.xml is from a user's real bank, do not edit it, even if it looks wrong. v8 you may change. Also, nobody has a file with batch bookings; the treasurer of our club does. I asked, no answer yet. Do not guess how batches look.")
    s.say("I leave camt_053_v2.xml alone and do not implement batches until the treasurer's file is there. I owe you a page, docs/import.md, once the command is stable.")
    s.user("Good. Freeze for 5.2 is on 12 September at 18:00 UTC. What is not merged by then waits for 5.3.")
    s.say("12 September, 18:00 UTC. I start on the command.")
    # Newer half.
    s.user("Please do.")
    s.do("", ("view", {"path": "pennybook/cli.py"}, numbered("\n\n".join(f"def add_{name}(commands: Commands) -> None:\n    parser = commands.add_parser(\"{name}\", help=\"{text}\")\n    parser.add_argument(\"journal\", type=Path)\n    parser.add_argument(\"--since\", type=date.fromisoformat)\n    parser.set_defaults(run=run_{name})" for name, text in [("report", "sums by account"), ("export", "write another form"), ("check", "find mistakes"), ("tags", "list tags"), ("rules", "apply rules"), ("budget", "compare with a plan"), ("archive", "close a year"), ("format", "tidy a journal")]))))
    s.do("", ("create", {"path": "pennybook/importing/command.py", "text": "\"\"\"The command that imports statements.\"\"\"\n\nfrom __future__ import annotations\n\nimport argparse\nfrom pathlib import Path\n\nfrom pennybook.journal import Journal\n\n\ndef run(arguments: argparse.Namespace) -> int:\n    journal = Journal.load(arguments.journal)\n    fresh = [entry for entry in arguments.reader(arguments.statement) if journal.is_new(entry)]\n    for entry in fresh:\n        print(f\"{entry.booked} {entry.amount:>12} {entry.currency} {entry.text}\")\n    if arguments.write:\n        journal.append(fresh)\n        journal.save()\n    return 0\n"}, "created, 21 lines"))
    s.do("", ("bash", {"command": "mypy --strict pennybook"}, "pennybook/importing/command.py:14: error: \"Journal\" has no attribute \"is_new\"  [attr-defined]\nFound 1 error in 1 file (checked 41 source files)"))
    s.do("", ("view", {"path": "pennybook/journal.py"}, numbered("class Journal:\n    \"\"\"Bookings in the order of their days.\"\"\"\n\n" + "\n\n".join(f"    def {name}(self, {argument}) -> {result}:\n        \"\"\"{text}\"\"\"\n        return {result}(item for item in self.items if item.{field} == {argument.split(':')[0]})" for name, argument, result, text, field in [("on", "day: date", "list", "Bookings of a day.", "day"), ("of", "account: str", "list", "Bookings of an account.", "account"), ("tagged", "tag: str", "list", "Bookings with a tag.", "tag"), ("within", "period: Period", "list", "Bookings of a period.", "period"), ("by", "author: str", "list", "Bookings of an author.", "author"), ("like", "pattern: str", "list", "Bookings whose text matches.", "text")]))))
    s.do("", ("str_replace", {"path": "pennybook/journal.py", "old": "    def on(self", "new": "    def is_new(self, entry: Entry) -> bool:\n        \"\"\"Whether no booking came from this entry.\"\"\"\n        return entry.key not in self.imported\n\n    def on(self"}, "1 replacement"))
    s.do("", ("bash", {"command": "mypy --strict pennybook && pytest -v"}, "Success: no issues found in 41 source files\n" + pytest(d, 60, ["tests/test_import_command.py::test_prints_and_writes_nothing PASSED [ 97%]", "tests/test_import_command.py::test_second_run_adds_nothing PASSED [ 98%]"])))
    s.say("The command works: it prints, writes nothing unless told, and a second run adds nothing. mypy is clean.")
    s.user("Rounding: what do you do with three decimals, as Tunisian dinars have?")
    s.do("", ("bash", {"command": "grep -rn quantize pennybook | head -20"}, "\n".join(d.lines(12, ["pennybook/<report|export|budget|tax|rules>.py:<20-300>:    value = value.quantize(<CENT|unit|step>, rounding=ROUND_HALF_<EVEN|EVEN|UP>)"]))))
    s.say("Amounts are kept as they are in the file; the import does not round at all. Reports round later.")
    s.user("Perfect, keep it so. Reversals?")
    s.do("", ("create", {"path": "tests/test_camt_reversal.py", "text": "import pytest\n\nfrom pennybook.importing import camt\n\n\n@pytest.mark.parametrize(\"indicator, sign\", [(\"CRDT\", -1), (\"DBIT\", 1)])\ndef test_reversal_turns_the_sign(statement, indicator, sign):\n    [entry] = camt.read(statement(indicator=indicator, reversal=True))\n    assert entry.amount.is_signed() == (sign < 0)\n"}, "created, 9 lines"),
         ("bash", {"command": "pytest tests/test_camt_reversal.py -q"}, "FF                                                                       [100%]\nE   assert True == False\nFAILED tests/test_camt_reversal.py::test_reversal_turns_the_sign[CRDT--1]\nFAILED tests/test_camt_reversal.py::test_reversal_turns_the_sign[DBIT-1]\n2 failed in 0.14s"))
    s.say("Reversals (RvslInd) are not handled: both cases of test_reversal_turns_the_sign fail. Banks disagree on whether the indicator already has the turned sign, so I would look at two real files first.")
    s.user("Agreed, leave the test failing in your branch, do not mark it xfail. I will get two files from the mailing list. What about speed?")
    s.do("", ("bash", {"command": "python tools/make_statement.py --entries 200000 > /tmp/big.xml && /usr/bin/time -v pennybook import j.txt /tmp/big.xml 2>&1 >/dev/null"}, weave([f"\t{name}: {d.number(0, 90000)}" for name in ("Voluntary context switches", "Involuntary context switches", "Swaps", "File system inputs", "File system outputs", "Socket messages sent", "Signals delivered", "Minor page faults", "Average shared text size")], "\tElapsed (wall clock) time: 0:03.81", "\tMaximum resident set size (kbytes): 912044", at=0.3)))
    s.say("200,000 entries take 3.8 s and 912 MB, because the tree is held in memory. iterparse would bring that to about 60 MB.")
    s.user("Do that, memory matters on small machines.")
    s.do("", ("str_replace", {"path": "pennybook/importing/stream.py", "old": "", "new": "\"\"\"Entries of large files, one at a time.\"\"\"\n\nfrom xml.etree.ElementTree import iterparse\n\n\ndef entries(file, space):\n    for _, node in iterparse(file, events=(\"end\",)):\n        if node.tag == f\"{space}Ntry\":\n            yield node\n            node.clear()\n"}, "created, 10 lines"))
    s.do("", ("bash", {"command": "mypy --strict pennybook; pytest -v"}, "pennybook/importing/stream.py:6: error: Function is missing a type annotation  [no-untyped-def]\nFound 1 error in 1 file (checked 42 source files)\n" + pytest(d, 60, ["tests/test_import_command.py::test_large_file_in_64_megabytes PASSED [ 98%]"])))
    s.do("", ("bash", {"command": "sed -i 's/def entries(file, space):/def entries(file: IO[bytes], space: str) -> Iterator[Element]:/' pennybook/importing/stream.py && mypy --strict pennybook && /usr/bin/time -f '%es %MkB' pennybook import j.txt /tmp/big.xml >/dev/null"}, "Success: no issues found in 42 source files\n4.02s 58120kB"))
    s.say("58 MB now, at 4.0 s. Types are clean.")
    s.user("Lovely. Push the branch, open the pull request as a draft.")
    s.do("", ("bash", {"command": "git push -u origin import-camt && gh pr create --draft --title 'Import camt.053 statements' --fill"}, "https://git.example.org/pennybook/pennybook/pull/1503"))
    s.do("", ("bash", {"command": "gh pr checks 1503; gh run view --log | tail -60"}, "changelog   fail  4s\nmypy        pass  38s\ntests 3.11  fail  1m40s\ntests 3.13  fail  1m31s\n" + pytest(d, 74, ["changelog: no fragment for this pull request in the folder"], 0.1)))
    s.say("Draft pull request 1503 is open. The tests fail because of the two reversal cases, as agreed; the changelog check fails because I have not written the fragment yet.")
    s.user("Then you know what is next.")

    s.bank_description = "Conventions of the project, corrected numbers and defaults, two choices that were made twice, and what stands between the draft and the freeze."
    s.ask("recall-issue", "recall", "Which issue asks for this feature?", [("issue 1482", "#1482", "1482")], [("issue 1428", "#1428", "1428")])
    s.ask("recall-python", "recall", "From which Python version on is the project supported, and what happened to the one before?", [("3.11", "Python 3.11", ">=3.11"), ("dropped 3.10 in May", "3.10 was dropped", "3.10 dropped", "support for 3.10 ended")], [("Python 3.10 and later", "supports 3.10", "from Python 3.10 on")])
    s.ask("recall-conventions", "recall", "Which conventions of the project always apply?", [("no new runtime dependencies", "no runtime dependencies", "without new dependencies"), ("mypy --strict", "strict mypy", "mypy in strict mode"), ("never amend or force-push", "no force-push", "no amending of pushed commits", "never force-push"), ("changelog.d", "changelog fragment", "fragment in changelog.d")])
    s.ask("artifact-files", "artifact", "Which source files were made for reading, for the command and for large files?", ["pennybook/importing/camt.py", "pennybook/importing/command.py", "pennybook/importing/stream.py"])
    s.ask("artifact-samples", "artifact", "Which sample file must not be edited, and why?", [("camt_053_v2.xml", "tests/data/camt_053_v2.xml"), ("user's real bank", "real bank of a user", "from a real bank")])
    s.ask("artifact-pr", "artifact", "Which pull request is open, and why are two kinds of checks red?", [("pull/1503", "pull request 1503", "#1503", "PR 1503"), ("have not written the fragment", "no fragment for this pull request", "missing changelog fragment", "fragment is missing")])
    s.ask("decision-parser", "decision", "Which XML parser is used, what was installed first, and which files are refused and why?", ["xml.etree", ("DOCTYPE", "document type", "doctype declaration"), ("entity bombs", "entity bomb", "entity expansion", "billion laughs")], [("lxml is fine, go ahead", "lxml is used", "uses lxml")])
    s.ask("decision-duplicates", "decision", "How is an entry recognised that was imported before, and what is the fallback?", ["AcctSvcrRef", ("hash over date, amount, currency and text", "hash of date, amount, currency and text", "hash over four fields")], [("I would compare date and amount", "by date and amount", "compare date and amount only")])
    s.ask("decision-default", "decision", "What does the command do by default, how is that changed, and which incident is behind it?", [("dry run", "writes nothing by default", "dry-run"), "--commit", ("issue 1390", "#1390", "1390")])
    s.ask("continuation-failing", "continuation", "Which test fails on purpose, how may it not be silenced, and what is awaited?", ["test_reversal_turns_the_sign", ("xfail", "marked xfail", "mark it xfail"), ("two files from the mailing list", "two real files", "files from the mailing list")], [("assert Decimal('120.00') == Decimal('-120.00')", "debits have the wrong sign", "sign of debits is wrong")])
    s.ask("continuation-batches", "continuation", "Which kind of booking is not implemented yet, and whose file is awaited?", [("batch bookings", "batches", "batched bookings"), ("treasurer of our club", "the treasurer", "club's treasurer", "treasurer")])
    s.ask("continuation-freeze", "continuation", "By when must this be merged, for which release, and which document is still owed?", [("12 September", "September 12", "12 Sept"), ("18:00 UTC", "18:00", "6 pm UTC"), ("Freeze for 5.2", "release 5.2", "version 5.2"), "docs/import.md"])
    return s
