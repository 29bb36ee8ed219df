#!/usr/bin/env python3
"""What a gateway adds: rondo beside others, each over an engine that costs next to nothing.

Usage: gateway_bench.py --program RONDO --load GATEWAY_LOAD [--quick] [--peers FOLDER]     (./dev bench gateway runs it)

--peers (or RONDO_BENCH_GATEWAYS): a folder with `bin/litellm` and `bin/smg`, as `pip install 'litellm[proxy]' smg` makes it in a
virtual environment.  A peer that is not there is named and passed over.  Peers pass text on; rondo speaks token ids to its
engine.  Both engines answer at once; what one adds is its time less that of its engine alone.  All are measured in turns.
"""
import argparse
import concurrent.futures
import json
import os
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

REPO = pathlib.Path(__file__).resolve().parent.parent
BYTES = REPO / "tests" / "golden" / "batch" / "model"
SMALL = {"model": "m", "messages": [{"role": "user", "content": "What is the capital of Norway?"}], "max_tokens": 1}
STREAM_TOKENS = 200
# An engine that gives the memory of a long request back to the system and asks for it again takes up to three times as long.
KEEPS_MEMORY = {"MALLOC_ARENA_MAX": "1", "MALLOC_TRIM_THRESHOLD_": str(1 << 30), "MALLOC_MMAP_THRESHOLD_": str(1 << 25)}


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Bench:
    def __init__(self, arguments, folder):
        self.program = arguments.program
        self.load = arguments.load
        self.folder = pathlib.Path(folder)
        self.peers = arguments.peers and pathlib.Path(arguments.peers)
        self.is_quick = arguments.quick
        self.children = []

    def start(self, *command, env=None):
        log = open(self.folder / f"log{len(self.children)}", "wb")  # noqa: SIM115: the child's
        child = subprocess.Popen([*map(str, command)], stdout=subprocess.PIPE, stderr=log, text=True, env={**os.environ, **(env or {})})
        self.children.append(child)
        return child

    def end(self):
        for child in self.children:
            child.terminate()
        for child in self.children:
            try:
                child.wait(10)
            except subprocess.TimeoutExpired:
                child.kill()

    def rondo(self, *arguments, env=None):
        store = ("--store", "memory") if arguments[0] == "serve" and "--store" not in arguments else ()
        child = self.start(self.program, *arguments, *store, "--json", "--port", "0", env=env)
        ready = child.stdout.readline()
        if not ready:
            raise SystemExit(f"rondo {arguments} does not start")
        return child, json.loads(ready)["url"]

    def fake(self, delay_ms=0, tokens=None):
        script = {"vocabulary": 123, "first_plain": 97, "end_ids": [283], "end_after": 1_000_000 if tokens else 8}
        return self.rondo("fake-engine", "vllm", "--generate", "on", "--script", json.dumps(script), "--context", "1000000",
                          "--delay", delay_ms, env=KEEPS_MEMORY)[1]

    def text_engine(self, delay_ms=0):
        port = free_port()
        self.start(self.load, "engine", port, delay_ms, STREAM_TOKENS).stdout.readline()
        return f"http://127.0.0.1:{port}"

    def body(self, name, value):
        path = self.folder / name
        path.write_text(json.dumps(value))
        return path

    def measure(self, mode, *arguments):
        done = subprocess.run([*map(str, (self.load, mode, *arguments))], stdout=subprocess.PIPE, text=True, check=False)
        return json.loads(done.stdout) if done.stdout else None

    # --- Others ------------------------------------------------------------------------------------------------------

    def peer_command(self, name, engine, port):
        """The command and environment of a peer over the engine; None where it is not there."""
        path = self.peers and self.peers / "bin" / name
        if not path or not path.exists():
            print(f"{name}: not there, passed over")
            return None
        if name == "litellm":
            config = self.body("litellm.yaml", {"model_list": [{"model_name": "m", "litellm_params": {
                "model": "openai/m", "api_base": engine + "/v1", "api_key": "none"}}]})
            settings = {"LITELLM_LOG": "ERROR", "LITELLM_LOCAL_MODEL_COST_MAP": "True",
                        "LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY": "true"}
            return [path, "--config", config, "--port", port, "--num_workers", 1], settings
        return [path, "launch", "--worker-urls", engine, "--host", "127.0.0.1", "--port", port, "--log-level", "warn"], {}

    def peer(self, name, engine):
        """The address of a running peer, and its process."""
        port = free_port()
        command = self.peer_command(name, engine, port)
        if command is None:
            return None
        child = self.start(*command[0], env=command[1])
        url = f"http://127.0.0.1:{port}"
        until = time.monotonic() + 120
        while time.monotonic() < until and child.poll() is None:
            try:
                request = urllib.request.Request(url + "/v1/chat/completions", json.dumps(SMALL).encode(), {"content-type": "application/json"})
                urllib.request.urlopen(request, timeout=20).read()
                return url, child
            except (OSError, urllib.error.HTTPError):
                time.sleep(0.5)
        print(f"{name}: does not start, passed over")
        return None


