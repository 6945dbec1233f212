"""Writes a session in the rollout format of Codex."""

from __future__ import annotations

import difflib
import json

from common import Clock, Ids, tokens

ROOT, MODEL, WINDOW = "/home/dev/invoicer", "gpt-5.5-codex", 258_400
SANDBOX = {"type": "workspace-write", "network_access": False, "exclude_tmpdir_env_var": False, "exclude_slash_tmp": False}
INSTRUCTIONS = ("You are a coding agent that works in the user's terminal. Read before you write, keep changes small, "
                "run the tests after each step, and say plainly what you did and what you did not check.")
PERMISSIONS = ("<permissions instructions>\nFiles in the working directory may be read and written. The network is off. "
               "Ask before a command that needs more than that.\n</permissions instructions>")
ENVIRONMENT = (f"<environment_context>\n  <cwd>{ROOT}</cwd>\n  <shell>bash</shell>\n"
               "  <current_date>2026-08-18</current_date>\n  <timezone>Europe/Berlin</timezone>\n</environment_context>")


def message(role, *texts, phase=None) -> dict:
    kind = "output_text" if role == "assistant" else "input_text"
    row = {"type": "message", "role": role, "content": [{"type": kind, "text": text} for text in texts]}
    return row | ({"phase": phase} if phase else {})


def patch(files, changes) -> str:
    """An apply_patch text; `changes` maps a path to its new text, or None to delete."""
    out = ["*** Begin Patch"]
    for path, after in changes.items():
        if after is None:
            out.append(f"*** Delete File: {ROOT}/{path}")
        elif path not in files:
            out += [f"*** Add File: {ROOT}/{path}"] + ["+" + line for line in after.splitlines()]
        else:
            out.append(f"*** Update File: {ROOT}/{path}")
            rows = list(difflib.unified_diff(files[path].splitlines(), after.splitlines(), lineterm="", n=2))[2:]
            out += ["@@" if row.startswith("@@") else row for row in rows]
    return "\n".join(out + ["*** End Patch"]) + "\n"


