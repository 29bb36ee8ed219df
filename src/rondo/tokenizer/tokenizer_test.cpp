#include <doctest/doctest.h>

#include "tokenizer/tokenizer.h"

namespace rondo::tokenizer {
namespace {

std::shared_ptr<const Tokenizer> make(const std::string& text) {
  model::TokenizerSource source;
  source.path = "tokenizer.json";
  source.tokenizer_json = std::make_shared<const std::string>(text);
  Result<std::shared_ptr<const Tokenizer>> tokenizer = Tokenizer::load(source);
  if (!tokenizer.ok()) FAIL(tokenizer.error().to_string());
  return tokenizer.value();
}

constexpr const char* kSmall = R"({
  "added_tokens": [
    {"id": 9, "content": "<s>", "special": true, "normalized": false},
    {"id": 10, "content": "<s><s>", "special": false, "normalized": false},
    {"id": 11, "content": "[x]", "special": false, "normalized": false, "lstrip": true, "rstrip": true}],
  "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": false, "use_regex": true},
  "post_processor": {"type": "TemplateProcessing", "single": [{"SpecialToken": {"id": "<s>", "type_id": 0}},
    {"Sequence": {"id": "A", "type_id": 0}}], "special_tokens": {"<s>": {"id": "<s>", "ids": [9], "tokens": ["<s>"]}}},
  "decoder": {"type": "ByteLevel"},
  "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2, "Ġ": 3, "Ġab": 4, "Ã": 5, "©": 6, "Ã©": 7, "c": 8},
            "merges": ["a b", ["Ġ", "ab"]]}})";

std::string show(const std::vector<Piece>& pieces) {
  std::string out;
  for (const Piece& piece : pieces) {
    out += std::to_string(piece.id) + "[" + std::to_string(piece.begin) + "," + std::to_string(piece.end) + ")";
  }
  return out;
}

}  // namespace

TEST_CASE("byte-level: merges, offsets, added tokens") {
  const auto tokenizer = make(kSmall);
  CHECK(show(tokenizer->encode("ab ab\u00e9", {})) == "2[0,2)4[2,5)5[5,6)6[6,7)");
  CHECK(show(tokenizer->encode("<s><s><s>a", {})) == "10[0,6)9[6,9)0[9,10)");
  CHECK(show(tokenizer->encode("a  [x]\n b", {})) == "0[0,1)11[1,8)1[8,9)");
  CHECK(show(tokenizer->encode("a", {.add_special = true})) == "9[0,0)0[0,1)");
  // No token covers the bracket bytes, so they vanish, as in the reference.
  CHECK(show(tokenizer->encode("a<s>", {.parse_special = false})) == "0[0,1)");
  CHECK(tokenizer->encode_ids("<s><s>", {.parse_added = false}).empty());
  const std::vector<ByteRange> allowed = {{0, 2}, {2, 4}};
  CHECK(show(tokenizer->encode("a<s><s>", {.allowed = &allowed})) == "0[0,1)9[1,4)");
}

TEST_CASE("decoding, whole and streamed") {
  const auto tokenizer = make(kSmall);
  const std::vector<TokenId> ids = {9, 2, 4, 5, 6, 11, 5};
  CHECK(tokenizer->decode(ids, {}).value() == "<s>ab ab\u00e9[x]\ufffd");
  CHECK(tokenizer->decode(ids, {.skip_special = true}).value() == "ab ab\u00e9[x]\ufffd");
  CHECK_FALSE(tokenizer->decode(std::vector<TokenId>{12}, {}).ok());
  CHECK_FALSE(tokenizer->decode(std::vector<TokenId>{-1}, {}).ok());
  Tokenizer::Stream stream(*tokenizer);
  CHECK(stream.next(5).value().empty());
  CHECK(stream.next(6).value() == "\u00e9");
  CHECK(stream.next(5).value().empty());
  CHECK(stream.finish() == "\ufffd");
  CHECK(tokenizer->token_bytes(5) == "\xC3");
  CHECK(tokenizer->token_bytes(4) == " ab");
  CHECK(tokenizer->find("<s>") == 9);
  CHECK(tokenizer->find("\u0120ab") == 4);
  CHECK_FALSE(tokenizer->find("zz").has_value());
  CHECK(tokenizer->is_special(9));
  CHECK_FALSE(tokenizer->is_special(11));
}

TEST_CASE("a batch is its texts one by one, with any number of threads") {
  const auto tokenizer = make(kSmall);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 300; ++i) texts.push_back(std::string(i % 7, 'a') + (i % 3 == 0 ? "<s>" : " ab"));
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const EncodeOptions options{.add_special = true};
  for (const unsigned threads : {0U, 1U, 2U, 5U}) {
    const auto batch = tokenizer->encode_batch(views, options, threads);
    REQUIRE(batch.size() == texts.size());
    for (std::size_t i = 0; i < texts.size(); ++i) CHECK(batch[i] == tokenizer->encode_ids(texts[i], options));
  }
  CHECK(tokenizer->encode_batch({}, {}, 0).empty());
}

