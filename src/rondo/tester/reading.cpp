#include "tester/reading.h"

#include <algorithm>
#include <random>
#include <utility>

#include "audit/messages.h"
#include "chat/reasoning_fields.h"
#include "format/units.h"
#include "json/parse.h"

namespace rondo::tester {
namespace {

// The parts of a message that may only grow.
struct Grown {
  std::string content;
  std::string reasoning;
  std::vector<chat::ToolCall> calls;
};

std::string shortened(const Grown& before, const chat::AssistantMessage& now) {
  if (!now.content.starts_with(before.content)) return "content that was told is not there any more";
  if (!now.reasoning.value_or("").starts_with(before.reasoning)) return "reasoning that was told is not there any more";
  if (now.tool_calls.size() < before.calls.size()) return "a call that was told is not there any more";
  for (std::size_t i = 0; i < before.calls.size(); ++i) {
    if (!now.tool_calls[i].arguments.starts_with(before.calls[i].arguments) ||
        now.tool_calls[i].name != before.calls[i].name)
      return "call " + std::to_string(i + 1) + " is another one than was told";
  }
  return "";
}

// Builds the message that the events describe.
class EventsReader {
 public:
  void add(std::span<const parse::Event> events) {
    for (const parse::Event& event : events) add(event);
  }
  [[nodiscard]] const Grown& told() const { return told_; }
  // Adds what only the whole message has.
  [[nodiscard]] chat::AssistantMessage message(const chat::AssistantMessage& whole) const {
    chat::AssistantMessage out = whole;
    out.content = told_.content;
    if (out.reasoning || !told_.reasoning.empty()) out.reasoning = told_.reasoning;
    out.tool_calls.resize(told_.calls.size());
    for (std::size_t i = 0; i < told_.calls.size(); ++i) {
      out.tool_calls[i].id = told_.calls[i].id;
      out.tool_calls[i].name = told_.calls[i].name;
      out.tool_calls[i].arguments = told_.calls[i].arguments;
    }
    return out;
  }

 private:
  void add(const parse::Event& event) {
    using parse::EventKind;
    switch (event.kind) {
      case EventKind::kContent: told_.content += event.text; break;
      case EventKind::kReasoning: told_.reasoning += event.text; break;
      case EventKind::kCallStart:
        call(event.call).name = event.text;
        call(event.call).id = event.id;
        break;
      case EventKind::kCallId: call(event.call).id = event.text; break;
      case EventKind::kArguments: call(event.call).arguments += event.text; break;
      case EventKind::kMarker:
      case EventKind::kCallEnd: break;
    }
  }
  chat::ToolCall& call(std::size_t index) {
    if (told_.calls.size() <= index) told_.calls.resize(index + 1);
    return told_.calls[index];
  }

  Grown told_;
};

}  // namespace

// The message is read after each piece, except for long texts in many pieces, which would take quadratic time.
Reading read_in_pieces(parse::Parser parser, const std::vector<std::string_view>& pieces) {
  constexpr std::size_t kMostLooks = 1000;
  const std::size_t step = pieces.size() / kMostLooks + 1;
  Reading out;
  EventsReader events;
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    events.add(parser.feed(pieces[i]));
    if (i % step == 0 && out.taken_back.empty()) out.taken_back = shortened(events.told(), parser.message());
  }
  out.place = parser.place();
  events.add(parser.close());
  out.message = parser.message();
  out.events = to_text(events.message(out.message));
  return out;
}

std::vector<Cut> cuts_of(std::string_view text) {
  constexpr int kRandomCuts = 8;
  std::vector<Cut> out;
  const auto of_size = [&](std::string name, std::size_t size) {
    Cut& cut = out.emplace_back(Cut{std::move(name), {}});
    for (std::size_t at = 0; at < text.size(); at += size) cut.pieces.push_back(text.substr(at, size));
  };
  of_size("bytes", 1);
  of_size("pairs of bytes", 2);
  std::mt19937 random(static_cast<std::uint32_t>(text.size()));
  for (int i = 1; i <= kRandomCuts; ++i) {
    Cut& cut = out.emplace_back(Cut{"random pieces", {}});
    for (std::size_t at = 0; at < text.size(); at += cut.pieces.back().size())
      cut.pieces.push_back(text.substr(at, 1 + random() % (std::size_t{2} * static_cast<std::size_t>(i * i))));
  }
  return out;
}

std::string_view to_string(parse::Place place) {
  switch (place) {
    case parse::Place::kReasoning: return "reasoning";
    case parse::Place::kContent: return "content";
    case parse::Place::kCall: return "call";
    case parse::Place::kEnded: return "ended";
  }
  return "";
}

std::string to_text(const chat::AssistantMessage& message) {
  std::string out;
  if (message.reasoning) out += "reasoning: " + *message.reasoning + "\n";
  if (!message.content.empty()) out += "content: " + message.content + "\n";
  for (std::size_t i = 0; i < message.tool_calls.size(); ++i) {
    const chat::ToolCall& call = message.tool_calls[i];
    out += "call " + std::to_string(i + 1) + ": " + call.name + " " + call.arguments;
    if (call.id) out += " (id " + *call.id + ")";
    if (call.status != chat::CallStatus::kOk) out += " [" + std::string(chat::to_string(call.status)) + "]";
    out += '\n';
  }
  return out;
}

std::string canonical_arguments(std::string_view text) {
  const auto value = json::parse(text);
  return value.ok() ? audit::canonical(value.value()) : std::string(text);
}

chat::AssistantMessage comparable(chat::AssistantMessage message) {
  message.content = format::trimmed(message.content);
  if (message.reasoning) message.reasoning = std::string(format::trimmed(*message.reasoning));
  if (message.reasoning && message.reasoning->empty()) message.reasoning.reset();
  for (chat::ToolCall& call : message.tool_calls) {
    call.arguments = canonical_arguments(call.arguments);
    call.id.reset();  // the template decides whether to write them
  }
  return message;
}

chat::AssistantMessage meant(const json::Value& message, const std::string& reasoning_field) {
  chat::AssistantMessage out;
  out.content = chat::content_text(message);
  for (const std::string_view field : chat::kReasoningFields) {
    if (const auto text = message.find_string(field)) out.reasoning = std::string(*text);
  }
  if (const auto text = message.find_string(reasoning_field); text && !reasoning_field.empty())
    out.reasoning = std::string(*text);
  const json::Value* calls = message.find("tool_calls");
  for (const json::Value& call : calls != nullptr && calls->is_array() ? calls->as_array() : json::Array{}) {
    const json::Value& function = chat::function_of(call);
    chat::ToolCall& said = out.tool_calls.emplace_back();
    said.name = function.find_string("name").value_or("");
    const json::Value* arguments = function.find("arguments");
    if (arguments == nullptr) continue;
    said.arguments = arguments->is_string() ? arguments->as_string() : audit::canonical(*arguments);
  }
  return out;
}

}  // namespace rondo::tester