class Rollout:
    def __init__(self, seed: str, start: str, files: dict[str, str]) -> None:
        self.ids, self.clock, self.files = Ids(seed), Clock(start), files
        self.rows: list[dict] = []
        self.live: list[dict] = []
        self.prompt, self.cached = 6_900, 3_584
        self.sums = dict.fromkeys(("input_tokens", "cached_input_tokens", "output_tokens", "reasoning_output_tokens", "total_tokens"), 0)
        self.output = self.thought = 0
        thread = self.ids.uuid("7", "019f7c2a40")
        self.row("session_meta", {
            "id": thread, "timestamp": self.clock.stamp(), "cwd": ROOT, "originator": "codex-tui", "cli_version": "0.139.0", "source": "cli",
            "model_provider": "openai", "base_instructions": {"text": INSTRUCTIONS},
            "git": {"commit_hash": self.ids.digest().hex()[:40], "branch": "split-report", "repository_url": "git@git.example.com:tools/invoicer.git"}})

    def row(self, kind: str, payload: dict, wait: int = 3) -> None:
        self.rows.append({"timestamp": self.clock.step(wait), "type": kind, "payload": payload})

    def event(self, kind: str, **fields) -> None:
        self.row("event_msg", {"type": kind, **fields})

    def item(self, payload: dict, wait: int = 3) -> None:
        self.row("response_item", payload, wait)
        self.live.append(payload)

    def user(self, text: str, minutes: float = 1) -> None:
        self.clock.step(int(minutes * 60_000))
        self.turn = self.ids.uuid("7", "019f7c2b")
        self.event("task_started", turn_id=self.turn, model_context_window=WINDOW, collaboration_mode_kind="default")
        if not self.live:
            self.item(message("developer", PERMISSIONS))
            self.item(message("user", "# AGENTS.md instructions for " + ROOT + "\n\n<INSTRUCTIONS>\n" + self.files["AGENTS.md"] + "</INSTRUCTIONS>"))
            self.item(message("user", ENVIRONMENT))
        self.row("turn_context", {
            "turn_id": self.turn, "cwd": ROOT, "current_date": "2026-08-18", "timezone": "Europe/Berlin", "approval_policy": "on-request",
            "sandbox_policy": SANDBOX, "model": MODEL, "effort": "medium", "summary": "auto", "truncation_policy": {"mode": "tokens", "limit": 10000}})
        self.item(message("user", text))
        self.event("user_message", message=text, images=[], local_images=[], text_elements=[])
        self.prompt += tokens(text)

    def think(self, title: str, size: int = 420) -> None:
        self.item({"type": "reasoning", "id": "rs_" + self.ids.digest().hex()[:48], "summary": [{"type": "summary_text", "text": title}],
                   "content": None, "encrypted_content": "gAAAAA" + self.ids.blob(size)}, 2_600)
        self.event("agent_reasoning", text=title)
        self.thought += size // 5

    def say(self, text: str, final: bool = False) -> None:
        phase = "final_answer" if final else "commentary"
        self.clock.step(400 + 12 * tokens(text))
        self.event("agent_message", message=text, phase=phase)
        self.item(message("assistant", text, phase=phase))
        self.output += tokens(text)
        if final:
            self.count()
            self.event("task_complete", turn_id=self.turn, last_agent_message=text)

    def run(self, *commands) -> None:
        """Commands are (command, output[, exit code[, seconds]]); several run in parallel."""
        calls = []
        for command, *rest in commands:
            call = "call_" + self.ids.word(24)
            arguments = json.dumps({"cmd": command, "workdir": ROOT, "yield_time_ms": 10000, "max_output_tokens": 8000})
            self.item({"type": "function_call", "name": "exec_command", "arguments": arguments, "call_id": call}, 500)
            self.output += tokens(arguments)
            calls.append((call, *rest))
        for call, output, *more in calls:
            code, seconds = (more + [0, 0.05][len(more):])[:2]
            text = output(self.files) if callable(output) else output
            head = (f"Chunk ID: {self.ids.digest().hex()[:6]}\nWall time: {seconds:.4f} seconds\nProcess exited with code {code}\n"
                    f"Original token count: {tokens(text)}\nOutput:\n")
            self.item({"type": "function_call_output", "call_id": call, "output": head + text + "\n"}, int(seconds * 1000) + 20)
        self.count()

    def apply(self, changes: dict) -> None:
        text, call = patch(self.files, changes), "call_" + self.ids.word(24)
        self.item({"type": "custom_tool_call", "status": "completed", "call_id": call, "name": "apply_patch", "input": text}, 1_500 + 9 * tokens(text))
        marks = []
        for path, after in changes.items():
            marks.append(f"{'D' if after is None else 'M' if path in self.files else 'A'} {ROOT}/{path}")
            if after is None:
                del self.files[path]
            else:
                self.files[path] = after
        output = "Success. Updated the following files:\n" + "\n".join(marks) + "\n"
        self.item({"type": "custom_tool_call_output", "call_id": call, "output": json.dumps(
            {"output": output, "metadata": {"exit_code": 0, "duration_seconds": 0.0}})}, 30)
        self.output += tokens(text)
        self.count()

    def count(self) -> None:
        """A token_count event after each answer of the model."""
        last = {"input_tokens": self.prompt, "cached_input_tokens": self.cached // 128 * 128, "output_tokens": self.output + self.thought,
                "reasoning_output_tokens": self.thought, "total_tokens": self.prompt + self.output + self.thought}
        self.sums = {key: self.sums[key] + last[key] for key in self.sums}
        self.event("token_count", info={"total_token_usage": self.sums, "last_token_usage": last, "model_context_window": WINDOW},
                   rate_limits={"limit_id": "codex", "limit_name": None, "primary": None, "secondary": None, "credits": None, "plan_type": "team"})
        self.cached = self.prompt
        self.prompt = 6_900 + sum(tokens(item) for item in self.live if item["type"] != "reasoning")
        self.output = self.thought = 0

    def compact(self) -> None:
        """Keep the messages of both sides, drop calls and results."""
        kept = [item for item in self.live if item["type"] == "message" and item.get("phase") != "commentary"]
        kept.append({"type": "compaction", "encrypted_content": "gAAAAA" + self.ids.blob(1_500)})
        self.row("compacted", {"message": "", "replacement_history": kept}, 8_000)
        self.live = list(kept)
        self.event("context_compacted")
        self.prompt, self.cached = 6_900 + sum(tokens(item) for item in kept), 6_144
