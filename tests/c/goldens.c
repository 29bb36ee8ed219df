/* The goldens of the line protocol through the C API: each request as a line, and, where a function of its own says the same,
 * through that function too.
 *
 *   c_goldens LEAST FILE...      LEAST: how many requests the functions have to answer
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"
#include "rondo.h"

static rondo_library library = RONDO_LIBRARY_INIT;
static int failures = 0;
static int typed = 0;

/* One request of a golden, with its reply. */
typedef struct example {
  rondo_text request;
  rondo_text reply;
  rondo_text op;
  rondo_model model;
  rondo_chat chat;
  buffer options;
} example;

static void fail(const example* at, const char* what, rondo_text expected, rondo_text got) {
  ++failures;
  printf("FAILED: %s of\n  %.*s\n  expected %.*s\n  got      %.*s\n", what, (int)at->request.size, at->request.data,
         (int)expected.size, expected.data, (int)got.size, got.data);
}

static void expect_text(const example* at, const char* what, rondo_text expected, rondo_text got) {
  if (!text_equals(expected, got)) fail(at, what, expected, got);
}

static int is_op(const example* at, const char* name) { return text_equals(at->op, text_of(name)); }

/* ---- What a reply says, and what a result has ------------------------------------------------------------------------ */

static void expect_numbers(const example* at, const char* field, const void* data, size_t count, size_t width) {
  rondo_text expected = {"[]", 2};
  buffer got = {NULL, 0};
  size_t i;
  if (!json_find(at->reply, field, &expected)) {
    fail(at, field, expected, text_of("numbers"));
    return;
  }
  buffer_say(&got, "[");
  for (i = 0; i < count; ++i) {
    char number[16];
    const int value = width == 1 ? ((const uint8_t*)data)[i] : ((const int32_t*)data)[i];
    snprintf(number, sizeof number, "%s%d", i == 0 ? "" : ",", value);
    buffer_say(&got, number);
  }
  buffer_say(&got, "]");
  {
    rondo_text text;
    text.data = got.data;
    text.size = got.size;
    expect_text(at, field, expected, text);
  }
  free(got.data);
}

static void expect_ids(const example* at, const char* field, rondo_result result) {
  rondo_ids ids;
  if (rondo_result_ids(&library, result, &ids) == RONDO_OK) expect_numbers(at, field, ids.data, ids.size, 4);
}

static void expect_owners(const example* at, rondo_result result) {
  rondo_ids owners;
  if (rondo_result_owners(&library, result, &owners) == RONDO_OK)
    expect_numbers(at, "message_indices", owners.data, owners.size, 4);
}

static void expect_string(const example* at, const char* field, rondo_result result) {
  rondo_text value;
  rondo_text expected;
  rondo_text got = {NULL, 0};
  char* text;
  if (!json_find(at->reply, field, &value)) return;
  text = json_string(value, &expected.size);
  expected.data = text;
  rondo_result_text(&library, result, &got);
  expect_text(at, field, expected, got);
  free(text);
}

static int is_array_field(rondo_text name) {
  static const char* const kArrays[] = {"id", "ids", "message_indices", "content_mask", "sampled_mask", "loss_mask"};
  size_t i;
  for (i = 0; i < sizeof kArrays / sizeof *kArrays; ++i) {
    if (text_equals(name, text_of(kArrays[i]))) return 1;
  }
  return 0;
}

/* All of `expected` that is no array of numbers is in the result's JSON, and nothing else is there. */
static void expect_json(const example* at, rondo_text expected, rondo_result result, const char* besides) {
  rondo_text json = {NULL, 0};
  rondo_text name;
  rondo_text value;
  rondo_text got;
  size_t i = 0;
  size_t left = 0;
  rondo_result_json(&library, result, &json);
  while (json_next(json, &i, &name, &value)) ++left;
  i = 0;
  while (json_next(expected, &i, &name, &value)) {
    char field[64] = {0};
    if (is_array_field(name) || text_equals(name, text_of(besides)) || name.size >= sizeof field) continue;
    memcpy(field, name.data, name.size);
    got.data = "null";
    got.size = 4;
    json_find(json, field, &got);
    expect_text(at, field, value, got);
    if (left > 0) --left;
  }
  if (left != 0) fail(at, "the members of the result", expected, json);
}

