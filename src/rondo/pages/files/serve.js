"use strict";
// The page of `rondo serve`: what is shared, the list of sessions, keys and views.  serve_turns.js shows a session's turns
// and tokens, serve_chat.js the chat.  All that comes from the server becomes text, never markup.
const byId = (id) => document.getElementById(id);
const POLL_MS = 2000;
const PAGE_SIZE = 50;

// An element.  `props` are properties, but for `data-`, `aria-` and `role`, which are attributes, and `vars`, its variables
// for the style sheet.  Strings among the children become text.
function make(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name === "vars") for (const [key, number] of Object.entries(value)) element.style.setProperty(key, number);
    else if (/^(data|aria)-|^role$/.test(name)) element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.filter((child) => child !== null && child !== undefined && child !== false));
  return element;
}

const counted = new Intl.NumberFormat("en-GB");
const count = (number) => counted.format(number ?? 0);
const many = (number, one, more = one + "s") => `${count(number)} ${number === 1 ? one : more}`;

function percent(part, whole) {
  if (!whole) return "–";
  const share = (100 * part) / whole;
  return share > 99 && share < 100 ? `${Math.floor(share * 10) / 10} %` : `${Math.round(share)} %`;
}

function ago(ms) {
  const seconds = Math.max(0, (Date.now() - ms) / 1000);
  if (seconds < 60) return "just now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h ago`;
  return new Date(ms).toLocaleDateString();
}
const at = (ms) => new Date(ms).toLocaleString();

// --- The server

class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

const kept = {  // storage may be forbidden; then nothing is kept
  read(store, name) { try { return store().getItem(name) ?? ""; } catch { return ""; } },
  write(store, name, value) { try { store().setItem(name, value); } catch { /* not kept */ } },
};
const ofTab = () => sessionStorage;
const ofBrowser = () => localStorage;

async function ask(path, options = {}) {
  const key = kept.read(ofTab, "rondo-key");
  const headers = { ...options.headers, ...(key ? { authorization: `Bearer ${key}` } : {}) };
  const response = await fetch(path, { ...options, headers });
  if (response.ok) return response;
  let message = `the server answered with status ${response.status}`;
  try {
    message = (await response.json()).error.message ?? message;
  } catch { /* no JSON: the status has to do */ }
  if (response.status === 401) askForKey(key !== "");
  throw new Refused(response.status, String(message));
}
const askJson = async (path) => (await ask(path)).json();

function askForKey(wasWrong) {
  if (byId("ask-key").open) return;
  byId("key-wrong").hidden = !wasWrong;
  byId("key").value = "";
  byId("ask-key").showModal();
}

byId("key-form").addEventListener("submit", () => {
  kept.write(ofTab, "rondo-key", byId("key").value.trim());
  byId("key").blur();  // a browser lets go of a closed dialog's field only when it draws next, and takes keys for it until then
  readModels();
  watch();
});

function trouble(sentence) {
  if (byId("trouble").textContent !== sentence) byId("trouble").textContent = sentence;
  byId("trouble").hidden = sentence === "";
}

// --- A list whose elements stay while they say the same, so that the focus does

function fill(list, items, keyOf, build) {
  const old = new Map([...list.children].map((child) => [child.dataset.key, child]));
  let place = list.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    const sign = JSON.stringify(item);
    let child = old.get(key);
    if (child?.dataset.sign !== sign) {
      const had = child?.contains(document.activeElement);
      const fresh = build(item);
      fresh.dataset.key = key;
      fresh.dataset.sign = sign;
      if (child) {
        if (place === child) place = child.nextElementSibling;
        child.remove();
      }
      child = fresh;
      list.insertBefore(child, place);
      if (had) child.querySelector("button")?.focus();
    } else if (child === place) {
      place = place.nextElementSibling;
    } else {
      list.insertBefore(child, place);
    }
    old.delete(key);
  }
  for (const child of old.values()) child.remove();
}

// --- Sessions

const shown = { sessions: [], wanted: PAGE_SIZE, id: "", turn: -1, isLoaded: false, models: [] };
const nameOf = (session) => session.name || session.id.slice(0, 8);

