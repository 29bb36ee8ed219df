#include "api/requests.h"

#include <utility>

#include "json/parse.h"

namespace rondo::api {
namespace {

// `true` means the field "content".
std::optional<std::string> read_continuation(Fields& fields) {
  const json::Value* found = fields.value("continue_final_message");
  if (found == nullptr || (found->is_bool() && !found->as_bool())) return std::nullopt;
  if (found->is_bool()) return "content";
  if (found->is_string()) return found->as_string();
  fields.fail("`continue_final_message` must be a boolean or the name of a field, found " +
              std::string(json::describe(found->kind())));
  return std::nullopt;
}

Result<std::shared_ptr<const LoadedTemplate>> load_template(Cache& cache, const TemplateFields& fields) {
  if (fields.text) return cache.template_from_text(*fields.text, fields.compile);
  return cache.template_from_file(fields.file.value_or(""), fields.compile);
}

void take_if_absent(std::optional<std::string>& token, const std::optional<std::string>& other) {
  if (!token) token = other;
}

}  // namespace

TemplateFields read_template(Fields& fields, TokenizerUse tokenizer) {
  TemplateFields out;
  out.text = fields.text("template");
  out.file = fields.text("template_file");
  if (fields.has("template") == fields.has("template_file")) {
    fields.fail(fields.has("template") ? "only one of `template` and `template_file` may be given"
                                       : "one of the fields `template` and `template_file` is missing");
  }
  if (tokenizer == TokenizerUse::kRequired) fields.require("tokenizer");
  out.tokenizer = fields.text("tokenizer");
  out.strict = fields.choice("mode", {"strict", "lenient"}) == "strict";
  out.now = fields.time("now");
  return out;
}

ConversationFields read_conversation(Fields& fields, const ConversationDefaults& defaults) {
  ConversationFields out;
  chat::Conversation& conversation = out.conversation;
  if (defaults.messages_required) fields.require("messages");
  if (std::optional<json::Array> messages = fields.objects("messages")) {
    conversation.messages = std::move(*messages);
    out.has_messages = true;
  }
  if (std::optional<json::Array> tools = fields.objects("tools")) conversation.tools = json::Value(std::move(*tools));
  if (std::optional<json::Array> documents = fields.objects("documents")) {
    conversation.documents = json::Value(std::move(*documents));
  }
  conversation.continue_final_message = read_continuation(fields);
  const bool continues = conversation.continue_final_message.has_value();
  conversation.add_generation_prompt =
      fields.flag("add_generation_prompt", defaults.add_generation_prompt && !continues);
  if (continues && conversation.add_generation_prompt) {
    fields.fail("`add_generation_prompt` must not be true with `continue_final_message`");
  }
  conversation.kwargs = fields.object("kwargs");
  conversation.bos_token = fields.text("bos_token");
  conversation.eos_token = fields.text("eos_token");
  return out;
}

AskedOfModel read_asked(Fields& fields) {
  AskedOfModel out;
  out.parallel_tool_calls = fields.flag("parallel_tool_calls", true);
  const json::Value* choice = fields.value("tool_choice");
  if (choice != nullptr && choice->is_object()) {
    const auto name = choice->find_string("name");
    if (!name || choice->as_object().size() != 1) fields.fail("`tool_choice` must be a name or {\"name\": function}");
    out.tool_choice = "named";
    out.tool_name = name.value_or("");
  } else {
    out.tool_choice = fields.choice("tool_choice", {"auto", "none", "required"});
  }
  const json::Object schema = fields.object("response_schema");
  if (fields.has("response_schema")) out.response_schema = json::Value(schema);
  return out;
}

Result<Prepared> prepare(Cache& cache, const TemplateFields& fields, chat::Conversation& conversation,
                         const std::function<jinja::LocalTime()>& clock) {
  auto loaded = load_template(cache, fields);
  if (!loaded.ok()) return loaded.error();
  Prepared out;
  out.chat_template = loaded.value()->with_tools(conversation.tools.has_value());
  out.options.strict = fields.strict;
  out.identity = std::to_string(loaded.value()->serial) +
                 (out.chat_template == loaded.value()->plain ? " " : " tools ") +
                 (fields.strict ? "strict" : "lenient");
  out.options.now = fields.now;
  if (!out.options.now && clock) out.options.now = clock();
  take_if_absent(conversation.bos_token, loaded.value()->bos_token);
  take_if_absent(conversation.eos_token, loaded.value()->eos_token);
  if (!fields.tokenizer) return out;

  auto tokenizer = cache.tokenizer(*fields.tokenizer);
  if (!tokenizer.ok()) return tokenizer.error();
  out.tokenizer = tokenizer.value()->tokenizer;
  out.identity += " " + std::to_string(tokenizer.value()->serial);
  take_if_absent(conversation.bos_token, tokenizer.value()->bos_token);
  take_if_absent(conversation.eos_token, tokenizer.value()->eos_token);
  return out;
}

Status set_json(json::Object& request, const char* field, const std::string& text) {
  if (text.empty()) return Done{};
  auto value = json::parse(text);
  if (!value.ok()) {
    Error error = value.error();
    error.source = field;
    return error;
  }
  request.set(field, std::move(value).value());
  return Done{};
}

}  // namespace rondo::api
