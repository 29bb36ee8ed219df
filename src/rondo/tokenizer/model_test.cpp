// The models of tokenizer.json.  The expectations are the reference's results, in bytes.
#include <doctest/doctest.h>

#include "tokenizer/json_score.h"
#include "tokenizer/tokenizer.h"

namespace rondo::tokenizer {
namespace {

std::shared_ptr<const Tokenizer> with_model(const std::string& model, const std::string& rest = "") {
  model::TokenizerSource source;
  source.path = "tokenizer.json";
  source.tokenizer_json = std::make_shared<const std::string>("{" + rest + "\"model\": " + model + "}");
  Result<std::shared_ptr<const Tokenizer>> tokenizer = Tokenizer::load(source);
  if (!tokenizer.ok()) FAIL(tokenizer.error().to_string());
  return tokenizer.value();
}

std::string show(const Tokenizer& tokenizer, std::string_view text, const EncodeOptions& options = {}) {
  std::string out;
  for (const Piece& piece : tokenizer.encode(text, options)) {
    out += std::to_string(piece.id) + "[" + std::to_string(piece.begin) + "," + std::to_string(piece.end) + ")";
  }
  return out;
}

constexpr const char* kWords = R"("pre_tokenizer": {"type": "WhitespaceSplit"}, )";

}  // namespace

TEST_CASE("Unigram: the best sum, unknown characters fused") {
  const auto tokenizer =
      with_model(R"({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0.0], ["a", 0.0], ["b", 0.0],
    ["c", 0.0], ["d", 0.0], ["cd", 1.0], ["ab", 2.0], ["abc", 5.0], ["abcd", 10.0]]})");
  CHECK(show(*tokenizer, "abcdacdxx") == "8[0,4)1[4,5)5[5,7)0[7,9)");
  CHECK(show(*tokenizer, "x<unk>y") == "0[0,7)");
  CHECK(show(*tokenizer, "<unk>") == "0[0,5)");
  CHECK(tokenizer->to_string() == "character Unigram, 9 ids, 0 added tokens, pre-tokenizer: none");
}

TEST_CASE("Unigram: bytes of unknown characters, one token per byte") {
  const auto tokenizer = with_model(R"({"type": "Unigram", "unk_id": 0, "byte_fallback": true, "vocab": [["<unk>", 0.0],
    ["a", -1.0], ["<0xC3>", -2], ["<0xA9>", -2], ["\u00e9!", -20.5]]})");
  CHECK(show(*tokenizer, "a\u00e9!") == "1[0,1)4[1,4)");
  CHECK(show(*tokenizer, "\u00e9a\u00e9x") == "2[0,1)3[1,2)1[2,3)0[3,6)");
}

TEST_CASE("Unigram: of equal tokens the last counts, of equal sums the first path") {
  const auto tokenizer = with_model(R"({"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0], ["a", -9], ["aa", -2],
    ["a", -1], ["aaa", -3]]})");
  CHECK(show(*tokenizer, "a") == "3[0,1)");
  CHECK(show(*tokenizer, "aaa") == "4[0,3)");
  CHECK(tokenizer->find("a") == 3);
  CHECK(tokenizer->decode(std::vector<TokenId>{1, 3}, {}).value() == "a a");
}

TEST_CASE("Unigram: no text becomes a control token where it may not") {
  const auto tokenizer =
      with_model(R"({"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["<", -1], ["s", -1], [">", -1],
    ["<s>", 0]]})",
                 R"("added_tokens": [{"id": 4, "content": "<s>", "special": true}], )");
  CHECK(show(*tokenizer, "<s>", {.parse_special = false}) == "4[0,3)");
  const std::vector<ByteRange> none;
  CHECK(show(*tokenizer, "<s>", {.allowed = &none}) == "1[0,1)2[1,2)3[2,3)");
}

