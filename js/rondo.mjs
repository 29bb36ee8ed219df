// rondo in JavaScript: chat messages to text and token ids, and back.  See docs/javascript.md.
import { MemoryFiles, System } from './wasi.mjs';

export { MemoryFiles } from './wasi.mjs';

const MODULE = new URL('rondo.wasm', import.meta.url);
const DONE = 0; // RONDO_OK

/** What went wrong: `code` as docs/batch.md names it, `message`, and where they are known `at` and `hint`. */
export class RondoError extends Error {
  constructor({ code, message, at, hint }) {
    super(message);
    this.name = 'RondoError';
    this.code = code;
    this.at = at;
    this.hint = hint;
  }
}

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

// One library in an instance of its own.
class Instance {
  #exports;
  #library;
  #places;
  #encoder = new TextEncoder();
  #decoder = new TextDecoder();

  constructor(module, files, now) {
    const system = new System(files);
    const instance = new WebAssembly.Instance(module, system.imports(module));
    this.#exports = instance.exports;
    system.attach(this.#exports.memory);
    this.#exports._initialize?.();
    // A rondo_library (16 bytes), and behind it what calls use in turn: a rondo_text (8) and a rondo_result (8).
    this.#library = this.#exports.malloc(32);
    this.#places = { text: this.#library + 16, result: this.#library + 24 };
    this.#open(now);
  }

  #open(now) {
    const { malloc, free, memory, rondo_library_open } = this.#exports;
    const options = malloc(20);
    const time = this.#put(now);
    const view = new DataView(memory.buffer);
    for (let at = 0; at < 16; at += 4) view.setUint32(this.#library + at, 0, true);
    [20, 0, 0, time.at, time.size].forEach((value, i) => view.setUint32(options + 4 * i, value, true));
    const status = rondo_library_open(this.#library, options, 0);
    free(time.at);
    free(options);
    if (status !== DONE) throw new RondoError({ code: 'bad_request', message: `rondo can't be opened with the time "${now}"` });
  }

  // A copy of the text in the module's memory, which the caller frees.
  #put(text) {
    const bytes = this.#encoder.encode(text);
    const at = this.#exports.malloc(Math.max(bytes.length, 1));
    if (at === 0) throw new RondoError({ code: 'limit', message: 'there is no memory left' });
    new Uint8Array(this.#exports.memory.buffer, at, bytes.length).set(bytes);
    return { at, size: bytes.length };
  }

  batch(line) {
    const { free, memory, rondo_batch, rondo_result_text, rondo_result_close } = this.#exports;
    const { text, result } = this.#places;
    const asked = this.#put(line);
    let view = new DataView(memory.buffer);
    view.setUint32(text, asked.at, true);
    view.setUint32(text + 4, asked.size, true);
    const status = rondo_batch(this.#library, text, result, 0);
    free(asked.at);
    if (status !== DONE) throw new RondoError({ code: 'limit', message: `there is no memory left (status ${status})` });
    view = new DataView(memory.buffer); // it may have grown
    const handle = view.getBigUint64(result, true);
    rondo_result_text(this.#library, handle, text);
    const reply = new Uint8Array(memory.buffer, view.getUint32(text, true), view.getUint32(text + 4, true));
    const decoded = this.#decoder.decode(reply);
    rondo_result_close(this.#library, handle);
    return decoded;
  }
}

// Local time, "2026-03-14T15:09:26".
function localTime() {
  const now = new Date();
  return new Date(now.getTime() - now.getTimezoneOffset() * 60000).toISOString().slice(0, 19);
}

/** The library.  `const rondo = await Rondo.load()`. */
export class Rondo {
  #module;
  #now;
  #instance;
  #count = 0;

  constructor(module, { files = new MemoryFiles(), now } = {}) {
    this.#module = module;
    this.#now = now;
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
    this.#instance ??= new Instance(this.#module, this.files, this.#now ?? localTime());
    try {
      return this.#instance.batch(line);
    } catch (error) {
      // The instance broke off in the middle of its work: the next call gets a new one.
      if (!(error instanceof RondoError)) this.#instance = undefined;
      if (error instanceof RangeError || error instanceof WebAssembly.RuntimeError) {
        throw new RondoError({ code: 'limit', message: `the stack or the memory is used up: ${error.message}` });
      }
      throw error;
    }
  }

  /** The same with objects.  Throws a RondoError where the reply is an error. */
  batch(request) {
    const now = this.#now === undefined && !('now' in request) && 'messages' in request ? { now: localTime() } : {};
    const reply = JSON.parse(this.batchLine(JSON.stringify({ ...now, ...request })));
    if (reply.error !== undefined) throw new RondoError(reply.error);
    return reply;
  }

  /**
   * A model of the texts of its files, {'chat_template.jinja': ..., 'tokenizer.json': ..., 'tokenizer_config.json': ...}, as text
   * or bytes.  `template` replaces the files' own.
   */
  model({ files = {}, template } = {}) {
    const folder = `models/${this.#count++}`;
    for (const [name, content] of Object.entries(files)) this.files.set(`${folder}/${name}`, content);
    return new Model(this, folder, { files, template });
  }

  /** As the class of @huggingface/jinja: new rondo.Template(text).render({...}). */
  get Template() {
    const rondo = this;
    return class Template {
      constructor(text) {
        try {
          rondo.batch({ op: 'jinja', template: text, context: {} });
        } catch (error) {
          if (error.code === 'template_syntax') throw error; // what fails while it runs may not with another context
        }
        this.text = text;
      }

      render(context = {}) {
        return rondo.batch({ op: 'jinja', template: this.text, context }).text;
      }
    };
  }
}

/** A template, a tokenizer, or both.  What the methods take and return are the fields of docs/batch.md. */
export class Model {
  #rondo;
  #folder;
  #template;
  #tokenizer;

  constructor(rondo, folder, { files, template }) {
    this.#rondo = rondo;
    this.#folder = folder;
    const named = (pattern) => Object.keys(files).some((name) => pattern.test(name));
    this.#template = template !== undefined ? { template } : named(/jinja$|^tokenizer_config\.json$|\.gguf$/) ? { template_file: folder } : {};
    this.#tokenizer = named(/^tokenizer\.json$|\.model$|\.tiktoken$|^tekken\.json$|^vocab\.|\.gguf$/) ? { tokenizer: folder } : {};
  }

  #ask(op, request, { tokenizer = true, template = true } = {}) {
    return this.#rondo.batch({ op, ...(template && this.#template), ...(tokenizer && this.#tokenizer), ...request });
  }

  /** {text, spans?}: the prompt of messages. */
  render(messages, options = {}) {
    return this.#ask('render', { messages, ...options });
  }

  /** {ids, message_indices, ...}: the prompt as token ids, with whose they are. */
  encode(messages, options = {}) {
    return this.#ask('encode', { messages, ...options });
  }

  /** {ids, appended, ...}: the next prompt, the ids of the last one and of its completion unchanged and then the new messages. */
  bridge(promptIds, completionIds, newMessages, options = {}) {
    const ids = { prompt_ids: Array.from(promptIds), completion_ids: Array.from(completionIds) };
    return this.#ask('bridge', { ...ids, new_messages: newMessages, ...options });
  }

  /** {content, reasoning_content, tool_calls, complete, ...}: what the model wrote. */
  parse(text, options = {}) {
    return this.#ask('parse', { text, ...options }, { tokenizer: false });
  }

  /** {message, deltas}: the same from pieces, with what is new after each. */
  parsePieces(chunks, options = {}) {
    return this.#ask('parse_stream', { chunks, ...options }, { tokenizer: false });
  }

  /** {grammar, ...}: what the model may write next. */
  grammar(options = {}) {
    return this.#ask('grammar', options, { tokenizer: false });
  }

  /** Where the template's next prompt does not continue what the model has seen, and why. */
  check(options = {}) {
    return this.#ask('check', options, { tokenizer: false });
  }

  stop(options = {}) {
    return this.#ask('stop', options);
  }

  tokenize(text, options = {}) {
    return this.#ask('tokenize', { text, ...options }, { template: false });
  }

  detokenize(ids, options = {}) {
    return this.#ask('detokenize', { ids: Array.from(ids), ...options }, { template: false });
  }

  /** As the method of tokenizers in @huggingface/transformers: ids, or with `tokenize: false` the text. */
  applyChatTemplate(messages, { tokenize = true, add_generation_prompt = false, tools, documents, continue_final_message, ...kwargs } = {}) {
    const fields = { add_generation_prompt, tools, documents, continue_final_message, kwargs, mode: 'strict' };
    return tokenize ? this.encode(messages, fields).ids : this.render(messages, fields).text;
  }

  /** Forgets the model's files. */
  close() {
    this.#rondo.files.delete(this.#folder);
  }
}
