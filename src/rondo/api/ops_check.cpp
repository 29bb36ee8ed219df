// check: the audit of a template.
#include <string>
#include <utility>

#include "api/ops.h"
#include "audit/check.h"
#include "audit/scenarios.h"

namespace rondo::api {

const json::Value& tools_of_check() { return audit::scenario_tools(); }

Reply check_reply(const Prepared& prepared, chat::Conversation base, CheckAsked asked) {
  audit::Input input;
  input.chat_template = prepared.chat_template;
  input.tokenizer = prepared.tokenizer;
  input.base = std::move(base);
  input.options = prepared.options;
  input.model = std::move(asked.model);
  auto report = audit::check(input, {std::move(asked.on_progress), std::move(asked.scenarios)});
  if (!report.ok()) return report.error();
  if (asked.has_file) {
    const std::string& path = input.chat_template->name();
    report.value().template_file = path;
    report.value().is_own_file = !path.ends_with(".json") && !path.ends_with(".gguf");
  }
  return audit::to_json(report.value());
}

Reply op_check(const OpContext& context, Fields& fields) {
  const TemplateFields template_fields = read_template(fields, TokenizerUse::kOptional);
  chat::Conversation base;
  base.kwargs = fields.object("kwargs");
  base.bos_token = fields.text("bos_token");
  base.eos_token = fields.text("eos_token");
  CheckAsked asked;
  asked.model = fields.text("model").value_or(template_fields.file.value_or(""));
  asked.has_file = template_fields.file.has_value();
  asked.on_progress = context.options.on_progress;
  if (fields.has("scenarios")) asked.scenarios = fields.required_texts("scenarios");
  if (Status status = fields.finish(); !status.ok()) return status.error();

  base.tools = tools_of_check();
  auto prepared = prepare(context.cache, template_fields, base, context.clock);
  if (!prepared.ok()) return prepared.error();
  return check_reply(prepared.value(), std::move(base), std::move(asked));
}

}  // namespace rondo::api
