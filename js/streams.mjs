// What goes on while a model writes: a parser of its turn, and a conversation that grows as ids.

// A handle of the library, until it is closed or forgotten.
class Held {
  #kind;
  #library;
  #handle;

  constructor(kind, library, handle) {
    this.#kind = kind;
    this.#library = library;
    this.#handle = handle;
    library.keep(this, kind, handle);
  }

  /** A call after this one fails with the code "closed". */
  close() {
    this.#library.close(this.#kind, this.#handle, this);
  }

  ask(name, parts, given = () => []) {
    return this.#library.ask(`${this.#kind}_${name}`, () => [this.#handle, ...given(this.#library)], parts);
  }
}

/**
 * Reads a turn while it is written.  Events: {kind: "content" or "reasoning", text}, {kind: "call_start", call, text: its name, id?},
 * {kind: "call_id", call, text}, {kind: "arguments", call, text}, {kind: "call_end", call}.  Nothing that was reported is taken back.
 */
export class Parser {
  #held;

  constructor(library, handle) {
    this.#held = new Held('parser', library, handle);
  }

  /** A piece of text, an id or ids, cut anywhere: the events that are certain now. */
  feed(piece) {
    if (typeof piece === 'string') return this.#held.ask('feed_text', ['events'], (library) => [library.text(piece)]).events;
    return this.#held.ask('feed_ids', ['events'], (library) => [library.ids(typeof piece === 'number' ? [piece] : piece)]).events;
  }

  /** The message so far. */
  message() {
    return this.#held.ask('message', ['json']).json;
  }

  /** {value, open}: the arguments of a call so far, and a JSON pointer to the innermost value that is still being written, or null. */
  arguments(call) {
    const { text, json } = this.#held.ask('arguments', ['text', 'json'], () => [call]);
    return { value: JSON.parse(text), open: json.open };
  }

  /** The turn ends here: {message, events, text}, `events` being what was held back, `text` all that was fed. */
  end() {
    const { json, events, text } = this.#held.ask('end', ['json', 'events', 'text']);
    return { message: json, events, text };
  }

  /** The events of pieces that arrive, to the last one. */
  async *read(pieces) {
    for await (const piece of pieces) yield* this.feed(piece);
    yield* this.end().events;
  }

  close() {
    this.#held.close();
  }
}

/** A conversation that grows by sampled turns and by messages: nothing that was prompted or sampled is tokenized again. */
export class Rollout {
  #held;

  constructor(library, handle) {
    this.#held = new Held('rollout', library, handle);
  }

  /** {ids, message_indices, sampled_mask, messages}: all of it.  The ids are the next prompt. */
  state() {
    const { owners, json, ...found } = this.#held.ask('state', ['ids', 'owners', 'sampled_mask', 'json']);
    return { ...found, message_indices: owners, messages: json };
  }

  /** Takes what was sampled behind the ids, with or without its stop token, possibly cut off: the message. */
  complete(ids) {
    return this.#held.ask('complete', ['json'], (library) => [library.ids(ids)]).json;
  }

  /** What follows the model's turn, none of role `assistant`: {ids, begin, kept, cuts, lossy, ...}, `ids` being what was appended. */
  extend(newMessages, options = {}) {
    const texts = (library) => [library.json(newMessages), library.json(options)];
    const { ids, json } = this.#held.ask('extend', ['ids', 'json'], texts);
    return { ids, ...json };
  }

  close() {
    this.#held.close();
  }
}
