#!/usr/bin/env python3
"""Kills `rondo serve` at random points, starts it again on the same store, and sees that what it acknowledged is gone on with.

    tests/gateway/serve_kill_test.py --program build/release/rondo

A reply whose last byte came is acknowledged: its conversation goes on with `how=bridge`, and with all the ids of its prompt and
completion.  The store is a file, then, where Redis is installed, a Redis server of its own.  RONDO_KILLS=N kills of each (5),
RONDO_SEED=S; --store STORE: that store alone.
"""
import argparse
import http.client
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time

REPO = pathlib.Path(__file__).resolve().parents[2]
MODEL = REPO / "tests" / "golden" / "batch" / "model"
SCRIPT = json.dumps({"vocabulary": 123, "first_plain": 97, "end_ids": [283], "end_after": 12})
CLIENTS = 4
MOST_TURNS = 12


def start(*command):
    """A server and its port."""
    child = subprocess.Popen([*map(str, command), "--json"], stdout=subprocess.PIPE, text=True)
    ready = child.stdout.readline()
    if not ready:
        raise SystemExit(f"no server: {command}")
    return child, int(json.loads(ready)["url"].rsplit(":", 1)[1])


class Conversation:
    """A client of the Chat or Messages API that keeps what it was shown."""

    def __init__(self, name, seed):
        self.name = name
        self.random = random.Random(seed)
        self.begin()
        self.acknowledged = 0
        self.violations = []

    def begin(self):
        self.is_chat = self.random.random() < 0.6
        self.messages = [{"role": "user", "content": f"{self.name} {self.random.random()}"}]
        self.known = 0  # ids of the last turn that was acknowledged

    def body(self, streams):
        body = {"messages": self.messages, "stream": streams, "max_tokens": 64}
        if self.is_chat and streams:
            body["stream_options"] = {"include_usage": True}
        return body

    def turn(self, port):
        """One turn; raises where the server went away within it."""
        streams = self.random.random() < 0.5
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        connection.request("POST", "/v1/chat/completions" if self.is_chat else "/v1/messages", json.dumps(self.body(streams)))
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        if answer.status != 200:
            raise RuntimeError(f"{answer.status} {text}")
        prefix = answer.getheader("x-rondo-prefix")
        expected = int(re.search(r"expected=(\d+)", prefix)[1])
        if self.known and (not prefix.startswith("how=bridge") or expected < self.known):
            self.violations.append(f"{self.name}: {prefix}, although {self.known} ids were acknowledged")
        reply, used = self.streamed(text) if streams else self.whole(json.loads(text))
        self.known = used
        self.acknowledged += 1
        self.messages += [reply, {"role": "user", "content": f"more {self.random.random()}"}]
        if len(self.messages) > 2 * MOST_TURNS:
            self.begin()

    def whole(self, body):
        usage = body["usage"]
        if self.is_chat:
            return body["choices"][0]["message"], usage["prompt_tokens"] + usage["completion_tokens"]
        used = usage["input_tokens"] + usage["cache_read_input_tokens"] + usage["output_tokens"]
        return {"role": "assistant", "content": body["content"]}, used

    def streamed(self, text):
        events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
        if self.is_chat:
            if not text.endswith("data: [DONE]\n\n"):
                raise http.client.IncompleteRead(b"")
            content = "".join(choice["delta"].get("content") or "" for event in events for choice in event["choices"])
            usage = events[-1]["usage"]
            return {"role": "assistant", "content": content}, usage["prompt_tokens"] + usage["completion_tokens"]
        if events[-1]["type"] != "message_stop":
            raise http.client.IncompleteRead(b"")
        content = "".join(event["delta"].get("text", "") for event in events if event["type"] == "content_block_delta")
        usage = next(event["usage"] for event in events if event["type"] == "message_delta")
        used = usage["input_tokens"] + usage["cache_read_input_tokens"] + usage["output_tokens"]
        return {"role": "assistant", "content": content}, used

    def drive(self, port, until):
        try:
            while not until.is_set():
                self.turn(port)
        except (OSError, http.client.HTTPException):
            pass  # killed: what was asked last is not acknowledged
        except Exception as error:  # noqa: BLE001: told by the main thread
            self.violations.append(f"{self.name}: {error!r}")


def wait_for(conversations, turns):
    """Until so many more turns are acknowledged, however fast the machine is; or until something went wrong, or a minute has passed."""
    wanted = sum(one.acknowledged for one in conversations) + turns
    for _ in range(6000):
        if sum(one.acknowledged for one in conversations) >= wanted or any(one.violations for one in conversations):
            return
        time.sleep(0.01)


def run(program, store, kills, seed):
    chance = random.Random(seed)
    engine, port = start(program, "fake-engine", "vllm", "--generate", "on", "--script", SCRIPT)
    conversations = [Conversation(f"client {i}", seed * 1000 + i) for i in range(CLIENTS)]
    try:
        for round_number in range(kills + 1):
            server, own = start(program, "serve", MODEL, "--url", f"http://127.0.0.1:{port}", "--port", "0", "--store", store)
            until = threading.Event()
            threads = [threading.Thread(target=one.drive, args=(own, until)) for one in conversations]
            for thread in threads:
                thread.start()
            wait_for(conversations, chance.randrange(2 * CLIENTS))
            time.sleep(chance.uniform(0.0, 0.05))
            if round_number == kills:
                until.set()
            else:
                server.kill()
            for thread in threads:
                thread.join()
            server.kill()
            server.wait()
            server.stdout.close()
    finally:
        engine.kill()
        engine.wait()
    for one in conversations:
        for violation in one.violations:
            print(violation)
    return sum(one.acknowledged for one in conversations), sum(len(one.violations) for one in conversations)


def redis_server(folder):
    """A Redis server on a socket in that folder, once it takes connections, and its address as a store.

    It writes before it answers (`appendfsync no`), so that killing it loses nothing: with `everysec` a write may wait for the disk.
    """
    path = f"{folder}/redis.sock"
    child = subprocess.Popen(["redis-server", "--port", "0", "--unixsocket", path, "--save", "", "--appendonly", "yes",
                              "--appendfsync", "no", "--dir", folder],
                             stdout=subprocess.PIPE, text=True)
    for line in child.stdout:
        if "eady to accept" in line:
            break
    return child, f"unix://{path}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--store", help="instead of a file of its own")
    arguments = parser.parse_args()
    kills = int(os.environ.get("RONDO_KILLS", "5"))
    seed = int(os.environ.get("RONDO_SEED", "1"))
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        store = arguments.store or f"sqlite:{folder}/turns.sqlite"
        results[store.split(":")[0]] = run(arguments.program, store, kills, seed)
        if not arguments.store and shutil.which("redis-server"):
            redis, store = redis_server(folder)
            try:
                results["redis"] = run(arguments.program, store, kills, seed)
            finally:
                redis.kill()
                redis.wait()
                redis.stdout.close()
    lost = 0
    for name, (acknowledged, violations) in results.items():
        print(f"{name}: {kills} kills, {acknowledged} turns acknowledged, {violations} lost")
        lost += 1 if violations or acknowledged <= kills else 0
    print(f"{len(results) - lost} passed, {lost} failed")
    return 1 if lost else 0


if __name__ == "__main__":
    sys.exit(main())
