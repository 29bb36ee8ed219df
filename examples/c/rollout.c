/* A rollout of two turns from C, with made-up sampling.
 *
 *   cc rollout.c $(pkg-config --cflags --libs rondo-c) -o rollout
 *   ./rollout MODEL 'what the model writes, stop token included'
 */
#include <stdio.h>
#include <string.h>

#include "rondo.h"

static rondo_library library = RONDO_LIBRARY_INIT;
static rondo_error error = RONDO_ERROR_INIT;

static int failed(const char* what) {
  fprintf(stderr, "%s: %.*s\n", what, (int)error.shown.size, error.shown.data);
  rondo_error_clear(&error);
  rondo_library_close(&library); /* and with it all that is open */
  return 1;
}

static void print_text(const char* what, rondo_result result) {
  rondo_text text;
  if (rondo_result_text(&library, result, &text) == RONDO_OK) printf("%s: %.*s\n", what, (int)text.size, text.data);
}

/* The text of all ids so far. */
static int print_ids(rondo_model model, rondo_rollout rollout) {
  const rondo_text none = {NULL, 0};
  rondo_result state;
  rondo_result text;
  rondo_ids ids;
  if (rondo_rollout_state(&library, rollout, &state, &error) != RONDO_OK) return 0;
  if (rondo_result_ids(&library, state, &ids) != RONDO_OK) return 0;
  if (rondo_detokenize(&library, model, ids, none, &text, &error) != RONDO_OK) return 0;
  print_text("prompt", text);
  rondo_result_close(&library, text);
  rondo_result_close(&library, state);
  return 1;
}

/* What an engine would have sampled. */
static int sample(rondo_model model, const char* completion, rondo_rollout rollout) {
  const rondo_text none = {NULL, 0};
  rondo_text written;
  rondo_result sampled;
  rondo_result said;
  rondo_ids ids;
  rondo_text message;
  written.data = completion;
  written.size = strlen(completion);
  if (rondo_tokenize(&library, model, written, none, &sampled, &error) != RONDO_OK) return 0;
  if (rondo_result_ids(&library, sampled, &ids) != RONDO_OK) return 0;
  if (rondo_rollout_complete(&library, rollout, ids, &said, &error) != RONDO_OK) return 0;
  if (rondo_result_json(&library, said, &message) != RONDO_OK) return 0;
  printf("said: %.*s\n", (int)message.size, message.data);
  rondo_result_close(&library, said);
  rondo_result_close(&library, sampled);
  return 1;
}

int main(int argc, char** argv) {
  rondo_model_options options = RONDO_MODEL_OPTIONS_INIT;
  rondo_chat chat = RONDO_CHAT_INIT;
  const rondo_text none = {NULL, 0};
  const rondo_text answer = RONDO_TEXT("[{\"role\": \"tool\", \"name\": \"add\", \"content\": \"4\"}]");
  rondo_model model;
  rondo_rollout rollout;
  rondo_result added;
  if (argc != 3) return 2;
  options.path.data = argv[1];
  options.path.size = strlen(argv[1]);
  chat.messages = RONDO_TEXT("[{\"role\": \"user\", \"content\": \"2 + 2?\"}]");
  if (rondo_library_open(&library, NULL, &error) != RONDO_OK) return failed("library");
  if (rondo_model_open(&library, &options, &model, &error) != RONDO_OK) return failed("model");
  if (rondo_rollout_open(&library, model, &chat, &rollout, &error) != RONDO_OK) return failed("first prompt");
  if (!print_ids(model, rollout)) return failed("ids");
  if (!sample(model, argv[2], rollout)) return failed("completion");
  if (rondo_rollout_extend(&library, rollout, answer, none, &added, &error) != RONDO_OK) return failed("new turn");
  if (!print_ids(model, rollout)) return failed("ids");
  rondo_library_close(&library);
  return 0;
}
