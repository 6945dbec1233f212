"""What every fixture and its bank must hold to; a scene that does not is not written."""

from __future__ import annotations

import json
import re

from scene import KINDS
from scene import SHAPES
from scene import Scene
from scene import text_of

# Two thirds of the facts stand where no engine keeps the words as they are.
OLD_SHARE = 2 / 3
# Questions of a chained fixture that ask for nothing but what stands before its first cut.
EARLY_PROBES = 4
# Sizes in bytes: what a reader of a pull request still looks through, and what a repository carries gladly.
LARGEST = 150_000
ALTOGETHER = 500_000


def middle(scene: Scene) -> int:
    """The first message of the newer half, by messages and by length, whichever comes first."""
    lengths = [len(text_of(message)) for message in scene.messages]
    passed, by_length = 0, 0
    while passed + lengths[by_length] <= sum(lengths) / 2:
        passed += lengths[by_length]
        by_length += 1
    return min(by_length, len(scene.messages) // 2)


def problems(scene: Scene) -> list[str]:
    found = [*structure(scene), *bank(scene)]
    for probe in scene.probes:
        found += [f"{probe['id']}: {problem}" for problem in question(scene, probe)]
    return [f"{scene.name}: {problem}" for problem in found]


def sizes(fixtures: dict[str, int]):
    for name, size in fixtures.items():
        if size > LARGEST:
            yield f"{name} has {size} bytes"
    if sum(fixtures.values()) > ALTOGETHER:
        yield f"all fixtures together have {sum(fixtures.values())} bytes"


def structure(scene: Scene):
    waiting, seen = [], set()
    if scene.shape not in SHAPES:
        yield f"unknown shape {scene.shape}"
    if scene.messages[0]["role"] != "system" or scene.messages[1]["role"] != "user":
        yield "does not open with a system message and a user turn"
    for index, message in enumerate(scene.messages):
        before = scene.messages[index - 1]["role"] if index else ""
        if (before, message["role"]) in (("assistant", "assistant"), ("user", "user"), ("tool", "user")):
            yield f"message {index} follows a message of the {before} out of turn"
        if message["role"] == "tool":
            if message["tool_call_id"] not in waiting:
                yield f"message {index} answers no open call"
            else:
                waiting.remove(message["tool_call_id"])
            continue
        if waiting:
            yield f"message {index} stands before all calls are answered"
        for call in message.get("tool_calls", []):
            json.loads(call["function"]["arguments"])
            if call["id"] in seen:
                yield f"message {index} uses an id again"
            seen.add(call["id"])
            waiting.append(call["id"])
    if waiting:
        yield "ends with an open call"
    if (scene.shape == "chained") != bool(scene.chain):
        yield "is chained and has no cuts, or the other way round"
    for cut in scene.chain:
        if not 0 < cut < len(scene.messages) or scene.messages[cut]["role"] != "user":
            yield f"the cut at {cut} is not before a user turn"
    everything = "\n".join(text_of(message) for message in scene.messages)
    for secret in scene.secrets:
        if secret not in everything:
            yield f"secret {secret!r} stands nowhere"
        newer = "\n".join(text_of(message) for message in scene.messages[middle(scene) :])
        if secret in newer or secret in text_of(scene.messages[1]):
            yield f"secret {secret!r} stands where an engine may keep the words as they are"
    for address in re.findall(r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?![\w.])", everything):
        if not address.startswith(("192.0.2.", "198.51.100.", "203.0.113.", "127.", "0.0.0.0")):
            yield f"address {address} is not one for examples"


def bank(scene: Scene):
    probes = scene.probes
    if not 8 <= len(probes) <= 12:
        yield f"{len(probes)} probes"
    if {probe["type"] for probe in probes} != set(KINDS):
        yield "not all four types"
    if len({probe["id"] for probe in probes}) != len(probes):
        yield "a probe's id twice"
    if sum("stale_facts" in probe for probe in probes) < 3:
        yield "stale facts in fewer than three probes"
    old, total = shares(scene)
    if old < OLD_SHARE * total:
        late = [fact for probe in probes for fact, span in probe["spans"].items() if span[1] >= middle(scene)]
        yield f"only {old} of {total} facts stand in the older half alone (before {middle(scene)}); not {late}"
    if scene.chain:
        early = [probe for probe in probes if all(probe["spans"][fact][1] < scene.chain[0] for fact in probe["expected_facts"])]
        if len(early) < EARLY_PROBES:
            yield f"only {len(early)} probes ask for the first span alone: {[probe['id'] for probe in early]}"


def shares(scene: Scene) -> tuple[int, int]:
    """How many facts stand in the older half alone, and how many there are."""
    spans = [span for probe in scene.probes for span in probe["spans"].values()]
    return sum(span[1] < middle(scene) for span in spans), len(spans)


def question(scene: Scene, probe: dict):
    facts, stale = probe["expected_facts"], probe.get("stale_facts", [])
    forms = probe.get("forms", {})
    said = {fact: [fact, *forms.get(fact, [])] for fact in facts + stale}
    for fact, ways in said.items():
        first, last = probe["spans"][fact]
        span = "\n".join(text_of(message) for message in scene.messages[first : last + 1]).lower()
        if fact.lower() not in span:
            yield f"{fact!r} does not stand in its span"
        if " " in fact and len(ways) < 3:
            yield f"{fact!r} is prose and has fewer than two other forms"
        for way in ways:
            if way.lower() in probe["question"].lower():
                yield f"the question gives {way!r} away"
            if len(way) < 3 or way.isdigit() and len(way) < 4:
                yield f"{way!r} is too short to be told from chance"
            if any(secret in way for secret in scene.secrets):
                yield f"{way!r} is a secret"
    for old in stale:
        for fact in facts:
            if any(a.lower() in b.lower() or b.lower() in a.lower() for a in said[old] for b in said[fact]):
                yield f"stale {old!r} and expected {fact!r} cannot be told apart"
