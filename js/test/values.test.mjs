// Values go into the module as tapes, or as JSON text where a tape has no rule for them: what arrives is the same.
import assert from 'node:assert/strict';
import test from 'node:test';

import { Rondo } from '../rondo.mjs';
import { tapeOf } from '../tape.mjs';

const rondo = await Rondo.load();
const TEMPLATE = '{{ x | tojson }} {{ x }}';

function rendered(context) {
  try {
    return new rondo.Template(TEMPLATE).render(context);
  } catch (error) {
    return error.message;
  }
}

// A date beside it has no tape, so all of the context is JSON text.
function throughText(x) {
  return rendered({ x, beside: new Date(0) });
}

function throughTape(x) {
  return rendered({ x });
}

const nested = (depth) => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`);

const PLAIN = {
  'numbers': [0, -0, 1, -1, 0.5, 1e21, 1e-7, 123456789012, 5e-324, 1.7976931348623157e308, NaN, Infinity, -Infinity],
  'what JSON has not': [undefined, () => 1, Symbol('s'), { a: undefined, b: () => 1, c: Symbol('s'), d: 1 }],
  'words': ['', 'a', 'naïve café', '\u0000\n"\\\u007f\u0080\u00ff', 'ā', '日本語', '😀', 'a😀b', '\ufeff'],
  'halves of pairs': ['\ud83d', '\ude00', 'a\ud83d', '\ude00b', '\ude00\ud83d'],
  'two halves beside each other': ['\ud83d', '\ude00'],
  'keys': [{ a: 1, b: { a: 2, c: { b: 3 } } }, { 2: 'two', 1: 'one', z: 0 }, { '': 1, 'naïve': 2, '日本': 3, '__proto__x': 4 }],
  'nothing in it': [{}, [], [[]], [{}], null, true, false],
  'holes': [1, , 3],
  'no prototype': Object.assign(Object.create(null), { a: 1 }),
  'names that are no members': Object.defineProperty({ a: 1 }, 'hidden', { value: 2, enumerable: false }),
  'nested': nested(60),
  'long': Array.from({ length: 3000 }, (_, i) => ({ i, text: `${i}é`.repeat(i % 50) })),
};
PLAIN['many keys, and long ones'] = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`k${i}`.repeat(1 + i % 40), i]));
const OTHER = {
  'a date': new Date(0),
  'toJSON()': { toJSON: () => ({ a: 1 }) },
  'boxed': [new String('a'), new Number(1), new Boolean(false)],
  'a class': new (class { a = 1; #b = 2; })(),
  'a map': new Map([[1, 2]]),
  'deep': nested(250),
  'a getter that renders': { get a() { return new rondo.Template('{{ x.b }}').render({ x: { b: 'inside' } }); }, c: 2 },
};

for (const [name, value] of Object.entries(PLAIN)) {
  test(`as a tape: ${name}`, () => {
    assert.ok(tapeOf({ x: value }) !== undefined);
    assert.ok(tapeOf({ x: value, beside: new Date(0) }) === undefined);
    assert.equal(throughTape(value), throughText(value));
  });
}

for (const [name, value] of Object.entries(OTHER)) {
  test(`by JSON's own rules: ${name}`, () => assert.equal(throughTape(value), throughText(value)));
}

test('a value that has no JSON throws as JSON.stringify() does, and breaks nothing', () => {
  const circle = { role: 'user', content: 'x' };
  circle.content = [circle];
  const model = rondo.model({ template: '{{ messages[0].content }}' });
  const parser = model.parser();
  for (const value of [circle, 10n, { get a() { throw new TypeError('no'); } }]) {
    assert.throws(() => new rondo.Template(TEMPLATE).render({ x: value }), TypeError);
    assert.throws(() => model.render([value]), TypeError);
  }
  assert.equal(model.render([{ role: 'user', content: 'x' }]).text, 'x');
  assert.deepEqual(parser.end().message.content, ''); // the instance is the same one
});

test('members of the prototype are nobody\'s own', () => {
  Object.prototype.added = 'x';
  try {
    assert.equal(throughTape({ a: 1 }), throughText({ a: 1 }));
    assert.equal(new rondo.Template('{{ added is defined }}').render({ a: 1 }), 'False');
  } finally {
    delete Object.prototype.added;
  }
});

test('what throws RangeError by itself breaks nothing', () => {
  const model = rondo.model({ template: '{{ messages[0].content }}' });
  const parser = model.parser();
  assert.throws(() => model.render([{ role: 'user', content: 'x' }], { kwargs: { at: { toJSON: () => new Date(NaN).toISOString() } } }), RangeError);
  assert.deepEqual(parser.end().message.content, ''); // the instance is the same one
});

test('calls within calls, large and small, keep what they were given apart', () => {
  const { Template } = rondo;
  const inner = (n) => new Template('{{ x }}{{ y.z }}').render({ x: 'i'.repeat(n), y: { get z() { return n > 10 ? inner(Math.floor(n / 10)) : 'e'; } } });
  for (const n of [1, 1000, 30000, 70000, 3000000, 5]) {
    const outer = { a: 'o'.repeat(n), get b() { return inner(n); }, c: 'p'.repeat(n) };
    const wanted = `${'o'.repeat(n)}${inner(n)}${'p'.repeat(n)}`;
    assert.equal(new Template('{{ a }}{{ b }}{{ c }}').render(outer), wanted);
  }
});

test('what comes out, in units of one byte and of two', () => {
  const { Template } = rondo;
  for (const text of ['', 'plain', 'naïve café\u0080\u00ff', 'Ā', '日本語 and more', 'é'.repeat(100000), `${'a'.repeat(100000)}😀`, '\ufeffx']) {
    assert.equal(new Template(text.replace(/\n$/, '')).render(), text);
    assert.equal(new Template('{{ x }}').render({ x: text }), text);
  }
  assert.equal(new Template('{{ x }}').render({ x: 'a\ud83db' }), 'a\ufffd\ufffd\ufffdb'); // half a pair is no text
});