static void expect_mask(const example* at, const char* field, rondo_result result,
                        rondo_status (*part)(rondo_library*, rondo_result, rondo_mask*)) {
  rondo_mask mask;
  rondo_text value;
  const int is_asked = json_find(at->reply, field, &value);
  const rondo_status status = part(&library, result, &mask);
  if (is_asked != (status == RONDO_OK)) fail(at, field, text_of("the mask"), text_of(rondo_status_name(status)));
  if (is_asked && status == RONDO_OK) expect_numbers(at, field, mask.data, mask.size, 1);
}

static void expect_error(const example* at, const rondo_error* error, rondo_text expected) {
  rondo_text value;
  rondo_text place;
  rondo_text message;
  char* text;
  char shown[32];
  if (json_find(expected, "code", &value)) {
    value.data += 1;
    value.size -= 2;
    expect_text(at, "the code", value, text_of(rondo_status_name(error->status)));
  }
  /* A model may also be named, and says so where there is no file; ids that are no text are told by their place. */
  if (error->status == RONDO_NOT_FOUND || (is_op(at, "detokenize") && error->status == RONDO_TOKENIZER)) return;
  json_find(expected, "message", &value);
  text = json_string(value, &message.size);
  message.data = text;
  expect_text(at, "the message", message, error->message);
  free(text);
  if (!json_find(expected, "at", &place)) return;
  if (json_find(place, "line", &value)) {
    snprintf(shown, sizeof shown, "%d", error->line);
    expect_text(at, "the line", value, text_of(shown));
  }
  if (json_find(place, "column", &value)) {
    snprintf(shown, sizeof shown, "%d", error->column);
    expect_text(at, "the column", value, text_of(shown));
  }
  if (json_find(place, "offset", &value)) {
    snprintf(shown, sizeof shown, "%lu", (unsigned long)error->offset);
    expect_text(at, "the offset", value, text_of(shown));
  }
}

/* ---- Requests as arguments ------------------------------------------------------------------------------------------- */

static int is_string(rondo_text value) { return json_is(value, '"'); }

/* Members of the request that are arguments of functions, and no options. */
static int is_argument(const example* at, rondo_text name) {
  static const char* const kArguments[] = {
      "id",       "op",    "template",  "template_file", "tokenizer",  "mode",           "polyfill",     "corrections",
      "messages", "tools", "documents", "kwargs",        "prompt_ids", "completion_ids", "new_messages", "chunks"};
  size_t i;
  if (is_op(at, "detokenize") && text_equals(name, text_of("ids"))) return 1;
  if ((is_op(at, "parse") || is_op(at, "tokenize")) && text_equals(name, text_of("text"))) return 1;
  for (i = 0; i < sizeof kArguments / sizeof *kArguments; ++i) {
    if (text_equals(name, text_of(kArguments[i]))) return 1;
  }
  return 0;
}

static void add_member(buffer* out, rondo_text name, rondo_text value) {
  buffer_say(out, out->size == 0 ? "{\"" : ",\"");
  buffer_add(out, name.data, name.size);
  buffer_say(out, "\":");
  buffer_add(out, value.data, value.size);
}

static void add_default(example* at, const char* name, const char* value) {
  rondo_text found;
  if (!json_find(at->request, name, &found)) add_member(&at->options, text_of(name), text_of(value));
}

static void read_chat(example* at) {
  const rondo_chat empty = RONDO_CHAT_INIT;
  rondo_text name;
  rondo_text value;
  size_t i = 0;
  at->chat = empty;
  json_find(at->request, "messages", &at->chat.messages);
  json_find(at->request, "tools", &at->chat.tools);
  json_find(at->request, "documents", &at->chat.documents);
  json_find(at->request, "kwargs", &at->chat.kwargs);
  while (json_next(at->request, &i, &name, &value)) {
    if (!is_argument(at, name) && !json_is_null(value)) add_member(&at->options, name, value);
  }
  if (is_op(at, "render") || is_op(at, "encode")) add_default(at, "add_generation_prompt", "false");
  if (is_op(at, "bridge")) add_default(at, "lossy", "false");
  if (is_op(at, "parse_stream")) add_default(at, "by_spelling", "true");
  if (at->options.size != 0) buffer_say(&at->options, "}");
  at->chat.options.data = at->options.data;
  at->chat.options.size = at->options.size;
}

