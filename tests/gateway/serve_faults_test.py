#!/usr/bin/env python3
"""`rondo serve` under load while everything around it fails: engines are killed and come back, clients vanish, Redis goes away, a
disk is full.

    tests/gateway/serve_faults_test.py --program build/release/rondo

Whatever happens, the server lives; each answer is in the shape of its API; a conversation goes on with exactly the ids of the turn
that its client was shown last; in the end, with everything back, each client is answered, and the server ends in order (with the
sanitizers: nothing leaked).  RONDO_FAULTS=SECONDS of it (4), RONDO_SEED=S, RONDO_FAULTS_STORE=redis|sqlite|memory;
RONDO_FAULTS_DISK=FOLDER on a small file system of its own: turns are kept there, by SQLite, and now and then nothing is left of it;
RONDO_FAULTS_MB=N: the server, which keeps 4 MB of turns in memory then, grows by no more than that behind the first quarter.
"""
import argparse
import contextlib
import http.client
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import serve_kill_test

MODEL = serve_kill_test.MODEL
CLIENTS = 6
MOST_DISK_BYTES = 1 << 30
TURN_RAM_MB = 4  # few enough that a short run has more turns
FAULTS = (404, 429, 500, 502, 503, 504)  # 404: a stored response of which a fault let nothing be kept


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Engine:
    """A fake engine on a port of its own, that can be killed and started again."""

    def __init__(self, program):
        self.command = [str(program), "fake-engine", "vllm", "--generate", "on", "--script", serve_kill_test.SCRIPT, "--delay", "2",
                        "--port", str(free_port()), "--json"]
        self.url = f"http://127.0.0.1:{self.command[-2]}"
        self.start()

    def start(self):
        self.child = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        self.child.stdout.readline()

    def kill(self):
        self.child.kill()
        self.child.wait()
        self.child.stdout.close()


class Client:
    """A conversation over one of the three APIs, whose client knows the ids of the turn that it was shown last."""

    def __init__(self, number, seed, port):
        self.random = random.Random(seed * 100 + number)
        self.api = ("chat", "messages", "responses")[number % 3]
        self.name = f"client {number} ({self.api})"
        self.port = port
        self.begin()
        self.counts = {"turns": 0, "faults": 0, "vanished": 0}
        self.violations = []

    def begin(self):
        self.messages = [{"role": "user", "content": f"{self.random.random()}"}]
        self.ids = []  # of the last turn, where the API tells them
        self.known = 0
        self.previous = None
        self.turns = 0

    def body(self, streams):
        body = {"stream": streams}
        if self.api == "responses":
            return {**body, "input": self.messages[-1:], "max_output_tokens": 64, "previous_response_id": self.previous}
        body |= {"messages": self.messages, "max_tokens": 64}
        return {**body, "return_token_ids": True} if self.api == "chat" and not streams else body

    def turn(self):
        streams = self.random.random() < 0.5
        path = {"chat": "/v1/chat/completions", "messages": "/v1/messages", "responses": "/v1/responses"}[self.api]
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with contextlib.closing(connection):
            connection.request("POST", path, json.dumps(self.body(streams)))
            answer = connection.getresponse()
            if streams and answer.status == 200 and self.random.random() < 0.2:
                answer.read(self.random.randrange(1, 400))
                self.counts["vanished"] += 1
                return
            text = answer.read().decode()
        if answer.status != 200:
            return self.fault(answer.status, text)
        prefix = answer.getheader("x-rondo-prefix")
        if self.known and not prefix.startswith("how=bridge"):
            self.violations.append(f"{self.name}: {prefix}, although {self.known} ids were acknowledged")
        (self.streamed if streams else self.whole)(text)

    def fault(self, status, text):
        self.counts["faults"] += 1
        error = json.loads(text)["error"]
        if status not in FAULTS or not error["message"] or (self.api == "messages" and not error["type"]):
            self.violations.append(f"{self.name}: {status} {text}")
        if status not in FAULTS or status == 404:
            self.begin()

    def whole(self, text):
        body = json.loads(text)
        if self.api == "chat":
            prompt, said = body["prompt_token_ids"], body["choices"][0]["token_ids"]
            if prompt[:len(self.ids)] != self.ids:
                self.violations.append(f"{self.name}: a prompt does not begin with the turn before")
            self.told(body["choices"][0]["message"], [*prompt, *said])
        elif self.api == "messages":
            self.told({"role": "assistant", "content": body["content"]})
        else:
            self.previous = body["id"]
            self.told(None)

    def streamed(self, text):
        events = [json.loads(line[6:]) for line in text.splitlines() if line.startswith("data: {")]
        last = events[-1] if events else {}
        is_whole = {"chat": text.endswith("data: [DONE]\n\n") and "error" not in last,
                    "messages": last.get("type") == "message_stop",
                    "responses": last.get("type") in ("response.completed", "response.incomplete")}[self.api]
        if not is_whole:
            is_told = "error" in text or last.get("type") == "response.failed"
            self.counts["faults"] += 1
            if not is_told:
                self.violations.append(f"{self.name}: a stream ends without its end: {text[-300:]}")
            return
        if self.api == "chat":
            content = "".join(choice["delta"].get("content") or "" for event in events for choice in event["choices"])
            self.told({"role": "assistant", "content": content})
        elif self.api == "messages":
            self.told({"role": "assistant", "content": "".join(event["delta"].get("text", "") for event in events
                                                               if event["type"] == "content_block_delta")})
        else:
            self.previous = last["response"]["id"]
            self.told(None)

    def told(self, reply, ids=()):
        self.counts["turns"] += 1
        self.turns += 1
        self.ids = list(ids)
        self.known = max(len(ids), 1)
        self.messages += [reply, {"role": "user", "content": f"more {self.random.random()}"}]
        if self.turns > 10:
            self.begin()

    def drive(self, until):
        while not until.is_set():
            try:
                self.turn()
            except Exception as error:  # noqa: BLE001: told by the main thread
                self.violations.append(f"{self.name}: {error!r}")
                return


