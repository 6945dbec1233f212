"""Small functions shared by the generators: stable ids, a clock, text bundles."""

from __future__ import annotations

import base64
import difflib
import hashlib
import json
import re
from datetime import datetime, timedelta
from pathlib import Path

HERE = Path(__file__).parent
BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"


class Ids:
    """Ids that look random but are the same on every run."""

    def __init__(self, seed: str) -> None:
        self.seed, self.count = seed, 0

    def digest(self) -> bytes:
        self.count += 1
        return hashlib.sha512(f"{self.seed}:{self.count}".encode()).digest()

    def uuid(self, version: str = "4", prefix: str = "") -> str:
        text = prefix + self.digest().hex()
        return f"{text[:8]}-{text[8:12]}-{version}{text[13:16]}-a{text[17:20]}-{text[20:32]}"

    def word(self, length: int) -> str:
        return "".join(BASE58[byte % 58] for byte in self.digest())[:length]

    def number(self, low: int, high: int) -> int:
        return low + int.from_bytes(self.digest()[:4], "big") % (high - low + 1)

    def blob(self, size: int) -> str:
        """Made-up base64, for signatures and encrypted fields."""
        data = b"".join(self.digest() for _ in range(size // 64 + 1))[:size]
        return base64.b64encode(data).decode()


class Clock:
    def __init__(self, start: str) -> None:
        self.now = datetime.fromisoformat(start)

    def step(self, milliseconds: int) -> str:
        self.now += timedelta(milliseconds=milliseconds)
        return self.stamp()

    def stamp(self) -> str:
        return self.now.strftime("%Y-%m-%dT%H:%M:%S.") + f"{self.now.microsecond // 1000:03d}Z"


def tokens(value) -> int:
    """A rough count: 3.2 characters per token, two for non-Latin text."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    wide = sum(1 for character in text if ord(character) > 0x2FF)
    return round((len(text) - wide) / 3.2 + wide / 2)


def load_bundle(name: str) -> dict[str, str]:
    """A bundle is a text file with `=== path` lines between the files."""
    parts = re.split(r"^=== (.+)\n", (HERE / name).read_text(encoding="utf-8"), flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


def line_of(files: dict[str, str], path: str, needle: str) -> int:
    """The 1-based number of the first line that contains the text."""
    for number, line in enumerate(files[path].splitlines(), 1):
        if needle in line:
            return number
    raise LookupError(f"{needle!r} is not in {path}")


def diff_stat(before: dict[str, str], after: dict[str, str]) -> str:
    """What `git diff --stat` prints for two states of the files."""
    rows, added, removed = [], 0, 0
    for path in sorted(before.keys() | after.keys()):
        old, new = (files.get(path, "").splitlines() for files in (before, after))
        lines = [line for line in difflib.unified_diff(old, new, lineterm="", n=0)][2:]
        plus, minus = (sum(line.startswith(sign) for line in lines) for sign in "+-")
        if plus or minus:
            added, removed = added + plus, removed + minus
            rows.append(f" {path:23} | {plus + minus:2d} {'+' * plus}{'-' * minus}")
    return "\n".join(rows) + f"\n {len(rows)} files changed, {added} insertions(+), {removed} deletions(-)"


def jsonl(path: Path, rows: list[dict]) -> None:
    lines = (json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
