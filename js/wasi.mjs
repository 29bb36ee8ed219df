// The part of WASI (preview 1) that rondo.wasm uses: reading files, a clock, random bytes.  Nothing can be written.
import { RondoError } from './errors.mjs';

const OK = 0, BADF = 8, ISDIR = 31, NOENT = 44, NOSYS = 52, NOTDIR = 54, ROFS = 69, SPIPE = 70;
const FOLDER = 3, FILE = 4;
const CREATE = 1, ONLY_FOLDERS = 2, TRUNCATE = 8;
const ROOT = 3; // the descriptor of "/"
// Node has it as a global from version 19 on.
const random = globalThis.crypto ?? (await import('node:crypto')).webcrypto;

/** Files in memory, by path. */
export class MemoryFiles {
  #files = new Map();

  /** @param {Record<string, Uint8Array | string>} files */
  constructor(files = {}) {
    for (const [path, content] of Object.entries(files)) this.set(path, content);
  }

  set(path, content) {
    this.#files.set(normal(path), bytesOf(content, path));
  }

  /** Removes a file, or a folder with all that is in it. */
  delete(path) {
    const folder = `${normal(path)}/`;
    for (const name of [...this.#files.keys()]) if (`${name}/`.startsWith(folder)) this.#files.delete(name);
  }

  /** The bytes of a file, or undefined. */
  read(path) {
    return this.#files.get(path);
  }

  /** The names in a folder, or undefined where there is none. */
  list(path) {
    const prefix = path === '' ? '' : `${path}/`;
    const names = new Set();
    for (const name of this.#files.keys()) if (name.startsWith(prefix)) names.add(name.slice(prefix.length).split('/')[0]);
    return names.size > 0 || path === '' ? [...names] : undefined;
  }
}

// The bytes of a file's content; undefined for a file that is not there.
function bytesOf(content, path) {
  if (content == null) return undefined;
  if (typeof content === 'string') return new TextEncoder().encode(content);
  if (content instanceof Uint8Array) return content;
  if (ArrayBuffer.isView(content)) return new Uint8Array(content.buffer, content.byteOffset, content.byteLength);
  if (content instanceof ArrayBuffer) return new Uint8Array(content);
  throw new RondoError({ code: 'bad_request', message: `${path}: a file is text or bytes, found ${typeof content}` });
}

// "a/./b/../c" is "a/c": without slashes at either end.
function normal(path) {
  const parts = [];
  for (const part of path.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

/** What rondo.wasm imports.  `files` has read(path) and list(path), as MemoryFiles. */
export class System {
  #files;
  #memory;
  #open = new Map();
  #thrown = []; // by `files`
  #next = ROOT + 1;

  constructor(files) {
    this.#files = files;
  }

  /** Before the first call: the memory of the instance. */
  attach(memory) {
    this.#memory = memory;
  }

  /** Imports for a module; what this class lacks answers that it is not there. */
  imports(module) {
    const wasi = {};
    for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
      if (from !== 'wasi_snapshot_preview1' || kind !== 'function') continue;
      wasi[name] = typeof this[name] === 'function' ? this[name].bind(this) : () => NOSYS;
    }
    return { wasi_snapshot_preview1: wasi };
  }

  get #view() {
    return new DataView(this.#memory.buffer);
  }

  #bytes(at, size) {
    return new Uint8Array(this.#memory.buffer, at, size);
  }

  #path(descriptor, at, size) {
    const base = descriptor === ROOT ? '' : this.#open.get(descriptor)?.path;
    return base === undefined ? undefined : normal(`${base}/${new TextDecoder().decode(this.#bytes(at, size))}`);
  }

  /** Behind a call: throws what `files` threw meanwhile, which the module cannot pass on. */
  rethrow() {
    const [first] = this.#thrown.splice(0);
    if (first !== undefined) throw first.error;
  }

  // {kind, size, bytes?, names?} of a path, or undefined.
  #look(path) {
    try {
      const bytes = bytesOf(this.#files.read(path), path);
      if (bytes !== undefined) return { kind: FILE, path, bytes, at: 0 };
      const names = this.#files.list(path);
      return names == null ? undefined : { kind: FOLDER, path, names: Array.from(names, String) };
    } catch (error) {
      this.#thrown.push({ error });
      return undefined;
    }
  }

  #describe(entry, to) {
    this.#bytes(to, 64).fill(0);
    this.#view.setUint8(to + 16, entry.kind);
    this.#view.setBigUint64(to + 24, 1n, true);
    this.#view.setBigUint64(to + 32, BigInt(entry.bytes?.length ?? 0), true);
  }

  environ_sizes_get(count, size) {
    this.#view.setUint32(count, 0, true);
    this.#view.setUint32(size, 0, true);
    return OK;
  }

  environ_get() {
    return OK;
  }

  clock_time_get(clock, precision, to) {
    this.#view.setBigUint64(to, BigInt(Math.round(Date.now())) * 1000000n, true);
    return OK;
  }

  random_get(at, size) {
    const bytes = this.#bytes(at, size);
    for (let from = 0; from < size; from += 65536) random.getRandomValues(bytes.subarray(from, Math.min(size, from + 65536)));
    return OK;
  }

  proc_exit(status) {
    throw new WebAssembly.RuntimeError(`rondo ended itself with status ${status}`);
  }

  fd_prestat_get(descriptor, to) {
    if (descriptor !== ROOT) return BADF;
    this.#view.setUint32(to, 0, true);
    this.#view.setUint32(to + 4, 1, true);
    return OK;
  }

  fd_prestat_dir_name(descriptor, at) {
    if (descriptor !== ROOT) return BADF;
    this.#bytes(at, 1)[0] = '/'.charCodeAt(0);
    return OK;
  }

  fd_fdstat_get(descriptor, to) {
    const entry = descriptor === ROOT ? { kind: FOLDER } : this.#open.get(descriptor);
    if (entry === undefined && descriptor > ROOT) return BADF;
    this.#bytes(to, 24).fill(0);
    this.#view.setUint8(to, entry?.kind ?? 2);
    this.#view.setBigUint64(to + 8, 0xffffffffffffffffn, true);
    this.#view.setBigUint64(to + 16, 0xffffffffffffffffn, true);
    return OK;
  }

  path_filestat_get(descriptor, flags, at, size, to) {
    const path = this.#path(descriptor, at, size);
    const entry = path === undefined ? undefined : this.#look(path);
    if (entry === undefined) return NOENT;
    this.#describe(entry, to);
    return OK;
  }

  fd_filestat_get(descriptor, to) {
    const entry = this.#open.get(descriptor);
    if (entry === undefined) return BADF;
    this.#describe(entry, to);
    return OK;
  }

  path_open(descriptor, flags, at, size, how, rights, inherited, state, to) {
    if (how & (CREATE | TRUNCATE)) return ROFS;
    const path = this.#path(descriptor, at, size);
    const entry = path === undefined ? undefined : this.#look(path);
    if (entry === undefined) return NOENT;
    if (how & ONLY_FOLDERS && entry.kind !== FOLDER) return NOTDIR;
    this.#open.set(this.#next, entry);
    this.#view.setUint32(to, this.#next++, true);
    return OK;
  }

  fd_close(descriptor) {
    return this.#open.delete(descriptor) ? OK : BADF;
  }

  fd_read(descriptor, vectors, count, to) {
    const entry = this.#open.get(descriptor);
    if (entry === undefined) return BADF;
    if (entry.kind === FOLDER) return ISDIR;
    const before = entry.at;
    for (let i = 0; i < count; ++i) {
      const part = this.#bytes(this.#view.getUint32(vectors + 8 * i, true), this.#view.getUint32(vectors + 8 * i + 4, true));
      const piece = entry.bytes.subarray(entry.at, entry.at + part.length);
      part.set(piece);
      entry.at += piece.length;
    }
    this.#view.setUint32(to, entry.at - before, true);
    return OK;
  }

  fd_seek(descriptor, offset, whence, to) {
    const entry = this.#open.get(descriptor);
    if (entry === undefined) return descriptor < ROOT ? SPIPE : BADF;
    if (entry.kind === FOLDER) return ISDIR;
    const base = [0, entry.at, entry.bytes.length][whence] ?? 0;
    entry.at = Math.max(0, base + Number(offset));
    this.#view.setBigUint64(to, BigInt(entry.at), true);
    return OK;
  }

  fd_readdir(descriptor, at, size, cookie, to) {
    const entry = descriptor === ROOT ? this.#look('') : this.#open.get(descriptor);
    if (entry === undefined) return BADF;
    if (entry.kind !== FOLDER) return NOTDIR;
    let used = 0;
    for (let i = Number(cookie); i < entry.names.length && used < size; ++i) {
      const name = new TextEncoder().encode(entry.names[i]);
      const found = this.#look(normal(`${entry.path}/${entry.names[i]}`));
      const record = new Uint8Array(24 + name.length);
      const view = new DataView(record.buffer);
      view.setBigUint64(0, BigInt(i + 1), true);
      view.setUint32(16, name.length, true);
      view.setUint8(20, found?.kind ?? FILE);
      record.set(name, 24);
      const piece = record.subarray(0, size - used);
      this.#bytes(at + used, piece.length).set(piece);
      used += piece.length;
    }
    this.#view.setUint32(to, used, true);
    return OK;
  }
}
