"""Tests the page of `rondo check --html` in a real browser: what only a browser can tell.

Usage: python3 -m tools.testing.page_test --program build/release/rondo [--shots FOLDER] [--page FILE]

Two templates with known faults are checked, and the page is opened in headless Chromium, spoken to through its debugging pipe.
Nothing but Chromium is needed; where there is none, this says so and passes.  With --shots pictures
are written for people; with --page that page is taken in place of one that is made here, and only loaded and shown.
"""
import argparse
import base64
import contextlib
import json
import os
import pathlib
import select
import shutil
import subprocess
import sys
import tempfile
import time

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
PATIENCE_S = 30
# Breaks in three ways: history drops reasoning, content is stripped, arguments are serialised anew.
FAULTY = """{%- for m in messages %}
[[{{ m.role }}]]
{%- if m.role == 'assistant' and m.reasoning_content and loop.last %}<r>{{ m.reasoning_content }}</r>{% endif %}
{{- m.content.strip() if m.content else '' }}
{%- for call in m.tool_calls or [] %}<call>{"name": "{{ call.function.name }}", "arguments": {{ call.function.arguments | tojson }}}</call>{% endfor %}[[end]]
{%- endfor %}
{%- if add_generation_prompt %}[[assistant]]{% endif %}"""
SOUND = """{%- for m in messages %}[[{{ m.role }}]]{{ m.content }}[[end]]{% endfor %}
{%- if add_generation_prompt %}[[assistant]]{% endif %}"""


