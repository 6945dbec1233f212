#!/usr/bin/env python3
"""Three models that are no models, to try `mainstay eval run` without a key: python3 examples/scripted_models.py [PORT]

They speak OpenAI's chat form on this machine only. `writer` summarises by copying lines that hold values, `reader` answers
by quoting the lines that share most with the question, `judge` counts the expected facts in the answer. The same request
always gets the same answer. None of them understands anything: use them to see how a run goes, never to believe a score.
"""

import json
import math
import re
import sys
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECTIONS = [
    "## Goal", "## Constraints & Preferences", "## Progress", "### Done", "### In Progress", "### Blocked",
    "## Key Decisions", "## Tried and Failed", "## Relevant Files", "## Next Steps", "## Critical Context",
]


def words(text):
    return re.findall(r"[\w./:%-]{2,}", text.lower())


def between(text, tag):
    """What stands in the last pair of marks whose name begins so."""
    found = re.findall(rf"<({tag}[\w-]*)>\n?(.*?)</\1>", text, re.S)
    return found[-1][1] if found else ""


def write(prompt):
    """A summary: the lines that hold values, the user's first; at most as many as the prompt allows."""
    records = between(prompt, "records")
    limit = re.search(r"at most (\d+) lines", prompt)
    room = re.search(r"about (\d+) tokens", prompt)
    most = int(limit.group(1)) if limit else 10_000
    # The user's lines stand twice, and lines full of values have about two characters a token.
    budget = int(1.4 * int(room.group(1))) if room else 3_000
    speaker, user, others = "", [], []
    for line in records.split("\n"):
        mark = re.match(r"\[m\d+ (\w+)", line)
        if mark:
            speaker = mark.group(1)
            line = line.split("] ", 1)[-1]
        if 4 < len(line) < 300 and (speaker == "user" or re.search(r"[\d/_]", line)):
            (user if speaker == "user" else others).append(line.strip())
    earlier = [line[2:] for line in between(prompt, "previous").split("\n") if line.startswith("- ")]
    kept, size = [], 0
    for line in dict.fromkeys(earlier + user + others[::-1]):
        size += len(line)
        if len(kept) >= most or size > budget:
            break
        kept.append(line)
    text = []
    for heading in SECTIONS:
        text.append(heading)
        if heading == "## Critical Context":
            text += [f"- {line}" for line in kept] or ["none"]
        elif heading == "## Constraints & Preferences":
            text += [f"- {line}" for line in kept if line in user] or ["none"]
        elif heading != "## Progress":
            text.append("none")
    return "\n".join(text)


def read(prompt):
    """An answer: the lines that share the rarest words with the question."""
    history = between(prompt, "history-") + "\n" + between(prompt, "found-history-")
    question = prompt.rsplit("Question: ", 1)[-1]
    may_search = "can be searched, once" in question
    question = question.split("\n\n")[0]
    lines = [line.strip() for line in history.split("\n") if line.strip()]
    counts = Counter(word for line in lines for word in set(words(line)))
    wanted = set(words(question))
    weight = {word: math.log(1 + len(lines) / counts[word]) for word in wanted if word in counts}
    scored = sorted(lines, key=lambda line: -sum(weight.get(word, 0) for word in set(words(line))))
    answer = "\n".join(scored[:8])
    if not may_search:
        return answer
    return json.dumps({"search": question} if len(weight) < len(wanted) / 2 else {"answer": answer})


def judge(prompt):
    """Six scores by the expected facts that stand in the answer, and by the stale ones."""
    case = prompt.rsplit("Question (", 1)[-1]
    answer = between(prompt, "answer-").lower()

    def listed(head):
        facts = []
        for line in case.split(head, 1)[-1].lstrip("\n").split("\n"):
            if not line.startswith("- "):
                break
            fact, _, others = line[2:].partition(" (also: ")
            facts.append([fact] + [form for form in others.rstrip(")").split("; ") if form])
        return [forms for forms in facts if forms[0] != "none"]

    expected = listed("Facts that a right answer has:")
    stale = listed("Facts that are no longer true and must not be given as current:")
    has = lambda forms: any(form.lower() in answer for form in forms)
    missing = [forms[0] for forms in expected if not has(forms)]
    old = [forms[0] for forms in stale if has(forms)]
    share = 5 * (1 - len(missing) / max(1, len(expected)))
    score = round(2 * share) / 2
    reason = f"missing: {', '.join(missing)}" if missing else "all expected facts are there"
    if old:
        reason += f"; also quotes what is stale: {', '.join(old)}"
    return json.dumps({
        "reason": reason, "accuracy": score, "context_awareness": 2.5 if old and missing else 5, "artifact_trail": score,
        "completeness": score, "continuity": score, "instruction_following": 5,
    })


class Provider(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        request = json.loads(self.rfile.read(int(self.headers["content-length"])))
        prompt = "\n".join(message["content"] for message in request["messages"])
        say = {"reader": read, "judge": judge}.get(request["model"], write)
        text = say(prompt)
        usage = {"prompt_tokens": len(prompt) // 4, "completion_tokens": len(text) // 4}
        choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
        body = json.dumps({"id": "x", "object": "chat.completion", "model": request["model"], "choices": [choice],
                           "usage": usage}).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


if __name__ == "__main__":
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8765
    server = ThreadingHTTPServer(("127.0.0.1", port), Provider)
    print(f"writer, reader and judge at http://127.0.0.1:{server.server_address[1]}/v1", flush=True)
    server.serve_forever()
