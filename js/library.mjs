// A library of include/rondo.h in an instance of the module: how its functions are called, and what comes back.
import { RondoError } from './errors.mjs';
import { System } from './wasi.mjs';

const DONE = 0; // RONDO_OK
// The structs of include/rondo.h, in bytes.
const LIBRARY_SIZE = 16, TEXT_SIZE = 8, ERROR_SIZE = 72, EVENT_SIZE = 32;
const CHAT_TEXTS = ['messages', 'tools', 'documents', 'kwargs', 'options'];
const MODEL_TEXTS = ['path', 'chat_template', 'template_text', 'tokenizer', 'tokenizer_json', 'tokenizer_config', 'generation_config', 'options'];
const EVENT_KINDS = [, 'content', 'reasoning', 'call_start', 'call_id', 'arguments', 'call_end'];
const MOST_ID = 0x7fffffff;

// Handles of objects that nobody holds any more are closed.
const forgotten = new FinalizationRegistry(({ library, kind, handle }) => library.close(kind, handle));

/** One library in an instance of its own.  Handles are numbers of 64 bits, as bigint. */
export class Library {
  #exports;
  #library; // the rondo_library, and behind it what calls use in turn
  #places;
  #lent = []; // what the call in progress was given, to be freed
  #encoder = new TextEncoder();
  #decoder = new TextDecoder('utf-8', { ignoreBOM: true }); // which keeps the mark: it is a character of the text
  #broken = false;

  constructor(module, files, now) {
    const system = new System(files);
    const instance = new WebAssembly.Instance(module, system.imports(module));
    this.#exports = instance.exports;
    system.attach(this.#exports.memory);
    this.#exports._initialize?.();
    const at = (this.#library = this.#exports.malloc(LIBRARY_SIZE + 2 * TEXT_SIZE + ERROR_SIZE + EVENT_SIZE));
    const behind = at + LIBRARY_SIZE;
    this.#places = { text: behind, made: behind + TEXT_SIZE, error: behind + 2 * TEXT_SIZE, event: behind + 2 * TEXT_SIZE + ERROR_SIZE };
    this.#open(now);
  }

  /** The stack or the memory was used up in the middle of a call: nothing of this instance can be used again. */
  get broken() {
    return this.#broken;
  }

  /** The reply to a line of the line protocol. */
  batch(line) {
    return this.ask('batch', [this.#text(line)], ['text']).text;
  }

  /** A model by the fields of rondo_model_options. */
  openModel(fields) {
    return this.#made(this.#exports.rondo_model_open, () => [this.#struct(MODEL_TEXTS, fields)]);
  }

  /** A parser or a rollout of a model. */
  open(kind, model, chat) {
    return this.#made(this.#exports[`rondo_${kind}_open`], () => [model, this.#chat(chat)]);
  }

  /** For an object that holds a handle: when the object is forgotten, the handle is closed. */
  keep(object, kind, handle) {
    forgotten.register(object, { library: this, kind, handle }, object);
  }

  close(kind, handle, object) {
    if (object !== undefined) forgotten.unregister(object);
    if (!this.#broken) this.#exports[`rondo_${kind}_close`](this.#library, handle);
  }

  /**
   * What rondo_`name` answers: of its result the `parts`, "text", "json" (as a value), "events", and arrays by their name.
   * Of the arguments a function, as `text`, `ids` and `chat` give, is called in time.
   */
  ask(name, given, parts) {
    const result = this.#made(this.#exports[`rondo_${name}`], () => given.map((one) => (typeof one === 'function' ? one() : one)));
    try {
      return Object.fromEntries(parts.map((part) => [part, this.#part(result, part)]));
    } finally {
      this.close('result', result);
    }
  }

  text(value) {
    return this.#text(value);
  }

  ids(values) {
    return () => this.#array(values);
  }

  chat(fields) {
    return () => this.#chat(fields);
  }

  #open(now) {
    const status = this.#call(() => {
      const options = this.#struct(['cache_folder', 'now'], { now });
      new Uint8Array(this.#exports.memory.buffer, this.#library, LIBRARY_SIZE).fill(0);
      return this.#exports.rondo_library_open(this.#library, options, 0);
    });
    if (status !== DONE) throw new RondoError({ code: 'bad_request', message: `rondo can't be opened with the time "${now}"` });
  }

  // Calls a function that makes something: what it made, a handle.
  #made(entry, given) {
    const { made, error } = this.#places;
    const status = this.#call(() => {
      const values = given();
      new Uint8Array(this.#exports.memory.buffer, error, ERROR_SIZE).fill(0);
      this.#view.setUint32(error, ERROR_SIZE, true);
      return entry(this.#library, ...values, made, error);
    });
    if (status !== DONE) throw this.#failure(status);
    return this.#view.getBigUint64(made, true);
  }

  // A call from JavaScript, with all that it was given freed behind it.
  #call(work) {
    if (this.#broken) {
      throw new RondoError({ code: 'limit', message: 'an earlier call has used up the stack or the memory, and what was open went with it; open it anew' });
    }
    try {
      return work();
    } catch (error) {
      if (error instanceof RondoError) throw error;
      this.#broken = true;
      if (error instanceof RangeError || error instanceof WebAssembly.RuntimeError) {
        throw new RondoError({ code: 'limit', message: `the stack or the memory is used up: ${error.message}` });
      }
      throw error;
    } finally {
      const lent = this.#lent.splice(0);
      if (!this.#broken) for (const at of lent) this.#exports.free(at);
    }
  }

  get #view() {
    return new DataView(this.#exports.memory.buffer);
  }

  #room(size) {
    const at = this.#exports.malloc(Math.max(size, 1));
    if (at === 0) throw new RondoError({ code: 'limit', message: 'there is no memory left' });
    this.#lent.push(at);
    return at;
  }

  // The address and the size of a text's copy, or of nothing.
  #copied(text) {
    if (text === undefined) return [0, 0];
    const most = 3 * text.length; // bytes of UTF-8
    const at = this.#room(most);
    return [at, this.#encoder.encodeInto(text, new Uint8Array(this.#exports.memory.buffer, at, most)).written];
  }

  // A rondo_text or what looks like it.
  #pair([data, size]) {
    const at = this.#room(TEXT_SIZE);
    this.#view.setUint32(at, data, true);
    this.#view.setUint32(at + 4, size, true);
    return at;
  }

  #text(value) {
    return () => this.#pair(this.#copied(value));
  }

  #array(values) {
    const numbers = values instanceof Int32Array ? values : Int32Array.from(values, checkedId);
    const at = this.#room(4 * numbers.length);
    new Int32Array(this.#exports.memory.buffer, at, numbers.length).set(numbers);
    return this.#pair([at, numbers.length]);
  }

  // A struct that begins with its size, and then has texts.
  #struct(names, fields) {
    const texts = names.map((name) => this.#copied(fields[name]));
    const size = 4 + TEXT_SIZE * names.length;
    const at = this.#room(size);
    const view = this.#view;
    view.setUint32(at, size, true);
    texts.flat().forEach((value, i) => view.setUint32(at + 4 + 4 * i, value, true));
    return at;
  }

  #chat(fields) {
    const { messages, tools, documents, kwargs, ...options } = fields;
    const values = { messages, tools, documents, kwargs, options };
    return this.#struct(CHAT_TEXTS, Object.fromEntries(CHAT_TEXTS.map((name) => [name, values[name] == null ? undefined : JSON.stringify(values[name])])));
  }

  #read(at) {
    const view = this.#view;
    return this.#decoder.decode(new Uint8Array(this.#exports.memory.buffer, view.getUint32(at, true), view.getUint32(at + 4, true)));
  }

