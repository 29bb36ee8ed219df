/* rondo for C: chat messages to token ids and back, by the model's own chat template.
 *
 *   rondo_library library = RONDO_LIBRARY_INIT;
 *   rondo_error error = RONDO_ERROR_INIT;
 *   rondo_model_options options = RONDO_MODEL_OPTIONS_INIT;
 *   rondo_chat chat = RONDO_CHAT_INIT;
 *   rondo_model model;
 *   rondo_result prompt;
 *   rondo_ids ids;
 *
 *   options.path = RONDO_TEXT("path/to/model");
 *   chat.messages = RONDO_TEXT("[{\"role\": \"user\", \"content\": \"Hello\"}]");
 *   if (rondo_library_open(&library, NULL, &error) || rondo_model_open(&library, &options, &model, &error) ||
 *       rondo_encode(&library, model, &chat, &prompt, &error) || rondo_result_ids(&library, prompt, &ids)) { ... }
 *   engine_feed(ids.data, ids.size);
 *   rondo_error_clear(&error);
 *   rondo_library_close(&library);
 *
 * Handles.  A rondo_library is a small object in your memory; everything else is a handle, a number that the library
 * looks up.  So a handle that was closed, closed twice, made up, of another library or null is an error (RONDO_CLOSED,
 * RONDO_NULL) and never a crash.  The same holds of a rondo_library that is closed or all zero.  A rondo_library may
 * be moved in memory, but of its copies only one may be used.
 *
 * Text is UTF-8 with a length; `data` may be NULL where the text is absent.  What comes out has a 0 behind it besides.
 * Messages, tools and options go in as JSON text: what was sent is what the template sees, order and spelling
 * included.
 *
 * Ownership.  What you give is read during the call and never kept.  What an accessor gives out is the library's, and
 * valid until its handle or the library is closed.  Closing a library closes all of its handles.
 *
 * Errors.  A function that can fail returns a rondo_status, RONDO_OK being 0, and tells the rest in `error`, which may
 * be NULL.  After a failure the handles that it should have made are null.  Every entry of the library may return
 * RONDO_NULL, RONDO_CLOSED, RONDO_NO_MEMORY and RONDO_INTERNAL; the comments name the others.  Nothing is thrown,
 * printed or kept in globals; there is no last error.
 *
 * Threads.  Any number of threads may use one library, its models and its results at once, and close handles
 * meanwhile: a call that is under way keeps what it uses.  A parser and a rollout let one thread in at a time.  rondo_library_open
 * and rondo_library_close want the library for themselves, and a rondo_error belongs to one thread at a time.
 *
 * Versions.  The functions, the structs and the numbers here never change while RONDO_ABI_VERSION stays; there may be
 * more of them.  Structs begin with their size, so that they may grow: begin with their RONDO_..._INIT.
 *
 * The guide is docs/c-api.md; the fields of the JSON options are those of docs/batch.md. */
#ifndef RONDO_H
#define RONDO_H

#include <stddef.h>
#include <stdint.h>

#if defined(__GNUC__)
#define RONDO_API __attribute__((visibility("default")))
#else
#define RONDO_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define RONDO_ABI_VERSION 1

/* ---- Values ------------------------------------------------------------------------------------------------------ */

typedef struct rondo_text {
  const char* data;
  size_t size; /* in bytes */
} rondo_text;

typedef struct rondo_ids {
  const int32_t* data;
  size_t size;
} rondo_ids;

typedef struct rondo_mask {
  const uint8_t* data; /* 0 or 1 */
  size_t size;
} rondo_mask;

/* A string literal as a text, in an assignment or initialisation: text = RONDO_TEXT("[]"). */
#ifdef __cplusplus
#define RONDO_TEXT(literal) rondo_text{literal, sizeof(literal) - 1}
#else
#define RONDO_TEXT(literal) ((rondo_text){literal, sizeof(literal) - 1})
#endif

