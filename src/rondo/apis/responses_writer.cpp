// Streams of the Responses API.
#include <string>
#include <utility>

#include "apis/custom_input.h"
#include "apis/responses_body.h"
#include "apis/writer_parts.h"
#include "json/append.h"
#include "json/print.h"

namespace rondo::apis {
namespace {

class ResponsesWriter : public TurnWriter {
 public:
  ResponsesWriter(const GenerateRequest& request, ReplyMeta meta)
      : request_(request), meta_(std::move(meta)), collector_(request.choices), shape_(shape_of(request, meta_)) {}

  std::vector<StreamEvent> start() override {
    const json::Object body = response_object(request_, meta_, "in_progress", {});
    if (request_.responses.background) {
      json::Object queued = body;
      queued.set("status", "queued");
      push("response.created", {{"response", queued}});
      push("response.queued", {{"response", std::move(queued)}});
    } else {
      push("response.created", {{"response", body}});
    }
    push("response.in_progress", {{"response", body}});
    return take();
  }

  std::vector<StreamEvent> add(const TurnEvent& turn) override {
    collector_.add(turn);
    if (turn.kind == TurnEvent::Kind::kTokens || turn.kind == TurnEvent::Kind::kFinish) return {};
    const Part& part = collector_.part(turn);
    switch (turn.kind) {
      case TurnEvent::Kind::kBegin: begin(part); break;
      case TurnEvent::Kind::kDelta: delta(part, turn.text); break;
      case TurnEvent::Kind::kEnd: end(part); break;
      case TurnEvent::Kind::kTokens:
      case TurnEvent::Kind::kFinish: break;
    }
    return take();
  }

  std::vector<StreamEvent> finish(const TurnEnd& end) override {
    const Choice& choice = collector_.choices().front();
    json::Value body = responses_body(request_, meta_, choice, end);
    // The API has no event for a cancelled response.
    const std::string status = response_status(choice.finish);
    push("response." + (status == "cancelled" ? std::string("incomplete") : status), {{"response", std::move(body)}});
    out_.push_back({"", "[DONE]"});
    return take();
  }

  std::vector<StreamEvent> fail(const Fault& fault) override {
    out_.push_back(error_event(chat::Api::kResponses, fault, sequence_++));
    json::Object body =
        response_object(request_, meta_, "failed", output_of(request_, shape_, collector_.choices().front()));
    body.set("error",
             json::Object{{"code", fault.code.empty() ? "server_error" : fault.code}, {"message", fault.message}});
    push("response.failed", {{"response", std::move(body)}});
    out_.push_back({"", "[DONE]"});
    return take();
  }

 private:
  std::vector<StreamEvent> take() { return std::exchange(out_, {}); }

  void push(std::string type, const json::Object& members) {
    json::Object event{{"type", type}, {"sequence_number", sequence_++}};
    for (const json::Member& member : members) event.set(member.key, member.value);
    out_.push_back({std::move(type), json::to_compact(json::Value(std::move(event)))});
  }

  // An event about the current item.
  void push_of(const Part& part, std::string type, const json::Object& members) {
    json::Object all{{"item_id", part.item_id}, {"output_index", index_}};
    for (const json::Member& member : members) all.set(member.key, member.value);
    push(std::move(type), all);
  }

  // An event about the item's only content part.
  void push_in(const Part& part, std::string type, const json::Object& members) {
    json::Object all{
        {shape_ == ReasoningEvents::kSummary && part.kind == PartKind::kReasoning ? "summary_index" : "content_index",
         0}};
    for (const json::Member& member : members) all.set(member.key, member.value);
    push_of(part, std::move(type), all);
  }

  [[nodiscard]] std::string part_event(const Part& part, std::string_view what) const {
    const bool is_summary = part.kind == PartKind::kReasoning && shape_ == ReasoningEvents::kSummary;
    return std::string(is_summary ? "response.reasoning_summary_part." : "response.content_part.") + std::string(what);
  }

