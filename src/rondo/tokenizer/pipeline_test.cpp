// Random small tokenizers with every part of the reference, against what the reference made of some texts:
// testdata/pipelines.jsonl, written by tools/oracles/tokenizer_fuzz/record_pipelines.py.
#include <doctest/doctest.h>

#include <sstream>

#include "base/files.h"
#include "json/parse.h"
#include "json/print.h"
#include "tokenizer/tokenizer.h"

namespace rondo::tokenizer {
namespace {

std::string show(const std::vector<TokenId>& ids) {
  std::string out;
  for (const TokenId id : ids) out += " " + std::to_string(id);
  return out;
}

// A case is [text, ids, decoded text or null].
void check(const Tokenizer& tokenizer, const json::Array& row) {
  const std::string& text = row[0].as_string();
  CAPTURE(text);
  std::vector<TokenId> expected;
  for (const json::Value& id : row[1].as_array()) expected.push_back(static_cast<TokenId>(*id.to_int64()));
  const std::vector<Piece> pieces = tokenizer.encode(text, {.add_special = true});
  std::vector<TokenId> ids;
  for (const Piece& piece : pieces) {
    ids.push_back(piece.id);
    CHECK(piece.begin <= piece.end);
    CHECK(piece.end <= text.size());
  }
  CHECK(show(ids) == show(expected));
  if (row[2].is_null()) return;
  const Result<std::string> decoded = tokenizer.decode(expected, {});
  REQUIRE(decoded.ok());
  CHECK(decoded.value() == row[2].as_string());
  // Streamed text is the same text.
  Tokenizer::Stream stream(tokenizer);
  std::string streamed;
  for (const TokenId id : expected) streamed += stream.next(id).value();
  CHECK(streamed + stream.finish() == decoded.value());
}

}  // namespace

TEST_CASE("recorded pipelines") {
  const std::string path = RONDO_SOURCE_DIR "/src/rondo/tokenizer/testdata/pipelines.jsonl";
  std::istringstream lines(files::read(path).value());
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    CAPTURE(++number);
    Result<json::Value> parsed = json::parse(line);
    REQUIRE(parsed.ok());
    const json::Value& description = *parsed.value().find("tokenizer");
    model::TokenizerSource source;
    source.path = "tokenizer.json";
    source.tokenizer_json = std::make_shared<const std::string>(json::to_compact(description));
    Result<std::shared_ptr<const Tokenizer>> tokenizer = Tokenizer::load(source);
    if (!tokenizer.ok()) FAIL(tokenizer.error().to_string());
    for (const json::Value& row : parsed.value().find("cases")->as_array()) check(*tokenizer.value(), row.as_array());
  }
}

TEST_CASE("bug: a short list of replacements made a text of any size") {
  const auto problem = [](int doublings, const std::string& content) {
    std::string steps;
    for (int i = 0; i < doublings; ++i)
      steps += std::string(i > 0 ? "," : "") + R"({"type": "Replace", "pattern": {"String": "a"}, "content": ")" +
               content + "\"}";
    model::TokenizerSource source;
    source.path = "tokenizer.json";
    source.tokenizer_json = std::make_shared<const std::string>(
        R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}, "normalizer": {"type": "Sequence", "normalizers": [)" +
        steps + "]}}");
    const auto tokenizer = Tokenizer::load(source);
    return tokenizer.ok() ? std::string() : tokenizer.error().message;
  };
  CHECK(problem(3, "aa") == "");
  CHECK(problem(40, "ab") == "");
  CHECK(problem(40, "aa") == "the normalizer makes texts more than 1024 times as long");
  CHECK(problem(1, std::string(5000, 'b')) == "the normalizer `Replace` has a content of 5000 bytes");
}

}  // namespace rondo::tokenizer
