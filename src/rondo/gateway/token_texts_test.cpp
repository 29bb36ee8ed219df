#include "gateway/token_texts.h"

#include <doctest/doctest.h>

#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace rondo::gateway {
namespace {

using tokenizer::TokenId;
using tokenizer::Tokenizer;
using Type = model::SentencePieceFile::Type;

// As Llama 2 and Mistral have it: 0 <unk>, 1 <s>, 2.. the pieces.
std::shared_ptr<const Tokenizer> marked() {
  model::SentencePieceFile file;
  file.kind = model::SentencePieceFile::Kind::kBpe;
  file.byte_fallback = true;
  file.pieces = {{"<unk>", 0, Type::kUnknown},
                 {"<s>", 0, Type::kControl},
                 {"\u2581", -1},
                 {"\u2581big", -2},
                 {"er", -3},
                 {"<0xE4>", 0, Type::kByte},
                 {"<0xBD>", 0, Type::kByte},
                 {"<0xA0>", 0, Type::kByte},
                 {"<0x0A>", 0, Type::kByte}};
  model::TokenizerSource source;
  source.path = "test.model";
  source.sentence_piece = std::make_shared<const model::SentencePieceFile>(std::move(file));
  return Tokenizer::load(source).value();
}

std::vector<std::string> texts_of(TokenTexts texts, const std::vector<TokenId>& ids) {
  std::vector<std::string> out;
  for (const TokenId id : ids) {
    out.push_back(texts.at(id));
    texts.take(id);
  }
  return out;
}

using Texts = std::vector<std::string>;

TEST_CASE("bug: log probabilities named tokens without their blanks, and parts of characters without their bytes") {
  const auto tokenizer = marked();
  const TokenTexts anew(tokenizer.get());
  CHECK(texts_of(anew, {3, 4, 2, 3}) == Texts{"big", "er", " ", " big"});
  CHECK(texts_of(anew, {2, 2, 3}) == Texts{"", " ", " big"});
  CHECK(texts_of(anew, {5, 6, 7, 8, 3}) == Texts{"\xe4", "\xbd", "\xa0", "\n", " big"});
  CHECK(texts_of(anew, {1, 3}) == Texts{"<s>", " big"});
  CHECK(texts_of(anew, {-1, 99, 3}) == Texts{"", "", "big"});
  for (const std::vector<TokenId>& ids :
       {std::vector<TokenId>{3, 4, 2, 3}, {2, 2, 3}, {5, 6, 7, 8, 3}, {1, 3, 8, 8, 2}, {2, 5, 6, 7}}) {
    std::string joined;
    for (const std::string& text : texts_of(anew, ids)) joined += text;
    CHECK(joined == tokenizer->decode(ids, {}).value());
  }
  // What follows a text does not begin one.
  CHECK(texts_of(TokenTexts(tokenizer.get(), std::array<TokenId, 2>{1, 4}), {3}) == Texts{" big"});
  CHECK(texts_of(TokenTexts(tokenizer.get(), std::array<TokenId, 1>{1}), {3}) == Texts{"big"});
  CHECK(texts_of(TokenTexts(nullptr), {3}) == Texts{""});
}

}  // namespace
}  // namespace rondo::gateway
