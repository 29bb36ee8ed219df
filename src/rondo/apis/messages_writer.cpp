// Replies of the Messages API.
#include <algorithm>
#include <string>
#include <utility>

#include "apis/writer_parts.h"
#include "base/hex.h"
#include "json/append.h"
#include "json/parse.h"
#include "json/print.h"
#include "parse/partial_value.h"

namespace rondo::apis {
namespace {

// Clients parse a call's input while it arrives, and fail on text that is not JSON.  So only bytes that can still
// become an object are passed on.  If the input breaks off or goes wrong, clients see the members that were complete.
class InputGate {
 public:
  // The part of `text` that may be passed on.
  std::string pass(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size() && !is_shut_; ++i) {
      value_.feed(text.substr(i, 1));
      const bool is_other = value_.has_begun() && value_.is_valid() && !value_.value().is_object();
      is_shut_ = !value_.is_valid() || is_other;
      if (!is_shut_) put(text[i], out);
    }
    return out;
  }

  // The complete part of the input.
  [[nodiscard]] json::Value complete() const {
    if (!value_.value().is_object()) return json::Object();
    return value_.without_open_text();
  }

 private:
  // Models write line breaks into strings, where JSON has escapes for them.
  void put(char byte, std::string& out) {
    const auto code = static_cast<unsigned char>(byte);
    if (is_in_string_ && code < 0x20) {
      hex::append(out += "\\u", code, 4);
      return;
    }
    if (!is_escaped_ && byte == '"') is_in_string_ = !is_in_string_;
    is_escaped_ = is_in_string_ && !is_escaped_ && byte == '\\';
    out += byte;
  }

  parse::PartialValue value_;
  bool is_shut_ = false;
  bool is_in_string_ = false;
  bool is_escaped_ = false;
};

json::Object usage_of(const Usage& usage) {
  const std::int64_t cached = usage.cached.value_or(0);
  return json::Object{{"input_tokens", usage.prompt - cached},
                      {"cache_creation_input_tokens", 0},
                      {"cache_read_input_tokens", cached},
                      {"output_tokens", usage.completion},
                      {"output_tokens_details", json::Object{{"thinking_tokens", usage.reasoning}}}};
}

std::string_view stop_reason(const Choice& choice) {
  switch (choice.finish) {
    case Finish::kLength: return "max_tokens";
    case Finish::kStopText: return "stop_sequence";
    case Finish::kRefusal: return "refusal";
    case Finish::kStop:
    case Finish::kCancelled: break;
  }
  // A call that could not be read is not to be carried out.
  const auto is_whole_call = [](const Part& part) { return part.kind == PartKind::kCall && part.is_complete; };
  return std::ranges::any_of(choice.parts, is_whole_call) ? "tool_use" : "end_turn";
}

json::Value stop_sequence(const Choice& choice) {
  return choice.finish == Finish::kStopText ? json::Value(choice.stop_text) : json::Value();
}

enum class Shown : std::uint8_t { kNot, kSigned, kWhole };

// Hidden thinking has a block without text if the client wants its signature.
Shown shown(const GenerateRequest& request, PartKind kind) {
  if (kind != PartKind::kReasoning || request.reasoning.is_shown) return Shown::kWhole;
  return request.reasoning.is_signed ? Shown::kSigned : Shown::kNot;
}

json::Object block_of(const GenerateRequest& request, const Part& part, bool is_whole) {
  switch (part.kind) {
    case PartKind::kReasoning: {
      const bool has_text = is_whole && shown(request, part.kind) == Shown::kWhole;
      return {
          {"type", "thinking"}, {"thinking", has_text ? part.text : ""}, {"signature", is_whole ? part.secret : ""}};
    }
    case PartKind::kCall: {
      InputGate gate;
      if (is_whole) (void)gate.pass(part.text);
      return {{"type", "tool_use"},
              {"id", part.call_id},
              {"name", called_tool(request, part.name).name},
              {"input", gate.complete()}};
    }
    case PartKind::kContent:
    case PartKind::kRefusal: break;
  }
  return {{"type", "text"}, {"text", is_whole ? part.text : ""}};
}

json::Object message_of(const ReplyMeta& meta, json::Array content, json::Object usage) {
  return {{"id", meta.id},
          {"type", "message"},
          {"role", "assistant"},
          {"model", meta.model},
          {"content", std::move(content)},
          {"stop_reason", nullptr},
          {"stop_sequence", nullptr},
          {"stop_details", nullptr},
          {"usage", std::move(usage)}};
}

void set_diagnostics(const GenerateRequest& request, const json::Value& reason, json::Object& message) {
  if (request.previous_message_id) message.set("diagnostics", json::Object{{"cache_miss_reason", reason}});
}

class MessagesWriter : public TurnWriter {
 public:
  MessagesWriter(const GenerateRequest& request, ReplyMeta meta)
      : request_(request), meta_(std::move(meta)), collector_(request.choices) {}

