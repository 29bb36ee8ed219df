// The memory of an instance of the module: what calls are given is written into it, and what they made is read there.
import { RondoError } from './errors.mjs';

const PAIR_SIZE = 8; // a rondo_text or what looks like it: an address and a size
const TAPE_HEAD = 8; // bytes before the items of a tape
const KEPT_SIZE = 65536;
// Node's, which copies text as it is; browsers decode and encode.
const { Buffer } = globalThis;
const COPIES = ['latin1Write', 'ucs2Write', 'utf8Write', 'latin1Slice', 'ucs2Slice'].every((name) => Buffer?.prototype[name] !== undefined);

export class Memory {
  /** A call into the module was cut off in its middle: nothing of this instance can be used again. */
  broken = false;
  #exports;
  // All of it, as bytes and as numbers.  They have no elements any more once the memory has grown.
  #bytes = new Uint8Array(0);
  #words = new Uint32Array(0);
  // The room that stays from call to call, and where what is free of it begins.  What does not fit gets a block of its own.
  #top = 0;
  #end = 0;
  #blocks = [];
  #units; // where a text's units are said to be
  #encoder = new TextEncoder();
  #decoder = new TextDecoder('utf-8', { ignoreBOM: true }); // which keeps the mark: it is a character of the text

  constructor(exports) {
    this.#exports = exports;
    this.#units = this.#allocated(PAIR_SIZE);
    this.#top = this.#allocated(KEPT_SIZE);
    this.#end = this.#top + KEPT_SIZE;
  }

  get bytes() {
    if (this.#bytes.length === 0) this.#renew();
    return this.#bytes;
  }

  get words() {
    if (this.#words.length === 0) this.#renew();
    return this.#words;
  }

  #renew() {
    const { buffer } = this.#exports.memory;
    this.#bytes = COPIES ? Buffer.from(buffer) : new Uint8Array(buffer);
    this.#words = new Uint32Array(buffer);
  }

  /** Where the room is free, and how many blocks there are: leave() returns to that. */
  get top() {
    return this.#top;
  }

  get blocks() {
    return this.#blocks.length;
  }

  leave(top, blocks) {
    if (this.broken) return;
    this.#top = top;
    while (this.#blocks.length > blocks) this.#exports.free(this.#blocks.pop());
  }

  room(size) {
    const at = this.#top;
    if (size <= this.#end - at) {
      this.#top = at + ((size + 7) & ~7);
      return at;
    }
    const block = this.#allocated(size);
    this.#blocks.push(block);
    return block;
  }

  #allocated(size) {
    let at;
    try {
      at = this.#exports.malloc(size);
    } catch (error) {
      throw this.cutOff(error);
    }
    if (at === 0) throw new RondoError({ code: 'limit', message: 'there is no memory left' });
    return at;
  }

  /** What to throw where the module threw `error`. */
  cutOff(error) {
    this.broken = true;
    if (!(error instanceof RangeError || error instanceof WebAssembly.RuntimeError)) return error;
    return new RondoError({ code: 'limit', message: `the stack or the memory is used up: ${error.message}` });
  }

  pair(at, data, size) {
    const { words } = this;
    words[at >>> 2] = data;
    words[(at >>> 2) + 1] = size;
  }

  /** Writes a text, and to `pair` where it is; nothing for undefined. */
  text(text, pair) {
    if (text === undefined) return this.pair(pair, 0, 0);
    return this.#utf8(text, pair, this.room(3 * text.length));
  }

  /** The same, with the text behind the pair, where it has room. */
  textBehind(text, pair) {
    this.#utf8(text, pair, pair + PAIR_SIZE);
  }

  #utf8(text, pair, at) {
    const most = 3 * text.length;
    const size = COPIES ? this.bytes.utf8Write(text, at, most) : this.#encoder.encodeInto(text, this.bytes.subarray(at, at + most)).written;
    this.pair(pair, at, size);
  }

  /** The same of what tapeOf() gives. */
  tape({ items, size, text, wide }, pair) {
    const head = TAPE_HEAD + 4 * size;
    const bytes = wide ? 2 * text.length : text.length;
    const at = this.room(head + bytes);
    const { words } = this;
    words[at >>> 2] = wide ? 0x2ff : 0x1ff;
    words[(at >>> 2) + 1] = size;
    words.set(items.subarray(0, size), (at + TAPE_HEAD) >>> 2);
    this.#write(text, wide, at + head, bytes);
    this.pair(pair, at, head + bytes);
  }

  /** The same of numbers. */
  numbers(values, pair) {
    const at = this.room(4 * values.length);
    this.words.set(values, at >>> 2);
    this.pair(pair, at, values.length);
  }

  // Writes the units of a text.
  #write(text, wide, at, size) {
    const { bytes } = this;
    if (COPIES) {
      if (wide) bytes.ucs2Write(text, at, size);
      else bytes.latin1Write(text, at, size);
      return;
    }
    if (!wide && this.#encoder.encodeInto(text, bytes.subarray(at, at + size)).read === size) return; // all of it ASCII
    const units = wide ? new Uint16Array(bytes.buffer, at, text.length) : bytes.subarray(at, at + size);
    for (let i = 0; i < text.length; ++i) units[i] = text.charCodeAt(i);
  }

  /** The text of a pair. */
  read(pair) {
    const data = this.words[pair >>> 2];
    const size = this.words[(pair >>> 2) + 1];
    return (COPIES ? this.#read(data, size) : undefined) ?? this.#decoder.decode(this.bytes.subarray(data, data + size));
  }

  // A text in the units that Node copies; undefined where it is no UTF-8.
  #read(data, size) {
    const width = this.#exports.rondo_wasm_units(data, size, this.#units);
    if (width === 0) return undefined;
    const at = this.words[this.#units >>> 2];
    const end = at + width * this.words[(this.#units >>> 2) + 1];
    const text = width === 1 ? this.bytes.latin1Slice(at, end) : this.bytes.ucs2Slice(at, end);
    if (at !== data) this.#exports.free(at);
    return text;
  }

  /** The text that ends with a zero. */
  name(at) {
    return this.#decoder.decode(this.bytes.subarray(at, this.bytes.indexOf(0, at)));
  }

  /** What the pair points at, as an array. */
  array(pair, Kind) {
    return Array.from(new Kind(this.words.buffer, this.words[pair >>> 2], this.words[(pair >>> 2) + 1]));
  }
}
