// A text read by a parser, whole and in pieces, and messages as people compare them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "chat/conversation.h"
#include "json/value.h"
#include "parse/parser.h"
#include "tester/suite.h"

namespace rondo::tester {

struct Reading {
  chat::AssistantMessage message;
  std::string events;                           // what they told, as to_text() of a message
  parse::Place place = parse::Place::kContent;  // before the end was told
  std::string taken_back;                       // a sentence where a part of the message became shorter
};

[[nodiscard]] Reading read_in_pieces(parse::Parser parser, const std::vector<std::string_view>& pieces);

// Ways to cut a text: into bytes, pairs, and random pieces that are the same ones each time.
struct Cut {
  std::string name;
  std::vector<std::string_view> pieces;
};
[[nodiscard]] std::vector<Cut> cuts_of(std::string_view text);

[[nodiscard]] std::string_view to_string(parse::Place place);

// "content: ...", "reasoning: ...", "call 1: name arguments [status]": a line for each, and more for line breaks inside.
[[nodiscard]] std::string to_text(const chat::AssistantMessage& message);

// What a message of a conversation says, in the fields of one that was parsed; arguments as their value is written.
[[nodiscard]] chat::AssistantMessage meant(const json::Value& message, const std::string& reasoning_field);
// The same for what was parsed: white space around texts and the spelling of arguments do not count.
[[nodiscard]] chat::AssistantMessage comparable(chat::AssistantMessage message);

// A JSON text's value in one spelling; other texts as they are.
[[nodiscard]] std::string canonical_arguments(std::string_view text);

}  // namespace rondo::tester