typedef int32_t rondo_status;
enum {
  RONDO_OK = 0,
  RONDO_INVALID_ARGUMENT = 1, /* what was asked does not fit: wrong type, missing field, impossible option */
  RONDO_NOT_FOUND = 2,        /* a named file does not exist or cannot be opened */
  RONDO_IO = 3,               /* reading or writing failed midway */
  RONDO_JSON = 4,             /* a JSON text does not parse */
  RONDO_TEMPLATE_SYNTAX = 5,  /* a template does not parse */
  RONDO_TEMPLATE_RAISED = 6,  /* the template called raise_exception; the message is exactly its argument */
  RONDO_TEMPLATE_ERROR = 7,   /* any other failure while a template ran */
  RONDO_TOKENIZER = 8,        /* a tokenizer is damaged or of an unsupported kind, or an id is out of range */
  RONDO_PARSE = 9,            /* strict parsing met text that does not fit the format */
  RONDO_CANNOT_BRIDGE = 10,   /* the next turn cannot be appended without changing earlier tokens */
  RONDO_ENGINE = 11,          /* an engine failed; no function of this header has one */
  RONDO_LIMIT = 12,           /* a limit on time, depth, iterations or size was reached */
  RONDO_UNSUPPORTED = 13,     /* well-formed, but this build or this model cannot serve it */
  RONDO_INTERNAL = 14,        /* a fault in rondo itself */
  RONDO_NO_MEMORY = 15,       /* there is no memory left; nothing was changed */
  RONDO_NULL = 16,            /* a pointer or handle that has to be given is null */
  RONDO_CLOSED = 17           /* a library or handle is closed, of another kind or library, or was never open */
};

/* What went wrong.  The texts belong to the error, until it is cleared or given to another call. */
typedef struct rondo_error {
  size_t struct_size;
  rondo_status status;
  int32_t line;       /* of the template or JSON text, from 1; 0: unknown */
  int32_t column;     /* from 1, in code points; 0: unknown */
  int32_t has_offset; /* 1: `offset` is known */
  uint64_t offset;    /* in bytes of the parsed text */
  rondo_text message; /* a sentence, lower case, without a full stop */
  rondo_text source;  /* the file or field it is about; may be empty */
  rondo_text hint;    /* a sentence on what is at fault or would help; may be empty */
  rondo_text shown;   /* all of it for people: place, message, the line with a caret, the calls that led there */
  void* memory;       /* the library's */
} rondo_error;
#define RONDO_ERROR_INIT {sizeof(rondo_error), 0, 0, 0, 0, 0, {0, 0}, {0, 0}, {0, 0}, {0, 0}, 0}

typedef struct rondo_library {
  uint64_t state[2]; /* the library's */
} rondo_library;
#define RONDO_LIBRARY_INIT {{0, 0}}

/* Handles; 0 is null. */
typedef struct rondo_model {
  uint64_t handle;
} rondo_model;
typedef struct rondo_parser {
  uint64_t handle;
} rondo_parser;
typedef struct rondo_rollout {
  uint64_t handle;
} rondo_rollout;
typedef struct rondo_result {
  uint64_t handle;
} rondo_result;

/* ---- Versions and errors ----------------------------------------------------------------------------------------- */

/* RONDO_ABI_VERSION of the library that is linked.  Any thread. */
RONDO_API uint32_t rondo_abi_version(void);

/* "0.1.0"; never freed.  Any thread. */
RONDO_API const char* rondo_version_string(void);

/* The status in a word, as docs/batch.md names errors: "template_raised"; never NULL, never freed.  Any thread. */
RONDO_API const char* rondo_status_name(rondo_status status);

/* Frees the texts of an error and makes it as RONDO_ERROR_INIT.  NULL, and an error that is clear, are left alone. */
RONDO_API void rondo_error_clear(rondo_error* error);

/* ---- The library ------------------------------------------------------------------------------------------------- */

typedef struct rondo_library_options {
  size_t struct_size;
  rondo_text cache_folder; /* where large tokenizers are kept as tables that load at once; empty: nowhere */
  rondo_text now; /* local time for calls that name none, "2026-03-14T15:09:26"; empty: such calls have no time */
} rondo_library_options;
#define RONDO_LIBRARY_OPTIONS_INIT {sizeof(rondo_library_options), {0, 0}, {0, 0}}

