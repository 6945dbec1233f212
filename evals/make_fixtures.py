#!/usr/bin/env python3
"""Writes the fixtures and the probe banks next to this file, always the same bytes; `--check` only compares."""

import importlib
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE / "source"))

import checks
from scene import text_of

SCENES = sorted(path.stem for path in (HERE / "source").glob("scene_*.py"))


def main() -> None:
    compare, total, wrong, rows = "--check" in sys.argv[1:], 0, [], []
    expected = set()
    for module in SCENES:
        scene = importlib.import_module(module).build()
        wrong += checks.problems(scene)
        fixture, bank = shown(scene.fixture()), shown(scene.bank())
        total += len(fixture.encode())
        if len(fixture.encode()) > checks.LARGEST:
            wrong.append(f"{scene.name}: {len(fixture.encode())} bytes")
        for path, text in ((f"fixtures/{scene.name}.json", fixture), (f"probes/{scene.name}.probes.json", bank)):
            expected.add(HERE / path)
            if compare:
                if not (HERE / path).exists() or (HERE / path).read_text(encoding="utf-8") != text:
                    wrong.append(f"{path} is not what the source makes")
            else:
                (HERE / path).parent.mkdir(exist_ok=True)
                (HERE / path).write_text(text, encoding="utf-8")
        rows.append(row(scene, len(fixture.encode())))
    if total > checks.ALTOGETHER:
        wrong.append(f"{total} bytes altogether")
    wrong += [f"{path.name} has no scene" for folder in ("fixtures", "probes") for path in (HERE / folder).glob("*.json") if path not in expected]
    print(f"{'fixture':28} {'shape':14} {'msgs':>4} {'KB':>6} {'probes':>6} {'facts':>5} {'stale':>5} {'old':>5}  chain")
    print("\n".join(rows))
    print(f"{len(SCENES)} fixtures, {total} bytes")
    if wrong:
        raise SystemExit("\n".join(["", *wrong]))


def shown(value: dict) -> str:
    return json.dumps(value, ensure_ascii=False, indent=1) + "\n"


def row(scene, size: int) -> str:
    facts = sum(len(probe["expected_facts"]) for probe in scene.probes)
    stale = sum(len(probe.get("stale_facts", [])) for probe in scene.probes)
    old, total = checks.shares(scene)
    share = f"{100 * old // total} %" if total else "-"
    return (
        f"{scene.name:28} {scene.shape:14} {len(scene.messages):4d} {size / 1000:6.1f} {len(scene.probes):6d} "
        f"{facts:5d} {stale:5d} {share:>5}  {scene.chain or ''}"
    )


if __name__ == "__main__":
    main()
