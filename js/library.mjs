// A library of include/rondo.h in an instance of the module: how its functions are called, and what comes back.
import { RondoError } from './errors.mjs';
import { Memory } from './memory.mjs';
import { tapeOf } from './tape.mjs';
import { System } from './wasi.mjs';

const DONE = 0; // RONDO_OK
// The structs of include/rondo.h, in bytes.
const LIBRARY_SIZE = 16, TEXT_SIZE = 8, ERROR_SIZE = 72, EVENT_SIZE = 32;
const TIME_SIZE = 128; // of the options that say the time
const MODEL_TEXTS = ['path', 'chat_template', 'template_text', 'tokenizer', 'tokenizer_json', 'tokenizer_config', 'generation_config', 'options'];
const EVENT_KINDS = [, 'content', 'reasoning', 'call_start', 'call_id', 'arguments', 'call_end'];
const MOST_ID = 0x7fffffff;

// Handles of objects that nobody holds any more are closed.
const forgotten = new FinalizationRegistry(({ library, kind, handle }) => library.close(kind, handle));

/** One library in an instance of its own.  Handles are numbers of 64 bits, as bigint. */
export class Library {
  #functions; // of the module, by their names without "rondo_"
  #memory;
  #system;
  #library; // the rondo_library, and behind it what calls use in turn
  #places;
  #numbers; // a view of the place of what is made
  #time; // that is written

  constructor(module, files, now) {
    this.#system = new System(files);
    const { exports } = new WebAssembly.Instance(module, this.#system.imports(module));
    this.#system.attach(exports.memory);
    exports._initialize?.();
    this.#functions = Object.fromEntries(Object.entries(exports).map(([name, entry]) => [name.replace(/^rondo_/, ''), entry]));
    this.#memory = new Memory(exports);
    const size = LIBRARY_SIZE + 2 * TEXT_SIZE + ERROR_SIZE + EVENT_SIZE + TEXT_SIZE + TIME_SIZE;
    const at = (this.#library = this.#memory.room(size)); // for good
    const behind = at + LIBRARY_SIZE;
    const error = behind + 2 * TEXT_SIZE;
    const event = error + ERROR_SIZE;
    this.#places = { text: behind, made: behind + TEXT_SIZE, error, event, time: event + EVENT_SIZE };
    this.#memory.bytes.fill(0, at, at + size);
    this.#memory.words[error >>> 2] = ERROR_SIZE;
    this.#open(now);
  }

  /** The stack or the memory was used up in the middle of a call: nothing of this instance can be used again. */
  get broken() {
    return this.#memory.broken;
  }

  /** The reply to a line of the line protocol. */
  batch(line) {
    return this.ask('batch', () => [this.#text(line)], ['text']).text;
  }

  /** A model by the fields of rondo_model_options. */
  openModel(fields) {
    return this.#made('model_open', () => [this.#struct(MODEL_TEXTS.map((name) => fields[name]))]);
  }

  /** A parser or a rollout of a model. */
  open(kind, model, chat) {
    return this.#made(`${kind}_open`, () => [model, this.chat(chat)]);
  }

  /** For an object that holds a handle: when the object is forgotten, the handle is closed. */
  keep(object, kind, handle) {
    forgotten.register(object, { library: this, kind, handle }, object);
  }

  close(kind, handle, object) {
    if (object !== undefined) forgotten.unregister(object);
    if (!this.broken) this.#functions[`${kind}_close`](this.#library, handle);
  }

  /**
   * What rondo_`name` answers: of its result the `parts`, "text", "json" (as a value), "events", and arrays by their name.
   * `given` returns the arguments, which it makes with `text`, `json`, `ids` and `chat`.
   */
  ask(name, given, parts) {
    const result = this.#made(name, given);
    try {
      const found = {};
      for (const part of parts) found[part] = this.#part(result, part);
      return found;
    } finally {
      if (!this.broken) this.#functions.result_close(this.#library, result);
    }
  }

  /** The options that say the time.  It is the same in many calls, so it stays. */
  now(time) {
    if (time !== this.#time) {
      const text = `{"now":"${time}"}`;
      if (3 * text.length > TIME_SIZE) return this.#text(text);
      this.#memory.textBehind(text, this.#places.time);
      this.#time = time;
    }
    return this.#places.time;
  }

  text(value) {
    if (typeof value !== 'string') throw wrongKind('a text', value);
    return this.#text(value);
  }

  /** A value that goes in as JSON does. */
  json(value) {
    const pair = this.#memory.room(TEXT_SIZE);
    this.#put(value, pair);
    return pair;
  }

  ids(values) {
    // Of an object that has no elements, such as all that encode() returned, none would be taken.
    if (values === null || typeof values !== 'object' || !(Symbol.iterator in values || 'length' in values)) throw wrongKind('a list of ids', values);
    const numbers = values instanceof Int32Array ? values : Int32Array.from(values, checkedId);
    const pair = this.#memory.room(TEXT_SIZE);
    this.#memory.numbers(numbers, pair);
    return pair;
  }

  chat({ messages, tools, documents, kwargs, ...options }) {
    return this.#struct([messages, tools, documents, kwargs, options], (value, pair) => this.#put(value, pair));
  }

  #open(now) {
    const status = this.#call('library_open', () => [this.#struct([undefined, now])]); // cache_folder, now
    if (status !== DONE) throw new RondoError({ code: 'bad_request', message: `rondo can't be opened with the time "${now}"` });
  }

  // Calls a function that makes something: what it made, a handle.
  #made(name, given) {
    const { made, error } = this.#places;
    const status = this.#call(name, given, made, error);
    if (status !== DONE) throw this.#failure(status);
    if (this.#numbers === undefined || this.#numbers.length === 0) this.#numbers = new BigUint64Array(this.#memory.words.buffer, made, 1);
    return this.#numbers[0];
  }

  // A call from JavaScript, with all that it was given freed behind it.
  #call(name, given, made, error) {
    if (this.broken) {
      throw new RondoError({ code: 'limit', message: 'an earlier call has used up the stack or the memory, and what was open went with it; open it anew' });
    }
    const memory = this.#memory;
    const { top, blocks } = memory;
    let status;
    try {
      const values = given();
      values.push(made, error);
      status = this.#enter(this.#functions[name], values);
    } finally {
      memory.leave(top, blocks);
    }
    this.#system.rethrow();
    return status;
  }

  #enter(entry, values) {
    try {
      return entry(this.#library, ...values);
    } catch (error) {
      throw this.#memory.cutOff(error);
    }
  }

  // Writes a value, of whatever kind, and to `pair` where it is: a tape, or where there is none JSON text; nothing for null.
  #put(value, pair) {
    const tape = value == null ? undefined : tapeOf(value);
    if (tape !== undefined) this.#memory.tape(tape, pair);
    else this.#memory.text(value == null ? undefined : JSON.stringify(value), pair);
  }

  #text(value) {
    const pair = this.#memory.room(TEXT_SIZE);
    this.#memory.text(value, pair);
    return pair;
  }

