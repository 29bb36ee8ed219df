// What a grammar accepts is read: a random text of it is a message whose calls are all right.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "format/format.h"
#include "grammar/turn.h"
#include "json/value.h"

namespace rondo::test {

// What was asked of the grammar, and of the parser with it.
struct GrammarQuestion {
  std::shared_ptr<const format::Format> format;
  grammar::TurnOptions options;
  bool is_warned = false;  // the grammar has said that it leaves values open
};

// Tools with parameters of every type and no others; the last one takes none.
[[nodiscard]] json::Value tools_of_every_type();

// What a request may ask with these tools and this prompt: each choice of a tool, parallel calls or one.
[[nodiscard]] std::vector<GrammarQuestion> grammar_questions(const std::shared_ptr<const format::Format>& format,
                                                             const json::Value& tools, const std::string& prompt);

// "" or what the parser makes of a text that the question's grammar accepts: no call where one must be, a call that is not
// ok or breaks its schema, text that is lost, other events where the text comes in pieces.
[[nodiscard]] std::string reading_objection(const GrammarQuestion& question, const std::string& text,
                                            std::uint64_t seed);

struct ReadTally {
  std::size_t texts = 0;
  std::vector<std::string> objections;
};
// Draws `count` texts for each question.  Each comes again with one of the tags somewhere in it, as often as the grammar
// takes that.
void count_readings(GrammarQuestion question, std::size_t count, std::uint64_t seed, ReadTally& tally,
                    const std::vector<std::string>& tags = {});
// The tags of all parameters of the tools, as the format writes them; none if it has no tags.
[[nodiscard]] std::vector<std::string> tags_of(const format::Format& format, const json::Value& tools);

}  // namespace rondo::test
