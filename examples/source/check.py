#!/usr/bin/env python3
"""Checks the three example files: JSON, ids, parents, calls and results."""

import json
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent


def need(condition, text):
    if not condition:
        raise SystemExit(f"check failed: {text}")


def lines(name):
    return [json.loads(line) for line in (HERE / name).read_text(encoding="utf-8").splitlines()]


def claude():
    rows, seen, uses, results, messages, tools = lines("flaky-checkout.jsonl"), {}, {}, {}, {}, Counter()
    stamps = [row["timestamp"] for row in rows if "timestamp" in row]
    need(stamps == sorted(stamps), "timestamps go back")
    for row in rows:
        if "uuid" not in row:
            continue
        need(row["uuid"] not in seen, "uuid twice")
        parent = row["parentUuid"]
        need((parent is None) == (not seen) and (parent is None or parent in seen), "parent missing")
        seen[row["uuid"]] = row
        content = row.get("message", {}).get("content")
        if row["type"] == "assistant":
            message = messages.setdefault(row["message"]["id"], [])
            need(not message or message[-1] == parent, "blocks of a message are not in a row")
            message.append(row["uuid"])
            for block in content:
                if block["type"] == "tool_use":
                    need(block["id"] not in uses, "tool_use id twice")
                    uses[block["id"]] = row["uuid"]
                    tools[block["name"]] += 1
        elif row["type"] == "user" and isinstance(content, list):
            for block in content:
                need(block["tool_use_id"] not in results, "second result for a call")
                need(uses.get(block["tool_use_id"]) == parent == row["sourceToolAssistantUUID"], "result in the wrong place")
                results[block["tool_use_id"]] = row["uuid"]
    need(uses.keys() == results.keys(), "call without result")
    need(all(s["leafUuid"] in seen for s in rows if s["type"] == "summary"), "title of an unknown line")
    # A new prompt or answer may only follow when every call of the message has its result.
    open_calls = set()
    for row in rows:
        content = row.get("message", {}).get("content")
        if isinstance(content, list):
            for block in content:
                if block["type"] == "tool_use":
                    open_calls.add(block["id"])
                    current = row["message"]["id"]
                elif block["type"] == "tool_result":
                    open_calls.remove(block["tool_use_id"])
                else:
                    need(not open_calls or row["message"]["id"] == current, "answer before all results")
        elif content is not None:
            need(not open_calls, "prompt before all results")
    need(not open_calls, "call open at the end")
    live, at = set(), rows[-1]["leafUuid"]
    while at:
        live.add(at)
        at = seen[at]["parentUuid"]
    prompts = [r for r in rows if r["type"] == "user" and isinstance(r["message"]["content"], str)]
    children = Counter(r["parentUuid"] for r in prompts)
    need([n for n in children.values() if n > 1] == [2], "exactly one rewind")
    abandoned = [r for r in prompts if r["uuid"] not in live]
    usage = [r["message"]["usage"] for r in rows if r["type"] == "assistant"][-1]
    full = usage["input_tokens"] + usage["cache_creation_input_tokens"] + usage["cache_read_input_tokens"]
    print(f"flaky-checkout.jsonl: {len(rows)} lines, {len(messages)} assistant messages, {len(prompts)} prompts "
          f"({len(abandoned)} abandoned), {len(uses)} calls, {len(results)} results, last prompt {full} tokens")
    print("  messages:", len(messages) + len(prompts) + len(results), dict(tools), dict(Counter(r["type"] for r in rows)), stamps[0], stamps[-1])


def openai():
    body = json.loads((HERE / "support-desk.json").read_text(encoding="utf-8"))
    names = {tool["function"]["name"] for tool in body["tools"]}
    waiting, seen, calls, parallel = [], set(), 0, 0
    for message in body["messages"]:
        if message["role"] == "tool":
            need(waiting and message["tool_call_id"] in waiting, "result in the wrong place")
            waiting.remove(message["tool_call_id"])
            json.loads(message["content"])
            continue
        need(not waiting, "call without result")
        for call in message.get("tool_calls", []):
            need(call["id"] not in seen, "call id twice")
            need(call["function"]["name"] in names, "unknown tool")
            json.loads(call["function"]["arguments"])
            seen.add(call["id"])
            waiting.append(call["id"])
        calls += len(waiting)
        parallel += len(waiting) > 1
    need(not waiting, "call open at the end")
    print(f"support-desk.json: {len(body['messages'])} messages, {dict(Counter(m['role'] for m in body['messages']))}, "
          f"{len(names)} tools, {calls} calls, {parallel} parallel")


def codex():
    rows, waiting, seen, reasoning = lines("refactor.rollout.jsonl"), {}, set(), set()
    stamps = [row["timestamp"] for row in rows]
    need(stamps == sorted(stamps), "timestamps go back")
    need(rows[0]["type"] == "session_meta", "session_meta is not first")
    for row in rows:
        item = row["payload"]
        kind = item.get("type", "")
        if row["type"] != "response_item":
            continue
        if kind.endswith("_call"):
            need(item["call_id"] not in seen, "call id twice")
            seen.add(item["call_id"])
            waiting[item["call_id"]] = kind
            json.loads(item["arguments"]) if kind == "function_call" else None
        elif kind.endswith("_output"):
            need(waiting.pop(item["call_id"], "") + "_output" == kind, "result in the wrong place")
        else:
            need(not waiting, "message before all results")
            if kind == "reasoning":
                need(item["id"] not in reasoning, "reasoning id twice")
                reasoning.add(item["id"])
    need(not waiting, "call open at the end")
    kinds = Counter(r["payload"].get("type", r["type"]) for r in rows if r["type"] == "response_item")
    print(f"refactor.rollout.jsonl: {len(rows)} lines, {sum(kinds.values())} response items {dict(kinds)}, "
          f"{dict(Counter(r['type'] for r in rows))}")


if __name__ == "__main__":
    claude()
    openai()
    codex()
