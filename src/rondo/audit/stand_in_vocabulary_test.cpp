#include "audit/stand_in_vocabulary.h"

#include <doctest/doctest.h>

namespace rondo::audit {
namespace {

TEST_CASE("a stand-in vocabulary has each byte, and each stop once") {
  format::Format format;
  format.stops.content = {"<end>\n", "#"};
  format.stops.tool = {"<run>", "<end>"};
  format.stops.history_close = {"", "<end>"};
  const auto made = stand_in_vocabulary(format, {"<bos>", "", "<run>"});
  REQUIRE_MESSAGE(made.ok(), made.error().to_string());
  const tokenizer::Tokenizer& tokenizer = *made.value();
  CHECK(tokenizer.vocab_size() == 256 + 3);
  // The bytes come first, then the stops in the order of their kinds; a stop of a single byte is that byte's token.
  CHECK(tokenizer.encode_ids("<end><run><bos>", {}) == std::vector<tokenizer::TokenId>{256, 257, 258});
  CHECK(tokenizer.encode_ids("#a\n", {}).size() == 3);
  CHECK(tokenizer.encode_ids("<enD>", {}).size() == 5);
  // White space beside a stop is not the stop's, and a stop may stand inside a word.
  const auto id = [&](const char* byte) { return tokenizer.encode_ids(byte, {}).at(0); };
  CHECK(tokenizer.encode_ids("a <end> b<run>c", {}) ==
        std::vector<tokenizer::TokenId>{id("a"), id(" "), 256, id(" "), id("b"), 257, id("c")});
  CHECK(tokenizer.added_tokens().front().special);
  std::string bytes;
  for (int byte = 0; byte < 0x80; ++byte) bytes += static_cast<char>(byte);
  bytes += "\u00ad\u00e9\u20ac\U0001F600";
  const auto ids = tokenizer.encode_ids(bytes, {});
  CHECK(ids.size() == bytes.size());
  CHECK(tokenizer.decode(ids, {}).value() == bytes);
}

}  // namespace
}  // namespace rondo::audit
