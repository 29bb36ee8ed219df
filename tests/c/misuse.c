/* The C API used wrongly: every mistake that the header names is a status, and nothing else happens.
 *
 *   c_misuse MODEL
 */
#include <stdlib.h>

#include "expect.h"

static rondo_library library = RONDO_LIBRARY_INIT;
static rondo_text model_path; /* borrowed from the arguments */

static rondo_model open_model(void) {
  rondo_model_options options = RONDO_MODEL_OPTIONS_INIT;
  rondo_model model;
  options.path = model_path;
  EXPECT(rondo_model_open(&library, &options, &model, NULL) == RONDO_OK);
  return model;
}

static rondo_chat hello(void) {
  rondo_chat chat = RONDO_CHAT_INIT;
  chat.messages = RONDO_TEXT("[{\"role\": \"user\", \"content\": \"hello\"}]");
  return chat;
}

/* Every function that takes a library and a handle, with these: each of them gives the same status. */
static void expect_all(rondo_library* given, uint64_t handle, rondo_status expected) {
  const rondo_text text = {NULL, 0};
  const rondo_ids ids = {NULL, 0};
  const rondo_chat chat = hello();
  rondo_model model;
  rondo_parser parser;
  rondo_rollout rollout;
  rondo_result result;
  rondo_result made;
  rondo_parser made_parser;
  rondo_rollout made_rollout;
  rondo_text out_text;
  rondo_ids out_ids;
  rondo_mask out_mask;
  rondo_event event = RONDO_EVENT_INIT;
  rondo_error error = RONDO_ERROR_INIT;
  size_t count;
  model.handle = handle;
  parser.handle = handle;
  rollout.handle = handle;
  result.handle = handle;
  EXPECT(rondo_model_describe(given, model, &made, &error) == expected);
  EXPECT(error.status == expected && error.message.size > 0 && made.handle == 0);
  EXPECT(rondo_render(given, model, &chat, &made, NULL) == expected);
  EXPECT(rondo_jinja(given, model, text, text, &made, &error) == expected);
  EXPECT(rondo_encode(given, model, &chat, &made, &error) == expected);
  EXPECT(rondo_bridge(given, model, &chat, ids, ids, text, &made, &error) == expected);
  EXPECT(rondo_stop(given, model, &chat, &made, &error) == expected);
  EXPECT(rondo_grammar(given, model, &chat, &made, &error) == expected);
  EXPECT(rondo_check(given, model, &chat, &made, &error) == expected);
  EXPECT(rondo_tokenize(given, model, text, text, &made, &error) == expected);
  EXPECT(rondo_detokenize(given, model, ids, text, &made, &error) == expected);
  EXPECT(rondo_parse(given, model, &chat, text, &made, &error) == expected);
  EXPECT(rondo_parse_ids(given, model, &chat, ids, &made, &error) == expected);
  EXPECT(rondo_parser_open(given, model, &chat, &made_parser, &error) == expected && made_parser.handle == 0);
  EXPECT(rondo_parser_feed_ids(given, parser, ids, &made, &error) == expected);
  EXPECT(rondo_parser_feed_text(given, parser, text, &made, &error) == expected);
  EXPECT(rondo_parser_message(given, parser, &made, &error) == expected);
  EXPECT(rondo_parser_arguments(given, parser, 0, &made, &error) == expected);
  EXPECT(rondo_parser_end(given, parser, &made, &error) == expected);
  EXPECT(rondo_rollout_open(given, model, &chat, &made_rollout, &error) == expected && made_rollout.handle == 0);
  EXPECT(rondo_rollout_complete(given, rollout, ids, &made, &error) == expected);
  EXPECT(rondo_rollout_extend(given, rollout, text, text, &made, &error) == expected);
  EXPECT(rondo_rollout_state(given, rollout, &made, &error) == expected);
  EXPECT(rondo_result_text(given, result, &out_text) == expected && out_text.data == NULL);
  EXPECT(rondo_result_json(given, result, &out_text) == expected && out_text.size == 0);
  EXPECT(rondo_result_ids(given, result, &out_ids) == expected && out_ids.data == NULL);
  EXPECT(rondo_result_owners(given, result, &out_ids) == expected);
  EXPECT(rondo_result_content_mask(given, result, &out_mask) == expected && out_mask.data == NULL);
  EXPECT(rondo_result_sampled_mask(given, result, &out_mask) == expected);
  EXPECT(rondo_result_loss_mask(given, result, &out_mask) == expected);
  EXPECT(rondo_result_event_count(given, result, &count) == expected && count == 0);
  EXPECT(rondo_result_event(given, result, 0, &event) == expected);
  rondo_error_clear(&error);
}