/* Whether the functions can say what the request says: one template, texts where texts are, and so on. */
static int is_sayable(const example* at) {
  rondo_text value;
  const int has_text = json_find(at->request, "template", &value);
  const int has_file = json_find(at->request, "template_file", &value);
  const int only_tokens = is_op(at, "tokenize") || is_op(at, "detokenize");
  const int needs_tokens = only_tokens || is_op(at, "encode") || is_op(at, "bridge") || is_op(at, "stop");
  if (!only_tokens && has_text == has_file) return 0;
  if (only_tokens && (has_text || has_file)) return 0;
  if (json_find(at->request, "template", &value) && !is_string(value)) return 0;
  if (json_find(at->request, "template_file", &value) && !is_string(value)) return 0;
  if (json_find(at->request, "tokenizer", &value) ? !is_string(value) || value.size == 2 : needs_tokens) return 0;
  if (is_op(at, "tokenize") && json_find(at->request, "offsets", &value)) return 0;
  if (is_op(at, "parse") || is_op(at, "tokenize")) return json_find(at->request, "text", &value) && is_string(value);
  return 1;
}

static rondo_status open_model(example* at, rondo_error* error) {
  rondo_model_options options = RONDO_MODEL_OPTIONS_INIT;
  static const char* const kTexts[] = {"template", "template_file", "tokenizer"};
  static const char* const kOptions[] = {"mode", "polyfill", "corrections"};
  rondo_text* const targets[] = {&options.template_text, &options.chat_template, &options.tokenizer};
  char* owned[3] = {NULL, NULL, NULL};
  buffer rest = {NULL, 0};
  rondo_text value;
  rondo_status status;
  size_t i;
  for (i = 0; i < 3; ++i) {
    if (!json_find(at->request, kTexts[i], &value)) continue;
    owned[i] = json_string(value, &targets[i]->size);
    targets[i]->data = owned[i];
  }
  for (i = 0; i < 3; ++i) {
    if (json_find(at->request, kOptions[i], &value)) add_member(&rest, text_of(kOptions[i]), value);
  }
  if (!json_find(at->request, "mode", &value)) add_member(&rest, text_of("mode"), text_of("\"strict\""));
  buffer_say(&rest, "}");
  options.options.data = rest.data;
  options.options.size = rest.size;
  status = rondo_model_open(&library, &options, &at->model, error);
  for (i = 0; i < 3; ++i) free(owned[i]);
  free(rest.data);
  return status;
}

/* ---- The functions --------------------------------------------------------------------------------------------------- */

static rondo_status with_text(example* at, rondo_result* result, rondo_error* error) {
  rondo_text text;
  rondo_text value;
  rondo_status status;
  char* owned;
  json_find(at->request, "text", &value);
  owned = json_string(value, &text.size);
  text.data = owned;
  status = is_op(at, "parse") ? rondo_parse(&library, at->model, &at->chat, text, result, error)
                              : rondo_tokenize(&library, at->model, text, at->chat.options, result, error);
  free(owned);
  return status;
}

/* -1: the request has no such ids. */
static int ids_of(const example* at, const char* field, rondo_ids* out) {
  rondo_text value;
  int32_t* ids;
  if (!json_find(at->request, field, &value) || !json_is(value, '[')) return -1;
  ids = json_ids(value, &out->size);
  out->data = ids;
  return ids == NULL ? -1 : 0;
}

static int with_ids(example* at, rondo_result* result, rondo_error* error, rondo_status* status) {
  rondo_ids first = {NULL, 0};
  rondo_ids second = {NULL, 0};
  rondo_text new_messages = {NULL, 0};
  int fits = 1;
  if (is_op(at, "detokenize")) {
    fits = ids_of(at, "ids", &first) == 0;
    if (fits) *status = rondo_detokenize(&library, at->model, first, at->chat.options, result, error);
  } else {
    fits = ids_of(at, "prompt_ids", &first) == 0 && ids_of(at, "completion_ids", &second) == 0;
    json_find(at->request, "new_messages", &new_messages);
    if (fits) *status = rondo_bridge(&library, at->model, &at->chat, first, second, new_messages, result, error);
  }
  free((void*)first.data);
  free((void*)second.data);
  return fits;
}

/* What events say, in one text: "<name>" where a call begins. */
static void tell_events(buffer* out, rondo_result result) {
  size_t count = 0;
  size_t i;
  rondo_result_event_count(&library, result, &count);
  for (i = 0; i < count; ++i) {
    rondo_event event = RONDO_EVENT_INIT;
    rondo_result_event(&library, result, i, &event);
    if (event.kind == RONDO_EVENT_CALL_START) buffer_say(out, "<");
    if (event.kind != RONDO_EVENT_CALL_END) buffer_add(out, event.text.data, event.text.size);
    if (event.kind == RONDO_EVENT_CALL_START) buffer_say(out, ">");
  }
}

