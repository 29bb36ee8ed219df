// A session's turns as bars, and a turn's tokens.

// What of a turn's prompt the engine had, computed once more, and computed because it is new.  Without the engine's word,
// what it should have had counts as reused.
function partsOf(turn) {
  const isKnown = turn.cached !== null && turn.cached !== undefined;
  const reused = Math.min(isKnown ? turn.cached : turn.expected, turn.prompt_tokens);
  const appended = Math.min(turn.appended, turn.prompt_tokens - reused);
  return { isKnown, reused, appended, prefilled: turn.prompt_tokens - reused - appended, sampled: turn.completion_tokens };
}

function barOf(turn) {
  const parts = partsOf(turn);
  const bar = make("span", { className: "bar", "aria-hidden": "true",
    vars: { "--n": turn.prompt_tokens + turn.completion_tokens } });
  const add = (style, size) => { if (size > 0) bar.append(make("span", { className: style, vars: { "--n": size } })); };
  add(parts.isKnown ? "reused" : "guess", parts.reused);
  add("prefilled", parts.prefilled);
  add("appended", parts.appended);
  add("sampled-part", parts.sampled);
  return bar;
}

function numbersOf(turn) {
  const parts = partsOf(turn);
  const numbers = [[parts.reused, parts.isKnown ? "reused" : "expected to be reused"], [parts.prefilled, "prefilled"],
    [parts.appended, "appended"], [parts.sampled, "sampled"]];
  return numbers.filter(([number]) => number > 0).map(([number, word]) => make("span", {}, make("b", {}, count(number)), ` ${word}`));
}

const HOW = { render: "rendered", bridge: "bridged", "raw-turns": "raw turns", passthrough: "passed through" };
const WHY = {
  render: "The template wrote the whole prompt: nothing of it was known.",
  bridge: "Known ids, unchanged, and the new turn behind them.",
  "raw-turns": "Something earlier was changed; turns stand in the prompt as they were sampled.",
  passthrough: "The request was passed on as it came.",
};

// As a whole sentence.
const whole = (text, end = ".") => String(text).slice(0, 1).toUpperCase() + String(text).slice(1).replace(/\.$/, "") + end;

// Why tokens had to be computed that the engine was given before; null where none had to be.
function causeOf(turn) {
  if (turn.cause) {
    const lost = turn.cause.lost_tokens ? `: ${many(turn.cause.lost_tokens, "token")} lost.` : ".";
    const box = make("span", { className: "cause" }, whole(turn.cause.sentence || turn.cause.name, lost));
    if (turn.cause.template_line) box.append(" ", make("code", {}, `template line ${turn.cause.template_line}`));
    if (turn.cause.path) box.append(" ", make("code", {}, turn.cause.path));
    return box;
  }
  const parts = partsOf(turn);
  const again = turn.expected - parts.reused;
  if (!parts.isKnown || again <= 1) return null;  // the last token is always computed
  const style = again > 64 && again * 10 > turn.expected ? "cause" : "cause mild";
  return make("span", { className: style }, `The engine computed ${many(again, "token")} again that it was given before: ` +
    (style === "cause" ? "it did not have them any more." : "engines keep whole blocks."));
}

function turnItem(turn) {
  const isOdd = turn.parent === null ? turn.index > 0 : turn.parent !== turn.index - 1;
  const from = isOdd ? make("small", {}, turn.parent === null ? "anew" : `from ${turn.parent + 1}`) : "";
  const button = make("button", { type: "button", "aria-expanded": "false", title: WHY[turn.how] ?? "" },
    make("span", { className: "index" }, String(turn.index + 1), from),
    barOf(turn),
    make("span", { className: "side" }, make("b", {}, HOW[turn.how] ?? String(turn.how)),
      turn.finish === "stop" ? "" : ` · ${turn.finish}`),
    make("span", { className: "numbers" }, ...numbersOf(turn)),
    make("span", { className: "when", title: at(turn.time) }, new Date(turn.time).toLocaleTimeString()),
    causeOf(turn));
  for (const note of turn.notes ?? []) button.append(make("span", { className: "cause mild" }, whole(note)));
  if (turn.inexact) button.append(make("span", { className: "cause mild" }, "Its ids are not certain: the engine did not tell all of them."));
  button.addEventListener("click", () => {
    const isOpen = button.getAttribute("aria-expanded") === "true";
    location.hash = isOpen ? `#/s/${view.id}` : `#/s/${view.id}/${turn.index}`;
  });
  return make("li", { className: "turn" }, button);
}

// --- The session that is shown

const view = { id: null, sign: "", turns: [], openTurn: -1 };

function legend() {
  const entry = (style, word) => make("span", {}, make("i", { className: style }), word);
  return make("p", { className: "legend", "aria-hidden": "true" }, entry("reused", "reused"), entry("prefilled", "prefilled"),
    entry("appended", "appended"), entry("sampled-part", "sampled"));
}

