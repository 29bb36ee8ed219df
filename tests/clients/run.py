#!/usr/bin/env python3
"""Runs real clients, unchanged, against `rondo serve`, and counts the breaks that the engine saw.

Usage: run.py --program build/release/rondo --model MODEL [--template FILE] [--turns 30] [--log FOLDER] [NAME...]

Each client talks to a gateway of its own, streaming and with tools, over a fake engine that says a scripted conversation
(docs/fake-engines.md): reasoning, calls whose arguments are not spelled as the template would spell them, and plain answers.
A proxy between client and gateway keeps what both said, as a log that `rondo replay` reads.  Printed for each client:

  turns      replies of the model, in all of its conversations
  breaks     prompts that went on from a reply and did not begin with exactly that reply's prompt and completion
  reused     of the tokens that the engine had been given before, how many it found
  rendered   breaks that a server has which renders the same requests anew each time, as `rondo replay` counts them, and why

The clients are looked for in $RONDO_CLIENTS_PYTHON (a python that has the packages) and $RONDO_CLIENTS_NODE (a folder with
node_modules); what is not there is passed over.  docs/clients.md says what was installed for the table that it has.
"""
import argparse
import contextlib
import http.server
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
PATIENCE_S = 240
GENERATING = ("/chat/completions", "/responses", "/messages")


class Proxy(http.server.ThreadingHTTPServer):
    """Passes everything on, and keeps requests of chat APIs with their replies."""
    daemon_threads = True

    def __init__(self, upstream, path):
        super().__init__(("127.0.0.1", 0), Handler)
        self.upstream, self.path, self.lock = upstream, path, threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def keep(self, body, reply):
        with self.lock, self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps({"request": json.loads(body), "response": reply.decode()}) + "\n")

    def handle_error(self, request, client_address):
        pass  # clients go away as they like


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def pass_on(self):
        size = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(size) if size else None
        dropped = ("host", "connection", "accept-encoding", "content-length")
        headers = {name: value for name, value in self.headers.items() if name.lower() not in dropped}
        request = urllib.request.Request(self.server.upstream + self.path, data=body, headers=headers, method=self.command)
        try:
            reply = urllib.request.urlopen(request, timeout=PATIENCE_S)
        except urllib.error.HTTPError as error:
            reply = error
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            if name.lower() not in ("transfer-encoding", "connection", "content-length"):
                self.send_header(name, value)
        self.end_headers()
        kept = b""
        while piece := reply.read1(1 << 16):
            kept += piece
            self.wfile.write(piece)
            self.wfile.flush()
        if body and reply.status == 200 and self.path.split("?")[0].endswith(GENERATING):
            self.server.keep(body, kept)
        elif reply.status >= 400 and not self.path.startswith("/v1/models/"):
            print(f"  {self.command} {self.path}: {reply.status} {kept.decode()[:300]}", file=sys.stderr)

    do_GET = do_POST = do_DELETE = do_HEAD = pass_on


def started(command):
    """A server of rondo's, and the address that it prints."""
    process = subprocess.Popen([*command, "--json"], stdout=subprocess.PIPE, text=True)
    line = process.stdout.readline()
    if not line:
        raise RuntimeError(f"{command[1]} does not start")
    return process, json.loads(line)["url"]


def stop(process):
    process.send_signal(signal.SIGTERM)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(10)
    process.kill()


# --- What the engine says

def call_text(name, arguments):
    compact = json.dumps({"name": name, "arguments": arguments}, ensure_ascii=False, separators=(",", ":"))
    return f"<tool_call>\n{compact}\n</tool_call>"


def turn_text(number, turns, call):
    thought = f"<think>\nPart {number} of {turns} comes next.\n</think>\n\n"
    if call is None:
        return f"{thought}That was part {number}; nothing is missing.<|im_end|>"
    return f"{thought}I look at part {number}.\n{call_text(*call)}<|im_end|>"


def script(options, client):
    """The turns of a conversation as ids; clients that agents drive get one plain answer at the end, others some between."""
    def ids(text):
        done = subprocess.run([options.program, "tokenize", "--model", options.model, "--ids"], input=text, text=True,
                              capture_output=True, check=True)
        return [int(word) for word in done.stdout.split()]

    said = []
    for number in range(1, options.turns + 1):
        is_plain = number == options.turns or (not client.get("agent") and number % 6 == 0)
        call = None if is_plain else client.get("call", lambda k: ("read_part", {"number": k, "names": ["é", "b"]}))(number)
        said.append(ids(turn_text(number, options.turns, call)))
    return {"vocabulary": 152000, "end_ids": ids("<|im_end|>"), "opens": ids("<|im_start|>assistant\n"), "turns": said}


# --- The clients

