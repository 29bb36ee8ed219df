// What is fed while a model writes: parsers and rollouts.
import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

import { Rondo } from '../rondo.mjs';

const FOLDER = join(process.env.RONDO_GOLDENS, 'model');
const files = Object.fromEntries(readdirSync(FOLDER).map((name) => [name, readFileSync(join(FOLDER, name))]));
const rondo = await Rondo.load();
const model = rondo.model({ files });
const hello = [{ role: 'user', content: 'hello' }];
const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } } }];
const TURN = '(*mull It may rain. mull*)Let me look.{!do weather with {"city": "Zürich 🌧"} do!}~fin~';

function joined(events, kind) {
  return events.filter((event) => event.kind === kind).map((event) => event.text).join('');
}

test('a turn in pieces of any size is the turn at once', () => {
  const whole = model.parse(TURN, { tools });
  assert.equal(whole.tool_calls.length, 1);
  for (const size of [1, 2, 3, 7, 1000]) {
    const parser = model.parser({ tools, by_spelling: true });
    const events = [];
    const letters = [...TURN];
    for (let at = 0; at < letters.length; at += size) events.push(...parser.feed(letters.slice(at, at + size).join('')));
    const { message, events: last, text } = parser.end();
    events.push(...last);
    assert.deepEqual(message, whole);
    assert.deepEqual(parser.message(), whole);
    assert.equal(text, TURN);
    assert.equal(joined(events, 'content'), whole.content);
    assert.equal(joined(events, 'reasoning'), whole.reasoning_content);
    assert.deepEqual(JSON.parse(joined(events, 'arguments')), { city: 'Zürich 🌧' });
    assert.deepEqual(events.filter(({ kind }) => kind === 'call_start').map(({ call, text: name }) => [call, name]), [[0, 'weather']]);
    assert.equal(events.at(-1).kind, 'call_end');
    assert.deepEqual(parser.end().events, []);
    parser.close();
  }
});

test('arguments are read while they are written', () => {
  const parser = model.parser({ tools, by_spelling: true });
  assert.throws(() => parser.arguments(0), { code: 'bad_request' });
  parser.feed('{!do weather with {"city": "Zü');
  assert.deepEqual(parser.arguments(0), { value: { city: 'Zü' }, open: '/city' });
  parser.feed('rich"} do!}');
  assert.deepEqual(parser.arguments(0), { value: { city: 'Zürich' }, open: null });
});

test('a parser takes ids, one or many, and gives what their text gives', () => {
  const { ids } = model.tokenize(TURN);
  const whole = model.parse(ids, { tools });
  const parser = model.parser({ tools });
  for (const id of ids) parser.feed(id);
  assert.deepEqual(parser.end().message, whole);
  const another = model.parser({ tools });
  another.feed(Int32Array.from(ids));
  const { message, text } = another.end();
  assert.deepEqual(message, whole);
  assert.equal(text, TURN);
  const third = model.parser({ tools });
  for (const wrong of [[1.5], [-1], ['a'], [2 ** 31]]) assert.throws(() => third.feed(wrong), { name: 'RondoError', code: 'bad_request' });
  assert.throws(() => third.feed([1e6]), { code: 'tokenizer_error' });
});

test('a parser reads what arrives', async () => {
  async function* arriving() {
    for (const letter of TURN) yield letter;
  }
  const parser = model.parser({ tools, by_spelling: true });
  const events = [];
  for await (const event of parser.read(arriving())) events.push(event);
  assert.deepEqual(parser.message(), model.parse(TURN, { tools }));
  assert.equal(joined(events, 'content'), 'Let me look.');
  await assert.rejects(parser.read(['more']).next(), { code: 'bad_request' });
});

test('a rollout grows by ids that are never changed', () => {
  const rollout = model.rollout(hello, { tools });
  const first = rollout.state();
  assert.deepEqual(first.ids, model.encode(hello, { tools, add_generation_prompt: true }).ids);
  assert.ok(first.sampled_mask.every((bit) => bit === 0));
  const sampled = model.tokenize(TURN).ids;
  const said = rollout.complete(sampled);
  assert.equal(said.tool_calls[0].name, 'weather');
  assert.throws(() => rollout.complete(sampled), { code: 'bad_request' });
  const { ids: appended, begin } = rollout.extend([{ role: 'tool', name: 'weather', content: 'rain' }]);
  const { ids, message_indices, sampled_mask, messages } = rollout.state();
  assert.deepEqual(ids, [...first.ids, ...sampled, ...appended]);
  assert.equal(begin, first.ids.length + sampled.length);
  assert.equal(message_indices.length, ids.length);
  assert.deepEqual(sampled_mask.slice(first.ids.length, begin), sampled.map(() => 1));
  assert.deepEqual(messages.map(({ role }) => role), ['user', 'assistant', 'tool']);
  assert.throws(() => rollout.extend([{ role: 'assistant', content: 'no' }]), { name: 'RondoError' });
  rollout.close();
  assert.throws(() => rollout.state(), { code: 'closed' });
});

test('parsers and rollouts outlive their model, and what is closed says so', () => {
  const one = rondo.model({ files });
  const parser = one.parser();
  const rollout = one.rollout(hello);
  one.close();
  assert.equal(parser.feed('Hi').map(({ text }) => text).join(''), 'Hi');
  assert.ok(rollout.state().ids.length > 0);
  assert.throws(() => one.parse('x'), { code: 'bad_request' });
  parser.close();
  parser.close();
  assert.throws(() => parser.feed('x'), { code: 'closed' });
});

test('what was open in an instance that broke says so, and a model goes on', () => {
  const one = rondo.model({ files });
  const parser = one.parser();
  const ids = one.encode(hello).ids;
  const { Template } = rondo;
  const deep = (depth) => `{{ ${'('.repeat(depth)}1${')'.repeat(depth)} }}`;
  let broke = false;
  // The engine's own limits come first for most templates; the stack of JavaScript is what a nested value uses up.
  try {
    rondo.batchLine(`{"op":"jinja","template":"{{ x }}","context":{"x":${'['.repeat(1e5)}${']'.repeat(1e5)}}}`);
    new Template(deep(5000)).render();
  } catch (error) {
    broke = error.message.startsWith('the stack');
  }
  if (broke) assert.throws(() => parser.feed('x'), { code: 'limit' });
  else assert.equal(parser.feed('x').length, 1);
  assert.deepEqual(one.encode(hello).ids, ids);
});

test('a model in files of one\'s own', async () => {
  const disk = {
    read: (path) => (path.startsWith('disk/') ? files[path.slice(5)] : undefined),
    list: (path) => (path === 'disk' ? Object.keys(files) : path === '' ? ['disk'] : undefined),
  };
  const other = await Rondo.load({ files: disk });
  assert.deepEqual(other.model({ path: 'disk' }).encode(hello).ids, model.encode(hello).ids);
  assert.deepEqual(other.model({ files }).encode(hello).ids, model.encode(hello).ids);
  assert.throws(() => other.model({ path: 'elsewhere' }).encode(hello), { code: 'not_found' });
});

test('options of opening: a model answers as each call asks', () => {
  const messages = [{ role: 'assistant', content: null, tool_calls: [{ function: { name: 'weather', arguments: '{"city": "x"}' } }] }];
  const strict = model.render(messages);
  const lenient = model.render(messages, { mode: 'lenient' });
  assert.ok(strict.text.includes('with "{'), 'as the template has it: JSON text is a string');
  assert.ok(lenient.text.includes('with {"city": "x"}'));
  assert.ok(lenient.shaped.length > 0);
  assert.deepEqual(model.render(messages), strict);
});
