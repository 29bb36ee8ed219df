// Infers what a template writes before content only in some turns.
#include <algorithm>

#include "analysis/escapes.h"
#include "analysis/parts.h"
#include "probe/words.h"

namespace rondo::analysis {

using format::is_blank;
using format::trimmed;

namespace {

// Returns the white space directly before the content of `turn`.
std::string space_before_content(const Turn& turn) {
  const std::string before = turn.literals(0, turn.first(SlotKind::kContent));
  return before.substr(trimmed_end(before).size());
}

// Returns the words that the template writes before content only where the request has tools; "" if there are none, or if
// the prompt ends with them.
std::string opener_with_tools(const Evidence& evidence, const Blocks& blocks) {
  const auto lead_with = [&](bool tools) {
    const auto turn = evidence.prober.turn_of(std::string(probe::kContentText), {.tools = tools});
    const bool is_first =
        turn && turn->has(SlotKind::kContent) && turn->first(SlotKind::kContent) == turn->first_slot();
    return is_first ? std::optional(lead(*turn, blocks.header)) : std::nullopt;
  };
  const std::string open = lead_with(true).value_or("");
  if (is_blank(open) || !is_blank(lead_with(false).value_or(open))) return "";
  if (contains(open, trimmed(blocks.reasoning.close)) || contains(open, trimmed(blocks.header))) return "";
  const auto prompt = evidence.prober.generation_prompt({.tools = true});
  return !prompt || contains(prompt->text, trimmed(open)) ? "" : open;
}

// Returns the white space that stands before content where calls follow, behind that of other content; "" if there is no
// more of it.
std::string space_before_calls(const Evidence& evidence) {
  const Variant* plain = evidence.find({.content = true});
  const Variant* both = evidence.find({.content = true, .calls = 1});
  if (plain == nullptr || both == nullptr) return "";
  if (both->turn.first(SlotKind::kContent) > both->turn.first_of_call(0)) return "";
  const std::string space = space_before_content(plain->turn);
  const std::string longer = space_before_content(both->turn);
  return longer.starts_with(space) ? longer.substr(space.size()) : "";
}

// Returns whether no content begins with `space`, because the template writes it before any content, or cuts it off.
bool is_never_content(const Evidence& evidence, const std::string& space) {
  const auto turn = evidence.prober.turn_of(space + std::string(probe::kContentText), {.tools = false});
  if (!turn || !turn->has(SlotKind::kContent)) return false;
  return space_before_content(*turn) == space || text_of(*turn, SlotKind::kContent) == probe::kContentText;
}

// Returns the white space that the template writes behind a tool's result only if an answer follows; "" if there is none,
// or if other answers may begin with it.
std::string space_behind_result(const Evidence& evidence) {
  const probe::Saying answer{"", std::string(probe::kContentText), {}};
  json::Array messages{
      probe::plain_message("user", probe::kQuestionText),
      probe::assistant_message(evidence.shape, {"", "", message_of({.calls = 1}).calls}),
      probe::tool_message(probe::call_id(0), probe::kFirstTool, probe::kResultText),
  };
  const auto asked = evidence.prober.text_of(messages, {});
  messages.push_back(probe::assistant_message(evidence.shape, answer));
  const auto answered = evidence.prober.text_of(std::move(messages), {});
  if (!asked || !answered || !answered->starts_with(*asked)) return "";
  const std::string rest = answered->substr(asked->size());
  const std::string space = rest.substr(0, rest.find_first_not_of(" \n\t\r"));
  const bool is_answer = !space.empty() && rest.substr(space.size()).starts_with(probe::kContentText);
  return is_answer && is_never_content(evidence, space) ? space : "";
}

}  // namespace

Blocks with_content_leads(const Evidence& evidence, Blocks blocks) {
  format::Content& content = blocks.content;
  if (is_blank(content.open)) content.open_with_tools = opener_with_tools(evidence, blocks);
  if (!evidence.shows_calls) return blocks;
  if (content.open.empty() && content.close.empty()) content.open = space_behind_result(evidence);
  if (content.preamble_open.empty() && is_blank(content.open)) content.preamble_open = space_before_calls(evidence);
  return blocks;
}

}  // namespace rondo::analysis