def shell(name, field, more=None):
    return lambda number: (name, {field: f"echo part {number}", **(more or {})})


def python_client(name):
    return {"name": name, "command": lambda o, url: [o.python, str(HERE / "python_clients.py"), name, url, str(o.turns)], "needs": "python"}


def node_client(name):
    return {"name": name, "command": lambda o, url: ["node", str(HERE / "node_clients.mjs"), name, url, str(o.turns)], "needs": "node"}


def bin_of(options, name):
    return str(pathlib.Path(options.node) / "node_modules" / ".bin" / name)


TASK = "Read all parts, one after the other, with the shell, then say that you are done."


def codex(options, url):
    home = pathlib.Path(os.environ["HOME"])
    (home / ".codex").mkdir(exist_ok=True)
    (home / ".codex" / "config.toml").write_text(
        f'model = "served"\nmodel_provider = "rondo"\n[model_providers.rondo]\nname = "rondo"\nbase_url = "{url}/v1"\n'
        'wire_api = "responses"\n', encoding="utf-8")
    return [bin_of(options, "codex"), "exec", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox", TASK]


def opencode(options, url):
    config = {"$schema": "https://opencode.ai/config.json", "model": "rondo/served", "permission": {"bash": "allow"}, "provider": {"rondo": {
        "npm": "@ai-sdk/openai-compatible", "name": "rondo", "options": {"baseURL": f"{url}/v1", "apiKey": "none"},
        "models": {"served": {"name": "served", "tool_call": True, "reasoning": True, "limit": {"context": 60000, "output": 4000}}}}}}
    pathlib.Path("opencode.json").write_text(json.dumps(config), encoding="utf-8")
    return [bin_of(options, "opencode"), "run", TASK]


def qwen_code(options, url):
    return [bin_of(options, "qwen"), "--auth-type", "openai", "--openai-api-key", "none", "--openai-base-url", f"{url}/v1", "--model",
            "served", "--yolo", "--prompt", TASK]


CLIENTS = [
    *map(python_client, ("openai-chat", "openai-responses", "openai-responses-stored", "anthropic", "langchain-openai",
                         "langchain-openai-responses", "langchain-anthropic", "litellm", "pydantic-ai", "pydantic-ai-responses",
                         "openai-agents", "openai-agents-chat", "llama-index", "autogen", "haystack", "agno", "strands", "strands-anthropic")),
    # It writes the calls of its history into the text, so what it shows is not what it was sent.
    {**python_client("smolagents"), "edits": True},
    *map(node_client, ("node-openai", "node-openai-responses", "node-anthropic", "ai-sdk-openai", "ai-sdk-openai-unstored",
                       "ai-sdk-openai-compatible",
                       "ai-sdk-anthropic")),
    {**python_client("semantic-kernel"),
     "call": lambda number: ("reader-read_part", {"number": number, "names": ["é", "b"]})},
    {**python_client("mini-swe-agent"), "agent": True, "call": shell("bash", "command")},
    {**python_client("claude-agent"), "agent": True, "call": shell("Bash", "command", {"description": "Reads a part"})},
    {"name": "codex", "command": codex, "needs": "codex", "agent": True, "call": shell("exec_command", "cmd")},
    {"name": "opencode", "command": opencode, "needs": "opencode", "agent": True,
     "call": shell("bash", "command", {"description": "Reads a part"})},
    {"name": "qwen-code", "command": qwen_code, "needs": "qwen", "agent": True,
     "call": shell("run_shell_command", "command", {"is_background": False})},
]


def is_there(options, client):
    if client["needs"] == "python":
        return options.python is not None
    if options.node is None:
        return False
    return client["needs"] == "node" or pathlib.Path(bin_of(options, client["needs"])).exists()


# --- What came of it

def get(url):
    with urllib.request.urlopen(url, timeout=PATIENCE_S) as reply:
        return json.load(reply)


def is_break(turn, roles, ids, before):
    """Whether a prompt goes on from a reply, and does not begin with what the engine was given and sampled for it."""
    if "assistant" not in roles[:-1]:
        return False
    if turn["parent"] is None:
        return bool(before)  # a first request may bring replies that no model said
    parent = before[turn["parent"]]
    return ids[:len(parent["ids"])] != parent["ids"] or "assistant" in roles[len(parent["roles"]):-1]


def count(gateway):
    """Turns, breaks and reuse of all sessions, from the ids themselves."""
    out = {"turns": 0, "breaks": 0, "expected": 0, "found": 0, "causes": {}}
    sessions = get(f"{gateway}/rondo/v1/sessions?limit=1000")["sessions"]
    for session in sorted(sessions, key=lambda one: one["first"]):
        turns = get(f"{gateway}/rondo/v1/sessions/{session['id']}")["turns"]
        before = []
        for turn in turns:
            tokens = get(f"{gateway}/rondo/v1/sessions/{session['id']}/tokens?turn={turn['index']}")
            if is_break(turn, tokens["roles"], tokens["ids"][:tokens["prompt_tokens"]], before or out["turns"]):
                out["breaks"] += 1
                name = (turn["cause"] or {}).get("name", turn["how"])
                out["causes"][name] = out["causes"].get(name, 0) + 1
            before.append(tokens)
            out["turns"] += 1
            if turn["expected"]:  # the last token of a prompt is computed always
                out["expected"] += turn["expected"]
                out["found"] += min(turn["expected"], (turn["cached"] or 0) + 1)
    return out


def rendered(options, log):
    """What a server would have broken that renders: (breaks, their causes)."""
    command = [options.program, "replay", str(log), "--model", options.model, "--json"]
    if options.template:
        command += ["--template", options.template]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, {"replay": done.stderr.strip()[:200]}
    causes = {cause["name"]: cause["requests"] for cause in json.loads(done.stdout)["causes"]}
    return sum(causes.values()), causes


def run_client(options, client, folder):
    log = folder / "log.jsonl"
    log.touch()
    (folder / "script.json").write_text(json.dumps(script(options, client)), encoding="utf-8")
    engine, engine_url = started([options.program, "fake-engine", "sglang", "--context", "200000", "--script", str(folder / "script.json")])
    serve = [options.program, "serve", options.model, "--url", engine_url, "--port", "0", "--alias", "served", "--store", "memory",
             "--log", "off"]
    gateway, url = started([*serve, *(["--template", options.template] if options.template else [])])
    proxy = Proxy(url, log)
    work = folder / "work"
    work.mkdir()
    home = dict(os.environ)
    environment = {**home, "HOME": str(folder), "PWD": str(work), "XDG_CONFIG_HOME": str(folder / "config"), "XDG_DATA_HOME": str(folder / "data"),
                   "OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none", "NO_COLOR": "1", "NODE_PATH": f"{options.node}/node_modules",
                   "RONDO_CLIENTS_NODE": str(options.node or ""), "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    before = pathlib.Path.cwd()
    try:
        os.chdir(work)
        os.environ.update(environment)
        command = client["command"](options, proxy.url)
        done = subprocess.run(command, env=environment, cwd=work, capture_output=True, text=True, timeout=PATIENCE_S, check=False,
                              stdin=subprocess.DEVNULL)
        (folder / "output.txt").write_text(done.stdout + done.stderr, encoding="utf-8")
        result = count(url)
        result["status"] = done.returncode
    except subprocess.TimeoutExpired as error:
        (folder / "output.txt").write_bytes((error.stdout or b"") + (error.stderr or b""))
        result = {**count(url), "status": "time"}
    finally:
        os.chdir(before)
        os.environ.clear()
        os.environ.update(home)
        proxy.shutdown()
        stop(gateway)
        stop(engine)
    result["rendered"], result["why"] = rendered(options, log)
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True, help="a folder or .gguf file whose tokenizer has the tokens of the script")
    parser.add_argument("--template")
    parser.add_argument("--turns", type=int, default=30)
    parser.add_argument("--log", type=pathlib.Path, help="what the clients said and were told stays here")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    options.program = str(pathlib.Path(options.program).resolve())
    options.python = os.environ.get("RONDO_CLIENTS_PYTHON")
    options.node = os.environ.get("RONDO_CLIENTS_NODE")
    unknown = set(options.names) - {client["name"] for client in CLIENTS}
    if unknown:
        parser.error(f"no such client: {', '.join(sorted(unknown))}")
    failed = 0
    print("| client | turns | breaks | reused | rendered: breaks | why |\n|---|--:|--:|--:|--:|---|", flush=True)
    for client in CLIENTS:
        if (options.names and client["name"] not in options.names) or not is_there(options, client):
            continue
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as made:
            folder = options.log / client["name"] if options.log else pathlib.Path(made)
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)
            result = run_client(options, client, folder.resolve())
        share = f"{100 * result['found'] / result['expected']:.1f} %" if result["expected"] else "–"
        why = ", ".join(f"{name} {number}" for name, number in result["why"].items())
        print(f"| {client['name']} | {result['turns']} | {result['breaks']} | {share} | {result['rendered']} | {why} |", flush=True)
        if result["causes"]:
            print(f"  {client['name']}: {result['causes']}", file=sys.stderr)
        if (result["breaks"] and not client.get("edits")) or result["status"] != 0 or result["turns"] < options.turns - 1:
            failed += 1
            print(f"  {client['name']}: status {result['status']}, {result['turns']} turns", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