static void tell_member(buffer* out, rondo_text object, const char* field, const char* before, const char* behind) {
  rondo_text value;
  size_t size;
  char* text;
  if (!json_find(object, field, &value)) return;
  text = json_string(value, &size);
  buffer_say(out, before);
  buffer_add(out, text, size);
  buffer_say(out, behind);
  free(text);
}

/* The same of a golden's deltas. */
static void tell_deltas(buffer* out, rondo_text deltas) {
  rondo_text name;
  rondo_text delta;
  rondo_text call;
  size_t at = 0;
  while (json_next(deltas, &at, &name, &delta)) {
    tell_member(out, delta, "content", "", "");
    tell_member(out, delta, "reasoning_content", "", "");
    if (!json_find(delta, "tool_call", &call)) continue;
    tell_member(out, call, "name", "<", ">");
    tell_member(out, call, "arguments", "", "");
  }
}

static void expect_told(const example* at, buffer* expected, buffer* got) {
  rondo_text left;
  rondo_text right;
  buffer_say(expected, "");
  buffer_say(got, "");
  left.data = expected->data;
  left.size = expected->size;
  right.data = got->data;
  right.size = got->size;
  expect_text(at, "a chunk's events", left, right);
  free(expected->data);
  free(got->data);
}

static int stream(example* at, rondo_result* result, rondo_error* error, rondo_status* status) {
  rondo_parser parser = {0};
  rondo_text chunks;
  rondo_text deltas = {"[]", 2};
  rondo_text name;
  rondo_text chunk;
  rondo_text expected;
  size_t i = 0;
  size_t j = 0;
  if (!json_find(at->request, "chunks", &chunks) || !json_is(chunks, '[')) return 0;
  while (json_next(chunks, &i, &name, &chunk)) {
    if (!is_string(chunk)) return 0;
  }
  *status = rondo_parser_open(&library, at->model, &at->chat, &parser, error);
  json_find(at->reply, "deltas", &deltas);
  for (i = 0; *status == RONDO_OK && json_next(chunks, &i, &name, &chunk);) {
    buffer told = {NULL, 0};
    buffer wanted = {NULL, 0};
    size_t k = i;
    rondo_text text;
    char* owned = json_string(chunk, &text.size);
    text.data = owned;
    *status = rondo_parser_feed_text(&library, parser, text, result, error);
    free(owned);
    tell_events(&told, *result);
    rondo_result_close(&library, *result);
    if (!json_next(chunks, &k, &name, &chunk) && *status == RONDO_OK) { /* the last one has what was held back too */
      *status = rondo_parser_end(&library, parser, result, error);
      tell_events(&told, *result);
      rondo_result_close(&library, *result);
    }
    if (json_next(deltas, &j, &name, &expected)) tell_deltas(&wanted, expected);
    expect_told(at, &wanted, &told);
  }
  if (*status == RONDO_OK) *status = rondo_parser_end(&library, parser, result, error);
  rondo_parser_close(&library, parser);
  return 1;
}

/* 0: the functions have no words for it. */
static int call(example* at, rondo_result* result, rondo_error* error, rondo_status* status) {
  if (is_op(at, "parse_stream")) return stream(at, result, error, status);
  if (is_op(at, "detokenize") || is_op(at, "bridge")) return with_ids(at, result, error, status);
  if (is_op(at, "parse") || is_op(at, "tokenize")) {
    *status = with_text(at, result, error);
  } else if (is_op(at, "render")) {
    *status = rondo_render(&library, at->model, &at->chat, result, error);
  } else if (is_op(at, "encode")) {
    *status = rondo_encode(&library, at->model, &at->chat, result, error);
  } else if (is_op(at, "stop")) {
    *status = rondo_stop(&library, at->model, &at->chat, result, error);
  } else {
    *status = rondo_grammar(&library, at->model, &at->chat, result, error);
  }
  return 1;
}

static void compare(const example* at, rondo_result result) {
  rondo_text part;
  if (is_op(at, "render") || is_op(at, "detokenize")) expect_string(at, "text", result);
  if (is_op(at, "grammar")) expect_string(at, "grammar", result);
  if (is_op(at, "stop")) expect_ids(at, "stop_ids", result);
  if (is_op(at, "encode") || is_op(at, "bridge") || is_op(at, "tokenize")) expect_ids(at, "ids", result);
  if (is_op(at, "encode") || is_op(at, "bridge")) expect_owners(at, result);
  if (is_op(at, "encode")) {
    expect_mask(at, "content_mask", result, rondo_result_content_mask);
    expect_mask(at, "sampled_mask", result, rondo_result_sampled_mask);
    expect_mask(at, "loss_mask", result, rondo_result_loss_mask);
  }
  if (is_op(at, "parse_stream")) {
    if (json_find(at->reply, "message", &part)) expect_json(at, part, result, "");
  } else if (!is_op(at, "tokenize") && !is_op(at, "detokenize")) {
    expect_json(at, at->reply, result, is_op(at, "render") ? "text" : "");
  }
}

