#!/usr/bin/env python3
"""`rondo serve` as a program: how it starts and ends, keys, TLS, files of settings, limits; over engines that are fakes.

    tests/gateway/serve_test.py --program build/release/rondo
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import ssl
import stat
import subprocess
import sys
import tempfile
import threading
import unittest
import urllib.error
import urllib.request

REPO = pathlib.Path(__file__).resolve().parents[2]
MODEL = REPO / "tests" / "golden" / "batch" / "model"
LONG = json.dumps({"vocabulary": 90, "first_plain": 66, "end_after": 1_000_000_000})
program = ""


class Process:
    """A server, up to its ready line."""

    def __init__(self, arguments, env=None):
        self.child = subprocess.Popen([program, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                      env={**os.environ, **(env or {})})
        self.ready = self.child.stdout.readline()
        self.errors = []
        self.reader = threading.Thread(target=lambda: self.errors.extend(self.child.stderr))
        self.reader.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.child.poll() is None:
            self.child.kill()
        self.child.wait()
        self.reader.join()
        self.child.stdout.close()
        self.child.stderr.close()

    @property
    def url(self):
        assert self.ready, "".join(self.errors)
        return json.loads(self.ready)["url"]

    def end(self, number=signal.SIGTERM):
        self.child.send_signal(number)
        status = self.child.wait(30)
        self.reader.join()
        return status

    def wait_for(self, text):
        while not any(text in line for line in self.errors):
            assert self.reader.is_alive(), self.errors
            threading.Event().wait(0.01)


def fake(*options):
    return Process(["fake-engine", "vllm", "--generate", "on", "--cached-tokens", "--script", LONG, "--json", *options])


def serve(engine, *options, env=None, model=MODEL, store=("--store", "memory")):
    where = ["--url", engine.url] if engine else []
    return Process(["serve", *([model] if model else []), *where, "--port", "0", "--json", *store, *options], env)


def ask(url, body=None, key=None, method=None, context=None, headers=None):
    """Status, headers and body."""
    request = urllib.request.Request(url, data=None if body is None else json.dumps(body).encode(), method=method,
                                     headers=headers or {})
    if key:
        request.add_header("authorization", "Bearer " + key)
    try:
        with urllib.request.urlopen(request, context=context, timeout=60) as reply:
            return reply.status, reply.headers, reply.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


def chat(url, *texts, key=None, path="/v1/chat/completions", **more):
    messages = [{"role": "assistant" if i % 2 else "user", "content": text} for i, text in enumerate(texts)]
    return ask(url + path, {"messages": messages, "max_tokens": 8, **more}, key)


def once(*arguments, env=None):
    return subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          env={**os.environ, **(env or {})}, check=False)


class Serve(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        self.folder = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory()))

    def fake(self, *options):
        return self.stack.enter_context(fake(*options))

    def serve(self, *arguments, **more):
        return self.stack.enter_context(serve(*arguments, **more))

    def add_key(self, name):
        made = once("serve", "--api-keys", self.folder / "keys", "--add-key", name)
        self.assertEqual(made.returncode, 0, made.stderr)
        return made.stdout.strip()

    def test_begin_and_end(self):
        engine = self.fake()
        gateway = self.serve(engine, "--log", "json")
        self.assertEqual(json.loads(gateway.ready)["models"], ["model"])
        status, headers, _ = chat(gateway.url, "hello")
        self.assertEqual(status, 200)
        self.assertIn("how=render", headers["x-rondo-prefix"])
        self.assertEqual(ask(gateway.url + "/ready")[0], 200)
        self.assertEqual(gateway.end(), 0)
        lines = [json.loads(line) for line in gateway.errors]
        self.assertEqual([line["status"] for line in lines], [200, 200])
        self.assertEqual(lines[0]["request_id"], headers["x-request-id"])

    def test_drain(self):
        engine = self.fake("--delay", "20")
        gateway = self.serve(engine)
        stream = urllib.request.urlopen(urllib.request.Request(
            gateway.url + "/v1/chat/completions",
            data=json.dumps({"messages": [{"role": "user", "content": "x"}], "max_tokens": 40, "stream": True}).encode()), timeout=60)
        with stream:
            first = stream.readline()
            gateway.child.send_signal(signal.SIGTERM)
            while ask(gateway.url + "/ready")[0] == 200:
                pass
            self.assertEqual(chat(gateway.url, "new")[0], 503)
            text = (first + stream.read()).decode()
        self.assertIn("data: [DONE]", text)
        self.assertEqual(gateway.child.wait(30), 0)

    def test_drain_has_an_end(self):
        engine = self.fake("--delay", "100")
        store = ("--store", f"sqlite:{self.folder}/turns.sqlite")
        gateway = self.serve(engine, "--drain-timeout", "0", store=store)
        with socket.create_connection(("127.0.0.1", int(gateway.url.rsplit(":", 1)[1]))) as client:
            body = json.dumps({"messages": [{"role": "user", "content": "x"}], "max_tokens": 4000, "stream": True})
            client.sendall(f"POST /s/cut/v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode())
            self.assertIn(b"200 OK", client.recv(4096))
            self.assertEqual(gateway.end(), 0)
        again = self.serve(engine, store=store)
        turns = json.loads(ask(again.url + "/rondo/v1/sessions/cut")[2])["turns"]
        self.assertEqual([turn["finish"] for turn in turns], ["cancelled"])

    def test_turns_outlive_the_process(self):
        engine = self.fake()
        state = {"XDG_STATE_HOME": str(self.folder / "state")}
        with serve(engine, env=state, store=()) as first:
            reply = json.loads(chat(first.url, "hello")[2])["choices"][0]["message"]["content"]
            self.assertEqual(first.end(), 0)
        files = self.folder / "state" / "rondo"
        self.assertTrue((files / "turns.sqlite").exists())
        self.assertEqual(stat.S_IMODE(files.stat().st_mode), 0o700)
        self.assertEqual(stat.S_IMODE((files / "turns.sqlite.key").stat().st_mode), 0o600)
        again = self.serve(engine, env=state, store=())
        self.assertIn("how=bridge", chat(again.url, "hello", reply, "go on")[1]["x-rondo-prefix"])
        self.assertIn("rondo_store_bytes ", ask(again.url + "/metrics")[2])

    def test_keys(self):
        ann = self.add_key("ann")
        keys = self.folder / "keys"
        self.assertEqual(stat.S_IMODE(keys.stat().st_mode), 0o600)
        self.assertNotIn(ann, keys.read_text())
        engine = self.fake()
        gateway = self.serve(engine, "--api-keys", keys, "--host", "0.0.0.0")
        self.assertEqual(chat(gateway.url, "hello")[0], 401)
        self.assertEqual(chat(gateway.url, "hello", key=ann)[0], 200)
        bob = self.add_key("bob")
        self.assertEqual(chat(gateway.url, "hello", key=bob)[0], 401)
        gateway.child.send_signal(signal.SIGHUP)
        gateway.wait_for("keys: 2")
        status, headers, _ = chat(gateway.url, "hello", key=bob)
        self.assertEqual(status, 200)
        self.assertIn("expected=0", headers["x-rondo-prefix"])
        # A file that is wrong changes nothing, and is not repeated.
        keys.write_text(keys.read_text() + "eve " + ann + "\n")
        gateway.child.send_signal(signal.SIGHUP)
        gateway.wait_for("64 hexadecimal digits")
        self.assertEqual(chat(gateway.url, "hello", key=ann)[0], 200)
        # A key that is gone is nobody's.
        keys.write_text("\n".join(line for line in keys.read_text().splitlines() if line.startswith("bob")) + "\n")
        gateway.child.send_signal(signal.SIGHUP)
        gateway.wait_for("keys: 1")
        self.assertEqual(chat(gateway.url, "hello", key=ann)[0], 401)
        self.assertEqual(gateway.end(), 0)
        said = "".join(gateway.errors)
        self.assertIn("tenant=ann", said)
        for secret in (ann, bob, *keys.read_text().split()[1::2]):
            self.assertNotIn(secret, said)

    def test_what_is_refused_at_the_start(self):
        keys = self.folder / "keys"
        keys.write_text("ann\n")
        for arguments, status, sentence in (
                (["--host", "0.0.0.0"], 1, "anybody could use 0.0.0.0"),
                (["--api-keys", keys], 1, "a line is a name and a hash"),
                (["--api-keys", self.folder / "none"], 1, "none"),
                (["--add-key", "ann"], 2, "--add-key needs --api-keys"),
                (["--api-keys", self.folder / "new", "--add-key", "a/b"], 1, "a name has 1 to 64 letters"),
                (["--log", "loud"], 2, "`log` must be one of"),
                (["--config", self.folder / "none.toml"], 2, "none.toml"),
                (["--tls-cert", "x"], 2, "go together"),
                (["--no-such-option"], 2, "")):
            made = once("serve", MODEL, "--port", "0", "--store", "memory", *arguments)
            self.assertEqual(made.returncode, status, (arguments, made.stderr))
            self.assertIn(sentence, made.stderr)
            self.assertEqual(made.stdout, "")
        keys.chmod(0o666)
        keys.write_text("")
        self.assertIn("anybody on this machine", once("serve", MODEL, "--api-keys", keys).stderr)

    def test_tls(self):
        if not shutil.which("openssl"):
            self.skipTest("no openssl to make a certificate with")
        cert, key = self.folder / "cert.pem", self.folder / "key.pem"

        def made_certificate():
            subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", cert, "-days", "2", "-subj",
                            "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"], check=True, capture_output=True)

        made_certificate()
        gateway = self.serve(self.fake(), "--tls-cert", cert, "--tls-key", key)
        self.assertTrue(gateway.url.startswith("https://"))
        trusted = ssl.create_default_context(cafile=str(cert))
        self.assertEqual(ask(gateway.url + "/health", context=trusted)[0], 200)
        with self.assertRaises(urllib.error.URLError):
            ask(gateway.url + "/health", context=ssl.create_default_context())
        # A new certificate in the place of the old one; who is connected stays so.
        with socket.create_connection(("127.0.0.1", int(gateway.url.rsplit(":", 1)[1]))) as plain, \
                trusted.wrap_socket(plain, server_hostname="127.0.0.1") as open_one:
            made_certificate()
            gateway.child.send_signal(signal.SIGHUP)
            gateway.wait_for("the certificate was read again")
            self.assertEqual(ask(gateway.url + "/health", context=ssl.create_default_context(cafile=str(cert)))[0], 200)
            with self.assertRaises(urllib.error.URLError):
                ask(gateway.url + "/health", context=trusted)
            open_one.sendall(b"GET /health HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
            self.assertTrue(open_one.recv(100).startswith(b"HTTP/1.1 200 OK"))
        key.write_text("nonsense")
        gateway.child.send_signal(signal.SIGHUP)
        gateway.wait_for("the server's key cannot be read")
        self.assertEqual(ask(gateway.url + "/health", context=ssl.create_default_context(cafile=str(cert)))[0], 200)
        made = once("serve", MODEL, "--url", "http://127.0.0.1:1", "--tls-cert", key, "--tls-key", cert)
        self.assertEqual(made.returncode, 1)

    def test_a_file_of_settings(self):
        engines = [self.fake(), self.fake()]
        config = self.folder / "serve.toml"
        config.write_text(f"""
