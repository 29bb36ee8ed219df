"""Tests the page of `rondo serve` in a real browser, against a running server with the small random model.

Usage: python3 -m tools.testing.serve_page_test --program build/release/rondo [--shots FOLDER]

Headless Chromium is spoken to as in page_test.py; where there is none, or the small model can't be made, this says so and
passes.  With --shots pictures are written for people.
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

from tools.testing import page_test

PATIENCE_S = 30
# What a client may call its session, and say.
HOSTILE = '<img src=x onerror="window.pwned=1"><script>window.pwned=2</script>'
WORDS = "Which files hold the settings of the build? </script><svg onload='window.pwned=3'>"


class Server:
    """`rondo serve` on a port of its own."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "serve", "--port", "0", "--store", "memory", "--log", "off", "--json"], stdout=subprocess.PIPE, text=True)
        line = self.process.stdout.readline()
        self.url = json.loads(line)["url"] if line else None

    def close(self):
        self.process.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE_S)
        self.process.kill()
        return self.process.wait()

    def ask(self, path, body=None, **headers):
        data = None if body is None else json.dumps(body).encode()
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.url + path, data=data, headers=headers)
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as reply:
            return reply.headers, reply.read().decode()

    def talk(self, session, turns, system="Answer in one sentence."):
        messages = [{"role": "system", "content": system}, {"role": "user", "content": WORDS}]
        for turn in range(turns):
            body = {"messages": messages, "max_tokens": 12 + 4 * turn, "temperature": 0}
            reply = json.loads(self.ask("/v1/chat/completions", body, x_rondo_session=session)[1])
            messages.append({"role": "assistant", "content": reply["choices"][0]["message"]["content"]})
            messages.append({"role": "user", "content": "And what do they set? Say it with an example."})
        return messages


def until(browser, expression, patience_s=PATIENCE_S):
    """The expression's value once it is true; what it was last where it does not become so."""
    deadline = time.monotonic() + patience_s
    while True:
        value = browser.ask(expression)
        if value or time.monotonic() > deadline:
            return value
        time.sleep(0.05)


def head(server, check):
    headers, body = server.ask("/")
    policy = headers["content-security-policy"]
    nonce = policy.split("script-src 'nonce-")[1].split("'")[0]
    check("unsafe" not in policy and "default-src 'none'" in policy, "the page may run and load nothing else")
    check(body.count(f'nonce="{nonce}"') == 2 and "NONCE" not in body, "its script and its style have the nonce")
    check(nonce not in server.ask("/")[1], "each answer has a nonce of its own")


def nothing_there(browser, check, url):
    browser.open(url + "/")
    check(until(browser, "document.querySelector('#session .empty h2')?.textContent") == "Nothing was asked yet",
          "without sessions the page says how to begin")
    check(until(browser, "document.querySelector('#served b')?.textContent") == "tiny", "the model is named")


def sessions(browser, check, server):
    row = "[...document.querySelectorAll('#sessions .name')].map((name) => name.textContent)"
    check(until(browser, f"{row}.length === 3 && {row}.includes({json.dumps(HOSTILE)})"),
          "sessions appear by themselves, and a name stays text")
    listed = json.loads(server.ask("/rondo/v1/sessions")[1])["sessions"]
    for field in ("id", "model", "turns", "branches", "prompt_tokens", "cached_tokens", "breaks", "first", "last"):
        check(all(field in session for session in listed), f"sessions have `{field}`")
    browser.ask("document.querySelector('#sessions button').focus()")
    browser.press("j")
    check(browser.ask("document.activeElement.closest('li') === document.querySelectorAll('#sessions li')[1]"),
          "j goes down in the list")
    browser.press("k")
    check(browser.ask("document.activeElement.closest('li') === document.querySelectorAll('#sessions li')[0]"), "k goes up")
    check(browser.ask("getComputedStyle(document.activeElement).outlineStyle") != "none", "the focus can be seen")
    session = next(one for one in listed if one["name"] == "edited")
    browser.ask(f"location.hash = '#/s/{session['id']}'")
    check(until(browser, "document.querySelector('#session h2')?.textContent === 'edited'"
                         " && document.querySelectorAll('.turn').length === 3"), "a session shows its turns")
    return session


