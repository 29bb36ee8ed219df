// A library of include/rondo.h in an instance of the module: how its functions are called, and what comes back.
import { RondoError } from './errors.mjs';
import { tapeOf } from './tape.mjs';
import { System } from './wasi.mjs';

const DONE = 0; // RONDO_OK
// The structs of include/rondo.h, in bytes.
const LIBRARY_SIZE = 16, TEXT_SIZE = 8, ERROR_SIZE = 72, EVENT_SIZE = 32;
const MODEL_TEXTS = ['path', 'chat_template', 'template_text', 'tokenizer', 'tokenizer_json', 'tokenizer_config', 'generation_config', 'options'];
const EVENT_KINDS = [, 'content', 'reasoning', 'call_start', 'call_id', 'arguments', 'call_end'];
const MOST_ID = 0x7fffffff;
const TAPE_HEAD = 8; // bytes before the items of a tape
// Node's, which copies text as it is; browsers decode and encode.
const { Buffer } = globalThis;

// Handles of objects that nobody holds any more are closed.
const forgotten = new FinalizationRegistry(({ library, kind, handle }) => library.close(kind, handle));

/** One library in an instance of its own.  Handles are numbers of 64 bits, as bigint. */
export class Library {
  #exports;
  #library; // the rondo_library, and behind it what calls use in turn
  #places;
  #system;
  #lent = []; // what the call in progress was given, to be freed
  #encoder = new TextEncoder();
  #decoder = new TextDecoder('utf-8', { ignoreBOM: true }); // which keeps the mark: it is a character of the text
  #bytes; // the memory, for Node
  #broken = false;

  constructor(module, files, now) {
    this.#system = new System(files);
    const instance = new WebAssembly.Instance(module, this.#system.imports(module));
    this.#exports = instance.exports;
    this.#system.attach(this.#exports.memory);
    this.#exports._initialize?.();
    const at = (this.#library = this.#exports.malloc(LIBRARY_SIZE + 3 * TEXT_SIZE + ERROR_SIZE + EVENT_SIZE));
    const behind = at + LIBRARY_SIZE;
    const error = behind + 3 * TEXT_SIZE;
    this.#places = { text: behind, made: behind + TEXT_SIZE, units: behind + 2 * TEXT_SIZE, error, event: error + ERROR_SIZE };
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
    return this.#made(this.#exports.rondo_model_open, () => [this.#struct(MODEL_TEXTS.map((name) => this.#copied(fields[name])))]);
  }

  /** A parser or a rollout of a model. */
  open(kind, model, chat) {
    const given = this.chat(chat);
    return this.#made(this.#exports[`rondo_${kind}_open`], () => [model, given()]);
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
    if (typeof value !== 'string') throw wrongKind('a text', value);
    return this.#text(value);
  }

  /** A value that goes in as JSON does. */
  json(value) {
    const packed = packedOf(value);
    return () => this.#pair(this.#placed(packed));
  }

  ids(values) {
    // Of an object that has no elements, such as all that encode() returned, none would be taken.
    if (values === null || typeof values !== 'object' || !(Symbol.iterator in values || 'length' in values)) throw wrongKind('a list of ids', values);
    return () => this.#array(values);
  }

  chat({ messages, tools, documents, kwargs, ...options }) {
    const packed = [messages, tools, documents, kwargs, options].map(packedOf);
    return () => this.#struct(packed.map((value) => this.#placed(value)));
  }

  #open(now) {
    const status = this.#call(() => {
      const options = this.#struct([undefined, now].map((text) => this.#copied(text))); // cache_folder, now
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
    let made;
    try {
      made = work();
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
    this.#system.rethrow();
    return made;
  }

  get #view() {
    return new DataView(this.#exports.memory.buffer);
  }

  get #memory() {
    const { buffer } = this.#exports.memory; // another one whenever the memory has grown
    if (this.#bytes?.buffer !== buffer) this.#bytes = Buffer.from(buffer);
    return this.#bytes;
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

  // The same of what packedOf() gives.
  #placed(packed) {
    if (typeof packed !== 'object') return this.#copied(packed);
    const { items, text, wide } = packed;
    const head = TAPE_HEAD + 4 * items.length;
    const size = head + text.length * (wide ? 2 : 1);
    const at = this.#room(size);
    const { buffer } = this.#exports.memory;
    new Uint8Array(buffer, at, TAPE_HEAD).set([0xff, wide ? 2 : 1, 0, 0]);
    new Int32Array(buffer, at + 4, items.length + 1).set([items.length]);
    new Int32Array(buffer, at + TAPE_HEAD, items.length).set(items);
    this.#write(text, wide, at + head);
    return [at, size];
  }

  // Writes the units of a text.
  #write(text, wide, at) {
    if (Buffer !== undefined) {
      this.#memory.write(text, at, wide ? 2 * text.length : text.length, wide ? 'utf16le' : 'latin1');
      return;
    }
    const { buffer } = this.#exports.memory;
    if (!wide && this.#encoder.encodeInto(text, new Uint8Array(buffer, at, text.length)).read === text.length) return; // all of it ASCII
    const units = wide ? new Uint16Array(buffer, at, text.length) : new Uint8Array(buffer, at, text.length);
    for (let i = 0; i < text.length; ++i) units[i] = text.charCodeAt(i);
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

  // A struct that begins with its size, and then has texts, each an address and a size.
  #struct(texts) {
    const size = 4 + TEXT_SIZE * texts.length;
    const at = this.#room(size);
    const view = this.#view;
    view.setUint32(at, size, true);
    texts.flat().forEach((value, i) => view.setUint32(at + 4 + 4 * i, value, true));
    return at;
  }

  #read(at) {
    const view = this.#view;
    const [data, size] = [view.getUint32(at, true), view.getUint32(at + 4, true)];
    return (Buffer === undefined ? undefined : this.#units(data, size)) ?? this.#decoder.decode(new Uint8Array(this.#exports.memory.buffer, data, size));
  }

  // A text in the units that Node copies; undefined where it is no UTF-8.
  #units(data, size) {
    const { units } = this.#places;
    const width = this.#exports.rondo_wasm_units(data, size, units);
    if (width === 0) return undefined;
    const view = this.#view;
    const at = view.getUint32(units, true);
    const text = this.#memory.toString(width === 1 ? 'latin1' : 'utf16le', at, at + width * view.getUint32(units + 4, true));
    if (at !== data) this.#exports.free(at);
    return text;
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

// A value on its way into the module, made before the call begins, which a value that has no JSON must not break: a tape, or where
// there is none JSON text; undefined for nothing.
function packedOf(value) {
  return value == null ? undefined : (tapeOf(value) ?? JSON.stringify(value));
}

function wrongKind(wanted, value) {
  return new RondoError({ code: 'bad_request', message: `expected ${wanted}, found ${value === null ? 'null' : typeof value}` });
}

function checkedId(id) {
  if (Number.isInteger(id) && id >= 0 && id <= MOST_ID) return id;
  throw new RondoError({ code: 'bad_request', message: `ids are whole numbers from 0 on, found ${typeof id === 'number' ? id : `a ${typeof id}`}` });
}
