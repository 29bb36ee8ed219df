#include "gateway/content_tokens.h"

#include <doctest/doctest.h>

#include <string>

namespace rondo::gateway {
namespace {

std::string shown(ContentTokens& tokens, std::size_t size) {
  std::string out;
  for (const apis::Logprob& token : tokens.shown(size)) out += token.text + "|";
  return out;
}

parse::Event event_of(parse::EventKind kind, std::size_t begin, std::size_t end) {
  parse::Event out;
  out.kind = kind;
  out.begin = begin;
  out.end = end;
  if (kind != parse::EventKind::kMarker) out.text.assign(end - begin, 'x');
  return out;
}

using enum parse::EventKind;

TEST_CASE("content tokens: those of reasoning and markers are left out, those that straddle count") {
  ContentTokens tokens;
  tokens.sampled({.text = "think"}, 0, 5);
  tokens.sampled({.text = ">yes"}, 5, 9);  // a marker's end, and content
  tokens.sampled({.text = " sir<"}, 9, 14);
  tokens.sampled({.text = "call"}, 14, 18);
  const std::vector<parse::Event> events = {event_of(kReasoning, 0, 5), event_of(kMarker, 5, 6),
                                            event_of(kContent, 6, 13), event_of(kMarker, 13, 18)};
  tokens.parsed(std::span(events).first(3));
  CHECK(shown(tokens, 7) == ">yes| sir<|");
  CHECK(shown(tokens, 7).empty());
  tokens.parsed(std::span(events).subspan(3));
  tokens.sampled({.text = "!"}, 18, 19);
  const parse::Event last = event_of(kContent, 18, 19);
  tokens.parsed({&last, 1});
  CHECK(shown(tokens, 8) == "!|");
}

TEST_CASE("content tokens: what a stop text cuts off is left out") {
  ContentTokens tokens;
  for (std::size_t i = 0; i < 4; ++i) {
    tokens.sampled({.text = std::to_string(i)}, 2 * i, 2 * i + 2);
    const parse::Event event = event_of(kContent, 2 * i, 2 * i + 2);
    tokens.parsed({&event, 1});
  }
  CHECK(shown(tokens, 3) == "0|1|");
  CHECK(shown(tokens, 3).empty());
  CHECK(shown(tokens, 5) == "2|");
}

TEST_CASE("content tokens: each token of a character that comes in several counts") {
  ContentTokens tokens;
  tokens.sampled({.text = "a"}, 0, 0);
  tokens.sampled({.text = "b"}, 0, 0);
  CHECK(shown(tokens, 9).empty());
  tokens.sampled({.text = "c"}, 0, 3);
  const parse::Event event = event_of(kContent, 0, 3);
  tokens.parsed({&event, 1});
  CHECK(shown(tokens, 3) == "a|b|c|");
}

TEST_CASE("bug: the tokens of a character that the end of the text cut off had no log probabilities") {
  ContentTokens tokens;
  tokens.sampled({.text = "x"}, 0, 1);
  parse::Event event = event_of(kContent, 0, 1);
  tokens.parsed({&event, 1});
  CHECK(shown(tokens, 1) == "x|");
  tokens.sampled({.text = "a"}, 1, 1);
  tokens.sampled({.text = "b"}, 1, 1);
  CHECK(shown(tokens, 1).empty());
  event = event_of(kContent, 1, 4);  // U+FFFD
  tokens.parsed({&event, 1});
  CHECK(shown(tokens, 4) == "a|b|");
}

}  // namespace
}  // namespace rondo::gateway
