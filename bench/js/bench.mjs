// The JavaScript package beside @huggingface/jinja and @huggingface/tokenizers, in one process of Node.
//
// Usage: node bench.mjs INPUTS [--quick]     INPUTS is written by bench/js_bench.py, which starts this
//
// Both sides take turns in slices, and a ratio is the median of the ratios within the rounds.  The clock is the processor time of
// the process.  All texts and ids are compared; what differs is named below the table.
import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const inputs = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const quick = process.argv.includes('--quick');
const ROUNDS = quick ? 3 : 9;
const SLICE_MS = quick ? 40 : 120;
const WARM_MS = quick ? 150 : 600;
// A peer's text that is no longer or shorter than this is work of the same kind.
const TOLERANCE = 0.05;

const { Rondo } = await import(pathToFileURL(`${inputs.package}/rondo.mjs`));
const peers = (name) => import(pathToFileURL(`${inputs.peers}/node_modules/${name}`));
const { Template: PeerTemplate } = await peers('@huggingface/jinja/dist/index.js');
const { Tokenizer: PeerTokenizer } = await peers('@huggingface/tokenizers/dist/tokenizers.mjs');
const rondo = await Rondo.load({ now: inputs.now });

function processorMs() {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

// Milliseconds of one call, over a slice of time.
function slice(work, ms) {
  const begin = processorMs();
  let count = 0;
  let now;
  do {
    work();
    ++count;
    now = processorMs();
  } while (now - begin < ms);
  return (now - begin) / count;
}

function median(values) {
  const sorted = values.toSorted?.((a, b) => a - b) ?? [...values].sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)];
}

// {ours, ratio}: milliseconds, and how many times as long the peer takes.
function compare(ours, theirs) {
  slice(ours, WARM_MS);
  slice(theirs, WARM_MS);
  const rounds = Array.from({ length: ROUNDS }, () => {
    const own = slice(ours, SLICE_MS);
    return { own, ratio: slice(theirs, SLICE_MS) / own };
  });
  return { ours: median(rounds.map(({ own }) => own)), ratio: median(rounds.map(({ ratio }) => ratio)) };
}

function row(...cells) {
  console.log(`| ${cells.join(' | ')} |`);
}

function table(title, ...heads) {
  console.log(`\n${title}\n`);
  row(...heads);
  row(...heads.map(() => '---'));
}

function attempt(work) {
  try {
    return { value: work() };
  } catch (error) {
    return { error };
  }
}

function renders() {
  const remarks = [];
  for (const count of inputs.counts) {
    const ratios = [];
    table(`Rendering ${count} messages`, 'template', 'input', 'KB', 'rondo, ms', '@huggingface/jinja', 'parsing beside it');
    for (const { name, text, shapes } of inputs.templates) {
      const ours = new rondo.Template(text);
      const shape = shapes[count].find(({ variables }) => attempt(() => ours.render(variables)).error === undefined);
      if (shape === undefined) {
        remarks.push(`${name}: no conversation fits it`);
        continue;
      }
      const compiled = attempt(() => new PeerTemplate(text));
      const want = ours.render(shape.variables);
      const got = attempt(() => compiled.value.render(shape.variables));
      if (compiled.error ?? got.error) {
        remarks.push(`${name}, ${count}: @huggingface/jinja fails: ${String((compiled.error ?? got.error).message).split('\n')[0].slice(0, 100)}`);
        continue;
      }
      if (got.value !== want) remarks.push(`${name}, ${count}: @huggingface/jinja writes another text`);
      if (Math.abs(got.value.length - want.length) > TOLERANCE * want.length) continue;
      const { ours: ms, ratio } = compare(() => ours.render(shape.variables), () => compiled.value.render(shape.variables));
      const whole = slice(() => new PeerTemplate(text), SLICE_MS) / ms;
      ratios.push(ratio);
      row(name, shape.name, (want.length / 1000).toFixed(1), ms.toFixed(3), ratio.toFixed(1), `+ ${whole.toFixed(1)}`);
    }
    row('**median**', '', '', '', median(ratios).toFixed(1), '');
    row('**least**', '', '', '', Math.min(...ratios).toFixed(1), '');
  }
  return remarks;
}

function same(a, b) {
  return a.length === b.length && a.every((id, i) => id === b[i]);
}

function tokenizers() {
  const remarks = [];
  const ratios = [];
  table('Tokenizing', 'vocabulary', 'entries', 'load, ms', 'peer', 'text', 'KB', 'first, ms', 'peer', 'then, ms', 'peer');
  for (const { name, file, config } of inputs.vocabularies) {
    const bytes = readFileSync(file);
    const entries = new Set();
    let begin = processorMs();
    const ours = rondo.model({ files: { 'tokenizer.json': bytes } });
    ours.tokenize('');
    const load = processorMs() - begin;
    begin = processorMs();
    const parsed = JSON.parse(new TextDecoder().decode(bytes));
    const theirs = new PeerTokenizer(parsed, config);
    const peerLoad = processorMs() - begin;
    entries.add(parsed.model.vocab.length ?? Object.keys(parsed.model.vocab).length);
    inputs.texts.forEach(({ name: kind, text }, i) => {
      const first = (work) => {
        const start = processorMs();
        const value = work();
        return { value, ms: processorMs() - start };
      };
      const peer = () => theirs.encode(text, { add_special_tokens: false }).ids;
      const own = () => ours.tokenize(text).ids;
      const [a, b] = [first(own), first(peer)];
      if (!same(a.value, Array.from(b.value))) remarks.push(`${name}, ${kind}: @huggingface/tokenizers gives other ids`);
      const { ours: ms, ratio } = compare(own, peer);
      ratios.push(ratio);
      const about = i === 0 ? [name, [...entries][0], load.toFixed(0), (peerLoad / load).toFixed(1)] : ['', '', '', ''];
      row(...about, kind, (text.length / 1000).toFixed(0), a.ms.toFixed(1), (b.ms / a.ms).toFixed(1), ms.toFixed(2), ratio.toFixed(1));
    });
    ours.close();
  }
  row('**median**', '', '', '', '', '', '', '', '', median(ratios).toFixed(1));
  row('**least**', '', '', '', '', '', '', '', '', Math.min(...ratios).toFixed(1));
  return remarks;
}

const only = inputs.only;
const remarks = [...(only === 'tokens' ? [] : renders()), ...(only === 'render' ? [] : tokenizers())];
console.log(remarks.length === 0 ? '\nall texts and ids are equal' : `\nall other texts and ids are equal\n* ${remarks.join('\n* ')}`);
