// render, shape and jinja: from templates to text.
#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/roles.h"
#include "core/unwritten.h"
#include "protocol/ops.h"
#include "protocol/readers.h"
#include "protocol/reply.h"
#include "protocol/trace.h"

namespace rondo::protocol {
namespace {

std::vector<std::int32_t> owners_in(const jinja::Rendered& rendered) {
  std::vector<std::int32_t> owners;
  for (const text::Run& run : rendered.text.runs()) owners.push_back(rendered.origins.paths.message(run.path()));
  return owners;
}

// Adds a note for each part of the messages that the template leaves out of the prompt without a word.
Status note_unwritten(const core::Model& model, const core::Prepared& prepared, const core::Call& call,
                      const jinja::Rendered& rendered, std::vector<std::string>& notes) {
  const json::Array& messages = call.conversation.messages;
  if (core::shows_all(messages, rendered.text.bytes())) return Done{};
  const jinja::Rendered* told = &rendered;
  std::optional<core::Prompt> again;
  if (!prepared.options.origins) {
    tmpl::ApplyOptions options = prepared.options;
    options.origins = true;
    auto made = model.prompt(prepared, call.conversation, options);
    if (!made.ok()) return made.error();
    again = std::move(made.value());
    told = &again->rendered;
  }
  const auto unwritten = core::unwritten_role(prepared.chat_template->compared_roles(), messages, owners_in(*told));
  std::ranges::move(core::unwritten_fields(messages, call.shaping, *told, unwritten), std::back_inserter(notes));
  if (unwritten) notes.push_back(core::sentence(*unwritten));
  return Done{};
}

}  // namespace

Reply op_render(const OpContext& context, Fields& fields) {
  const TemplateFields template_fields = read_template(fields, core::TokenizerUse::kOptional);
  ConversationFields input = read_conversation(fields, {.messages_required = true});
  const bool spans = fields.flag("spans", false);
  if (Status status = fields.finish(); !status.ok()) return status.error();

  auto model = context.models.model(template_fields);
  if (!model.ok()) return model.error();
  core::Call call = context.models.call(template_fields, std::move(input));
  const chat::Conversation& conversation = call.conversation;
  auto prepared = model.value()->prepare(call, core::TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  const jinja::Template& chat_template = *prepared.value().chat_template;
  if (context.options.refuse_unknown_roles) {
    Status known = core::check_roles(chat_template, conversation.messages);
    if (!known.ok()) return known.error();
  }
  tmpl::ApplyOptions& options = prepared.value().options;
  options.origins = spans || context.options.trace || context.options.refuse_unknown_roles;
  auto prompt = model.value()->prompt(prepared.value(), conversation, options);
  if (!prompt.ok()) return prompt.error();
  const jinja::Rendered& rendered = prompt.value().rendered;
  std::vector<std::string> notes = std::move(prompt.value().notes);
  if (context.options.refuse_unknown_roles) {
    Status written = core::check_all_written(chat_template, conversation.messages, owners_in(rendered));
    if (!written.ok()) return written.error();
  }
  if (!options.strict && !conversation.continue_final_message) {
    Status told = note_unwritten(*model.value(), prepared.value(), call, rendered, notes);
    if (!told.ok()) return told.error();
  }
  json::Object reply{{"text", rendered.text.bytes()}};
  if (spans) reply.set("spans", spans_to_json(rendered, chat_template, sent_messages(conversation), call.shaping));
  if (context.options.trace) {
    reply.set("trace", trace_to_json(rendered, chat_template, tmpl::template_variables(conversation),
                                     sent_messages(conversation), call.shaping));
  }
  const std::vector<std::string> shaped = tmpl::sentences(call.shaping);
  if (!shaped.empty()) reply.set("shaped", texts_to_json(shaped));
  if (!notes.empty()) reply.set("notes", texts_to_json(notes));
  return json::Value(std::move(reply));
}

Reply op_shape(const OpContext& context, Fields& fields) {
  const TemplateFields template_fields = read_template(fields, core::TokenizerUse::kOptional);
  ConversationFields input = read_conversation(fields, {.messages_required = true});
  if (Status status = fields.finish(); !status.ok()) return status.error();
  auto model = context.models.model(template_fields);
  if (!model.ok()) return model.error();
  core::Call call = context.models.call(template_fields, std::move(input));
  const auto prepared = model.value()->prepare(call, core::TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  json::Object reply{{"messages", std::move(call.conversation.messages)}};
  if (call.conversation.tools) reply.set("tools", std::move(*call.conversation.tools));
  const std::vector<std::string> shaped = tmpl::sentences(call.shaping);
  if (!shaped.empty()) reply.set("shaped", texts_to_json(shaped));
  return json::Value(std::move(reply));
}

Reply op_jinja(const OpContext& context, Fields& fields) {
  TemplateFields template_fields = read_template(fields, core::TokenizerUse::kOptional);
  const json::Object variables = fields.object("context");
  template_fields.compile.trim_blocks = fields.flag("trim_blocks", true);
  template_fields.compile.lstrip_blocks = fields.flag("lstrip_blocks", true);
  template_fields.compile.keep_trailing_newline = fields.flag("keep_trailing_newline", false);
  if (Status status = fields.finish(); !status.ok()) return status.error();

  template_fields.tokenizer.reset();  // it does not affect a bare template
  auto model = context.models.model(template_fields);
  if (!model.ok()) return model.error();
  core::Call call = context.models.call(template_fields, {});
  auto prepared = model.value()->prepare(call, core::TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  jinja::RenderOptions options;
  options.strict = prepared.value().options.strict;
  options.now = prepared.value().options.now;
  options.origins = false;  // only the text is needed
  auto rendered = prepared.value().chat_template->render(variables, options);
  if (!rendered.ok()) return rendered.error();
  return json::Value(json::Object{{"text", rendered.value().text.bytes()}});
}

}  // namespace rondo::protocol
