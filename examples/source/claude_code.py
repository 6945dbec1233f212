"""Writes a session in the log format of Claude Code: one line per block."""

from __future__ import annotations

import copy
import difflib
import re
from dataclasses import dataclass
from datetime import timedelta

from common import Clock, Ids, tokens

MODEL, VERSION, ROOT = "claude-sonnet-4-5-20250929", "2.1.30", "/home/dev/shop"
TWIN_LIMIT = None     # set a number to shorten the long strings of toolUseResult
FIRST_PROMPT = 17_900  # system prompt and tool definitions, not part of the log


@dataclass
class Call:
    name: str
    input: dict
    run: object = None                # session -> (content, toolUseResult, is_error)
    seconds: float = 0.1


@dataclass
class Think:
    text: str


def shorten(value, limit):
    """The same JSON with long strings cut, for a smaller log."""
    if limit is None:
        return value
    if isinstance(value, dict):
        return {key: shorten(item, limit) for key, item in value.items()}
    if isinstance(value, list):
        return [shorten(item, limit) for item in value]
    return value[:limit] + "…" if isinstance(value, str) and len(value) > limit else value


def read(path, offset=None, limit=None) -> Call:
    def run(session):
        lines = session.files[path].splitlines()
        start = offset or 1
        part = lines[start - 1:start - 1 + (limit or 2000)]
        shown = "\n".join(f"{start + n:6d}→{line}" for n, line in enumerate(part))
        twin = {"type": "text", "file": {"filePath": f"{ROOT}/{path}", "content": "\n".join(part),
                "numLines": len(part), "startLine": start, "totalLines": len(lines)}}
        return shown, twin, None
    args = {"file_path": f"{ROOT}/{path}"}
    if offset:
        args |= {"offset": offset, "limit": limit}
    return Call("Read", args, run, 0.03)


def edit(path, old, new, replace_all=False) -> Call:
    def run(session):
        before = session.files[path]
        found = before.count(old)
        if not found or (found > 1 and not replace_all):
            raise ValueError(f"edit of {path} matches {found} times: {old[:60]!r}")
        session.files[path] = after = before.replace(old, new)
        session.edited.append(path)
        twin = {"filePath": f"{ROOT}/{path}", "oldString": old, "newString": new,
                "originalFile": None, "structuredPatch": hunks(before, after),
                "userModified": False, "replaceAll": replace_all}
        return f"The file {ROOT}/{path} has been updated successfully.", twin, None
    return Call("Edit", {"replace_all": replace_all, "file_path": f"{ROOT}/{path}",
                         "old_string": old, "new_string": new}, run, 0.06)


def hunks(before: str, after: str) -> list[dict]:
    a, b = before.splitlines(), after.splitlines()
    result = []
    for group in difflib.SequenceMatcher(None, a, b, autojunk=False).get_grouped_opcodes(3):
        lines = []
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                lines += [" " + line for line in a[i1:i2]]
            else:
                lines += ["-" + line for line in a[i1:i2]] + ["+" + line for line in b[j1:j2]]
        i1, i2, j1, j2 = group[0][1], group[-1][2], group[0][3], group[-1][4]
        result.append({"oldStart": i1 + 1, "oldLines": i2 - i1, "newStart": j1 + 1,
                       "newLines": j2 - j1, "lines": lines})
    return result


def grep(pattern, path="") -> Call:
    def run(session):
        rows = [f"{name}:{number}:{line}" for name in sorted(session.files)
                if name.startswith(path)
                for number, line in enumerate(session.files[name].splitlines(), 1)
                if re.search(pattern, line)]
        text = "\n".join(rows) or "No matches found"
        return text, {"mode": "content", "numFiles": 0, "filenames": [], "content": text,
                      "numLines": len(rows)}, None
    args = {"pattern": pattern, "output_mode": "content", "-n": True}
    return Call("Grep", args | ({"path": f"{ROOT}/{path}"} if path else {}), run, 0.05)


def bash(command, description, output, code=0, seconds=0.4, timeout=None) -> Call:
    """`output` is text, or a function of the files as they are at that moment."""
    def run(session):
        text = output(session.files) if callable(output) else output
        if code:
            text = f"Exit code {code}\n{text}"
            return text, "Error: " + text, True
        twin = {"stdout": text, "stderr": "", "interrupted": False, "isImage": False}
        return text, twin, False
    args = {"command": command, "description": description}
    return Call("Bash", args | ({"timeout": timeout} if timeout else {}), run, seconds)


def todo(*items) -> Call:
    """Items are `x done`, `> in progress` or `- pending`, with the -ing form after `|`."""
    states = {"x": "completed", ">": "in_progress", "-": "pending"}
    new = [{"content": item[2:].split("|")[0], "status": states[item[0]],
            "activeForm": item[2:].split("|")[1]} for item in items]

    def run(session):
        old, session.todos = session.todos, new
        text = ("Todos have been modified successfully. Ensure that you continue to use the todo "
                "list to track your progress. Please proceed with the current tasks if applicable")
        return text, {"oldTodos": old, "newTodos": new}, None
    return Call("TodoWrite", {"todos": new}, run, 0.02)


