#!/usr/bin/env python3
"""Writes the example sessions next to this file. The output never changes."""

import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE / "source"))

import flaky_checkout
import refactor
import support_desk
from common import jsonl

if __name__ == "__main__":
    jsonl(HERE / "flaky-checkout.jsonl", flaky_checkout.build())
    jsonl(HERE / "refactor.rollout.jsonl", refactor.build())
    body = json.dumps(support_desk.build(), ensure_ascii=False, indent=2)
    (HERE / "support-desk.json").write_text(body + "\n", encoding="utf-8")