def wait(chance, until, most):
    time.sleep(min(chance.uniform(0.1, most), max(0.0, until - time.monotonic())))


@contextlib.contextmanager
def full(disk):
    """Nothing is left of the file system that `disk` lies on."""
    filler = pathlib.Path(disk, "filler")
    try:
        with open(filler, "wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                with contextlib.suppress(OSError):
                    while file.write(bytes(size)):
                        pass
        yield
    finally:
        filler.unlink()


def trouble(engines, redis, folder, chance, until):
    """Kills one thing after the other, and starts it again."""
    kills = 0
    disk = os.environ.get("RONDO_FAULTS_DISK")
    while time.monotonic() < until:
        wait(chance, until, 0.6)
        kills += 1
        if disk and chance.random() < 0.3:
            with full(disk):
                wait(chance, until, 0.4)
            continue
        if redis and chance.random() < 0.3:
            redis[0].kill()
            redis[0].wait()
            redis[0].stdout.close()
            wait(chance, until, 0.4)
            redis[0] = serve_kill_test.redis_server(folder)[0]
            continue
        killed = engines if chance.random() < 0.2 else [chance.choice(engines)]
        for engine in killed:
            engine.kill()
        wait(chance, until, 0.4)
        for engine in killed:
            engine.start()
    return kills


def resident_kib(child):
    lines = pathlib.Path(f"/proc/{child.pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def finish(clients, violations):
    """Everything is back: each client is answered."""
    for client in clients:
        before = client.counts["turns"]
        end = time.monotonic() + 90  # engines are left out for a while after they have failed
        while client.counts["turns"] == before and time.monotonic() < end:
            client.turn()
            time.sleep(0.05)
        if client.counts["turns"] == before:
            violations.append(f"{client.name} is not answered in the end")


def store_in(folder):
    """Where turns are kept, and the server of it if there is one, in a list."""
    if disk := os.environ.get("RONDO_FAULTS_DISK"):
        if shutil.disk_usage(disk).total > MOST_DISK_BYTES:
            raise SystemExit(f"{disk} is on a large file system, which this would fill")
        return [], f"sqlite:{tempfile.mkdtemp(dir=disk)}/turns"
    named = os.environ.get("RONDO_FAULTS_STORE") or ("redis" if shutil.which("redis-server") else "sqlite")
    if named == "redis":
        child, address = serve_kill_test.redis_server(folder)
        return [child], address
    return [], f"sqlite:{folder}/turns" if named == "sqlite" else named


def run(program, seconds, seed, folder):
    chance = random.Random(seed)
    engines = [Engine(program), Engine(program)]
    redis, store = store_in(folder)
    errors = pathlib.Path(folder) / "errors"
    urls = [word for engine in engines for word in ("--url", engine.url)]
    disk = os.environ.get("RONDO_FAULTS_DISK")
    bound = ["--store-max-bytes", str(shutil.disk_usage(disk).total >> 2)] if disk else []
    with open(errors, "wb") as log:
        server = subprocess.Popen([str(program), "serve", str(MODEL), *urls, "--port", "0", "--store", store, "--turn-ram", str(TURN_RAM_MB),
                                   "--log", "off", "--json", *bound],
                                  stdout=subprocess.PIPE, stderr=log, text=True)
    violations = []
    try:
        port = int(json.loads(server.stdout.readline())["url"].rsplit(":", 1)[1])
        clients = [Client(i, seed, port) for i in range(CLIENTS)]
        stop = threading.Event()
        threads = [threading.Thread(target=client.drive, args=(stop,)) for client in clients]
        for thread in threads:
            thread.start()
        kills = trouble(engines, redis, folder, chance, time.monotonic() + seconds / 4)
        quarter = resident_kib(server)
        kills += trouble(engines, redis, folder, chance, time.monotonic() + seconds * 3 / 4)
        stop.set()
        for thread in threads:
            thread.join()
        if server.poll() is None:
            finish(clients, violations)
            end = resident_kib(server)
            print(f"memory: {quarter} KiB after a quarter of the time, {end} KiB in the end")
            if end - quarter > int(os.environ.get("RONDO_FAULTS_MB", "1000000")) * 1024:
                violations.append(f"the server has grown by {(end - quarter) // 1024} MiB")
            server.send_signal(signal.SIGTERM)
        if server.wait(60) != 0:
            violations.append(f"the server ended with {server.returncode}")
    finally:
        server.kill()
        server.wait()
        server.stdout.close()
        for child in [*redis, *(engine.child for engine in engines)]:
            child.kill()
            child.wait()
            child.stdout.close()
    said = errors.read_text(encoding="utf-8", errors="replace")
    if "Sanitizer" in said or "runtime error" in said:
        violations.append(said)
    for client in clients:
        violations += client.violations
    return kills, {key: sum(client.counts[key] for client in clients) for key in clients[0].counts}, violations


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    seconds = float(os.environ.get("RONDO_FAULTS", "4"))
    with tempfile.TemporaryDirectory() as folder:
        kills, counts, violations = run(arguments.program, seconds, int(os.environ.get("RONDO_SEED", "1")), folder)
    for violation in violations[:20]:
        print(violation)
    print(f"{seconds:.0f} s, {kills} kills, {counts}, {len(violations)} violations")
    is_good = not violations and counts["turns"] > 0
    print("1 passed, 0 failed" if is_good else "0 passed, 1 failed")
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
