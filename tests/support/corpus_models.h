// Models of the corpus: a row's template and tokenizer.
#pragma once

#include <memory>
#include <optional>

#include "jinja/template.h"
#include "tests/support/corpus.h"
#include "tokenizer/tokenizer.h"

namespace rondo::test {

struct CorpusModel {
  std::shared_ptr<const jinja::Template> chat_template;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
};

// nullopt if the row has no tokenizer, or one of a kind that is not supported.  Fails the test where the files cannot be read.
[[nodiscard]] std::optional<CorpusModel> load_model(const CorpusRow& row);

}  // namespace rondo::test
