// Tokenizers against what their references make of the same texts.
//
// The vocabularies with .inp and .out files come from the engine's package; tokenizer.json files, texts and ids from the
// corpus.  Without RONDO_TEST_FULL only some of the larger corpus is taken.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "json/parse.h"
#include "model/model_files.h"
#include "tests/support/corpus_files.h"
#include "tests/support/own_folder.h"
#include "tokenizer/tokenizer.h"

namespace rondo::tokenizer {
namespace {

namespace fs = std::filesystem;

using test::output_of;

bool full() { return std::getenv("RONDO_TEST_FULL") != nullptr; }

// The file or folder of the corpus.
std::string corpus_path(const std::string& name) { return test::corpus_folder() + "/" + name; }

bool has_ids() {
  if (test::corpus_folder().empty()) {
    MESSAGE(test::kNoCorpus);
    return false;
  }
  const bool found = files::exists(corpus_path("tokenizers/index.json"));
  if (!found)
    MESSAGE("skipped: the package `tokenizers`, which says what ids are right, cannot be had for this Python");
  return found;
}

// RONDO_TEST_TOKENIZER names a single one.
bool is_wanted(std::string_view id) {
  if (const char* only = std::getenv("RONDO_TEST_TOKENIZER")) return id == only;
  constexpr std::string_view kSample[] = {"qwen3", "gemma3", "llama2", "deepseek_v3", "falcon3", "phi3", "t5_small"};
  const bool is_of_sample = std::find(std::begin(kSample), std::end(kSample), id) != std::end(kSample);
  return full() || is_of_sample || test::is_small_corpus();
}

std::vector<json::Value> read_lines(const std::string& name) {
  std::vector<json::Value> values;
  for (const std::string& line : test::read_xz_lines(corpus_path(name))) {
    Result<json::Value> value = json::parse(line);
    REQUIRE_MESSAGE(value.ok(), name);
    values.push_back(std::move(value).value());
  }
  return values;
}

std::shared_ptr<const Tokenizer> load(const std::string& path) {
  Result<model::TokenizerSource> source = model::load_tokenizer_source(path);
  if (!source.ok()) FAIL(source.error().to_string());
  Result<std::shared_ptr<const Tokenizer>> tokenizer = Tokenizer::load(source.value());
  if (!tokenizer.ok()) FAIL(tokenizer.error().to_string());
  return tokenizer.value();
}

std::vector<TokenId> to_ids(const json::Value& list) {
  std::vector<TokenId> ids;
  for (const json::Value& id : list.as_array()) ids.push_back(static_cast<TokenId>(*id.to_int64()));
  return ids;
}

std::string show(const std::vector<TokenId>& ids) {
  std::string out;
  for (const TokenId id : ids) out += " " + std::to_string(id);
  return out;
}

// Pieces follow each other in the text and stay inside it.  Several may stand for one character.
bool in_order(const std::vector<Piece>& pieces, std::size_t size) {
  Piece last;
  for (const Piece& piece : pieces) {
    if (piece.begin > piece.end || piece.end > size || piece.begin < last.begin || piece.end < last.end) return false;
    last = piece;
  }
  return true;
}

// The folder of a tokenizer.json of the corpus, overlays applied; "" if that can't be had here.
std::string corpus_tokenizer(const json::Value& row, const testing::OwnFolder& scratch) {
  const std::string id(*row.find_string("id"));
  const std::string file(*row.find_string("file"));
  const std::string path = scratch.path(id + ".json");
  if (file.ends_with(".json.xz")) {
    (void)output_of("xz -dc '" + corpus_path(file) + "' > '" + path + "'");
  } else {
    const std::string script =
        "import sys, json; sys.path.insert(0, sys.argv[1]); import apply_overlay; "
        "json.dump(apply_overlay.load(sys.argv[2], sys.argv[3]), sys.stdout)";
    (void)output_of("python3 -B -c '" + script + "' '" + corpus_path("../oracle") + "' '" + corpus_path("") + "' '" +
                    file + "' > '" + path + "'");
  }
  return path;
}

// The texts of the set `gen` of a row, by conversation.
std::map<std::string, std::string> rendered(const std::string& row) {
  std::map<std::string, std::string> by_hash;
  std::map<std::string, std::string> texts;
  for (const json::Value& line : read_lines("render/" + row + ".jsonl.xz")) {
    for (const char* suffix : {"", "0"}) {
      const auto text = line.find_string(std::string("t") + suffix);
      if (text) by_hash[std::string(*line.find_string(std::string("h") + suffix))] = std::string(*text);
    }
    const auto hash = line.find_string("h");
    if (hash && line.find_string("k") == "gen")
      texts[std::string(*line.find_string("c"))] = by_hash.at(std::string(*hash));
  }
  return texts;
}

struct Tally {
  int cases = 0;
  int wrong = 0;
  std::string first;  // what went wrong first

