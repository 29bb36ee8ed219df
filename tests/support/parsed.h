// For tests of the parser: a message as one line, and the laws that hold for any text.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "parse/parser.h"
#include "tests/support/parse_formats.h"

namespace rondo::parse::testing {

// One line: R(reasoning) C(content) nameARGUMENTS#id!status ... (the dots: not complete) B(behind the stop).
inline std::string show(const chat::AssistantMessage& message) {
  std::string out;
  if (message.reasoning) out += "R(" + *message.reasoning + ") ";
  out += "C(" + message.content + ")";
  for (const chat::ToolCall& call : message.tool_calls) {
    out += " " + call.name + call.arguments;
    if (call.id) out += "#" + *call.id;
    if (call.status != chat::CallStatus::kOk) out += "!" + std::string(chat::to_string(call.status));
  }
  if (!message.complete) out += " ...";
  return out + (message.behind_stop.empty() ? "" : " B(" + message.behind_stop + ")");
}

// What the events say, joined; must equal show() of the message.  Also checks that they cover the text without overlap.
inline std::string show_events(const std::vector<Event>& events, const std::string& text) {
  chat::AssistantMessage message;
  std::size_t covered = 0;
  for (const Event& event : events) {
    CHECK(event.begin == covered);
    CHECK(event.end >= event.begin);
    covered = event.end;
    switch (event.kind) {
      case EventKind::kContent: message.content += event.text; break;
      case EventKind::kReasoning: message.reasoning = message.reasoning.value_or("") + event.text; break;
      case EventKind::kCallStart:
        message.tool_calls.emplace_back().name = event.text;
        message.tool_calls.back().id = event.id;
        CHECK(event.call + 1 == message.tool_calls.size());
        break;
      case EventKind::kCallId: message.tool_calls[event.call].id = event.text; break;
      case EventKind::kArguments: message.tool_calls[event.call].arguments += event.text; break;
      default: break;
    }
  }
  CHECK(covered == text.size());
  message.complete = true;
  return show(message);
}

inline std::string run(const std::shared_ptr<const format::Format>& format, const Options& options,
                       const std::vector<std::string>& chunks) {
  Parser parser(format, options);
  std::vector<Event> events;
  std::string text;
  const auto take = [&events](std::span<const Event> more) { events.insert(events.end(), more.begin(), more.end()); };
  for (const std::string& chunk : chunks) {
    take(parser.feed(chunk));
    text += chunk;
  }
  take(parser.close());
  auto message = parser.finish();
  REQUIRE(message.ok());
  if (!options.partial) {
    auto plain = message.value();
    plain.complete = true;
    plain.behind_stop.clear();
    if (plain.reasoning && plain.reasoning->empty()) plain.reasoning.reset();
    for (auto& call : plain.tool_calls) call.status = chat::CallStatus::kOk;
    CHECK(show_events(events, text) == show(plain));
  }
  return show(message.value());
}

// What is known of the text before anybody says that it has ended, as the events tell it.
inline std::string known(const std::shared_ptr<const format::Format>& format, const Options& options,
                         const std::vector<std::string>& chunks) {
  Parser parser(format, options);
  std::string content;
  std::string reasoning;
  std::string calls;
  for (const std::string& chunk : chunks) {
    for (const Event& event : parser.feed(chunk)) {
      if (event.kind == EventKind::kContent) content += event.text;
      if (event.kind == EventKind::kReasoning) reasoning += event.text;
      if (event.kind == EventKind::kCallStart) calls += " " + event.text;
      if (event.kind == EventKind::kArguments) calls += event.text;
    }
  }
  return "R(" + reasoning + ") C(" + content + ")" + calls;
}

// The message, after checking that every way to cut the text in two, and byte by byte, gives the same.
inline std::string in_any_chunks(const std::shared_ptr<const format::Format>& format, const std::string& text,
                                 const Options& options = {}) {
  const std::string whole = run(format, options, {text});
  for (std::size_t cut = 1; cut < text.size(); ++cut) {
    const std::string got = run(format, options, {text.substr(0, cut), text.substr(cut)});
    CHECK_MESSAGE(got == whole, "cut at " << cut);
  }
  std::vector<std::string> bytes;
  for (const char byte : text) bytes.emplace_back(1, byte);
  CHECK(run(format, options, bytes) == whole);
  CHECK(known(format, options, bytes) == known(format, options, {text}));
  return whole;
}

// The same where the tools of offering_tools() are offered.
inline std::string read_with_tools(const std::shared_ptr<const format::Format>& format, const std::string& text) {
  return in_any_chunks(format, text, offering_tools());
}

// What closes the turn that is cut off behind `text`.
inline std::string closing_of(const std::shared_ptr<const format::Format>& format, const std::string& text,
                              const Options& options = {}) {
  Parser parser(format, options);
  static_cast<void>(parser.feed(text));
  return parser.closing_text();
}

}  // namespace rondo::parse::testing
