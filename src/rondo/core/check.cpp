#include "core/check.h"

#include <utility>

#include "audit/scenarios.h"

namespace rondo::core {
namespace {

Result<audit::Input> input_of(const Model& model, Call& call, std::string name) {
  call.conversation.tools = audit::scenario_tools();
  auto prepared = model.prepare(call, TokenizerUse::kOptional);
  if (!prepared.ok()) return prepared.error();
  audit::Input input;
  input.chat_template = prepared.value().chat_template;
  input.tokenizer = prepared.value().tokenizer;
  input.base = call.conversation;
  input.options = prepared.value().options;
  input.model = std::move(name);
  return input;
}

}  // namespace

Result<report::Report> check(const Model& model, Call& call, CheckRequest request) {
  const auto input = input_of(model, call, std::move(request.model));
  if (!input.ok()) return input.error();
  auto report = audit::check(input.value(), {std::move(request.on_progress), std::move(request.scenarios)});
  if (report.ok() && request.has_file) {
    const std::string& path = input.value().chat_template->name();
    report.value().template_file = path;
    report.value().is_own_file = !path.ends_with(".json") && !path.ends_with(".gguf");
  }
  return report;
}

Result<mend::Fix> fix(const Model& model, Call& call, std::string name, const mend::FixOptions& options) {
  const auto input = input_of(model, call, std::move(name));
  if (!input.ok()) return input.error();
  return mend::fix(input.value(), options);
}

}  // namespace rondo::core
