// check and fix: checks a template, and mends what can be mended.
#include <string>
#include <utility>

#include "core/check.h"
#include "protocol/ops.h"

namespace rondo::protocol {
namespace {

// What these ops read about a template.
struct AuditFields {
  TemplateFields chat_template;
  chat::Conversation base;
  std::string model;
};

AuditFields read_audit(Fields& fields) {
  AuditFields out;
  out.chat_template = read_template(fields, core::TokenizerUse::kOptional);
  out.base.kwargs = fields.object("kwargs");
  out.base.bos_token = fields.text("bos_token");
  out.base.eos_token = fields.text("eos_token");
  out.model = fields.text("model").value_or(out.chat_template.file.value_or(""));
  return out;
}

// The model that is checked, with what the request says about it.
struct Audited {
  std::shared_ptr<const core::Model> model;
  core::Call call;
};

Result<Audited> load_audited(const OpContext& context, AuditFields& read) {
  auto model = context.models.model(read.chat_template);
  if (!model.ok()) return model.error();
  return Audited{model.value(), context.models.call(read.chat_template, {std::move(read.base), false})};
}

}  // namespace

Reply op_check(const OpContext& context, Fields& fields) {
  AuditFields read = read_audit(fields);
  core::CheckRequest asked;
  asked.model = std::move(read.model);
  asked.has_file = read.chat_template.file.has_value();
  asked.on_progress = context.options.on_progress;
  if (fields.has("scenarios")) asked.scenarios = fields.required_texts("scenarios");
  if (Status status = fields.finish(); !status.ok()) return status.error();

  auto audited = load_audited(context, read);
  if (!audited.ok()) return audited.error();
  const auto report = core::check(*audited.value().model, audited.value().call, std::move(asked));
  if (!report.ok()) return report.error();
  return report::to_json(report.value());
}

Reply op_fix(const OpContext& context, Fields& fields) {
  AuditFields read = read_audit(fields);
  mend::FixOptions options;
  options.may_add_marks = fields.flag("marks", false);
  if (read.chat_template.polyfill != core::Polyfill::kOff)
    fields.fail("`polyfill` is not part of a template, and cannot be mended in it");
  if (Status status = fields.finish(); !status.ok()) return status.error();

  auto audited = load_audited(context, read);
  if (!audited.ok()) return audited.error();
  if (context.options.on_progress) {
    options.on_progress = [&](std::size_t tried) { context.options.on_progress(tried, 0); };
  }
  const auto fixed = core::fix(*audited.value().model, audited.value().call, std::move(read.model), options);
  if (!fixed.ok()) return fixed.error();
  return mend::to_json(fixed.value());
}

}  // namespace rondo::protocol
