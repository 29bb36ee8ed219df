// Tokenizers from other files than tokenizer.json.
#include <doctest/doctest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "base/base64.h"
#include "base/files.h"
#include "json/parse.h"
#include "tokenizer/charsmap.h"
#include "tokenizer/rank_model.h"
#include "tokenizer/tokenizer.h"

namespace rondo::tokenizer {
namespace {

std::shared_ptr<const json::Value> parsed(std::string_view text) {
  return std::make_shared<const json::Value>(json::parse(text).value());
}

// Every byte by its value, then `more` from 256 on.
model::TokenizerSource ranks(const std::vector<std::string>& more, const std::string& config = "{}") {
  model::RankFile file;
  for (std::int32_t byte = 0; byte < 256; ++byte)
    file.tokens.push_back({std::string(1, static_cast<char>(byte)), byte});
  for (const std::string& token : more) file.tokens.push_back({token, static_cast<std::int32_t>(file.tokens.size())});
  model::TokenizerSource source;
  source.path = "test.tiktoken";
  source.ranks = std::make_shared<const model::RankFile>(std::move(file));
  source.tokenizer_config = parsed(config);
  return source;
}

std::vector<TokenId> ids(const model::TokenizerSource& source, std::string_view text, EncodeOptions options = {}) {
  const auto tokenizer = Tokenizer::load(source);
  REQUIRE_MESSAGE(tokenizer.ok(), tokenizer.error().message);
  return tokenizer.value()->encode_ids(text, options);
}

std::string problem(const model::TokenizerSource& source) {
  const auto tokenizer = Tokenizer::load(source);
  return tokenizer.ok() ? "none" : tokenizer.error().message;
}

using Ids = std::vector<TokenId>;

}  // namespace

TEST_CASE(
    "rank file: neighbours merge whose bytes together are a token, the lowest rank first; a piece that is a token is "
    "it") {
  // 256 ab, 257 bc, 258 cd, 259 abcd: following the ranks, no two tokens make "abcd".
  const auto source = ranks({"ab", "bc", "cd", "abcd"}, R"({"pat_str": "\\S+|\\s+"})");
  CHECK(ids(source, "abc") == Ids{256, 'c'});
  CHECK(ids(source, "abcd") == Ids{259});
  CHECK(ids(source, "xabcd") == Ids{'x', 259});
  CHECK(ids(source, "xbcd") == Ids{'x', 257, 'd'});
  CHECK(ids(source, "\xFF") == Ids{0xEF, 0xBF, 0xBD});  // U+FFFD
}

TEST_CASE("rank file: the pattern of the configuration wins over that of the code, and that over the default") {
  auto source = ranks({"a1"});
  CHECK(ids(source, "a1") == Ids{'a', '1'});
  source.code.pattern = "\\w+";
  CHECK(ids(source, "a1") == Ids{256});
  source.tokenizer_config = parsed(R"({"pat_str": "\\p{L}|\\p{N}"})");
  CHECK(ids(source, "a1") == Ids{'a', '1'});
  source.tokenizer_config = parsed(R"({"pat_str": "("})");
  CHECK(problem(source).find("does not compile") != std::string::npos);
}

TEST_CASE("rank file: special tokens of the configuration, ids without one reserved") {
  auto source = ranks({}, R"({"added_tokens_decoder": {"258": {"content": "<b>", "special": true},
                              "256": {"content": "<a>", "special": true}}, "bos_token": "<a>", "add_bos_token": true})");
  CHECK(ids(source, "<a><|reserved_token_257|><b>") == Ids{256, 257, 258});
  CHECK(ids(source, "x", {.add_special = true}) == Ids{256, 'x'});
  CHECK(ids(source, "<a>", {.parse_special = false}) == Ids{'<', 'a', '>'});
  source.tokenizer_config = parsed(R"({"added_tokens_decoder": {"99999999": {"content": "<b>"}}})");
  CHECK(problem(source) == "an added token has the id `99999999`, which is none");
  source.tokenizer_config = parsed(R"({"eos_token": "<e>"})");
  source.added_tokens = parsed(R"({"<e>": 256, "<f>": 257})");
  CHECK(Tokenizer::load(source).value()->is_special(256));
  CHECK_FALSE(Tokenizer::load(source).value()->is_special(257));
}