/* Opens a library in the caller's memory, which begins as RONDO_LIBRARY_INIT.  `options` may be NULL.  Reads no clock,
 * no environment and no files.  Fails with RONDO_INVALID_ARGUMENT, also where `library` is open already. */
RONDO_API rondo_status rondo_library_open(rondo_library* library, const rondo_library_options* options,
                                          rondo_error* error);

/* Closes all handles, and the library; it may be opened again.  No other call may be inside it. */
RONDO_API rondo_status rondo_library_close(rondo_library* library);

/* How many handles are open, of all kinds; for tests of what leaks.  Any thread. */
RONDO_API rondo_status rondo_library_handles(rondo_library* library, size_t* count);

/* One request of the line protocol (docs/batch.md), without its newline, and the text of its reply.  What the
 * functions below lack is reached so: `explain`, `diff`, `replay`, `fix`, `test`, `edge_...`.  A request that
 * fails is a reply with `error` and RONDO_OK here.  Templates and tokenizers are loaded once and kept until the
 * library is closed; they are others than those of models.  Result: text.  Any thread. */
RONDO_API rondo_status rondo_batch(rondo_library* library, rondo_text line, rondo_result* result, rondo_error* error);

/* ---- Models ------------------------------------------------------------------------------------------------------ */

/* Where a model comes from.  `path` brings template and tokenizer; the others replace one of them, or stand alone: a
 * template without a tokenizer renders and parses, a tokenizer without a template tokenizes. */
typedef struct rondo_model_options {
  size_t struct_size;
  rondo_text path;              /* a model folder, a .gguf, a tokenizer file or a template */
  rondo_text chat_template;     /* path of a template, the name of one of rondo's own, or "auto" */
  rondo_text template_text;     /* the template itself; present also with `data` not NULL and size 0 */
  rondo_text tokenizer;         /* path of a tokenizer file or folder */
  rondo_text tokenizer_json;    /* a tokenizer.json itself; not with `path`, `chat_template` or `tokenizer` */
  rondo_text tokenizer_config;  /* with it: the text of its tokenizer_config.json */
  rondo_text generation_config; /* with it: the text of its generation_config.json */
  rondo_text options;           /* JSON object: mode ("lenient", the default, or "strict"), polyfill, corrections */
} rondo_model_options;
#define RONDO_MODEL_OPTIONS_INIT \
  {sizeof(rondo_model_options), {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}}

/* Loads a model.  It is immutable, and what follows from it is made once, when it is first asked for.  Fails with
 * RONDO_NOT_FOUND, RONDO_TEMPLATE_SYNTAX, RONDO_TOKENIZER, RONDO_JSON or RONDO_INVALID_ARGUMENT.  Any thread. */
RONDO_API rondo_status rondo_model_open(rondo_library* library, const rondo_model_options* options, rondo_model* model,
                                        rondo_error* error);

/* Closes a model; its parsers and rollouts go on.  A null handle is left alone.  Any thread. */
RONDO_API rondo_status rondo_model_close(rondo_library* library, rondo_model model);

/* Result: json, {"name", "vocab_size", "template", "tool_template", "template_reason"}; vocab_size is 0 without a
 * tokenizer, the templates are "" where there are none.  Any thread. */
RONDO_API rondo_status rondo_model_describe(rondo_library* library, rondo_model model, rondo_result* result,
                                            rondo_error* error);

/* ---- Prompts ----------------------------------------------------------------------------------------------------- */

/* A conversation.  `options` has what else a call takes, by the names of docs/batch.md; of every call:
 * add_generation_prompt (true here, unless a message is continued), continue_final_message, bos_token, eos_token, now. */
typedef struct rondo_chat {
  size_t struct_size;
  rondo_text messages;  /* JSON array of messages */
  rondo_text tools;     /* JSON array of tool definitions */
  rondo_text documents; /* JSON array of objects */
  rondo_text kwargs;    /* JSON object: further variables of the template */
  rondo_text options;   /* JSON object */
} rondo_chat;
#define RONDO_CHAT_INIT {sizeof(rondo_chat), {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}}

