#include "spans/call_ids.h"

#include <algorithm>
#include <span>
#include <utility>

#include "chat/conversation.h"
#include "json/parse.h"
#include "spans/reading.h"

namespace rondo::spans {
namespace {

bool is_tool_result(const json::Value& message) { return message.find_string("role") == "tool"; }

json::Array* calls_of(json::Value& message) {
  json::Value* calls = message.is_object() ? message.as_object().find("tool_calls") : nullptr;
  return calls != nullptr && calls->is_array() ? &calls->as_array() : nullptr;
}

// The id of each call of a message.
CallIds ids_in(const json::Value& message) {
  CallIds out;
  const json::Value* calls = message.find("tool_calls");
  if (calls == nullptr || !calls->is_array()) return out;
  for (const json::Value& call : calls->as_array()) {
    const auto id = call.find_string("id");
    out.emplace_back(id ? std::optional<std::string>(*id) : std::nullopt);
  }
  return out;
}

}  // namespace

bool has_results(const json::Array& messages, std::size_t reply) {
  return reply + 1 < messages.size() && is_tool_result(messages[reply + 1]);
}

CallIds sampled_call_ids(const core::Model& model, const core::Call& call, const Turn& turn) {
  core::Call reading = reading_of(call);
  const auto prompt = std::span(turn.prompt).first(turn.prompt.size() - turn.prefill);
  std::vector<TokenId> ids(turn.prompt.begin() + static_cast<std::ptrdiff_t>(prompt.size()), turn.prompt.end());
  ids.insert(ids.end(), turn.completion.begin(), turn.completion.end());
  core::ParseCall options;
  options.prompt_ids = prompt;
  const auto said = model.parse_ids(reading, options, ids);
  CallIds out;
  const auto format = model.format(reading);
  if (!said.ok() || !format.ok()) return out;
  const bool writes_ids = format.value()->calls.writes_ids();
  for (const chat::ToolCall& made : said.value().message.tool_calls)
    out.push_back(writes_ids ? made.id : std::string(chat::kHandedOutId) + std::to_string(out.size()));
  return out;
}

void set_call_ids(const CallIds& ids, json::Value& message) {
  json::Array* calls = calls_of(message);
  for (std::size_t i = 0; calls != nullptr && i < std::min(ids.size(), calls->size()); ++i) {
    if (ids[i] && (*calls)[i].is_object()) (*calls)[i].as_object().set("id", *ids[i]);
  }
}

void use_call_ids(const CallIds& ids, const Turn& turn, std::size_t reply, json::Array& messages) {
  const CallIds shown = ids_in(messages[reply]);
  const auto kept = json::parse(turn.message);
  const CallIds handed_out = kept.ok() ? ids_in(kept.value()) : CallIds();
  set_call_ids(ids, messages[reply]);
  for (std::size_t i = reply + 1; i < messages.size() && is_tool_result(messages[i]); ++i) {
    const std::optional<std::string> answered(messages[i].find_string("tool_call_id"));
    for (const CallIds* known : {&shown, &handed_out}) {
      const auto call = static_cast<std::size_t>(std::ranges::find(*known, answered) - known->begin());
      if (!answered || call >= std::min(known->size(), ids.size()) || !ids[call]) continue;
      messages[i].as_object().set("tool_call_id", *ids[call]);
      break;
    }
  }
}

}  // namespace rondo::spans
