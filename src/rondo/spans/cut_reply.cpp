#include "spans/cut_reply.h"

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "chat/reasoning_fields.h"
#include "json/print.h"
#include "spans/reading.h"
#include "spans/visible.h"

namespace rondo::spans {
namespace {

constexpr std::string_view kSpace = " \t\n\v\f\r";

// How many of the ids say the text `shown` and nothing after it but white space.
std::optional<std::size_t> ids_of(const core::ParsedIds& said, std::string_view shown) {
  const std::string_view content = said.message.content;
  const std::size_t begin = shown.empty() ? 0 : content.find_first_not_of(kSpace);
  if (begin == std::string_view::npos || !content.substr(begin).starts_with(shown)) return std::nullopt;
  const std::size_t hidden = content.find_first_not_of(kSpace, begin + shown.size());
  if (hidden == std::string_view::npos) return std::nullopt;
  const std::size_t most = std::string_view(said.text).rfind(content.substr(hidden));
  if (most == std::string_view::npos) return std::nullopt;
  const auto ends = std::span(said.ends);
  const auto count = static_cast<std::size_t>(std::ranges::upper_bound(ends, most) - ends.begin());
  const std::size_t space = hidden - begin - shown.size();
  const bool is_exact = count > 0 && (shown.empty() || ends[count - 1] + space >= most);
  return is_exact ? std::optional(count) : std::nullopt;
}

}  // namespace

std::shared_ptr<const Turn> cut_to_shown(const core::Model& model, const core::Call& call, const Turn& turn,
                                         const json::Value& shown) {
  if (turn.prefill > 0) return nullptr;  // the beginning was not sampled
  core::Call reading = reading_of(call);
  const core::ParseCall parsing = parsing_of(reading, turn.prompt);
  const std::string text = shown_text(shown);
  const auto whole = model.parse_ids(reading, parsing, turn.completion);
  if (!whole.ok()) return nullptr;
  const auto count = ids_of(whole.value(), text);
  if (!count) return nullptr;

  auto cut = std::make_shared<Turn>(turn);
  cut->completion.resize(*count);
  if (!cut->logprobs.empty()) cut->logprobs.resize(*count);
  const auto said = model.parse_ids(reading, parsing, cut->completion);
  if (!said.ok() || !said.value().message.tool_calls.empty()) return nullptr;
  json::Object message{{"role", "assistant"}, {"content", said.value().message.content}};
  if (const auto& reasoning = said.value().message.reasoning; reasoning && !reasoning->empty())
    message.set(chat::kReasoningFields.front(), *reasoning);
  if (shown_text(message) != text) return nullptr;
  cut->message = json::to_compact(json::Value(std::move(message)));
  return cut;
}

}  // namespace rondo::spans