static int has_function(const example* at) {
  static const char* const kOps[] = {"render",   "encode",     "bridge", "parse",  "parse_stream",
                                     "tokenize", "detokenize", "stop",   "grammar"};
  size_t i;
  for (i = 0; i < sizeof kOps / sizeof *kOps; ++i) {
    if (is_op(at, kOps[i])) return 1;
  }
  return 0;
}

static void check_function(example* at) {
  rondo_error error = RONDO_ERROR_INIT;
  rondo_result result = {0};
  rondo_text expected;
  rondo_status status;
  int is_called = 1;
  if (!has_function(at) || !is_sayable(at)) return;
  status = open_model(at, &error);
  read_chat(at);
  if (status == RONDO_OK) is_called = call(at, &result, &error, &status);
  if (is_called) {
    ++typed;
    if (json_find(at->reply, "error", &expected)) {
      expect_error(at, &error, expected);
    } else if (status != RONDO_OK) {
      fail(at, "the status", text_of("ok"), error.shown);
    } else {
      compare(at, result);
    }
  }
  rondo_result_close(&library, result);
  rondo_model_close(&library, at->model);
  rondo_error_clear(&error);
  free(at->options.data);
}

/* ---- Files ----------------------------------------------------------------------------------------------------------- */

static void check_line(const example* at) {
  rondo_result result;
  rondo_text reply = {NULL, 0};
  rondo_error error = RONDO_ERROR_INIT;
  rondo_batch(&library, at->request, &result, &error);
  rondo_result_text(&library, result, &reply);
  expect_text(at, "the reply", at->reply, reply);
  rondo_result_close(&library, result);
  rondo_error_clear(&error);
}

static void check_example(rondo_text request, rondo_text reply) {
  example at;
  memset(&at, 0, sizeof at);
  at.request = request;
  at.reply = reply;
  check_line(&at);
  if (!json_is(request, '{') || request.data[request.size - 1] != '}') return;
  if (!json_find(request, "op", &at.op) || !is_string(at.op)) return;
  at.op.data += 1;
  at.op.size -= 2;
  check_function(&at);
}

static int check_file(const char* path) {
  FILE* file = fopen(path, "rb");
  buffer text = {NULL, 0};
  char part[4096];
  size_t size;
  char* line;
  rondo_text request = {NULL, 0};
  if (file == NULL) {
    printf("FAILED: there is no file %s\n", path);
    return 0;
  }
  while ((size = fread(part, 1, sizeof part, file)) > 0) buffer_add(&text, part, size);
  fclose(file);
  for (line = text.data; line != NULL && *line != 0;) {
    char* end = strchr(line, '\n');
    rondo_text rest;
    rest.data = line + 2;
    rest.size = (size_t)((end == NULL ? text.data + text.size : end) - line);
    rest.size = rest.size < 2 ? 0 : rest.size - 2;
    if (strncmp(line, "< ", 2) == 0) request = rest;
    if (strncmp(line, "> ", 2) == 0) check_example(request, rest);
    line = end == NULL ? NULL : end + 1;
  }
  free(text.data);
  return 1;
}

int main(int argc, char** argv) {
  rondo_library_options options = RONDO_LIBRARY_OPTIONS_INIT;
  rondo_error error = RONDO_ERROR_INIT;
  size_t open = 0;
  int i;
  options.now = RONDO_TEXT("2026-03-14T00:00:00");
  if (argc < 3 || rondo_library_open(&library, &options, &error) != RONDO_OK) return 2;
  for (i = 2; i < argc; ++i) failures += check_file(argv[i]) ? 0 : 1;
  rondo_library_handles(&library, &open);
  if (open != 0) {
    printf("FAILED: %lu handles were left open\n", (unsigned long)open);
    ++failures;
  }
  rondo_library_close(&library);
  if (typed < atoi(argv[1])) {
    printf("FAILED: only %d requests went through functions\n", typed);
    ++failures;
  }
  printf("%d requests went through functions, %d failures\n", typed, failures);
  return failures == 0 ? 0 : 1;
}