function sessionRow(session) {
  const share = session.prompt_tokens ? session.cached_tokens / session.prompt_tokens : 0;
  const branches = session.branches > 1 ? ` · ${many(session.branches, "branch", "branches")}` : "";
  const breaks = session.breaks > 0 && make("span", { className: "breaks" }, ` · ${many(session.breaks, "break")}`);
  const button = make("button", { type: "button", title: session.id, tabIndex: -1 },
    make("span", { className: "ring", vars: { "--share": share }, "aria-hidden": "true" }),
    make("span", { className: "name" }, nameOf(session)),
    make("span", { className: "when", title: at(session.last), "data-time": session.last }, ago(session.last)),
    make("span", { className: "under" }, `${many(session.turns, "turn")}${branches} · ` +
      `${percent(session.cached_tokens, session.prompt_tokens)} reused`, breaks));
  button.addEventListener("click", () => { location.hash = `#/s/${session.id}`; });
  return make("li", {}, button);
}

function showTotals() {
  const sum = (field) => shown.sessions.reduce((total, session) => total + (session[field] ?? 0), 0);
  const [prompt, cached, breaks] = [sum("prompt_tokens"), sum("cached_tokens"), sum("breaks")];
  byId("ring").style.setProperty("--share", prompt ? cached / prompt : 0);
  byId("ring").title = `${percent(cached, prompt)} of all prompt tokens reused`;
  const figure = (word, value) => make("div", {}, make("dt", {}, word), make("dd", {}, value));
  byId("totals").replaceChildren(figure("Prompt tokens", count(prompt)), figure("Reused", percent(cached, prompt)),
    figure("Turns", count(sum("turns"))), figure("Breaks", count(breaks)));
  byId("totals").hidden = shown.sessions.length === 0;
}

// The session that is chosen; without a choice the newest, so that the page follows what happens.
const currentSession = () => (shown.id ? shown.sessions.find((one) => [one.id, one.name].includes(shown.id))
  : shown.sessions[0]);

function mark(element, isCurrent) {
  if (isCurrent) element.setAttribute("aria-current", "true");
  else element.removeAttribute("aria-current");
}

function showSessions() {
  const current = currentSession();
  fill(byId("sessions"), shown.sessions, (session) => session.id, sessionRow);
  for (const time of byId("sessions").querySelectorAll("[data-time]")) time.textContent = ago(Number(time.dataset.time));
  for (const item of byId("sessions").children) {
    const button = item.firstElementChild;
    const isCurrent = item.dataset.key === current?.id;
    mark(button, isCurrent);
    button.tabIndex = isCurrent ? 0 : -1;
  }
  const buttons = [...byId("sessions").querySelectorAll("button")];
  if (buttons.length > 0 && !buttons.some((button) => button.tabIndex === 0)) buttons[0].tabIndex = 0;
  byId("more").hidden = shown.sessions.length < shown.wanted;
  showTotals();
}

async function readSessions() {
  const body = await askJson(`/rondo/v1/sessions?limit=${shown.wanted}`);
  shown.sessions = body.sessions.sort((a, b) => b.last - a.last);
  shown.isLoaded = true;
  showSessions();
  await showSession();
}

byId("more").addEventListener("click", () => {
  shown.wanted += PAGE_SIZE;
  watch();
});

let timer = 0;
let wait = POLL_MS;
let isAsking = false;
async function watch() {
  clearTimeout(timer);
  if (isAsking) return;
  isAsking = true;
  try {
    if (document.visibilityState === "visible" && !byId("ask-key").open) await readSessions();
    trouble("");
    wait = POLL_MS;
  } catch (error) {
    wait = Math.min(wait * 2, 16000);
    const reason = error instanceof Refused ? error.message : "it can't be reached";
    if (!(error instanceof Refused && error.status === 401)) trouble(`The server does not tell of its sessions: ${reason}.`);
  }
  isAsking = false;
  timer = setTimeout(watch, wait);
}
document.addEventListener("visibilitychange", () => { if (document.visibilityState === "visible") watch(); });

async function readModels() {
  try {
    shown.models = (await askJson("/v1/models")).data.map((model) => model.id);
    byId("served").replaceChildren("serving ", make("b", {}, shown.models.join(", ")));
    document.title = `${shown.models[0]} · rondo`;
    byId("model").replaceChildren(...shown.models.map((name) => make("option", { value: name }, name)));
  } catch { /* the list of sessions says what is wrong */ }
}

// --- Views and addresses: #/, #/s/SESSION, #/s/SESSION/TURN, #/chat

