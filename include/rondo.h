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
 * Handles.  A rondo_library is a small object in your memory.  Everything else is a handle: a number that the library
 * looks up.  A handle that is null, closed, closed twice, made up or from another library is therefore an error
 * (RONDO_CLOSED, RONDO_NULL) and never a crash.  The same is true of a rondo_library that is closed or all zero.  You
 * may move a rondo_library in memory; if you copy it, use only one of the copies.
 *
 * Text.  A text is UTF-8 with a length.  `data` may be NULL if the text is absent.  Every text that the library returns
 * is also followed by a 0 byte.  Messages, tools and options are JSON text.  The template sees exactly what you send,
 * including key order and the spelling of numbers.
 *
 * Ownership.  A call reads its arguments and never keeps them.  The data that an accessor returns belongs to the
 * library and is valid until its handle or the library is closed.  Closing a library closes all of its handles.
 *
 * Errors.  A function that can fail returns a rondo_status; RONDO_OK is 0.  It puts the details into `error`, which may
 * be NULL.  A call that fails sets the handles that it should have made to null.  Every function that takes a library
 * may return RONDO_NULL, RONDO_CLOSED, RONDO_NO_MEMORY or RONDO_INTERNAL; the comments name all other codes.  The
 * library throws nothing, prints nothing and keeps nothing in globals.
 *
 * Threads.  Any number of threads may use one library, its models and its results at the same time.  A thread may close
 * a handle while another uses it: a running call keeps what it needs.  Calls on the same parser or rollout wait for
 * each other.  No other call on a library may run during its rondo_library_open or rondo_library_close.  Only one
 * thread at a time may use a rondo_error.
 *
 * Versions.  While RONDO_ABI_VERSION stays the same, functions, structs and numbers may be added here, but none change.
 * A struct begins with its size, so that it can grow.  Initialise it with its RONDO_..._INIT.
 *
 * The guide is docs/c-api.md; docs/batch.md describes the fields of the JSON options. */
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
  RONDO_INVALID_ARGUMENT = 1, /* an argument is not usable: wrong type, missing field, impossible option */
  RONDO_NOT_FOUND = 2,        /* a named file does not exist or cannot be opened */
  RONDO_IO = 3,               /* reading or writing failed midway */
  RONDO_JSON = 4,             /* a JSON text does not parse */
  RONDO_TEMPLATE_SYNTAX = 5,  /* a template does not parse */
  RONDO_TEMPLATE_RAISED = 6,  /* the template called raise_exception; the message is exactly its argument */
  RONDO_TEMPLATE_ERROR = 7,   /* any other failure while a template ran */
  RONDO_TOKENIZER = 8,        /* a tokenizer is damaged or of an unsupported kind, or an id is out of range */
  RONDO_PARSE = 9,            /* strict parsing met text that does not fit the format */
  RONDO_CANNOT_BRIDGE = 10,   /* the next turn cannot be appended without changing earlier tokens */
  RONDO_ENGINE = 11,          /* an engine failed; no function in this header uses one */
  RONDO_LIMIT = 12,           /* a limit on time, depth, iterations or size was reached */
  RONDO_UNSUPPORTED = 13,     /* well-formed, but this build or this model cannot serve it */
  RONDO_INTERNAL = 14,        /* a fault in rondo itself */
  RONDO_NO_MEMORY = 15,       /* there is no memory left; nothing was changed */
  RONDO_NULL = 16,            /* a required pointer or handle is null */
  RONDO_CLOSED = 17           /* a library or handle is closed, never open, of another kind or of another library */
};

