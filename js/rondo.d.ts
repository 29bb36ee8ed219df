/** Objects of the line protocol: docs/batch.md lists their fields. */
export type Fields = Record<string, unknown>;
export interface Message extends Fields {
  role: string;
}
export type Ids = Iterable<number> | ArrayLike<number>;

/** What a file holds: text or bytes. */
export type FileContent = string | ArrayBuffer | ArrayBufferView;

/** Where files are looked for, by paths without slashes at either end.  A call of rondo throws what these throw. */
export interface Files {
  read(path: string): FileContent | null | undefined;
  list(path: string): Iterable<string> | null | undefined;
}

export declare class MemoryFiles implements Files {
  constructor(files?: Record<string, FileContent>);
  set(path: string, content: FileContent): void;
  delete(path: string): void;
  read(path: string): Uint8Array | undefined;
  list(path: string): string[] | undefined;
}

export declare class RondoError extends Error {
  code: string;
  at?: { line: number; column?: number } | { offset: number };
  hint?: string;
}

export interface LoadOptions {
  source?: URL | string | Response | ArrayBuffer | Uint8Array | WebAssembly.Module;
  files?: Files;
  now?: string;
}

export interface Template {
  readonly text: string;
  render(context?: Fields): string;
  /** The template in a layout for reading, which writes the same. */
  format(options?: { indent?: string | number }): string;
}

export declare class Rondo {
  constructor(module: WebAssembly.Module, options?: { files?: Files; now?: string });
  static load(options?: LoadOptions): Promise<Rondo>;
  files: Files;
  batchLine(line: string): string;
  batch(request: Fields): Fields;
  model(source: { files?: Record<string, FileContent>; path?: string; template?: string }): Model;
  readonly Template: new (text: string) => Template;
}

export interface Prompt extends Fields {
  ids: number[];
  message_indices: number[];
}

export interface ChatTemplateOptions extends Fields {
  tokenize?: boolean;
  add_generation_prompt?: boolean;
  tools?: Fields[];
  documents?: Fields[];
  continue_final_message?: boolean | string;
  /** The text of a template in place of the model's, or the name of one of the model's. */
  chat_template?: string | null;
  return_dict?: boolean;
  return_tensor?: false;
}

/** One prompt, as `return_dict` asks for it. */
export interface ChatTemplateEncoding {
  input_ids: number[];
  attention_mask: number[];
}

/** What a model wrote. */
export interface Answer extends Fields {
  content: string;
  reasoning_content: string | null;
  tool_calls: Fields[];
  complete: boolean;
  /** Text behind the stop, which is no part of the turn; absent where only markup is there. */
  behind_stop?: string;
}

export type ParserEvent =
  | { kind: 'content' | 'reasoning'; text: string }
  | { kind: 'call_start'; call: number; text: string; id?: string }
  | { kind: 'call_id' | 'arguments'; call: number; text: string }
  | { kind: 'call_end'; call: number };

export declare class Parser {
  private constructor();
  feed(piece: string | number | Ids): ParserEvent[];
  message(): Answer;
  arguments(call: number): { value: unknown; open: string | null };
  end(): { message: Answer; events: ParserEvent[]; text: string };
  read(pieces: AsyncIterable<string | number | Ids> | Iterable<string | number | Ids>): AsyncGenerator<ParserEvent, void>;
  close(): void;
}

export interface Extension extends Fields {
  ids: number[];
  begin: number;
  kept: number;
}

export declare class Rollout {
  private constructor();
  state(): { ids: number[]; message_indices: number[]; sampled_mask: number[]; messages: Message[] };
  complete(ids: Ids): Answer;
  extend(newMessages: Message[], options?: Fields): Extension;
  close(): void;
}

export declare class Model {
  private constructor();
  render(messages: Message[], options?: Fields): Fields & { text: string };
  encode(messages: Message[], options?: Fields): Prompt;
  bridge(promptIds: Ids, completionIds: Ids, newMessages: Message[], options?: Fields): Prompt & { appended: number };
  parse(completion: string | Ids, options?: Fields): Answer;
  parsePieces(chunks: string[], options?: Fields): Fields & { message: Answer };
  parser(options?: Fields): Parser;
  rollout(messages: Message[], options?: Fields): Rollout;
  grammar(options?: Fields): Fields;
  check(options?: Fields): Fields;
  stop(options?: Fields): Fields & { stop_ids: number[]; stop_strings: string[] };
  tokenize(text: string, options?: Fields): Fields & { ids: number[] };
  detokenize(ids: Ids, options?: Fields): Fields & { text: string };
  applyChatTemplate(messages: Message[], options: ChatTemplateOptions & { tokenize: false }): string;
  applyChatTemplate(messages: Message[], options: ChatTemplateOptions & { return_dict: true }): ChatTemplateEncoding;
  applyChatTemplate(messages: Message[], options?: ChatTemplateOptions): number[];
  readonly apply_chat_template: Model['applyChatTemplate'];
  close(): void;
}
