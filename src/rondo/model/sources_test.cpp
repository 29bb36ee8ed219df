#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

#include "model/model_files.h"
#include "tests/support/own_folder.h"

namespace rondo::model {
namespace {

// Pieces of a protocol buffer.
std::string varint(std::uint64_t value) {
  std::string out;
  for (; value >= 0x80; value >>= 7U) out.push_back(static_cast<char>(0x80U | (value & 0x7FU)));
  out.push_back(static_cast<char>(value));
  return out;
}
std::string bytes_field(unsigned number, const std::string& bytes) {
  return varint(number << 3U | 2U) + varint(bytes.size()) + bytes;
}
std::string number_field(unsigned number, std::uint64_t value) { return varint(number << 3U) + varint(value); }
std::string score_field(float score) {
  std::string raw(sizeof score, '\0');
  std::memcpy(raw.data(), &score, sizeof score);
  return varint(2U << 3U | 5U) + raw;
}
std::string piece(const std::string& text, float score = 0, unsigned type = 1) {
  return bytes_field(1, bytes_field(1, text) + score_field(score) + (type == 1 ? "" : number_field(3, type)));
}
std::string small_model() {
  return piece("<unk>", 0, 2) + piece("<s>", 0, 3) + piece("ab", -1) + piece("a", -2.5F) +
         bytes_field(2, number_field(3, 2) + number_field(24, 1)) + bytes_field(3, number_field(3, 0));
}
std::string problem(const std::string& bytes) {
  const Result<SentencePieceFile> file = parse_sentence_piece(bytes);
  return file.ok() ? "none" : file.error().message;
}

std::string rank_problem(std::string_view text) {
  const Result<RankFile> file = parse_rank_file(text);
  return file.ok() ? "none" : file.error().to_string();
}

}  // namespace

TEST_CASE("rank file: tokens in order, blank lines and carriage returns ignored") {
  const Result<RankFile> file = parse_rank_file("YQ== 0\r\n\nYg==\t7\n  YWI= 3");
  REQUIRE(file.ok());
  REQUIRE(file.value().tokens.size() == 3);
  CHECK(file.value().tokens[1].bytes == "b");
  CHECK(file.value().tokens[1].rank == 7);
  CHECK(is_rank_file("\n YQ== 0\n"));
  CHECK_FALSE(is_rank_file("{{ messages }}"));
  CHECK_FALSE(is_rank_file(""));
}

TEST_CASE("rank file: what is wrong, and where") {
  CHECK(rank_problem("YQ== 0\nYQ 1\n") == "line 2:1: damaged rank file: `YQ` is no base64");
  CHECK(rank_problem("YQ==\n") == "line 1:1: damaged rank file: a line is a token and its rank, and this one is not");
  CHECK(rank_problem("YQ== 1 2\n").ends_with("and this one is not"));
  CHECK(rank_problem("YQ== 1\nYg== 1\n") == "line 2:1: damaged rank file: the rank 1 occurs twice");
  CHECK(rank_problem("YQ== 1\nYQ== 2\n") == "damaged rank file: the token of rank 2 has the bytes of an earlier one");
  CHECK(rank_problem("YQ== -1\n").ends_with("the rank -1 is out of range"));
  CHECK(rank_problem("YQ== 99999999\n").ends_with("the rank 99999999 is out of range"));
  CHECK(rank_problem("YQ== x\n").ends_with("the rank `x` is not a number"));
  CHECK(rank_problem("\n\n").ends_with("there is no token"));
}

TEST_CASE("SentencePiece: pieces and settings, fields of other numbers passed over") {
  const Result<SentencePieceFile> file = parse_sentence_piece(small_model() + bytes_field(99, "x"));
  REQUIRE(file.ok());
  REQUIRE(file.value().pieces.size() == 4);
  CHECK(file.value().pieces[0].type == SentencePieceFile::Type::kUnknown);
  CHECK(file.value().pieces[3].text == "a");
  CHECK(file.value().pieces[3].score == -2.5F);
  CHECK(file.value().kind == SentencePieceFile::Kind::kBpe);
  CHECK(file.value().treat_whitespace_as_suffix);
  CHECK_FALSE(file.value().normalizer.add_dummy_prefix);
  CHECK(file.value().normalizer.remove_extra_whitespaces);
  CHECK(is_sentence_piece(small_model()));
  CHECK_FALSE(is_sentence_piece("{{ x }}"));
  CHECK_FALSE(is_sentence_piece(""));
  CHECK_FALSE(is_sentence_piece(bytes_field(2,
                                            "\x0A\x01"
                                            "a")));
}

TEST_CASE("SentencePiece: every prefix is a whole model with fewer fields or an error, never a crash") {
  const std::string whole = small_model();
  int refused = 0;
  for (std::size_t size = 0; size < whole.size(); ++size) {
    refused += parse_sentence_piece(whole.substr(0, size)).ok() ? 0 : 1;
  }
  CHECK(refused > static_cast<int>(whole.size()) / 2);
}

TEST_CASE("SentencePiece: what is wrong, and where") {
  CHECK(problem("").ends_with("there are no pieces"));
  CHECK(problem(piece("a")).ends_with("there are 0 unknown pieces instead of one"));
  CHECK(problem(small_model() + piece("ab")).ends_with("the piece `ab` occurs twice, the second time with id 4"));
  CHECK(problem(small_model() + piece("<0x41>", 0, 6)).ends_with("but `byte_fallback` is off"));
  CHECK(problem(small_model() + bytes_field(2, number_field(35, 1))).ends_with("not every byte has a piece"));
  std::string all_bytes = bytes_field(2, number_field(35, 1));
  for (int byte = 0; byte < 256; ++byte) {
    const char* digits = "0123456789ABCDEF";
    all_bytes += piece(std::string("<0x") + digits[byte / 16] + digits[byte % 16] + ">", 0, 6);
  }
  CHECK(problem(small_model() + all_bytes) == "none");
  CHECK(problem(small_model() + piece("\xFF")).ends_with("the piece with id 4 is no UTF-8"));
  CHECK(problem(small_model() + piece("b", 0, 9)).ends_with("of the unknown type 9"));
  CHECK(problem(small_model() + piece("b", std::nanf(""))).ends_with("a score that is not a number"));
  // A length of 2^63 bytes.
  const Result<SentencePieceFile> huge = parse_sentence_piece(small_model() + "\x0A" + varint(std::uint64_t{1} << 63U));
  REQUIRE_FALSE(huge.ok());
  CHECK(huge.error().offset == small_model().size());
  CHECK(huge.error().message.ends_with("field 1 claims 9223372036854775808 bytes, 0 are left"));
}

TEST_CASE("tokenizer code: the pattern is read where it is assigned") {
  const auto pattern = [](std::string_view python) { return read_tokenizer_code(python).pattern.value_or("none"); };
  CHECK(pattern("PAT_STR = r\"\"\"'s|\\p{L}+\"\"\"  # noqa\n") == "'s|\\p{L}+");
  CHECK(pattern("class A:\n    pat_str: str = (\n        r'a\\s|' # one\n        r\"b\"\n    )\n") == "a\\s|b");
  CHECK(pattern("    pat_str = \"|\".join(\n        [\n            r\"\"\"[\\p{Han}]+\"\"\",\n            r'x',\n      "
                "  ]\n    )\n") == "[\\p{Han}]+|x");
  CHECK(pattern("return {\"name\": \"x\", \"pat_str\": 'a\\tb\\u0041', }") == "a\tbA");
  CHECK(pattern("Encoding(pat_str=PAT_STR)\nPAT_STR = 'z'\n") == "z");
  CHECK(pattern("pat_str = make(1)\nmy_pat_str = 'a'\nif pat_str == 'b': pass\n") == "none");
  CHECK(pattern("pat_str = 'open") == "none");
  CHECK(pattern("pat_str = u'a\\tb'\n") == "a\tb");
  CHECK(pattern("pat_str = (((((((((((('deep'))))))))))))") == "none");
  CHECK(read_tokenizer_code("text = unicodedata.normalize(\"NFC\", text)").nfc);
}

TEST_CASE("a folder gives the tokenizer that transformers would take, and what stands beside it") {
  const testing::OwnFolder folder;
  folder.file("vocab.json", "{}");
  CHECK_FALSE(load_tokenizer_source(folder.path()).ok());
  folder.file("vocab.txt", "a\n");
  CHECK_FALSE(load_tokenizer_source(folder.path()).value().vocabulary->tokens);
  folder.file("merges.txt", "a b\n");
  const auto vocabulary = load_tokenizer_source(folder.path()).value().vocabulary;
  CHECK(vocabulary->tokens == "{}");
  CHECK(vocabulary->merges == "a b\n");
  CHECK(vocabulary->words == "a\n");
  folder.file("x.tiktoken", "YQ== 0\n");
  folder.file("tokenization_x.py", "pat_str = r'\\w'\n");
  folder.file("added_tokens.json", "{\"<x>\": 1}");
  const auto source = [&] { return load_tokenizer_source(folder.path()).value(); };
  CHECK(source().ranks != nullptr);
  CHECK(source().code.pattern == "\\w");
  CHECK(source().added_tokens != nullptr);
  folder.file("sp.model", small_model());
  CHECK(source().sentence_piece != nullptr);
  folder.file("m.model.v3", "YWI= 5\n");  // the first by name
  CHECK(source().ranks != nullptr);
  folder.file("tokenizer.model", small_model());
  CHECK(source().sentence_piece != nullptr);
  folder.file("tekken.json", "{\"config\": {\"pattern\": \"a\"}, \"vocab\": []}");
  CHECK(source().tekken_json != nullptr);
  folder.file("tokenizer.json", "{\"model\": {}}");
  CHECK(source().tokenizer_json != nullptr);
  // A file that is named itself.
  CHECK(load_tokenizer_source(folder.file("t.model.v3", "YWI= 5\n")).value().ranks != nullptr);
  const Result<TokenizerSource> bad = load_tokenizer_source(folder.file("bad.model", "nothing"));
  CHECK(bad.error().message == "is neither a SentencePiece model nor a rank file");
}

}  // namespace rondo::model