function figuresOf(session) {
  const figure = (word, value, style = "") => make("div", {}, make("dt", {}, word), make("dd", { className: style }, value));
  return [figure("Turns", count(session.turns)), figure("Branches", count(session.branches)),
    figure("Prompt tokens", count(session.prompt_tokens)),
    figure("Reused", percent(session.cached_tokens, session.prompt_tokens)),
    figure("Breaks", count(session.breaks), session.breaks > 0 ? "bad" : "good")];
}

function sentenceOf(session) {
  const span = session.last > session.first ? `, ${at(session.first)} to ${new Date(session.last).toLocaleTimeString()}` : "";
  return `${session.model}${span}. ` + (session.breaks > 0
    ? "Where a prompt does not begin with what the engine was given before, the cause stands below its bar."
    : "Every prompt begins with what the engine was given before.");
}

async function saveTraining(session) {
  const blob = await (await ask(`/rondo/v1/sessions/${session.id}/training`)).blob();
  const link = make("a", { href: URL.createObjectURL(blob), download: `${nameOf(session).replace(/[^\w.-]+/g, "-")}.jsonl` });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

async function forget(session) {
  if (!confirm(`Forget ${nameOf(session)} and its ${many(session.turns, "turn")}?`)) return;
  await ask(`/rondo/v1/sessions/${session.id}`, { method: "DELETE" });
  location.hash = "#/";
  watch();
}

function buildSession(session) {
  const act = (word, what, style = "") => {
    const button = make("button", { type: "button", className: `plain ${style}` }, word);
    button.addEventListener("click", () => what(session).catch((error) => trouble(`${error.message}.`)));
    return button;
  };
  byId("session").replaceChildren(
    make("header", {}, make("a", { className: "back", href: "#/" }, "← All sessions"), make("h2", {}, nameOf(session)),
      make("div", { className: "actions" }, act("Save for training", saveTraining), act("Forget", forget, "danger"))),
    make("p", { className: "lead", id: "session-lead" }), make("dl", { className: "figures", id: "session-figures" }), legend(),
    make("ol", { className: "turns", id: "turns", "aria-label": "Turns" }));
}

function welcome() {
  const base = location.origin;
  const body = '{"messages": [{"role": "user", "content": "hello"}]}';
  byId("session").replaceChildren(make("div", { className: "empty" },
    make("h2", {}, "Nothing was asked yet"),
    make("p", {}, "Point a client at this server, and its conversations appear here: what of each prompt was reused, and why not where it was not."),
    make("pre", {}, `curl ${base}/v1/chat/completions \\\n  -d '${body}'`),
    make("pre", {}, `OPENAI_BASE_URL=${base}/v1\nANTHROPIC_BASE_URL=${base}`),
    make("p", {}, "Or ", make("a", { href: "#/chat" }, "try the model here"), ".")));
}

function missing() {
  byId("session").replaceChildren(make("div", { className: "empty" }, make("h2", {}, "There is no such session"),
    make("p", {}, "It was forgotten, or this server never had it. ", make("a", { href: "#/" }, "All sessions"))));
}

async function showSession() {
  const session = currentSession();
  if (!session) {
    view.id = null;
    if (shown.isLoaded) (shown.id ? missing : welcome)();
    return;
  }
  const sign = JSON.stringify(session);
  if (view.id !== session.id) {
    Object.assign(view, { id: session.id, sign: "", turns: [], openTurn: -1 });
    buildSession(session);
  }
  if (view.sign !== sign) {
    const body = await askJson(`/rondo/v1/sessions/${session.id}`);
    if (view.id !== session.id) return;  // another was chosen meanwhile
    view.sign = sign;
    view.turns = body.turns;
    byId("session-lead").textContent = sentenceOf(session);
    byId("session-figures").replaceChildren(...figuresOf(session));
    const most = Math.max(1, ...view.turns.map((turn) => turn.prompt_tokens + turn.completion_tokens));
    byId("turns").style.setProperty("--max", most);
    fill(byId("turns"), view.turns, (turn) => turn.id ?? String(turn.index), turnItem);
    if (!byId("turns").querySelector(".tokens")) view.openTurn = -1;
  }
  await openTurn(shown.turn);
}

// --- Tokens

// A caller may have asked for another turn while the tokens of one were on their way.
async function openTurn(index) {
  if (view.openTurn === index) return;
  view.openTurn = index;
  for (const open of document.querySelectorAll(".tokens")) open.remove();
  for (const button of document.querySelectorAll("#turns [aria-expanded=true]")) button.setAttribute("aria-expanded", "false");
  const item = byId("turns")?.children[index];
  if (!item) return;
  item.firstElementChild.setAttribute("aria-expanded", "true");
  const id = view.id;
  const tokens = await askJson(`/rondo/v1/sessions/${id}/tokens?turn=${index}&texts=1`);
  if (view.id !== id || view.openTurn !== index || !item.isConnected) return;
  item.append(tokenPanel(tokens, view.turns[index]));
  if (document.activeElement === document.body) item.firstElementChild.focus({ preventScroll: true });
  item.scrollIntoView({ block: "nearest" });
}

const ROLES = ["system", "user", "assistant", "tool"];
function roleOf(tokens, i) {
  const owner = tokens.owners[i];
  if (owner < 0) return "scaffold";
  const role = tokens.roles?.[owner] ?? "";
  if (role === "developer") return "system";
  return ROLES.includes(role) ? role : "other";
}

// Controls become their pictures; the ends of lines are marked and kept.
function tokenText(text) {
  const nodes = [];
  String(text).split("\n").forEach((line, i) => {
    if (i > 0) nodes.push(make("span", { className: "w" }, "↵"), "\n");
    if (line) nodes.push(line.replace(/[\u0000-\u0008\u000b-\u001f]/g, (c) => String.fromCharCode(0x2400 + c.charCodeAt(0))));
  });
  return nodes.length > 0 ? nodes : [make("span", { className: "w" }, "·")];
}

function tokenSpan(tokens, i) {
  const sampled = tokens.sampled[i] ? " s" : "";
  return make("span", { className: `t${sampled}`, "data-i": String(i) }, ...tokenText(tokens.texts?.[i] ?? ""));
}

const STEP = 4000;  // how many tokens are shown at first, and with each further step

function blocksOf(tokens, turn, begin) {
  const parts = partsOf(turn);
  const blocks = [];
  let pre = null;
  for (let i = begin; i < tokens.ids.length; ++i) {
    const isEdge = i === begin || tokens.owners[i] !== tokens.owners[i - 1];
    if (isEdge) {
      const role = roleOf(tokens, i);
      pre = make("pre", {});
      const who = role === "other" ? String(tokens.roles?.[tokens.owners[i]] || "other") : role;
      const which = tokens.owners[i] >= 0 ? make("small", {}, `message ${tokens.owners[i]}`) : make("small", {}, "template");
      blocks.push(make("div", { className: `block ${role}` }, make("div", { className: "who" }, who, which), pre));
    }
    if (i === parts.reused && i > 0 && parts.isKnown) pre.append(make("span", { className: "edge" }, `${count(i)} reused up to here`));
    if (i === tokens.prompt_tokens) pre.append(make("span", { className: "edge end" }, "sampled from here"));
    pre.append(tokenSpan(tokens, i));
  }
  return blocks;
}

function tokenLegend(tokens) {
  const roles = new Set(tokens.ids.map((_, i) => roleOf(tokens, i)));
  const entries = [...roles].map((role) => make("span", { className: role }, make("span", { className: "t" }, role)));
  return make("span", { className: "legend" }, ...entries, make("span", { className: "assistant" }, make("span", { className: "t s" }, "sampled")));
}

function aboutToken(tokens, i) {
  const logprob = tokens.logprobs[i];
  const owner = tokens.owners[i];
  const parts = [make("code", {}, JSON.stringify(tokens.texts?.[i] ?? "")), ` id ${tokens.ids[i]}, the ${count(i + 1)}. of ${count(tokens.ids.length)}`,
    owner < 0 ? ", of no message" : `, message ${owner} (${roleOf(tokens, i)})`, tokens.sampled[i] ? ", sampled" : ", written by the template"];
  if (logprob !== null && logprob !== undefined) parts.push(`, probability ${(100 * Math.exp(logprob)).toFixed(1)} %`);
  return parts;
}

function tokenPanel(tokens, turn) {
  let begin = Math.max(0, tokens.ids.length - STEP);
  let current = -1;
  const flow = make("div", { className: "flow", tabIndex: 0, role: "group", "aria-label": "Tokens; the arrow keys go through them" });
  const about = make("p", { className: "about-token", "aria-live": "polite" }, "Point at a token, or go through them with the arrow keys.");
  const earlier = make("button", { type: "button", className: "plain" });
  const draw = () => {
    flow.replaceChildren(...blocksOf(tokens, turn, begin));
    earlier.hidden = begin === 0;
    earlier.textContent = `Show ${many(Math.min(begin, STEP), "earlier token")} of ${count(begin)}`;
  };
  const choose = (i, isScrolled) => {
    flow.querySelector(".t.on")?.classList.remove("on");
    const span = flow.querySelector(`[data-i="${i}"]`);
    if (!span) return;
    current = i;
    span.classList.add("on");
    if (isScrolled) span.scrollIntoView({ block: "nearest" });
    about.replaceChildren(...aboutToken(tokens, i));
  };
  earlier.addEventListener("click", () => { begin = Math.max(0, begin - STEP); draw(); });
  flow.addEventListener("pointerover", (event) => {
    const span = event.target.closest(".t");
    if (span) choose(Number(span.dataset.i), false);
  });
  flow.addEventListener("keydown", (event) => {
    const last = tokens.ids.length - 1;
    const next = { ArrowRight: current + 1, ArrowLeft: current - 1, Home: begin, End: last }[event.key];
    if (next === undefined) return;
    event.preventDefault();
    event.stopPropagation();
    choose(Math.min(Math.max(next, begin), last), true);
  });
  draw();
  const size = `${many(tokens.prompt_tokens, "token")} of prompt, ${count(tokens.ids.length - tokens.prompt_tokens)} sampled`;
  return make("div", { className: "tokens" }, make("header", {}, make("span", {}, size), tokenLegend(tokens), earlier), flow, about);
}