class Session:
    def __init__(self, seed: str, start: str, branch: str, files: dict[str, str]) -> None:
        self.ids, self.clock, self.files = Ids(seed), Clock(start), files
        self.session_id, self.branch = self.ids.uuid(), branch
        self.rows: list[dict] = []
        self.parent: str | None = None
        self.prompt, self.cached = FIRST_PROMPT, 14_200
        self.todos: list[dict] = []
        self.edited: list[str] = []
        self.backups: dict[str, dict] = {}
        self.marks: dict[str, tuple] = {}
        self.turn_start = self.clock.now
        self.turn_prompt = ""
        self.last_call = self.clock.now

    def _row(self, body: dict, parent: str | None, uuid: str | None = None) -> str:
        uuid = uuid or self.ids.uuid()
        head = {"parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": ROOT,
                "sessionId": self.session_id, "version": VERSION, "gitBranch": self.branch}
        self.rows.append(head | body | {"uuid": uuid, "timestamp": self.clock.stamp()})
        self.parent = uuid
        return uuid

    def _snapshot(self, message: str, update: bool) -> None:
        self.rows.append({
            "type": "file-history-snapshot", "messageId": message,
            "snapshot": {"messageId": self.turn_prompt, "trackedFileBackups": copy.deepcopy(self.backups),
                         "timestamp": self.clock.stamp()}, "isSnapshotUpdate": update})

    def user(self, text: str, minutes: float = 1.0, mark: str = "") -> None:
        self.clock.step(int(minutes * 60_000) + self.ids.number(0, 9_000))
        if mark:
            self.marks[mark] = (self.parent, dict(self.files), self.prompt, list(self.todos),
                                copy.deepcopy(self.backups))
        uuid = self.turn_prompt = self.ids.uuid()
        self._snapshot(uuid, False)
        self._row({"type": "user", "message": {"role": "user", "content": text},
                   "thinkingMetadata": {"level": "high", "disabled": False, "triggers": []},
                   "todos": self.todos, "permissionMode": "acceptEdits"}, self.parent, uuid)
        self.prompt += tokens(text) + 6
        self.turn_start = self.clock.now

    def rewind(self, mark: str) -> None:
        """Go back to just before a user turn; later lines become a dead branch."""
        self.parent, files, self.prompt, self.todos, self.backups = self.marks[mark]
        self.files.clear()
        self.files.update(files)
        self.cached = min(self.cached, self.prompt)

    def say(self, *blocks, end=False) -> None:
        """One model answer: strings, Think and Call blocks, then the results."""
        message, request = "msg_01" + self.ids.word(22), "req_011C" + self.ids.word(20)
        content = []
        for block in blocks:
            if isinstance(block, Think):
                size = 220 + min(len(block.text), 400)
                content.append({"type": "thinking", "thinking": block.text,
                                "signature": "Er" + self.ids.blob(size)})
            elif isinstance(block, Call):
                content.append({"type": "tool_use", "id": "toolu_01" + self.ids.word(22),
                                "name": block.name, "input": block.input})
            else:
                content.append({"type": "text", "text": block})
        output = sum(tokens(b.get("thinking") or b.get("text") or b.get("input")) + 12 for b in content)
        if self.clock.now - self.last_call > timedelta(minutes=5):
            self.cached = 0  # the prompt cache has expired
        new = max(self.prompt - self.cached - 4, 1)
        usage = {"input_tokens": 4, "cache_creation_input_tokens": new,
                 "cache_read_input_tokens": self.cached,
                 "cache_creation": {"ephemeral_5m_input_tokens": new, "ephemeral_1h_input_tokens": 0}}
        lines = []
        self.clock.step(self.ids.number(1_800, 4_200))
        for number, block in enumerate(content, 1):
            self.clock.step(300 + 14 * tokens(block.get("thinking") or block.get("text") or block.get("input")))
            last = number == len(content)
            stop = ("tool_use" if content[-1]["type"] == "tool_use" else "end_turn") if last else None
            lines.append(self._row({"message": {
                "model": MODEL, "id": message, "type": "message", "role": "assistant",
                "content": [block], "stop_reason": stop, "stop_sequence": None,
                "usage": usage | {"output_tokens": output if last else self.ids.number(1, 8),
                                  "service_tier": "standard"}},
                "requestId": request, "type": "assistant"}, self.parent))
        self.cached, self.last_call = self.prompt, self.clock.now
        self.prompt += output
        for block, shown, line in zip(blocks, content, lines):
            if isinstance(block, Call):
                self._result(block, shown["id"], line)
        if end:
            self.clock.step(40)
            spent = int((self.clock.now - self.turn_start).total_seconds() * 1000)
            self._row({"type": "system", "subtype": "turn_duration", "durationMs": spent,
                       "isMeta": False}, self.parent)

    def _result(self, call: Call, call_id: str, line: str) -> None:
        self.clock.step(int(call.seconds * 1000) + self.ids.number(5, 60))
        if call.seconds > 30:
            self._row({"type": "progress", "data": {
                "type": "bash_progress", "output": "", "fullOutput": "",
                "elapsedTimeSeconds": int(call.seconds) - 1, "totalLines": 0},
                "toolUseID": "bash-progress-0", "parentToolUseID": call_id}, line)
        known = len(self.edited)
        content, twin, error = call.run(self)
        result = {"tool_use_id": call_id, "type": "tool_result", "content": content}
        if error is not None:
            result["is_error"] = error
        uuid = self._row({"type": "user", "message": {"role": "user", "content": [result]},
                          "toolUseResult": shorten(twin, TWIN_LIMIT), "sourceToolAssistantUUID": line}, line)
        self.prompt += tokens(content) + 10
        for path in self.edited[known:]:
            if path not in self.backups:
                self.backups[path] = {"backupFileName": self.ids.digest().hex()[:16] + "@v1",
                                      "version": 1, "backupTime": self.clock.stamp()}
                self._snapshot(uuid, True)

    def title(self, text: str) -> None:
        self.rows.append({"type": "summary", "summary": text, "leafUuid": self.parent})
