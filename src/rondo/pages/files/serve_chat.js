// The chat box: a conversation through /v1/chat/completions, as any client would have it.

const EXAMPLE_TOOLS = JSON.stringify([{ type: "function", function: { name: "weather", description: "The weather of a town",
  parameters: { type: "object", properties: { town: { type: "string" } }, required: ["town"] } } }], null, 1);
byId("tools").placeholder = EXAMPLE_TOOLS;

const chat = { messages: [], session: "", unanswered: [], running: null };

function beginAnew() {
  chat.running?.abort();
  Object.assign(chat, { messages: [], unanswered: [], running: null,
    session: `chat-${[...crypto.getRandomValues(new Uint8Array(4))].map((byte) => byte.toString(16).padStart(2, "0")).join("")}` });
  byId("talk").replaceChildren(make("div", { className: "empty" }, make("h2", {}, "Try the model"),
    make("p", {}, "What you say goes to /v1/chat/completions. Below each reply stands what of its prompt the engine had already.")));
  showWhatIsAsked();
}

function showWhatIsAsked() {
  const call = chat.unanswered[0];
  byId("words-label").textContent = call ? `Result of ${call.function.name}` : "Message";
  byId("words").placeholder = call ? "What the tool gives back" : "Say something";
}

function addMine(text, style = "") {
  byId("talk").querySelector(".empty")?.remove();
  byId("talk").append(make("div", { className: `said mine ${style}` }, make("div", { className: "text" }, text)));
}

// --- A reply that grows

function replyBox() {
  const reasoning = make("div", { className: "text" });
  const thought = make("details", { open: true, hidden: true }, make("summary", {}, "Reasoning"), reasoning);
  const text = make("div", { className: "text" });
  const calls = make("div", {});
  const prefix = make("div", { className: "prefix" });
  const box = make("div", { className: "said reply" }, thought, text, calls, prefix);
  byId("talk").append(box);
  return { box, reasoning, thought, text, calls, prefix };
}

function showCalls(parts, calls) {
  parts.calls.replaceChildren(...calls.map((call) =>
    make("div", { className: "call" }, make("b", {}, call.function.name), make("pre", {}, call.function.arguments))));
}

// "how=bridge expected=120 ..." as fields.
const fieldsOf = (header) => Object.fromEntries((header ?? "").split(" ").filter(Boolean).map((part) => part.split("=")));

function showPrefix(parts, header, rondo, usage, session) {
  const fields = fieldsOf(header);
  const number = (name) => Number(rondo?.[name] ?? fields[name] ?? 0);
  const turn = { how: rondo?.how ?? fields.how, expected: number("expected"), appended: number("appended"),
    cached: rondo?.cached ?? usage?.prompt_tokens_details?.cached_tokens ?? null, cause: rondo?.cause ?? null,
    prompt_tokens: usage?.prompt_tokens ?? number("expected") + number("appended"), completion_tokens: usage?.completion_tokens ?? 0 };
  const bar = barOf(turn);
  bar.style.setProperty("--max", turn.prompt_tokens + turn.completion_tokens);
  parts.prefix.replaceChildren(bar, make("span", { className: "line" }, make("b", {}, HOW[turn.how] ?? String(turn.how ?? "")),
    ...numbersOf(turn), session ? make("a", { href: `#/s/${encodeURIComponent(session)}` }, "Its turns") : ""), causeOf(turn) ?? "");
}

// Puts what a chunk brings of a message to what is there.
function grow(message, delta) {
  const reasoning = delta.reasoning_content ?? delta.reasoning;
  if (reasoning) message.reasoning_content = (message.reasoning_content ?? "") + reasoning;
  if (delta.content) message.content += delta.content;
  for (const part of delta.tool_calls ?? []) {
    message.tool_calls ??= [];
    const call = (message.tool_calls[part.index ?? 0] ??= { id: "", type: "function", function: { name: "", arguments: "" } });
    if (part.id) call.id = part.id;
    if (part.function?.name) call.function.name += part.function.name;
    if (part.function?.arguments) call.function.arguments += part.function.arguments;
  }
}

