"""Prints test runs the way pytest does, from the current state of the files."""

from __future__ import annotations

import re

from common import line_of

HEADER = """============================= test session starts ==============================
platform linux -- Python 3.12.4, pytest-8.3.2, pluggy-1.5.0{python}
{cache}rootdir: /home/dev/shop
configfile: pyproject.toml
plugins: repeat-0.9.3, anyio-4.4.0, timeout-2.3.1
"""
# Tests of two small files that the session never opens.
OTHER = {
    "tests/test_api.py": ["test_checkout_created", "test_checkout_out_of_stock_is_409",
                          "test_checkout_declined_is_402", "test_order_not_found",
                          "test_webhook_bad_signature_is_400"],
    "tests/test_config.py": ["test_defaults", "test_bad_integer", "test_key_required_outside_sandbox"],
}


def rule(text: str, fill: str = "=") -> str:
    return f" {text} ".center(80, fill)


def collect(files: dict[str, str], select: str = "") -> list[str]:
    """Test ids in file order; `select` is a regular expression on the id."""
    found = {path: list(names) for path, names in OTHER.items()}
    for path, text in files.items():
        if not path.startswith("tests/test_"):
            continue
        names, params = [], None
        for line in text.splitlines():
            if line.startswith("@pytest.mark.parametrize"):
                params = re.findall(r"\(([^()]+)\)", line.split(",", 1)[1])
            if match := re.match(r"def (test_\w+)", line):
                for item in params or [None]:
                    ident = "" if item is None else "[" + "-".join(
                        part.strip(" \"'") for part in item.split(",")) + "]"
                    names.append(match[1] + ident)
                params = None
        found[path] = names
    ids = [f"{path}::{name}" for path in sorted(found) for name in found[path]]
    return [ident for ident in ids if re.search(select, ident)]


def frame(files, path, needle, errors=(), final="", shift=0) -> str:
    """One traceback frame: the function up to the line that failed."""
    lines = files[path].splitlines()
    end = line_of(files, path, needle) - 1 + shift
    indent = len(lines[end]) - len(lines[end].lstrip())
    start = end
    while not (re.match(r"\s*def ", lines[start])
               and len(lines[start]) - len(lines[start].lstrip()) < indent):
        start -= 1
    body = [("    " + line).rstrip() for line in lines[start:end]]
    body.append(">   " + lines[end])
    body += [f"E       {error}" for error in errors]
    return "\n".join(body) + f"\n\n{path}:{end + 1}: {final}\n"


def log_line(files, level, path, needle, message) -> str:
    name = path.split("/")[-1]
    return (f"{level:8} checkout.{name[:-3]}:{name}:{line_of(files, path, needle)} {message}")


def failure(test: str, frames: list[str], args: str = "", log: list[str] = ()) -> str:
    out = rule(test, "_") + "\n\n" + (args + "\n\n" if args else "")
    out += (("_ " * 40).rstrip() + "\n\n").join(frames)
    if log:
        out += rule("Captured log call", "-") + "\n" + "\n".join(log) + "\n"
    return out


def run(files, seconds, select="", failed=None, reasons=None, count=1, quiet=False) -> str:
    """A whole run. `failed` maps a test id to its failure text."""
    failed, reasons = failed or {}, reasons or {}
    everything, chosen = collect(files), collect(files, select)
    ids = chosen if count == 1 else [
        f"{i[:-1]}-{n}-{count}]" if i.endswith("]") else f"{i}[{n}-{count}]"
        for i in chosen for n in range(1, count + 1)]
    out = HEADER.format(python="" if quiet else " -- /home/dev/shop/.venv/bin/python",
                        cache="" if quiet else "cachedir: .pytest_cache\n")
    total, skipped = len(everything) * count, (len(everything) - len(chosen)) * count
    note = f" / {skipped} deselected / {len(ids)} selected" if skipped else ""
    out += ("" if quiet else "collecting ... ") + f"collected {total} items{note}\n\n"
    if quiet:
        for path in dict.fromkeys(i.split("::")[0] for i in ids):
            marks = "".join("F" if i in failed else "." for i in ids if i.startswith(path))
            for at in range(0, len(marks), 50):
                done = min(100, round(100 * (at + 50) / len(marks)))
                out += (path if at == 0 else "").ljust(24) + marks[at:at + 50].ljust(50) + f"[{done:3d}%]\n"
    else:
        for number, ident in enumerate(ids, 1):
            word = "FAILED" if ident in failed else "PASSED"
            out += f"{ident} {word}".ljust(72) + f" [{100 * number // len(ids):3d}%]\n"
    if failed:
        out += "\n" + "=" * 35 + " FAILURES " + "=" * 35 + "\n" + "\n".join(failed.values())
        out += rule("short test summary info") + "\n"
        out += "".join(f"FAILED {i} - {reasons.get(i, 'assert failed')}\n" for i in failed)
    tail = [f"{len(failed)} failed"] if failed else []
    tail.append(f"{len(ids) - len(failed)} passed")
    if skipped:
        tail.append(f"{skipped} deselected")
    return "\n".join([out.rstrip("\n"), *([""] if not failed else []),
                      rule(", ".join(tail) + f" in {seconds:.2f}s")])