TEST_CASE("rank file: tokens too long to be split in all ways end with an error, at once") {
  CHECK(problem(ranks({std::string(100000, 'a')})) == "the tokens are too long to be split in all ways");
}

TEST_CASE("patterns in the dialect of Rust's regex crate") {
  CHECK(from_rust_dialect(R"([^\r\n\p{L}\p{N}]?\p{L}+|\s++$)") == R"([^\r\n\p{L}\p{N}]?\p{L}+|\s++\z)");
  CHECK(from_rust_dialect(R"(^a\$[$^]|[]$])") == R"(\Aa\$[$^]|[]$])");
  CHECK(from_rust_dialect(R"([a&&[^$]]$)") == R"([a&&[^$]]\z)");
  CHECK(from_rust_dialect("[a") == "[a");
  CHECK(from_rust_dialect("$\\") == "\\z\\");
  // A set inside a set, and what both contain.
  CHECK(ids(ranks({"ab", "b1"}, R"({"pat_str": "[\\p{L}&&[^b]]+|."})"), "ab1") == Ids{'a', 'b', '1'});
  const std::string last_line = R"x({"pat_str": "\\w\\n$|(?s:.)"})x";
  CHECK(ids(ranks({"a\n", "b\n"}, last_line), "a\nb\n") == Ids{'a', '\n', 257});
}

TEST_CASE("a script in a pattern is its characters, not all that are used with it") {
  auto source = ranks({"\u300C\u4E00"}, R"({"pat_str": "\\p{Han}+|\\P{Han}+"})");
  CHECK(ids(source, "\u300C\u4E00").size() == 6);
}

TEST_CASE("tekken: special tokens first, reserved ones filled up, the vocabulary cut to its size") {
  model::TokenizerSource source;
  source.tekken_json = parsed(R"({"config": {"pattern": "[^\\s]+|\\s+", "default_vocab_size": 7,
      "default_num_special_tokens": 4}, "vocab": [{"rank": 0, "token_bytes": "YQ=="}, {"rank": 1, "token_bytes": "Yg=="},
      {"rank": 2, "token_bytes": "YWI="}, {"rank": 3, "token_bytes": "YWE="}],
      "special_tokens": [{"rank": 1, "token_str": "<s>"}, {"rank": 0, "token_str": "<unk>"}]})");
  CHECK(ids(source, "abaa<SPECIAL_3>", {.add_special = true}) == Ids{1, 6, 4, 4, 3});
  CHECK(Tokenizer::load(source).value()->vocab_size() == 7);
}

TEST_CASE("tekken: what is wrong") {
  const auto with = [](const std::string& text) {
    model::TokenizerSource source;
    source.tekken_json = parsed(text);
    return problem(source);
  };
  const std::string config = R"("config": {"pattern": "a", "default_num_special_tokens": 2)";
  const std::string vocab = R"("vocab": [{"rank": 0, "token_bytes": "YQ=="}])";
  CHECK(with("{" + config + "}}") == "`config` or `vocab` is missing");
  CHECK(with("{" + config + R"(, "default_vocab_size": 9}, )" + vocab + "}") ==
        "`config.default_vocab_size` is 9, but there are 2 special and 1 other tokens");
  CHECK(with("{" + config + R"(}, "vocab": [{"rank": 1, "token_bytes": "YQ=="}]})") == "`vocab[0]` is not of rank 0");
  CHECK(with("{" + config + R"(}, "vocab": [{"rank": 0, "token_bytes": "!"}]})") ==
        "`vocab[0]` has no `token_bytes` in base64");
  CHECK(with("{" + config + R"(}, "special_tokens": [{"rank": 2, "token_str": "x"}], )" + vocab + "}") ==
        "`special_tokens[0]` has no usable rank");
  CHECK(with("{" + config + R"(}, "special_tokens": [{"rank": 0, "token_str": "<SPECIAL_1>"}], )" + vocab + "}") ==
        "the special token `<SPECIAL_1>` occurs twice");
}

