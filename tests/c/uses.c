/* The C API used as it is meant: what no golden of the line protocol says.
 *
 *   c_uses MODEL
 */
#include <pthread.h>
#include <stdlib.h>

#include "expect.h"

static rondo_library library = RONDO_LIBRARY_INIT;
static rondo_text model_path; /* borrowed from the arguments */
static rondo_model model;
static rondo_error error = RONDO_ERROR_INIT;

static rondo_chat asks(const char* messages) {
  rondo_chat chat = RONDO_CHAT_INIT;
  chat.messages.data = messages;
  chat.messages.size = strlen(messages);
  return chat;
}

static const char* const kHello = "[{\"role\": \"user\", \"content\": \"hello\"}]";

static int text_is(rondo_result result, const char* expected) {
  rondo_text text;
  return rondo_result_text(&library, result, &text) == RONDO_OK && text.data[text.size] == 0 && reads(text, expected);
}

static int json_is(rondo_result result, const char* expected) {
  rondo_text json;
  return rondo_result_json(&library, result, &json) == RONDO_OK && json.data[json.size] == 0 && reads(json, expected);
}

static void close_result(rondo_result result) { EXPECT(rondo_result_close(&library, result) == RONDO_OK); }

static rondo_ids tokens(const char* text, rondo_result* result) {
  rondo_ids ids = {NULL, 0};
  rondo_text given;
  const rondo_text none = {NULL, 0};
  given.data = text;
  given.size = strlen(text);
  EXPECT(rondo_tokenize(&library, model, given, none, result, &error) == RONDO_OK);
  EXPECT(rondo_result_ids(&library, *result, &ids) == RONDO_OK);
  return ids;
}

static void check_prompts(void) {
  rondo_chat chat = asks(kHello);
  rondo_result result;
  rondo_result text;
  rondo_ids ids;
  rondo_ids owners;
  rondo_mask mask;
  const rondo_text none = {NULL, 0};
  EXPECT(rondo_render(&library, model, &chat, &result, &error) == RONDO_OK);
  EXPECT(text_is(result, "<bos>[[user: hello~fin~[[assistant: ") && json_is(result, "{}"));
  EXPECT(rondo_result_ids(&library, result, &ids) == RONDO_INVALID_ARGUMENT && ids.data == NULL);
  close_result(result);
  EXPECT(rondo_encode(&library, model, &chat, &result, &error) == RONDO_OK);
  EXPECT(text_is(result, "<bos>[[user: hello~fin~[[assistant: "));
  EXPECT(rondo_result_ids(&library, result, &ids) == RONDO_OK && ids.size == 11);
  EXPECT(rondo_result_owners(&library, result, &owners) == RONDO_OK && owners.size == ids.size);
  EXPECT(owners.data[0] == -1 && owners.data[5] == 0 && owners.data[10] == -1);
  EXPECT(rondo_result_content_mask(&library, result, &mask) == RONDO_OK && mask.size == ids.size && mask.data[5] == 1);
  EXPECT(rondo_result_loss_mask(&library, result, &mask) == RONDO_INVALID_ARGUMENT && mask.size == 0);
  EXPECT(rondo_detokenize(&library, model, ids, none, &text, &error) == RONDO_OK);
  EXPECT(text_is(text, "<bos>[[user: hello~fin~[[assistant: "));
  close_result(text);
  close_result(result);
  chat = asks("[{\"role\": \"wizard\", \"content\": \"x\"}]");
  EXPECT(rondo_render(&library, model, &chat, &result, &error) == RONDO_TEMPLATE_RAISED);
  EXPECT(reads(error.message, "no such role: wizard") && error.line == 7 && error.column == 9 && error.shown.size > 40);
  rondo_error_clear(&error);
}

