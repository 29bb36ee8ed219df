#!/usr/bin/env python3
"""The Responses API of a running gateway, asked by the official client, and held against the types of Open Responses.

Usage: responses_test.py PROGRAM [unittest's arguments]

The packages are pinned and unpacked, not installed.  Where one can't be had (no network, another Python), this says so and passes.
"""
import contextlib
import enum
import json
import os
import pathlib
import sys
import tempfile
import time
import unittest

import api_clients_test
import served

PROGRAM = None
PACKAGES = ("websockets",)
TOOL = {"type": "function", "name": "add", "description": "Adds.", "strict": False,
        "parameters": {"type": "object", "properties": {"a": {"type": "integer"}}, "required": ["a"]}}
CUSTOM = {"type": "custom", "name": "shell", "description": "Runs."}
ANSWERS = {
    "hello": "Hi there.",
    "again": "Hi again.",
    "think": "(*mull Let me see. mull*)It is four.",
    "add": '{!do add with {"a": 2} do!}',
    "both": '(*mull Two. mull*)Adding.{!do add with {"a": 2} do!}{!do add with {"a": 3} do!}',
    "run": '{!do shell with {"input": "ls -l"} do!}',
    "umlaut": "Grüße, 世界! 🙂",
    "json": '{"a": 1}',
    "long": "word " * 60,
}


@contextlib.contextmanager
def gateway(*options, **more):
    with served.served(PROGRAM, ANSWERS, *options, **more) as url:
        yield url


def known_events():
    """The models of the specification's events, by their type."""
    from openresponses_types import types
    out = {}
    for name, made in vars(types).items():
        field = getattr(made, "model_fields", {}).get("type") if name.endswith("StreamingEvent") else None
        if field is not None and isinstance(field.annotation, type) and issubclass(field.annotation, enum.Enum):
            out[next(iter(field.annotation)).value] = made
    return out


def dumped(thing):
    return json.loads(thing.model_dump_json(exclude_unset=True, by_alias=True))


class Case(unittest.TestCase):
    """All tests of a class share one gateway."""
    OPTIONS = ()
    ENGINE = ()

    @classmethod
    def setUpClass(cls):
        import openai
        cls.openai = openai
        cls.stack = contextlib.ExitStack()
        cls.url = cls.stack.enter_context(gateway(*cls.OPTIONS, engine_options=cls.ENGINE))
        cls.client = openai.OpenAI(api_key="k", base_url=cls.url + "/v1", max_retries=0, _strict_response_validation=True)

    @classmethod
    def tearDownClass(cls):
        cls.client.close()
        cls.stack.close()

    def fails(self, status, code, call, *arguments, **more):
        with self.assertRaises(self.openai.APIStatusError) as raised:
            call(*arguments, **more)
        self.assertEqual((raised.exception.status_code, raised.exception.code), (status, code), raised.exception)
        return raised.exception