/* The prompt as text.  Options besides: spans.  Result: text; json {"spans"?, "shaped"?, "notes"?}.  Fails with
 * RONDO_JSON, RONDO_INVALID_ARGUMENT, RONDO_TEMPLATE_RAISED, RONDO_TEMPLATE_ERROR, RONDO_LIMIT, and with
 * RONDO_UNSUPPORTED where the model lacks what is needed; so do all functions that take a chat.  Any thread. */
RONDO_API rondo_status rondo_render(rondo_library* library, rondo_model model, const rondo_chat* chat,
                                    rondo_result* result, rondo_error* error);

/* The model's template with the variables of a JSON object, and with none but these.  `options`: JSON object or empty:
 * now.  Result: text.  Fails with RONDO_JSON, RONDO_INVALID_ARGUMENT, RONDO_TEMPLATE_RAISED, RONDO_TEMPLATE_ERROR,
 * RONDO_LIMIT, RONDO_UNSUPPORTED without a template.  Any thread. */
RONDO_API rondo_status rondo_jinja(rondo_library* library, rondo_model model, rondo_text variables, rondo_text options,
                                   rondo_result* result, rondo_error* error);

/* The prompt as ids.  Text of messages, tools and documents never becomes a control token.  Options besides:
 * content_specials, inline_reasoning, loss_mask, retention, raw_turns.  Result: ids, owners, content_mask,
 * sampled_mask, loss_mask if it was asked for; text; json {"shaped"?, "notes"?}.  Any thread. */
RONDO_API rondo_status rondo_encode(rondo_library* library, rondo_model model, const rondo_chat* chat,
                                    rondo_result* result, rondo_error* error);

/* The next prompt: `prompt` and `completion` unchanged, then the new turn.  `chat` describes the messages behind
 * `prompt`, `new_messages` is a JSON array of what follows, none of role `assistant`.  Options besides: lossy (true
 * here), content_specials, retention, sampled.  Result: ids; owners, indices in the new messages; json {"appended",
 * "kept", "cuts", "lossy", "notes"?, "shaped"?, "media"?}.  Also fails with RONDO_CANNOT_BRIDGE and RONDO_TOKENIZER.
 * Any thread. */
RONDO_API rondo_status rondo_bridge(rondo_library* library, rondo_model model, const rondo_chat* chat, rondo_ids prompt,
                                    rondo_ids completion, rondo_text new_messages, rondo_result* result,
                                    rondo_error* error);

/* The ids that end generation, sorted.  `chat` may be NULL.  Result: ids; json {"stop_ids", "stop_strings"}.  Any
 * thread. */
RONDO_API rondo_status rondo_stop(rondo_library* library, rondo_model model, const rondo_chat* chat,
                                  rondo_result* result, rondo_error* error);

/* What the model may write next.  Options besides: format ("gbnf", "structural_tag", "lark"), tool_choice,
 * parallel_tool_calls, response_schema.  Result: text, the grammar; json, the reply of `grammar`.  Any thread. */
RONDO_API rondo_status rondo_grammar(rondo_library* library, rondo_model model, const rondo_chat* chat,
                                     rondo_result* result, rondo_error* error);

/* Finds where the template's next prompt does not continue what the model has seen, and why; takes seconds.  Of
 * `chat`, which may be NULL, kwargs and bos_token, eos_token, now count.  Options besides: model (a name), scenarios.
 * Result: json, a report (docs/check.schema.json).  Any thread. */
RONDO_API rondo_status rondo_check(rondo_library* library, rondo_model model, const rondo_chat* chat,
                                   rondo_result* result, rondo_error* error);

/* ---- Tokens ------------------------------------------------------------------------------------------------------ */

/* The ids of a text.  `options`: JSON object or empty: parse_special (true), add_special (false).  Result: ids.  Fails
 * with RONDO_UNSUPPORTED without a tokenizer.  Any thread. */
RONDO_API rondo_status rondo_tokenize(rondo_library* library, rondo_model model, rondo_text text, rondo_text options,
                                      rondo_result* result, rondo_error* error);

