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

SCENES = sorted(path.stem for path in (HERE / "source").glob("scene_*.py"))


def main() -> None:
    files, wrong, rows = {}, [], []
    for module in SCENES:
        scene = importlib.import_module(module).build()
        wrong += checks.problems(scene)
        files[HERE / "fixtures" / f"{scene.name}.json"] = shown(scene.fixture())
        files[HERE / "probes" / f"{scene.name}.probes.json"] = shown(scene.bank())
        rows.append(row(scene, len(shown(scene.fixture()).encode())))
    wrong += checks.sizes({path.name: len(text.encode()) for path, text in files.items() if path.parent.name == "fixtures"})
    there = {path for folder in ("fixtures", "probes") for path in (HERE / folder).glob("*.json")}
    wrong += [f"{path.name} has no scene" for path in sorted(there - files.keys())]
    if "--check" in sys.argv[1:]:
        wrong += [f"{path.name} is not what its scene makes" for path, text in files.items() if path not in there or path.read_text(encoding="utf-8") != text]
    elif not wrong:
        for path, text in files.items():
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
    print(f"{'fixture':28} {'shape':14} {'messages':>8} {'kB':>6} {'probes':>6} {'facts':>5} {'stale':>5} {'old':>5}  chain")
    print("\n".join(rows))
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
        f"{scene.name:28} {scene.shape:14} {len(scene.messages):8d} {size / 1000:6.1f} {len(scene.probes):6d} "
        f"{facts:5d} {stale:5d} {share:>5}  {scene.chain or ''}"
    )


if __name__ == "__main__":
    main()
