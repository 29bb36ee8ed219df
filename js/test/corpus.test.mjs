// The corpus: what references made of its conversations and texts, byte for byte and id for id.  RONDO_CORPUS names its folder,
// RONDO_CORPUS_TEXTS the conversations as texts, RONDO_CORPUS_TOKENIZERS the unpacked tokenizers.  Without RONDO_TEST_FULL every
// n-th case is taken.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { Rondo } from '../rondo.mjs';

const { RONDO_CORPUS: CORPUS, RONDO_CORPUS_TEXTS: TEXTS, RONDO_CORPUS_TOKENIZERS: TOKENIZERS } = process.env;
const FULL = process.env.RONDO_TEST_FULL !== undefined;
const EVERY_RENDER = FULL ? 1 : 97;
const EVERY_TOKENIZER = FULL ? 1 : 9;
const CLOCK = '2026-03-14T15:09:26';
const skip = CORPUS && TEXTS && TOKENIZERS ? false : 'RONDO_CORPUS is not set (./dev wasm --test sets it)';

function lines(name) {
  const text = execFileSync('xz', ['-dc', join(CORPUS, name)], { maxBuffer: 1 << 30, encoding: 'utf8' });
  return text.split('\n').filter((line) => line !== '').map((line) => JSON.parse(line));
}

function json(name) {
  return JSON.parse(readFileSync(join(CORPUS, name), 'utf8'));
}

const disk = {
  read(path) {
    const file = join(CORPUS, path);
    return existsSync(file) && statSync(file).isFile() ? readFileSync(file) : undefined;
  },
  list(path) {
    const folder = join(CORPUS, path);
    return existsSync(folder) && statSync(folder).isDirectory() ? readdirSync(folder) : undefined;
  },
};

// A request as text: JavaScript's numbers would lose whether 1.0 was an integer.
function request(row, { messages, tools, documents, kwargs }, set) {
  const fields = { op: '"render"', template_file: JSON.stringify(row.template), now: JSON.stringify(CLOCK), messages };
  const variables = { ...kwargs };
  if (documents !== null) fields.documents = documents;
  for (const name of ['bos_token', 'eos_token']) if (row[name] != null) fields[name] = JSON.stringify(row[name]);
  if (set === 'continue') fields.continue_final_message = 'true';
  for (const [name, value] of Object.entries(row.kwargs_sets.find((one) => one.name === set)?.kwargs ?? {})) {
    const given = value === '$tools' ? (tools ?? 'null') : JSON.stringify(value);
    if (value === '$tools') tools = null;
    variables[name] ??= given;
  }
  if (tools !== null) fields.tools = tools;
  fields.kwargs = object(variables);
  return object(fields);
}

function object(fields) {
  return `{${Object.entries(fields).map(([name, text]) => `${JSON.stringify(name)}:${text}`).join(',')}}`;
}

// "" if the reply is what the reference made.
function difference(line, known, { text, error }) {
  if (line.e !== undefined) {
    if (error === undefined) return `rendered, but the reference raises ${line.e}`;
    const same = line.e !== 'TemplateError' || [...error.message].slice(0, 300).join('') === line.m;
    return same ? '' : `raised "${error.message}", not "${line.m}"`;
  }
  if (error !== undefined) return error.message;
  return text === known.get(line.h) ? '' : 'another text';
}

test('rendered conversations', { skip }, async () => {
  const rondo = await Rondo.load({ files: disk });
  const texts = JSON.parse(readFileSync(TEXTS, 'utf8'));
  const failures = [];
  let cases = 0, taken = 0;
  for (const row of json('manifest.json').rows) {
    const known = new Map();
    for (const line of lines(`render/${row.id}.jsonl.xz`)) {
      if (line.t !== undefined) known.set(line.h, line.t);
      if (line.t0 !== undefined) known.set(line.h0, line.t0);
      if (texts[line.c] === undefined || ++cases % EVERY_RENDER !== 0) continue;
      ++taken;
      const failure = difference(line, known, JSON.parse(rondo.batchLine(request(row, texts[line.c], line.k))));
      if (failure !== '') failures.push(`${row.id} ${line.c} ${line.k}: ${failure}`);
    }
  }
  console.log(`renders: ${taken - failures.length} of ${taken}`);
  assert.ok(taken > 100);
  assert.deepEqual(failures, []);
});

test('templates as format() lays them out write the same', { skip }, async () => {
  const { Template } = await Rondo.load({ now: CLOCK });
  const texts = Object.values(JSON.parse(readFileSync(TEXTS, 'utf8')));
  const written = (text, context) => {
    try {
      return new Template(text).render(context);
    } catch (error) {
      return [error.code, error.message];
    }
  };
  let rendered = 0;
  json('manifest.json').rows.forEach((row, i) => {
    const text = readFileSync(join(CORPUS, row.template), 'utf8');
    const laid = new Template(text).format();
    assert.equal(new Template(laid).format(), laid, row.id);
    for (const step of [0, 1, 2]) {
      const { messages, tools } = texts[(7 * i + 31 * step) % texts.length];
      const context = { messages: JSON.parse(messages), tools: JSON.parse(tools), add_generation_prompt: step !== 1, bos_token: '<s>', eos_token: '</s>' };
      const expected = written(text, context);
      assert.deepEqual(written(laid, context), expected, `${row.id}: ${laid.slice(0, 200)}`);
      rendered += typeof expected === 'string' ? 1 : 0;
    }
  });
  assert.ok(rendered > 20);
});

test('ids of texts', { skip }, async () => {
  const rondo = await Rondo.load();
  const common = new Map(lines('tokens/strings.jsonl.xz').map(({ i, s }) => [i, s]));
  const failures = [];
  let cases = 0;
  const rows = json('tokenizers/index.json').filter(({ format }) => format !== 'gguf');
  for (const { id } of rows.filter((row, i) => i % EVERY_TOKENIZER === 0)) {
    const model = rondo.model({ files: { 'tokenizer.json': readFileSync(join(TOKENIZERS, id, 'tokenizer.json')) } });
    for (const { i, s = common.get(i), p, n = p, d = s } of lines(`tokens/${id}.jsonl.xz`)) {
      cases += 3;
      if (String(model.tokenize(s).ids) !== String(p)) failures.push(`${id}: ${JSON.stringify(s)}`);
      if (String(model.tokenize(s, { parse_special: false }).ids) !== String(n)) failures.push(`${id}, without control tokens: ${JSON.stringify(s)}`);
      if (model.detokenize(p).text !== d) failures.push(`${id}, decoded: ${JSON.stringify(s)}`);
    }
    model.close();
  }
  console.log(`texts: ${cases - failures.length} of ${cases}`);
  assert.ok(cases > 300);
  assert.deepEqual(failures, []);
});

test("the templates of @huggingface/jinja's own tests", { skip: skip || (existsSync(join(CORPUS, 'reference/hfjs_e2e.json.xz')) ? false : 'not in this corpus') }, async () => {
  const { Template } = await Rondo.load({ now: CLOCK });
  const cases = JSON.parse(execFileSync('xz', ['-dc', join(CORPUS, 'reference/hfjs_e2e.json.xz')], { maxBuffer: 1 << 30, encoding: 'utf8' }));
  const agreed = cases.filter(({ jinja2_agrees }) => jinja2_agrees);
  assert.ok(agreed.length > 40);
  for (const { name, template, context, target } of agreed) {
    assert.equal(new Template(readFileSync(join(CORPUS, template), 'utf8')).render(context), target, name);
  }
});