  // A struct that begins with its size, and then has texts, each as `put` writes it.
  #struct(values, put = (text, pair) => this.#memory.text(text, pair)) {
    const size = 4 + TEXT_SIZE * values.length;
    const at = this.#memory.room(size);
    this.#memory.words[at >>> 2] = size;
    values.forEach((value, i) => put(value, at + 4 + TEXT_SIZE * i));
    return at;
  }

  #failure(status) {
    const { error } = this.#places;
    const at = error >>> 2;
    const [line, column, hasOffset, , low, high] = this.#memory.words.subarray(at + 2, at + 8);
    const found = { code: this.#memory.name(this.#functions.status_name(status)), message: this.#memory.read(error + 32), hint: this.#memory.read(error + 48) || undefined };
    if (line > 0) found.at = column > 0 ? { line, column } : { line };
    else if (hasOffset) found.at = { offset: high * 2 ** 32 + low };
    this.#functions.error_clear(error);
    return new RondoError(found);
  }

  #part(result, part) {
    if (part === 'events') return this.#events(result);
    const { text } = this.#places;
    this.#functions[`result_${part}`](this.#library, result, text);
    if (part === 'text') return this.#memory.read(text);
    if (part === 'json') return JSON.parse(this.#memory.read(text));
    return this.#memory.array(text, part.endsWith('_mask') ? Uint8Array : Int32Array);
  }

  #events(result) {
    const { text, event } = this.#places;
    const { result_event_count, result_event } = this.#functions;
    const memory = this.#memory;
    const at = event >>> 2;
    result_event_count(this.#library, result, text);
    const count = memory.words[text >>> 2];
    const events = [];
    for (let i = 0; i < count; ++i) {
      memory.words[at] = EVENT_SIZE;
      result_event(this.#library, result, i, event);
      const [, number, hasId, call] = memory.words.subarray(at, at + 4);
      const kind = EVENT_KINDS[number];
      const found = { kind };
      if (kind.startsWith('call') || kind === 'arguments') found.call = call;
      if (kind !== 'call_end') found.text = memory.read(event + 16);
      if (hasId !== 0) found.id = memory.read(event + 24);
      events.push(found);
    }
    return events;
  }
}

function wrongKind(wanted, value) {
  return new RondoError({ code: 'bad_request', message: `expected ${wanted}, found ${value === null ? 'null' : typeof value}` });
}

function checkedId(id) {
  if (Number.isInteger(id) && id >= 0 && id <= MOST_ID) return id;
  throw new RondoError({ code: 'bad_request', message: `ids are whole numbers from 0 on, found ${typeof id === 'number' ? id : `a ${typeof id}`}` });
}
