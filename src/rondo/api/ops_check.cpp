// check: the audit of a template.
#include <string>
#include <utility>

#include "api/ops.h"
#include "audit/check.h"
#include "audit/scenarios.h"

namespace rondo::api {

Reply op_check(const OpContext& context, Fields& fields) {
  const TemplateFields template_fields = read_template(fields, TokenizerUse::kOptional);
  chat::Conversation conversation;
  conversation.kwargs = fields.object("kwargs");
  conversation.bos_token = fields.text("bos_token");
  conversation.eos_token = fields.text("eos_token");
  audit::Options options;
  if (fields.has("scenarios")) options.scenarios = fields.required_texts("scenarios");
  const std::optional<std::string> model = fields.text("model");
  if (Status status = fields.finish(); !status.ok()) return status.error();

  // Of a model with several templates the one for tools is audited.
  conversation.tools = audit::scenario_tools();
  auto prepared = prepare(context.cache, template_fields, conversation, context.clock);
  if (!prepared.ok()) return prepared.error();
  audit::Input input;
  input.chat_template = prepared.value().chat_template;
  input.tokenizer = prepared.value().tokenizer;
  input.base = std::move(conversation);
  input.options = prepared.value().options;
  input.model = model.value_or(template_fields.file.value_or(""));
  options.on_progress = context.options.on_progress;
  auto report = audit::check(input, options);
  if (!report.ok()) return report.error();
  if (template_fields.file) {
    const std::string& path = input.chat_template->name();
    report.value().template_file = path;
    report.value().is_own_file = !path.ends_with(".json") && !path.ends_with(".gguf");
  }
  return audit::to_json(report.value());
}

}  // namespace rondo::api
