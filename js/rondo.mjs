// rondo in JavaScript: chat messages to text and token ids, and back.  See docs/javascript.md.
import { RondoError } from './errors.mjs';
import { formatted } from './format.mjs';
import { Library } from './library.mjs';
import { Model } from './model.mjs';
import { MemoryFiles } from './wasi.mjs';

export { RondoError } from './errors.mjs';
export { MemoryFiles } from './wasi.mjs';

const MODULE = new URL('rondo.wasm', import.meta.url);

async function compiled(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof Uint8Array || source instanceof ArrayBuffer) return WebAssembly.compile(source);
  if (source instanceof URL && source.protocol === 'file:') {
    const { readFile } = await import('node:fs/promises');
    return WebAssembly.compile(await readFile(source));
  }
  const response = source instanceof Response ? source : await fetch(source);
  return WebAssembly.compile(await response.arrayBuffer());
}

// Local time, "2026-03-14T15:09:26", and the second that it is of.
let second;
let time;

function localTime() {
  const now = new Date();
  const asked = Math.floor(now.getTime() / 1000);
  if (asked !== second) {
    second = asked;
    time = new Date(now.getTime() - now.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
  }
  return time;
}

// For a template's context that has a function.
function isCalled(name) {
  return new RondoError({ code: 'bad_request', message: `\`${name}\` in the context is a function, and templates cannot call JavaScript`,
    hint: 'give its value, or write a macro; raise_exception, strftime_now and range are there without it' });
}

// The contents that models were made of, and behind them the files that the library was given.
class Layered {
  #own;
  #given;

  constructor(own, given) {
    this.#own = own;
    this.#given = given;
  }

  read(path) {
    return this.#own.read(path) ?? this.#given.read(path);
  }

  list(path) {
    const lists = [this.#own.list(path), this.#given.list(path)].filter((names) => names != null);
    return lists.length === 0 ? undefined : [...new Set(lists.flatMap((names) => [...names]))];
  }
}

/** The library.  `const rondo = await Rondo.load()`. */
export class Rondo {
  #module;
  #now;
  #files;
  #own = new MemoryFiles();
  #library;
  #count = 0;
  // What models need of it: the library, a new one where a call has broken it, and the time of a call that names none.
  #host = { library: () => this.#open(), now: () => this.#time(), batch: (request) => this.batch(request), forget: (path) => this.#own.delete(path) };

  constructor(module, { files = new MemoryFiles(), now } = {}) {
    this.#module = module;
    this.#now = now;
    this.#files = new Layered(this.#own, files);
    this.files = files;
  }

  /**
   * @param {object} [options] `source`: the module, where it is not beside this file; `files`: an object with read(path) and
   *     list(path), where models are looked for; `now`: local time for templates that ask for it, instead of the clock's
   */
  static async load({ source = MODULE, ...options } = {}) {
    return new Rondo(await compiled(source), options);
  }

  /** One request of the line protocol (docs/batch.md) and its reply, both as text. */
  batchLine(line) {
    return this.#open().batch(line);
  }

  /** The same with objects.  Throws a RondoError where the reply is an error. */
  batch(request) {
    const now = !('now' in request) && 'messages' in request ? { now: this.#time() } : {};
    const reply = JSON.parse(this.batchLine(JSON.stringify({ ...now, ...request })));
    if (reply.error !== undefined) throw new RondoError(reply.error);
    return reply;
  }

  /**
   * A model of the texts of its files, {'chat_template.jinja': ..., 'tokenizer.json': ..., 'tokenizer_config.json': ...}, as text
   * or bytes, or of a `path` in the files that the library was given.  `template` replaces the files' own.
   */
  model({ files = {}, path, template } = {}) {
    const contents = Object.entries(files);
    if (contents.length === 0) return new Model(this.#host, { path, template, owned: false });
    const folder = `models/${this.#count++}`;
    for (const [name, content] of contents) this.#own.set(`${folder}/${name}`, content);
    return new Model(this.#host, { path: folder, template, owned: true });
  }

  /** As the class of @huggingface/jinja: new rondo.Template(text).render({...}), .format(). */
  get Template() {
    const rondo = this;
    return class Template {
      #opened;

      constructor(text) {
        this.text = text;
        this.#model(); // what fails while it runs may not with another context
      }

      render(context = {}) {
        for (const name in context) if (typeof context[name] === 'function' && Object.hasOwn(context, name)) throw isCalled(name);
        const { library, handle } = this.#model();
        return library.ask('jinja', () => [handle, library.json(context), library.now(rondo.#time())], ['text']).text;
      }

      /** The template in a layout for reading, which writes the same. */
      format({ indent = '\t' } = {}) {
        return formatted(this.text, indent);
      }

      #model() {
        if (this.#opened === undefined || this.#opened.library.broken) {
          const library = rondo.#open();
          this.#opened = { library, handle: library.openModel({ template_text: this.text, options: '{"mode":"strict"}' }) };
          library.keep(this, 'model', this.#opened.handle);
        }
        return this.#opened;
      }
    };
  }

  #open() {
    if (this.#library === undefined || this.#library.broken) this.#library = new Library(this.#module, this.#files, this.#time());
    return this.#library;
  }

  #time() {
    return this.#now ?? localTime();
  }
}
