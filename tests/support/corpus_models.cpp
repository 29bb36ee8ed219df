#include "tests/support/corpus_models.h"

#include <doctest/doctest.h>

#include "model/model_files.h"

namespace rondo::test {

std::optional<CorpusModel> load_model(const CorpusRow& row) {
  if (row.model_folder.empty()) return std::nullopt;
  const auto files = model::load(row.model_folder);
  REQUIRE_MESSAGE(files.ok(), files.error().to_string());
  if (!files.value().tokenizer || files.value().templates.empty()) return std::nullopt;
  const auto tokenizer = tokenizer::Tokenizer::load(*files.value().tokenizer);
  if (!tokenizer.ok()) return std::nullopt;
  const auto chat_template = jinja::Template::compile(files.value().templates.front().text, {}, row.id);
  REQUIRE_MESSAGE(chat_template.ok(), chat_template.error().to_string());
  return CorpusModel{chat_template.value(), tokenizer.value()};
}

}  // namespace rondo::test
