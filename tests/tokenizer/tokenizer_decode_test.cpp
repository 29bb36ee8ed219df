// Laws of decoding over the tokenizers of the corpus: ids one by one give the text of the whole, never half a character,
// and the bytes of ids put together are the text of byte-level vocabularies.
#include <doctest/doctest.h>

#include <random>

#include "base/utf8.h"
#include "model/model_files.h"
#include "tests/support/corpus.h"
#include "tokenizer/tokenizer.h"

namespace rondo::tokenizer {
namespace {

std::vector<TokenId> random_ids(const Tokenizer& tokenizer, const std::vector<TokenId>& bytes, std::mt19937& random) {
  std::vector<TokenId> ids;
  const std::size_t count = random() % 40;
  while (ids.size() < count) {
    const bool wants_byte = !bytes.empty() && random() % 3 == 0;
    ids.push_back(wants_byte ? bytes[random() % bytes.size()]
                             : static_cast<TokenId>(random() % static_cast<std::uint32_t>(tokenizer.vocab_size())));
    if (random() % 8 == 0 && !tokenizer.added_tokens().empty()) {
      ids.push_back(tokenizer.added_tokens()[random() % tokenizer.added_tokens().size()].id);
    }
  }
  return ids;
}

void check_laws(const Tokenizer& tokenizer) {
  std::mt19937 random(11);
  std::vector<TokenId> bytes;  // ids of single bytes that are no characters
  for (TokenId id = 0; id < tokenizer.vocab_size(); ++id) {
    const std::string_view text = tokenizer.token_bytes(id);
    if (text.size() == 1 && static_cast<unsigned char>(text[0]) >= 0x80) bytes.push_back(id);
  }
  for (int round = 0; round < 400; ++round) {
    const std::vector<TokenId> ids = random_ids(tokenizer, bytes, random);
    const DecodeOptions options{.skip_special = round % 2 == 0};
    const std::string whole = tokenizer.decode(ids, options).value();
    REQUIRE(utf8::is_valid(whole));
    Tokenizer::Stream stream(tokenizer, options);
    std::string joined;
    for (const TokenId id : ids) {
      const std::string part = stream.next(id).value();
      REQUIRE(utf8::is_valid(part));
      joined += part;
    }
    joined += stream.finish();
    REQUIRE(joined == whole);
  }
}

}  // namespace

TEST_CASE("000:8-11: decoding in pieces gives the whole, in whole characters") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  for (const test::CorpusRow& row : corpus->rows_with_tokenizer()) {
    INFO(row.id);
    const auto source = model::load_tokenizer_source(row.model_folder);
    if (!source.ok()) continue;
    const auto tokenizer = Tokenizer::load(source.value());
    REQUIRE_MESSAGE(tokenizer.ok(), tokenizer.error().to_string());
    check_laws(*tokenizer.value());
  }
}

}  // namespace rondo::tokenizer
