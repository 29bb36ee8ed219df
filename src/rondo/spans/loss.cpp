#include "spans/loss.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "base/shared_text.h"
#include "chat/results.h"
#include "json/parse.h"
#include "replay/message_marks.h"
#include "replay/prompt_maker.h"
#include "replay/request_changes.h"
#include "spans/visible.h"

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
  for (const SharedText& text : turn.messages) {
    auto message = json::parse(text);
    out.messages.push_back(message.ok() ? std::move(message).value() : json::Value(json::Object()));
  }
  const auto context = json::parse(turn.context);
  const json::Value* tools = context.ok() ? context.value().find("tools") : nullptr;
  if (tools != nullptr) out.tools = *tools;
  out.finish();
  return out;
}

// The texts of a reply, apart from what does not matter (docs/spans.md).
std::string content_form(const json::Value& reply) {
  const json::Value* content = reply.find("content");
  return visible_form({json::Object{{"role", "assistant"}, {"content", content == nullptr ? json::Value() : *content}}},
                      0);
}

std::string arguments_of(const json::Value& reply, std::size_t call) {
  const json::Value& made = reply.find("tool_calls")->as_array()[call];
  const json::Value* function = made.find("function");
  return arguments_form((function == nullptr ? made : *function).find("arguments"));
}

// Finds the field in which a shown reply differs from what was said.  `out.path` is that of the reply.
void find_edit(const json::Value& said, const json::Value& shown, Loss& out) {
  const auto tell = [&out](const std::string& field, const std::string& sentence) {
    out.path += field;
    out.sentence = sentence;
  };
  if (content_form(said) != content_form(shown)) {
    out.byte = replay::common_prefix(chat::content_text(said), chat::content_text(shown));
    return tell(".content", "the text is not what the model wrote");
  }
  const auto old_calls = chat::open_calls(said);
  const auto new_calls = chat::open_calls(shown);
  if (old_calls.size() != new_calls.size()) {
    return tell(".tool_calls", "the model made " + std::to_string(old_calls.size()) + " calls, and the reply shows " +
                                   std::to_string(new_calls.size()));
  }
  for (std::size_t i = 0; i < old_calls.size(); ++i) {
    const std::string function = ".tool_calls[" + std::to_string(i) + "].function";
    if (old_calls[i].name != new_calls[i].name)
      return tell(function + ".name", "the model called `" + std::string(old_calls[i].name) + "`");
    if (arguments_of(said, i) != arguments_of(shown, i))
      return tell(function + ".arguments", "the arguments are not those that the model wrote");
  }
  if (has_other_reasoning(said, shown, false)) tell(".reasoning_content", "the reasoning is not what the model wrote");
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
                  std::size_t message, const json::Value* shown, std::size_t lost_tokens) {
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
    out.byte = found->byte;
    return out;
  }
  out.name = replay::to_string(replay::ChangeKind::kMessageEdited);
  out.path = place_of(message);
  out.sentence = "the reply is not what the model was heard to say";
  const auto said = json::parse(turn.message);
  if (shown != nullptr && said.ok()) find_edit(said.value(), *shown, out);
  return out;
}

Loss loss_of_unknown(std::size_t message) {
  return {"eviction", place_of(message), "the turn that this reply names is not stored, or not any more", 0, 0};
}

}  // namespace rondo::spans
