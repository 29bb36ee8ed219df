#include "tokenizer/cached_model.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <random>

#include "tests/support/own_folder.h"
#include "tokenizer/tokenizer.h"

namespace rondo::tokenizer {
namespace {

namespace fs = std::filesystem;
using testing::OwnFolder;

// The only file in a folder; "" if there is none.
std::string only_file(const std::string& folder) {
  const fs::directory_iterator it(folder);
  return it == fs::directory_iterator() ? "" : it->path().string();
}

// Large enough to be worth a cache: a thousand letters and their merges.
std::string large(const std::string& model, bool scored) {
  std::string vocab;
  std::string merges;
  std::mt19937 random(3);
  int id = 0;
  const auto put = [&](const std::string& token) {
    vocab += vocab.empty() ? "" : ",";
    vocab += scored ? "[\"" + token + "\",-" + std::to_string(random() % 1000) + ".25]"
                    : "\"" + token + "\":" + std::to_string(id);
    ++id;
  };
  const std::string letters = "abcdefghijklmnopqrstuvwxyz";
  put("<unk>");
  for (const char a : letters) put({a});
  for (const char a : letters) {
    for (const char b : letters) {
      put({a, b});
      merges += (merges.empty() ? "[\"" : ",[\"") + std::string(1, a) + "\",\"" + std::string(1, b) + "\"]";
    }
  }
  for (int i = 0; i < 18000; ++i) put("<unused_" + std::to_string(i) + ">");
  return "{\"added_tokens\": [{\"content\": \"<s>\", \"special\": true}], \"decoder\": {\"type\": \"Fuse\"}, "
         "\"model\": {" +
         model + ", \"vocab\": " + (scored ? "[" + vocab + "]" : "{" + vocab + "}") +
         (scored ? "" : ", \"merges\": [" + merges + "]") + "}}";
}

std::shared_ptr<const Tokenizer> load(const std::string& text, const std::string& folder) {
  model::TokenizerSource source;
  source.path = "tokenizer.json";
  source.tokenizer_json = std::make_shared<const std::string>(text);
  auto tokenizer = Tokenizer::load(source, {.cache_folder = folder});
  if (!tokenizer.ok()) FAIL(tokenizer.error().to_string());
  return tokenizer.value();
}

CachedModel small_model() {
  CachedModel model;
  model.document = "{}";
  model.pool = "abc";
  model.entries = {{0, 1, 1, 0}, {1, 2, 1, 0}, {0, 3, 1, 0}, {}};
  model.merges = {{0, 1, 2}};
  return model;
}

}  // namespace

TEST_CASE("a cached tokenizer is the tokenizer") {
  const OwnFolder folder("same");
  for (const bool scored : {false, true}) {
    const std::string text =
        large(scored ? R"("type": "Unigram", "unk_id": 0)" : R"("unk_token": "<unk>", "fuse_unk": true)", scored);
    const auto plain = load(text, "");
    const auto first = load(text, folder.path("deep"));
    const auto second = load(text, folder.path("deep"));
    for (const char* sample : {"hello<s>world", "the quick brown fox", "", "a\u00e9\u00e9b"}) {
      const auto wanted = plain->encode(sample, {});
      CHECK(first->encode(sample, {}) == wanted);
      CHECK(second->encode(sample, {}) == wanted);
    }
    CHECK(second->to_string() == plain->to_string());
    CHECK(second->find("<unused_77>") == plain->find("<unused_77>"));
    CHECK(second->token_bytes(30) == plain->token_bytes(30));
  }
  CHECK(std::distance(fs::directory_iterator(folder.path("deep")), fs::directory_iterator()) == 2);
}

TEST_CASE("tokenizers of 256 KiB and more are cached") {
  const OwnFolder folder("size");
  std::string text = R"({"model": {"type": "WordLevel", "unk_token": "?", "vocab": {"?": 0}}})";
  text.resize((std::size_t{1} << 18U) - 1, ' ');
  (void)load(text, folder.path());
  CHECK(only_file(folder.path()) == "");
  (void)load(text + " ", folder.path());
  CHECK(only_file(folder.path()) != "");
}

TEST_CASE("a damaged cache is made again, and one that can't be written is passed over") {
  const OwnFolder folder("damaged");
  const std::string text = large(R"("type": "BPE")", false);
  const auto plain = load(text, "");
  CHECK(load(text, folder.path())->encode("hello", {}) == plain->encode("hello", {}));
  const std::string path = only_file(folder.path());
  const std::string whole = files::read(path).value();
  for (const std::size_t place :
       {std::size_t{0}, std::size_t{9}, std::size_t{40}, std::size_t{100}, whole.size() - 1}) {
    std::string damaged = whole;
    damaged[place] = static_cast<char>(damaged[place] ^ 1);
    REQUIRE(files::write(path, damaged).ok());
    CHECK(load(text, folder.path())->encode("hello", {}) == plain->encode("hello", {}));
    CHECK(files::read(path).value() == whole);
  }
  REQUIRE(files::write(path, whole.substr(0, 50)).ok());
  CHECK(load(text, folder.path())->encode("hello", {}) == plain->encode("hello", {}));
  CHECK(load(text, path + "/below/a/file")->encode("hello", {}) == plain->encode("hello", {}));
}

TEST_CASE("nothing in a cache file is believed") {
  const ContentKey key = content_key("source");
  const CachedModel good = small_model();
  const auto accepts = [&](const CachedModel& model) { return from_file(to_file(model, key), key).has_value(); };
  CHECK(accepts(good));
  CHECK_FALSE(from_file(to_file(good, key), content_key("other")).has_value());
  CHECK_FALSE(from_file("", key).has_value());
  CachedModel model = good;
  model.entries[1].size = 3;
  CHECK_FALSE(accepts(model));
  model = good;
  model.entries[1].offset = 4000000000U;
  CHECK_FALSE(accepts(model));
  for (const TokenId id : {-1, 3, 4, 2000000000}) {
    model = good;
    model.merges[0][1] = id;
    CHECK_FALSE(accepts(model));
  }
  model = good;
  model.scores = {1.0};
  CHECK_FALSE(accepts(model));
  // Sizes that claim more than there is, with a correct checksum.
  const std::string file = to_file(good, key);
  for (std::size_t at = 0; at < file.size(); ++at) {
    std::string damaged = file;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x80);
    CHECK_FALSE(from_file(damaged, key).has_value());
    seal(damaged);
    (void)from_file(damaged, key).has_value();
  }
}

TEST_CASE("keys of contents") {
  std::string text(200, 'a');
  const ContentKey key = content_key(text);
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::string other = text;
    other[i] = 'b';
    CHECK_FALSE(content_key(other) == key);
    CHECK_FALSE(content_key(text.substr(0, i)) == key);
  }
}

}  // namespace rondo::tokenizer