def turns(browser, check, server, session):
    rows = json.loads(server.ask(f"/rondo/v1/sessions/{session['id']}")[1])["turns"]
    shown = browser.ask("[...document.querySelectorAll('.turn')].map((turn) => Object.fromEntries([...turn.querySelectorAll('.bar > *')]"
                        ".map((part) => [part.className, Number(part.style.getPropertyValue('--n'))])))")
    for row, parts in zip(rows, shown):
        check(parts.get("reused", 0) == (row["cached"] or 0), f"turn {row['index']}: what was reused is a part of its bar")
        check(parts.get("sampled-part") == row["completion_tokens"], f"turn {row['index']}: so is what was sampled")
        check(sum(parts.values()) == row["prompt_tokens"] + row["completion_tokens"], f"turn {row['index']}: the parts are all of it")
    check(rows[2]["cause"] is not None, "an edited message is a cause")
    sentence = browser.ask("document.querySelectorAll('.turn')[2].querySelector('.cause')?.textContent") or ""
    check(rows[2]["cause"]["sentence"][1:] in sentence, "the cause stands below its turn")


def tokens(browser, check, server, session):
    browser.ask("document.querySelector('.turn button').focus()")
    browser.press("ArrowDown")
    browser.press("Enter")
    check(until(browser, "document.querySelectorAll('.tokens').length") == 1, "Enter opens a turn")
    kept = json.loads(server.ask(f"/rondo/v1/sessions/{session['id']}/tokens?turn=1&texts=1")[1])
    check(len(kept["texts"]) == len(kept["ids"]) and len(kept["roles"]) == 5, "each id has a text, each message a role")
    check(WORDS in "".join(kept["texts"]), "the texts are the prompt")
    check(browser.ask("document.querySelectorAll('.t[data-i]').length") == len(kept["ids"]), "all tokens are shown")
    check(browser.ask("document.querySelectorAll('.t.s[data-i]').length") == sum(kept["sampled"]), "sampled ones are marked")
    check(browser.ask("['system', 'user', 'assistant', 'scaffold'].every((role) => document.querySelector('.block.' + role))"),
          "tokens are grouped by their owners")
    check(WORDS in browser.ask("document.querySelector('.block.user pre').textContent"), "hostile words stay text")
    browser.ask("document.querySelector('.flow').focus()")
    browser.press("ArrowRight")
    browser.press("ArrowRight")
    check(browser.ask("document.querySelector('.t.on')?.dataset.i") == "1", "the arrow keys go through tokens")
    check(f"id {kept['ids'][1]}," in browser.ask("document.querySelector('.about-token').textContent"), "a token tells its id")
    browser.press("Escape")
    check(until(browser, "document.querySelectorAll('.tokens').length === 0"), "Escape closes them")


def live(browser, check, server):
    # The server is asked how many turns there are: the page may not have looked since the last one.
    known = sum(session["turns"] for session in json.loads(server.ask("/rondo/v1/sessions")[1])["sessions"])
    server.talk("edited", 1)
    check(until(browser, f"Number(document.querySelector('#totals div:nth-child(3) dd').textContent) === {known + 1}"),
          "a turn that is asked for meanwhile appears")


def chat(browser, check):
    browser.ask("document.activeElement.blur(); location.hash = '#/'")
    until(browser, "document.getElementById('view-chat').hidden")
    browser.press("c")
    check(until(browser, "document.activeElement.id") == "words", "c opens the chat, ready to write")
    browser.ask("document.getElementById('max-tokens').value = 8; document.getElementById('system').value = 'Be brief.'")
    for turn in (1, 2):
        browser.call("Input.insertText", text=f"<b>Hello</b> {turn}")
        browser.press("Enter")
        check(until(browser, f"document.querySelectorAll('.reply .prefix .bar').length === {turn}"), "a reply ends with its prefix line")
    check(browser.ask("document.querySelectorAll('.reply .text')[1].textContent.length") > 0, "the reply is shown")
    lines = browser.ask("[...document.querySelectorAll('.prefix .line > b')].map((word) => word.textContent)")
    check(lines == ["rendered", "bridged"], f"the second turn is a bridge: {lines}")
    said = browser.ask("document.querySelector('.said.mine').textContent")
    check(said == "<b>Hello</b> 1", f"what is said stays text: {said}")
    # A reply with a call, put together as a stream would.
    grown = browser.ask("""(() => { const message = { role: 'assistant', content: '' };
        grow(message, { reasoning_content: 'a' }); grow(message, { reasoning_content: 'b' });
        grow(message, { tool_calls: [{ index: 0, id: 'x', function: { name: 'f', arguments: '{' } }] });
        grow(message, { tool_calls: [{ index: 0, function: { arguments: '}' } }] });
        const parts = replyBox(); showCalls(parts, message.tool_calls); parts.box.remove();
        return [message.reasoning_content, message.tool_calls[0].id, parts.calls.textContent]; })()""")
    check(grown == ["ab", "x", "f{}"], f"calls and reasoning grow: {grown}")
    browser.ask("document.activeElement.blur()")


