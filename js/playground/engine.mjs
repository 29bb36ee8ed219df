// The worker behind the page, and what it is asked.

const PATIENCE_MS = 20_000;
const LONG_PATIENCE_MS = 180_000; // a check plays hundreds of conversations
const LONG = new Set(['check', 'fix']);

async function unpacked(base64) {
  const bytes = Uint8Array.from(atob(base64), (letter) => letter.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'));
  return WebAssembly.compile(await new Response(stream).arrayBuffer());
}

/** The library in a worker.  What takes too long is given up, and the worker begun anew. */
export class Engine {
  #module;
  #source;
  #worker;
  #waiting = new Map();
  #count = 0;
  #files = {};

  constructor(workerSource, packedModule) {
    this.#source = URL.createObjectURL(new Blob([workerSource], { type: 'text/javascript' }));
    this.#module = unpacked(packedModule);
  }

  /** The files that requests may name, by path.  The next request sees them. */
  set files(files) {
    this.#files = files;
    this.#stop('the files have changed');
  }

  /** The reply to a request of the line protocol.  Throws an Error whose `at` says where. */
  async ask(request) {
    const module = await this.#module;
    if (this.#worker === undefined) this.#start(module);
    const patience = LONG.has(request.op) ? LONG_PATIENCE_MS : PATIENCE_MS;
    const reply = JSON.parse(await this.#call({ kind: 'ask', line: JSON.stringify(request) }, patience));
    if (reply.error !== undefined) throw Object.assign(new Error(reply.error.message), { at: reply.error.at, hint: reply.error.hint });
    return reply;
  }

  #start(module) {
    this.#worker = new Worker(this.#source); // on pages from files browsers refuse workers that are modules
    this.#worker.onmessage = ({ data: { id, reply, failed } }) => this.#settle(id, reply, failed);
    this.#worker.onerror = (event) => this.#stop(event.message ?? 'the library could not be started');
    this.#worker.postMessage({ kind: 'start', module, files: this.#files });
  }

  #call(message, patience) {
    const id = this.#count++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#stop(`this took more than ${patience / 1000} seconds, and was given up`), patience);
      this.#waiting.set(id, { resolve, reject, timer });
      this.#worker.postMessage({ id, ...message });
    });
  }

  #settle(id, reply, failed) {
    const one = this.#waiting.get(id);
    if (one === undefined) {
      if (failed !== undefined) this.#stop(failed);
      return;
    }
    this.#waiting.delete(id);
    clearTimeout(one.timer);
    if (failed === undefined) one.resolve(reply);
    else one.reject(new Error(failed));
  }

  #stop(why) {
    this.#worker?.terminate();
    this.#worker = undefined;
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(new Error(why));
    }
    this.#waiting.clear();
  }
}
