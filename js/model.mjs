// A template, a tokenizer, or both.
import { RondoError } from './errors.mjs';
import { Parser, Rollout } from './streams.mjs';

// What belongs to a model as it is opened, not to a call.
const OPENING = ['mode', 'polyfill', 'corrections'];
// How many ways to open a model are kept: with templates of requests there may be many.
const MOST_OPENED = 8;

/** What the methods take and return are the fields of docs/batch.md. */
export class Model {
  #host;
  #path;
  #template;
  #owned;
  #opened = new Map();

  constructor(host, { path, template, owned }) {
    this.#host = host;
    this.#path = path;
    this.#template = template;
    this.#owned = owned;
  }

  /** {text, spans?}: the prompt of messages. */
  render(messages, options = {}) {
    const { text, json } = this.#ask('render', { messages, add_generation_prompt: false, ...options }, ['text', 'json']);
    return { text, ...json };
  }

  /** {ids, message_indices, ...}: the prompt as token ids, with whose they are. */
  encode(messages, options = {}) {
    const parts = ['ids', 'owners', 'content_mask', 'sampled_mask', ...(options.loss_mask == null ? [] : ['loss_mask'])];
    const { owners, json, ...found } = this.#ask('encode', { messages, add_generation_prompt: false, ...options }, [...parts, 'json']);
    return { message_indices: owners, ...found, ...json };
  }

  /** {ids, appended, ...}: the next prompt, the ids of the last one and of its completion unchanged and then the new messages. */
  bridge(promptIds, completionIds, newMessages, options = {}) {
    const given = (library) => [library.ids(promptIds), library.ids(completionIds), library.json(newMessages)];
    const { ids, owners, json } = this.#ask('bridge', { lossy: false, ...options }, ['ids', 'owners', 'json'], given);
    return { ids, message_indices: owners, ...json };
  }

  /** {content, reasoning_content, tool_calls, complete, ...}: what the model wrote, as text or as ids. */
  parse(completion, options = {}) {
    if (typeof completion === 'string') return this.#ask('parse', options, ['json'], (library) => [library.text(completion)]).json;
    return this.#ask('parse_ids', options, ['json'], (library) => [library.ids(completion)]).json;
  }

  /** {message, deltas}: the same from pieces that are there already, with what is new after each. */
  parsePieces(chunks, options = {}) {
    const source = this.#template === undefined ? { template_file: this.#path } : { template: this.#template };
    return this.#host.batch({ op: 'parse_stream', ...source, chunks, ...options });
  }

  /** A Parser, which is fed while the model writes.  Options as parse(), and `by_spelling`. */
  parser(options = {}) {
    return this.#open(Parser, 'parser', options);
  }

  /** A Rollout: a conversation that grows as ids.  Options as encode(). */
  rollout(messages, options = {}) {
    return this.#open(Rollout, 'rollout', { messages, ...options });
  }

  /** {grammar, ...}: what the model may write next. */
  grammar(options = {}) {
    return this.#ask('grammar', options, ['json']).json;
  }

  /** Where the template's next prompt does not continue what the model has seen, and why. */
  check(options = {}) {
    return this.#ask('check', options, ['json']).json;
  }

  stop(options = {}) {
    return this.#ask('stop', options, ['json']).json;
  }

