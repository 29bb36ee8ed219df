// The result of parsing a text, whole and in pieces, and messages in a form for comparing.
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
  std::string events;                           // what the events added up to, as to_text() of a message
  parse::Place place = parse::Place::kContent;  // before the end of the text
  std::string taken_back;                       // a sentence, if a part of the message became shorter
};

[[nodiscard]] Reading read_in_pieces(parse::Parser parser, const std::vector<std::string_view>& pieces);

// Ways to cut a text: into bytes, into pairs, and into random pieces, which are the same each time.
struct Cut {
  std::string name;
  std::vector<std::string_view> pieces;
};
[[nodiscard]] std::vector<Cut> cuts_of(std::string_view text);

[[nodiscard]] std::string_view to_string(parse::Place place);

// Returns "content: ...", "reasoning: ...", "call 1: name arguments [status]": one line for each, and more if a text
// contains line breaks.
[[nodiscard]] std::string to_text(const chat::AssistantMessage& message);

// Returns the content of a conversation's message in the fields of a parsed one, with arguments in the spelling of
// their value.
[[nodiscard]] chat::AssistantMessage meant(const json::Value& message, const std::string& reasoning_field);
// Returns a parsed message in the same form: without white space around texts, and with arguments in one spelling.
[[nodiscard]] chat::AssistantMessage comparable(chat::AssistantMessage message);

// Returns a JSON text in one spelling; other texts unchanged.
[[nodiscard]] std::string canonical_arguments(std::string_view text);

}  // namespace rondo::tester
