// Replies of the Chat Completions API.
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "apis/custom_input.h"
#include "apis/writer_parts.h"
#include "chat/conversation.h"
#include "json/append.h"
#include "json/print.h"

namespace rondo::apis {
namespace {

// Clients read reasoning under two names.
void set_reasoning(json::Object& out, const std::string& text) {
  out.set("reasoning_content", text);
  out.set("reasoning", text);
}

std::string_view finish_reason(const GenerateRequest& request, Finish finish, bool has_calls) {
  switch (finish) {
    case Finish::kLength: return "length";
    case Finish::kRefusal: return "content_filter";
    case Finish::kStopText: return "stop";
    case Finish::kStop:
    case Finish::kCancelled: break;
  }
  if (!has_calls) return "stop";
  return request.older_calls ? "function_call" : "tool_calls";
}

void set_prompt(const GenerateRequest& request, const ReplyMeta& meta, json::Object& out) {
  if (request.return_token_ids) out.set("prompt_token_ids", ids_of(meta.prompt_ids));
  if (request.return_prompt_text) out.set("prompt_text", meta.prompt_text);
}

void set_stop_reason(json::Object& out, const std::string& stop_text, std::optional<std::int32_t> stop_id) {
  if (json::Value reason = stop_reason(stop_text, stop_id); !reason.is_null())
    out.set("stop_reason", std::move(reason));
}

json::Value logprobs_object(const GenerateRequest& request, const std::vector<Logprob>& logprobs) {
  if (!request.logprobs) return nullptr;
  return json::Object{{"content", logprobs_of(request, logprobs)}, {"refusal", nullptr}};
}

// `key` is "function" or "custom"; the text is under "arguments" or "input".
json::Object call_object(const CalledTool& tool, std::string text) {
  if (tool.is_custom)
    return {{"type", "custom"}, {"custom", json::Object{{"name", tool.name}, {"input", std::move(text)}}}};
  return {{"type", "function"}, {"function", json::Object{{"name", tool.name}, {"arguments", std::move(text)}}}};
}

json::Object whole_call(const GenerateRequest& request, const Part& part) {
  const CalledTool tool = called_tool(request, part.name);
  json::Object out{{"id", part.call_id}};
  for (const json::Member& member : call_object(tool, tool.is_custom ? custom_input(part.text) : part.text))
    out.set(member.key, member.value);
  return out;
}

// The beginning of a continued message, which the client wants to see again.
std::string echoed_content(const GenerateRequest& request) {
  if (!request.echo || !request.continue_final || request.messages.empty()) return "";
  return chat::content_text(request.messages.back());
}

json::Object message_of(const GenerateRequest& request, const Choice& choice) {
  json::Object message{{"role", "assistant"}};
  std::string content = echoed_content(request) + choice.joined(PartKind::kContent);
  message.set("content", content.empty() && choice.has_calls() ? json::Value() : json::Value(std::move(content)));
  std::string refusal = choice.joined(PartKind::kRefusal);
  message.set("refusal", refusal.empty() ? json::Value() : json::Value(std::move(refusal)));
  if (std::string reasoning = choice.joined(PartKind::kReasoning); request.reasoning.is_shown && !reasoning.empty())
    set_reasoning(message, reasoning);
  json::Array calls;
  for (const Part& part : choice.parts) {
    if (part.kind != PartKind::kCall) continue;
    if (request.older_calls) {  // there is one
      message.set("function_call", json::Object{{"name", part.name}, {"arguments", part.text}});
    } else {
      calls.emplace_back(whole_call(request, part));
    }
  }
  if (!calls.empty()) message.set("tool_calls", std::move(calls));
  return message;
}

class ChatWriter : public TurnWriter {
 public:
  ChatWriter(const GenerateRequest& request, ReplyMeta meta)
      : request_(request), meta_(std::move(meta)), collector_(request.choices) {}