static void expect_closes(rondo_library* given, uint64_t handle, rondo_status expected) {
  rondo_model model;
  rondo_parser parser;
  rondo_rollout rollout;
  rondo_result result;
  model.handle = handle;
  parser.handle = handle;
  rollout.handle = handle;
  result.handle = handle;
  EXPECT(rondo_model_close(given, model) == expected);
  EXPECT(rondo_parser_close(given, parser) == expected);
  EXPECT(rondo_rollout_close(given, rollout) == expected);
  EXPECT(rondo_result_close(given, result) == expected);
}

static void check_libraries(void) {
  rondo_library other = RONDO_LIBRARY_INIT;
  rondo_library garbage;
  rondo_model model;
  rondo_result result;
  rondo_text line = {"{}", 2};
  size_t count = 5;
  memset(&garbage, 0x5a, sizeof garbage);
  EXPECT(rondo_library_open(NULL, NULL, NULL) == RONDO_NULL);
  EXPECT(rondo_library_close(NULL) == RONDO_NULL);
  EXPECT(rondo_library_close(&other) == RONDO_CLOSED);
  EXPECT(rondo_library_close(&garbage) == RONDO_CLOSED);
  EXPECT(rondo_library_handles(&other, &count) == RONDO_CLOSED && count == 0);
  EXPECT(rondo_library_handles(&library, NULL) == RONDO_NULL);
  EXPECT(rondo_batch(NULL, line, &result, NULL) == RONDO_NULL);
  EXPECT(rondo_batch(&other, line, &result, NULL) == RONDO_CLOSED);
  EXPECT(rondo_batch(&library, line, NULL, NULL) == RONDO_NULL);
  EXPECT(rondo_library_open(&other, NULL, NULL) == RONDO_OK);
  EXPECT(rondo_library_open(&other, NULL, NULL) == RONDO_INVALID_ARGUMENT);
  model = open_model();
  expect_all(&other, model.handle, RONDO_CLOSED); /* it is another library's */
  expect_all(NULL, model.handle, RONDO_NULL);
  expect_all(&garbage, model.handle, RONDO_CLOSED);
  expect_closes(&other, model.handle, RONDO_CLOSED);
  EXPECT(rondo_library_close(&other) == RONDO_OK);
  expect_all(&other, model.handle, RONDO_CLOSED);
  expect_closes(&other, model.handle, RONDO_CLOSED);
  EXPECT(rondo_library_close(&other) == RONDO_CLOSED);
  EXPECT(rondo_model_close(&library, model) == RONDO_OK);
}

static void check_handles(void) {
  const rondo_chat chat = hello();
  rondo_model model = open_model();
  rondo_parser parser;
  rondo_result result;
  rondo_text text;
  expect_all(&library, 0, RONDO_NULL);
  expect_closes(&library, 0, RONDO_OK);
  expect_all(&library, 12345, RONDO_CLOSED);
  expect_all(&library, ~(uint64_t)0, RONDO_CLOSED);
  expect_closes(&library, 12345, RONDO_CLOSED);
  EXPECT(rondo_parser_open(&library, model, &chat, &parser, NULL) == RONDO_OK);
  result.handle = parser.handle; /* of another kind */
  EXPECT(rondo_result_text(&library, result, &text) == RONDO_CLOSED);
  EXPECT(rondo_result_close(&library, result) == RONDO_CLOSED);
  EXPECT(rondo_model_close(&library, model) == RONDO_OK);
  EXPECT(rondo_model_close(&library, model) == RONDO_CLOSED);
  expect_all(&library, model.handle, RONDO_CLOSED);
  /* A parser goes on without its model. */
  EXPECT(rondo_parser_end(&library, parser, &result, NULL) == RONDO_OK);
  EXPECT(rondo_result_close(&library, result) == RONDO_OK);
  EXPECT(rondo_result_close(&library, result) == RONDO_CLOSED);
  EXPECT(rondo_parser_close(&library, parser) == RONDO_OK);
  EXPECT(rondo_parser_end(&library, parser, &result, NULL) == RONDO_CLOSED);
}