static void check_facts(void) {
  rondo_chat chat = RONDO_CHAT_INIT;
  rondo_result result;
  rondo_text json;
  rondo_ids ids;
  EXPECT(rondo_model_describe(&library, model, &result, &error) == RONDO_OK);
  EXPECT(rondo_result_json(&library, result, &json) == RONDO_OK && strstr(json.data, "\"vocab_size\":289") != NULL);
  close_result(result);
  EXPECT(rondo_stop(&library, model, NULL, &result, &error) == RONDO_OK);
  EXPECT(rondo_result_ids(&library, result, &ids) == RONDO_OK && ids.size >= 1);
  close_result(result);
  chat.options = RONDO_TEXT("{\"scenarios\": [\"content\"], \"now\": \"2026-03-14T15:09:26\"}");
  EXPECT(rondo_check(&library, model, &chat, &result, &error) == RONDO_OK);
  EXPECT(rondo_result_json(&library, result, &json) == RONDO_OK && strstr(json.data, "\"worst\":") != NULL);
  close_result(result);
  chat.options = RONDO_TEXT("{\"scenarios\": [\"no such\"]}");
  EXPECT(rondo_check(&library, model, &chat, &result, &error) == RONDO_INVALID_ARGUMENT);
  chat.options = RONDO_TEXT("{\"tool_choice\": \"required\"}");
  chat.tools = RONDO_TEXT(
      "[{\"type\": \"function\", \"function\": {\"name\": \"add\", \"parameters\": {\"type\": \"object\"}}}]");
  EXPECT(rondo_grammar(&library, model, &chat, &result, &error) == RONDO_OK);
  EXPECT(rondo_result_text(&library, result, &json) == RONDO_OK && strstr(json.data, "root ::=") != NULL);
  close_result(result);
  rondo_error_clear(&error);
}

static void check_parser(void) {
  const rondo_chat chat = asks(kHello);
  const rondo_text begin = RONDO_TEXT("Yes{!do add with {\"a\": 1, \"b\": \"x");
  rondo_parser parser;
  rondo_result result;
  rondo_result ids_of;
  rondo_ids ids;
  rondo_event event = RONDO_EVENT_INIT;
  size_t count = 0;
  ids = tokens("Yes{!do add with {\"a\": 1, \"b\": \"x", &ids_of);
  EXPECT(rondo_parser_open(&library, model, &chat, &parser, &error) == RONDO_OK);
  EXPECT(rondo_parser_feed_ids(&library, parser, ids, &result, &error) == RONDO_OK);
  close_result(ids_of);
  EXPECT(rondo_result_event_count(&library, result, &count) == RONDO_OK && count >= 3);
  EXPECT(rondo_result_event(&library, result, 0, &event) == RONDO_OK && event.kind == RONDO_EVENT_CONTENT);
  EXPECT(rondo_result_event(&library, result, count, &event) == RONDO_INVALID_ARGUMENT && event.kind == 0);
  close_result(result);
  EXPECT(rondo_parser_message(&library, parser, &result, &error) == RONDO_OK);
  EXPECT(text_is(result, begin.data));
  close_result(result);
  EXPECT(rondo_parser_arguments(&library, parser, 0, &result, &error) == RONDO_OK);
  EXPECT(text_is(result, "{\"a\":1,\"b\":\"x\"}") && json_is(result, "{\"open\":\"/b\"}"));
  close_result(result);
  ids = tokens("\"} do!}~fin~", &ids_of);
  EXPECT(rondo_parser_feed_ids(&library, parser, ids, &result, &error) == RONDO_OK);
  close_result(result);
  close_result(ids_of);
  EXPECT(rondo_parser_end(&library, parser, &result, &error) == RONDO_OK);
  EXPECT(json_is(result,
                 "{\"content\":\"Yes\",\"reasoning_content\":null,\"tool_calls\":[{\"id\":null,\"name\":\"add\","
                 "\"arguments\":\"{\\\"a\\\": 1, \\\"b\\\": \\\"x\\\"}\"}],\"complete\":true}"));
  close_result(result);
  EXPECT(rondo_parser_close(&library, parser) == RONDO_OK);
  ids = tokens("Yes~fin~", &ids_of);
  EXPECT(rondo_parse_ids(&library, model, &chat, ids, &result, &error) == RONDO_OK);
  EXPECT(json_is(result, "{\"content\":\"Yes\",\"reasoning_content\":null,\"tool_calls\":[],\"complete\":true}"));
  close_result(result);
  close_result(ids_of);
}

