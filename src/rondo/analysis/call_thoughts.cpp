// Finds reasoning that the template writes inside of what it serialises: in the JSON of a call, or of an answer.
#include "analysis/call_text.h"
#include "chat/reasoning_fields.h"

namespace rondo::analysis {
namespace {

// Returns the turn of a message with these parts and reasoning if it has the reasoning; nullopt otherwise.
std::optional<Turn> reasoned_turn(const Evidence& evidence, Parts parts) {
  parts.reasoning = true;
  Shape shape = evidence.shape;
  for (const std::string_view field : chat::kReasoningFields) {
    shape.reasoning_field = field;
    auto turn = evidence.prober.turn(shape, message_of(parts), {.tools = parts.calls > 0});
    if (turn && turn->has(SlotKind::kReasoning)) return turn;
  }
  return std::nullopt;
}

}  // namespace

CallPart with_thoughts(const Evidence& evidence, CallPart part) {
  const auto calling = part.calls.present ? reasoned_turn(evidence, {.calls = 1}) : std::nullopt;
  if (calling && part.calls.envelope != format::Envelope::kTags && !part.calls.roles.name_is_key)
    part.calls.roles.reasoning = reasoning_role(*calling);
  std::erase_if(part.calls.roles.constants,
                [&part](const format::JsonConstant& constant) { return constant.path == part.calls.roles.reasoning; });
  if (evidence.shows_reasoning()) return part;
  const auto answer = reasoned_turn(evidence, {.content = true});
  const bool is_read = !part.calls.roles.reasoning.empty();
  if (answer) {
    part.remarks.lose("reasoning beside content", "reasoning is written inside of an answer, and read as a part of it");
  } else if (is_read) {
    part.remarks.lose("reasoning beside content",
                      "reasoning is written inside of calls: a message without calls is written without it");
  }
  if (calling && !is_read)
    part.remarks.lose("reasoning beside calls", "reasoning is written inside of calls, and not read back");
  return part;
}

}  // namespace rondo::analysis
