// check and fix: the audit of a template, and the template with what the audit can mend.
#include <string>
#include <utility>

#include "api/ops.h"
#include "audit/check.h"
#include "audit/fix.h"
#include "audit/scenarios.h"

namespace rondo::api {
namespace {

audit::Input input_of(const Prepared& prepared, chat::Conversation base, std::string model) {
  audit::Input input;
  input.chat_template = prepared.chat_template;
  input.tokenizer = prepared.tokenizer;
  input.base = std::move(base);
  input.options = prepared.options;
  input.model = std::move(model);
  return input;
}

// What the ops of an audit read of a template.
struct AuditFields {
  TemplateFields chat_template;
  chat::Conversation base;
  std::string model;
};

AuditFields read_audit(Fields& fields) {
  AuditFields out;
  out.chat_template = read_template(fields, TokenizerUse::kOptional);
  out.base.kwargs = fields.object("kwargs");
  out.base.bos_token = fields.text("bos_token");
  out.base.eos_token = fields.text("eos_token");
  // Of a model with several templates the one for tools is audited.
  out.base.tools = tools_of_check();
  out.model = fields.text("model").value_or(out.chat_template.file.value_or(""));
  return out;
}

}  // namespace

const json::Value& tools_of_check() { return audit::scenario_tools(); }

Reply check_reply(const Prepared& prepared, chat::Conversation base, CheckAsked asked) {
  const audit::Input input = input_of(prepared, std::move(base), std::move(asked.model));
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
  AuditFields read = read_audit(fields);
  CheckAsked asked;
  asked.model = std::move(read.model);
  asked.has_file = read.chat_template.file.has_value();
  asked.on_progress = context.options.on_progress;
  if (fields.has("scenarios")) asked.scenarios = fields.required_texts("scenarios");
  if (Status status = fields.finish(); !status.ok()) return status.error();

  auto prepared = prepare(context.cache, read.chat_template, read.base, context.clock);
  if (!prepared.ok()) return prepared.error();
  return check_reply(prepared.value(), std::move(read.base), std::move(asked));
}

Reply op_fix(const OpContext& context, Fields& fields) {
  AuditFields read = read_audit(fields);
  audit::FixOptions options;
  options.may_add_marks = fields.flag("marks", false);
  if (Status status = fields.finish(); !status.ok()) return status.error();

  auto prepared = prepare(context.cache, read.chat_template, read.base, context.clock);
  if (!prepared.ok()) return prepared.error();
  if (context.options.on_progress) {
    options.on_progress = [&](std::size_t tried) { context.options.on_progress(tried, 0); };
  }
  const auto fixed = audit::fix(input_of(prepared.value(), std::move(read.base), std::move(read.model)), options);
  if (!fixed.ok()) return fixed.error();
  return audit::to_json(fixed.value());
}

}  // namespace rondo::api