static void check_rollout(void) {
  const rondo_chat chat = asks(kHello);
  const rondo_text more = RONDO_TEXT("[{\"role\": \"user\", \"content\": \"world\"}]");
  const rondo_text policy = RONDO_TEXT("{\"retention\": \"template\"}");
  const rondo_text wrong = RONDO_TEXT("{\"retention\": \"none\"}");
  const rondo_text none = {NULL, 0};
  rondo_rollout rollout;
  rondo_result result;
  rondo_result state;
  rondo_result ids_of;
  rondo_ids ids;
  rondo_ids all;
  rondo_mask mask;
  EXPECT(rondo_rollout_open(&library, model, &chat, &rollout, &error) == RONDO_OK);
  EXPECT(rondo_rollout_extend(&library, rollout, more, none, &result, &error) == RONDO_INVALID_ARGUMENT);
  ids = tokens("hello~fin~", &ids_of);
  EXPECT(rondo_rollout_complete(&library, rollout, ids, &result, &error) == RONDO_OK);
  EXPECT(json_is(result, "{\"content\":\"hello\",\"reasoning_content\":null,\"tool_calls\":[],\"complete\":true}"));
  close_result(result);
  EXPECT(rondo_rollout_complete(&library, rollout, ids, &result, &error) == RONDO_INVALID_ARGUMENT);
  close_result(ids_of);
  EXPECT(rondo_rollout_extend(&library, rollout, more, wrong, &result, &error) == RONDO_INVALID_ARGUMENT);
  EXPECT(rondo_rollout_extend(&library, rollout, more, policy, &result, &error) == RONDO_OK);
  EXPECT(rondo_result_ids(&library, result, &ids) == RONDO_OK);
  EXPECT(rondo_rollout_state(&library, rollout, &state, &error) == RONDO_OK);
  EXPECT(rondo_result_ids(&library, state, &all) == RONDO_OK && all.size == 13 + ids.size);
  EXPECT(memcmp(all.data + 13, ids.data, ids.size * sizeof(int32_t)) == 0);
  EXPECT(rondo_result_sampled_mask(&library, state, &mask) == RONDO_OK && mask.size == all.size);
  EXPECT(mask.data[10] == 0 && mask.data[11] == 1 && mask.data[12] == 1 && mask.data[13] == 0);
  EXPECT(json_is(state,
                 "[{\"role\":\"user\",\"content\":\"hello\"},{\"role\":\"assistant\",\"content\":\"hello\"},"
                 "{\"role\":\"user\",\"content\":\"world\"}]"));
  close_result(state);
  EXPECT(json_is(result, "{\"begin\":13,\"kept\":13,\"cuts\":[],\"lossy\":[]}"));
  close_result(result);
  EXPECT(rondo_rollout_close(&library, rollout) == RONDO_OK);
  rondo_error_clear(&error);
}

static char* file_text(const char* name, size_t* size) {
  char path[1024];
  FILE* file;
  char* out = malloc(1 << 20);
  snprintf(path, sizeof path, "%.*s/%s", (int)model_path.size, model_path.data, name);
  file = fopen(path, "rb");
  *size = file == NULL ? 0 : fread(out, 1, 1 << 20, file);
  if (file != NULL) fclose(file);
  return out;
}

static void check_memory(void) {
  rondo_model_options options = RONDO_MODEL_OPTIONS_INIT;
  const rondo_chat chat = asks(kHello);
  char* chat_template = file_text("chat_template.jinja", &options.template_text.size);
  char* tokenizer = file_text("tokenizer.json", &options.tokenizer_json.size);
  char* config = file_text("tokenizer_config.json", &options.tokenizer_config.size);
  rondo_model own;
  rondo_result result;
  rondo_ids ids;
  options.template_text.data = chat_template;
  options.tokenizer_json.data = tokenizer;
  options.tokenizer_config.data = config;
  EXPECT(rondo_model_open(&library, &options, &own, &error) == RONDO_OK);
  free(chat_template);
  free(tokenizer);
  free(config);
  EXPECT(rondo_encode(&library, own, &chat, &result, &error) == RONDO_OK);
  EXPECT(text_is(result, "<bos>[[user: hello~fin~[[assistant: "));
  EXPECT(rondo_result_ids(&library, result, &ids) == RONDO_OK && ids.size == 11);
  close_result(result);
  EXPECT(rondo_model_close(&library, own) == RONDO_OK);
}

static void check_own_variables(void) {
  rondo_model_options options = RONDO_MODEL_OPTIONS_INIT;
  const rondo_text variables = RONDO_TEXT("{\"name\": \"Ann\", \"n\": 1.0}");
  const rondo_text time = RONDO_TEXT("{\"now\": \"2026-03-14T15:09:26\"}");
  const rondo_text list = RONDO_TEXT("[1]");
  const rondo_text none = {NULL, 0};
  rondo_model own;
  rondo_result result;
  options.template_text = RONDO_TEXT("{{ name }} {{ n }} {{ messages is defined }} {{ strftime_now('%Y') }}");
  EXPECT(rondo_model_open(&library, &options, &own, &error) == RONDO_OK);
  EXPECT(rondo_jinja(&library, own, variables, time, &result, &error) == RONDO_OK &&
         text_is(result, "Ann 1.0 False 2026"));
  close_result(result);
  EXPECT(rondo_jinja(&library, own, list, none, &result, &error) == RONDO_INVALID_ARGUMENT);
  EXPECT(rondo_jinja(&library, own, variables, variables, &result, &error) == RONDO_INVALID_ARGUMENT);
  EXPECT(rondo_model_close(&library, own) == RONDO_OK);
  rondo_error_clear(&error);
}

