#include "spans/loss.h"

#include <algorithm>
#include <optional>
#include <string>

#include "json/parse.h"
#include "replay/message_marks.h"
#include "replay/request_changes.h"

namespace rondo::spans {
namespace {

std::string place_of(std::size_t message) { return "messages[" + std::to_string(message) + "]"; }

// One request, with the parts that are compared.
struct Side {
  json::Array messages;
  std::vector<replay::MessageMark> marks;
  std::optional<json::Value> tools;
  std::vector<std::uint64_t> tool_hashes;
  json::Object kwargs;

  void finish() {
    marks = replay::marks_of(messages);
    if (!tools || !tools->is_array()) return;
    for (const json::Value& tool : tools->as_array()) tool_hashes.push_back(replay::hash_value(tool));
  }
  [[nodiscard]] replay::RequestView view() const { return {messages, marks, &tools, tool_hashes, &kwargs}; }
};

Side side_of(const Turn& turn) {
  Side out;
  for (const std::string& text : turn.messages)
    out.messages.push_back(json::parse(text).ok() ? json::parse(text).value() : json::Value(json::Object()));
  const auto context = json::parse(turn.context);
  const json::Value* tools = context.ok() ? context.value().find("tools") : nullptr;
  if (tools != nullptr) out.tools = *tools;
  out.finish();
  return out;
}

// Changes that lose nothing.
bool is_harmless(replay::ChangeKind kind) {
  using replay::ChangeKind;
  return kind == ChangeKind::kReasoningLeftOut || kind == ChangeKind::kArgumentsRespelled ||
         kind == ChangeKind::kCallIdsChanged || kind == ChangeKind::kContentRespelled ||
         kind == ChangeKind::kVariablesChanged;
}

}  // namespace

Loss loss_between(const Turn& turn, const chat::Conversation& conversation, const json::Array& messages,
                  std::size_t message, std::size_t lost_tokens) {
  const Side before = side_of(turn);
  Side after;
  after.messages.assign(messages.begin(),
                        messages.begin() + static_cast<std::ptrdiff_t>(std::min(message, messages.size())));
  after.tools = conversation.tools;
  after.finish();
  const replay::Comparison compared = replay::compare_requests(before.view(), 0, after.view());
  const auto found =
      std::ranges::find_if(compared.changes, [](const replay::Change& change) { return !is_harmless(change.kind); });
  Loss out;
  out.lost_tokens = lost_tokens;
  if (found != compared.changes.end()) {
    out.name = replay::to_string(found->kind);
    out.path = found->path;
    out.sentence = found->sentence;
    return out;
  }
  out.name = replay::to_string(replay::ChangeKind::kMessageEdited);
  out.path = place_of(message);
  out.sentence = "the reply is not what the model was heard to say";
  return out;
}

Loss loss_of_unknown(std::size_t message) {
  return {"eviction", place_of(message), "the turn that this reply names is not stored, or not any more", 0, 0};
}

}  // namespace rondo::spans