  /** {ids, offsets?} */
  tokenize(text, options = {}) {
    if (options.offsets && this.#path !== undefined) return this.#host.batch({ op: 'tokenize', tokenizer: this.#path, text, ...options });
    const { library, handle } = this.#library();
    return library.ask('tokenize', () => [handle, library.text(text), library.json(options)], ['ids']);
  }

  /** {text} */
  detokenize(ids, options = {}) {
    const { library, handle } = this.#library();
    return library.ask('detokenize', () => [handle, library.ids(ids), library.json(options)], ['text']);
  }

  /** As the method of tokenizers in @huggingface/transformers: ids, or with `tokenize: false` the text. */
  applyChatTemplate(messages, options = {}) {
    const { tokenize = true, add_generation_prompt = false, tools, documents, continue_final_message, chat_template, return_dict = false, ...others } = options;
    const kwargs = templateVariables(others, tokenize);
    const fields = { messages, add_generation_prompt, tools, documents, continue_final_message, chat_template, kwargs };
    if (!tokenize) return this.#ask('render', fields, ['text']).text;
    const { ids } = this.#ask('encode', fields, ['ids']);
    return return_dict ? { input_ids: ids, attention_mask: ids.map(() => 1) } : ids;
  }

  /** The same, under the name that it has there. */
  apply_chat_template(messages, options) {
    return this.applyChatTemplate(messages, options);
  }

  /** Forgets the model and its files.  Parsers and rollouts go on. */
  close() {
    for (const { library, handle } of this.#opened.values()) library.close('model', handle, this);
    this.#opened.clear();
    if (this.#owned) this.#host.forget(this.#path);
    this.#path = undefined;
    this.#template = undefined;
  }

  // The library that the model is open in, and its handle there: opened when it is first asked for, once for each way to open it.
  #library(options = {}) {
    if (this.#path === undefined && this.#template === undefined) throw new RondoError({ code: 'bad_request', message: 'the model is closed, or has neither files nor a template' });
    const how = JSON.stringify({ mode: 'strict', ...Object.fromEntries(OPENING.filter((name) => options[name] != null).map((name) => [name, options[name]])) });
    const template = options.chat_template ?? undefined;
    const key = JSON.stringify([how, template]);
    const known = this.#opened.get(key);
    if (known !== undefined && !known.library.broken) return known;
    const library = this.#host.library();
    const handle = library.openModel({ path: this.#path, ...this.#source(template), options: how });
    library.keep(this, 'model', handle);
    const opened = { library, handle };
    this.#opened.delete(key);
    this.#opened.set(key, opened);
    if (this.#opened.size > MOST_OPENED) {
      const [[oldest, left]] = this.#opened;
      left.library.close('model', left.handle);
      this.#opened.delete(oldest);
    }
    return opened;
  }

  // The template that a call asked for: a text, or the name of one of the model's.
  #source(asked) {
    if (asked === undefined) return { template_text: this.#template };
    if (typeof asked !== 'string') throw new RondoError({ code: 'bad_request', message: `\`chat_template\` must be a text, found ${typeof asked}` });
    return /^[\w.-]+$/.test(asked) ? { chat_template: asked } : { template_text: asked };
  }

  // Templates that ask for the time get it from the clock, where none is given.
  #fields(options) {
    const { now = this.#host.now(), ...rest } = options;
    return { ...Object.fromEntries(Object.entries(rest).filter(([name]) => name !== 'chat_template' && !OPENING.includes(name))), now };
  }

  #ask(name, options, parts, given = () => []) {
    const { library, handle } = this.#library(options);
    return library.ask(name, () => [handle, library.chat(this.#fields(options)), ...given(library)], parts);
  }

  #open(Kind, kind, options) {
    const { library, handle } = this.#library(options);
    return new Kind(library, library.open(kind, handle, this.#fields(options)));
  }
}

// What is left of the options of @huggingface/transformers for the template, once those that rondo cannot honour are refused.
function templateVariables({ padding, truncation, max_length, return_tensor, tokenizer_kwargs, ...variables }, tokenize) {
  const asked = {
    return_tensor,
    truncation,
    padding: padding && (padding === 'max_length' || max_length != null),
    tokenizer_kwargs: Object.keys(tokenizer_kwargs ?? {}).length > 0,
  };
  const refused = tokenize ? Object.keys(asked).find((name) => asked[name]) : undefined;
  if (refused !== undefined) {
    throw new RondoError({ code: 'bad_request', message: `rondo has nothing for \`${refused}\`: the prompt comes as a plain array of all its ids` });
  }
  return variables;
}