def resident_kib(child):
    for line in pathlib.Path(f"/proc/{child.pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1])
    return 0


def processor_s(child):
    fields = pathlib.Path(f"/proc/{child.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def line(name, value, base):
    added = {key: value[key] - base[key] for key in ("best", "p50", "p99")}
    own = f"   {value['own']:6.0f} us of processor" if "own" in value else ""
    print(f"  {name:28} best {value['best']:9.0f}  p50 {value['p50']:9.0f}  p99 {value['p99']:9.0f} us"
          f"   adds best {added['best']:8.0f}  p50 {added['p50']:8.0f}  p99 {added['p99']:8.0f}{own}", flush=True)


def best_of(rounds, measure):
    """The round with the lowest median: what else the machine does is no gateway's."""
    return min((measure() for _ in range(rounds)), key=lambda one: one["p50"])


def measured(bench, url, body, child, count):
    """The latency of requests, and the processor time of each in `child`."""
    before = child and processor_s(child)
    result = bench.measure("latency", url, body, count)
    if child:  # the load asks a tenth more before it counts
        result["own"] = (processor_s(child) - before) * 1e6 / (count + max(3, count // 10))
    return result


def small_requests(bench):
    fake, text = bench.fake(), bench.text_engine()
    gateways = {name: bench.rondo("serve", BYTES, "--url", fake, "--store", store)
                for name, store in (("rondo", "memory"), ("rondo, SQLite", f"sqlite:{bench.folder}/turns"))}
    for name in ("smg", "litellm"):
        if peer := bench.peer(name, text):
            gateways[name] = (peer[1], peer[0])
    count = 100 if bench.is_quick else 1000

    for tokens in (1, 16):
        print(f"a small request, {tokens} token{'s' if tokens > 1 else ''} sampled, one after the other")
        ids = bench.body("ids.json", {"model": "fake-model", "token_ids": list(range(97, 123)) * 2, "sampling_params": {"max_tokens": tokens},
                                      "stream": True})
        small = bench.body("small.json", {**SMALL, "max_tokens": tokens})
        targets = {"engine (ids)": (fake + "/inference/v1/generate", ids, None), "engine (text)": (text + "/v1/chat/completions", small, None)}
        targets |= {name: (url + "/v1/chat/completions", small, child) for name, (child, url) in gateways.items()}
        results = {name: best_of(3, lambda target=target: measured(bench, *target, count)) for name, target in targets.items()}
        for name, result in results.items():
            is_rondo = name.startswith(("rondo", "engine (ids)"))
            line(name, result, results["engine (ids)" if is_rondo else "engine (text)"])


def long_history(bench):
    print("a request with a long history that is known, its last reply sampled here")
    for tokens in (1_000, 10_000, 100_000):
        # What an engine holds of other rows costs it time, so the row that it gets without a gateway has an engine of its own.
        alone, fake = bench.fake(), bench.fake()
        child, url = bench.rondo("serve", BYTES, "--url", fake)
        messages = [{"role": "user", "content": ("It was a dark and stormy night. " * (tokens // 32))[:tokens]}]
        first = urllib.request.Request(url + "/v1/chat/completions", json.dumps({"messages": messages, "max_tokens": 16}).encode())
        reply = json.loads(urllib.request.urlopen(first).read())["choices"][0]["message"]
        messages += [reply, {"role": "user", "content": "Go on."}]
        path = bench.body("long.json", {"model": "m", "messages": messages, "max_tokens": 1})
        ids = bench.body("long_ids.json", {"model": "fake-model", "token_ids": [97 + i % 26 for i in range(tokens)],
                                           "sampling_params": {"max_tokens": 1}, "stream": True})
        count = 20 if bench.is_quick else 100
        read = bench.measure("json", path, count)
        engine = best_of(3, lambda ids=ids, alone=alone, count=count: bench.measure("latency", alone + "/inference/v1/generate", ids, count))
        plan = best_of(3, lambda path=path, url=url, count=count: bench.measure("latency", url + "/v1/messages/count_tokens", path, count))
        whole = best_of(3, lambda path=path, url=url, child=child, count=count: measured(bench, url + "/v1/chat/completions", path, child, count))
        print(f"  {tokens:7} tokens: reading its JSON {read['p50']:7.0f} us; prompt made {plan['p50']:7.0f}; engine alone {engine['p50']:7.0f};"
              f" whole request {whole['p50']:7.0f}, so adds {whole['p50'] - engine['p50']:7.0f} (best {whole['best'] - engine['best']:7.0f}), {whole['own']:7.0f} of processor", flush=True)


def many_streams(bench):
    count = 100 if bench.is_quick else 1000
    print(f"{count} streams of {STREAM_TOKENS} tokens, 20 tokens/s each: time between events, ms")
    body = {"model": "m", "messages": SMALL["messages"], "max_tokens": STREAM_TOKENS, "stream": True}
    ids = bench.body("stream_ids.json", {"model": "fake-model", "token_ids": list(range(97, 123)),
                                         "sampling_params": {"max_tokens": STREAM_TOKENS}, "stream": True})
    chat = bench.body("stream.json", body)
    fake, text = bench.fake(50, STREAM_TOKENS), bench.text_engine(50)
    targets = {"engine (ids)": (fake + "/inference/v1/generate", ids, None), "engine (text)": (text + "/v1/chat/completions", chat, None)}
    server, url = bench.rondo("serve", BYTES, "--url", fake, "--max-streams", 4096)
    targets["rondo"] = (url + "/v1/chat/completions", chat, server)
    for name in ("smg", "litellm"):
        if peer := bench.peer(name, text):
            targets[name] = (peer[0] + "/v1/chat/completions", chat, peer[1])
    for name, (target, path, child) in targets.items():
        if child:  # what is made once, with the first request of each thread, is no stream's
            request = urllib.request.Request(target, path.read_bytes(), {"content-type": "application/json"})
            with concurrent.futures.ThreadPoolExecutor(8) as pool:
                list(pool.map(lambda _, request=request: urllib.request.urlopen(request).read(), range(8)))
        before = child and (resident_kib(child), processor_s(child))
        load = subprocess.Popen([*map(str, (bench.load, "streams", target, path, count))], stdout=subprocess.PIPE, text=True)
        most = 0
        while load.poll() is None:
            time.sleep(0.5)
            most = max(most, child and resident_kib(child) or 0)
        output = load.stdout.read()
        if not output:
            print(f"  {name:28} failed")
            continue
        result = json.loads(output)
        own = ""
        if child:
            spent = processor_s(child) - before[1]
            own = (f"   {(most - before[0]) / count:6.1f} KiB a stream, {spent * 1e6 / max(1, result['events']):6.1f} us of processor an event"
                   f" ({spent / (STREAM_TOKENS * 0.05 + 2):.2f} cores)")
        print(f"  {name:28} p50 {result['p50']:7.2f}  p99 {result['p99']:7.2f}  max {result['max']:7.2f}  {result['events']} events,"
              f" {result['failed']} failed{own}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--program", type=pathlib.Path, required=True)
    parser.add_argument("--load", type=pathlib.Path, required=True)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--peers", default=os.environ.get("RONDO_BENCH_GATEWAYS"))
    parser.add_argument("--only", default="", help="small, long or streams")
    arguments = parser.parse_args()
    for name, part in (("small", small_requests), ("long", long_history), ("streams", many_streams)):
        if arguments.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            bench = Bench(arguments, folder)
            try:
                part(bench)
            finally:
                bench.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
