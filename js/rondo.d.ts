/** Objects of the line protocol: docs/batch.md lists their fields. */
export type Fields = Record<string, unknown>;
export interface Message extends Fields {
  role: string;
}

/** Where files are looked for, by paths without slashes at either end. */
export interface Files {
  read(path: string): Uint8Array | undefined;
  list(path: string): string[] | undefined;
}

export declare class MemoryFiles implements Files {
  constructor(files?: Record<string, Uint8Array | string>);
  set(path: string, content: Uint8Array | string): void;
  delete(path: string): void;
  read(path: string): Uint8Array | undefined;
  list(path: string): string[] | undefined;
}

export declare class RondoError extends Error {
  code: string;
  at?: { line: number; column: number } | { offset: number };
  hint?: string;
}

export interface LoadOptions {
  source?: URL | string | Response | ArrayBuffer | Uint8Array | WebAssembly.Module;
  files?: Files;
  now?: string;
}

export interface Template {
  render(context?: Fields): string;
}

export declare class Rondo {
  constructor(module: WebAssembly.Module, options?: { files?: Files; now?: string });
  static load(options?: LoadOptions): Promise<Rondo>;
  files: Files;
  batchLine(line: string): string;
  batch(request: Fields): Fields;
  model(source: { files?: Record<string, Uint8Array | string>; template?: string }): Model;
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
}

export declare class Model {
  render(messages: Message[], options?: Fields): Fields & { text: string };
  encode(messages: Message[], options?: Fields): Prompt;
  bridge(promptIds: ArrayLike<number>, completionIds: ArrayLike<number>, newMessages: Message[], options?: Fields): Prompt & { appended: number };
  parse(text: string, options?: Fields): Fields & { content: string; reasoning_content: string | null; tool_calls: Fields[]; complete: boolean };
  parsePieces(chunks: string[], options?: Fields): Fields & { message: Message };
  grammar(options?: Fields): Fields;
  check(options?: Fields): Fields;
  stop(options?: Fields): Fields;
  tokenize(text: string, options?: Fields): Fields & { ids: number[] };
  detokenize(ids: ArrayLike<number>, options?: Fields): Fields & { text: string };
  applyChatTemplate(messages: Message[], options: ChatTemplateOptions & { tokenize: false }): string;
  applyChatTemplate(messages: Message[], options?: ChatTemplateOptions): number[];
  close(): void;
}