static void check_arguments(void) {
  rondo_model model = open_model();
  rondo_chat chat = hello();
  rondo_result result;
  rondo_error error = RONDO_ERROR_INIT;
  rondo_ids ids = {NULL, 3};
  rondo_text text = {NULL, 3};
  const rondo_text none = {NULL, 0};
  const rondo_ids no_ids = {NULL, 0};
  const int32_t far_off[] = {1, 100000};
  EXPECT(rondo_encode(&library, model, &chat, NULL, &error) == RONDO_NULL);
  EXPECT(rondo_encode(&library, model, NULL, &result, &error) == RONDO_INVALID_ARGUMENT);
  EXPECT(reads(error.message, "the field `messages` is missing"));
  EXPECT(rondo_tokenize(&library, model, text, none, &result, &error) == RONDO_NULL);
  EXPECT(reads(error.message, "the data of `text` is null"));
  EXPECT(rondo_detokenize(&library, model, ids, none, &result, &error) == RONDO_NULL);
  ids.data = far_off;
  ids.size = (size_t)-1;
  EXPECT(rondo_detokenize(&library, model, ids, none, &result, &error) == RONDO_INVALID_ARGUMENT);
  ids.size = 2;
  EXPECT(rondo_detokenize(&library, model, ids, none, &result, &error) == RONDO_TOKENIZER);
  EXPECT(rondo_bridge(&library, model, &chat, no_ids, no_ids, none, &result, &error) == RONDO_INVALID_ARGUMENT);
  chat.messages = RONDO_TEXT("[{\"role\": ");
  EXPECT(rondo_encode(&library, model, &chat, &result, &error) == RONDO_JSON);
  EXPECT(error.line == 1 && error.column == 11 && reads(error.source, "messages"));
  chat.messages = RONDO_TEXT("[{\"role\": \"user\", \"content\": \"\xff\"}]");
  EXPECT(rondo_encode(&library, model, &chat, &result, &error) == RONDO_JSON);
  chat = hello();
  chat.options = RONDO_TEXT("{\"no_such\": 1}");
  EXPECT(rondo_encode(&library, model, &chat, &result, &error) == RONDO_INVALID_ARGUMENT);
  EXPECT(reads(error.message, "unknown field `no_such`"));
  chat.options = RONDO_TEXT("{\"messages\": []}");
  EXPECT(rondo_encode(&library, model, &chat, &result, &error) == RONDO_INVALID_ARGUMENT);
  chat.options = RONDO_TEXT("[]");
  EXPECT(rondo_encode(&library, model, &chat, &result, &error) == RONDO_INVALID_ARGUMENT);
  chat.options = RONDO_TEXT("{\"corrections\": {}}");
  EXPECT(rondo_parse(&library, model, &chat, none, &result, &error) == RONDO_INVALID_ARGUMENT);
  rondo_error_clear(&error);
  rondo_error_clear(&error);
  rondo_error_clear(NULL);
  EXPECT(rondo_model_close(&library, model) == RONDO_OK);
}

static void check_structs(void) {
  rondo_model model = open_model();
  rondo_result result;
  rondo_error error = RONDO_ERROR_INIT;
  rondo_error not_begun;
  rondo_event event = RONDO_EVENT_INIT;
  rondo_chat none;
  struct {
    rondo_chat chat;
    rondo_text later; /* as a newer header may have it */
  } newer = {RONDO_CHAT_INIT, {NULL, 0}};
  memset(&none, 0, sizeof none);
  memset(&not_begun, 0, sizeof not_begun);
  EXPECT(rondo_render(&library, model, &none, &result, &error) == RONDO_INVALID_ARGUMENT);
  none.struct_size = (size_t)-1;
  EXPECT(rondo_render(&library, model, &none, &result, &error) == RONDO_INVALID_ARGUMENT);
  newer.chat = hello();
  newer.chat.struct_size = sizeof newer;
  EXPECT(rondo_render(&library, model, &newer.chat, &result, &error) == RONDO_OK);
  EXPECT(rondo_result_event(&library, result, 0, &event) == RONDO_INVALID_ARGUMENT);
  EXPECT(rondo_result_event(&library, result, 0, NULL) == RONDO_NULL);
  event.struct_size = 1;
  EXPECT(rondo_result_event(&library, result, 0, &event) == RONDO_INVALID_ARGUMENT);
  EXPECT(rondo_result_text(&library, result, NULL) == RONDO_NULL);
  EXPECT(rondo_result_close(&library, result) == RONDO_OK);
  newer.later = RONDO_TEXT("x");
  EXPECT(rondo_render(&library, model, &newer.chat, &result, &error) == RONDO_UNSUPPORTED);
  EXPECT(rondo_render(&library, model, &newer.chat, &result, &not_begun) == RONDO_INVALID_ARGUMENT);
  rondo_error_clear(&not_begun);
  rondo_error_clear(&error);
  EXPECT(rondo_model_close(&library, model) == RONDO_OK);
}

