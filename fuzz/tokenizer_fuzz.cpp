// Tokenizers: any JSON in the place of a tokenizer.json loads or gives an Error; one that loads encodes any text, with
// offsets that cover it in order, and decodes what it encoded.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <vector>

#include "tokenizer/tokenizer.h"

namespace {

// Words, digits, white space, added tokens, invalid UTF-8, combining marks.
constexpr std::string_view kText =
    "Hello world's 12345  \n\t<s> </s>[CLS] \xC3\xA9\xCC\x81\xF0\x9F\x98\x80 \xE4\xBD\xA0\xFF\xFE\x80 a.b_c!? \r\n";

void check(const rondo::tokenizer::Tokenizer& tokenizer, std::string_view text) {
  for (const bool specials : {true, false}) {
    rondo::tokenizer::EncodeOptions options;
    options.parse_special = specials;
    std::vector<rondo::tokenizer::TokenId> ids;
    for (const auto& piece : tokenizer.encode(text, options)) {
      if (piece.begin > piece.end || piece.end > text.size()) std::abort();
      ids.push_back(piece.id);
    }
    if (!tokenizer.decode(ids, {}).ok()) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Behind the first NUL stands a text to encode; without one it is the fixed text alone.
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const std::size_t cut = std::min(input.find('\0'), size);
  rondo::model::TokenizerSource source;
  source.path = "fuzz";
  source.tokenizer_json = std::make_shared<const std::string>(input.substr(0, cut));
  const auto tokenizer = rondo::tokenizer::Tokenizer::load(source);
  if (!tokenizer.ok()) return 0;
  check(*tokenizer.value(), kText);
  if (cut < size) check(*tokenizer.value(), input.substr(cut + 1));
  return 0;
}