  [[nodiscard]] std::string text_event(const Part& part, std::string_view what) const {
    std::string name = "response.output_text.";
    if (part.kind == PartKind::kRefusal) name = "response.refusal.";
    if (part.kind == PartKind::kReasoning) {
      name = shape_ == ReasoningEvents::kSummary         ? "response.reasoning_summary_text."
             : shape_ == ReasoningEvents::kOpenResponses ? "response.reasoning."
                                                         : "response.reasoning_text.";
    }
    return name.append(what);
  }

  [[nodiscard]] std::string call_event(std::string_view what) const {
    return (tool_.is_custom ? "response.custom_tool_call_input." : "response.function_call_arguments.") +
           std::string(what);
  }

  void begin(const Part& part) {
    push("response.output_item.added",
         {{"output_index", index_}, {"item", item_of(request_, shape_, part, ItemState::kBegun)}});
    shown_logprobs_ = 0;
    if (part.kind == PartKind::kCall) {
      tool_ = called_tool(request_, part.name);
      input_ = CustomInput();
    } else {
      push_in(part, part_event(part, "added"), {{"part", part_of(request_, shape_, part, ItemState::kBegun)}});
    }
  }

  void delta(const Part& part, const std::string& text) {
    if (part.kind == PartKind::kCall) {
      std::string shown = tool_.is_custom ? input_.feed(text) : text;
      if (!shown.empty()) push_of(part, call_event("delta"), {{"delta", std::move(shown)}});
      return;
    }
    if (part.kind == PartKind::kContent && !request_.logprobs) return push_content(part, text);
    json::Object members{{"delta", text}};
    if (part.kind == PartKind::kContent) {
      std::vector<Logprob> fresh(part.logprobs.begin() + static_cast<std::ptrdiff_t>(shown_logprobs_),
                                 part.logprobs.end());
      shown_logprobs_ = part.logprobs.size();
      members.set("logprobs", logprobs_of(request_, fresh));
    }
    push_in(part, text_event(part, "delta"), members);
  }

  // Used for most tokens, so it builds no objects.
  void push_content(const Part& part, const std::string& text) {
    StreamEvent& event = out_.emplace_back();
    event.name = text_event(part, "delta");
    event.data.append(R"({"type":")").append(event.name).append(R"(","sequence_number":)");
    event.data.append(std::to_string(sequence_++)).append(R"(,"item_id":)");
    json::append_compact(event.data, part.item_id);
    event.data.append(R"(,"output_index":)").append(std::to_string(index_)).append(R"(,"content_index":0,"delta":)");
    json::append_compact(event.data, text);
    event.data.append(R"(,"logprobs":[]})");
  }

  void end(const Part& part) {
    if (part.kind == PartKind::kCall) {
      if (std::string rest = tool_.is_custom ? input_.close() : ""; !rest.empty())
        push_of(part, call_event("delta"), {{"delta", std::move(rest)}});
      push_of(part, call_event("done"),
              {{tool_.is_custom ? "input" : "arguments", tool_.is_custom ? custom_input(part.text) : part.text}});
    } else {
      json::Object members{{part.kind == PartKind::kRefusal ? "refusal" : "text", part.text}};
      if (part.kind == PartKind::kContent)
        members.set("logprobs", request_.logprobs ? logprobs_of(request_, part.logprobs) : json::Array());
      push_in(part, text_event(part, "done"), members);
      push_in(part, part_event(part, "done"), {{"part", part_of(request_, shape_, part, ItemState::kEnded)}});
    }
    push("response.output_item.done",
         {{"output_index", index_}, {"item", item_of(request_, shape_, part, ItemState::kEnded)}});
    ++index_;
  }

  const GenerateRequest& request_;
  ReplyMeta meta_;
  TurnCollector collector_;
  ReasoningEvents shape_;
  std::vector<StreamEvent> out_;
  std::int64_t sequence_ = 0;
  std::int64_t index_ = 0;  // of the current item
  CalledTool tool_;         // of the current call
  CustomInput input_;
  std::size_t shown_logprobs_ = 0;
};

}  // namespace

std::unique_ptr<TurnWriter> make_responses_writer(const GenerateRequest& request, ReplyMeta meta) {
  return std::make_unique<ResponsesWriter>(request, std::move(meta));
}

}  // namespace rondo::apis