  std::vector<StreamEvent> start() override {
    std::vector<StreamEvent> out;
    for (std::size_t i = 0; i < request_.choices; ++i) {
      json::Object object =
          chunk(json::Array{choice(i, {{"role", "assistant"}, {"content", echoed_content(request_)}}, {}, nullptr)});
      if (i == 0) set_prompt(request_, meta_, object);
      out.push_back(event(std::move(object)));
    }
    return out;
  }

  std::vector<StreamEvent> add(const TurnEvent& turn) override {
    collector_.add(turn);
    const bool has_tokens = !turn.tokens.logprobs.empty() || (!turn.tokens.ids.empty() && request_.return_token_ids);
    if (!has_tokens && !request_.continuous_usage && turn.kind == TurnEvent::Kind::kDelta &&
        turn.of == PartKind::kContent)
      return {content_event(turn)};
    json::Object delta = delta_of(turn);
    const bool is_end = turn.kind == TurnEvent::Kind::kFinish;
    if (delta.empty() && !has_tokens && !is_end) return {};
    const Choice& whole = collector_.choices()[turn.choice];
    json::Value reason;
    if (is_end) reason = finish_reason(request_, turn.finish, whole.has_calls());
    json::Object object = choice(turn.choice, std::move(delta), turn.tokens, std::move(reason));
    if (is_end) set_stop_reason(object, turn.stop_text, turn.stop_id);
    return {event(chunk(json::Array{std::move(object)}))};
  }

  std::vector<StreamEvent> finish(const TurnEnd& end) override {
    std::vector<StreamEvent> out;
    if (request_.include_usage || end.rondo) {
      json::Object last = chunk({});
      if (request_.include_usage) last.set("usage", chat_usage(end.usage));
      if (end.rondo) last.set("rondo", *end.rondo);
      out.push_back(event(std::move(last)));
    }
    out.push_back({"", "[DONE]"});
    return out;
  }

  std::vector<StreamEvent> fail(const Fault& fault) override {
    return {error_event(chat::Api::kChat, fault), {"", "[DONE]"}};
  }

 private:
  static StreamEvent event(json::Object object) { return {"", json::to_compact(json::Value(std::move(object)))}; }

  // Used for most tokens: writes only the text, between parts that are the same for all of them.
  StreamEvent content_event(const TurnEvent& turn) {
    if (frames_.size() <= turn.choice) frames_.resize(turn.choice + 1);
    Frame& frame = frames_[turn.choice];
    if (frame.before.empty()) {
      const std::string whole = event(chunk(json::Array{choice(turn.choice, {}, {}, nullptr)})).data;
      constexpr std::string_view kDelta = R"("delta":{)";  // no string of JSON has such quotes
      const std::size_t at = whole.find(kDelta) + kDelta.size();
      frame = {.before = whole.substr(0, at) + R"("content":)", .behind = whole.substr(at)};
    }
    StreamEvent out;
    out.data.reserve(frame.before.size() + turn.text.size() + frame.behind.size() + 2);
    out.data = frame.before;
    json::append_compact(out.data, turn.text);
    out.data += frame.behind;
    return out;
  }

  json::Object chunk(json::Array choices) const {
    json::Object out{{"id", meta_.id},
                     {"object", "chat.completion.chunk"},
                     {"created", meta_.created_s},
                     {"model", meta_.model},
                     {"choices", std::move(choices)}};
    if (request_.include_usage) out.set("usage", request_.continuous_usage ? usage_so_far() : json::Value());
    return out;
  }

  [[nodiscard]] json::Value usage_so_far() const {
    Usage usage{.prompt = meta_.prompt_tokens.value_or(0)};
    for (const Choice& choice : collector_.choices())
      usage.completion += static_cast<std::int64_t>(choice.tokens.ids.size());
    return chat_usage(usage);
  }