/* The text of ids; bytes that are no UTF-8 become U+FFFD.  `options`: JSON object or empty: skip_special (false).
 * Result: text.  Fails with RONDO_TOKENIZER on ids out of range, RONDO_UNSUPPORTED without a tokenizer.  Any thread. */
RONDO_API rondo_status rondo_detokenize(rondo_library* library, rondo_model model, rondo_ids ids, rondo_text options,
                                        rondo_result* result, rondo_error* error);

/* ---- What a model wrote ------------------------------------------------------------------------------------------ */

/* The message in `text`, special tokens as text, that the model wrote behind the prompt of `chat`.  Options besides:
 * partial, strict, reasoning, tool_choice, parallel_tool_calls, response_schema.  Result: json, the reply of `parse`.
 * Also fails with RONDO_PARSE.  Any thread. */
RONDO_API rondo_status rondo_parse(rondo_library* library, rondo_model model, const rondo_chat* chat, rondo_text text,
                                   rondo_result* result, rondo_error* error);

/* The same from ids, up to the first stop token: markers count only as the tokens that they are.  Result: json; text,
 * what the ids read.  Fails with RONDO_TOKENIZER on ids out of range.  Any thread. */
RONDO_API rondo_status rondo_parse_ids(rondo_library* library, rondo_model model, const rondo_chat* chat, rondo_ids ids,
                                       rondo_result* result, rondo_error* error);

/* A parser that is fed while the model writes.  Options as rondo_parse, and by_spelling: markers in text count where
 * they are tokens of the model too (true where the model has no tokenizer).  Any thread. */
RONDO_API rondo_status rondo_parser_open(rondo_library* library, rondo_model model, const rondo_chat* chat,
                                         rondo_parser* parser, rondo_error* error);

/* The next piece, cut anywhere; ids and text may be mixed.  Result: events, those that are certain now; they are never
 * taken back.  Fails with RONDO_INVALID_ARGUMENT once the parser has ended, with RONDO_TOKENIZER on ids out of range,
 * in which case nothing was fed. */
RONDO_API rondo_status rondo_parser_feed_ids(rondo_library* library, rondo_parser parser, rondo_ids ids,
                                             rondo_result* result, rondo_error* error);
RONDO_API rondo_status rondo_parser_feed_text(rondo_library* library, rondo_parser parser, rondo_text text,
                                              rondo_result* result, rondo_error* error);

/* The message so far.  Result: json, as rondo_parse; text, all that was fed. */
RONDO_API rondo_status rondo_parser_message(rondo_library* library, rondo_parser parser, rondo_result* result,
                                            rondo_error* error);

/* The arguments of call `index` so far.  Result: text, JSON that is closed where it breaks off, "null" before it has
 * begun; json {"open"}, a JSON pointer to the innermost value that is still being written, or null. */
RONDO_API rondo_status rondo_parser_arguments(rondo_library* library, rondo_parser parser, size_t index,
                                              rondo_result* result, rondo_error* error);

/* The text ends here.  Result: events, what was held back; json, the message; text, all that was fed.  May be called
 * again: no events then.  Fails with RONDO_PARSE where `strict` was asked for. */
RONDO_API rondo_status rondo_parser_end(rondo_library* library, rondo_parser parser, rondo_result* result,
                                        rondo_error* error);

/* A null handle is left alone.  Any thread. */
RONDO_API rondo_status rondo_parser_close(rondo_library* library, rondo_parser parser);

/* ---- Rollouts ---------------------------------------------------------------------------------------------------- */

/* A conversation that grows by sampled turns and by messages, as ids: nothing that was prompted or sampled is rendered
 * or tokenized again.  `chat` is the first prompt; options besides: content_specials, inline_reasoning.  Any thread. */
RONDO_API rondo_status rondo_rollout_open(rondo_library* library, rondo_model model, const rondo_chat* chat,
                                          rondo_rollout* rollout, rondo_error* error);

