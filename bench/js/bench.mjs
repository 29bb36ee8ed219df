// The JavaScript package beside @huggingface/jinja and @huggingface/tokenizers, in one process of Node.
//
// Usage: node bench.mjs INPUTS [--quick]     INPUTS is written by bench/js_bench.py, which starts this
//
// Both sides take turns in slices, and a ratio is the median of the ratios within the rounds.  The clock is the processor time of
// the main thread.  All texts and ids are compared; what differs is named below the table.
import { existsSync, openSync, readFileSync, readSync } from 'node:fs';
import { pathToFileURL } from 'node:url';

const inputs = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const quick = process.argv.includes('--quick');
const ROUNDS = quick ? 3 : 9;
const SLICE_MS = quick ? 40 : 120;
const WARM_MS = quick ? 150 : 600;
// A peer's text that is no longer or shorter than this is work of the same kind.
const TOLERANCE = 0.05;

const STATISTICS = `/proc/self/task/${process.pid}/schedstat`; // begins with nanoseconds

const { Rondo } = await import(pathToFileURL(`${inputs.package}/rondo.mjs`));
const peers = (name) => import(pathToFileURL(`${inputs.peers}/node_modules/${name}`));
const { Template: PeerTemplate } = await peers('@huggingface/jinja/dist/index.js');
const { Tokenizer: PeerTokenizer } = await peers('@huggingface/tokenizers/dist/tokenizers.mjs');
const rondo = await Rondo.load({ now: inputs.now });

// What the main thread has had of a processor, where the system tells; else the process with its helpers.
const clock = existsSync(STATISTICS) ? openSync(STATISTICS) : undefined;
const read = Buffer.alloc(64);

function processorMs() {
  if (clock !== undefined) return parseInt(read.latin1Slice(0, readSync(clock, read, 0, 64, 0)), 10) / 1e6;
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

// Milliseconds of one call, over a slice of time.  Reading the clock takes as long as a short render, so calls go in groups.
function slice(work, ms) {
  const begin = processorMs();
  let count = 0;
  let group = 1;
  let now;
  do {
    for (let i = 0; i < group; ++i) work();
    count += group;
    now = processorMs();
    if (now - begin < ms / 8) group *= 2;
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

function timed(work) {
  const begin = processorMs();
  const value = work();
  return { value, ms: processorMs() - begin };
}

function opened(bytes) {
  const model = rondo.model({ files: { 'tokenizer.json': bytes } });
  model.tokenize('');
  return model;
}

// The first load compiles the module's code as it comes to it; the least of some later ones does not.
function loads(bytes) {
  const first = timed(() => opened(bytes));
  const later = Array.from({ length: ROUNDS }, () => {
    const { value, ms } = timed(() => opened(bytes));
    value.close();
    return ms;
  });
  return { model: first.value, first: first.ms, later: Math.min(...later) };
}

function tokenizers() {
  const remarks = [];
  const ratios = [];
  table('Tokenizing', 'vocabulary', 'entries', 'first load, ms', 'later', 'peer, by later', 'text', 'KB', 'first, ms', 'peer', 'then, ms', 'peer');
  for (const { name, file, config } of inputs.vocabularies) {
    const bytes = readFileSync(file);
    const { model: ours, first: firstLoad, later } = loads(bytes);
    const { value: [parsed, theirs], ms: peerLoad } = timed(() => {
      const json = JSON.parse(new TextDecoder().decode(bytes));
      return [json, new PeerTokenizer(json, config)];
    });
    const { vocab } = parsed.model;
    const entries = Array.isArray(vocab) ? vocab.length : Object.keys(vocab).length;
    inputs.texts.forEach(({ name: kind, text }, i) => {
      const peer = () => theirs.encode(text, { add_special_tokens: false }).ids;
      const own = () => ours.tokenize(text).ids;
      const [a, b] = [timed(own), timed(peer)];
      if (!same(a.value, Array.from(b.value))) remarks.push(`${name}, ${kind}: @huggingface/tokenizers gives other ids`);
      const { ours: ms, ratio } = compare(own, peer);
      ratios.push(ratio);
      const about = i === 0 ? [name, entries, firstLoad.toFixed(0), later.toFixed(0), (peerLoad / later).toFixed(1)] : ['', '', '', '', ''];
      row(...about, kind, (text.length / 1000).toFixed(0), a.ms.toFixed(1), (b.ms / a.ms).toFixed(1), ms.toFixed(2), ratio.toFixed(1));
    });
    ours.close();
  }
  row('**median**', '', '', '', '', '', '', '', '', '', median(ratios).toFixed(1));
  row('**least**', '', '', '', '', '', '', '', '', '', Math.min(...ratios).toFixed(1));
  return remarks;
}

const only = inputs.only;
const remarks = [...(only === 'tokens' ? [] : renders()), ...(only === 'render' ? [] : tokenizers())];
console.log(remarks.length === 0 ? '\nall texts and ids are equal' : `\nall other texts and ids are equal\n* ${remarks.join('\n* ')}`);
