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

test('bug: what is neither ids nor a text was taken for none', () => {
  const model = rondo.model({ files });
  const prompt = model.encode(hello, { add_generation_prompt: true });
  const parser = model.parser();
  const rollout = model.rollout(hello);
  const refused = (message, ...calls) => {
    for (const call of calls) assert.throws(call, { name: 'RondoError', code: 'bad_request', message });
  };
  refused('expected a list of ids, found object', () => model.bridge(prompt, [259], hello), () => model.parse({}), () => parser.feed({}));
  refused('expected a list of ids, found number', () => model.detokenize(259), () => model.parse(259), () => model.bridge(259, [], hello));
  refused('expected a list of ids, found undefined', () => model.parse(), () => rollout.complete());
  refused('expected a list of ids, found null', () => parser.feed(null));
  refused('expected a list of ids, found string', () => model.detokenize(''));
  refused('expected a text, found undefined', () => model.tokenize());
  refused('expected a text, found number', () => model.tokenize(5));
  assert.equal(model.detokenize(new Set([259])).text, 'hello');
  assert.equal(model.detokenize({ length: 1, 0: 259 }).text, 'hello');
});

test('bug: what files threw, and bytes in other views, broke the instance', async () => {
  const template = '{{ messages[0].content }}';
  const held = rondo.model({ files });
  const parser = held.parser();
  const from = (read) => Rondo.load({ files: { read, list: (path) => (path === 'm' ? ['chat_template.jinja'] : null) } });
  const text = async (read) => (await from(read)).model({ path: 'm' }).render(hello).text;
  const error = new Error('the net is down');
  await assert.rejects(text(() => { throw error; }), error);
  await assert.rejects(text(() => 5), { name: 'RondoError', code: 'bad_request', message: /a file is text or bytes, found number/ });
  const bytes = new TextEncoder().encode(`-${template}`);
  for (const content of [template, bytes.slice(1), bytes.slice(1).buffer, new DataView(bytes.buffer, 1)]) {
    const read = (path) => (path === 'm/chat_template.jinja' ? content : null);
    assert.equal(await text(read), 'hello');
    assert.equal(rondo.model({ files: { 'chat_template.jinja': content, 'tokenizer.json': undefined } }).render(hello).text, 'hello');
  }
  assert.throws(() => rondo.model({ files: { 'chat_template.jinja': 5 } }), { code: 'bad_request', message: /chat_template.jinja: a file is text or bytes/ });
  let isDown = true; // what failed may go on later, with the same instance
  const shaky = await from((path) => {
    if (isDown) throw error;
    return path === 'm/chat_template.jinja' ? template : undefined;
  });
  assert.throws(() => shaky.model({ path: 'm' }).render(hello), error);
  isDown = false;
  assert.equal(shaky.model({ path: 'm' }).render(hello).text, 'hello');
  parser.feed('x');
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

test('applyChatTemplate takes the options of @huggingface/transformers, or says that it does not', () => {
  const model = rondo.model({ files });
  const ids = model.applyChatTemplate(hello);
  assert.deepEqual(model.apply_chat_template(hello), ids);
  assert.deepEqual(model.applyChatTemplate(hello, { return_dict: true, return_tensor: false }), { input_ids: ids, attention_mask: ids.map(() => 1) });
  assert.equal(model.applyChatTemplate(hello, { return_dict: true, tokenize: false }), model.render(hello).text);
  assert.deepEqual(model.applyChatTemplate(hello, { tools: null, documents: null, chat_template: null, padding: true, truncation: null, max_length: null }), ids);
  for (const options of [{ return_tensor: true }, { truncation: true, max_length: 4 }, { padding: 'max_length' }, { tokenizer_kwargs: { padding_side: 'left' } }]) {
    assert.throws(() => model.applyChatTemplate(hello, options), { code: 'bad_request', message: new RegExp(Object.keys(options)[0]) });
  }
});

test('applyChatTemplate renders the template that a call brings, by its text or its name', () => {
  const model = rondo.model({ files });
  const own = model.render(hello).text;
  const chat_template = 'X{{ messages[0].content }} {{ y }}';
  assert.equal(model.applyChatTemplate(hello, { tokenize: false, chat_template, y: 'z' }), 'Xhello z');
  assert.deepEqual(model.applyChatTemplate(hello, { chat_template: '{{ messages[0].content }}' }), [259]);
  assert.equal(model.applyChatTemplate(hello, { tokenize: false }), own);
  for (let i = 0; i < 40; ++i) assert.equal(model.applyChatTemplate(hello, { tokenize: false, chat_template: `{{ ${i} }}` }), `${i}`);
  assert.equal(model.applyChatTemplate(hello, { tokenize: false }), own);
  assert.throws(() => model.applyChatTemplate(hello, { chat_template: '{% if %}' }), { code: 'template_syntax' });
  assert.throws(() => model.applyChatTemplate(hello, { chat_template: {} }), { code: 'bad_request' });
  const config = JSON.stringify({ chat_template: [{ name: 'default', template: 'D' }, { name: 'rag', template: 'R{{ messages | length }}' }] });
  const several = rondo.model({ files: { 'tokenizer.json': files['tokenizer.json'], 'tokenizer_config.json': config } });
  assert.equal(several.applyChatTemplate(hello, { tokenize: false }), 'D');
  assert.equal(several.applyChatTemplate(hello, { tokenize: false, chat_template: 'rag' }), 'R1');
  assert.throws(() => several.applyChatTemplate(hello, { tokenize: false, chat_template: 'none' }), { name: 'RondoError' });
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

test('a function in the context of a Template is refused by its name', () => {
  const { Template } = rondo;
  assert.throws(() => new Template('{{ f(2) }}').render({ f: (x) => x + 1 }), { code: 'bad_request', message: /`f` in the context is a function/ });
  assert.equal(new Template("{{ strftime_now('%Y') | length }}").render({ f: undefined }), '4');
});

test('Template.format() lays a template out as @huggingface/jinja does', () => {
  const { Template } = rondo;
  const template = new Template('{% for m in messages %}\n{{ m.role }}: x\n{% endfor %}');
  assert.equal(template.format(), '{%- for m in messages -%}\n\t{{- m.role -}}\n\t{{- ": x\\n" -}}\n{%- endfor -%}');
  assert.equal(template.format({ indent: 2 }).split('\n')[1], '  {{- m.role -}}');
  const parts = [' {% if a %} ', '{%- set x = "%}" %}', '\n{% set y %} b{{ x }}\n {% endset %}\n', '{# c\n #}\n', "{{ {'a': {}} }}\n ", '{%+ if b -%}\n', ' c{% endif %}',
    ' \n\n{% else +%}\n', '{% raw %}\n {{ d }}{% endraw -%} ', 'e\n\t{%- endif %}\n', '{% macro f(a=1) %}\n{{ a -}} \n{% endmacro %}{{- f() }}', '\u00a0{{ y }}\r\n', '\n'];
  // All of it, and what is left without a part; what is no template then is passed over.
  for (let left = -1; left < parts.length; ++left) {
    const text = parts.filter((_, i) => i !== left).join('');
    for (const context of [{ a: 1, b: 1 }, { a: 1 }, {}]) {
      let expected;
      try {
        expected = new Template(text).render(context);
      } catch {
        continue;
      }
      const laid = new Template(text).format();
      assert.equal(new Template(laid).render(context), expected, laid);
      assert.equal(new Template(laid).format(), laid);
    }
  }
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
