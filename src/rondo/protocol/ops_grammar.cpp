// grammar: what a model may write, for an engine with constrained sampling.
#include <utility>

#include "protocol/ops.h"

namespace rondo::protocol {

Reply op_grammar(const OpContext& context, Fields& fields) {
  const TemplateFields template_fields = read_template(fields, core::TokenizerUse::kOptional);
  ConversationFields input = read_conversation(fields, {.add_generation_prompt = true});
  const core::Asked asked = core::read_asked(fields);
  const std::optional<json::Object> corrections = read_corrections(fields);
  const core::GrammarLanguage language = core::read_language(fields);
  if (Status status = fields.finish(); !status.ok()) return status.error();

  auto model = context.models.model(template_fields, corrections);
  if (!model.ok()) return model.error();
  core::Call call = context.models.call(template_fields, std::move(input));
  const auto grammar = model.value()->grammar(call, asked, language);
  if (!grammar.ok()) return grammar.error();
  return core::to_json(grammar.value());
}

}  // namespace rondo::protocol
