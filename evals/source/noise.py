"""Output of tools, made from templates by dice that always fall the same way."""

from __future__ import annotations

import hashlib
import json
import re
from datetime import datetime, timedelta

HOLE = re.compile(r"<(?:(\d+)-(\d+)|#(\d+)|\+(\d+)|([^<>]*\|[^<>]*))>")


class Dice:
    """Numbers, digits and choices that look random and are the same on every run and every Python."""

    def __init__(self, seed: str) -> None:
        self.seed, self.count, self.steps = seed, 0, 0

    def digest(self) -> bytes:
        self.count += 1
        return hashlib.sha512(f"{self.seed}:{self.count}".encode()).digest()

    def number(self, low: int, high: int) -> int:
        return low + int.from_bytes(self.digest()[:6], "big") % (high - low + 1)

    def digits(self, length: int) -> str:
        return self.digest().hex()[:length]

    def pick(self, choices):
        return choices[self.number(0, len(choices) - 1)]

    def fill(self, template: str) -> str:
        """Fills the holes: `<10-99>` a number, `<#8>` hexadecimal digits, `<+3>` up to three more
        than the last time, `<a|b|c>` one of the words."""

        def hole(found: re.Match) -> str:
            low, high, length, step, words = found.groups()
            if low is not None:
                return str(self.number(int(low), int(high))).zfill(len(low) if low.startswith("0") else 0)
            if step is not None:
                self.steps += self.number(1, int(step))
                return str(self.steps)
            return self.digits(int(length)) if length else self.pick(words.split("|"))

        return HOLE.sub(hole, template)

    def lines(self, count: int, templates: list[str]) -> list[str]:
        """That many lines, each from one of the templates, never the same template twice in a row."""
        made, last, self.steps = [], None, 0
        for _ in range(count):
            choices = [template for template in templates if template != last] or templates
            last = self.pick(choices)
            made.append(self.fill(last))
        return made

    def log(self, count: int, start: str, step: tuple[int, int], templates: list[str], form="%Y-%m-%dT%H:%M:%S.%fZ") -> list[str]:
        """Lines with a time before each; the steps between them are in milliseconds."""
        now, made = datetime.fromisoformat(start), []
        for line in self.lines(count, templates):
            now += timedelta(milliseconds=self.number(*step))
            stamp = now.strftime(form)
            made.append((stamp[:-4] + "Z" if form.endswith("%fZ") else stamp) + " " + line)
        return made

    def table(self, header: list[str], count: int, row: list[str], extra: list[list[str]] = ()) -> str:
        """Columns as command-line tools print them; the extra rows stand in the middle."""
        rows = [[self.fill(cell) for cell in row] for _ in range(count)]
        rows[count // 2 : count // 2] = [list(cells) for cells in extra]
        return columns([header, *rows])


def columns(rows: list[list[str]], gap: str = "   ") -> str:
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    return "\n".join(gap.join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def psql(rows: list[list[str]]) -> str:
    """A result as psql shows it."""
    widths = [max(len(row[index]) for row in rows) for index in range(len(rows[0]))]
    shown = [" " + " | ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    rule = "-" + "-+-".join("-" * width for width in widths) + "-"
    return "\n".join([shown[0], rule, *shown[1:], f"({len(rows) - 1} rows)"])


def weave(noise: list[str], *facts: str, at: float = 0.55) -> str:
    """The lines with the facts among them, next to each other, that far down."""
    place = int(len(noise) * at)
    return "\n".join([*noise[:place], *facts, *noise[place:]])


def numbered(text: str, first: int = 1) -> str:
    """A file as a reading tool shows it."""
    return "\n".join(f"{number:5d}|{line}" for number, line in enumerate(text.strip("\n").split("\n"), first))


def told(value) -> str:
    """JSON as tools answer it."""
    return json.dumps(value, ensure_ascii=False, indent=1)
