#!/usr/bin/env python3
"""The official clients of the three APIs read the replies and streams that tests/golden/apis records.

The packages are pinned and unpacked, not installed; they get the recorded bytes from a transport that stands in for the network,
and validate all that they read.  Where a package can't be had (no network, another Python), this says so and passes.
"""
import enum
import importlib
import json
import pathlib
import sys
import unittest

REPO = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(REPO))
from tools.dependencies import fetch

GOLDEN = REPO / "tests" / "golden" / "apis"
PACKAGES = ("openai", "anthropic", "openresponses-types", "anyio", "docstring-parser", "h11", "httpcore2", "httpx2", "idna", "jiter",
            "opentelemetry-api", "sniffio", "truststore", "pydantic", "pydantic-core", "typing-extensions", "annotated-types",
            "typing-inspection")
TURNS = ("full", "custom", "cut", "empty")


def have_packages():
    folders = [fetch.wheel(name) for name in PACKAGES]
    if None in folders:
        return False
    sys.path[:0] = [str(folder) for folder in folders]
    try:
        for name in ("openai", "anthropic", "openresponses_types"):
            importlib.import_module(name)
    except ImportError as error:
        print(f"not for this Python: {error}")
        return False
    return True


def body_of(name):
    return json.loads((GOLDEN / f"{name}.json").read_text(encoding="utf-8"))


def client(module, name, status=200):
    """A client whose every request is answered with this file."""
    import httpx2

    def answer(_request):
        kind = "text/event-stream" if name.endswith(".sse") else "application/json"
        return httpx2.Response(status, headers={"content-type": kind}, content=(GOLDEN / name).read_bytes())

    made = module.OpenAI if module.__name__ == "openai" else module.Anthropic
    return made(api_key="k", base_url="http://test/v1", max_retries=0, _strict_response_validation=True,
                http_client=httpx2.Client(transport=httpx2.MockTransport(answer)))


def events_of(name):
    """The objects of a stream."""
    text = (GOLDEN / f"{name}.sse").read_text(encoding="utf-8")
    lines = [line[6:] for line in text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines if line != "[DONE]"]


def is_within(small, large):
    """Whether all that the client shows stands in the body."""
    if isinstance(small, dict) and isinstance(large, dict):
        return all(value is None or (key in large and is_within(value, large[key])) for key, value in small.items())
    if isinstance(small, list) and isinstance(large, list):
        return len(small) == len(large) and all(map(is_within, small, large))
    return small == large


MESSAGES = [{"role": "user", "content": "Hi"}]


class Chat(unittest.TestCase):
    def setUp(self):
        import openai
        self.openai = openai

    def test_bodies(self):
        for turn in TURNS:
            reply = client(self.openai, f"chat_{turn}.json").chat.completions.create(model="m", messages=MESSAGES)
            self.assertTrue(is_within(reply.model_dump(mode="json"), body_of(f"chat_{turn}")), turn)

    def test_streams(self):
        for turn in TURNS:
            content, arguments, reasoning, finish, usage = "", "", "", None, None
            made = client(self.openai, f"chat_{turn}.sse")
            # Its types of a stream have no custom calls.
            made._strict_response_validation = turn != "custom"
            for chunk in made.chat.completions.create(model="m", messages=MESSAGES, stream=True):
                usage = chunk.usage or usage
                for choice in chunk.choices:
                    content += choice.delta.content or ""
                    reasoning += getattr(choice.delta, "reasoning_content", None) or ""
                    for call in choice.delta.tool_calls or []:
                        arguments += (call.function.arguments or "") if call.function else ""
                    finish = choice.finish_reason or finish
            message = body_of(f"chat_{turn}")["choices"][0]["message"]
            self.assertEqual(content, message["content"] or "")
            self.assertEqual(reasoning, message.get("reasoning_content", ""))
            calls = [call for call in message.get("tool_calls", []) if call["type"] == "function"]
            self.assertEqual(arguments, "".join(call["function"]["arguments"] for call in calls))
            self.assertEqual(finish, body_of(f"chat_{turn}")["choices"][0]["finish_reason"])
            self.assertEqual(usage.prompt_tokens, 3)

    def test_helper(self):
        # The helper knows function tools alone.
        tools = [{"type": "function", "function": {"name": "files__read", "parameters": {}, "strict": False}}]
        with client(self.openai, "chat_full.sse").chat.completions.stream(model="m", messages=MESSAGES, tools=tools) as stream:
            final = stream.get_final_completion()
        self.assertEqual(final.choices[0].message.tool_calls[0].function.arguments, '{"path": "a/b"}')

    def test_errors(self):
        with self.assertRaises(self.openai.BadRequestError) as raised:
            client(self.openai, "chat_error.json", 400).chat.completions.create(model="m", messages=MESSAGES)
        self.assertEqual(raised.exception.code, "context_length_exceeded")
        with self.assertRaisesRegex(self.openai.APIError, "the engine went away"):
            list(client(self.openai, "chat_failed.sse").chat.completions.create(model="m", messages=MESSAGES, stream=True))

    def test_models(self):
        self.assertEqual([model.id for model in client(self.openai, "models.json").models.list()], ["m"])