  void count(bool right, const std::string& what) {
    ++cases;
    if (right) return;
    if (wrong++ == 0) first = what;
  }
};

void compare(const Tokenizer& tokenizer, const json::Value& line, const std::string& text, Tally& tally) {
  const json::Value& all = *line.find("p");
  const json::Value* found = line.find("n");
  const json::Value& no_special = found != nullptr ? *found : all;
  found = line.find("x");
  const json::Value& plain = found != nullptr ? *found : no_special;
  const auto check = [&](const json::Value& expected, const EncodeOptions& options, const char* mode) {
    const std::vector<Piece> pieces = tokenizer.encode(text, options);
    std::vector<TokenId> ids;
    for (const Piece& piece : pieces) ids.push_back(piece.id);
    tally.count(ids == to_ids(expected) && in_order(pieces, text.size()),
                std::string(mode) + " `" + text + "`:" + show(ids) + ", expected" + show(to_ids(expected)));
  };
  check(all, {}, "all");
  check(no_special, {.parse_special = false}, "no special");
  check(plain, {.parse_special = false, .parse_added = false}, "plain");
  const std::vector<TokenId> ids = to_ids(all);
  const std::string expected(line.find_string("d").value_or(text));
  const Result<std::string> decoded = tokenizer.decode(ids, {});
  tally.count(decoded.ok() && decoded.value() == expected,
              "decode `" + text + "`: `" + (decoded.ok() ? decoded.value() : decoded.error().message) + "`");
}

// PATH.inp has texts, each followed by a line that separates; PATH.out the ids of each, in one line.
void check_engine_golden(const Tokenizer& tokenizer, const std::string& path) {
  const std::string inputs = files::read(path + ".inp").value();
  std::istringstream outputs(files::read(path + ".out").value());
  const std::string separator = "\n__ggml_vocab_test__\n";
  std::size_t at = 0;
  for (std::string line; std::getline(outputs, line);) {
    const std::size_t end = std::min(inputs.find(separator, at), inputs.size());
    const std::string text = inputs.substr(at, end - at);
    at = end + separator.size();
    std::vector<TokenId> expected;
    std::istringstream numbers(line);
    for (TokenId id = 0; numbers >> id;) expected.push_back(id);
    CAPTURE(text);
    CHECK(show(tokenizer.encode_ids(text, {.parse_special = false})) == show(expected));
  }
}

}  // namespace

TEST_CASE("vocabularies of the engine's package") {
  const char* fixtures = std::getenv("RONDO_FIXTURES");
  if (fixtures == nullptr) {
    MESSAGE("skipped: RONDO_FIXTURES is not set");
    return;
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(fs::path(fixtures) / "vocab")) {
    const std::string path = entry.path().string();
    if (!path.ends_with(".gguf")) continue;
    CAPTURE(path);
    Result<model::TokenizerSource> source = model::load_tokenizer_source(path);
    REQUIRE(source.ok());
    Result<std::shared_ptr<const Tokenizer>> tokenizer = Tokenizer::load(source.value());
    REQUIRE_MESSAGE(tokenizer.ok(), tokenizer.error().message);
    if (files::exists(path + ".inp")) check_engine_golden(*tokenizer.value(), path);
  }
}

TEST_CASE("a tokenizer.json from a package, by the texts of the same vocabulary in the engine's package") {
  const char* fixtures = std::getenv("RONDO_FIXTURES");
  const std::string folder = fixtures == nullptr ? "" : fixtures;
  const std::string path = folder + "/qwen-tokenizer/qwen/tokenizer.json";
  if (!files::exists(path)) {
    MESSAGE("skipped: RONDO_FIXTURES is not set");
    return;
  }
  check_engine_golden(*load(path), folder + "/vocab/ggml-vocab-qwen2.gguf");
}

TEST_CASE("a rank file from a package gives the ids of the same vocabulary in the engine's package") {
  const char* fixtures = std::getenv("RONDO_FIXTURES");
  const std::string folder = fixtures == nullptr ? "" : fixtures;
  const std::string path = folder + "/qwen-tokenizer/qwen.tiktoken";
  if (!files::exists(path)) {
    MESSAGE("skipped: RONDO_FIXTURES is not set");
    return;
  }
  check_engine_golden(*load(path), folder + "/vocab/ggml-vocab-qwen2.gguf");
}

// Files of the makers' own formats, and tokenizers of the corpus whose ids without added tokens are the same.
TEST_CASE("corpus: texts with rank files and tekken.json") {
  if (!has_ids()) return;
  const testing::OwnFolder scratch;
  std::map<std::int64_t, std::string> texts;
  for (const json::Value& line : read_lines("tokens/strings.jsonl.xz")) {
    texts[*line.find("i")->to_int64()] = std::string(*line.find_string("s"));
  }
  using File = std::array<const char*, 3>;
  constexpr File kUnnamed = {"qwen3_6.tiktoken", "x.tiktoken", "qwen3_6"};
  const std::vector<File> given =
      test::is_small_corpus() ? std::vector<File>{kUnnamed, {"tekken.json", "tekken.json", "tekken"}}
                              : std::vector<File>{kUnnamed,
                                                  {"o200k_base.tiktoken", "o200k_base.tiktoken", "gptoss"},
                                                  {"tekken_240911.trimmed.json", "tekken.json", "mistral_nemo"}};
  // Models that ship such a file ship the code that splits the text and brings it into NFC.
  scratch.file("tokenization_x.py",
               "PAT_STR = r\"\"\"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\\r\\n\\p{L}\\p{N}]?[\\p{L}\\p{M}]+|\\p{N}|"
               " ?[^\\s\\p{L}\\p{M}\\p{N}]+[\\r\\n]*|\\s*[\\r\\n]+|\\s+(?!\\S)|\\s+\"\"\"\n"
               "text = unicodedata.normalize(\"NFC\", text)\n");
  for (const auto& [file_name, name, golden] : given) {
    const std::string file = file_name;
    const std::string path =
        scratch.file(std::string_view(name) == "x.tiktoken" ? name : std::string(golden) + "/" + name, "");
    (void)output_of("xz -dc '" + corpus_path("tokenizers/native/" + file) + ".xz' > '" + path + "'");
    CAPTURE(file);
    const auto tokenizer = load(path);
    fs::remove(path);
    Tally tally;
    for (const json::Value& line : read_lines(std::string("tokens/") + golden + ".jsonl.xz")) {
      const json::Value* number = line.find("i");
      if (number == nullptr) continue;
      const std::string& text = texts.at(*number->to_int64());
      const json::Value* found = line.find("x") != nullptr ? line.find("x") : line.find("n");
      const std::vector<TokenId> expected = to_ids(found != nullptr ? *found : *line.find("p"));
      const std::vector<TokenId> ids = tokenizer->encode_ids(text, {.parse_special = false, .parse_added = false});
      tally.count(ids == expected, "`" + text + "`:" + show(ids) + ", expected" + show(expected));
    }
    std::printf("%-28s %6d of %6d\n", file.c_str(), tally.cases - tally.wrong, tally.cases);
    CHECK(tally.cases > 100);
    CHECK_MESSAGE(tally.wrong == 0, tally.first);
  }
}

TEST_CASE("corpus: texts") {
  if (!has_ids()) return;
  const testing::OwnFolder scratch;
  std::map<std::int64_t, std::string> texts;
  for (const json::Value& line : read_lines("tokens/strings.jsonl.xz")) {
    texts[*line.find("i")->to_int64()] = std::string(*line.find_string("s"));
  }
  const json::Value index = json::parse(files::read(corpus_path("tokenizers/index.json")).value()).value();
  for (const json::Value& row : index.as_array()) {
    const std::string id(*row.find_string("id"));
    if (row.find_string("format") == "gguf") continue;
    if (!is_wanted(id)) continue;
    const std::string path = corpus_tokenizer(row, scratch);
    CAPTURE(id);
    const auto tokenizer = load(path);
    fs::remove(path);
    Tally tally;
    for (const json::Value& line : read_lines("tokens/" + id + ".jsonl.xz")) {
      const json::Value* number = line.find("i");
      compare(*tokenizer, line, number != nullptr ? texts.at(*number->to_int64()) : std::string(*line.find_string("s")),
              tally);
    }
    std::printf("%-20s %6d of %6d\n", id.c_str(), tally.cases - tally.wrong, tally.cases);
    CHECK(tally.cases > 100);
    CHECK_MESSAGE(tally.wrong == 0, tally.first);
  }
}

TEST_CASE("corpus: rendered chats") {
  if (!has_ids()) return;
  const testing::OwnFolder scratch;
  const json::Value index = json::parse(files::read(corpus_path("tokenizers/index.json")).value()).value();
  int chats = 0;
  const json::Value manifest = json::parse(files::read(corpus_path("manifest.json")).value()).value();
  for (const json::Value& row : index.as_array()) {
    const std::string id(*row.find_string("id"));
    if (row.find_string("format") == "gguf" || !is_wanted(id)) continue;
    std::shared_ptr<const Tokenizer> tokenizer;
    Tally tally;
    for (const json::Value& chat : manifest.find("rows")->as_array()) {
      const std::string name(*chat.find_string("id"));
      const std::string golden = "tokens_chat/" + name + ".jsonl.xz";
      if (chat.find_string("tokenizer") != row.find_string("file") || !files::exists(corpus_path(golden))) continue;
      if (!tokenizer) tokenizer = load(corpus_tokenizer(row, scratch));
      std::map<std::string, std::string> texts = rendered(name);
      for (const json::Value& line : read_lines(golden)) {
        const std::string& text = texts.at(std::string(*line.find_string("c")));
        const std::vector<TokenId> expected = to_ids(*line.find("ids"));
        tally.count(tokenizer->encode_ids(text, {}) == expected, name + " `" + text + "`");
      }
    }
    if (tally.cases > 0) std::printf("%-20s %6d of %6d chats\n", id.c_str(), tally.cases - tally.wrong, tally.cases);
    CHECK_MESSAGE(tally.wrong == 0, tally.first);
    chats += tally.cases;
  }
  CHECK(chats > 300);
}

}  // namespace rondo::tokenizer
