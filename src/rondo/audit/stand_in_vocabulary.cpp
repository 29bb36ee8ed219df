#include "audit/stand_in_vocabulary.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "format/units.h"
#include "json/print.h"

namespace rondo::audit {
namespace {

constexpr int kBytes = 256;

// The printable character that a byte-level vocabulary uses for a byte.  Printable Latin-1 characters represent
// themselves; the others follow from U+0100.
std::string printable_stand_in(int byte) {
  const auto is_printable = [](int b) {
    return (b >= '!' && b <= '~') || (b >= 0xA1 && b <= 0xAC) || (b >= 0xAE && b <= 0xFF);
  };
  int shift = 0;
  for (int b = 0; b < byte; ++b) shift += is_printable(b) ? 0 : 1;
  std::string out;
  utf8::append(out, static_cast<char32_t>(is_printable(byte) ? byte : kBytes + shift));
  return out;
}

json::Value tokenizer_json(const std::vector<std::string>& added_tokens) {
  json::Object vocabulary;
  for (int byte = 0; byte < kBytes; ++byte) vocabulary.set(printable_stand_in(byte), byte);
  json::Array added;
  for (const std::string& token : added_tokens) {
    added.emplace_back(json::Object{{"id", kBytes + static_cast<int>(added.size())},
                                    {"content", token},
                                    {"special", true},
                                    {"lstrip", false},
                                    {"rstrip", false},
                                    {"single_word", false},
                                    {"normalized", false}});
  }
  const json::Value byte_level =
      json::Object{{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", false}, {"use_regex", false}};
  json::Object model{{"type", "BPE"}, {"vocab", std::move(vocabulary)}, {"merges", json::Array{}}};
  return json::Object{{"version", "1.0"},          {"added_tokens", std::move(added)},
                      {"normalizer", nullptr},     {"pre_tokenizer", byte_level},
                      {"post_processor", nullptr}, {"decoder", byte_level},
                      {"model", std::move(model)}};
}

}  // namespace

Result<std::shared_ptr<const tokenizer::Tokenizer>> stand_in_vocabulary(const format::Format& format,
                                                                        const std::vector<std::string>& more) {
  std::vector<std::string> tokens;
  const auto add = [&tokens](std::string_view text) {
    const std::string token(format::trimmed(text));
    if (token.size() > 1 && std::ranges::find(tokens, token) == tokens.end()) tokens.push_back(token);
  };
  for (const auto* stops : {&format.stops.content, &format.stops.tool, &format.stops.history_close}) {
    for (const std::string& stop : *stops) add(stop);
  }
  for (const std::string& token : more) add(token);

  model::TokenizerSource source;
  source.path = "stand-in vocabulary";
  source.tokenizer_json = std::make_shared<const std::string>(json::to_compact(tokenizer_json(tokens)));
  return tokenizer::Tokenizer::load(source);
}

}  // namespace rondo::audit
