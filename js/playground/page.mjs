// The page: its fields, and what is done when they change.
// import { Engine }, { PromptView }, { FOLDER, readFiles }, { fromHash, toHash } stand above, where the page is put together.

const DELAY_MS = 150;
const THEMES = ['system', 'light', 'dark'];
const place = (id) => document.getElementById(id);
const fields = { template: place('template'), request: place('request'), answer: place('answer') };
const examples = JSON.parse(place('examples').textContent);

const engine = new Engine(place('worker').textContent, place('wasm').textContent.trim());
const prompt = new PromptView(place('prompt'), place('legend'), place('about'), (line) => lightLine(line));
let hasTokenizer = false;
let round = 0; // of the fields' contents: what is computed for an older one is dropped
let timer;

function made(name, text, className) {
  const element = document.createElement(name);
  if (text !== undefined) element.textContent = text;
  if (className !== undefined) element.className = className;
  return element;
}

function say(id, text) {
  place(id).textContent = text ?? '';
  place(id).hidden = !text;
}

function located(error, what) {
  const at = error.at?.line ? `${what}, line ${error.at.line}${error.at.column ? `, column ${error.at.column}` : ''}: ` : '';
  return `${at}${error.message}${error.hint ? ` (${error.hint})` : ''}`;
}

// --- The template's lines ---

function showLines() {
  const count = fields.template.value.split('\n').length;
  const gutter = place('gutter');
  while (gutter.childElementCount > count) gutter.lastChild.remove();
  while (gutter.childElementCount < count) gutter.append(made('span', String(gutter.childElementCount + 1)));
  gutter.scrollTop = fields.template.scrollTop;
}

function lightLine(line) {
  place('gutter').querySelector('.on')?.classList.remove('on');
  const number = place('gutter').children[line - 1];
  if (number === undefined) return;
  number.classList.add('on');
  const editor = fields.template;
  const top = number.offsetTop - place('gutter').offsetTop;
  if (top < editor.scrollTop || top > editor.scrollTop + editor.clientHeight - 40) editor.scrollTop = Math.max(0, top - editor.clientHeight / 3);
}

function goToLine(line) {
  const lines = fields.template.value.split('\n');
  const begin = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  fields.template.focus();
  fields.template.setSelectionRange(begin, begin + (lines[line - 1] ?? '').length);
  lightLine(line);
}

function unmark() {
  for (const number of place('gutter').children) number.classList.remove('warning', 'error');
}

// --- The prompt and the answer ---

function requestOf(text) {
  let request;
  try {
    request = JSON.parse(text);
  } catch (error) {
    throw new Error(`The messages are no JSON: ${error.message}`);
  }
  if (Array.isArray(request)) request = { messages: request };
  if (!Array.isArray(request?.messages)) throw new Error('The messages are missing: an array, or an object with the field `messages`, is expected.');
  return { add_generation_prompt: true, mode: 'lenient', ...request };
}

async function tokensOf(common, text) {
  if (!hasTokenizer) return undefined;
  const { ids } = await engine.ask({ op: 'encode', ...common });
  const plain = await engine.ask({ op: 'tokenize', tokenizer: FOLDER, text, offsets: true });
  const isSame = ids.length === plain.ids.length && ids.every((id, i) => id === plain.ids[i]);
  return { ids, offsets: isSame ? plain.offsets : [] };
}

function showCounts(text, tokens) {
  const parts = [`${[...text].length} characters`];
  if (tokens !== undefined) parts.push(`${tokens.ids.length} tokens`);
  if (tokens !== undefined && tokens.ids.length > 0 && tokens.offsets.length === 0)
    parts.push('words of a message look like control tokens and stay text, so no borders are shown');
  place('counts').textContent = `· ${parts.join(' · ')}`;
}

function showParsed(reply) {
  const list = made('dl');
  const row = (name, text, className) => list.append(made('dt', name), made('dd', text, className));
  if (reply.reasoning_content !== null) row('reasoning', reply.reasoning_content);
  row('content', reply.content);
  for (const call of reply.tool_calls) {
    row('call', `${call.name}(${call.arguments})${call.status ? ` · ${call.status}` : ''}`, call.status && 'odd');
    for (const problem of call.problems ?? []) row('', problem.message, 'odd');
  }
  row('complete', reply.complete ? 'yes' : 'no: something that was opened is still open', reply.complete ? undefined : 'odd');
  place('parsed').replaceChildren(list);
}

async function update() {
  const mine = ++round;
  try {
    const request = requestOf(fields.request.value);
    const common = { ...request, template: fields.template.value, ...(hasTokenizer && { tokenizer: FOLDER }) };
    const rendered = await engine.ask({ ...common, op: 'render', spans: true });
    const tokens = await tokensOf(common, rendered.text);
    if (mine !== round) return;
    prompt.show(rendered, request.messages, tokens);
    showCounts(rendered.text, tokens);
    if (fields.answer.value === '') {
      place('parsed').replaceChildren();
    } else {
      const parsed = await engine.ask({ ...common, op: 'parse', text: fields.answer.value });
      if (mine !== round) return;
      showParsed(parsed);
    }
    say('trouble');
  } catch (error) {
    if (mine !== round) return;
    say('trouble', located(error, 'Template'));
    if (error.at?.line) lightLine(error.at.line);
  }
}

function changed({ wasTemplate = false } = {}) {
  if (wasTemplate) {
    showLines();
    unmark();
    place('findings').replaceChildren();
    say('verdict');
  }
  clearTimeout(timer);
  timer = setTimeout(update, DELAY_MS);
}

// --- Check and mend ---