  std::vector<StreamEvent> start() override {
    Usage usage;
    usage.prompt = meta_.prompt_tokens.value_or(0);
    json::Object message = message_of(meta_, {}, usage_of(usage));
    set_diagnostics(request_, meta_.diagnostics, message);
    return {event("message_start", {{"message", std::move(message)}}), event("ping", {})};
  }

  std::vector<StreamEvent> add(const TurnEvent& turn) override {
    using Kind = TurnEvent::Kind;
    collector_.add(turn);
    if (turn.kind == Kind::kTokens || turn.kind == Kind::kFinish || shown(request_, turn.of) == Shown::kNot) return {};
    const Part& part = collector_.part(turn);
    if (turn.kind == Kind::kBegin)
      return {event("content_block_start", {{"index", index_}, {"content_block", block_of(request_, part, false)}})};
    std::vector<StreamEvent> out;
    if (turn.kind == Kind::kDelta) return add_delta(turn);
    if (turn.of == PartKind::kReasoning) out.push_back(delta("signature_delta", "signature", part.secret));
    out.push_back(event("content_block_stop", {{"index", index_}}));
    ++index_;
    gate_.reset();
    return out;
  }

  std::vector<StreamEvent> finish(const TurnEnd& end) override {
    const Choice& choice = collector_.choices().front();
    json::Object last;
    if (end.rondo) last.set("rondo", *end.rondo);
    const json::Object delta{
        {"stop_reason", stop_reason(choice)}, {"stop_sequence", stop_sequence(choice)}, {"stop_details", nullptr}};
    return {event("message_delta", {{"delta", delta}, {"usage", usage_of(end.usage)}}), event("message_stop", last)};
  }

  std::vector<StreamEvent> fail(const Fault& fault) override { return {error_event(chat::Api::kMessages, fault)}; }

 private:
  static StreamEvent event(std::string_view type, const json::Object& members) {
    json::Object out{{"type", type}};
    for (const json::Member& member : members) out.set(member.key, member.value);
    return {std::string(type), json::to_compact(json::Value(std::move(out)))};
  }

  // Used for most tokens, so it builds no objects.
  [[nodiscard]] StreamEvent delta(std::string_view type, std::string_view key, std::string_view text) const {
    StreamEvent out{.name = "content_block_delta", .data = R"({"type":"content_block_delta","index":)"};
    out.data.append(std::to_string(index_)).append(R"(,"delta":{"type":")").append(type);
    out.data.append(R"(",")").append(key).append(R"(":)");
    json::append_compact(out.data, text);
    out.data += "}}";
    return out;
  }

  std::vector<StreamEvent> add_delta(const TurnEvent& turn) {
    if (turn.of == PartKind::kReasoning) {
      if (shown(request_, turn.of) == Shown::kSigned) return {};
      return {delta("thinking_delta", "thinking", turn.text)};
    }
    if (turn.of != PartKind::kCall) return {delta("text_delta", "text", turn.text)};
    if (!gate_) gate_ = std::make_unique<InputGate>();
    const std::string passed = gate_->pass(turn.text);
    if (passed.empty()) return {};
    return {delta("input_json_delta", "partial_json", passed)};
  }

  const GenerateRequest& request_;
  ReplyMeta meta_;
  TurnCollector collector_;
  std::int64_t index_ = 0;           // of the next block
  std::unique_ptr<InputGate> gate_;  // of the call being written
};

}  // namespace

std::unique_ptr<TurnWriter> make_messages_writer(const GenerateRequest& request, ReplyMeta meta) {
  return std::make_unique<MessagesWriter>(request, std::move(meta));
}

json::Value messages_body(const GenerateRequest& request, const ReplyMeta& meta, const Choice& choice,
                          const TurnEnd& end) {
  json::Array content;
  for (const Part& part : choice.parts) {
    if (shown(request, part.kind) != Shown::kNot) content.emplace_back(block_of(request, part, true));
  }
  json::Object out = message_of(meta, std::move(content), usage_of(end.usage));
  out.set("stop_reason", stop_reason(choice));
  out.set("stop_sequence", stop_sequence(choice));
  set_diagnostics(request, end.diagnostics, out);
  if (end.rondo) out.set("rondo", *end.rondo);
  return out;
}

}  // namespace rondo::apis