TEST_CASE("invalid UTF-8 is taken as U+FFFD") {
  const auto tokenizer = make(kSmall);
  CHECK(show(tokenizer->encode("a\xFF"
                               "b",
                               {})) == "0[0,1)1[2,3)");
}

TEST_CASE("characters with byte fallback") {
  const auto tokenizer = make(R"({
    "normalizer": {"type": "Sequence", "normalizers": [{"type": "Prepend", "prepend": "▁"},
      {"type": "Replace", "pattern": {"String": " "}, "content": "▁"}]},
    "decoder": {"type": "Sequence", "decoders": [{"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
      {"type": "ByteFallback"}, {"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]},
    "model": {"type": "BPE", "byte_fallback": true, "fuse_unk": true, "unk_token": "<unk>",
      "vocab": {"<unk>": 0, "<0xC3>": 1, "<0xA9>": 2, "▁": 3, "a": 4, "▁a": 5, "aa": 6}, "merges": ["a a", "▁ a"]}})");
  CHECK(show(tokenizer->encode("a aa", {})) == "5[0,1)3[1,2)6[2,4)");
  CHECK(show(tokenizer->encode("\u00e9xy", {})) == "3[0,0)1[0,1)2[1,2)0[2,4)");
  CHECK(tokenizer->decode(std::vector<TokenId>{5, 1, 2, 5}, {}).value() == "a\u00e9 a");
  CHECK(tokenizer->decode(std::vector<TokenId>{5, 1, 5}, {}).value() == "a\ufffd a");
  CHECK(tokenizer->token_bytes(5) == " a");
  CHECK(tokenizer->token_bytes(1) == "\xC3");
}

TEST_CASE("text cannot spell a control token where only some bytes may") {
  const auto tokenizer = make(R"({
    "added_tokens": [{"id": 3, "content": "<s>", "special": true, "normalized": false}],
    "model": {"type": "BPE", "vocab": {"<": 0, "s": 1, ">": 2, "<s>": 3, "<s": 4}, "merges": ["< s", "<s >"]}})");
  CHECK(show(tokenizer->encode("<s>", {.parse_special = false})) == "3[0,3)");  // as the reference does
  const std::vector<ByteRange> none;
  CHECK(show(tokenizer->encode("<s>", {.allowed = &none})) == "4[0,2)2[2,3)");
}

TEST_CASE("normalizers and pre-tokenizers, seen through single characters") {
  const auto with = [](const std::string& parts) {
    return make("{" + parts + R"(, "decoder": {"type": "Fuse"}, "model": {"type": "BPE", "unk_token": "?", "vocab":
      {"?": 0, "a": 1, "b": 2, "1": 3, "2": 4, "_": 5, "12": 6, "ab": 7, ".": 8, "_a": 9, "..": 10},
      "merges": ["1 2", "a b", "_ a", ". ."]}})");
  };
  CHECK(show(with(R"("normalizer": {"type": "Lowercase"})")->encode("A\u0130", {})) == "1[0,1)0[1,3)0[1,3)");
  CHECK(
      show(with(R"("normalizer": {"type": "Strip", "strip_left": true, "strip_right": true})")->encode(" a \n", {})) ==
      "1[1,2)");
  const char* digits = R"("pre_tokenizer": {"type": "Digits", "individual_digits": true})";
  CHECK(show(with(digits)->encode("12", {})) == "3[0,1)4[1,2)");
  const char* runs = R"("pre_tokenizer": {"type": "Digits", "individual_digits": false})";
  CHECK(show(with(runs)->encode("a12b", {})) == "1[0,1)6[1,3)2[3,4)");
  const char* punctuation = R"("pre_tokenizer": {"type": "Punctuation", "behavior": "Contiguous"})";
  CHECK(show(with(punctuation)->encode("a..ab", {})) == "1[0,1)10[1,3)7[3,5)");
  const char* next = R"("pre_tokenizer": {"type": "Split", "pattern": {"String": "_"}, "behavior": "MergedWithNext"})";
  CHECK(show(with(next)->encode("a__a", {})) == "1[0,1)5[1,2)9[2,4)");
  const char* previous =
      R"("pre_tokenizer": {"type": "Split", "pattern": {"Regex": "_"}, "behavior": "MergedWithPrevious"})";
  CHECK(show(with(previous)->encode("_a", {})) == "5[0,1)1[1,2)");
  const char* removed = R"("pre_tokenizer": {"type": "WhitespaceSplit"})";
  CHECK(show(with(removed)->encode("a b\u3000 ab", {})) == "1[0,1)2[2,3)7[7,9)");
  const char* meta = R"("pre_tokenizer": {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first"})";
  CHECK(show(with(meta)->encode("a a", {})) == "9[0,1)9[1,3)");
}

