"""What the providers' own Python clients see of a server, as one JSON document.

    python sdk.py URL PROVIDER OUT same|small [TURNS]

URL is what is looked at, PROVIDER the scripted provider behind it, which is told to forget everything between two clients.

`same` records everything; `small` only tool loops with long outputs, for a server whose window they do not fit. Run once against the scripted provider and once through the proxy; compare.py says whether they saw the same. Everything is
recorded that a program could act on: objects, events, raw bytes, errors with their status, words and headers.
"""

import base64
import http.client
import json
import sys
import urllib.parse

import anthropic
import openai

# Headers of an answer that clients act on, or that people send to a provider's support.
HEADERS = (
    "content-type",
    "content-encoding",
    "retry-after",
    "request-id",
    "x-request-id",
    "anthropic-organization-id",
    "anthropic-ratelimit-requests-remaining",
    "openai-version",
    "openai-processing-ms",
    "x-ratelimit-remaining-tokens",
)

# One grey pixel.
PIXEL = base64.b64encode(
    bytes.fromhex(
        "89504e470d0a1a0a0000000d4948445200000001000000010800000000"
        "3a7e9b550000000a49444154789c636800000082008177cd72b60000000049454e44ae426082"
    )
).decode()

WEATHER = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}


def headers_of(headers):
    return {name: headers[name] for name in HEADERS if name in headers}


def dumped(thing):
    return thing.model_dump(mode="json") if hasattr(thing, "model_dump") else thing


def raw(url, path, body, extra=None):
    """The exact bytes of an answer, and how it is framed."""
    address = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname, address.port, timeout=60)
    headers = {"content-type": "application/json", "authorization": "Bearer k", "x-api-key": "k"}
    headers.update(extra or {})
    connection.request("POST", path, json.dumps(body), headers)
    answer = connection.getresponse()
    content = answer.read()
    found = {name.lower(): value for name, value in answer.getheaders()}
    connection.close()
    return {
        "status": answer.status,
        "headers": headers_of(found),
        "is_chunked": found.get("transfer-encoding") == "chunked",
        "bytes": base64.b64encode(content).decode() if "content-encoding" in found else content.decode(),
    }


def broken(call):
    """Whether a connection that breaks is an error to a program. How it broke is between two machines, not three."""
    seen = failure(call)["class"]
    return "a broken connection" if seen in ("ReadError", "RemoteProtocolError", "APIConnectionError") else seen


def report(city, index, size):
    """What a tool says: one line, or many."""
    lines = (f"{city}: sunny, {index} degrees at station {station} of {size}" for station in range(size))
    return "\n".join(lines)


def without_usage(seen):
    return [{key: value for key, value in answer.items() if key != "usage"} for answer in seen]


def failure(call):
    """What a program sees of an error."""
    try:
        call()
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what a program sees
        seen = {"class": type(error).__name__}
        response = getattr(error, "response", None)
        if response is not None:
            seen["status"] = response.status_code
            seen["headers"] = headers_of(response.headers)
            seen["body"] = getattr(error, "body", None)
            seen["message"] = str(error)
            seen["request_id"] = getattr(error, "request_id", None)
        return seen
    return {"class": None}


class Anthropic:
    """Anthropic Messages."""

    def __init__(self, url):
        self.url = url
        self.client = anthropic.Anthropic(base_url=url, api_key="sk-ant-scripted", max_retries=0)
        self.tools = [{"name": "weather", "description": "Tells the weather.", "input_schema": WEATHER}]

    def ask(self, model="scripted-1", messages=None, **more):
        messages = messages or [{"role": "user", "content": "Hello there."}]
        return self.client.messages.create(model=model, max_tokens=1024, messages=messages, **more)

    def text(self):
        answer = self.client.messages.with_raw_response.create(
            model="scripted-1", max_tokens=1024, messages=[{"role": "user", "content": "Hello there."}]
        )
        return {"headers": headers_of(answer.headers), "message": dumped(answer.parse())}

    def stream(self):
        events = [dumped(event) for event in self.ask(stream=True)]
        with self.client.messages.stream(
            model="scripted-1", max_tokens=1024, messages=[{"role": "user", "content": "Hello there."}]
        ) as stream:
            pieces = list(stream.text_stream)
            final = dumped(stream.get_final_message())
        return {"events": events, "pieces": pieces, "final": final}

    def loop(self, turns, parallel, size=1, **more):
        """A tool loop with its whole history, whole and streamed in turns."""
        model = f"scripted-1+turns={turns}+parallel={parallel}+tools=all"
        messages = [{"role": "user", "content": "What is the weather everywhere?"}]
        seen = []
        while True:
            arguments = dict(model=model, max_tokens=4096, messages=messages, tools=self.tools, **more)
            if len(seen) % 2:
                with self.client.messages.stream(**arguments) as stream:
                    answer = stream.get_final_message()
            else:
                answer = self.client.messages.create(**arguments)
            seen.append(dumped(answer))
            calls = [block for block in answer.content if block.type == "tool_use"]
            if not calls:
                return seen
            messages.append({"role": "assistant", "content": answer.content})
            results = [
                {"type": "tool_result", "tool_use_id": call.id, "content": report(call.input["city"], index, size)}
                for index, call in enumerate(calls)
            ]
            messages.append({"role": "user", "content": results})

    def thinking(self):
        return self.loop(7, 2, thinking={"type": "enabled", "budget_tokens": 2000})

    def image(self):
        source = {"type": "base64", "media_type": "image/png", "data": PIXEL}
        content = [{"type": "image", "source": source}, {"type": "text", "text": "What is this?"}]
        return dumped(self.ask(messages=[{"role": "user", "content": content}]))

    def extras(self):
        messages = [{"role": "user", "content": "Hello there."}]
        counted = self.client.messages.count_tokens(model="scripted-1", messages=messages)
        models = [dumped(model) for model in self.client.models.list()]
        return {"counted": dumped(counted), "models": models}

    def wrong(self):
        mark = {"type": "ephemeral"}
        content = [{"type": "text", "text": f"part {part}", "cache_control": mark} for part in range(5)]
        return failure(lambda: self.ask(messages=[{"role": "user", "content": content}]))

    def torn(self):
        use = {"type": "tool_use", "id": "toolu_lost", "name": "weather", "input": {"city": "Bonn"}}
        messages = [{"role": "user", "content": "a"}, {"role": "assistant", "content": [use]}, {"role": "user", "content": "b"}]
        return failure(lambda: self.ask(messages=messages))

    def raw(self, body, path="/v1/messages"):
        body = {"max_tokens": 1024, "messages": [{"role": "user", "content": "Hello there."}], **body}
        return raw(self.url, path, body, {"anthropic-version": "2023-06-01"})