class Responses(unittest.TestCase):
    def setUp(self):
        import openai
        self.openai = openai

    NAMES = (*(f"responses_{turn}" for turn in (*TURNS, "full1", "full2")), "open_full")

    def test_bodies(self):
        for name in self.NAMES:
            reply = client(self.openai, f"{name}.json").responses.create(model="m", input="Hi")
            self.assertTrue(is_within(reply.model_dump(mode="json", by_alias=True), body_of(name)), name)

    def test_streams(self):
        for name in self.NAMES:
            expected = body_of(name)
            # Events of Open Responses are none that this client knows, so it can't validate them.
            made = client(self.openai, f"{name}.sse")
            if name in ("open_full", "responses_full2"):
                made._strict_response_validation = False
            seen = [event.type for event in made.responses.create(model="m", input="Hi", stream=True)]
            self.assertEqual(seen, [event["type"] for event in events_of(name)])
            with client(self.openai, f"{name}.sse") as helped:
                helped._strict_response_validation = False
                with helped.responses.stream(model="m", input="Hi") as stream:
                    last = None
                    for event in stream:
                        last = event
            self.assertEqual(last.type, f"response.{expected['status']}")
            shown = last.response.model_dump(mode="json", by_alias=True, exclude_unset=True)
            self.assertEqual([item["type"] for item in shown["output"]], [item["type"] for item in expected["output"]])

    def test_errors(self):
        with self.assertRaises(self.openai.BadRequestError) as raised:
            client(self.openai, "responses_error.json", 400).responses.create(model="m", input="Hi")
        self.assertEqual((raised.exception.code, raised.exception.param), ("context_length_exceeded", "input"))
        with self.assertRaisesRegex(self.openai.APIError, "the engine went away"):
            list(client(self.openai, "responses_failed.sse").responses.create(model="m", input="Hi", stream=True))

    def test_count(self):
        self.assertEqual(client(self.openai, "responses_count.json").responses.input_tokens.count(model="m", input="Hi").input_tokens, 7)


class Messages(unittest.TestCase):
    def setUp(self):
        import anthropic
        self.anthropic = anthropic
        self.arguments = {"model": "m", "max_tokens": 9, "messages": MESSAGES}

    def test_bodies(self):
        for turn in TURNS:
            reply = client(self.anthropic, f"messages_{turn}.json").messages.create(**self.arguments)
            self.assertTrue(is_within(reply.model_dump(mode="json"), body_of(f"messages_{turn}")), turn)

    def test_streams(self):
        for turn in TURNS:
            expected = body_of(f"messages_{turn}")
            events = list(client(self.anthropic, f"messages_{turn}.sse").messages.create(**self.arguments, stream=True))
            self.assertEqual(events[0].type, "message_start")
            self.assertEqual(events[-1].type, "message_stop")
            with client(self.anthropic, f"messages_{turn}.sse").messages.stream(**self.arguments) as stream:
                final = stream.get_final_message().model_dump(mode="json", warnings=False)
            self.assertTrue(is_within(final["content"], expected["content"]), turn)
            for key in ("stop_reason", "usage"):
                self.assertTrue(is_within(final[key], expected[key]), turn)

    def test_errors(self):
        with self.assertRaisesRegex(self.anthropic.BadRequestError, "prompt is too long"):
            client(self.anthropic, "messages_error.json", 400).messages.create(**self.arguments)
        with self.assertRaisesRegex(self.anthropic.APIStatusError, "the engine went away"):
            list(client(self.anthropic, "messages_failed.sse").messages.create(**self.arguments, stream=True))

    def test_models_and_count(self):
        self.assertEqual([model.display_name for model in client(self.anthropic, "models.json").models.list()], ["m"])
        count = client(self.anthropic, "messages_count.json").messages.count_tokens(model="m", messages=MESSAGES)
        self.assertEqual(count.input_tokens, 7)


class OpenResponses(unittest.TestCase):
    """Against the types of the specification's document."""

    def test_body(self):
        from openresponses_types import types
        types.ResponseResource.model_validate(body_of("open_full"))

    def test_stream(self):
        from openresponses_types import types
        known = {}
        for name, made in vars(types).items():
            field = getattr(made, "model_fields", {}).get("type") if name.endswith("StreamingEvent") else None
            if field is not None and isinstance(field.annotation, type) and issubclass(field.annotation, enum.Enum):
                known[next(iter(field.annotation)).value] = made
        for event in events_of("open_full"):
            known[event["type"]].model_validate(event)


if __name__ == "__main__":
    if not have_packages():
        print("skipped: the official clients are not to be had here")
        sys.exit(0)
    unittest.main()
