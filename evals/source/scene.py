"""A scene: a conversation in the form of a chat request, and the questions about it."""

from __future__ import annotations

import json
import re

from noise import Dice

KINDS = ("recall", "artifact", "continuation", "decision")
SHAPES = ("feature", "debugging", "configuration", "chained")
NOTES = "Written for this exam, not recorded: every person, company, host, number and credential in it is made up."


class Scene:
    def __init__(self, name: str, shape: str, description: str, call_prefix: str = "call_", notes: str = "") -> None:
        self.name, self.shape, self.description, self.call_prefix = name, shape, description, call_prefix
        self.notes = " ".join(filter(None, [NOTES, notes]))
        self.dice = Dice(name)
        self.messages: list[dict] = []
        self.chain: list[int] = []
        self.secrets: list[str] = []
        self.probes: list[dict] = []
        self.bank_description = ""

    # The conversation.

    def system(self, text: str) -> None:
        self.messages.append({"role": "system", "content": text})

    def user(self, text: str) -> None:
        self.messages.append({"role": "user", "content": text})

    def say(self, text: str) -> None:
        self.messages.append({"role": "assistant", "content": text})

    def do(self, text: str, *calls: tuple[str, dict, str]) -> None:
        """The assistant says something and calls tools; each call is a name, its arguments and what comes back."""
        made, answers = [], []
        for name, arguments, output in calls:
            ident = self.call_prefix + self.dice.digits(20)
            function = {"name": name, "arguments": json.dumps(arguments, ensure_ascii=False)}
            made.append({"id": ident, "type": "function", "function": function})
            answers.append({"role": "tool", "tool_call_id": ident, "content": output})
        last = self.messages[-1]
        if last["role"] == "assistant":
            # An agent that goes on says so and calls in one message.
            self.messages.pop()
            text = "\n\n".join(filter(None, [last["content"], text]))
        self.messages.append({"role": "assistant", "content": text, "tool_calls": made})
        self.messages.extend(answers)

    def cut(self) -> None:
        """Here the conversation is compacted before it goes on."""
        self.chain.append(len(self.messages))

    def secret(self, *parts: str) -> str:
        """A made-up credential, put together here so that no whole one stands in the source."""
        value = "".join(parts)
        if value not in self.secrets:
            self.secrets.append(value)
        return value

    # The questions.

    def ask(self, ident: str, kind: str, question: str, facts: list, stale: list = ()) -> None:
        """A fact is a text, or a tuple of a text and other ways to say it."""
        probe = {"id": ident, "type": kind, "question": question, "expected_facts": [], "stale_facts": [], "forms": {}}
        for field, given in (("expected_facts", facts), ("stale_facts", stale)):
            for fact in given:
                fact, *forms = (fact,) if isinstance(fact, str) else fact
                probe[field].append(fact)
                if forms:
                    probe["forms"][fact] = list(forms)
        probe["spans"] = {fact: self.span(probe, fact) for fact in probe["expected_facts"] + probe["stale_facts"]}
        self.probes.append({key: value for key, value in probe.items() if value})

    def span(self, probe: dict, fact: str) -> list[int]:
        """The first and the last message in which a fact or one of its forms stands."""
        forms = [fact, *probe["forms"].get(fact, [])]
        pattern = re.compile("|".join(map(bounded, forms)), re.IGNORECASE)
        places = [index for index, message in enumerate(self.messages) if pattern.search(text_of(message))]
        if not places:
            raise SystemExit(f"{self.name}: {probe['id']}: {fact!r} stands nowhere in the conversation")
        return [places[0], places[-1]]

    # The files.

    def fixture(self) -> dict:
        head = {
            "name": self.name,
            "description": self.description,
            "model": "example/assistant",
            "context_length": 200000,
            "shape": self.shape,
        }
        if self.chain:
            head["chain"] = self.chain
        return {**head, "scrubbing_passes": 0, "notes": self.notes, "messages": self.messages}

    def bank(self) -> dict:
        head = {"fixture": self.name, "description": self.bank_description}
        if self.secrets:
            head["secrets"] = self.secrets
        return {**head, "probes": self.probes}


def bounded(form: str) -> str:
    """A pattern for a form that is not part of a longer word or number."""
    before = r"(?<!\w)" if re.match(r"\w", form) else ""
    after = r"(?!\w)" if re.search(r"\w$", form) else ""
    return before + re.escape(form) + after


def text_of(message: dict) -> str:
    """Everything that a message says, its calls included."""
    calls = (call["function"] for call in message.get("tool_calls", []))
    return "\n".join([message["content"], *(f"{call['name']} {call['arguments']}" for call in calls)])