/* Takes what was sampled behind the ids, with or without its stop token, possibly cut off.  Result: json, the message
 * as rondo_parse gives it; text, what the ids read.  Fails with RONDO_INVALID_ARGUMENT if the model has just spoken,
 * with RONDO_TOKENIZER on ids out of range. */
RONDO_API rondo_status rondo_rollout_complete(rondo_library* library, rondo_rollout rollout, rondo_ids completion,
                                              rondo_result* result, rondo_error* error);

/* What follows the model's turn: a JSON array of messages, none of role `assistant`.  `options`: JSON object or empty:
 * retention.  Result: ids, what was appended; json {"begin", "kept", "cuts", "lossy", "notes"?, "shaped"?, "media"?}.
 * Fails as rondo_bridge; the rollout is unchanged then. */
RONDO_API rondo_status rondo_rollout_extend(rondo_library* library, rondo_rollout rollout, rondo_text new_messages,
                                            rondo_text options, rondo_result* result, rondo_error* error);

/* All of it as it stands.  Result: ids, owners, sampled_mask; json, the messages, which a sampled turn joins with the
 * next rondo_rollout_extend. */
RONDO_API rondo_status rondo_rollout_state(rondo_library* library, rondo_rollout rollout, rondo_result* result,
                                           rondo_error* error);

/* A null handle is left alone.  Any thread. */
RONDO_API rondo_status rondo_rollout_close(rondo_library* library, rondo_rollout rollout);

/* ---- Results ----------------------------------------------------------------------------------------------------- */

/* The parts of a result, which is immutable.  The function that made it says which it has; the others fail with
 * RONDO_INVALID_ARGUMENT and are empty.  The data is valid until the result is closed.  Any thread. */
RONDO_API rondo_status rondo_result_text(rondo_library* library, rondo_result result, rondo_text* text);
RONDO_API rondo_status rondo_result_json(rondo_library* library, rondo_result result, rondo_text* json);
RONDO_API rondo_status rondo_result_ids(rondo_library* library, rondo_result result, rondo_ids* ids);
/* Per id the index of the message that it belongs to; -1: nobody's. */
RONDO_API rondo_status rondo_result_owners(rondo_library* library, rondo_result result, rondo_ids* owners);
/* Per id 1 where it is a message's own data. */
RONDO_API rondo_status rondo_result_content_mask(rondo_library* library, rondo_result result, rondo_mask* mask);
/* Per id 1 where the model itself wrote it, or would have. */
RONDO_API rondo_status rondo_result_sampled_mask(rondo_library* library, rondo_result result, rondo_mask* mask);
/* Per id 1 where it is learned. */
RONDO_API rondo_status rondo_result_loss_mask(rondo_library* library, rondo_result result, rondo_mask* mask);

enum {
  RONDO_EVENT_CONTENT = 1,
  RONDO_EVENT_REASONING = 2,
  RONDO_EVENT_CALL_START = 3, /* `text` is the call's name, `id` the one that the model wrote before it */
  RONDO_EVENT_CALL_ID = 4,    /* `text` is the call's id, where it comes behind the name */
  RONDO_EVENT_ARGUMENTS = 5,  /* `text` is the next part of the call's arguments */
  RONDO_EVENT_CALL_END = 6
};

typedef struct rondo_event {
  size_t struct_size;
  int32_t kind;
  int32_t has_id;
  size_t call; /* of the call's events: its index */
  rondo_text text;
  rondo_text id;
} rondo_event;
#define RONDO_EVENT_INIT {sizeof(rondo_event), 0, 0, 0, {0, 0}, {0, 0}}

RONDO_API rondo_status rondo_result_event_count(rondo_library* library, rondo_result result, size_t* count);
/* Fills `event`, which begins as RONDO_EVENT_INIT.  Also RONDO_INVALID_ARGUMENT where there is no such event. */
RONDO_API rondo_status rondo_result_event(rondo_library* library, rondo_result result, size_t index,
                                          rondo_event* event);

/* A null handle is left alone.  Any thread. */
RONDO_API rondo_status rondo_result_close(rondo_library* library, rondo_result result);

#ifdef __cplusplus
}
#endif

#endif