TEST_CASE("scores are what the reference's JSON library makes of them") {
  CHECK(json_score("-2") == -2.0);
  CHECK(json_score("-0") == 0.0);
  CHECK(json_score("1.5e-2") == 0.015);
  CHECK(json_score("12E+3") == 12000.0);
  // One bit away from the nearest double.
  CHECK(json_score("-17.034176848787065") == -17.034176848787062);
  CHECK(json_score("-3.28657070499962283038") == -3.2865707049996224);
  CHECK(json_score("12345678901234567890123") == doctest::Approx(12345678901234567890123.0));
  CHECK(json_score("0.1234567890123456789012345") == doctest::Approx(0.1234567890123456789));
  CHECK(json_score("4e-320") == 4e-320);
  CHECK(json_score("0e999999999999") == 0.0);
  CHECK(json_score("1e-999999999999") == 0.0);
  CHECK(json_score("-1e999999999999") < -1e308);
}

TEST_CASE("Unigram: a long piece") {
  const auto tokenizer =
      with_model(R"({"type": "Unigram", "unk_id": 0, "vocab": [["?", 0], ["a", -1], ["aa", -1.5]]})");
  CHECK(tokenizer->encode_ids(std::string(1000001, 'a'), {}).size() == 500001);
}

TEST_CASE("WordPiece: the longest parts, whole words unknown") {
  const auto tokenizer = with_model(R"({"type": "WordPiece", "unk_token": "?", "continuing_subword_prefix": "##",
    "max_input_chars_per_word": 8, "vocab": {"?": 0, "un": 1, "##aff": 2, "##able": 3, "u": 4, "##n": 5, "a": 6,
    "##": 7}})",
                                    kWords);
  CHECK(show(*tokenizer, "unaffable una unaffablea ## un## ##aff") == "0[0,9)0[10,13)0[14,24)7[25,27)0[28,32)2[33,38)");
  CHECK(show(*tokenizer, "unn x") == "1[0,2)5[2,3)0[4,5)");
}

TEST_CASE("WordLevel: words or unknown") {
  const auto tokenizer =
      with_model(R"({"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0, "un": 1, "a": 6}})", kWords);
  CHECK(show(*tokenizer, "un a b una") == "1[0,2)6[3,4)0[5,6)0[7,10)");
}

TEST_CASE("BPE: prefix and suffix") {
  const auto tokenizer = with_model(R"({"type": "BPE", "unk_token": "?", "end_of_word_suffix": "</w>",
    "continuing_subword_prefix": "##", "vocab": {"?": 0, "a": 1, "##b": 2, "##b</w>": 3, "ab</w>": 4, "a</w>": 5,
    "ab": 6, "##c": 7, "abc": 8}, "merges": ["#version: 0.2", "a ##b", "a ##b</w>", "ab ##c"]})",
                                    kWords);
  CHECK(show(*tokenizer, "ab a abb abc abcb") == "4[0,2)5[3,4)6[5,7)3[7,8)6[9,11)0[11,12)8[13,16)3[16,17)");
  CHECK(show(*tokenizer, "xab") == "0[0,1)0[1,2)3[2,3)");
}

TEST_CASE("BPE: an unknown character stands behind the bytes of the next, as in the reference") {
  const auto tokenizer = with_model(R"({"type": "BPE", "unk_token": "?", "byte_fallback": true, "dropout": 0.1,
    "vocab": {"?": 0, "a": 1, "<0xC3>": 2, "<0xA9>": 3}, "merges": []})",
                                    R"("truncation": {"max_length": 2}, )");
  CHECK(show(*tokenizer, "x\u00e9a") == "2[0,1)3[1,2)0[2,3)1[3,4)");
  CHECK(tokenizer->to_string().ends_with("; ignored: dropout, truncation"));
}

TEST_CASE("BPE: marks meet where the character between them vanishes") {
  const auto tokenizer =
      with_model(R"({"type": "BPE", "unk_token": null, "vocab": {"\u2581": 0, "a": 1, "\u2581\u2581": 2},
    "merges": ["\u2581 \u2581"]})");
  CHECK(show(*tokenizer, "a\u2581x\u2581a") == "1[0,1)2[1,8)1[8,9)");
}

}  // namespace rondo::tokenizer