using SentencePiece = model::SentencePieceFile::Piece;
using Type = model::SentencePieceFile::Type;

// 0 <unk>, 1 <s>, then `pieces`.
model::TokenizerSource sentence_piece(model::SentencePieceFile file, const std::vector<SentencePiece>& pieces) {
  file.pieces = {{"<unk>", 0, Type::kUnknown}, {"<s>", 0, Type::kControl}};
  file.pieces.insert(file.pieces.end(), pieces.begin(), pieces.end());
  model::TokenizerSource source;
  source.path = "test.model";
  source.sentence_piece = std::make_shared<const model::SentencePieceFile>(std::move(file));
  return source;
}

TEST_CASE("SentencePiece: spaces become marks, runs one, those at the ends none; unknown characters one token") {
  model::SentencePieceFile file;
  file.kind = model::SentencePieceFile::Kind::kBpe;
  auto source = sentence_piece(file, {{"\u2581", -1}, {"a", -2}, {"\u2581a", -3}, {"aa", -4}});
  CHECK(ids(source, "  a   a ") == Ids{4, 4});
  CHECK(ids(source, "aa?!a") == Ids{4, 3, 0, 3});
  CHECK(ids(source, "<s>a") == Ids{1, 4});
  CHECK(ids(source, "   ") == Ids{});
  const auto tokenizer = Tokenizer::load(source).value();
  CHECK(tokenizer->decode(Ids{4, 4, 3}, {}).value() == "a aa");
  file.normalizer.remove_extra_whitespaces = false;
  file.normalizer.add_dummy_prefix = false;
  source = sentence_piece(file, {{"\u2581", -1}, {"a", -2}, {"\u2581a", -3}});
  CHECK(ids(source, "a  a ") == Ids{3, 2, 4, 2});
}

TEST_CASE("SentencePiece: user-defined pieces are taken whole, whatever their scores and the character map say") {
  model::SentencePieceFile file;
  file.kind = model::SentencePieceFile::Kind::kBpe;
  auto source = sentence_piece(file, {{"\u2581", -1}, {"a", -2}, {"b", -2}, {"ab", -1}, {"bb", 0, Type::kUserDefined}});
  CHECK(ids(source, "abb") == Ids{2, 3, 6});
  CHECK_FALSE(Tokenizer::load(source).value()->is_special(6));
}

TEST_CASE("SentencePiece: the best sum of scores, and every bad byte a character of its own") {
  model::SentencePieceFile file;
  auto source = sentence_piece(file, {{"\u2581", -1}, {"a", -2}, {"aa", -3.5F}, {"aaa", -7}, {"\uFFFD", -9}});
  CHECK(ids(source, "aaa") == Ids{2, 3, 4});  // -2 + -3.5 beats -7; the first of two equal ways
  CHECK(ids(source, "\xE2\x82") == Ids{2, 6, 6});
}

TEST_CASE("SentencePiece: a user-defined piece counts a tenth for each byte but the first") {
  model::SentencePieceFile file;
  file.normalizer.add_dummy_prefix = false;
  CHECK(ids(sentence_piece(file, {{"a", 0.06F}, {"b", 0.03F}, {"ab", 0, Type::kUserDefined}}), "ab") == Ids{4});
  CHECK(ids(sentence_piece(file, {{"a", 0.06F}, {"b", 0.05F}, {"ab", 0, Type::kUserDefined}}), "ab") == Ids{2, 3});
}

