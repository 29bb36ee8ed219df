"""The official Python client of OpenAI talks to `rondo serve` over four turns, with a tool.  A second server, which has kept
nothing, renders the same requests: what of these prompts could have been reused.

Usage: python3 -m tools.testing.demo_client --program build/release/rondo

The end of `./dev demo`.  The client is one of the pinned packages of the tests; where it can't be had, this says so.
"""
import argparse
import json
import signal
import subprocess
import sys
import urllib.request

from tools import REPO

sys.path.insert(0, str(REPO / "tests" / "gateway"))
import api_clients_test

# A conversation in which a tool was called already: the small random model calls none by itself.
TOOLS = [{"type": "function", "function": {"name": "lines_of", "description": "Counts the lines of a file.", "parameters": {
    "type": "object", "properties": {"file": {"type": "string"}}, "required": ["file"]}}}]
BEGIN = [{"role": "user", "content": "How long is the main file, and what is in it?"},
         {"role": "assistant", "content": "", "tool_calls": [{"id": "call00001", "type": "function", "function": {
             "name": "lines_of", "arguments": '{"file": "src/main.cpp"}'}}]},
         {"role": "tool", "tool_call_id": "call00001", "content": "It has 120 lines."}]


class Server:
    """`rondo serve` with the small random model; without a word of the client it knows nothing."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "serve", "--port", "0", "--store", "memory", "--log", "off", "--json"], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        if not line:
            sys.exit("rondo: the server does not start")
        self.url = json.loads(line)["url"]

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


def as_json(message):
    return message.model_dump(mode="json", exclude_none=True)


def rendered(url, asked):
    """The prompt's ids as a server makes them that has kept nothing."""
    request = urllib.request.Request(f"{url}/v1/chat/completions/render", data=json.dumps(asked, default=as_json).encode())
    with urllib.request.urlopen(request) as reply:
        return json.load(reply)["token_ids"]


def common(a, b):
    return next((i for i, (one, other) in enumerate(zip(a, b)) if one != other), min(len(a), len(b)))


def talk(url, renderer):
    """Four turns; prints a line for each."""
    import openai
    client = openai.OpenAI(base_url=f"{url}/v1", api_key="none", default_headers={"x-rondo-explain": "1"})
    messages, known = BEGIN, []
    for _ in range(4):
        asked = {"model": "any", "messages": messages, "tools": TOOLS, "max_tokens": 60, "seed": 1}
        anew = common(rendered(renderer, asked), known)
        reply = client.chat.completions.create(**asked, extra_body={"return_token_ids": True})
        prefix = reply.model_extra["rondo"]
        known = reply.model_extra["prompt_token_ids"] + reply.choices[0].model_extra["token_ids"]
        print(f"  {prefix['how']:6}  {reply.usage.prompt_tokens:4} prompt tokens  {prefix['expected']:4} expected  "
              f"{prefix['cached']:4} reused  {prefix['appended']:3} appended  {anew:4} reused if rendered anew")
        messages = [*messages, reply.choices[0].message, {"role": "user", "content": "Say more of that."}]


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", required=True)
    options = options.parse_args()
    if not api_clients_test.have_packages():
        print("rondo: the Python client is not to be had here, so nothing talks to `rondo serve` with it")
        return 0
    servers = [Server(options.program), Server(options.program)]
    print(f"\nThe Python client `openai` and `rondo serve` on {servers[0].url}:")
    try:
        talk(*(server.url for server in servers))
    finally:
        for server in servers:
            server.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
