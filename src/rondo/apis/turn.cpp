#include "apis/turn.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/utf8.h"
#include "parse/partial_value.h"

namespace rondo::apis {
namespace {

constexpr std::string_view kSpace = " \t\r\n";  // of JSON

}  // namespace

bool Choice::has_calls() const { return std::ranges::find(parts, PartKind::kCall, &Part::kind) != parts.end(); }

std::string Choice::joined(PartKind kind) const {
  std::string out;
  for (const Part& part : parts) {
    if (part.kind == kind) out += part.text;
  }
  return out;
}

void TurnCollector::add(const TurnEvent& event) {
  Choice& choice = choices_[event.choice];
  std::ranges::copy(event.tokens.ids, std::back_inserter(choice.tokens.ids));
  std::ranges::copy(event.tokens.logprobs, std::back_inserter(choice.tokens.logprobs));
  switch (event.kind) {
    case TurnEvent::Kind::kBegin:
      choice.parts.push_back({event.of, "", event.item_id, event.call_id, event.name, event.call, "", false, {}});
      break;
    case TurnEvent::Kind::kDelta: choice.parts[event.part].text += event.text; break;
    case TurnEvent::Kind::kEnd:
      choice.parts[event.part].secret = event.secret;
      choice.parts[event.part].is_complete = event.is_complete;
      break;
    case TurnEvent::Kind::kTokens: break;
    case TurnEvent::Kind::kFinish:
      choice.finish = event.finish;
      choice.stop_text = event.stop_text;
      choice.stop_id = event.stop_id;
      break;
  }
  if (event.part < choice.parts.size() && event.of == PartKind::kContent)
    std::ranges::copy(event.tokens.logprobs, std::back_inserter(choice.parts[event.part].logprobs));
}

std::vector<TurnEvent> TurnBuilder::feed(std::span<const parse::Event> events, Tokens tokens) {
  for (const parse::Event& event : events) take(event);
  if (!tokens.logprobs.empty()) {
    const auto is_content = [](const TurnEvent& event) {
      return event.kind == TurnEvent::Kind::kDelta && event.of == PartKind::kContent;
    };
    const auto last = std::find_if(out_.rbegin(), out_.rend(), is_content);
    TurnEvent& content = last != out_.rend() ? *last : emit(TurnEvent::Kind::kTokens);
    content.tokens.logprobs = std::move(tokens.logprobs);
  }
  if (!tokens.ids.empty()) {
    if (out_.empty()) emit(TurnEvent::Kind::kTokens);
    // Of the events of one token, the last one describes it best: a marker ends the part before it.
    out_.back().tokens.ids = std::move(tokens.ids);
  }
  return std::exchange(out_, {});
}

std::vector<TurnEvent> TurnBuilder::finish(Finish finish, std::string stop_text, std::optional<std::int32_t> stop_id) {
  const bool is_cut = finish == Finish::kLength || finish == Finish::kCancelled;
  if (parts_ == 0 && empty_ == Empty::kMessage) begin(PartKind::kContent);
  if (call_ && call_->state == ObjectCall::State::kHeld) begin_call(call_->name, call_->id);
  call_.reset();
  if (open_) end(*open_ != PartKind::kCall && !is_cut);
  TurnEvent& event = emit(TurnEvent::Kind::kFinish);
  event.finish = finish;
  event.stop_text = std::move(stop_text);
  event.stop_id = stop_id;
  return std::exchange(out_, {});
}

void TurnBuilder::take(const parse::Event& event) {
  switch (event.kind) {
    case parse::EventKind::kContent: return go_on(PartKind::kContent, event.text);
    case parse::EventKind::kReasoning: return go_on(PartKind::kReasoning, event.text);
    case parse::EventKind::kArguments: return arguments(event.text);
    case parse::EventKind::kCallStart:
      if (most_calls_ == Calls::kOne && calls_ > 0) {
        call_ = {.state = ObjectCall::State::kText, .name = event.text, .id = event.id, .arguments = {}};
        return go_on(PartKind::kContent, event.text + "(");
      }
      if (inputs_ == Inputs::kAny) return begin_call(event.text, event.id);
      if (open_) end(true);
      call_ = {.name = event.text, .id = event.id, .arguments = {}};
      return;
    case parse::EventKind::kCallEnd: return end_call();
    case parse::EventKind::kMarker:
    case parse::EventKind::kCallId: return;
  }
}

void TurnBuilder::begin_call(const std::string& name, const std::optional<std::string>& id) {
  begin(PartKind::kCall);
  TurnEvent& call = out_.back();
  call.name = name;
  call.call_id = naming_.call_id(choice_, call.call, id);
}

void TurnBuilder::arguments(const std::string& text) {
  if (!call_) return delta(text);
  call_->arguments += text;
  if (call_->state == ObjectCall::State::kCall) return delta(text);
  if (call_->state == ObjectCall::State::kText) return go_on(PartKind::kContent, text);
  settle();
}

// Decides what the held call becomes, once its arguments tell.
void TurnBuilder::settle() {
  const std::string& text = call_->arguments;
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string::npos) return;
  const std::size_t second = text.find_first_not_of(kSpace, first + 1);
  if (text[first] == '{' && second == std::string::npos) return;
  const bool is_object = text[first] == '{' && (text[second] == '"' || text[second] == '}');
  call_->state = is_object ? ObjectCall::State::kCall : ObjectCall::State::kText;
  if (!is_object) return go_on(PartKind::kContent, call_->name + "(" + text);
  begin_call(call_->name, call_->id);
  delta(text);
}