TEST_CASE(
    "SentencePiece: sums of a long text are counted from zero again, so that equal ways are decided as in the "
    "library") {
  model::SentencePieceFile file;
  file.normalizer.add_dummy_prefix = false;
  const auto source = sentence_piece(file, {{"a", -2.1F}, {"aa", -4.2F}, {"aaa", -6.3F}});
  CHECK(ids(source, std::string(30'000, 'a')).size() == 16'728);
  CHECK(ids(source, std::string(200'000, 'a')).size() == 97'688);
}

TEST_CASE("SentencePiece: recorded answers of the library") {
  const auto file = files::read(RONDO_SOURCE_DIR "/src/rondo/tokenizer/testdata/sentence_piece.json");
  REQUIRE(file.ok());
  const auto models = parsed(file.value());
  for (const json::Value& model : models->as_array()) {
    model::TokenizerSource source;
    source.path = std::string(*model.find("options")->find_string("model_type"));
    CAPTURE(source.path);
    auto pieces = model::parse_sentence_piece(base64::decode(*model.find_string("model")).value());
    REQUIRE(pieces.ok());
    source.sentence_piece = std::make_shared<const model::SentencePieceFile>(std::move(pieces).value());
    const auto tokenizer = Tokenizer::load(source);
    REQUIRE(tokenizer.ok());
    for (const json::Value& row : model.find("rows")->as_array()) {
      const std::string text = base64::decode(row.as_array()[0].as_string()).value();
      CAPTURE(text);
      Ids expected;
      for (const json::Value& id : row.as_array()[1].as_array())
        expected.push_back(static_cast<TokenId>(*id.to_int64()));
      CHECK(tokenizer.value()->encode_ids(text, {.parse_special = false}) == expected);
    }
  }
}

TEST_CASE("SentencePiece: what a class of transformers makes of it") {
  model::SentencePieceFile file;
  file.kind = model::SentencePieceFile::Kind::kBpe;
  auto source = sentence_piece(file, {{"\u2581", -1}, {"a", -2}, {"\u2581a", -3}});
  const auto with_config = [&](const std::string& config) {
    source.tokenizer_config = parsed(config);
    return ids(source, "a  a<s>a");
  };
  CHECK(with_config("{}") == Ids{4, 4, 1, 4});
  CHECK(with_config(R"({"tokenizer_class": "LlamaTokenizer"})") == Ids{4, 2, 4, 1, 3});
  CHECK(with_config(R"({"tokenizer_class": "LlamaTokenizerFast", "legacy": true})") == Ids{4, 2, 4, 1, 4});
  CHECK(with_config(R"({"tokenizer_class": "LlamaTokenizer", "add_prefix_space": false})") == Ids{3, 2, 4, 1, 3});
  CHECK(with_config(R"({"tokenizer_class": "PreTrainedTokenizerFast"})") == Ids{3, 2, 4, 1, 3});
  CHECK(with_config(R"({"tokenizer_class": "NobodyKnowsTokenizer"})") == Ids{4, 4, 1, 4});
}

TEST_CASE("SentencePiece and GGUF: pieces too long to be split in all ways end with an error, at once") {
  model::SentencePieceFile file;
  file.kind = model::SentencePieceFile::Kind::kBpe;
  std::vector<SentencePiece> pieces;
  for (int i = 0; i < 30; ++i)
    pieces.push_back({std::string(7000, static_cast<char>('a' + i % 26)) + std::to_string(i), 0});
  CHECK(problem(sentence_piece(file, pieces)) == "the tokens are too long to be split in all ways");
}

TEST_CASE("SentencePiece: characters alone, and words alone") {
  model::SentencePieceFile file;
  file.kind = model::SentencePieceFile::Kind::kChar;
  CHECK(ids(sentence_piece(file, {{"\u2581", -1}, {"a", -2}, {"aa", -1}}), "aa") == Ids{2, 3, 3});
  file.kind = model::SentencePieceFile::Kind::kWord;
  const auto words = sentence_piece(file, {{"\u2581a", -1}, {"\u2581b", -2}});
  CHECK(ids(words, "a b x y b") == Ids{2, 3, 0, 3});
}

using Strings = std::vector<std::string>;
using Numbers = std::vector<std::int64_t>;

model::TokenizerSource gguf(const std::string& kind, const Strings& tokens, const Numbers& types,
                            const std::vector<double>& scores = {}) {
  model::Gguf file;
  file.metadata.emplace("tokenizer.ggml.model", kind);
  file.metadata.emplace("tokenizer.ggml.tokens", model::GgufArray(tokens));
  file.metadata.emplace("tokenizer.ggml.token_type", model::GgufArray(types));
  if (!scores.empty()) file.metadata.emplace("tokenizer.ggml.scores", model::GgufArray(scores));
  model::TokenizerSource source;
  source.path = "test.gguf";
  source.gguf = std::make_shared<const model::Gguf>(std::move(file));
  return source;
}

// The same with one more key.
model::TokenizerSource with(model::TokenizerSource source, const std::string& key, const model::GgufValue& value) {
  model::Gguf file = *source.gguf;
  file.metadata.insert_or_assign(key, value);
  source.gguf = std::make_shared<const model::Gguf>(std::move(file));
  return source;
}

TEST_CASE("GGUF bert: words in parts, the spelling of the original, ids around the text") {
  auto source = gguf("bert", {"[UNK]", "[CLS]", "[SEP]", "\u2581un", "able", "\u2581a"}, {3, 3, 3, 1, 1, 1});
  source = with(source, "tokenizer.ggml.bos_token_id", std::int64_t{1});
  source = with(source, "tokenizer.ggml.seperator_token_id", std::int64_t{2});
  source = with(source, "tokenizer.ggml.unknown_token_id", std::int64_t{0});
  CHECK(ids(source, "Unable \u00E4 x", {.add_special = true}) == Ids{1, 3, 4, 5, 0, 2});
  CHECK(Tokenizer::load(source).value()->find("##able") == 4);
  CHECK(Tokenizer::load(source).value()->decode(Ids{3, 4, 5}, {}).value() == "unable a");
  source = with(source, "tokenizer.ggml.normalizer.lowercase", false);
  CHECK(ids(source, "Unable a") == Ids{0, 5});
}

TEST_CASE("GGUF t5: the best sum of scores, spaces as the flags say, the end token behind") {
  auto source =
      gguf("t5", {"<pad>", "</s>", "<unk>", "\u2581", "a", "\u2581a"}, {3, 3, 2, 1, 1, 1}, {0, 0, 0, -2, -3, -4});
  CHECK(ids(source, "a  a", {.add_special = true}) == Ids{4, 3, 5, 1});
  source = with(source, "tokenizer.ggml.add_space_prefix", true);
  source = with(source, "tokenizer.ggml.remove_extra_whitespaces", true);
  CHECK(ids(source, "a  ?! a ") == Ids{5, 3, 2, 5});
  source = with(source, "tokenizer.ggml.precompiled_charsmap", model::GgufArray(Numbers{1, 2}));
  CHECK(problem(source).starts_with("damaged character map"));
}

TEST_CASE("GGUF rwkv: the longest token each time, bytes written with escapes") {
  const auto source = gguf("rwkv", {"<s>", "a", "ab", "abc\\x41\\n", "\\xff", "\\\\"}, {3, 1, 1, 1, 1, 1});
  CHECK(ids(source, "abcA\nab\xFF\\<s>") == Ids{3, 2, 4, 5, 0});
  CHECK(ids(source, "abcAa") == Ids{2, 1});  // a character that starts no token vanishes
  std::string places;                        // the next token takes its place
  for (const Piece& piece : Tokenizer::load(source).value()->encode("abcAaa", {}))
    places += std::to_string(piece.begin) + "-" + std::to_string(piece.end) + " ";
  CHECK(places == "0-2 2-5 5-6 ");
  CHECK(Tokenizer::load(source).value()->token_bytes(3) == "abcA\n");
  CHECK(problem(gguf("rwkv", {"\\x4"}, {1})) == "the token with id 0 ends inside an escape");
}

TEST_CASE("GGUF plamo2: the best sum from the end, the longest of equal ways, bytes where no token is") {
  Strings tokens = {"<unk>", "a", "b", "ab", "abc"};
  Numbers types = {2, 1, 1, 1, 1};
  std::vector<double> scores = {0, -1, -2, -3, -9};
  CHECK(problem(gguf("plamo2", tokens, types, scores)) == "the byte 0 has no token");
  for (int byte = 0; byte < 256; ++byte) {
    char spelled[8];
    std::snprintf(spelled, sizeof spelled, "<0x%02X>", static_cast<unsigned>(byte));
    tokens.emplace_back(spelled);
    types.push_back(6);
    scores.push_back(0);
  }
  const auto source = gguf("plamo2", tokens, types, scores);
  CHECK(ids(source, "ab") == Ids{3});
  CHECK(ids(source, "\uFEFFabc\u00E9") == Ids{4, 5 + 0xC3, 5 + 0xA9});
}

TEST_CASE("GGUF whitespace: words without what stands between them") {
  auto source = gguf("whitespace", {"a", "b", "ab", "<0x3F>"}, {1, 1, 1, 6});
  source = with(source, "tokenizer.ggml.merges", model::GgufArray(Strings{"a b"}));
  CHECK(ids(source, " ab \n ba?") == Ids{2, 1, 0, 3});
  source = with(source, "tokenizer.ggml.normalizer.lowercase", true);
  CHECK(ids(source, "AB") == Ids{2});
}

TEST_CASE("GGUF: white space beside tokens goes where the file's name says that the original takes it") {
  auto source =
      gguf("llama", {"<unk>", "<s>", "</s>", "<|end|>", "\u2581", "a"}, {2, 3, 3, 3, 1, 1}, {0, 0, 0, 0, -1, -2});
  CHECK(ids(source, "<|end|> a") == Ids{3, 4, 4, 5});
  source = with(source, "general.name", std::string("My Phi-3 model"));
  CHECK(ids(source, "<|end|> a<s> a") == Ids{3, 4, 5, 1, 4, 4, 5});
}

TEST_CASE("GGUF: one token of many megabytes is refused, at once") {
  const auto source = gguf("llama", {"<unk>", std::string(std::size_t{16} << 20U, 'a')}, {2, 1}, {0, 0});
  CHECK(problem(source) == "the tokens are too long to be split in all ways");
}

TEST_CASE("GGUF: kinds without a vocabulary, and unknown ones") {
  CHECK(problem(gguf("none", {}, {})) == "the file says that it has no vocabulary");
  CHECK(problem(gguf("x", {"a"}, {1})) == "the tokenizer model `x` is not known");
  CHECK(problem(gguf("gpt2", {"a"}, {1})) == "`tokenizer.ggml.merges` is missing");
  CHECK(problem(gguf("t5", {"a", "b"}, {1})) == "`tokenizer.ggml.token_type` is shorter than `tokenizer.ggml.tokens`");
}

TEST_CASE("character map: what is no map, and the longest entry") {
  CHECK_FALSE(Charsmap::parse("").ok());
  CHECK_FALSE(Charsmap::parse(std::string("\xFF\xFF\xFF\xFF\0", 5)).ok());
  CHECK_FALSE(Charsmap::parse(std::string("\0\0\0\0\xFF", 5)).ok());
  const Result<Charsmap> none = Charsmap::parse(std::string("\0\0\0\0a\0", 6));
  REQUIRE(none.ok());
  CHECK_FALSE(none.value().longest_prefix("a").has_value());
}

TEST_CASE("vocab.json and merges.txt: split, framed and given special tokens as the class says") {
  const model::VocabularyFiles files{
      R"({"a": 0, "b": 1, "ab": 2, "Ġ": 3, "Ġab": 4, "1": 5, "11": 6, "Ã": 7, "©": 8, "Ã©": 9})",
      "#version: 0.2\na b\nĠ ab\r\n1 1\nÃ ©", std::nullopt};
  model::TokenizerSource source;
  source.vocabulary = std::make_shared<const model::VocabularyFiles>(files);
  const EncodeOptions framed{.add_special = true};
  CHECK(ids(source, "ab ab11é<|endoftext|>", framed) == Ids{2, 4, 6, 9, 10});
  source.tokenizer_config = parsed(R"({"tokenizer_class": "GPT2TokenizerFast", "add_prefix_space": true,
      "add_bos_token": true, "bos_token": "<b>", "eos_token": null, "image_token": "<i>", "extra_special_tokens": ["<x>"]})");
  CHECK(ids(source, "ab<x>", framed) == Ids{10, 4, 13});
  CHECK(ids(source, "<i>ab<b>", framed) == Ids{10, 12, 4, 10});
  CHECK(Tokenizer::load(source).value()->bos() == 10);
  CHECK_FALSE(Tokenizer::load(source).value()->eos());
  source.tokenizer_config = parsed(R"({"tokenizer_class": "Qwen2Tokenizer", "added_tokens_decoder": {
      "20": {"content": "<e>", "special": false}, "15": {"content": "b1", "special": false, "single_word": true}},
      "eos_token": "<e>", "unk_token": null, "add_eos_token": true})");
  CHECK(ids(source, "ab11 ab", framed) == Ids{2, 5, 5, 4, 11});
  CHECK(ids(source, "<e>b1", framed) == Ids{11, 10, 11});
  CHECK(ids(source, "e\u0301") == Ids{9});
  CHECK(Tokenizer::load(source).value()->vocab_size() == 13);
  source.tokenizer_config = parsed(R"({"tokenizer_class": "RobertaTokenizer", "cls_token": "<c>"})");
  CHECK(ids(source, "ab ab", framed) == Ids{14, 2, 4, 11});
  CHECK(Tokenizer::load(source).value()->vocab_size() == 16);
  source.tokenizer_config =
      parsed(R"({"tokenizer_class": "GPT2Tokenizer", "add_bos_token": true, "bos_token": "<no>"})");
  source.special_tokens = parsed(R"({"bos_token": "<q>", "pad_token": {"content": "<z>", "lstrip": true}})");
  source.added_tokens = parsed(R"({"<q>": 11, "<p>": 10})");
  CHECK(ids(source, "ab<p> <z>", framed) == Ids{11, 2, 10, 13});
  CHECK(Tokenizer::load(source).value()->eos() == 12);
  CHECK_FALSE(Tokenizer::load(source).value()->is_special(10));
}

TEST_CASE("vocab.txt: words by lines, the last of equal ones") {
  const model::VocabularyFiles files{std::nullopt, "",
                                     "[PAD]\n[UNK]\n[CLS]\n[SEP]\n[MASK]\nab\n##ab\ne\nE\nab\u3000\n"};
  model::TokenizerSource source;
  source.vocabulary = std::make_shared<const model::VocabularyFiles>(files);
  const EncodeOptions framed{.add_special = true};
  CHECK(ids(source, "abab É E", framed) == Ids{2, 9, 6, 7, 7, 3});
  CHECK(ids(source, "zz[MASK]", framed) == Ids{2, 1, 4, 3});
  source.tokenizer_config = parsed(R"({"tokenizer_class": "BertTokenizerFast", "do_lower_case": false,
      "strip_accents": true, "sep_token": "ab"})");
  CHECK(ids(source, "abab É e", framed) == Ids{2, 9, 9, 8, 7, 9});
}

