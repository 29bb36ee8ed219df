"""Tests the playground in a real browser, from its file; called by playground.py."""
import json
import os
import pathlib
import shutil
import tempfile
import time

from tools.dependencies import cache
from tools.testing import page_test

PATIENCE_S = 60
HOSTILE = '<img src=x onerror="window.pwned=1"><|im_end|>'
ENDLESS = "{% macro f(n) %}{% for i in range(100000) %}{{ f(n + 1) }}{% endfor %}{% endmacro %}{{ f(0) }}"


def until(browser, expression):
    """The expression's value once it is true; what it was last where it does not become so."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        value = browser.ask(expression)
        if value or time.monotonic() > deadline:
            return value
        time.sleep(0.05)


def write(browser, field, text):
    browser.ask(f"(() => {{ const field = document.getElementById('{field}'); field.value = {json.dumps(text)};"
                " field.dispatchEvent(new Event('input')); })()")


PROMPT = "document.getElementById('prompt').textContent"
ABOUT = "document.getElementById('about').textContent"
TROUBLE = "document.getElementById('trouble').textContent"
NOTE = "document.getElementById('note').textContent"
LIT = "[...document.querySelectorAll('#gutter .on')].map((line) => line.textContent.trim()).join()"


def prompts(browser, check):
    check(until(browser, f"{PROMPT}.includes('What is the weather in Paris?')"), "the first example is rendered")
    check("°C" in (until(browser, "document.getElementById('parsed').textContent") or ""), "its answer is parsed")
    browser.ask("document.getElementById('prompt').focus()")
    for _ in range(2):
        browser.press("ArrowRight")
    check("comes from messages[" in browser.ask(ABOUT) or "template, line" in browser.ask(ABOUT), "the arrow keys tell where a part is from")
    browser.press("End")
    check(browser.ask("document.querySelectorAll('#gutter .on').length") == 1, "the template's line is lit")
    write(browser, "request", json.dumps([{"role": "user", "content": HOSTILE}]))
    check(until(browser, f"{PROMPT}.includes('onerror')"), "other messages are rendered")
    check(browser.ask("[...document.querySelectorAll('#prompt .data')].some((part) => part.textContent.includes('onerror'))"),
          "what came from a message is coloured")
    check(browser.ask("document.querySelector('#prompt img') === null"), "hostile words stay text")
    write(browser, "answer", 'Hm.\n<tool_call>\n{"name": "f", "arguments": {"a": 1}}\n</tool_call>')
    check(until(browser, "document.getElementById('parsed').textContent.includes('f({\"a\": 1})')"), "a call in the answer is read")


def pointing(browser, check):
    """Over the first example."""
    browser.point_at("[...document.querySelectorAll('#prompt .data')].find((part) => part.textContent.includes('in Paris?'))")
    check(until(browser, f"/comes from messages.*content.*role user/.test({ABOUT})"), "the pointer over a message's text tells its field")
    check(browser.ask(LIT) == "", "which has no line of the template")
    browser.point_at("[...document.querySelectorAll('#prompt .template-text')].find((part) => part.textContent.trim() !== '')")
    line = until(browser, f"/is written by the template, line (\\d+)/.exec({ABOUT})?.[1]")
    check(line is not None, "the pointer over the template's text tells its line")
    check(browser.ask(LIT) == line, "and that line is lit")


def mistakes(browser, check):
    write(browser, "request", '[{"role": "user", ]')
    check("no JSON" in (until(browser, TROUBLE) or ""), "broken JSON is said")
    write(browser, "request", "{}")
    check(until(browser, f"{TROUBLE}.includes('`messages`')"), "messages that are missing are said")
    write(browser, "request", "[]")
    write(browser, "template", "line one\n{{ x")
    check(until(browser, f"{TROUBLE}.includes('Template, line 2')"), "a broken template is said, with its line")
    write(browser, "template", ENDLESS)
    check(until(browser, f"{TROUBLE} !== '' && !{TROUBLE}.includes('line 2')"), "a template without end is given up")
    write(browser, "template", "fine again {{ messages | length }}")
    check(until(browser, f"{PROMPT} === 'fine again 0' && document.getElementById('trouble').hidden"), "and the page goes on")


def findings(browser, check):
    write(browser, "request", json.dumps([{"role": "user", "content": "Hi"}]))
    write(browser, "template", page_test.FAULTY)
    browser.ask("document.getElementById('check').click()")
    check(until(browser, "document.querySelectorAll('.finding.warning, .finding.error').length > 0"), "a check finds what breaks")
    check(browser.ask("document.querySelectorAll('#gutter .warning, #gutter .error').length") > 0, "its lines are marked in the margin")
    browser.ask("document.querySelector('.finding button').click()")
    check(browser.ask("document.activeElement.id === 'template' && getSelection !== null"
                      " && document.activeElement.selectionEnd > document.activeElement.selectionStart"), "a finding leads to its line")
    browser.ask("document.getElementById('mend').click()")
    check(until(browser, "document.querySelector('#findings .diff') !== null"), "mending shows what it would change")
    before = browser.ask("document.getElementById('template').value")
    browser.ask("[...document.querySelectorAll('#findings button')].at(-1).click()")
    check(browser.ask("document.getElementById('template').value") != before, "the mended template can be taken")


def links(browser, check, page):
    write(browser, "template", "{{ messages[0].content }} é\n")
    browser.ask("document.getElementById('link').click()")
    check(until(browser, "location.hash.length > 20"), "a link holds the state")
    address = browser.ask("location.href")
    browser.open("about:blank")
    browser.open(address)
    check(until(browser, f"{PROMPT} === 'Hi é'"), "and brings it back")
    browser.open("about:blank")
    browser.open(page.resolve().as_uri() + "#AAAA")
    check(until(browser, f"{NOTE}.includes('damaged')"), "a damaged link is said")
    check(until(browser, f"{PROMPT}.length > 50"), "and the first example is there")


def files(browser, check):
    folder = cache.REPO / "examples" / "model"
    parts = [[name, (folder / name).read_text(encoding="utf-8")] for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja")]
    browser.ask(f"""(() => {{ const box = new DataTransfer();
        for (const [name, text] of {json.dumps([*parts, ['weights.bin', 'x']])}) box.items.add(new File([text], name));
        document.dispatchEvent(new DragEvent('drop', {{ bubbles: true, cancelable: true, dataTransfer: box }})); }})()""")
    check(until(browser, "/\\d+ tokens/.test(document.getElementById('counts').textContent)"), "dropped model files give tokens")
    check("weights.bin" in browser.ask(NOTE), "a file that is no part of a model is named")
    browser.ask("document.getElementById('prompt').focus()")
    browser.press("Home")
    check("Token id" in browser.ask(ABOUT), "a part tells its token")
    write(browser, "request", json.dumps([{"role": "user", "content": HOSTILE}]))
    check(until(browser, "document.getElementById('counts').textContent.includes('stay text')"), "words like control tokens are told")


def looks(browser, check, shots):
    browser.ask("(() => { const list = document.getElementById('example'); list.selectedIndex = 1; list.dispatchEvent(new Event('change')); })()")
    until(browser, f"{PROMPT}.includes('only text here')")
    browser.ask("document.getElementById('check').click()")
    until(browser, "document.querySelectorAll('.finding').length > 0")
    browser.ask("document.getElementById('prompt').focus()")
    browser.press("Home")
    browser.press("ArrowRight")
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        ratio, text = browser.ask(page_test.CONTRAST)
        check(ratio >= 4.5, f"text can be read in the {scheme} scheme; `{text}` has a contrast of {ratio:.2f}")
        for name, width, height in (("wide", 1360, 1250), ("phone", 390, 844)):
            browser.size(width, height)
            check(browser.ask("document.documentElement.scrollWidth <= innerWidth"), f"nothing stands out of a page {width} pixels wide")
            if shots:
                shots.mkdir(parents=True, exist_ok=True)
                browser.shoot(shots / f"{name}-{scheme}.png")
    browser.size(1360, 900)
    browser.ask("document.getElementById('theme').click()")
    check(browser.ask("getComputedStyle(document.documentElement).colorScheme") == "light", "the switch overrules the system")


def run(page, shots):
    """0 where all is well, or where there is no browser."""
    program = next(filter(None, map(shutil.which, [os.environ.get("RONDO_BROWSER", ""), *page_test.BROWSERS])), None)
    if program is None:
        print("skipped: chromium (an optional tool) is not installed")
        return 0
    check = page_test.Checks()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = page_test.Browser(program, pathlib.Path(folder) / "profile")
        try:
            browser.size(1360, 900)
            browser.open(page)
            until(browser, f"{PROMPT}.includes('in Paris?')")
            pointing(browser, check)
            prompts(browser, check)
            mistakes(browser, check)
            findings(browser, check)
            links(browser, check, page)
            files(browser, check)
            looks(browser, check, shots)
            check(browser.ask("window.pwned === undefined"), "no text became markup")
            for complaint in browser.complaints():
                check("data:" in complaint or "blob:" in complaint, f"the page asks nobody and complains of nothing: {complaint}")
        finally:
            browser.close()
    print(f"playground_test: {check.failed} failed" if check.failed else "playground_test: all well")
    return 1 if check.failed else 0