static void check_template_alone(void) {
  rondo_model_options options = RONDO_MODEL_OPTIONS_INIT;
  const rondo_chat chat = asks(kHello);
  const rondo_text text = RONDO_TEXT("x");
  const rondo_text none = {NULL, 0};
  rondo_model own;
  rondo_result result;
  options.template_text = RONDO_TEXT(""); /* a template too */
  EXPECT(rondo_model_open(&library, &options, &own, &error) == RONDO_OK);
  EXPECT(rondo_render(&library, own, &chat, &result, &error) == RONDO_OK && text_is(result, ""));
  close_result(result);
  EXPECT(rondo_encode(&library, own, &chat, &result, &error) == RONDO_UNSUPPORTED);
  EXPECT(rondo_tokenize(&library, own, text, none, &result, &error) == RONDO_UNSUPPORTED);
  EXPECT(rondo_model_close(&library, own) == RONDO_OK);
  rondo_error_clear(&error);
}

/* Threads share the library and a model, and a handle that one of them closes. */
static void* use(void* own_failures) {
  const rondo_chat chat = asks(kHello);
  int i;
  for (i = 0; i < 50; ++i) {
    rondo_result result;
    rondo_ids ids;
    if (rondo_encode(&library, model, &chat, &result, NULL) != RONDO_OK) ++*(int*)own_failures;
    if (rondo_result_ids(&library, result, &ids) != RONDO_OK || ids.size != 11) ++*(int*)own_failures;
    if (rondo_result_close(&library, result) != RONDO_OK) ++*(int*)own_failures;
  }
  return NULL;
}

static void* use_closed(void* handle) {
  const rondo_chat chat = asks(kHello);
  rondo_status status = RONDO_OK;
  while (status == RONDO_OK) {
    rondo_result result;
    status = rondo_render(&library, *(rondo_model*)handle, &chat, &result, NULL);
    if (status == RONDO_OK) rondo_result_close(&library, result);
  }
  return status == RONDO_CLOSED ? handle : NULL;
}

static void check_threads(void) {
  rondo_model_options options = RONDO_MODEL_OPTIONS_INIT;
  pthread_t threads[3];
  pthread_t other;
  int failed[3] = {0, 0, 0};
  rondo_model own;
  void* seen = NULL;
  int i;
  options.path = model_path;
  EXPECT(rondo_model_open(&library, &options, &own, &error) == RONDO_OK);
  EXPECT(pthread_create(&other, NULL, use_closed, &own) == 0);
  for (i = 0; i < 3; ++i) EXPECT(pthread_create(&threads[i], NULL, use, &failed[i]) == 0);
  EXPECT(rondo_model_close(&library, own) == RONDO_OK);
  for (i = 0; i < 3; ++i) {
    EXPECT(pthread_join(threads[i], NULL) == 0);
    EXPECT(failed[i] == 0);
  }
  EXPECT(pthread_join(other, &seen) == 0);
  EXPECT(seen == &own);
}

int main(int argc, char** argv) {
  rondo_model_options options = RONDO_MODEL_OPTIONS_INIT;
  size_t open = 0;
  if (argc != 2 || rondo_library_open(&library, NULL, NULL) != RONDO_OK) return 2;
  model_path.data = argv[1];
  model_path.size = strlen(argv[1]);
  options.path = model_path;
  EXPECT(rondo_abi_version() == RONDO_ABI_VERSION);
  EXPECT(rondo_model_open(&library, &options, &model, &error) == RONDO_OK);
  check_prompts();
  check_facts();
  check_parser();
  check_rollout();
  check_memory();
  check_own_variables();
  check_template_alone();
  check_threads();
  EXPECT(rondo_library_handles(&library, &open) == RONDO_OK && open == 1);
  rondo_error_clear(&error);
  EXPECT(rondo_library_close(&library) == RONDO_OK);
  return failures == 0 ? 0 : 1;
}
