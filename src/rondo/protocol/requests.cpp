#include "protocol/requests.h"

#include <utility>

#include "base/files.h"
#include "json/print.h"

namespace rondo::protocol {
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

// A key for a template and everything that decides how it is compiled, except its file's content.
std::string template_key(const TemplateFields& fields) {
  std::string key = fields.text ? "text" : "file";
  for (const bool flag :
       {fields.compile.trim_blocks, fields.compile.lstrip_blocks, fields.compile.keep_trailing_newline})
    key += flag ? '1' : '0';
  return key + (fields.text ? *fields.text : fields.file.value_or(""));
}

}  // namespace

TemplateFields read_template(Fields& fields, core::TokenizerUse tokenizer) {
  TemplateFields out;
  out.text = fields.text("template");
  out.file = fields.text("template_file");
  if (fields.has("template") == fields.has("template_file")) {
    fields.fail(fields.has("template") ? "only one of `template` and `template_file` may be given"
                                       : "one of the fields `template` and `template_file` is missing");
  }
  if (tokenizer == core::TokenizerUse::kRequired) fields.require("tokenizer");
  out.tokenizer = fields.text("tokenizer");
  out.strict = fields.choice("mode", {"strict", "lenient"}) == "strict";
  out.polyfill = core::polyfill_named(fields.choice("polyfill", {"off", "auto", "on"})).value_or(core::Polyfill::kOff);
  if (out.strict && out.polyfill != core::Polyfill::kOff) fields.fail("`polyfill` needs the `mode` \"lenient\"");
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

std::optional<render::Retention> read_retention(Fields& fields) {
  if (!fields.has("retention")) return std::nullopt;
  return render::retention_of(fields.choice(
      "retention", {"all", "template", "tool_cycle", "preserve_thinking_between_tool_calls", "preserve_all_thinking"}));
}

std::optional<json::Object> read_corrections(Fields& fields) {
  if (!fields.has("corrections")) return std::nullopt;
  return fields.object("corrections");
}

Result<std::shared_ptr<const core::Model>> Models::model(const TemplateFields& fields,
                                                         const std::optional<json::Object>& corrections) {
  std::string key = template_key(fields);
  key += fields.strict ? "\nstrict" : "\nlenient";
  key += std::to_string(static_cast<int>(fields.polyfill));
  if (fields.tokenizer) key += "\ntokenizer " + *fields.tokenizer;
  if (corrections) key += "\n" + json::to_compact(*corrections);
  return models_.get(key, [&]() -> core::Memo<core::Model>::Made {
    auto templates = fields.text ? loader_.template_from_text(*fields.text, fields.compile)
                                 : template_named(fields.file.value_or(""), fields);
    if (!templates.ok()) return templates.error();
    core::Model::Parts parts{.name = fields.file.value_or(""),
                             .templates = templates.value(),
                             .tokenizer = nullptr,
                             .corrections = corrections,
                             .strict = fields.strict};
    if (fields.tokenizer) {
      auto tokenizer = loader_.tokenizer(*fields.tokenizer);
      if (!tokenizer.ok()) return tokenizer.error();
      parts.tokenizer = tokenizer.value();
    }
    return std::make_shared<const core::Model>(std::move(parts))->polyfilled(fields.polyfill);
  });
}

// A file, or the name of a template.
core::TemplateResult Models::template_named(const std::string& name, const TemplateFields& fields) {
  const bool is_ours = !name.empty() && name.find_first_of("/.") == std::string::npos && !files::exists(name);
  return is_ours ? loader_.template_named(name, fields.tokenizer.value_or(""), fields.compile)
                 : loader_.template_from_file(name, fields.compile);
}

Result<std::shared_ptr<const core::Model>> Models::load(core::Source source) {
  source.cache_folder = cache_folder_;
  std::string key = std::string("source\n") + (source.strict ? "strict" : "lenient") +
                    std::to_string(static_cast<int>(source.polyfill)) + "\n" + source.path;
  if (source.chat_template) key += "\ntemplate " + *source.chat_template;
  if (source.template_text) key += "\ntext " + *source.template_text;
  if (source.tokenizer) key += "\ntokenizer " + *source.tokenizer;
  return models_.get(key, [&] { return core::Model::load(source); });
}

std::optional<jinja::LocalTime> Models::time_or_clock(std::optional<jinja::LocalTime> now) const {
  if (!now && clock_) now = clock_();
  return now;
}

core::Call Models::call(const TemplateFields& fields, ConversationFields input) const {
  core::Call out;
  out.conversation = std::move(input.conversation);
  out.has_messages = input.has_messages;
  out.now = time_or_clock(fields.now);
  return out;
}

}  // namespace rondo::protocol