/* Describes a failure.  Its texts are valid until the error is cleared or passed to another call. */
typedef struct rondo_error {
  size_t struct_size;
  rondo_status status;
  int32_t line;       /* of the template or JSON text, from 1; 0: unknown */
  int32_t column;     /* from 1, in code points; 0: unknown */
  int32_t has_offset; /* 1: `offset` is known */
  uint64_t offset;    /* in bytes of the parsed text */
  rondo_text message; /* a sentence, lower case, without a full stop */
  rondo_text source;  /* the file or field concerned; may be empty */
  rondo_text hint;    /* a sentence that says what is at fault or what would help; may be empty */
  rondo_text shown;   /* everything for people: place, message, the line with a caret, the calls that led there */
  void* memory;       /* internal */
} rondo_error;
#define RONDO_ERROR_INIT {sizeof(rondo_error), 0, 0, 0, 0, 0, {0, 0}, {0, 0}, {0, 0}, {0, 0}, 0}

typedef struct rondo_library {
  uint64_t state[2]; /* internal */
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

/* Returns the RONDO_ABI_VERSION of the linked library.  Any thread. */
RONDO_API uint32_t rondo_abi_version(void);

/* Returns the version, such as "0.1.0".  The text is never freed.  Any thread. */
RONDO_API const char* rondo_version_string(void);

/* Returns the name of a status.  If the line protocol has the status too, the name is its code in docs/batch.md, such
 * as "template_raised".  RONDO_INVALID_ARGUMENT and RONDO_JSON share "bad_request", RONDO_NOT_FOUND and RONDO_IO share
 * "not_found", RONDO_ENGINE and RONDO_INTERNAL share "internal".  The other names are "ok", "no_memory", "null" and
 * "closed"; a number that is not a status gives "unknown".  The result is never NULL and never freed.  Any thread. */
RONDO_API const char* rondo_status_name(rondo_status status);

/* Frees the texts of an error and resets it to RONDO_ERROR_INIT.  Does nothing for NULL or an error that is clear. */
RONDO_API void rondo_error_clear(rondo_error* error);

/* ---- The library ------------------------------------------------------------------------------------------------- */

typedef struct rondo_library_options {
  size_t struct_size;
  rondo_text cache_folder; /* where large tokenizers are cached as tables that load fast; empty: no cache */
  rondo_text now; /* local time for calls that name none, "2026-03-14T15:09:26"; empty: such calls have no time */
} rondo_library_options;
#define RONDO_LIBRARY_OPTIONS_INIT {sizeof(rondo_library_options), {0, 0}, {0, 0}}

/* Opens a library in the caller's memory, which must be RONDO_LIBRARY_INIT.  `options` may be NULL.  Reads no clock,
 * no environment and no files.  Fails with RONDO_INVALID_ARGUMENT if an option is not usable or `library` is already
 * open. */
RONDO_API rondo_status rondo_library_open(rondo_library* library, const rondo_library_options* options,
                                          rondo_error* error);

/* Closes all handles and the library, which may then be opened again.  No other call may be using it. */
RONDO_API rondo_status rondo_library_close(rondo_library* library);

/* Counts the open handles of all kinds, for tests that look for leaks.  Any thread. */
RONDO_API rondo_status rondo_library_handles(rondo_library* library, size_t* count);

/* Answers one request of the line protocol (docs/batch.md); `line` has no newline.  Use it for what the functions below
 * lack: `explain`, `diff`, `replay`, `fix`, `test`, `edge_...`.  If the request fails, the reply has `error`, and this
 * function returns RONDO_OK.  Templates and tokenizers of requests are loaded once and kept until the library is
 * closed; models do not share them.  Result: text, the reply.  Any thread. */
RONDO_API rondo_status rondo_batch(rondo_library* library, rondo_text line, rondo_result* result, rondo_error* error);

/* ---- Models ------------------------------------------------------------------------------------------------------ */

/* Where a model comes from.  `path` provides a template and a tokenizer.  The other fields replace one of the two, or
 * are used without `path`.  A template without a tokenizer renders and parses; a tokenizer without a template
 * tokenizes. */
typedef struct rondo_model_options {
  size_t struct_size;
  rondo_text path;              /* a model folder, a .gguf, a tokenizer file or a template */
  rondo_text chat_template;     /* path of a template, the name of one of the model's or rondo's own, or "auto" */
  rondo_text template_text;     /* the text of a template; an empty text counts if `data` is not NULL */
  rondo_text tokenizer;         /* path of a tokenizer file or folder */
  rondo_text tokenizer_json;    /* the text of a tokenizer.json; not with `path`, `chat_template` or `tokenizer` */
  rondo_text tokenizer_config;  /* for tokenizer_json: the text of its tokenizer_config.json */
  rondo_text generation_config; /* for tokenizer_json: the text of its generation_config.json */
  rondo_text options;           /* JSON object: mode ("lenient", the default, or "strict"), polyfill, corrections */
} rondo_model_options;
#define RONDO_MODEL_OPTIONS_INIT \
  {sizeof(rondo_model_options), {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}}

/* Loads a model.  A model is immutable; what is derived from it is made once, on first use.  Fails with
 * RONDO_NOT_FOUND, RONDO_TEMPLATE_SYNTAX, RONDO_TOKENIZER, RONDO_JSON or RONDO_INVALID_ARGUMENT.  Any thread. */
RONDO_API rondo_status rondo_model_open(rondo_library* library, const rondo_model_options* options, rondo_model* model,
                                        rondo_error* error);

/* Closes a model.  Its parsers and rollouts keep working.  Does nothing for a null handle.  Any thread. */
RONDO_API rondo_status rondo_model_close(rondo_library* library, rondo_model model);

/* Describes a model.  Result: json, {"name", "vocab_size", "template", "tool_template", "template_reason"}.
 * `vocab_size` is 0 without a tokenizer; a template that the model lacks is "".  Any thread. */
RONDO_API rondo_status rondo_model_describe(rondo_library* library, rondo_model model, rondo_result* result,
                                            rondo_error* error);

/* ---- Prompts ----------------------------------------------------------------------------------------------------- */

/* A conversation.  `options` holds the other fields of a call, named as in docs/batch.md.  Every call takes
 * add_generation_prompt (default: true, unless a message is continued), continue_final_message, bos_token, eos_token
 * and now.  The comment of a function lists its further options. */
typedef struct rondo_chat {
  size_t struct_size;
  rondo_text messages;  /* JSON array of messages */
  rondo_text tools;     /* JSON array of tool definitions */
  rondo_text documents; /* JSON array of objects */
  rondo_text kwargs;    /* JSON object: further variables of the template */
  rondo_text options;   /* JSON object */
} rondo_chat;
#define RONDO_CHAT_INIT {sizeof(rondo_chat), {0, 0}, {0, 0}, {0, 0}, {0, 0}, {0, 0}}

/* Makes the prompt as text.  Further options: spans.  Result: text; json {"spans"?, "shaped"?, "notes"?}.  Fails with
 * RONDO_JSON, RONDO_INVALID_ARGUMENT, RONDO_TEMPLATE_RAISED, RONDO_TEMPLATE_ERROR, RONDO_LIMIT, or with
 * RONDO_UNSUPPORTED if the model has no template, or no tokenizer where one is needed.  All functions that take a chat
 * may fail in these ways.  Any thread. */
RONDO_API rondo_status rondo_render(rondo_library* library, rondo_model model, const rondo_chat* chat,
                                    rondo_result* result, rondo_error* error);

/* Renders the model's template with the variables of a JSON object, and with no others.  `options` is empty or a JSON
 * object: now.  Result: text.  Fails with RONDO_JSON, RONDO_INVALID_ARGUMENT, RONDO_TEMPLATE_RAISED,
 * RONDO_TEMPLATE_ERROR, RONDO_LIMIT, or with RONDO_UNSUPPORTED if the model has no template.  Any thread. */
RONDO_API rondo_status rondo_jinja(rondo_library* library, rondo_model model, rondo_text variables, rondo_text options,
                                   rondo_result* result, rondo_error* error);

/* Makes the prompt as ids.  Text of messages, tools and documents never becomes a control token.  Further options:
 * content_specials, inline_reasoning, loss_mask, retention, raw_turns.  Result: ids, owners, content_mask,
 * sampled_mask, and loss_mask if you asked for it; text; json {"shaped"?, "notes"?}.  Any thread. */
RONDO_API rondo_status rondo_encode(rondo_library* library, rondo_model model, const rondo_chat* chat,
                                    rondo_result* result, rondo_error* error);

/* Makes the next prompt: `prompt` and `completion` unchanged, then the new turn.  `chat` describes the messages in
 * `prompt`.  `new_messages` is a JSON array without assistant messages.  Further options: lossy (default: true),
 * content_specials, retention, sampled.  Result: ids; owners, which are indices in the new messages; json {"appended",
 * "kept", "cuts", "lossy", "notes"?, "shaped"?, "media"?}.  Also fails with RONDO_CANNOT_BRIDGE and RONDO_TOKENIZER.
 * Any thread. */
RONDO_API rondo_status rondo_bridge(rondo_library* library, rondo_model model, const rondo_chat* chat, rondo_ids prompt,
                                    rondo_ids completion, rondo_text new_messages, rondo_result* result,
                                    rondo_error* error);

/* Lists the ids that end generation, sorted.  `chat` may be NULL.  Result: ids; json {"stop_ids", "stop_strings"}.  Any
 * thread. */
RONDO_API rondo_status rondo_stop(rondo_library* library, rondo_model model, const rondo_chat* chat,
                                  rondo_result* result, rondo_error* error);

/* Makes a grammar of what the model may write next.  Further options: format ("gbnf", "structural_tag", "lark"),
 * tool_choice, parallel_tool_calls, response_schema.  Result: text, the grammar; json, the reply of the operation
 * `grammar`.  Any thread. */
RONDO_API rondo_status rondo_grammar(rondo_library* library, rondo_model model, const rondo_chat* chat,
                                     rondo_result* result, rondo_error* error);

/* Finds the places where the template's next prompt does not continue what the model has seen, and says why.  Takes
 * seconds.  `chat` may be NULL; only its kwargs, bos_token, eos_token and now are used.  Further options: model (a
 * name), scenarios.  Result: json, a report (docs/check.schema.json).  Any thread. */
RONDO_API rondo_status rondo_check(rondo_library* library, rondo_model model, const rondo_chat* chat,
                                   rondo_result* result, rondo_error* error);

/* ---- Tokens ------------------------------------------------------------------------------------------------------ */

/* Turns text into ids.  `options` is empty or a JSON object: parse_special (default: true), add_special (default:
 * false).  Result: ids.  Fails with RONDO_UNSUPPORTED if the model has no tokenizer.  Any thread. */
RONDO_API rondo_status rondo_tokenize(rondo_library* library, rondo_model model, rondo_text text, rondo_text options,
                                      rondo_result* result, rondo_error* error);

/* Turns ids into text.  Bytes that are not UTF-8 become U+FFFD.  `options` is empty or a JSON object: skip_special
 * (default: false).  Result: text.  Fails with RONDO_TOKENIZER if an id is out of range, or with RONDO_UNSUPPORTED if
 * the model has no tokenizer.  Any thread. */
RONDO_API rondo_status rondo_detokenize(rondo_library* library, rondo_model model, rondo_ids ids, rondo_text options,
                                        rondo_result* result, rondo_error* error);

/* ---- What a model wrote ------------------------------------------------------------------------------------------ */

/* Reads the message in `text`, which the model wrote after the prompt of `chat`.  Special tokens are spelled out in
 * `text`.  Further options: partial, strict, reasoning, tool_choice, parallel_tool_calls, response_schema.  Result:
 * json, the reply of the operation `parse`.  Also fails with RONDO_PARSE.  Any thread. */
RONDO_API rondo_status rondo_parse(rondo_library* library, rondo_model model, const rondo_chat* chat, rondo_text text,
                                   rondo_result* result, rondo_error* error);

/* Reads a message from ids, up to the first stop token.  A marker counts only if it is the token itself.  Options as
 * rondo_parse.  Result: json, as rondo_parse; text, the ids as text.  Fails with RONDO_TOKENIZER if an id is out of
 * range.  Any thread. */
RONDO_API rondo_status rondo_parse_ids(rondo_library* library, rondo_model model, const rondo_chat* chat, rondo_ids ids,
                                       rondo_result* result, rondo_error* error);

/* Opens a parser that you feed while the model writes.  Options as rondo_parse, and by_spelling: markers in fed text
 * count even if they are tokens of the model (default: true if the model has no tokenizer).  Any thread. */
RONDO_API rondo_status rondo_parser_open(rondo_library* library, rondo_model model, const rondo_chat* chat,
                                         rondo_parser* parser, rondo_error* error);

/* Feeds the next piece, which may be cut anywhere.  Ids and text may be mixed.  Result: the events that are now
 * certain; they are never taken back.  Fails with RONDO_INVALID_ARGUMENT once the parser has ended, or with
 * RONDO_TOKENIZER if an id is out of range.  A call that fails feeds nothing. */
RONDO_API rondo_status rondo_parser_feed_ids(rondo_library* library, rondo_parser parser, rondo_ids ids,
                                             rondo_result* result, rondo_error* error);
RONDO_API rondo_status rondo_parser_feed_text(rondo_library* library, rondo_parser parser, rondo_text text,
                                              rondo_result* result, rondo_error* error);

/* Gives the message so far.  Result: json, as rondo_parse; text, everything that was fed. */
RONDO_API rondo_status rondo_parser_message(rondo_library* library, rondo_parser parser, rondo_result* result,
                                            rondo_error* error);

/* Gives the arguments of call `index` so far.  Result: text, JSON with everything closed that is still open, "null"
 * before the arguments begin; json {"open"}, a JSON pointer to the innermost value that is still being written, or
 * null. */
RONDO_API rondo_status rondo_parser_arguments(rondo_library* library, rondo_parser parser, size_t index,
                                              rondo_result* result, rondo_error* error);

/* Ends the text.  Result: the events that were held back; json, the message; text, everything that was fed.  A second
 * call returns no events.  Fails with RONDO_PARSE if `strict` is set and the text does not fit the format. */
RONDO_API rondo_status rondo_parser_end(rondo_library* library, rondo_parser parser, rondo_result* result,
                                        rondo_error* error);

/* Closes the handle.  Does nothing for a null handle.  Any thread. */
RONDO_API rondo_status rondo_parser_close(rondo_library* library, rondo_parser parser);

/* ---- Rollouts ---------------------------------------------------------------------------------------------------- */

/* Opens a conversation that grows by sampled turns and by messages, as ids.  A rollout never renders or tokenizes again
 * what was prompted or sampled.  `chat` is the first prompt.  Further options: content_specials, inline_reasoning.
 * Any thread. */
RONDO_API rondo_status rondo_rollout_open(rondo_library* library, rondo_model model, const rondo_chat* chat,
                                          rondo_rollout* rollout, rondo_error* error);

/* Takes the ids that were sampled after the prompt, with or without the stop token, possibly cut off.  Result: json,
 * the message, as rondo_parse; text, the ids as text.  Fails with RONDO_INVALID_ARGUMENT if the last turn is already
 * the model's, or with RONDO_TOKENIZER if an id is out of range. */
RONDO_API rondo_status rondo_rollout_complete(rondo_library* library, rondo_rollout rollout, rondo_ids completion,
                                              rondo_result* result, rondo_error* error);

/* Appends what follows the model's turn.  `new_messages` is a JSON array without assistant messages.  `options` is
 * empty or a JSON object: retention.  Result: the appended ids; json {"begin", "kept", "cuts", "lossy", "notes"?,
 * "shaped"?, "media"?}.  Fails as rondo_bridge does.  A call that fails leaves the rollout unchanged. */
RONDO_API rondo_status rondo_rollout_extend(rondo_library* library, rondo_rollout rollout, rondo_text new_messages,
                                            rondo_text options, rondo_result* result, rondo_error* error);

/* Gives the whole rollout.  Result: ids, owners, sampled_mask; json, the messages.  The next rondo_rollout_extend adds
 * the message of the last sampled turn to them. */
RONDO_API rondo_status rondo_rollout_state(rondo_library* library, rondo_rollout rollout, rondo_result* result,
                                           rondo_error* error);

/* Closes the handle.  Does nothing for a null handle.  Any thread. */
RONDO_API rondo_status rondo_rollout_close(rondo_library* library, rondo_rollout rollout);

/* ---- Results ----------------------------------------------------------------------------------------------------- */

/* Each of these functions reads one part of a result.  A result is immutable.  The comment of the function that made
 * it lists its parts.  Reading another part fails with RONDO_INVALID_ARGUMENT and gives an empty value.  The data is
 * valid until the result is closed.  Any thread. */
RONDO_API rondo_status rondo_result_text(rondo_library* library, rondo_result result, rondo_text* text);
RONDO_API rondo_status rondo_result_json(rondo_library* library, rondo_result result, rondo_text* json);
RONDO_API rondo_status rondo_result_ids(rondo_library* library, rondo_result result, rondo_ids* ids);
/* For each id the index of the message that owns it; -1: no message. */
RONDO_API rondo_status rondo_result_owners(rondo_library* library, rondo_result result, rondo_ids* owners);
/* For each id: 1 if it is a message's own data. */
RONDO_API rondo_status rondo_result_content_mask(rondo_library* library, rondo_result result, rondo_mask* mask);
/* For each id: 1 if the model itself wrote it or would have written it. */
RONDO_API rondo_status rondo_result_sampled_mask(rondo_library* library, rondo_result result, rondo_mask* mask);
/* For each id: 1 if a model is trained on it. */
RONDO_API rondo_status rondo_result_loss_mask(rondo_library* library, rondo_result result, rondo_mask* mask);

enum {
  RONDO_EVENT_CONTENT = 1,
  RONDO_EVENT_REASONING = 2,
  RONDO_EVENT_CALL_START =
      3,                   /* `text` is the call's name; `id` is the call's id, if the model wrote it before the name */
  RONDO_EVENT_CALL_ID = 4, /* `text` is the call's id, if the model wrote it after the name */
  RONDO_EVENT_ARGUMENTS = 5, /* `text` is the next part of the call's arguments */
  RONDO_EVENT_CALL_END = 6
};

typedef struct rondo_event {
  size_t struct_size;
  int32_t kind;
  int32_t has_id;
  size_t call; /* for events of a call: the call's index */
  rondo_text text;
  rondo_text id;
} rondo_event;
#define RONDO_EVENT_INIT {sizeof(rondo_event), 0, 0, 0, {0, 0}, {0, 0}}

RONDO_API rondo_status rondo_result_event_count(rondo_library* library, rondo_result result, size_t* count);
/* Fills `event`, which must be RONDO_EVENT_INIT.  Fails with RONDO_INVALID_ARGUMENT if there is no event `index`. */
RONDO_API rondo_status rondo_result_event(rondo_library* library, rondo_result result, size_t index,
                                          rondo_event* event);

/* Closes the handle.  Does nothing for a null handle.  Any thread. */
RONDO_API rondo_status rondo_result_close(rondo_library* library, rondo_result result);

#ifdef __cplusplus
}
#endif

#endif