void TurnBuilder::end_call() {
  const std::optional<ObjectCall> call = std::exchange(call_, std::nullopt);
  if (call && call->state == ObjectCall::State::kText) return go_on(PartKind::kContent, ")");
  const bool is_empty = !call || call->arguments.find_first_not_of(kSpace) == std::string::npos;
  parse::PartialValue read;  // as Messages show it
  read.feed(is_empty ? "{}" : std::string_view(call->arguments));
  const bool is_object = read.is_valid() && read.is_complete() && read.value().is_object();
  if (call && call->state == ObjectCall::State::kHeld && is_object) begin_call(call->name, call->id);
  if (open_ == PartKind::kCall) {
    // A call without arguments gets an empty object.
    if (!has_text_) delta("{}");
    end(is_object);
  }
  if (!is_object) go_on(PartKind::kContent, call->name + "(" + call->arguments + ")");
}

void TurnBuilder::go_on(PartKind kind, const std::string& text) {
  if (open_ != kind) begin(kind);
  delta(text);
}

void TurnBuilder::begin(PartKind kind) {
  if (open_) end(true);
  open_ = kind;
  has_text_ = false;
  if (kind == PartKind::kCall) ++calls_;
  ++parts_;
  emit(TurnEvent::Kind::kBegin).item_id = naming_.item_id(kind, choice_, parts_ - 1);
}

void TurnBuilder::end(bool is_complete) {
  if (!held_.empty()) emit(TurnEvent::Kind::kDelta).text = std::exchange(held_, {});
  TurnEvent& event = emit(TurnEvent::Kind::kEnd);
  event.is_complete = is_complete;
  if (event.of == PartKind::kReasoning) event.secret = naming_.secret(choice_, event.part);
  open_.reset();
}

void TurnBuilder::delta(std::string text) {
  text.insert(0, held_);
  const std::size_t whole = utf8::complete_prefix(text);
  held_ = text.substr(whole);
  text.resize(whole);
  has_text_ = true;
  if (!text.empty()) emit(TurnEvent::Kind::kDelta).text = std::move(text);
}

TurnEvent& TurnBuilder::emit(TurnEvent::Kind kind) {
  TurnEvent& event = out_.emplace_back();
  event.kind = kind;
  event.choice = choice_;
  event.part = parts_ == 0 ? 0 : parts_ - 1;
  event.of = open_.value_or(PartKind::kContent);
  event.call = calls_ == 0 ? 0 : calls_ - 1;
  return event;
}

}  // namespace rondo::apis