  #failure(status) {
    const { error } = this.#places;
    const view = this.#view;
    const [line, column, hasOffset] = [8, 12, 16].map((at) => view.getInt32(error + at, true));
    const name = new Uint8Array(this.#exports.memory.buffer, this.#exports.rondo_status_name(status));
    const found = { code: this.#decoder.decode(name.subarray(0, name.indexOf(0))), message: this.#read(error + 32), hint: this.#read(error + 48) || undefined };
    if (line > 0) found.at = column > 0 ? { line, column } : { line };
    else if (hasOffset) found.at = { offset: Number(view.getBigUint64(error + 24, true)) };
    this.#exports.rondo_error_clear(error);
    return new RondoError(found);
  }

  #part(result, part) {
    if (part === 'events') return this.#events(result);
    const { text } = this.#places;
    this.#exports[`rondo_result_${part}`](this.#library, result, text);
    if (part === 'text') return this.#read(text);
    if (part === 'json') return JSON.parse(this.#read(text));
    const view = this.#view;
    const place = [this.#exports.memory.buffer, view.getUint32(text, true), view.getUint32(text + 4, true)];
    return Array.from(part.endsWith('_mask') ? new Uint8Array(...place) : new Int32Array(...place));
  }

  #events(result) {
    const { text, event } = this.#places;
    const { rondo_result_event_count, rondo_result_event } = this.#exports;
    rondo_result_event_count(this.#library, result, text);
    const count = this.#view.getUint32(text, true);
    const events = [];
    for (let i = 0; i < count; ++i) {
      this.#view.setUint32(event, EVENT_SIZE, true);
      rondo_result_event(this.#library, result, i, event);
      const view = this.#view;
      const kind = EVENT_KINDS[view.getInt32(event + 4, true)];
      const found = { kind };
      if (kind.startsWith('call') || kind === 'arguments') found.call = view.getUint32(event + 12, true);
      if (kind !== 'call_end') found.text = this.#read(event + 16);
      if (view.getInt32(event + 8, true) !== 0) found.id = this.#read(event + 24);
      events.push(found);
    }
    return events;
  }
}

function checkedId(id) {
  if (Number.isInteger(id) && id >= 0 && id <= MOST_ID) return id;
  throw new RondoError({ code: 'bad_request', message: `ids are whole numbers from 0 on, found ${typeof id === 'number' ? id : `a ${typeof id}`}` });
}