async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const lines = rest.split("\n");
    rest = lines.pop();
    for (const line of lines) if (line.startsWith("data:") && line.slice(5).trim() !== "[DONE]") yield JSON.parse(line.slice(5));
  }
}

function bodyOf() {
  const body = { model: byId("model").value || undefined, stream: true, stream_options: { include_usage: true } };
  const system = byId("system").value.trim();
  body.messages = [...(system ? [{ role: "system", content: system }] : []), ...chat.messages];
  if (byId("temperature").value) body.temperature = Number(byId("temperature").value);
  if (byId("max-tokens").value) body.max_tokens = Number(byId("max-tokens").value);
  const tools = byId("tools").value.trim();
  if (tools) body.tools = JSON.parse(tools);
  return body;
}

async function listen(response, parts, message) {
  const result = { usage: null, rondo: null };
  const isAtEnd = () => innerHeight + scrollY > document.body.scrollHeight - 80;
  for await (const event of eventsOf(response)) {
    if (event.error) throw new Error(event.error.message ?? "the engine failed");
    result.usage = event.usage ?? result.usage;
    result.rondo = event.rondo ?? result.rondo;
    const stays = isAtEnd();
    for (const choice of event.choices ?? []) grow(message, choice.delta ?? {});
    parts.thought.hidden = !message.reasoning_content;
    parts.reasoning.textContent = message.reasoning_content ?? "";
    parts.text.textContent = message.content;
    if (message.tool_calls) showCalls(parts, message.tool_calls);
    if (stays) scrollTo(0, document.body.scrollHeight);
  }
  return result;
}

async function request() {
  const parts = replyBox();
  const message = { role: "assistant", content: "" };
  const own = chat.session;
  const running = new AbortController();
  chat.running = running;
  setRunning(true);
  try {
    let body;
    try { body = bodyOf(); } catch (error) { throw new Error(`the tools are no JSON: ${error.message}`); }
    const response = await ask("/v1/chat/completions", { method: "POST", body: JSON.stringify(body), signal: running.signal,
      headers: { "content-type": "application/json", "x-rondo-session": own, "x-rondo-explain": "1" } });
    const { usage, rondo } = await listen(response, parts, message);
    showPrefix(parts, response.headers.get("x-rondo-prefix"), rondo, usage, own);
  } catch (error) {
    const sentence = error.name === "AbortError" ? "stopped" : error.message;
    parts.prefix.append(make("span", { className: "failed", role: "alert" }, `${sentence[0].toUpperCase()}${sentence.slice(1)}.`));
  }
  parts.thought.open = parts.text.textContent === "";
  if (chat.running !== running) return;  // another conversation was begun
  chat.running = null;
  setRunning(false);
  if (message.content || message.reasoning_content || message.tool_calls) chat.messages.push(message);
  else takeBack();
  chat.unanswered = [...(message.tool_calls ?? [])];
  showWhatIsAsked();
  byId("words").focus();
  watch();
}

// What was not answered at all is not part of the conversation; it may be sent again.
function takeBack() {
  const last = chat.messages.pop();
  if (last?.role === "user") byId("words").value = last.content;
}

function setRunning(isRunning) {
  byId("send").hidden = isRunning;
  byId("stop").hidden = !isRunning;
}

function send() {
  const words = byId("words").value.trim();
  if (!words || chat.running) return;
  byId("words").value = "";
  const call = chat.unanswered.shift();
  if (call) {
    chat.messages.push({ role: "tool", tool_call_id: call.id, content: words });
    addMine(words, "tool-result");
    if (chat.unanswered.length > 0) return showWhatIsAsked();
  } else {
    chat.messages.push({ role: "user", content: words });
    addMine(words);
  }
  request();
  scrollTo(0, document.body.scrollHeight);
}

byId("composer").addEventListener("submit", (event) => {
  event.preventDefault();
  send();
});
byId("words").addEventListener("keydown", (event) => {
  if (event.key === "Escape") byId("words").blur();
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  send();
});
byId("stop").addEventListener("click", () => chat.running?.abort());
byId("anew").addEventListener("click", beginAnew);

beginAnew();
readModels();
route();
watch();