class Chat:
    """OpenAI Chat Completions."""

    def __init__(self, url):
        self.url = url
        self.client = openai.OpenAI(base_url=f"{url}/v1", api_key="sk-scripted", max_retries=0)
        function = {"name": "weather", "description": "Tells the weather.", "parameters": WEATHER}
        self.tools = [{"type": "function", "function": function}]

    def ask(self, model="scripted-1", messages=None, **more):
        messages = messages or [{"role": "user", "content": "Hello there."}]
        return self.client.chat.completions.create(model=model, messages=messages, **more)

    def text(self):
        answer = self.client.chat.completions.with_raw_response.create(
            model="scripted-1", messages=[{"role": "user", "content": "Hello there."}]
        )
        return {"headers": headers_of(answer.headers), "message": dumped(answer.parse())}

    def stream(self):
        with_usage = self.ask(stream=True, stream_options={"include_usage": True})
        return {
            "events": [dumped(event) for event in self.ask(stream=True)],
            "with_usage": [dumped(event) for event in with_usage],
        }

    def loop(self, turns, parallel, size=1):
        model = f"scripted-1+turns={turns}+parallel={parallel}+tools=all"
        messages = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "What is the weather everywhere?"}]
        seen = []
        while True:
            if len(seen) % 2:
                with self.client.chat.completions.stream(model=model, messages=messages, tools=self.tools) as stream:
                    answer = stream.get_final_completion()
            else:
                answer = self.ask(model=model, messages=messages, tools=self.tools)
            seen.append(dumped(answer))
            message = answer.choices[0].message
            if not message.tool_calls:
                return seen
            calls = [
                {"id": call.id, "type": "function", "function": {"name": call.function.name, "arguments": call.function.arguments}}
                for call in message.tool_calls
            ]
            messages.append({"role": "assistant", "content": message.content, "tool_calls": calls})
            for index, call in enumerate(message.tool_calls):
                city = json.loads(call.function.arguments)["city"]
                content = report(city, index, size)
                messages.append({"role": "tool", "tool_call_id": call.id, "content": content})

    def image(self):
        picture = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{PIXEL}"}}
        content = [picture, {"type": "text", "text": "What is this?"}]
        return dumped(self.ask(messages=[{"role": "user", "content": content}]))

    def extras(self):
        return {"models": [dumped(model) for model in self.client.models.list()]}

    def wrong(self):
        return failure(lambda: self.ask(messages=[{"role": "robot", "content": "a"}]))

    def torn(self):
        messages = [{"role": "user", "content": "a"}, {"role": "tool", "tool_call_id": "call_lost", "content": "b"}]
        return failure(lambda: self.ask(messages=messages))

    def raw(self, body, path="/v1/chat/completions"):
        body = {"messages": [{"role": "user", "content": "Hello there."}], **body}
        return raw(self.url, path, body)