static void check_models(void) {
  rondo_model_options options = RONDO_MODEL_OPTIONS_INIT;
  rondo_error error = RONDO_ERROR_INIT;
  rondo_model model;
  EXPECT(rondo_model_open(&library, NULL, &model, &error) == RONDO_NULL && model.handle == 0);
  EXPECT(rondo_model_open(&library, &options, NULL, &error) == RONDO_NULL);
  EXPECT(rondo_model_open(&library, &options, &model, &error) == RONDO_INVALID_ARGUMENT);
  options.path = RONDO_TEXT("no/such/model");
  EXPECT(rondo_model_open(&library, &options, &model, &error) == RONDO_NOT_FOUND && model.handle == 0);
  EXPECT(reads(error.source, "no/such/model"));
  options.path = model_path;
  options.template_text = RONDO_TEXT("one\n{% if %}");
  EXPECT(rondo_model_open(&library, &options, &model, &error) == RONDO_TEMPLATE_SYNTAX && error.line == 2);
  options.chat_template = RONDO_TEXT("auto");
  EXPECT(rondo_model_open(&library, &options, &model, &error) == RONDO_INVALID_ARGUMENT);
  options.chat_template.size = 0;
  options.tokenizer_json = RONDO_TEXT("{}");
  EXPECT(rondo_model_open(&library, &options, &model, &error) == RONDO_INVALID_ARGUMENT);
  options.path.size = 0;
  options.template_text = RONDO_TEXT("x");
  EXPECT(rondo_model_open(&library, &options, &model, &error) == RONDO_TOKENIZER);
  options.tokenizer_json.size = 0;
  options.options = RONDO_TEXT("{\"mode\": \"loose\"}");
  EXPECT(rondo_model_open(&library, &options, &model, &error) == RONDO_INVALID_ARGUMENT);
  rondo_error_clear(&error);
}

static void check_parser(void) {
  const rondo_chat chat = hello();
  const rondo_text text = RONDO_TEXT("Hi");
  const int32_t far_off[] = {100000};
  rondo_ids ids;
  rondo_model model = open_model();
  rondo_parser parser;
  rondo_result result;
  ids.data = far_off;
  ids.size = 1;
  EXPECT(rondo_parser_open(&library, model, &chat, &parser, NULL) == RONDO_OK);
  EXPECT(rondo_parser_feed_ids(&library, parser, ids, &result, NULL) == RONDO_TOKENIZER);
  EXPECT(rondo_parser_arguments(&library, parser, 0, &result, NULL) == RONDO_INVALID_ARGUMENT);
  EXPECT(rondo_parser_end(&library, parser, &result, NULL) == RONDO_OK);
  EXPECT(rondo_parser_feed_text(&library, parser, text, &result, NULL) == RONDO_INVALID_ARGUMENT);
  EXPECT(rondo_parser_feed_ids(&library, parser, ids, &result, NULL) == RONDO_INVALID_ARGUMENT);
}

/* Numbers that look like chance and are the same each time. */
static uint64_t next_number(void) {
  static uint64_t state = 1;
  state = state * 6364136223846793005u + 1442695040888963407u;
  return state >> 33;
}

