// The methods of models answer as the operations of the line protocol do.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { MemoryFiles, Rondo } from '../rondo.mjs';

const FOLDER = join(process.env.RONDO_GOLDENS, 'model');
const files = Object.fromEntries(readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name))]));
const memory = new MemoryFiles(Object.fromEntries(Object.entries(files).map(([name, content]) => [`m/${name}`, content])));
const rondo = await Rondo.load({ files: memory, now: '2026-03-14T15:09:26' });
const model = rondo.model({ path: 'm' });
const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } } }];
const messages = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'hello 🌧 ~fin~' },
  { role: 'assistant', content: 'x', reasoning_content: 'y', tool_calls: [{ function: { name: 'weather', arguments: { city: 'Zürich' } } }] },
  { role: 'tool', content: 'rain' },
];
const both = { template_file: 'm', tokenizer: 'm' };

function same(op, request, answer) {
  const { id, ...reply } = rondo.batch({ op, ...both, ...request });
  assert.deepEqual(answer, reply, op);
}

test('render and encode', () => {
  for (const options of [{}, { add_generation_prompt: true }, { tools }, { tools, kwargs: { a: 1 }, spans: true }, { mode: 'lenient' }]) {
    same('render', { messages, ...options }, model.render(messages, options));
    const { spans, ...rest } = options;
    same('encode', { messages, ...rest }, model.encode(messages, rest));
  }
  same('encode', { messages, loss_mask: { part: 'turn' } }, model.encode(messages, { loss_mask: { part: 'turn' } }));
});

test('parse, stop, grammar, bridge, tokens', () => {
  const text = '(*mull so mull*)Yes{!do weather with {"city": "Rome"} do!}~fin~';
  same('parse', { text, tools }, model.parse(text, { tools }));
  same('stop', {}, model.stop());
  same('grammar', { tools }, model.grammar({ tools }));
  const { ids } = model.encode(messages.slice(0, 2), { add_generation_prompt: true });
  const said = model.tokenize('Yes~fin~').ids;
  const next = [{ role: 'user', content: 'and?' }];
  same('bridge', { prompt_ids: ids, completion_ids: said, new_messages: next }, model.bridge(ids, said, next));
  assert.deepEqual(model.tokenize(text), rondo.batch({ op: 'tokenize', tokenizer: 'm', text }));
  assert.deepEqual(model.tokenize(text, { offsets: true }), rondo.batch({ op: 'tokenize', tokenizer: 'm', text, offsets: true }));
  assert.deepEqual(model.detokenize(ids), rondo.batch({ op: 'detokenize', tokenizer: 'm', ids }));
});

test('errors have the code, the place and the words of the protocol', () => {
  const cases = [
    ['render', { messages: [{ role: 'nobody', content: '' }] }, ({ messages: given }) => model.render(given)],
    ['render', { messages, nonsense: 1 }, ({ messages: given, ...options }) => model.render(given, options)],
    ['encode', { messages: 'no' }, ({ messages: given }) => model.encode(given)],
    ['parse', { text: '{!do', strict: true }, ({ text, ...options }) => model.parse(text, options)],
  ];
  for (const [op, request, ask] of cases) {
    const { error } = JSON.parse(rondo.batchLine(JSON.stringify({ op, ...both, ...request })));
    assert.throws(() => ask(request), (thrown) => {
      assert.equal(thrown.code, error.code);
      assert.equal(thrown.message, error.message);
      assert.deepEqual(thrown.at, error.at);
      return true;
    });
  }
});