TEST_CASE("what stands behind a front that a character map drops is the first of the text") {
  // In base64, a double array of one key, U+00AD, which becomes nothing.
  std::string map(1372, 'A');
  for (const auto& [at, text] :
       {std::pair<std::size_t, std::string>{2, "Q"}, std::pair<std::size_t, std::string>{7, "E"},
        std::pair<std::size_t, std::string>{25, "I"}, std::pair<std::size_t, std::string>{938, "CtsQI"},
        std::pair<std::size_t, std::string>{1045, "MIEAw"}}) {
    map.replace(at, text.size(), text);
  }
  const auto tokenizer = make(R"({"normalizer": {"type": "Precompiled", "precompiled_charsmap": ")" + map + R"("},
      "pre_tokenizer": {"type": "Metaspace", "replacement": "_", "prepend_scheme": "first"},
      "model": {"type": "BPE", "vocab": {"a": 0, "b": 1, "_": 2, "_a": 3, "_b": 4}, "merges": ["_ a", "_ b"]}})");
  CHECK(tokenizer->encode_ids("\u00ADa", {}) == std::vector<TokenId>{3});
  CHECK(tokenizer->encode_ids("\u00AD\u00ADa b", {}) == std::vector<TokenId>{3, 4});
  CHECK(tokenizer->encode_ids("a\u00ADa", {}) == std::vector<TokenId>{3, 0});
  CHECK(tokenizer->encode_ids("\u00AD", {}).empty());
}

TEST_CASE("a damaged file says where") {
  model::TokenizerSource source;
  source.tokenizer_json = std::make_shared<const std::string>("{\n \"model\": {\"vocab\": {\"a\": 0,}}}");
  const auto tokenizer = Tokenizer::load(source);
  REQUIRE_FALSE(tokenizer.ok());
  CHECK(tokenizer.error().code == ErrorCode::kJson);
  CHECK(tokenizer.error().message == "expected a key in double quotes, found `}`");
  CHECK(tokenizer.error().line == 2);
  CHECK(tokenizer.error().column == 29);
}

TEST_CASE("members stand in any order, and of equal ones the last counts") {
  const auto tokenizer = make(R"({"model": {"merges": ["a b", "a c"], "vocab": {"x": 0}, "vocab":
    {"a": 9, "b": 1, "ab": 2, "c": 3, "\u0061c": 4, "a": 0}, "type": "BPE"}, "model": 1, "decoder": {"type": "Fuse"},
    "model": {"merges": ["#version: 0.2", "a b", ["a", "c"]], "vocab": {"a": 9, "b": 1, "ab": 2, "c": 3, "\u0061c": 4,
    "a": 0}}})");
  CHECK(tokenizer->encode_ids("abaca", {}) == std::vector<TokenId>{2, 4, 0});
}

TEST_CASE("what is not supported says so") {
  const auto error = [](const std::string& text) {
    model::TokenizerSource source;
    source.path = "t.json";
    source.tokenizer_json = std::make_shared<const std::string>(text);
    const auto tokenizer = Tokenizer::load(source);
    REQUIRE_FALSE(tokenizer.ok());
    CHECK(tokenizer.error().code == ErrorCode::kTokenizer);
    CHECK(tokenizer.error().source == "t.json");
    return tokenizer.error().message;
  };
  CHECK(error(R"({"model": {"type": "Trie"}})").find("`Trie` is not known") != std::string::npos);
  CHECK(error(R"({"model": {"type": "Unigram", "vocab": [["a", 1], ["b"]]}})").find("`model.vocab[1]`") !=
        std::string::npos);
  CHECK(error(R"({"model": [1]})").find("no object `model`") != std::string::npos);
  CHECK(error(R"({"model": {"vocab": {"a": "b"}, "merges": []}})").find("gives the token `a` no usable id") !=
        std::string::npos);
  CHECK(error(R"({"model": {"vocab": {"a": 0}, "merges": [["a", "b", "c"]]}})").find("`model.merges[0]` is no pair") !=
        std::string::npos);
  CHECK(error(R"({"model": {"type": "Unigram", "vocab": [["a", "b"]]}})").find("`model.vocab[0]` is no pair") !=
        std::string::npos);
  CHECK(error(R"({})").find("no object `model`") != std::string::npos);
  CHECK(error(R"({"model": {"type": "BPE", "vocab": {"a": 0}, "merges": ["a b"]}})").find("not in the vocabulary") !=
        std::string::npos);
  CHECK(error(R"({"model": {"type": "BPE", "vocab": {"a": 0, "b": 0}, "merges": []}})").find("twice") !=
        std::string::npos);
  CHECK(error(R"({"model": {"type": "BPE", "vocab": {}, "merges": []}, "pre_tokenizer": {"type": "Split",
      "pattern": {"Regex": "("}, "behavior": "Isolated"}})")
            .find("does not compile") != std::string::npos);
}

}  // namespace rondo::tokenizer