def failures(browser, check, url):
    browser.open(url + "/")
    until(browser, "document.querySelectorAll('.turn').length")
    browser.ask("window.real = fetch; window.fetch = () => Promise.reject(new TypeError('gone')); watch()")
    check(until(browser, "document.getElementById('trouble').checkVisibility()"), "a server that is gone is said")
    browser.ask("""window.fetch = async (path, options) => { window.last = options.headers;
        return new Response('{"error": {"message": "no key"}}', { status: 401 }); }; watch()""")
    check(until(browser, "document.getElementById('ask-key').open"), "a server that asks for a key gets one")
    browser.ask("window.fetch = (path, options) => { window.last = options.headers; return real(path, options); }")
    browser.ask("document.getElementById('key').focus()")
    browser.call("Input.insertText", text="secret")
    browser.press("Enter")
    check(until(browser, "window.last?.authorization") == "Bearer secret", "the key goes with each request")
    check(browser.ask("sessionStorage.getItem('rondo-key') === 'secret' && localStorage.getItem('rondo-key') === null"),
          "it is kept in this tab alone")
    check(until(browser, "!document.getElementById('trouble').checkVisibility()"), "trouble that is over is not told")
    browser.press("?")
    check(browser.ask("document.getElementById('help').open"), "? tells the keys")
    browser.press("Escape")


def looks(browser, check, session, shots):
    for name, hash_ in (("session", f"#/s/{session['id']}/1"), ("chat", "#/chat")):
        browser.ask(f"location.hash = '{hash_}'")
        until(browser, "document.querySelector('.tokens, #view-chat:not([hidden])') !== null")
        for scheme in ("light", "dark"):
            browser.scheme(scheme)
            ratio, text = browser.ask(page_test.CONTRAST)
            check(ratio >= 4.5, f"text can be read in the {scheme} scheme; `{text}` has a contrast of {ratio:.2f}")
            if shots:
                shots.mkdir(parents=True, exist_ok=True)
                browser.size(1440, 900)
                browser.shoot(shots / f"{name}-{scheme}.png")
        for width in (1280, 800, 360):
            page_test.layout(browser, check, width)
        if shots:
            browser.size(390, 844)
            browser.shoot(shots / f"{name}-phone.png")
    browser.size(1280, 800)
    browser.scheme("dark")
    browser.ask("setTheme('light')")
    check(browser.ask("getComputedStyle(document.documentElement).colorScheme") == "light", "the switch overrules the system")


def run(browser, server, shots):
    check = page_test.Checks()
    browser.size(1280, 800)
    head(server, check)
    nothing_there(browser, check, server.url)
    server.talk(HOSTILE, 1)
    server.talk("plain", 2)
    messages = server.talk("edited", 2)
    messages[1]["content"] = "Which files hold the settings of the tests?"
    server.ask("/v1/chat/completions", {"messages": messages, "max_tokens": 9}, x_rondo_session="edited")
    session = sessions(browser, check, server)
    turns(browser, check, server, session)
    tokens(browser, check, server, session)
    live(browser, check, server)
    looks(browser, check, session, shots)
    chat(browser, check)
    failures(browser, check, server.url)
    check(browser.ask("window.pwned === undefined && document.querySelector('img, svg, iframe') === null"), "no text became markup")
    for complaint in browser.complaints():
        check(complaint.startswith(f"asked for {server.url}/"), f"the page asks its server alone and complains of nothing: {complaint}")
    return check.failed


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program", required=True)
    options.add_argument("--shots", type=pathlib.Path)
    options = options.parse_args()
    program = next(filter(None, map(shutil.which, [os.environ.get("RONDO_BROWSER", ""), *page_test.BROWSERS])), None)
    if program is None:
        print("skipped: chromium (an optional tool) is not installed")
        return 0
    server = Server(options.program)
    if server.url is None:
        server.close()
        print("skipped: no small model can be made here")
        return 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = page_test.Browser(program, f"{folder}/profile")
        try:
            failed = run(browser, server, options.shots)
        finally:
            browser.close()
            ended = server.close()
    failed += ended != 0
    print(f"serve_page_test: {failed} failed" if failed else "serve_page_test: all well")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
