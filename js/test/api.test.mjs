import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { MemoryFiles, Rondo } from '../rondo.mjs';

const FOLDER = join(process.env.RONDO_GOLDENS, 'model');
const files = Object.fromEntries(readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name))]));
const rondo = await Rondo.load();
const hello = [{ role: 'user', content: 'hello' }];

test('a model from the texts of its files', () => {
  const model = rondo.model({ files });
  const prompt = model.encode(hello, { add_generation_prompt: true });
  assert.equal(prompt.ids.length, prompt.message_indices.length);
  assert.equal(model.detokenize(prompt.ids).text, model.render(hello, { add_generation_prompt: true }).text);
  assert.deepEqual(model.tokenize('hello').ids, [259]);
  const next = model.bridge(prompt.ids, [259], [{ role: 'user', content: 'world' }]);
  assert.deepEqual(next.ids.slice(0, prompt.ids.length + 1), [...prompt.ids, 259]);
  assert.equal(model.parse('Hello there.').content, 'Hello there.');
  assert.equal(model.parsePieces(['Hel', 'lo']).message.content, 'Hello');
  assert.ok(Object.keys(model.check()).length > 0);
  model.close();
  assert.throws(() => rondo.model({ files: { 'tokenizer.json': '{' } }).tokenize('x'), { name: 'RondoError' });
});

test('spans of a prompt name the fields that they come from', () => {
  const { text, spans } = rondo.model({ files }).render(hello, { spans: true });
  const bytes = new TextEncoder().encode(text);
  assert.equal(spans.at(-1).end, bytes.length);
  const found = spans.find((span) => new TextDecoder().decode(bytes.slice(span.start, span.end)) === 'hello');
  assert.ok(JSON.stringify(found).includes('content'));
});

test('applyChatTemplate gives ids or text', () => {
  const model = rondo.model({ files });
  assert.deepEqual(model.applyChatTemplate(hello), model.encode(hello).ids);
  assert.equal(model.applyChatTemplate(hello, { tokenize: false }), model.render(hello).text);
});

test('a byte order mark that a text begins with stays', () => {
  const model = rondo.model({ files });
  const text = '\ufeffhello';
  assert.equal(model.detokenize(model.tokenize(text).ids).text, text);
  assert.equal(new rondo.Template('{{ x }}').render({ x: text }), text);
  const parser = model.parser({ by_spelling: true });
  assert.deepEqual([...parser.feed(text), ...parser.end().events].map((event) => event.text).join(''), text);
});

test('Template as of @huggingface/jinja', () => {
  const { Template } = rondo;
  assert.equal(new Template('{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}').render({ messages: hello }), 'user: hello\n');
  assert.throws(() => new Template('{% for %}'), { code: 'template_syntax' });
  assert.throws(() => new Template('{{ raise_exception("no") }}').render(), { code: 'template_raised', message: 'no' });
});

test('exceptions inside templates are caught, and the next call goes on', () => {
  const { Template } = rondo;
  for (let i = 0; i < 200; ++i) assert.throws(() => new Template('{{ 1 + "a" }}').render(), { code: 'template_error' });
  assert.equal(new Template('{{ 1 + 1 }}').render(), '2');
});

test('deep nesting ends in an error, and the next call goes on', () => {
  const deep = `${'['.repeat(100000)}${']'.repeat(100000)}`;
  let reply;
  try {
    reply = JSON.parse(rondo.batchLine(`{"op":"jinja","template":"{{ x }}","context":{"x":${deep}}}`));
  } catch (error) {
    reply = { error };
  }
  assert.ok(['limit', 'bad_request'].includes(reply.error.code), JSON.stringify(reply).slice(0, 200));
  const { Template } = rondo;
  assert.throws(() => new Template('{% macro f(n) %}{{ f(n + 1) }}{% endmacro %}{{ f(0) }}').render());
  assert.throws(() => new Template(`{{ ${'('.repeat(5000)}1${')'.repeat(5000)} }}`).render());
  assert.equal(new Template('{{ 1 + 1 }}').render(), '2');
});

test('any bytes of a request get an answer', () => {
  for (const line of ['', '{', 'null', '{"op": "none"}', '\u0000', '\ud800', '{"op":"render","template_file":"../../etc/passwd","messages":[]}']) {
    assert.ok(JSON.parse(rondo.batchLine(line)).error !== undefined, line);
  }
});

test('files in memory: folders, paths with dots, and deleting', () => {
  const memory = new MemoryFiles({ 'a/b/c.txt': 'x', '/a/d': new Uint8Array([1]) });
  assert.deepEqual(memory.list('a').sort(), ['b', 'd']);
  assert.equal(memory.list('nowhere'), undefined);
  memory.delete('a/b');
  assert.deepEqual(memory.list('a'), ['d']);
  memory.set('./e/../f', 'y');
  assert.equal(new TextDecoder().decode(memory.read('f')), 'y');
});