class Responses(Chat):
    """OpenAI Responses."""

    def __init__(self, url):
        super().__init__(url)
        self.tools = [
            {"type": "function", "name": "weather", "description": "Tells the weather.", "parameters": WEATHER, "strict": False}
        ]

    def ask(self, model="scripted-1", messages=None, **more):
        return self.client.responses.create(model=model, input=messages or "Hello there.", **more)

    def text(self):
        answer = self.client.responses.with_raw_response.create(model="scripted-1", input="Hello there.")
        return {"headers": headers_of(answer.headers), "message": dumped(answer.parse())}

    def stream(self):
        return {"events": [dumped(event) for event in self.ask(stream=True)]}

    def loop(self, turns, parallel, size=1, **more):
        model = f"scripted-1+turns={turns}+parallel={parallel}+tools=all"
        items = [{"role": "user", "content": "What is the weather everywhere?"}]
        seen = []
        while True:
            arguments = dict(model=model, input=items, tools=self.tools, store=False, **more)
            if len(seen) % 2:
                with self.client.responses.stream(**arguments) as stream:
                    answer = stream.get_final_response()
            else:
                answer = self.client.responses.create(**arguments)
            seen.append(dumped(answer))
            calls = [item for item in answer.output if item.type == "function_call"]
            items += [item.to_dict(mode="json") for item in answer.output]
            for item in items:
                item.pop("parsed_arguments", None)
                for part in item["content"] if isinstance(item.get("content"), list) else []:
                    part.pop("parsed", None)
            if not calls:
                return seen
            for index, call in enumerate(calls):
                output = report(json.loads(call.arguments)["city"], index, size)
                items.append({"type": "function_call_output", "call_id": call.call_id, "output": output})

    def thinking(self):
        return self.loop(7, 2, include=["reasoning.encrypted_content"], reasoning={"effort": "low", "summary": "auto"})

    def image(self):
        picture = {"type": "input_image", "image_url": f"data:image/png;base64,{PIXEL}", "detail": "auto"}
        content = [picture, {"type": "input_text", "text": "What is this?"}]
        return dumped(self.ask(messages=[{"role": "user", "content": content}]))

    def wrong(self):
        said = {"type": "message", "role": "assistant", "content": [{"type": "input_text", "text": "a"}]}
        return failure(lambda: self.ask(messages=[{"role": "user", "content": "a"}, said, {"role": "user", "content": "b"}]))

    def torn(self):
        items = [{"role": "user", "content": "a"}, {"type": "function_call_output", "call_id": "call_lost", "output": "b"}]
        return failure(lambda: self.ask(messages=items))

    def raw(self, body, path="/v1/responses"):
        return raw(self.url, path, {"input": "Hello there.", **body})


def observe(client, turns):
    seen = {"text": client.text(), "stream": client.stream()}
    seen["raw"] = {
        "whole": client.raw({"model": "scripted-1"}),
        "streamed": client.raw({"model": "scripted-1", "stream": True}),
        "big": client.raw({"model": "scripted-1+fault=big-event", "stream": True}),
        "slow": client.raw({"model": "scripted-1+fault=drip", "stream": True}),
    }
    if hasattr(client, "thinking"):
        seen["thinking"] = client.thinking()
    seen["image"] = client.image()
    seen["extras"] = client.extras()
    seen["parallel"] = client.loop(9, 4)
    seen["loop"] = client.loop(turns, 2)
    seen["errors"] = {
        str(status): failure(lambda status=status: client.ask(model=f"scripted-1+error={status}"))
        for status in (400, 401, 404, 429, 500, 529)
    }
    seen["errors"]["malformed"] = client.wrong()
    seen["broken"] = {
        fault: broken(lambda fault=fault: list(client.ask(model=f"scripted-1+fault={fault}", stream=True)))
        for fault in ("early-close", "reset", "page")
    }
    # The only thing that has to differ: calls and results that lost each other are put right on the way.
    seen["torn"] = client.torn()["class"]
    # Last: a proxy may ask twice where a prompt is too long, and numbers of requests go on from there.
    too_long = failure(lambda: client.ask(model="scripted-1+window=20", messages=[{"role": "user", "content": "word " * 50}]))
    for key in ("headers", "request_id"):
        too_long.pop(key, None)
    if isinstance(too_long.get("body"), dict):
        too_long["body"].pop("request_id", None)
    too_long["message"] = too_long.get("message", "").split("'request_id'")[0]
    seen["too_long"] = too_long
    return seen


def main():
    url, provider, out, mode = sys.argv[1].rstrip("/"), *sys.argv[2:5]
    turns = int(sys.argv[5]) if len(sys.argv) > 5 else 200
    seen = {"versions": {"openai": openai.__version__, "anthropic": anthropic.__version__}}
    for client in (Anthropic(url), Chat(url), Responses(url)):
        if mode == "same":
            raw(provider, "/scripted/reset", {})
            seen[type(client).__name__] = observe(client, turns)
            continue
        # Some 60 lines an output: two hundred of them are several times a small window.
        looked = {"loop": without_usage(client.loop(turns, 2, size=60))}
        seen[type(client).__name__] = looked
    with open(out, "w", encoding="utf-8") as file:
        json.dump(seen, file, indent=1, sort_keys=True)


if __name__ == "__main__":
    main()
