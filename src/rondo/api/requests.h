// The fields that several ops of the line protocol share: template, tokenizer, conversation (docs/batch.md section 3).
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/cache.h"
#include "api/fields.h"
#include "chat/conversation.h"
#include "template/chat_template.h"

namespace rondo::api {

// What a request says about its template; nothing is loaded yet.
struct TemplateFields {
  std::optional<std::string> text;
  std::optional<std::string> file;
  std::optional<std::string> tokenizer;
  bool strict = true;
  std::optional<jinja::LocalTime> now;
  jinja::CompileOptions compile;
};

enum class TokenizerUse { kOptional, kRequired };
[[nodiscard]] TemplateFields read_template(Fields& fields, TokenizerUse tokenizer);

struct ConversationDefaults {
  bool messages_required = false;
  bool add_generation_prompt = false;
};
// `has_messages`: whether the request gave any (an empty array counts).
struct ConversationFields {
  chat::Conversation conversation;
  bool has_messages = false;
};
[[nodiscard]] ConversationFields read_conversation(Fields& fields, const ConversationDefaults& defaults);

// What was asked of the model: tools to choose from and the shape of its answer.
struct AskedOfModel {
  bool parallel_tool_calls = true;
  std::string tool_choice = "auto";  // "auto", "none", "required" or "named"
  std::string tool_name;             // for "named"
  std::optional<json::Value> response_schema;
};
[[nodiscard]] AskedOfModel read_asked(Fields& fields);

// Sets `field` of a request to the JSON that `text` holds; "" leaves the field out.  Fails with kJson, naming the field.
[[nodiscard]] Status set_json(json::Object& request, const char* field, const std::string& text);

// A template and tokenizer, loaded, and everything that a render needs.
struct Prepared {
  std::shared_ptr<const jinja::Template> chat_template;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;  // null if the request names none
  tmpl::ApplyOptions options;
  std::string identity;  // names template, tokenizer and mode; for keys of what is derived from them
};

// Loads what `fields` name, and gives `conversation` the special tokens that they bring where it has none itself.
// `clock` tells the local time for requests without `now`.
[[nodiscard]] Result<Prepared> prepare(Cache& cache, const TemplateFields& fields, chat::Conversation& conversation,
                                       const std::function<jinja::LocalTime()>& clock);

}  // namespace rondo::api
