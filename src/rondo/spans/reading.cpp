#include "spans/reading.h"

namespace rondo::spans {

core::Call reading_of(const core::Call& call) {
  core::Call out;
  out.conversation.tools = call.conversation.tools;
  out.conversation.documents = call.conversation.documents;
  out.conversation.kwargs = call.conversation.kwargs;
  out.now = call.now;
  return out;
}

core::ParseCall parsing_of(const core::Call& call, std::span<const TokenId> prompt) {
  const bool has_tools = call.conversation.tools.has_value();
  core::Asked asked;
  if (!has_tools) asked.tool_choice = core::ToolChoice::kNone;
  core::ParseCall out;
  out.options = core::parse_options(asked, has_tools);
  out.prompt_ids = prompt;
  return out;
}

}  // namespace rondo::spans