  json::Object choice(std::size_t index, json::Object delta, const Tokens& tokens, json::Value reason) const {
    json::Object out{{"index", index}, {"delta", std::move(delta)}, {"logprobs", nullptr}};
    if (!tokens.logprobs.empty()) out.set("logprobs", logprobs_object(request_, tokens.logprobs));
    out.set("finish_reason", std::move(reason));
    if (request_.return_token_ids) out.set("token_ids", ids_of(tokens.ids));
    return out;
  }

  json::Object delta_of(const TurnEvent& turn) {
    if (turn.of == PartKind::kCall) return call_delta(turn);
    if (turn.kind != TurnEvent::Kind::kDelta) return {};
    json::Object out;
    switch (turn.of) {
      case PartKind::kContent: out.set("content", turn.text); break;
      case PartKind::kRefusal: out.set("refusal", turn.text); break;
      case PartKind::kReasoning:
        if (request_.reasoning.is_shown) set_reasoning(out, turn.text);
        break;
      case PartKind::kCall: break;
    }
    return out;
  }

  json::Object call_delta(const TurnEvent& turn) {
    using Kind = TurnEvent::Kind;
    if (turn.kind == Kind::kTokens || turn.kind == Kind::kFinish) return {};
    if (request_.older_calls) return older_delta(turn);
    const CalledTool tool = called_tool(request_, collector_.part(turn).name);
    json::Object call{{"index", turn.call}};
    if (turn.kind == Kind::kBegin) {
      call.set("id", turn.call_id);
      for (const json::Member& member : call_object(tool, "")) call.set(member.key, member.value);
    } else {
      std::string text = turn.text;
      if (tool.is_custom) {
        CustomInput& input = inputs_[{turn.choice, turn.part}];
        text = turn.kind == Kind::kEnd ? input.close() : input.feed(turn.text);
      }
      if (text.empty()) return {};
      call.set(tool.is_custom ? "custom" : "function",
               json::Object{{tool.is_custom ? "input" : "arguments", std::move(text)}});
    }
    return {{"tool_calls", json::Array{std::move(call)}}};
  }

  json::Object older_delta(const TurnEvent& turn) {
    json::Object call;
    if (turn.kind == TurnEvent::Kind::kBegin) call.set("name", collector_.part(turn).name);
    if (turn.kind == TurnEvent::Kind::kEnd) return {};
    call.set("arguments", turn.text);
    return {{"function_call", std::move(call)}};
  }

  const GenerateRequest& request_;
  ReplyMeta meta_;
  TurnCollector collector_;
  std::map<std::pair<std::size_t, std::size_t>, CustomInput> inputs_;  // of custom calls, by choice and part
  struct Frame {
    std::string before;
    std::string behind;
  };
  std::vector<Frame> frames_;  // of content events, by choice
};

}  // namespace

std::unique_ptr<TurnWriter> make_chat_writer(const GenerateRequest& request, ReplyMeta meta) {
  return std::make_unique<ChatWriter>(request, std::move(meta));
}

json::Value chat_body(const GenerateRequest& request, const ReplyMeta& meta, const std::vector<Choice>& choices,
                      const TurnEnd& end) {
  json::Array list;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    const Choice& choice = choices[i];
    json::Object object{{"index", i},
                        {"message", message_of(request, choice)},
                        {"logprobs", logprobs_object(request, choice.tokens.logprobs)},
                        {"finish_reason", finish_reason(request, choice.finish, choice.has_calls())}};
    set_stop_reason(object, choice.stop_text, choice.stop_id);
    if (request.return_token_ids) object.set("token_ids", ids_of(choice.tokens.ids));
    list.emplace_back(std::move(object));
  }
  json::Object out{{"id", meta.id},       {"object", "chat.completion"}, {"created", meta.created_s},
                   {"model", meta.model}, {"choices", std::move(list)},  {"usage", chat_usage(end.usage)}};
  set_prompt(request, meta, out);
  if (request.prompt_logprobs) out.set("prompt_logprobs", scores_of(end.prompt, *request.prompt_logprobs));
  if (end.rondo) out.set("rondo", *end.rondo);
  return out;
}

}  // namespace rondo::apis