/* One call, with handles that may be open, closed, of any kind or none; the handle that it opened, if it did. */
static uint64_t any_call(const uint64_t* handles, size_t count) {
  const rondo_chat chat = hello();
  const rondo_text text = RONDO_TEXT("{!do add with {\"a\": 2} do!}~fin~");
  const rondo_text none = {NULL, 0};
  const rondo_ids ids = {NULL, 0};
  const rondo_text more = RONDO_TEXT("[{\"role\": \"user\", \"content\": \"world\"}]");
  rondo_model any_model;
  rondo_parser any_parser;
  rondo_rollout any_rollout;
  rondo_result any_result;
  rondo_result made = {0};
  rondo_parser parser = {0};
  rondo_rollout rollout = {0};
  any_model.handle = handles[next_number() % 2 == 0 ? 0 : next_number() % count];
  any_parser.handle = handles[next_number() % 2 == 0 ? 1 : next_number() % count];
  any_rollout.handle = handles[next_number() % 2 == 0 ? 2 : next_number() % count];
  any_result.handle = handles[next_number() % count] ^ (next_number() % 8 == 0 ? next_number() : 0);
  switch (next_number() % 16) {
    case 0: return open_model().handle;
    case 1: rondo_model_close(&library, any_model); return 0;
    case 2: rondo_parser_open(&library, any_model, &chat, &parser, NULL); return parser.handle;
    case 3: rondo_parser_close(&library, any_parser); return 0;
    case 4: rondo_rollout_open(&library, any_model, &chat, &rollout, NULL); return rollout.handle;
    case 5: rondo_rollout_close(&library, any_rollout); return 0;
    case 6: rondo_result_close(&library, any_result); return 0;
    case 7: rondo_encode(&library, any_model, &chat, &made, NULL); return made.handle;
    case 8: rondo_parser_feed_text(&library, any_parser, text, &made, NULL); return made.handle;
    case 9: rondo_parser_end(&library, any_parser, &made, NULL); return made.handle;
    case 10: rondo_rollout_complete(&library, any_rollout, ids, &made, NULL); return made.handle;
    case 11: rondo_rollout_extend(&library, any_rollout, more, none, &made, NULL); return made.handle;
    case 12: rondo_rollout_state(&library, any_rollout, &made, NULL); return made.handle;
    case 13: rondo_tokenize(&library, any_model, text, none, &made, NULL); return made.handle;
    case 14: rondo_parser_arguments(&library, any_parser, next_number() % 3, &made, NULL); return made.handle;
    default: break;
  }
  {
    rondo_text part;
    rondo_event event = RONDO_EVENT_INIT;
    rondo_result_text(&library, any_result, &part);
    rondo_result_event(&library, any_result, next_number() % 4, &event);
    if (part.size != 0) EXPECT(part.data[part.size] == 0);
    if (event.text.size != 0) EXPECT(event.text.data[event.text.size] == 0);
  }
  return 0;
}

/* RONDO_MISUSE=N: so many calls in place of a few. */
static void check_random(void) {
  const char* const wanted = getenv("RONDO_MISUSE");
  const int calls = wanted == NULL ? 200 : atoi(wanted);
  const rondo_chat chat = hello();
  uint64_t handles[32] = {0}; /* the first three are a model, a parser and a rollout, until somebody closes them */
  const size_t count = sizeof handles / sizeof *handles;
  int opened = 0;
  int i;
  for (i = 0; i < calls; ++i) {
    uint64_t handle;
    if (i % 100 == 0) {
      const rondo_model model = open_model();
      rondo_parser parser;
      rondo_rollout rollout;
      EXPECT(rondo_parser_open(&library, model, &chat, &parser, NULL) == RONDO_OK);
      EXPECT(rondo_rollout_open(&library, model, &chat, &rollout, NULL) == RONDO_OK);
      handles[0] = model.handle;
      handles[1] = parser.handle;
      handles[2] = rollout.handle;
    }
    handle = any_call(handles, count);
    if (handle == 0) continue;
    handles[3 + next_number() % (count - 3)] = handle; /* the one that stood there stays the library's */
    ++opened;
  }
  EXPECT(opened > calls / 8);
}

int main(int argc, char** argv) {
  size_t open = 0;
  if (argc != 2 || rondo_library_open(&library, NULL, NULL) != RONDO_OK) return 2;
  model_path.data = argv[1];
  model_path.size = strlen(argv[1]);
  check_libraries();
  check_handles();
  check_arguments();
  check_structs();
  check_models();
  EXPECT(rondo_library_handles(&library, &open) == RONDO_OK && open == 0);
  check_parser(); /* leaves its handles to the library */
  EXPECT(rondo_library_handles(&library, &open) == RONDO_OK && open == 3);
  check_random();
  EXPECT(rondo_library_close(&library) == RONDO_OK);
  return failures == 0 ? 0 : 1;
}
