#include "tests/support/small_model.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>

#include "base/files.h"
#include "engine/llama_cpp.h"
#include "json/parse.h"

namespace rondo::testing {
namespace {

// Numbers of the GGUF format: types of values, and of tokens.
constexpr std::uint32_t kUint32 = 4;
constexpr std::uint32_t kInt32 = 5;
constexpr std::uint32_t kString = 8;
constexpr std::uint32_t kArray = 9;
constexpr std::uint32_t kNormal = 1;
constexpr std::uint32_t kControl = 3;
constexpr std::uint32_t kUserDefined = 4;

// The entries of a file's metadata, in the order they are added.
class Metadata {
 public:
  void add(const std::string& key, const std::string& value) {
    begin(key, kString);
    text(value);
  }
  void add(const std::string& key, std::uint32_t value) {
    begin(key, kUint32);
    number(value);
  }
  void add(const std::string& key, const std::vector<std::string>& values) {
    begin(key, kArray);
    number(kString);
    number<std::uint64_t>(values.size());
    for (const std::string& value : values) text(value);
  }
  void add(const std::string& key, const std::vector<std::uint32_t>& values) {
    begin(key, kArray);
    number(kInt32);
    number<std::uint64_t>(values.size());
    for (const std::uint32_t value : values) number(value);
  }
  // A whole file without tensors.
  [[nodiscard]] std::string file() const {
    Metadata header;
    header.number<std::uint32_t>(3);  // the version
    header.number<std::uint64_t>(0);  // tensors
    header.number<std::uint64_t>(count_);
    return "GGUF" + header.bytes_ + bytes_;
  }

 private:
  template <typename Number>
  void number(Number value) {
    for (std::size_t i = 0; i < sizeof value; ++i) bytes_ += static_cast<char>(value >> (8 * i) & 0xFF);
  }
  void text(const std::string& value) {
    number<std::uint64_t>(value.size());
    bytes_ += value;
  }
  void begin(const std::string& key, std::uint32_t type) {
    text(key);
    number(type);
    ++count_;
  }

  std::string bytes_;
  std::uint64_t count_ = 0;
};

}  // namespace

std::string small_vocabulary(const std::vector<std::string>& words) {
  const json::Value tokenizer = json::parse(files::read(std::string(kSmallFolder) + "/tokenizer.json").value()).value();
  const json::Value& model = *tokenizer.find("model");
  std::map<std::int64_t, std::pair<std::string, std::uint32_t>> by_id;
  for (const json::Member& entry : model.find("vocab")->as_object())
    by_id[*entry.value.to_int64()] = {entry.key, kNormal};
  for (const json::Value& token : tokenizer.find("added_tokens")->as_array()) {
    by_id[*token.find("id")->to_int64()] = {std::string(*token.find_string("content")),
                                            token.find("special")->as_bool() ? kControl : kUserDefined};
  }
  std::vector<std::string> tokens;
  std::vector<std::uint32_t> types;
  for (const auto& [id, token] : by_id) {
    REQUIRE(id == static_cast<std::int64_t>(tokens.size()));
    tokens.push_back(token.first);
    types.push_back(token.second);
  }
  std::vector<std::string> merges;
  for (const json::Value& pair : model.find("merges")->as_array())
    merges.push_back(pair.as_array()[0].as_string() + " " + pair.as_array()[1].as_string());
  for (const std::string& word : words) {
    for (std::size_t size = 2; size <= word.size(); ++size) {
      const std::string token = word.substr(0, size);
      if (std::find(tokens.begin(), tokens.end(), token) != tokens.end()) continue;
      merges.push_back(word.substr(0, size - 1) + " " + word.substr(size - 1, 1));
      tokens.push_back(token);
      types.push_back(kNormal);
    }
  }
  const auto id_of = [&](std::string_view content) {
    return static_cast<std::uint32_t>(std::find(tokens.begin(), tokens.end(), content) - tokens.begin());
  };
  Metadata metadata;
  metadata.add("tokenizer.ggml.model", "gpt2");
  metadata.add("tokenizer.ggml.pre", "gpt-2");
  metadata.add("tokenizer.ggml.tokens", tokens);
  metadata.add("tokenizer.ggml.token_type", types);
  metadata.add("tokenizer.ggml.merges", merges);
  metadata.add("tokenizer.ggml.bos_token_id", id_of("<bos>"));
  metadata.add("tokenizer.ggml.eos_token_id", id_of("~fin~"));
  return metadata.file();
}

bool has_engine() {
  if (!engine::has_llama_cpp()) MESSAGE("skipped: a build without an engine");
  return engine::has_llama_cpp();
}

std::string small_model(const OwnFolder& folder, const std::string& name, const std::string& chat_template,
                        const std::vector<engine::ExtraToken>& more_tokens) {
  engine::TinyModel model;
  model.vocabulary = folder.file(name + ".vocabulary", small_vocabulary());
  model.chat_template = chat_template;
  model.extra_tokens = more_tokens;
  const std::string path = folder.path(name);
  const Status written = engine::write_tiny_model(model, path);
  REQUIRE_MESSAGE(written.ok(), (written.ok() ? "" : written.error().to_string()));
  return path;
}

std::string small_template() { return files::read(std::string(kSmallFolder) + "/chat_template.jinja").value(); }

}  // namespace rondo::testing
