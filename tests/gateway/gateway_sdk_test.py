#!/usr/bin/env python3
"""The official clients against a running gateway: the embedded engine, and an imitation of each server behind it.

    python3 tests/gateway/gateway_sdk_test.py --program build/asan/rondo [--turns 30]

The packages are pinned and unpacked, not installed; where one can't be had, this says so and passes.  What is checked of each conversation: all turns but the first go on from the ids that were sampled, the engine was asked
for prompts that only grow, it had in its cache what was expected, and the rows for a trainer are what it saw.
"""
import argparse
import asyncio
import json
import os
import pathlib
import subprocess
import sys
import time
import unittest
import urllib.request

import api_clients_test

REPO = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ""
TURNS = 6
# Its template and tokenizer; no weights are needed where a server answers.
MODEL = str(REPO / "tests" / "golden" / "batch" / "model")
KINDS = {"vllm": ["--generate", "on", "--cached-tokens"], "sglang": [], "llama-server": []}
BLOCK = {"vllm": 16, "sglang": 1, "llama-server": 1}


class Process:
    """A server of the program's that tells its address in a line of JSON."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen([PROGRAM, *arguments, "--port", "0", "--json"], stdout=subprocess.PIPE, text=True,
                                        stderr=subprocess.PIPE)
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(self.process.communicate()[1])
        self.url = json.loads(line)["url"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        try:
            _, self.said = self.process.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise

    def get(self, path):
        with urllib.request.urlopen(self.url + path, timeout=60) as reply:
            text = reply.read().decode("utf-8")
        return text if path.endswith("/training") else json.loads(text)


def gateway(*arguments):
    return Process("serve", "--store", "memory", "--log", "off", *arguments)


def ids_of(text):
    said = subprocess.run([PROGRAM, "tokenize", text, MODEL, "--ids"], capture_output=True, text=True, check=True).stdout
    return [int(word) for word in said.replace(",", " ").replace("[", " ").replace("]", " ").split()]


def script():
    """A model that says letters, and calls a tool where it is asked for the weather."""
    end = ids_of("~fin~")
    ask = ids_of("?~fin~[[assistant: ")
    call = ids_of('{!do weather with {"city":   "Oslo"} do!}')
    # Every id has a text of its own: of what is no whole character a stream of llama-server tells nothing.
    pieces = {str(id): f"<{id}>" for id in range(256, 300)}
    return {"vocabulary": 123, "first_plain": 97, "end_ids": end, "end_after": 12, "pieces": pieces,
            "rules": [{"suffix": ask, "completion": call + end}]}


TOOL = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
CHAT_TOOLS = [{"type": "function", "function": {"name": "weather", "description": "d", "parameters": TOOL}}]
EXPLAIN = {"x-rondo-explain": "1"}


class Conversations:
    """The same conversation in each API, each turn as another kind of client asks for it."""

    def __init__(self, url, session):
        import anthropic
        import openai
        base = f"{url}/s/{session}"
        common = {"api_key": "k", "max_retries": 0, "timeout": 60}
        self.openai = openai.OpenAI(base_url=base + "/v1", **common)
        self.openai_async = openai.AsyncOpenAI(base_url=base + "/v1", **common)
        self.anthropic = anthropic.Anthropic(base_url=base, **common)
        self.anthropic_async = anthropic.AsyncAnthropic(base_url=base, **common)
        self.loop = asyncio.new_event_loop()

    def close(self):
        self.loop.run_until_complete(self.openai_async.close())
        self.loop.run_until_complete(self.anthropic_async.close())
        self.loop.close()

    def chat(self, turn, messages):
        arguments = {"model": "m", "messages": messages, "tools": CHAT_TOOLS, "max_tokens": 400, "temperature": 0}
        if turn % 4 == 0:
            message = self.openai.chat.completions.create(**arguments).choices[0].message
        elif turn % 4 == 1:
            with self.openai.chat.completions.stream(**arguments) as stream:
                message = stream.get_final_completion().choices[0].message
        elif turn % 4 == 2:
            message = self.loop.run_until_complete(self.openai_async.chat.completions.create(**arguments)).choices[0].message
        else:
            async def run():
                async with self.openai_async.chat.completions.stream(**arguments) as stream:
                    return (await stream.get_final_completion()).choices[0].message
            message = self.loop.run_until_complete(run())
        out = {"role": "assistant", "content": message.content or ""}
        if message.tool_calls:
            out["tool_calls"] = [{"id": call.id, "type": "function",
                                  "function": {"name": call.function.name, "arguments": call.function.arguments}}
                                 for call in message.tool_calls]
        results = [{"role": "tool", "tool_call_id": call.id, "content": "rain"} for call in message.tool_calls or []]
        return [out, *results], bool(results)

    def messages(self, turn, messages):
        tools = [{"name": "weather", "description": "d", "input_schema": TOOL}]
        arguments = {"model": "m", "messages": messages, "tools": tools, "max_tokens": 400}
        if turn % 4 == 0:
            reply = self.anthropic.messages.create(**arguments)
        elif turn % 4 == 1:
            with self.anthropic.messages.stream(**arguments) as stream:
                reply = stream.get_final_message()
        elif turn % 4 == 2:
            reply = self.loop.run_until_complete(self.anthropic_async.messages.create(**arguments))
        else:
            async def run():
                async with self.anthropic_async.messages.stream(**arguments) as stream:
                    return await stream.get_final_message()
            reply = self.loop.run_until_complete(run())
        blocks = [block.model_dump(exclude_none=True) for block in reply.content]
        results = [{"type": "tool_result", "tool_use_id": block["id"], "content": [{"type": "text", "text": "rain"}]}
                   for block in blocks if block["type"] == "tool_use"]
        said = [{"role": "assistant", "content": blocks or ""}]
        return said + ([{"role": "user", "content": results}] if results else []), bool(results)

    def responses(self, turn, items):
        tools = [{"type": "function", "name": "weather", "description": "d", "parameters": TOOL, "strict": False}]
        arguments = {"model": "m", "input": items, "tools": tools, "max_output_tokens": 400}
        if turn % 2 == 0:
            reply = self.openai.responses.create(**arguments)
        else:
            with self.openai.responses.stream(**arguments) as stream:
                reply = stream.get_final_response()
        out = [item.model_dump(exclude_none=True, exclude={"parsed_arguments"}) for item in reply.output]
        for item in out:
            for part in item.get("content") or []:
                part.pop("parsed", None)
        if not out:  # an empty reply has no items, and a client that shows nothing of it goes on from the turn before
            out = [{"role": "assistant", "content": ""}]
        results = [{"type": "function_call_output", "call_id": item["call_id"], "output": "rain"}
                   for item in out if item.get("type") == "function_call"]
        return out + results, bool(results)

    def hold(self, api, turns):
        history = [{"role": "user", "content": "hello there, this is where a conversation begins"}]
        calls = 0
        for turn in range(turns):
            said, has_called = getattr(self, api)(turn, history)
            calls += has_called
            history += said
            if not has_called:
                history.append({"role": "user", "content": "weather?" if turn % 3 == 1 else f"go on, {turn}"})
        return calls


def starts_with(whole, begin):
    return whole[:len(begin)] == begin


class OfServers(unittest.TestCase):
    def hold(self, kind, api):
        with Process("fake-engine", kind, *KINDS[kind], "--context", "100000", "--script", json.dumps(script())) as fake, \
                gateway(MODEL, "--url", fake.url) as server:
            clients = Conversations(server.url, "run")
            try:
                calls = clients.hold(api, TURNS)
            finally:
                clients.close()
            self.check(server, fake, kind, calls)

    def check(self, server, fake, kind, calls):
        turns = server.get("/rondo/v1/sessions/run")["turns"]
        self.assertEqual(len(turns), TURNS)
        self.assertGreater(calls, 0)
        # Ids that llama-server's stream leaves out are asked for behind its back, without a stream.
        asked = [request for request in fake.get("/record")["requests"] if request["body"].get("stream")]
        for before, after in zip(asked, asked[1:]):
            self.assertTrue(starts_with(after["prompt"], before["prompt"] + before["completions"][0]), "a break")
        self.assertEqual([turn["how"] for turn in turns], ["render"] + ["bridge"] * (TURNS - 1))
        for turn, request in zip(turns, asked):
            self.assertEqual(turn["cached"], request["cached"])
            # Never computed: the id that was sampled last; and servers keep whole blocks.
            held = max(0, turn["expected"] - 1)
            self.assertEqual(turn["cached"], held - held % BLOCK[kind], turn)
        row = json.loads(server.get("/rondo/v1/sessions/run/training"))
        last = asked[-1]
        self.assertEqual(row["ids"], last["prompt"] + last["completions"][0])
        sampled = [0] * len(row["ids"])
        for request in asked:
            begin = len(request["prompt"])
            sampled[begin:begin + len(request["completions"][0])] = [1] * len(request["completions"][0])
        self.assertEqual(row["loss_mask"], sampled)

    def test_chat_vllm(self):
        self.hold("vllm", "chat")

    def test_messages_sglang(self):
        self.hold("sglang", "messages")

    def test_responses_llama_server(self):
        self.hold("llama-server", "responses")

    @unittest.skipUnless(os.environ.get("RONDO_SDK_ALL"), "takes its time: RONDO_SDK_ALL=1")
    def test_messages_vllm(self):
        self.hold("vllm", "messages")

    @unittest.skipUnless(os.environ.get("RONDO_SDK_ALL"), "takes its time: RONDO_SDK_ALL=1")
    def test_chat_llama_server(self):
        self.hold("llama-server", "chat")

    def test_faults(self):
        import anthropic
        import openai
        # There is time between the first token and the end: were it lost with the connection, the gateway would try once more.
        with Process("fake-engine", "sglang", "--script", json.dumps({**script(), "end_after": 500}), "--delay", "20", "--fault", "die:1:2") as fake, \
                gateway(MODEL, "--url", fake.url) as server:
            clients = Conversations(server.url, "run")
            history = [{"role": "user", "content": "hi"}]
            with self.assertRaises(openai.APIError):
                for _ in clients.openai.chat.completions.create(model="m", messages=history, stream=True):
                    pass
            with self.assertRaises(anthropic.APIError):
                for _ in clients.anthropic.messages.create(model="m", messages=history, max_tokens=40, stream=True):
                    pass
            self.assertTrue(clients.openai.chat.completions.create(model="m", messages=history, max_tokens=5).choices)
            clients.close()
            # What was sent of them is kept.
            turns = server.get("/rondo/v1/sessions/run")["turns"]
            self.assertEqual([turn["finish"] for turn in turns][:2], ["failed", "failed"])

    def test_tool_runner(self):
        """bug: the runner of the official client keeps its conversation on the server, and its second request failed."""
        import anthropic
        asked = []

        def weather(city: str) -> str:
            asked.append(city)
            return "rain"
        for stream in (False, True):
            with Process("fake-engine", "vllm", *KINDS["vllm"], "--script", json.dumps(script())) as fake, \
                    gateway(MODEL, "--url", fake.url) as server:
                clients = Conversations(server.url, "run")
                runner = clients.anthropic.beta.messages.tool_runner(
                    model="m", max_tokens=400, tools=[anthropic.beta_tool(weather)], stream=stream,
                    messages=[{"role": "user", "content": "weather?"}])
                replies = [one.get_final_message() if stream else one for one in runner]
                image = {"type": "image", "source": {"type": "url", "url": "http://127.0.0.1/i.png"}}
                with self.assertRaises(anthropic.BadRequestError) as refused:
                    clients.anthropic.beta.messages.create(model="m", max_tokens=4, thread={"type": "create"},
                                                           messages=[{"role": "user", "content": [image]}])
                self.assertEqual(refused.exception.body["error"]["details"], {"error_code": "thread_unsupported_request"})
                clients.close()
                self.assertEqual([reply.stop_reason for reply in replies], ["tool_use", "end_turn"])
                turns = server.get("/rondo/v1/sessions/run")["turns"]
                self.assertEqual([turn["how"] for turn in turns], ["render", "bridge"])
                self.assertEqual(len(fake.get("/record")["requests"]), 2)
        self.assertEqual(asked, ["Oslo", "Oslo"])

    def test_client_that_leaves(self):
        # A client that reads no further before it leaves is sent more than it gets.
        for wait in (0, 0.3):
            with Process("fake-engine", "sglang", "--delay", "40", "--script", json.dumps({**script(), "end_after": 500})) as fake, \
                    gateway(MODEL, "--url", fake.url) as server:
                clients = Conversations(server.url, "cut")
                history = [{"role": "user", "content": "hi"}]
                stream = clients.openai.chat.completions.create(model="m", messages=history, stream=True)
                content = ""
                for chunk in stream:
                    content += chunk.choices[0].delta.content or ""
                    if len(content) >= 5:
                        break
                time.sleep(wait)
                stream.close()
                deadline = time.monotonic() + 20
                while not server.get("/rondo/v1/sessions").get("sessions") and time.monotonic() < deadline:
                    time.sleep(0.05)
                # What was sent is kept, and what the client got is gone on from.
                history += [{"role": "assistant", "content": content}, {"role": "user", "content": "and now?!"}]
                reply = clients.openai.chat.completions.create(model="m", messages=history, max_tokens=3,
                                                               extra_headers=EXPLAIN)
                clients.close()
                self.assertEqual(server.get("/rondo/v1/sessions/cut")["turns"][0]["finish"], "cancelled")
                self.assertEqual(reply.model_extra["rondo"]["how"], "bridge")

    def test_completions(self):
        with Process("fake-engine", "vllm", *KINDS["vllm"], "--script", json.dumps(script())) as fake, \
                gateway(MODEL, "--url", fake.url) as server:
            clients = Conversations(server.url, "ids")
            prompt = ids_of("once upon a time")
            reply = clients.openai.completions.create(model="m", prompt=[prompt, prompt], max_tokens=5, n=2, logprobs=1,
                                                      extra_body={"return_token_ids": True})
            self.assertEqual([choice.index for choice in reply.choices], [0, 1, 2, 3])
            ids = [choice.model_extra["token_ids"] for choice in reply.choices]
            self.assertEqual(sorted(ids), sorted(ids for one in fake.get("/record")["requests"] for ids in one["completions"]))
            self.assertEqual(reply.choices[0].model_extra["prompt_token_ids"], prompt)
            self.assertEqual(len(reply.choices[0].logprobs.tokens), len(ids[0]))
            text = clients.openai.completions.create(model="m", prompt="once upon a time", max_tokens=5, echo=True, seed=3)
            self.assertTrue(text.choices[0].text.startswith("once upon a time"))
            pieces = list(clients.openai.completions.create(model="m", prompt="once upon a time", max_tokens=5, stream=True,
                                                            seed=3, echo=True, stream_options={"include_usage": True}))
            self.assertEqual("".join(piece.choices[0].text for piece in pieces if piece.choices), text.choices[0].text)
            self.assertEqual(pieces[-1].usage.completion_tokens, text.usage.completion_tokens)
            clients.close()
            self.assertEqual(len(server.get("/rondo/v1/sessions/ids")["turns"]), 6)


@unittest.skipUnless(os.environ.get("RONDO_SDK_ALL"), "takes its time: RONDO_SDK_ALL=1")
class Embedded(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = gateway("--context", "2048")
        cls.clients = Conversations(cls.server.url, "e")

    @classmethod
    def tearDownClass(cls):
        cls.clients.close()
        cls.server.__exit__()

    def warnings_of(self, raw):
        return " | ".join(raw.headers.get_list("warning"))

    def test_conversation(self):
        history = [{"role": "user", "content": "hello"}]
        for turn in range(3):
            reply = self.clients.openai.chat.completions.create(model="m", messages=history, max_tokens=6,
                                                                extra_headers=EXPLAIN)
            rondo = reply.model_extra["rondo"]
            self.assertEqual(rondo["how"], "bridge" if turn else "render")
            self.assertEqual(set(rondo), {"session", "turn", "how", "expected", "cached", "appended", "rendered",
                                          "reattached_reasoning", "cause", "notes"})
            history += [reply.choices[0].message.model_dump(exclude_none=True), {"role": "user", "content": "more"}]

    def test_structured_output(self):
        import pydantic

        class Answer(pydantic.BaseModel):
            kind: bool
            rating: bool

        reply = self.clients.openai.chat.completions.parse(model="m", messages=[{"role": "user", "content": "rate"}],
                                                           response_format=Answer, max_tokens=1500, reasoning_effort="none")
        self.assertIsInstance(reply.choices[0].message.parsed, Answer)
        message = self.clients.anthropic.messages.parse(model="m", max_tokens=1500, output_format=Answer, timeout=600,
                                                        thinking={"type": "disabled"},
                                                        messages=[{"role": "user", "content": "rate"}])
        self.assertIsInstance(message.parsed_output, Answer)

    def test_reasoning(self):
        def prompt(**wish):
            body = json.dumps({"messages": [{"role": "user", "content": "x"}], **wish}).encode()
            request = urllib.request.Request(self.server.url + "/v1/chat/completions/render", body)
            with urllib.request.urlopen(request) as reply:
                return json.load(reply)["token_ids"]
        usual = prompt()
        off = prompt(reasoning_effort="none")
        self.assertTrue(starts_with(off, usual) and len(off) > len(usual))
        for wish in ({"thinking": {"type": "disabled"}}, {"reasoning": {"enabled": False}},
                     {"chat_template_kwargs": {"enable_thinking": False}}):
            self.assertEqual(prompt(**wish), off)
        self.assertEqual(prompt(chat_template_kwargs={"enable_thinking": True}, reasoning_effort="none"), usual)
        raw = self.clients.openai.chat.completions.with_raw_response.create(
            model="m", messages=[{"role": "user", "content": "x"}], max_tokens=2, reasoning_effort="high")
        self.assertIn("takes no effort", self.warnings_of(raw))

    def test_choices_and_stops(self):
        reply = self.clients.openai.chat.completions.create(model="m", messages=[{"role": "user", "content": "hello"}], n=3,
                                                            max_tokens=4, seed=7, logprobs=True, top_logprobs=2)
        self.assertEqual([choice.index for choice in reply.choices], [0, 1, 2])
        for choice in reply.choices:
            self.assertLessEqual(len(choice.logprobs.content[0].top_logprobs), 2)
        again = self.clients.openai.chat.completions.create(model="m", messages=[{"role": "user", "content": "hello"}],
                                                            max_tokens=4, seed=7)
        self.assertEqual(again.choices[0].message.content, reply.choices[0].message.content)

    def test_what_is_left_out_is_said(self):
        raw = self.clients.openai.responses.with_raw_response.create(
            model="m", input="x", max_output_tokens=2, tools=[{"type": "web_search"}])
        self.assertIn("web_search", self.warnings_of(raw))

    def test_images(self):
        import openai
        part = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}
        with self.assertRaises(openai.BadRequestError) as raised:
            self.clients.openai.chat.completions.create(model="m", messages=[{"role": "user", "content": [part]}])
        self.assertIn("messages[0].content[0]", str(raised.exception))

    def test_diagnostics(self):
        first = self.clients.openai.responses.create(model="m", input="hello", max_output_tokens=4)
        options = {"comparison_response_id": first.id}
        second = self.clients.openai.responses.create(model="m", input="hello", max_output_tokens=4,
                                                      extra_body={"prompt_cache_options": options})
        self.assertEqual(second.prompt_cache_diagnostics.type, "cache_hit")
        third = self.clients.openai.responses.create(model="m", input="other words", max_output_tokens=4,
                                                     extra_body={"prompt_cache_options": options})
        self.assertEqual(third.prompt_cache_diagnostics.reason, "input_changed")
        messages = [{"role": "user", "content": "hello"}]
        one = self.clients.anthropic.messages.create(model="m", max_tokens=4, messages=messages, system="Be brief.",
                                                     extra_body={"diagnostics": {"previous_message_id": None}})
        two = self.clients.anthropic.messages.create(model="m", max_tokens=4, messages=messages, system="Be long.",
                                                     extra_body={"diagnostics": {"previous_message_id": one.id}})
        self.assertIsNone(one.diagnostics.cache_miss_reason)
        self.assertEqual(two.diagnostics.cache_miss_reason.type, "system_changed")
        lost = self.clients.anthropic.messages.create(model="m", max_tokens=4, messages=messages,
                                                      extra_body={"diagnostics": {"previous_message_id": "msg_none"}})
        self.assertEqual(lost.diagnostics.cache_miss_reason.type, "previous_message_not_found")

    def test_messages(self):
        blocks = [{"type": "text", "text": "hello", "cache_control": {"type": "ephemeral"}}]
        reply = self.clients.anthropic.messages.create(
            model="m", max_tokens=12, messages=[{"role": "user", "content": blocks},
                                               {"role": "assistant", "content": "<think>\nWell"}],
            thinking={"type": "enabled", "budget_tokens": 1024})
        self.assertEqual(reply.stop_reason, "max_tokens")
        self.assertEqual(reply.usage.cache_creation_input_tokens, 0)
        count = self.clients.anthropic.messages.count_tokens(model="m", messages=[{"role": "user", "content": blocks}])
        self.assertGreater(count.input_tokens, 3)


def main():
    global PROGRAM, TURNS
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    parser.add_argument("--turns", type=int, default=int(os.environ.get("RONDO_SDK_TURNS", TURNS)))
    arguments, rest = parser.parse_known_args()
    PROGRAM, TURNS = arguments.program, arguments.turns
    if not api_clients_test.have_packages():
        print("the clients can't be had: nothing was tested")
        return 0
    return 0 if unittest.main(argv=[sys.argv[0], *rest], exit=False).result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