class Stored(Case):
    def test_a_response_is_kept_shown_gone_on_from_and_deleted(self):
        responses = self.client.responses
        first = responses.create(model="m", input="hello", metadata={"a": "b"})
        self.assertEqual(first.output_text, "Hi there.")
        self.assertEqual(dumped(responses.retrieve(first.id)), dumped(first))
        second = responses.create(model="m", input="again", previous_response_id=first.id)
        self.assertEqual(second.output_text, "Hi again.")
        items = list(responses.input_items.list(second.id, order="asc"))
        self.assertEqual([item.role for item in items], ["user", "assistant", "user"])
        self.assertEqual([item.content[0].text for item in items], ["hello", "Hi there.", "again"])
        self.assertEqual(len({item.id for item in items}), 3)
        newest = responses.input_items.list(second.id, limit=1)
        self.assertEqual(newest.data[0].id, items[2].id)
        self.assertTrue(newest.has_more)
        self.assertEqual(responses.input_items.list(second.id, after=items[2].id, limit=1).data[0].id, items[1].id)
        responses.delete(second.id)
        self.fails(404, "not_found", responses.retrieve, second.id)
        self.fails(400, "previous_response_not_found", responses.create, model="m", input="x", previous_response_id=second.id)
        self.fails(404, "not_found", responses.delete, second.id)
        self.fails(400, "invalid_value", responses.cancel, first.id)

    def test_without_store_nothing_is_kept(self):
        reply = self.client.responses.create(model="m", input="hello", store=False)
        self.fails(404, "not_found", self.client.responses.retrieve, reply.id)

    def test_a_response_is_streamed_again(self):
        for question in ("hello", "both", "run", "umlaut"):
            tools = [TOOL, CUSTOM] if question in ("both", "run") else []
            told = list(self.client.responses.create(model="m", input=question, tools=tools, stream=True))
            reply = told[-1].response
            again = list(self.client.responses.retrieve(reply.id, stream=True))
            self.assertEqual([event.sequence_number for event in again], list(range(len(again))))
            self.assertEqual(dumped(again[-1].response), dumped(reply))
            # Deltas come as one; all else is the same.
            kinds = [event.type for event in told if not event.type.endswith(".delta")]
            self.assertEqual([event.type for event in again if not event.type.endswith(".delta")], kinds)
            texts = ["".join(event.delta for event in events if event.type.endswith(".delta")) for events in (told, again)]
            self.assertEqual(texts[0], texts[1])
            rest = list(self.client.responses.retrieve(reply.id, stream=True, starting_after=3))
            self.assertEqual([dumped(event) for event in rest], [dumped(event) for event in again[4:]])

    def test_items_are_referred_to(self):
        responses = self.client.responses
        reply = responses.create(model="m", input="both", tools=[TOOL])
        kinds = [item.type for item in reply.output]
        self.assertEqual(kinds, ["reasoning", "message", "function_call", "function_call"])
        history = [{"role": "user", "content": "both"}, *({"type": "item_reference", "id": item.id} for item in reply.output),
                   *({"type": "function_call_output", "call_id": item.call_id, "output": "5"} for item in reply.output[2:]),
                   {"role": "user", "content": "hello"}]
        raw = responses.with_raw_response.create(model="m", input=history, tools=[TOOL])
        self.assertTrue(raw.headers["x-rondo-prefix"].startswith("how=bridge"), raw.headers["x-rondo-prefix"])
        self.assertEqual(raw.parse().output_text, "Hi there.")
        self.fails(404, "item_not_found", responses.create, model="m", input=[{"type": "item_reference", "id": "rs_none"}])
        fault = self.fails(400, "invalid_value", responses.create, model="m",
                           input=[{"type": "function_call_output", "call_id": "call_none", "output": "5"}])
        self.assertIn("No tool call found for function call output with call_id call_none.", str(fault))

    def test_a_conversation_is_compacted(self):
        from openresponses_types import types
        said = [{"role": "developer", "content": "Be short."}, {"role": "user", "content": "hello"}]
        reply = self.client.responses.compact(model="m", input=said)
        types.CompactResource.model_validate(dumped(reply))
        self.assertEqual([item.type for item in reply.output], ["compaction"])
        after = self.client.responses.create(model="m", input=[*dumped(reply)["output"], {"role": "user", "content": "hello"}])
        self.assertEqual(after.output_text, "Hi there.")
        shown = [item.content[0].text for item in self.client.responses.input_items.list(after.id, order="asc")]
        self.assertEqual(shown[0], "Be short.")
        self.assertIn("summed up", shown[1])

    def test_listed_items_fit_their_types(self):
        """bug: calls and results had no status, and texts of a client's own replies no annotations."""
        items = [{"role": "user", "content": [{"type": "input_text", "text": "both"}]},
                 {"type": "reasoning", "id": "rs_own", "summary": []},
                 {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Adding."}]},
                 {"type": "function_call", "call_id": "call_1", "name": "add", "arguments": "{}"},
                 {"type": "function_call_output", "call_id": "call_1", "output": [{"type": "input_text", "text": "5"}]},
                 {"type": "custom_tool_call", "call_id": "call_2", "name": "shell", "input": "ls"},
                 {"type": "custom_tool_call_output", "call_id": "call_2", "output": "a"},
                 {"role": "user", "content": "hello"}]
        types = ["message", "reasoning", "message", "function_call", "function_call_output", "custom_tool_call", "custom_tool_call_output", "message"]
        made = self.client.responses.create(model="m", input=items)
        listed = list(self.client.responses.input_items.list(made.id, order="asc"))
        self.assertEqual([item.type for item in listed], types)
        self.assertEqual([item.status for item in listed if item.type != "reasoning"], ["completed"] * 7)
        conversation = self.client.conversations.create(items=items)
        kept = list(self.client.conversations.items.list(conversation.id, order="asc"))
        self.assertEqual([item.type for item in kept], types)
        self.assertEqual(kept[2].content[0].annotations, [])
        # What was listed can be sent again.
        again = self.client.responses.create(model="m", input=[item.model_dump(exclude_none=True) for item in listed])
        self.assertEqual(again.output_text, "Hi there.")

    def test_conversations(self):
        conversations = self.client.conversations
        made = conversations.create(metadata={"a": "b"}, items=[{"type": "message", "role": "user", "content": "think"}])
        self.assertEqual(conversations.retrieve(made.id).metadata, {"a": "b"})
        self.assertEqual(conversations.update(made.id, metadata={"c": "d"}).metadata, {"c": "d"})
        first = self.client.responses.create(model="m", input="hello", conversation=made.id)
        self.assertEqual(first.conversation.id, made.id)
        second = list(self.client.responses.create(model="m", input="again", conversation={"id": made.id}, stream=True))[-1].response
        items = list(conversations.items.list(made.id, order="asc"))
        self.assertEqual([item.content[0].text for item in items], ["think", "hello", "Hi there.", "again", "Hi again."])
        self.assertEqual(items[-1].id, second.output[0].id)
        added = conversations.items.create(made.id, items=[{"type": "message", "role": "user", "content": "x"}])
        self.assertEqual(added.data[0].content[0].text, "x")
        self.assertEqual(conversations.items.retrieve(added.data[0].id, conversation_id=made.id).id, added.data[0].id)
        conversations.items.delete(added.data[0].id, conversation_id=made.id)
        self.fails(404, "not_found", conversations.items.retrieve, added.data[0].id, conversation_id=made.id)
        self.assertEqual(len(list(conversations.items.list(made.id))), 5)
        inputs = [item.content[0].text for item in self.client.responses.input_items.list(second.id, order="asc")]
        self.assertEqual(inputs, ["think", "hello", "Hi there.", "again"])
        self.fails(400, "invalid_value", self.client.responses.create, model="m", input="x", conversation=made.id,
                   previous_response_id=first.id)
        self.assertTrue(conversations.delete(made.id).deleted)
        self.fails(404, "not_found", conversations.retrieve, made.id)
        self.fails(404, "not_found", self.client.responses.create, model="m", input="x", conversation=made.id)


class OneStore(unittest.TestCase):
    """Gateways that follow each other on one store, or stand side by side."""

    def setUp(self):
        import openai
        self.openai = openai
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.folder = self.stack.enter_context(tempfile.TemporaryDirectory())
        self.engine = self.stack.enter_context(served.engine(PROGRAM, ANSWERS, "--delay", "5"))

    def start(self):
        """A client of one more gateway, and the gateway's process."""
        url, process = self.stack.enter_context(
            served.gateway(PROGRAM, self.engine, "--store", f"sqlite:{self.folder}/turns.sqlite"))
        return self.stack.enter_context(self.openai.OpenAI(api_key="k", base_url=url + "/v1", max_retries=0)), process

    def test_what_was_acknowledged_outlives_the_gateway(self):
        kept, conversation = [], None
        for _ in range(3):
            client, process = self.start()
            for reply in kept:
                self.assertEqual(dumped(client.responses.retrieve(reply.id)), dumped(reply))
            if conversation is None:
                conversation = client.conversations.create(items=[{"type": "message", "role": "user", "content": "think"}])
            else:
                raw = client.responses.with_raw_response.create(model="m", input="again", previous_response_id=kept[-1].id)
                self.assertTrue(raw.headers["x-rondo-prefix"].startswith("how=bridge"), raw.headers["x-rondo-prefix"])
                self.assertEqual(len(list(client.conversations.items.list(conversation.id))), 1 + 2 * len(kept))
            client.responses.create(model="m", input="hello", conversation=conversation.id)
            with client.responses.create(model="m", input="hello", stream=True) as stream:
                kept.append([event for event in stream if event.type == "response.completed"][0].response)
            process.kill()

    def test_a_response_that_runs_on_one_is_seen_and_ended_on_the_other(self):
        first, _ = self.start()
        second, _ = self.start()
        reply = first.responses.create(model="m", input="long", background=True)
        self.assertEqual(second.responses.retrieve(reply.id).id, reply.id)
        with second.responses.retrieve(reply.id, stream=True) as stream:
            seen = [next(stream).type for _ in range(12)]
        self.assertEqual(seen[:3], ["response.created", "response.queued", "response.in_progress"])
        self.assertEqual(second.responses.cancel(reply.id).status, "cancelled")
        self.assertEqual(first.responses.retrieve(reply.id).status, "cancelled")


class Background(Case):
    ENGINE = ("--delay", "15")

    def ended(self, response_id):
        for _ in range(600):
            reply = self.client.responses.retrieve(response_id)
            if reply.status not in ("queued", "in_progress"):
                return reply
            time.sleep(0.05)
        self.fail("it does not end")

    def test_it_is_queued_polled_and_streamed_again(self):
        responses = self.client.responses
        reply = responses.create(model="m", input="both", tools=[TOOL], background=True)
        self.assertEqual((reply.status, reply.background, reply.output), ("queued", True, []))
        told = list(responses.retrieve(reply.id, stream=True))
        self.assertEqual([event.type for event in told[:3]], ["response.created", "response.queued", "response.in_progress"])
        self.assertEqual([event.sequence_number for event in told], list(range(len(told))))
        self.assertEqual(told[-1].type, "response.completed")
        done = self.ended(reply.id)
        self.assertEqual(dumped(told[-1].response), dumped(done))
        rest = list(responses.retrieve(reply.id, stream=True, starting_after=5))
        self.assertEqual([dumped(event) for event in rest], [dumped(event) for event in told[6:]])
        self.assertEqual(dumped(responses.cancel(reply.id)), dumped(done))
        after = responses.create(model="m", input="hello", previous_response_id=responses.create(
            model="m", input="hello").id)
        self.assertEqual(after.output_text, "Hi there.")

    def test_a_stream_that_is_left_runs_on(self):
        seen = []
        with self.client.responses.create(model="m", input="umlaut", background=True, stream=True) as stream:
            for event in stream:
                seen.append(event)
                if len(seen) == 6:
                    break
        response_id = seen[0].response.id
        rest = list(self.client.responses.retrieve(response_id, stream=True, starting_after=seen[-1].sequence_number))
        text = "".join(event.delta for event in seen + rest if event.type == "response.output_text.delta")
        self.assertEqual(text, ANSWERS["umlaut"])
        self.assertEqual(self.ended(response_id).output_text, text)

    def test_it_is_cancelled(self):
        reply = self.client.responses.create(model="m", input="long", background=True)
        time.sleep(0.2)
        done = self.client.responses.cancel(reply.id)
        self.assertEqual(done.status, "cancelled")
        self.assertEqual(self.client.responses.retrieve(reply.id).status, "cancelled")
        self.fails(400, "invalid_value", self.client.responses.create, model="m", input="x", background=True, store=False)

    def test_it_is_deleted_while_it_runs(self):
        reply = self.client.responses.create(model="m", input="long", background=True)
        self.client.responses.delete(reply.id)
        for _ in range(3):
            self.fails(404, "not_found", self.client.responses.retrieve, reply.id)
            time.sleep(0.5)


class WebSocket(Case):
    def connect(self, **more):
        from websockets.sync.client import connect
        return connect(self.url.replace("http", "ws") + "/v1/responses", **more)

    def ask(self, socket, **body):
        socket.send(json.dumps({"type": "response.create", "model": "m", **body}))
        events = []
        while not events or events[-1]["type"] not in ("response.completed", "response.incomplete", "response.failed", "error"):
            events.append(json.loads(socket.recv(20)))
        return events

    def test_turns_follow_each_other_without_a_store(self):
        from openresponses_types import types
        known = known_events()
        with self.connect() as socket:
            self.assertEqual(socket.protocol.extensions[0].name, "permessage-deflate")
            events = self.ask(socket, input="both", tools=[TOOL], store=False, stream=True)
            for event in events:
                if event["type"] in known:
                    known[event["type"]].model_validate(event)
            first = events[-1]["response"]
            self.assertEqual([item["type"] for item in first["output"]][:2], ["reasoning", "message"])
            calls = [item["call_id"] for item in first["output"] if item["type"] == "function_call"]
            results = [{"type": "function_call_output", "call_id": call, "output": "5"} for call in calls]
            asked = [*results, {"role": "user", "content": "hello"}]
            second = self.ask(socket, input=asked, tools=[TOOL], store=False, previous_response_id=first["id"])[-1]["response"]
            self.assertEqual(second["output"][0]["content"][0]["text"], "Hi there.")
            # The latest one alone is there.
            lost = self.ask(socket, input="x", store=False, previous_response_id=first["id"])
            types.WebSocketErrorEvent.model_validate(lost[0])
            self.assertEqual((lost[0]["status"], lost[0]["error"]["code"]), (400, "previous_response_not_found"))
            third = self.ask(socket, input="again", store=False, previous_response_id=second["id"])[-1]["response"]
            self.assertEqual(third["output"][0]["content"][0]["text"], "Hi again.")
            # A failed continuation forgets what it went on from.
            bad = [{"type": "function_call_output", "call_id": "call_none", "output": "5"}]
            wrong = self.ask(socket, input=bad, store=False, previous_response_id=third["id"])
            self.assertEqual(wrong[0]["status"], 400)
            self.assertIn("No tool call found", wrong[0]["error"]["message"])
            gone = self.ask(socket, input="x", store=False, previous_response_id=third["id"])
            self.assertEqual(gone[0]["error"]["code"], "previous_response_not_found")
            fourth = self.ask(socket, input="hello", store=False)[-1]["response"]
        with self.connect() as socket:
            lost = self.ask(socket, input="x", store=False, previous_response_id=fourth["id"])
            self.assertEqual(lost[0]["error"]["code"], "previous_response_not_found")

    def test_input_is_registered_without_sampling(self):
        with self.connect() as socket:
            events = self.ask(socket, input=[{"role": "developer", "content": "Be short."}], store=False, generate=False)
            self.assertEqual([event["type"] for event in events], ["response.created", "response.in_progress", "response.completed"])
            warm = events[-1]["response"]
            self.assertEqual((warm["output"], warm["usage"]["output_tokens"]), ([], 0))
            reply = self.ask(socket, input="hello", store=False, previous_response_id=warm["id"])[-1]["response"]
            self.assertEqual(reply["output"][0]["content"][0]["text"], "Hi there.")
            self.assertGreater(reply["usage"]["input_tokens"], len("[[developer: Be short."))

    def test_stored_responses_are_anybodys(self):
        with self.connect() as socket:
            first = self.ask(socket, input="hello")[-1]["response"]
        self.assertEqual(dumped(self.client.responses.retrieve(first["id"])), first)
        with self.connect() as socket:
            second = self.ask(socket, input="again", previous_response_id=first["id"], store=False)[-1]["response"]
            third = self.ask(socket, input="hello", previous_response_id=second["id"])[-1]["response"]
        items = [item.content[0].text for item in self.client.responses.input_items.list(third["id"], order="asc")]
        self.assertEqual(items, ["hello", "Hi there.", "again", "Hi again.", "hello"])

    def test_what_is_wrong_is_said(self):
        import urllib.error
        import urllib.request
        from websockets.exceptions import ConnectionClosed
        with self.assertRaises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(self.url + "/v1/responses", timeout=10)
        self.assertEqual(refused.exception.code, 426)
        refused.exception.close()
        with self.connect() as socket:
            for text in ("{", "[]", '{"type": "response.steer"}', '{"type": "response.create", "input": 3}',
                         '{"type": "response.create", "stream_id": "no name", "input": "x"}',
                         '{"type": "response.create", "input": [{"role": "user", "content": [{"type": "input_image", "image_url": "x"}]}]}'):
                socket.send(text)
                event = json.loads(socket.recv(10))
                self.assertEqual((event["type"], event["status"]), ("error", 400), text)
            self.assertEqual(self.ask(socket, input="hello")[-1]["type"], "response.completed")
            socket.send(b"bytes")
            with self.assertRaises(ConnectionClosed) as raised:
                socket.recv(10)
            self.assertEqual(raised.exception.rcvd.code, 1003)

    def test_streams_run_side_by_side(self):
        with self.connect(compression=None) as socket:
            for name, question in (("a", "hello"), ("b", "again"), ("a", "umlaut")):
                socket.send(json.dumps({"type": "response.create", "stream_id": name, "input": question, "store": False}))
            texts = {"a": [], "b": []}
            while sum(map(len, texts.values())) < 3:
                event = json.loads(socket.recv(20))
                if event["type"] == "response.completed":
                    texts[event["stream_id"]].append(event["response"]["output"][0]["content"][0]["text"])
            self.assertEqual(texts, {"a": ["Hi there.", ANSWERS["umlaut"]], "b": ["Hi again."]})

    def test_large_messages_in_pieces(self):
        with self.connect() as socket:
            text = json.dumps({"type": "response.create", "input": [{"role": "user", "content": "x" * 3000},
                                                                    {"role": "user", "content": "hello"}]})
            socket.send([text[:100], text[100:101], text[101:]])
            while (event := json.loads(socket.recv(20)))["type"] != "response.completed":
                pass
            self.assertEqual(event["response"]["output"][0]["content"][0]["text"], "Hi there.")

    def test_the_official_client(self):
        with self.client.responses.connect() as connection:
            connection.send({"type": "response.create", "model": "m", "input": "hello", "store": False})
            seen = []
            for event in connection:
                seen.append(event)
                if event.type == "response.completed":
                    break
            self.assertEqual(seen[-1].response.output_text, "Hi there.")


class Compliance(Case):
    """What the public acceptance tests of Open Responses ask, and every body and event against the specification's types."""

    def body(self, **more):
        from openresponses_types import types
        body = served.post(self.url + "/v1/responses", {"model": "m", **more}, {"OpenResponses-Version": "2"})
        types.ResponseResource.model_validate(body)
        return body

    def events(self, **more):
        import urllib.request
        from openresponses_types import types
        known = known_events()
        request = urllib.request.Request(self.url + "/v1/responses", json.dumps({"model": "m", "stream": True, **more}).encode(),
                                         {"content-type": "application/json", "OpenResponses-Version": "2"})
        with urllib.request.urlopen(request, timeout=60) as reply:
            self.assertTrue(reply.headers["content-type"].startswith("text/event-stream"))
            lines = reply.read().decode().splitlines()
        names = [line[7:] for line in lines if line.startswith("event: ")]
        data = [line[6:] for line in lines if line.startswith("data: ")]
        self.assertEqual(data[-1], "[DONE]")
        events = [json.loads(line) for line in data[:-1]]
        self.assertEqual([event["type"] for event in events], names)
        self.assertEqual([event["sequence_number"] for event in events], list(range(len(events))))
        for event in events:
            if event["type"] == "error":
                continue
            self.assertIn(event["type"], known)
            known[event["type"]].model_validate(event)
        types.ResponseResource.model_validate(events[-1]["response"])
        return events

    def user(self, text):
        return [{"type": "message", "role": "user", "content": text}]

    def test_basic_text(self):
        body = self.body(input=self.user("hello"))
        self.assertEqual((body["status"], body["output"][0]["type"]), ("completed", "message"))

    def test_streaming(self):
        for question in ("hello", "think", "umlaut"):
            events = self.events(input=self.user(question))
            self.assertEqual(events[-1]["type"], "response.completed")

    def test_system_prompt(self):
        body = self.body(input=[{"type": "message", "role": "system", "content": "You are a pirate."}, *self.user("hello")])
        self.assertEqual(body["status"], "completed")

    def test_tool_calling(self):
        body = self.body(input=self.user("add"), tools=[TOOL])
        self.assertIn("function_call", [item["type"] for item in body["output"]])
        events = self.events(input=self.user("both"), tools=[TOOL])
        kinds = [event["type"] for event in events]
        for kind in ("response.function_call_arguments.delta", "response.function_call_arguments.done"):
            self.assertIn(kind, kinds)
        for kind in ("response.output_item.added", "response.output_item.done"):
            self.assertTrue(any(event["type"] == kind and event["item"]["type"] == "function_call" for event in events))

    def test_image_input_is_refused(self):
        with self.assertRaises(self.openai.BadRequestError):
            self.client.responses.create(model="m", input=[{"role": "user", "content": [
                {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}]}])

    def test_media_may_be_noted(self):
        parts = [{"type": "input_text", "text": "What do you see?"}, {"type": "input_image", "image_url": "data:image/png;base64,AAAA"},
                 {"type": "input_file", "filename": "a.pdf", "file_data": "data:application/pdf;base64,JVBERi0="},
                 {"type": "input_text", "text": "hello"}]
        with gateway("--media", "note") as url:
            reply = self.openai.OpenAI(base_url=url + "/v1", api_key="k", max_retries=0).responses.with_raw_response.create(
                model="m", input=[{"role": "user", "content": parts}])
            self.assertEqual(reply.parse().status, "completed")
            for place in ("input[0].content[1]", "input[0].content[2]"):
                self.assertIn(place, reply.headers["warning"])
            shown = served.post(url + "/v1/responses/render", {"input": [{"role": "user", "content": parts}]})
        text = bytes(one for one in shown["token_ids"] if one < 256).decode()  # without the letters that are one id together
        self.assertIn("[image left out", text)
        self.assertIn('[file "a.pdf" left out', text)

    def test_multi_turn(self):
        body = self.body(input=[*self.user("My name is Alice."),
                                {"type": "message", "role": "assistant", "content": "Hello Alice!"}, *self.user("hello")])
        self.assertEqual(body["status"], "completed")

    def test_statuses_and_shapes(self):
        cut = self.events(input=self.user("long"), max_output_tokens=5)[-1]
        self.assertEqual((cut["type"], cut["response"]["incomplete_details"]), ("response.incomplete", {"reason": "max_output_tokens"}))
        self.events(input=self.user("think"), reasoning={"summary": "auto"})
        self.events(input=self.user("think"), include=["reasoning.encrypted_content"])
        self.events(input=self.user("hello"), top_logprobs=2, include=["message.output_text.logprobs"])
        self.events(input=self.user("json"), text={"format": {"type": "json_object"}})
        self.body(input=self.user("hello"), tools=[TOOL], tool_choice={"type": "function", "name": "add"}, instructions="Be short.",
                  temperature=0.5, top_p=0.9, metadata={"a": "b"}, truncation="auto", parallel_tool_calls=False,
                  prompt_cache_key="k", safety_identifier="s", max_tool_calls=3)
        background = self.body(input=self.user("hello"), background=True)
        self.assertEqual(background["status"], "queued")


class Failing(Case):
    """An engine that dies within its answer."""
    ENGINE = ("--fault", "die")

    def test_the_stream_ends_with_what_went_wrong(self):
        known = known_events()
        raw = self.client.responses.with_streaming_response.create(model="m", input="hello", stream=True)
        with raw as reply:
            lines = [line for line in reply.iter_lines() if line.startswith("data: ")]
        events = [json.loads(line[6:]) for line in lines if line != "data: [DONE]"]
        self.assertEqual([event["type"] for event in events[-2:]], ["error", "response.failed"])
        for event in events:
            known[event["type"]].model_validate(event)
        kept = self.client.responses.retrieve(events[-1]["response"]["id"])
        self.assertEqual((kept.status, kept.error.code), ("failed", "server_error"))


def main():
    global PROGRAM
    PROGRAM = pathlib.Path(sys.argv.pop(1)).resolve()
    folders = [api_clients_test.fetch.wheel(name) for name in PACKAGES]
    if None in folders or not api_clients_test.have_packages():
        print("skipped: the official clients are not to be had here")
        return
    sys.path[:0] = [str(folder) for folder in folders]
    os.environ.pop("OPENAI_BASE_URL", None)
    unittest.main()


if __name__ == "__main__":
    main()
