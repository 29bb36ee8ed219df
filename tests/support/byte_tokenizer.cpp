#include "tests/support/byte_tokenizer.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "base/utf8.h"
#include "json/print.h"

namespace rondo::test {
namespace {

// GPT-2's printable stand-in for each byte: printable Latin-1 characters stand for themselves, the others follow U+0100.
std::string stand_in(int byte) {
  const auto printable = [](int b) {
    return (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || (b >= 0xAE && b <= 0xFF);
  };
  int shift = 0;
  for (int b = 0; b < byte; ++b) shift += printable(b) ? 0 : 1;
  std::string out;
  utf8::append(out, static_cast<char32_t>(printable(byte) ? byte : 256 + shift));
  return out;
}

json::Value object(std::initializer_list<std::pair<const char*, json::Value>> members) {
  json::Object out;
  for (const auto& [key, value] : members) out.set(key, value);
  return out;
}

}  // namespace

json::Value byte_tokenizer_json(const std::vector<std::string>& added_tokens,
                                const std::vector<std::string>& ordinary) {
  json::Object vocab;
  for (int byte = 0; byte < 256; ++byte) vocab.set(stand_in(byte), byte);
  json::Array added;
  for (std::size_t i = 0; i < added_tokens.size(); ++i) {
    added.push_back(object({{"id", static_cast<int>(256 + i)},
                            {"content", added_tokens[i]},
                            {"special", std::ranges::find(ordinary, added_tokens[i]) == ordinary.end()},
                            {"lstrip", false},
                            {"rstrip", false},
                            {"single_word", false},
                            {"normalized", false}}));
  }
  const json::Value byte_level =
      object({{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}});
  const json::Value model = object({{"type", "BPE"},
                                    {"dropout", nullptr},
                                    {"unk_token", nullptr},
                                    {"continuing_subword_prefix", nullptr},
                                    {"end_of_word_suffix", nullptr},
                                    {"fuse_unk", false},
                                    {"byte_fallback", false},
                                    {"vocab", vocab},
                                    {"merges", json::Array{}}});
  return object({{"version", "1.0"},
                 {"truncation", nullptr},
                 {"padding", nullptr},
                 {"added_tokens", added},
                 {"normalizer", nullptr},
                 {"pre_tokenizer", byte_level},
                 {"post_processor", nullptr},
                 {"decoder", byte_level},
                 {"model", model}});
}

std::shared_ptr<const tokenizer::Tokenizer> byte_tokenizer(const std::vector<std::string>& added_tokens,
                                                           const std::string& eos,
                                                           const std::vector<std::string>& ordinary) {
  model::TokenizerSource source;
  source.path = "byte tokenizer";
  source.tokenizer_json =
      std::make_shared<const std::string>(json::to_compact(byte_tokenizer_json(added_tokens, ordinary)));
  json::Object config;
  if (!eos.empty()) config.set("eos_token", eos);
  source.tokenizer_config = std::make_shared<json::Value>(config);
  auto loaded = tokenizer::Tokenizer::load(source);
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().to_string());
  return loaded.value();
}

}  // namespace rondo::test