function showFinding(finding) {
  const box = made('div', undefined, `finding ${finding.level}`);
  const head = made('p');
  if (finding.place !== undefined) {
    const link = made('button', `line ${finding.place.line}`);
    link.type = 'button';
    link.addEventListener('click', () => goToLine(finding.place.line));
    head.append(link, ' ');
    place('gutter').children[finding.place.line - 1]?.classList.add(finding.level);
  }
  head.append(`${finding.level}: ${finding.sentence}`);
  box.append(head, made('p', finding.proof, 'proof'));
  for (const remedy of finding.remedies) box.append(made('p', `→ ${remedy.sentence}`, 'remedy'));
  return box;
}

// Runs a long question while its button is off; what comes for an older template is dropped.
async function long(button, doing, ask) {
  const template = fields.template.value;
  for (const id of ['check', 'mend']) place(id).disabled = true;
  say('verdict', doing);
  try {
    const reply = await ask(template);
    if (fields.template.value === template) return reply;
    say('verdict');
  } catch (error) {
    say('verdict', located(error, 'Template'));
  } finally {
    for (const id of ['check', 'mend']) place(id).disabled = false;
  }
  return undefined;
}

const aboutTemplate = (template) => ({ template, ...(hasTokenizer && { tokenizer: FOLDER }) });

async function check() {
  const report = await long('check', 'playing conversations…', (template) => engine.ask({ op: 'check', ...aboutTemplate(template) }));
  if (report === undefined) return;
  unmark();
  const notes = made('details');
  notes.append(made('summary', `${report.notes.length} notes`), ...report.notes.map(showFinding));
  place('findings').replaceChildren(...report.findings.map(showFinding), ...(report.notes.length > 0 ? [notes] : []));
  const count = report.findings.length;
  say('verdict', count === 0 ? 'The next prompt always begins with what the model has seen.' : `${count} ${count === 1 ? 'finding' : 'findings'}`);
}

function showDiff(text) {
  const box = made('pre', undefined, 'diff');
  for (const line of text.split('\n')) box.append(made('span', `${line}\n`, line.startsWith('+') ? 'in' : line.startsWith('-') ? 'out' : ''));
  return box;
}

async function mend() {
  const mended = await long('mend', 'trying edits…', (template) => engine.ask({ op: 'fix', ...aboutTemplate(template) }));
  if (mended === undefined) return;
  if (mended.edits.length === 0) {
    place('findings').replaceChildren();
    say('verdict', mended.was_append_only ? 'Nothing needs mending.' : mended.refusal ?? 'No edit was found that helps.');
    return;
  }
  const take = made('button', 'Take the mended template');
  take.type = 'button';
  take.addEventListener('click', () => {
    fields.template.value = mended.template;
    changed({ wasTemplate: true });
  });
  const list = made('ul');
  list.append(...mended.edits.map((edit) => made('li', edit)));
  place('findings').replaceChildren(list, showDiff(mended.diff), take);
  say('verdict', mended.is_append_only ? 'With these edits nothing breaks.' : `With these edits ${mended.broken.length} cases still break.`);
}

// --- Files, links, looks ---

async function open(list) {
  const { files, template, hasTokenizer: found, notes } = await readFiles(list);
  const names = Object.keys(files).map((path) => path.slice(FOLDER.length + 1));
  if (names.length > 0) {
    engine.files = files;
    hasTokenizer = found;
    place('model').textContent = `${names.join(', ')}${found ? '' : ' (no tokenizer among them)'}`;
  }
  if (template !== undefined) fields.template.value = template;
  say('note', notes.join(' '));
  changed({ wasTemplate: template !== undefined });
}

function take(state) {
  for (const [name, field] of Object.entries(fields)) field.value = state[name];
  changed({ wasTemplate: true });
}

async function copyLink() {
  const hash = await toHash(Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.value])));
  history.replaceState(null, '', hash);
  let copied = true;
  try {
    await navigator.clipboard.writeText(location.href);
  } catch {
    copied = false;
  }
  const files = hasTokenizer ? ' Model files are not in it.' : '';
  say('note', `The link ${copied ? 'is copied' : 'stands in the address bar'}: ${hash.length} characters with template, messages and answer.${files}`);
}

async function fromLink() {
  try {
    const state = await fromHash(location.hash);
    if (state === undefined) return false;
    take(state);
    return true;
  } catch (error) {
    say('note', error.message);
    return false;
  }
}

function setTheme(name) {
  if (name === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  place('theme').textContent = `Theme: ${name}`;
  place('theme').dataset.name = name;
}

function listen() {
  for (const [name, field] of Object.entries(fields)) field.addEventListener('input', () => changed({ wasTemplate: name === 'template' }));
  fields.template.addEventListener('scroll', () => { place('gutter').scrollTop = fields.template.scrollTop; });
  place('check').addEventListener('click', check);
  place('mend').addEventListener('click', mend);
  place('link').addEventListener('click', copyLink);
  place('files').addEventListener('change', ({ target }) => open([...target.files]));
  place('theme').addEventListener('click', ({ target }) => setTheme(THEMES[(THEMES.indexOf(target.dataset.name) + 1) % THEMES.length]));
  place('example').append(...examples.map(({ name }) => made('option', name)));
  place('example').addEventListener('change', ({ target }) => take(examples[target.selectedIndex]));
  addEventListener('hashchange', fromLink);
  addEventListener('dragover', (event) => { event.preventDefault(); document.body.classList.add('over'); });
  addEventListener('dragleave', () => document.body.classList.remove('over'));
  addEventListener('drop', (event) => {
    event.preventDefault();
    document.body.classList.remove('over');
    if (event.dataTransfer.files.length > 0) open([...event.dataTransfer.files]);
  });
}

setTheme('system');
listen();
if (!(await fromLink())) take(examples[0]);
