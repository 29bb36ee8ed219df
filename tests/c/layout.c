/* The sizes and numbers of rondo.h as a compiler sees them, for tests/c/c_abi_test.py. */
#include <stddef.h>
#include <stdio.h>

#include "rondo.h"

#define SIZE(type) printf("sizeof %s %lu\n", #type, (unsigned long)sizeof(type))
#define PLACE(type, member) printf("offsetof %s.%s %lu\n", #type, #member, (unsigned long)offsetof(type, member))
#define NUMBER(name) printf("%s %d\n", #name, (int)(name))

static void statuses(void) {
  NUMBER(RONDO_OK);
  NUMBER(RONDO_INVALID_ARGUMENT);
  NUMBER(RONDO_NOT_FOUND);
  NUMBER(RONDO_IO);
  NUMBER(RONDO_JSON);
  NUMBER(RONDO_TEMPLATE_SYNTAX);
  NUMBER(RONDO_TEMPLATE_RAISED);
  NUMBER(RONDO_TEMPLATE_ERROR);
  NUMBER(RONDO_TOKENIZER);
  NUMBER(RONDO_PARSE);
  NUMBER(RONDO_CANNOT_BRIDGE);
  NUMBER(RONDO_ENGINE);
  NUMBER(RONDO_LIMIT);
  NUMBER(RONDO_UNSUPPORTED);
  NUMBER(RONDO_INTERNAL);
  NUMBER(RONDO_NO_MEMORY);
  NUMBER(RONDO_NULL);
  NUMBER(RONDO_CLOSED);
  NUMBER(RONDO_EVENT_CONTENT);
  NUMBER(RONDO_EVENT_REASONING);
  NUMBER(RONDO_EVENT_CALL_START);
  NUMBER(RONDO_EVENT_CALL_ID);
  NUMBER(RONDO_EVENT_ARGUMENTS);
  NUMBER(RONDO_EVENT_CALL_END);
}

static void structs(void) {
  SIZE(rondo_text);
  SIZE(rondo_ids);
  SIZE(rondo_mask);
  SIZE(rondo_library);
  SIZE(rondo_model);
  SIZE(rondo_parser);
  SIZE(rondo_rollout);
  SIZE(rondo_result);
  SIZE(rondo_error);
  PLACE(rondo_error, status);
  PLACE(rondo_error, line);
  PLACE(rondo_error, column);
  PLACE(rondo_error, has_offset);
  PLACE(rondo_error, offset);
  PLACE(rondo_error, message);
  PLACE(rondo_error, source);
  PLACE(rondo_error, hint);
  PLACE(rondo_error, shown);
  PLACE(rondo_error, memory);
  SIZE(rondo_library_options);
  PLACE(rondo_library_options, cache_folder);
  PLACE(rondo_library_options, now);
  SIZE(rondo_model_options);
  PLACE(rondo_model_options, path);
  PLACE(rondo_model_options, chat_template);
  PLACE(rondo_model_options, template_text);
  PLACE(rondo_model_options, tokenizer);
  PLACE(rondo_model_options, tokenizer_json);
  PLACE(rondo_model_options, tokenizer_config);
  PLACE(rondo_model_options, generation_config);
  PLACE(rondo_model_options, options);
  SIZE(rondo_chat);
  PLACE(rondo_chat, messages);
  PLACE(rondo_chat, tools);
  PLACE(rondo_chat, documents);
  PLACE(rondo_chat, kwargs);
  PLACE(rondo_chat, options);
  SIZE(rondo_event);
  PLACE(rondo_event, kind);
  PLACE(rondo_event, has_id);
  PLACE(rondo_event, call);
  PLACE(rondo_event, text);
  PLACE(rondo_event, id);
}

int main(void) {
  NUMBER(RONDO_ABI_VERSION);
  statuses();
  structs();
  return 0;
}
