"use strict";
// Shows a prompt beside the template that wrote it.  `data` is a reply with a trace (docs/render.md); its offsets count
// bytes.  All content is hostile: it only ever becomes text nodes and attributes, never markup.
(() => {
  const { text, trace } = JSON.parse(document.getElementById("data").textContent);
  const { origins, parts, conditions, cuts, messages } = trace;
  const $ = (id) => document.getElementById(id);
  const bytes = new TextEncoder().encode(text);
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  const slice = (begin, end) => decoder.decode(bytes.subarray(begin, end));
  const partText = (part) => slice(part.start, part.end);
  const count = (n, one) => `${n.toLocaleString("en")} ${one}${n === 1 ? "" : "s"}`;

  function make(name, className, content) {
    const element = document.createElement(name);
    if (className) element.className = className;
    if (content !== undefined) element.textContent = content;
    return element;
  }

  // --- Owners and their colours: one hue for each role, in the order in which they appear.

  const kHues = [265, 150, 65, 330, 205, 25, 110, 300];
  const roles = [...new Set(messages.map((role) => role ?? "?"))];
  const hueOf = (role) => kHues[roles.indexOf(role) % kHues.length];
  const roleOf = (part) => (part.owner === undefined ? null : (messages[part.owner] ?? "?"));
  const sameTurn = (a, b) => a.owner === b.owner && !!a.generation_prompt === !!b.generation_prompt;

  function ownerName(part) {
    const name = part.owner === undefined ? "no message" : `message ${part.owner}, ${roleOf(part)}`;
    return part.generation_prompt ? `generation prompt (${name})` : name;
  }

  function colour(element, part) {
    const role = roleOf(part);
    if (role === null) element.classList.add("nobody");
    element.style.setProperty("--hue", role === null ? 0 : hueOf(role));
    if (part.generation_prompt) element.classList.add("next");
  }

  // --- Text with what cannot be seen made visible.  Marks are generated content, so copying gives the text itself.

  const kUnseen = new RegExp("\\n|\\t| +(?=\\n)| {2,}|[\\u0000-\\u001f\\u007f-\\u00a0\\u00ad\\u061c\\u115f\\u1160\\u180e\\u2000-\\u200f" +
    "\\u2028-\\u202f\\u205f-\\u206f\\u3000\\u3164\\ufe00-\\ufe0f\\ufeff\\uffa0\\ufff9-\\ufffd]|[\\u{e0000}-\\u{e01ef}]", "gu");
  const kUnseenAtEnds = new RegExp(`^ +| +$|${kUnseen.source}`, "gu");

  function fill(element, content, pattern) {
    let at = 0;
    for (const found of content.matchAll(pattern)) {
      const piece = found[0];
      if (found.index > at) element.append(content.slice(at, found.index));
      at = found.index + piece.length;
      let mark;
      if (piece[0] === " ") {
        mark = make("span", "sp", piece);
      } else if (piece === "\n" || piece === "\t") {
        mark = make("span", "w", piece);
        mark.dataset.w = piece === "\n" ? "\u21b5" : "\u21e5";
      } else {
        mark = make("i", "c", piece);
        mark.dataset.w = "U+" + piece.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
      }
      element.append(mark);
    }
    if (at < content.length) element.append(at === 0 ? content : content.slice(at));
  }

  // --- The prompt: one block for each stretch of one owner, one span for each piece.

  const spans = new Array(parts.length);
  const partsOfRow = new Map();

  function addPart(pre, index) {
    const part = parts[index];
    const origin = origins[part.origin];
    const isInput = origin.from !== "template" && origin.from !== "special" && origin.from !== "time";
    const span = make("span", `p ${origin.kind}${isInput ? " input" : ""}`);
    span.dataset.i = index;
    if (origin.row !== undefined) span.dataset.r = origin.row;
    // White space at an end matters where texts meet; around the punctuation of serialised values it is only noise.
    fill(span, partText(part), origin.kind === "serialiser" ? kUnseen : kUnseenAtEnds);
    spans[index] = span;
    pre.append(span);
  }

  // [first, end) parts of one owner.  A browser lays a block out as a whole, and only when it is seen: very long turns
  // become several blocks, cut behind a newline where there is one in time.
  const kBlockParts = 1500;
  const kMostBlockParts = 6000;
  function* blocks() {
    let first = 0;
    for (let i = 1; i <= parts.length; ++i) {
      const size = i - first;
      const isCut = (size >= kBlockParts && bytes[parts[i - 1].end - 1] === 10) || size >= kMostBlockParts;
      if (i < parts.length && sameTurn(parts[i - 1], parts[i]) && !isCut) continue;
      yield [first, i];
      first = i;
    }
  }

  function makeBlock(first, end) {
    const part = parts[first];
    const isMore = first > 0 && sameTurn(parts[first - 1], part);
    const turn = make("section", isMore ? "turn more" : "turn");
    colour(turn, part);
    const label = make("div", "label");
    if (!isMore) {
      label.append(part.owner === undefined ? (part.generation_prompt ? "next turn" : "template") : roleOf(part));
      if (part.owner !== undefined) label.append(make("small", "", part.generation_prompt ? "next turn" : `message ${part.owner}`));
    }
    const pre = make("pre");
    for (let i = first; i < end; ++i) addPart(pre, i);
    turn.append(label, pre);
    const lines = text.length === 0 ? 1 : (parts[end - 1].end - part.start) / 70 + pre.textContent.split("\n").length * 0.5;
    turn.style.setProperty("--height", `${Math.min(Math.ceil(lines) * 19 + 10, 200000)}px`);
    return turn;
  }

  // A long prompt is built in slices, so that the page answers meanwhile.
  const kSliceParts = 3000;
  const pending = blocks();
  let built = 0;
  function buildSlice() {
    const fragment = document.createDocumentFragment();
    const until = built + kSliceParts;
    let next = null;
    while (built < until && !(next = pending.next()).done) {
      const [first, end] = next.value;
      fragment.append(makeBlock(first, end));
      built = end;
    }
    $("prompt").append(fragment);
    if (built < parts.length) setTimeout(buildSlice, 0);
  }

  parts.forEach((part, index) => {
    const { row } = origins[part.origin];
    if (row === undefined) return;
    if (!partsOfRow.has(row)) partsOfRow.set(row, []);
    partsOfRow.get(row).push(index);
  });

  // --- The template by rows, with what each wrote and decided.

  const { rows } = trace.template;
  const rowElements = [];
  const idle = new Set(trace.idle);
  const inRow = (items, row) => items.filter((item) => item.row === row);
  const piecesOf = (row) => partsOfRow.get(row) ?? [];
  const sizeOf = (pieces) => pieces.reduce((sum, index) => sum + parts[index].end - parts[index].start, 0);
  const isPartOfLine = (row) => rows[row].line === rows[row - 1]?.line || rows[row].line === rows[row + 1]?.line;
  const rowName = (row) => (isPartOfLine(row) ? `${rows[row].line}:${rows[row].column}` : `${rows[row].line}`);

  // [class, text] pieces of the template's source.
  function* tokens(source) {
    const inTag = (piece) => piece.match(/"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'|[^"']+|["']/gs) ?? [];
    for (const piece of source.match(/\{#[\s\S]*?#\}|\{%[\s\S]*?%\}|\{\{[\s\S]*?\}\}|\{|[^{]+/g) ?? []) {
      if (piece.startsWith("{#")) yield ["comment", piece];
      else if (piece.startsWith("{%") || piece.startsWith("{{")) {
        const kind = piece.startsWith("{%") ? "tag" : "value";
        for (const word of inTag(piece)) yield [/^["'].*["']$/s.test(word) ? "string" : kind, word];
      } else yield ["", piece];
    }
  }

  // The source's tokens are cut where rows end; a newline between two lines belongs to no row.
  function highlight() {
    const codes = rows.map(() => make("code"));
    const source = rows.map(({ text: piece, column }, row) => (column === 1 && row > 0 ? "\n" : "") + piece).join("");
    let row = 0;
    let room = rows[0].text.length;
    const nextRow = () => { ++row; room = rows[row].text.length; };
    for (const [kind, token] of tokens(source)) {
      let at = 0;
      while (at < token.length) {
        if (room === 0) {
          if (token[at] === "\n") ++at;
          nextRow();
          continue;
        }
        const piece = token.slice(at, at + room);
        codes[row].append(kind ? make("span", kind, piece) : piece);
        room -= piece.length;
        at += piece.length;
      }
    }
    return codes;
  }

  function addBadges(element, row) {
    const badge = make("span", "badge");
    const asked = inRow(conditions, row).filter((condition) => condition.outcomes.length);
    for (const condition of asked.slice(0, 3)) {
      badge.append(make("span", "yes", condition.true ? ` \u2713${condition.true}` : ""), make("span", "nope", condition.false ? ` \u2717${condition.false}` : ""));
    }
    if (inRow(cuts, row).length) badge.append(" \u2702");
    const size = sizeOf(piecesOf(row));
    if (size) badge.append(` ${size.toLocaleString("en")} B`);
    element.append(badge);
  }

  function buildTemplate() {
    highlight().forEach((code, row) => {
      const element = make("div", "row");
      if (partsOfRow.has(row)) element.classList.add("wrote");
      if (idle.has(row)) element.classList.add("idle");
      element.dataset.n = row;
      element.append(make("span", "no", rowName(row)), code);
      addBadges(element, row);
      rowElements.push(element);
      $("template").append(element);
    });
  }

  // --- Details.

  // The row with what stands at the column marked, up to the end of its tag.
  function frame(row, column) {
    const code = make("span", "mono");
    const points = [...rows[row].text];
    const at = column - rows[row].column;
    const rest = points.slice(at).join("");
    const end = rest.search(/\s*[-+]?[%}]\}/);
    const marked = rest.slice(0, end > 0 ? end : rest.length);
    code.append(points.slice(0, at).join("").trimStart(), make("mark", "", marked), rest.slice(marked.length));
    return code;
  }

  function show(title, facts) {
    const list = make("dl");
    for (const [name, value] of facts) {
      const term = make("dd");
      term.append(value);
      list.append(make("dt", "", name), term);
    }
    $("details").replaceChildren(make("h3", "", title), list);
    $("details").scrollTop = 0;
  }

  const kKinds = {
    literal: "text of the template", data: "copied from the input", escaped: "rewritten input",
    scalar: "printed number, boolean or none", serialiser: "structure around input values", computed: "made by the template",
  };

  function showPart(index) {
    const part = parts[index];
    const origin = origins[part.origin];
    const named = { special: "a special token of the model", time: "the clock" }[origin.from];
    let what = kKinds[origin.kind];
    if (origin.via) what += `, via ${origin.via.join(" \u2192 ")}`;
    if (part.source) what += `; bytes ${part.source[0]}\u2013${part.source[1]} of the value`;
    const facts = [["belongs to", ownerName(part)], ["kind", what],
      ["prompt", `bytes ${part.start}\u2013${part.end}${part.generation_block ? ", in a generation block" : ""}`]];
    if (origin.row !== undefined) {
      const place = make("span", "", `line ${origin.line}, column ${origin.column}  `);
      place.append(frame(origin.row, origin.column));
      facts.push(["written by", place]);
    }
    show(origin.path ?? named ?? "the template", facts);
  }

  function ranges(numbers) {
    const sorted = [...new Set(numbers)].sort((a, b) => a - b);
    const out = [];
    for (const number of sorted) {
      const last = out[out.length - 1];
      if (last && last[1] === number - 1) last[1] = number;
      else out.push([number, number]);
    }
    const shown = out.slice(0, 12).map(([a, b]) => (a === b ? `${a}` : `${a}\u2013${b}`)).join(", ");
    return out.length > 12 ? `${shown}, \u2026` : shown;
  }

  function describe(condition, outcome) {
    const found = condition.outcomes.filter((item) => item.outcome === outcome);
    if (!found.length) return null;
    const owners = found.filter((item) => item.owner !== undefined).map((item) => item.owner);
    const times = condition[String(outcome)];
    const many = new Set(owners).size;
    return `${outcome}${times > 1 && times !== many ? ` ${times} times` : ""}${many ? ` for message${many === 1 ? "" : "s"} ${ranges(owners)}` : ""}`;
  }

  // What a condition read of any message, without the paths that only lead to another one.
  function readsOf(condition) {
    const all = new Set(condition.outcomes.flatMap((outcome) => outcome.reads.map((path) => path.replace(/^messages\[\d+\]/, "messages[\u2026]"))));
    const paths = [...all];
    return paths.filter((path) => !paths.some((other) => other.startsWith(path) && (other[path.length] === "." || other[path.length] === "[")));
  }

  function showRow(row) {
    const facts = [];
    const written = piecesOf(row);
    const owners = written.map((index) => parts[index].owner).filter((owner) => owner !== undefined);
    const whose = owners.length ? ` for message${new Set(owners).size === 1 ? "" : "s"} ${ranges(owners)}` : "";
    const nothing = idle.has(row) ? "nothing: not reached, or only empty text" : "nothing";
    facts.push(["wrote", written.length ? `${count(sizeOf(written), "byte")} in ${count(written.length, "piece")}${whose}` : nothing]);
    for (const condition of inRow(conditions, row)) {
      const reads = readsOf(condition);
      const how = [describe(condition, true), describe(condition, false)].filter(Boolean).join("; ") || "never asked";
      facts.push(["condition", `${condition.text}: ${how}${reads.length ? `; read ${reads.slice(0, 6).join(", ")}${reads.length > 6 ? ", \u2026" : ""}` : ""}`]);
    }
    for (const cut of inRow(cuts, row).slice(0, 20)) {
      facts.push(["cut", `${cut.text === undefined ? `bytes ${cut.start}\u2013${cut.end}` : JSON.stringify(cut.text)} off ${cut.path}`]);
    }
    show(`line ${rowName(row)}`, facts);
  }

  function help() {
    const line = make("p");
    const key = (name) => make("kbd", "", name);
    line.append("Point at a piece of the prompt or a line of the template; a click keeps it. Keys: ", key("\u2190"), " ", key("\u2192"),
      " next piece, ", key("\u2191"), " ", key("\u2193"), " next turn or line, ", key("Enter"), " to the other side, ", key("Tab"), " changes side, ", key("Esc"), " lets go.");
    $("details").replaceChildren(line);
  }

  // --- Selection: a piece, a row, or nothing.  All pieces of a row are lit by one rule of style, not one by one.

  const rowRule = document.head.appendChild(make("style"));
  let selected = {};  // {part} or {row}
  let pinned = false;

  const into = (element) => element?.scrollIntoView({ block: "nearest", inline: "nearest" });
  const rowOfPart = (index) => origins[parts[index].origin].row;

  function clear() {
    if (selected.part !== undefined) spans[selected.part]?.classList.remove("on");
    rowElements[selected.row ?? (selected.part === undefined ? -1 : rowOfPart(selected.part))]?.classList.remove("on");
    rowRule.textContent = "";
    selected = {};
  }

  function selectPart(index) {
    if (selected.part === index || !spans[index]) return;
    clear();
    selected = { part: index };
    spans[index].classList.add("on");
    const row = rowElements[rowOfPart(index)];
    row?.classList.add("on");
    into(row);
    showPart(index);
  }

  function selectRow(row) {
    if (selected.row === row) return;
    clear();
    selected = { row };
    rowElements[row].classList.add("on");
    rowRule.textContent = `.p[data-r="${row}"] { background: var(--mark); color: var(--mark-ink); }`;
    showRow(row);
  }

  function release() {
    pinned = false;
    clear();
    help();
  }

  const partAt = (event) => event.target.closest?.(".p");
  const rowAt = (event) => event.target.closest?.(".row");

  function listen(pane, find, select) {
    pane.addEventListener("mouseover", (event) => { const found = find(event); if (found && !pinned) select(found); });
    pane.addEventListener("mouseleave", () => { if (!pinned) release(); });
  }
  listen($("prompt"), partAt, (span) => selectPart(Number(span.dataset.i)));
  listen($("template"), rowAt, (row) => selectRow(Number(row.dataset.n)));

  $("prompt").addEventListener("click", (event) => {
    const span = partAt(event);
    if (!span || String(getSelection())) return;
    const again = pinned && selected.part === Number(span.dataset.i);
    release();
    selectPart(Number(span.dataset.i));
    pinned = !again;
  });
  $("template").addEventListener("click", (event) => {
    const found = rowAt(event);
    if (!found || String(getSelection())) return;
    const row = Number(found.dataset.n);
    const again = pinned && selected.row === row;
    release();
    selectRow(row);
    pinned = !again;
    if (pinned) into(spans[piecesOf(row)[0]]);
  });

  function walkPrompt(key) {
    const now = selected.part ?? -1;
    const last = built - 1;
    if (key === "ArrowRight") return Math.min(now + 1, last);
    if (key === "ArrowLeft") return Math.max(now - 1, 0);
    if (key === "Home") return 0;
    if (key === "End") return last;
    let at = Math.max(now, 0);
    if (key === "ArrowDown") {
      while (at < last && sameTurn(parts[at], parts[Math.max(now, 0)])) ++at;
      return at;
    }
    if (key === "ArrowUp") {
      while (at > 0 && sameTurn(parts[at - 1], parts[at])) --at;
      if (at === now && at > 0) --at;
      while (at > 0 && sameTurn(parts[at - 1], parts[at])) --at;
      return at;
    }
    return null;
  }

  $("prompt").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && selected.part !== undefined) {
      const row = rowOfPart(selected.part);
      if (row === undefined) return;
      $("template").focus();
      selectRow(row);
    } else {
      const index = walkPrompt(event.key);
      if (index === null || !parts.length) return;
      selectPart(index);
      into(spans[index]);
    }
    pinned = true;
    event.preventDefault();
  });

  $("template").addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const now = selected.row ?? -1;
    const last = rows.length - 1;
    const steps = { ArrowDown: now + 1, ArrowRight: now + 1, ArrowUp: now - 1, ArrowLeft: now - 1, Home: 0, End: last };
    if (event.key === "Enter" && partsOfRow.has(now)) {
      $("prompt").focus();
      const index = piecesOf(now)[0];
      selectPart(index);
      into(spans[index]);
    } else if (event.key in steps) {
      const row = Math.min(Math.max(steps[event.key], 0), last);
      selectRow(row);
      into(rowElements[row]);
    } else return;
    pinned = true;
    event.preventDefault();
  });

  document.addEventListener("keydown", (event) => { if (event.key === "Escape") release(); });

  // --- Head.

  function addLegend() {
    const chip = (part) => { const element = make("span", "chip"); colour(element, part); return element; };
    const entry = (mark, name) => { const item = make("li"); item.append(mark, name); $("legend").append(item); };
    for (const role of roles) entry(chip({ owner: messages.indexOf(role === "?" ? null : role) }), role);
    entry(chip({}), "no message");
    if (parts.some((part) => part.generation_prompt)) entry(chip({ generation_prompt: true }), "generation prompt");
    $("legend").append(make("li", "gap"));
    const sample = (className, name) => { const mark = make("span", `p ${className}`, "abc"); mark.style.setProperty("--hue", 265); mark.classList.add("mono"); entry(mark, name); };
    sample("literal", "template text");
    sample("data input", "input, as it is");
    sample("escaped input", "input, rewritten");
    sample("serialiser input", "printed or serialised");
    sample("computed", "computed");
  }

  const name = trace.template.name.split("/").slice(-2).join("/");
  $("title").textContent = name;
  document.title = `${name}: prompt, piece by piece`;
  $("summary").textContent = [count(bytes.length, "byte"), count(messages.length, "message"), count(parts.length, "piece"), count(trace.template.lines, "template line")].join(", ");
  addLegend();
  buildTemplate();
  buildSlice();
  help();
})();