TEST_CASE("vocabulary files: what is wrong") {
  const auto with = [](const model::VocabularyFiles& files, const char* config) {
    model::TokenizerSource source;
    source.vocabulary = std::make_shared<const model::VocabularyFiles>(files);
    source.tokenizer_config = parsed(config);
    return problem(source);
  };
  CHECK(
      with({"{\"a\": 0}", "", std::nullopt}, R"({"tokenizer_class": "OtherTokenizer"})") ==
      "`tokenizer_class` is `OtherTokenizer`, of which is not known how it splits text; a tokenizer.json would say it");
  CHECK(with({"{\"a\": 0}", "", std::nullopt}, R"({"tokenizer_class": "BertTokenizer"})") ==
        "`BertTokenizer` wants vocab.txt");
  CHECK(with({"{\"a\": 0", "", std::nullopt}, "{}").find("expected") != std::string::npos);
  CHECK(with({"{\"a\": 0} , \"b\": {}", "", std::nullopt}, "{}") != "none");
  CHECK(with({"[1]", "", std::nullopt}, "{}") == "vocab.json is no object");
  CHECK(with({"{\"a\": 0}", "#version\na\n", std::nullopt}, "{}") == "line 2 of merges.txt is no pair of tokens");
  CHECK(with({"{\"a\": 0}", "a b", std::nullopt}, "{}").find("is not in the vocabulary") != std::string::npos);
  CHECK(with({std::nullopt, "", "a\n\xFF\n"}, "{}") != "none");
}

}  // namespace rondo::tokenizer