port = 9
log = "off"
[[model]]
path = "{MODEL}"
alias = ["first", "one"]
url = "{engines[0].url}"
[[model]]
path = "{MODEL}"
alias = "second"
url = ["{engines[1].url}"]
kwargs = {{ style = "short" }}
""")
        gateway = self.serve(None, "--config", config, model=None)
        self.assertEqual(json.loads(gateway.ready)["models"], ["first", "second"])
        listed = json.loads(ask(gateway.url + "/v1/models")[2])["data"]
        self.assertEqual([model["id"] for model in listed], ["first", "one", "second"])
        self.assertEqual(ask(gateway.url + "/v1/models/one")[0], 200)
        for name, status in (("first", 200), ("one", 200), ("second", 200), ("third", 404)):
            self.assertEqual(chat(gateway.url, "hello", model=name)[0], status)
            self.assertEqual(ask(gateway.url + "/tokenize", {"model": name, "prompt": "hello"})[0], status)
            self.assertEqual(ask(gateway.url + "/detokenize", {"model": name, "tokens": [70]})[0], status)
        self.assertEqual(gateway.end(), 0)
        self.assertEqual(gateway.errors, [])
        # What is printed is a file that says the same.
        printed = once("serve", "--config", config, "--check-config", env={"RONDO_SERVE_MAX_BODY": "7"})
        self.assertEqual(printed.returncode, 0, printed.stderr)
        self.assertIn("max_body = 7\n", printed.stdout)
        again = self.folder / "again.toml"
        again.write_text(printed.stdout)
        self.assertEqual(once("serve", "--config", again, "--check-config").stdout, printed.stdout)
        config.write_text("[[model]]\npath = \"x\"\n  port = 1\n")
        wrong = once("serve", "--config", config, "--check-config")
        self.assertEqual(wrong.returncode, 2)
        self.assertIn(f"{config}:3:3: `port` is a setting of the server", wrong.stderr)
        config.write_text("".join(f"[[model]]\npath = \"{MODEL}\"\nurl = \"{engine.url}\"\n" for engine in engines))
        self.assertIn("two models are called `model`", once("serve", "--config", config).stderr)

    def test_requests_are_kept_for_replay(self):
        gateway = self.serve(self.fake(), "--keep-requests", "4")
        reply = json.loads(chat(gateway.url, "hello", path="/s/run/v1/chat/completions")[2])["choices"][0]["message"]["content"]
        chat(gateway.url, "hello", reply, "more", path="/s/run/v1/chat/completions")
        log = self.folder / "log.jsonl"
        log.write_text(ask(gateway.url + "/rondo/v1/log")[2])
        self.assertEqual(len(log.read_text().splitlines()), 2)
        replayed = once("replay", log, MODEL)
        self.assertIn("2 requests of 1 conversation", replayed.stdout + replayed.stderr)

    def test_too_many_streams(self):
        gateway = self.serve(self.fake("--delay", "20"), "--max-streams", "2")
        results = []
        threads = [threading.Thread(target=lambda: results.append(chat(gateway.url, "hello", max_tokens=20))) for _ in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        statuses = sorted(status for status, _, _ in results)
        self.assertEqual(statuses[:2], [200, 200])
        self.assertEqual(set(statuses[2:]) - {200}, {429})
        self.assertEqual({headers["retry-after"] for status, headers, _ in results if status == 429}, {"1"})

    def test_several_loops(self):
        """What one loop keeps another one goes on from; limits and numbers are those of all together."""
        gateway = self.serve(self.fake("--delay", "1"), "--loops", "3", "--max-streams", "64")
        results = []

        def talk(number):
            said = [f"hello {number}"]
            for turn in range(4):
                status, headers, body = chat(gateway.url, *said)  # a connection each
                results.append((turn, status, headers["x-rondo-prefix"]))
                said += [json.loads(body)["choices"][0]["message"]["content"], "go on"]

        threads = [threading.Thread(target=talk, args=(number,)) for number in range(12)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(len(results), 48)
        for turn, status, prefix in results:
            self.assertEqual(status, 200)
            self.assertIn("how=bridge" if turn else "how=render", prefix)
        self.assertIn('rondo_requests_total{api="chat",status="200"} 48\n', ask(gateway.url + "/metrics")[2])
        # A port that is in use is not shared.
        port = gateway.url.rsplit(":", 1)[1]
        made = once("serve", MODEL, "--url", gateway.url, "--port", port, "--loops", "2", "--store", "memory")
        self.assertEqual(made.returncode, 1)
        self.assertEqual(gateway.end(), 0)

    def test_which_ids_may_be_sampled(self):
        gateway = self.serve(self.fake())
        word = json.loads(ask(gateway.url + "/detokenize", {"tokens": [70]})[2])["prompt"]
        for path, prompt in (("/v1/chat/completions", {"messages": [{"role": "user", "content": "hello"}]}),
                             ("/v1/completions", {"prompt": "hello"})):
            for wish, ids in (({"allowed_token_ids": [70, 80]}, {70, 80}),
                              ({"allowed_token_ids": [70, 80], "bad_words": [word]}, {80})):
                status, headers, body = ask(gateway.url + path, {**prompt, **wish, "max_tokens": 30, "seed": 1, "return_token_ids": True})
                self.assertEqual(status, 200, body)
                self.assertEqual(set(json.loads(body)["choices"][0]["token_ids"]), ids)
                self.assertNotIn("warning", headers)
        other = self.stack.enter_context(Process(["fake-engine", "sglang", "--script", LONG, "--json"]))
        status, _, body = chat(self.serve(other).url, "hello", allowed_token_ids=[70])
        self.assertEqual((status, json.loads(body)["error"]["message"]),
                         (400, "allowed_token_ids cannot be asked of SGLang"))

    def test_an_engine_that_goes_away(self):
        engine = self.fake()
        gateway = self.serve(engine)
        engine.end()
        self.assertEqual(chat(gateway.url, "hello")[0], 502)
        self.assertEqual(ask(gateway.url + "/ready")[0], 503)
        metrics = ask(gateway.url + "/metrics")[2]
        self.assertIn(f'rondo_engine_up{{model="model",engine="{engine.url}"}} 0\n', metrics)
        self.assertIn("rondo_ready 0\n", metrics)

    def test_the_small_model(self):
        if "RONDO_FIXTURES" not in os.environ:
            self.skipTest("RONDO_FIXTURES is not set")
        with Process(["serve", "--port", "0", "--json", "--store", "memory"]) as gateway:
            if not gateway.ready:
                gateway.child.wait()
                gateway.reader.join()
                self.assertIn("no embedded engine", "".join(gateway.errors))
                self.skipTest("this program has no engine")
            status, _, body = ask(gateway.url + "/v1/chat/completions", {"messages": [{"role": "user", "content": "hello"}], "max_tokens": 4})
            self.assertEqual(status, 200, body)
            # A random model would spell out stops in ordinary tokens if the grammar let it.
            schema = {"enum": ["\u00e9", 1, None]}
            for seed in range(4):
                status, _, body = ask(gateway.url + "/v1/chat/completions", {
                    "messages": [{"role": "user", "content": "json"}], "max_tokens": 400, "seed": seed, "reasoning_effort": "none",
                    "response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": schema}}})
                self.assertEqual(status, 200, body)
                choice = json.loads(body)["choices"][0]
                self.assertEqual(choice["finish_reason"], "stop", body)
                self.assertIn(json.loads(choice["message"]["content"]), schema["enum"])
            self.assertEqual(gateway.end(), 0)


def main():
    global program
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", required=True)
    arguments, rest = parser.parse_known_args()
    program = arguments.program
    unittest.main(argv=[sys.argv[0], *rest])


if __name__ == "__main__":
    main()