class Browser:
    """Headless Chromium at the other end of two pipes; one page."""

    def __init__(self, program, folder):
        to_browser, from_browser = os.pipe(), os.pipe()

        def arrange():  # the browser reads file descriptor 3 and writes 4
            ends = os.dup(to_browser[0]), os.dup(from_browser[1])
            os.dup2(ends[0], 3)
            os.dup2(ends[1], 4)

        flags = ["--headless=new", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run", "--disable-extensions",
                 "--disable-background-networking", "--disable-component-update", "--no-default-browser-check",
                 "--disable-dev-shm-usage", f"--user-data-dir={folder}"]
        flags += ["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else []
        self.process = subprocess.Popen([program, *flags], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, close_fds=False, preexec_fn=arrange)
        os.close(to_browser[0])
        os.close(from_browser[1])
        self.out, self.into = to_browser[1], from_browser[0]
        self.number, self.rest, self.events, self.session = 0, b"", [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")

    def close(self):
        with contextlib.suppress(OSError):
            os.close(self.out)
        self.process.kill()
        self.process.wait()
        os.close(self.into)

    def _message(self, deadline):
        while b"\0" not in self.rest:
            if not select.select([self.into], [], [], max(0, deadline - time.monotonic()))[0]:
                raise TimeoutError("the browser does not answer")
            piece = os.read(self.into, 1 << 16)
            if not piece:
                raise EOFError("the browser ended")
            self.rest += piece
        line, _, self.rest = self.rest.partition(b"\0")
        return json.loads(line)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.out, json.dumps(message).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE_S
        while True:
            answer = self._message(deadline)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        deadline = time.monotonic() + PATIENCE_S
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self._message(deadline))

    def open(self, path):
        self.events.clear()
        self.call("Page.navigate", url=str(path) if "://" in str(path) else pathlib.Path(path).resolve().as_uri())
        self.wait_for("Page.loadEventFired")

    def ask(self, expression):
        """The value of a JavaScript expression."""
        result = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            raise RuntimeError(result["exceptionDetails"]["exception"].get("description", expression))
        return result["result"].get("value")

    def press(self, key):
        text = {"Enter": "\r"}.get(key, key if len(key) == 1 else None)
        codes = {"Enter": 13, "Escape": 27, "Tab": 9, "ArrowDown": 40, "ArrowUp": 38, "ArrowRight": 39, "ArrowLeft": 37,
                 "Home": 36, "End": 35, " ": 32}
        common = {"key": key, "code": "Space" if key == " " else key,
                  "windowsVirtualKeyCode": codes.get(key) or ord(key.upper())}
        self.call("Input.dispatchKeyEvent", type="keyDown" if text else "rawKeyDown", **common, **({"text": text} if text else {}))
        self.call("Input.dispatchKeyEvent", type="keyUp", **common)

    def point_at(self, expression):
        """Moves the pointer over the middle of the first line of an element."""
        x, y = self.ask(f"""(() => {{ const element = {expression}; element.scrollIntoView({{ block: 'center' }});
            const box = element.getClientRects()[0]; return [box.x + box.width / 2, box.y + box.height / 2]; }})()""")
        self.call("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)

    def scheme(self, name):
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": name}])

    def size(self, width, height):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def shoot(self, path):
        path.write_bytes(base64.b64decode(self.call("Page.captureScreenshot")["data"]))

    def complaints(self):
        """Errors, warnings and requests since the page was opened."""
        found = []
        for event in self.events:
            method, parameters = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                found.append(parameters["exceptionDetails"]["exception"].get("description", "an exception"))
            elif method == "Runtime.consoleAPICalled":
                found.append(f"the console got a message of kind {parameters['type']}")
            elif method == "Log.entryAdded":
                found.append(parameters["entry"]["text"])
            elif method == "Network.requestWillBeSent" and parameters.get("type") != "Document":
                found.append(f"asked for {parameters['request']['url']}")
        return found


# The lowest contrast of any text that is shown, by WCAG's formula, with the text.  Colours are read back from a canvas,
# which knows every notation.
CONTRAST = """(() => {
  const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
  const rgba = (colour) => { canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return [...canvas.getImageData(0, 0, 1, 1).data]; };
  const over = (top, below) => top.slice(0, 3).map((value, i) => (value * top[3] + below[i] * (255 - top[3])) / 255);
  const behind = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(rgba(getComputedStyle(at).backgroundColor));
    return layers.reverse().reduce((below, top) => over(top, below), [255, 255, 255]);
  };
  const light = (colour) => colour.map((value) => { const c = value / 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; })
    .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);
  let worst = [99, ""];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.checkVisibility() || element.closest("script, option")) continue;
    const below = behind(element);
    const ink = over(rgba(getComputedStyle(element).color), below);
    const [a, b] = [light(ink), light(below)].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < worst[0]) worst = [ratio, walker.currentNode.data.trim().slice(0, 40) + " in ." + element.className];
  }
  return worst;
})()"""


class Checks:
    """Counts what holds; the first words of a line say what was expected."""

    def __init__(self):
        self.failed = 0

    def __call__(self, holds, what):
        if not holds:
            self.failed += 1
            print(f"page_test: not so: {what}")


def walk(browser, check):
    """The keys: into the table, to a case that breaks, into it, to its line, and back."""
    browser.ask("document.querySelector('table.cases [tabindex=\"0\"]').focus()")
    active = "document.activeElement"
    check(browser.ask(f"{active}.matches('table.cases th')"), "the table's first cell takes the focus")
    check(browser.ask("document.querySelectorAll('table.cases [tabindex=\"0\"]').length"
                      " === document.querySelectorAll('table.cases').length"), "one cell of each table is a tab stop")
    target = browser.ask("(() => { const rows = [...document.querySelector('table.cases').tBodies[0].rows].filter((row) => !row.hidden);"
                         " return rows.findIndex((row) => row.dataset.verdict === 'breaks' && row.dataset.case); })()")
    check(target >= 0, "a case of the faulty template breaks")
    for _ in range(target):
        browser.press("ArrowDown")
    check(browser.ask(f"{active}.parentElement.dataset.verdict") == "breaks", "the arrow key goes down by rows that are shown")
    browser.press("ArrowRight")
    check(browser.ask(f"{active}.cellIndex") == 1, "the arrow key goes right by cells")
    browser.press("ArrowLeft")
    browser.press("Enter")
    check(browser.ask(f"{active}.getAttribute('aria-expanded')") == "true", "Enter opens the case")
    detail = "document.querySelector('tr.detail .case')"
    check(browser.ask(f"{detail}?.checkVisibility()"), "the opened case is shown below its row")
    check(browser.ask(f"{detail}.querySelectorAll('del, ins').length") > 0, "what differs is marked")
    browser.press("Tab")
    check(browser.ask(f"{active}.matches('tr.detail *')"), "Tab goes on into the opened case")
    check(browser.ask(f"getComputedStyle({active}).outlineStyle") != "none", "the focus can be seen")
    if browser.ask(f"{active}.matches('a.place')"):
        browser.press("Enter")
        check(browser.ask("document.querySelectorAll('.l.lit').length") == 1, "the link of a cause lights its line")
    browser.press("Escape")
    check(browser.ask(f"{detail} === null && {active}.matches('th[aria-expanded=\"false\"]')"),
          "Escape closes the case and gives the focus back to its row")
    browser.press("Escape")
    check(browser.ask("document.querySelectorAll('.lit').length") == 0, "Escape lets go of lines")


def filters(browser, check):
    shown = ("[...document.querySelector('table.cases').tBodies[0].rows].filter((row) => !row.hidden)"
             ".map((row) => row.dataset.verdict)")
    everything = browser.ask(shown)
    choose = ("((name, value) => { const field = document.querySelector('.filters').elements[name]; field.value = value;"
              " field.dispatchEvent(new Event('input', { bubbles: true })); })")
    browser.ask(f"{choose}('verdict', 'breaks')")
    breaking = browser.ask(shown)
    check(0 < len(breaking) < len(everything) and set(breaking) == {"breaks"}, "the filter leaves what breaks")
    browser.ask(f"{choose}('verdict', '')")
    check(browser.ask(shown) == everything, "the filter gives back what it took")


def findings(browser, check):
    """Both ways between a finding and its line."""
    line = "document.querySelector('.l.blamed')"
    browser.ask(f"{line}.click()")
    check(browser.ask(f"{line}.matches('.lit') && [...document.querySelectorAll('.finding.lit')].some((finding) => finding.open"
                      f" && finding.dataset.line === {line}.id)"), "a line that is clicked opens its findings")
    browser.press("Escape")
    browser.ask("document.querySelector('.finding[data-line^=\"m\"] a.place').click()")
    check(browser.ask("document.querySelectorAll('.l.lit').length") == 1, "a finding's link lights its line")


def without_scripts(browser, check, page):
    """All of it can be read, and a link to a case opens it."""
    browser.call("Emulation.setScriptExecutionDisabled", value=True)
    browser.open(page)
    check(browser.ask("document.querySelector('.bodies').checkVisibility()"), "without scripts the cases are listed")
    check(not browser.ask("document.querySelector('.filters').checkVisibility()"), "without scripts there are no filters")
    link = browser.ask("document.querySelector('table.cases th a').hash")
    browser.call("Page.navigate", url=pathlib.Path(page).resolve().as_uri() + link)
    check(browser.ask(f"document.querySelector('{link}').checkVisibility()"), "without scripts a link opens its case")
    browser.call("Emulation.setScriptExecutionDisabled", value=False)


def many(browser, check, options, folder):
    """Of many templates each is folded; links open what they lead to."""
    browser.open(make_page(options.program, folder, 3))
    check(browser.ask("[...document.querySelectorAll('details.model')].every((model) => !model.open)"), "many templates are folded")
    browser.ask("document.querySelectorAll('nav a')[1].click()")
    model = "document.querySelectorAll('details.model')[1]"
    check(browser.ask(f"{model}.open"), "the index opens a template")
    link = browser.ask("document.querySelectorAll('details.model')[2].querySelector('table.cases th a').hash")
    browser.ask(f"location.hash = '{link}'")
    browser.ask("new Promise((done) => setTimeout(done, 0))")
    check(browser.ask(f"document.querySelector('{link}').closest('tr.detail').checkVisibility()"), "an address with a case opens it")


def layout(browser, check, width):
    browser.size(width, 800)
    check(browser.ask("document.documentElement.scrollWidth <= innerWidth"),
          f"at {width} pixels nothing sticks out ({browser.ask('document.documentElement.scrollWidth')})")


def make_page(program, folder, times=1):
    names = []
    for name, text in (("faulty", FAULTY), ("sound", SOUND)) * times:
        (folder / f"{name}.jinja").write_text(text, encoding="utf-8")
        names.append(str(folder / f"{name}.jinja"))
    page = folder / "check.html"
    done = subprocess.run([program, "check", *names, "--html", str(page), "--fail-on", "never"], capture_output=True,
                          text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"page_test: rondo check failed: {done.stderr}")
    return page


def shots(browser, folder):
    folder.mkdir(parents=True, exist_ok=True)
    for name, scheme, width in (("light", "light", 1440), ("dark", "dark", 1440), ("narrow", "light", 420)):
        browser.scheme(scheme)
        browser.size(width, 1100)
        browser.shoot(folder / f"{name}.png")
        browser.ask("document.querySelector('tr.detail')?.scrollIntoView({block: 'center'})")
        browser.shoot(folder / f"{name}-case.png")
        browser.ask("scrollTo(0, 0)")


def run(browser, options, folder):
    check = Checks()
    if options.page:
        browser.open(options.page)
    else:
        page = make_page(options.program, folder)
        without_scripts(browser, check, page)
        browser.open(page)
        browser.scheme("light")
        browser.size(1280, 800)
        walk(browser, check)
        filters(browser, check)
        findings(browser, check)
    browser.ask("document.querySelector('table.cases tr[data-verdict=breaks].opens > *')?.click()")
    for scheme in ("light", "dark"):
        browser.scheme(scheme)
        ratio, text = browser.ask(CONTRAST)
        check(ratio >= 4.5, f"text can be read in the {scheme} scheme; `{text}` has a contrast of {ratio:.2f}")
    for width in (1280, 800, 360):
        layout(browser, check, width)
    if options.shots:
        shots(browser, options.shots)
    complaints = browser.complaints()
    if not options.page:
        many(browser, check, options, folder)
        complaints += browser.complaints()
    for complaint in complaints:
        check(False, f"the page loads nothing and complains of nothing: {complaint}")
    return check.failed


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--program")
    options.add_argument("--page")
    options.add_argument("--shots", type=pathlib.Path)
    options = options.parse_args()
    program = next(filter(None, map(shutil.which, [os.environ.get("RONDO_BROWSER", ""), *BROWSERS])), None)
    if program is None:
        print("skipped: chromium (an optional tool) is not installed")
        return 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        try:
            browser = Browser(program, f"{folder}/profile")
        except (EOFError, TimeoutError, OSError) as error:
            print(f"page_test: {program} does not start here: {error}")
            return 1
        try:
            failed = run(browser, options, pathlib.Path(folder))
        finally:
            browser.close()
    print(f"page_test: {failed} failed" if failed else "page_test: all well")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