function route() {
  const parts = location.hash.split("/").slice(1).map((part) => { try { return decodeURIComponent(part); } catch { return ""; } });
  const isChat = parts[0] === "chat";
  byId("view-chat").hidden = !isChat;
  byId("view-sessions").hidden = isChat;
  const links = byId("views").children;
  mark(links[0], !isChat);
  mark(links[1], isChat);
  if (isChat) return byId("words").focus();
  const id = parts[0] === "s" ? parts[1] ?? "" : "";
  const turn = id && parts[2] !== undefined && parts[2] !== "" ? Number(parts[2]) : -1;
  byId("view-sessions").classList.toggle("one", id !== "");
  shown.id = id;
  shown.turn = turn;
  showSessions();
  showSession().catch((error) => trouble(`${error.message}.`));
}
addEventListener("hashchange", route);

// --- Light and dark

const THEMES = ["auto", "light", "dark"];
function setTheme(name) {
  const theme = THEMES.includes(name) ? name : "auto";
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = { auto: "Auto", light: "Light", dark: "Dark" }[theme];
  byId("theme").setAttribute("aria-label", `Colours: ${theme}`);
  kept.write(ofBrowser, "rondo-theme", theme);
}
const nextTheme = () => setTheme(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme) + 1) % THEMES.length]);
byId("theme").addEventListener("click", nextTheme);
setTheme(kept.read(ofBrowser, "rondo-theme"));

// --- Keys

const KEYS = [["j k", "down and up in sessions, turns"], ["Enter", "open and close"], ["← →", "in tokens: one to the side"],
  ["[ ]", "newer, older session"], ["s", "sessions"], ["c", "chat"], ["t", "light, dark, as the system has it"],
  ["Esc", "back"], ["?", "this"]];
const WORDS = [["reused", "Reused", "the engine had these tokens of the prompt in its cache"],
  ["prefilled", "Prefilled", "the engine computed these: a first prompt, or what it did not have any more"],
  ["appended", "Appended", "the new turn: what any server has to compute"],
  ["sampled-part", "Sampled", "what the model wrote; these ids come back in the next prompt unchanged"],
  ["", "Break", "the prompt does not begin with what the engine was given before; the cause stands below the turn"]];
byId("keys").append(...KEYS.flatMap(([keys, what]) =>
  [make("dt", {}, ...keys.split(" ").flatMap((key) => [make("kbd", {}, key), " "])), make("dd", {}, what)]));
byId("glossary").append(...WORDS.flatMap(([style, word, what]) =>
  [make("dt", {}, style ? make("i", { className: style }) : "", word), make("dd", {}, what)]));
byId("help-open").addEventListener("click", () => byId("help").showModal());

// Moves the focus by `step` among the buttons of the list that has it, or of the one that is shown.
function walk(step) {
  const inList = document.activeElement?.closest("#sessions");
  const turns = [...document.querySelectorAll("#session .turn > button")];
  const buttons = inList || turns.length === 0 ? [...byId("sessions").querySelectorAll("button")] : turns;
  if (buttons.length === 0) return;
  const now = buttons.indexOf(document.activeElement?.closest(".turn")?.firstElementChild ?? document.activeElement);
  const next = now < 0 ? (step > 0 ? 0 : buttons.length - 1) : Math.min(Math.max(now + step, 0), buttons.length - 1);
  buttons[next].focus();
  buttons[next].scrollIntoView({ block: "nearest" });
}

function openBeside(step) {
  const next = shown.sessions[shown.sessions.indexOf(currentSession()) + step];
  if (next) location.hash = `#/s/${next.id}`;
}

function back() {
  if (shown.turn >= 0) location.hash = `#/s/${shown.id}`;
  else if (shown.id) location.hash = "#/";
}

addEventListener("keydown", (event) => {
  const isTyping = event.target.closest?.("input, textarea, select, dialog");
  if (event.defaultPrevented || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  const isChat = !byId("view-chat").hidden;
  const doing = {
    j: () => walk(1), k: () => walk(-1), ArrowDown: () => walk(1), ArrowUp: () => walk(-1), "[": () => openBeside(-1),
    "]": () => openBeside(1), Escape: back, s: () => { location.hash = "#/"; }, c: () => { location.hash = "#/chat"; },
    t: nextTheme, "?": () => byId("help").showModal(),
  }[event.key];
  const needsList = ["j", "k", "ArrowDown", "ArrowUp", "[", "]", "Escape"].includes(event.key);
  if (!doing || (isChat && needsList)) return;
  event.preventDefault();
  doing();
});
