// The prompt, coloured by origin: its parts, and what is told of each.

const HUES = { system: 300, developer: 300, user: 250, assistant: 160, tool: 60 };
const OTHER_HUE = 20;
const WHERE = { tools: 'the tools of the request', documents: 'the documents of the request', kwargs: 'a template variable', special: 'a special token of the model', time: 'the clock' };

const hueOf = (role) => HUES[role] ?? OTHER_HUE;

/** Where `texts`, byte offsets of UTF-8, are in `text` in units of JavaScript strings. */
function unitsOf(text, offsets) {
  const sorted = [...offsets].sort((a, b) => a - b);
  const found = new Map();
  let bytes = 0;
  let units = 0;
  let next = 0;
  const take = () => { while (next < sorted.length && sorted[next] <= bytes) found.set(sorted[next++], units); };
  take();
  for (const letter of text) {
    const code = letter.codePointAt(0);
    bytes += code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    units += letter.length;
    take();
  }
  return found;
}

function roleOf(span, messages) {
  const index = span.from === 'message' ? /^messages\[(\d+)\]/.exec(span.path)?.[1] : undefined;
  return index === undefined ? undefined : String(messages[index]?.role ?? '');
}

function sentence(span, role, shown) {
  const text = JSON.stringify(shown.length > 120 ? `${shown.slice(0, 120)}…` : shown);
  if (span.from === 'template') return `${text} is written by the template, line ${span.line}.`;
  if (span.from === 'message') return `${text} comes from ${span.path}${role ? `, a message of role ${role}` : ''}.`;
  return `${text} comes from ${WHERE[span.from] ?? span.from}${span.path ? `, ${span.path}` : ''}.`;
}

/** The prompt's element and its legend. */
export class PromptView {
  #box;
  #legend;
  #about;
  #onLine;
  #parts = [];
  #at = -1;

  /** `onLine(line)` is called with the template's line of the part that is looked at, 0 where it has none. */
  constructor(box, legend, about, onLine) {
    this.#box = box;
    this.#legend = legend;
    this.#about = about;
    this.#onLine = onLine;
    box.addEventListener('pointerover', ({ target }) => this.#select(this.#parts.findIndex(({ element }) => element === target)));
    box.addEventListener('click', ({ target }) => this.#select(this.#parts.findIndex(({ element }) => element === target)));
    box.addEventListener('keydown', (event) => this.#key(event));
  }

  clear() {
    this.#box.replaceChildren();
    this.#legend.replaceChildren();
    this.#parts = [];
    this.#at = -1;
  }

  /** `tokens`: {ids, offsets: [begin, end] in bytes} or undefined. */
  show({ text, spans }, messages, tokens) {
    this.clear();
    const cuts = new Set(spans.flatMap(({ start, end }) => [start, end]));
    for (const [begin] of tokens?.offsets ?? []) cuts.add(begin);
    const units = unitsOf(text, cuts);
    const bounds = [...cuts].sort((a, b) => a - b);
    const tokenAt = new Map((tokens?.offsets ?? []).map(([begin], i) => [begin, tokens.ids[i]]));
    const roles = new Set();
    const fragment = document.createDocumentFragment();
    let at = 0;
    let id;
    for (let i = 0; i + 1 < bounds.length; ++i) {
      while (at + 1 < spans.length && spans[at].end <= bounds[i]) ++at;
      const shown = text.slice(units.get(bounds[i]), units.get(bounds[i + 1]));
      if (shown === '') continue;
      const begins = tokenAt.has(bounds[i]);
      if (begins) id = tokenAt.get(bounds[i]);
      const role = roleOf(spans[at], messages);
      const element = document.createElement('span');
      element.textContent = shown;
      element.className = spans[at].from === 'template' ? 'template-text' : 'data';
      if (spans[at].from !== 'template') element.style.setProperty('--hue', hueOf(role));
      if (begins && i > 0) element.classList.add('edge');
      if (spans[at].from !== 'template') roles.add(role || 'other');
      this.#parts.push({ element, span: spans[at], role, shown, id });
      fragment.append(element);
    }
    this.#box.append(fragment);
    this.#showLegend(roles);
  }

  #showLegend(roles) {
    for (const role of ['template', ...roles]) {
      const item = document.createElement('li');
      const chip = document.createElement('span');
      chip.className = role === 'template' ? 'chip template' : 'chip';
      chip.style.setProperty('--hue', hueOf(role));
      item.append(chip, role === 'template' ? 'the template' : role === 'other' ? 'tools and others' : role);
      this.#legend.append(item);
    }
  }

  #select(index) {
    if (index < 0) return;
    this.#parts[this.#at]?.element.classList.remove('on');
    this.#at = index;
    const { element, span, role, shown, id } = this.#parts[index];
    element.classList.add('on');
    this.#about.textContent = sentence(span, role, shown) + (id === undefined ? '' : ` Token id ${id}.`);
    this.#onLine(span.line ?? 0);
  }

  #key(event) {
    const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    const ends = { Home: 0, End: this.#parts.length - 1 }[event.key];
    if ((step === undefined && ends === undefined) || this.#parts.length === 0) return;
    event.preventDefault();
    this.#select(ends ?? Math.min(Math.max(this.#at + step, 0), this.#parts.length - 1));
    this.#parts[this.#at].element.scrollIntoView({ block: 'nearest' });
  }
}
