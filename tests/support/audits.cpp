#include "tests/support/audits.h"

#include <doctest/doctest.h>

#include <utility>

#include "base/files.h"
#include "model/model_files.h"

namespace rondo::test {

std::optional<audit::Report> audit_of(const Corpus& corpus, const std::string& row, std::vector<std::string> scenarios,
                                      json::Object kwargs) {
  const CorpusRow* found = corpus.find(row);
  if (found == nullptr || found->model_folder.empty()) return std::nullopt;
  const auto files = model::load(found->model_folder);
  REQUIRE_MESSAGE(files.ok(), files.error().to_string());
  auto tokenizer = tokenizer::Tokenizer::load(*files.value().tokenizer);
  REQUIRE_MESSAGE(tokenizer.ok(), tokenizer.error().to_string());
  audit::Input input;
  input.chat_template = jinja::Template::compile(files.value().templates.front().text, {}, row).value();
  input.tokenizer = std::move(tokenizer).value();
  input.base.bos_token = found->bos_token;
  input.base.eos_token = found->eos_token;
  input.base.kwargs = std::move(kwargs);
  input.options.now = corpus.clock();
  input.model = row;
  audit::Options options;
  options.scenarios = std::move(scenarios);
  auto report = audit::check(input, options);
  REQUIRE_MESSAGE(report.ok(), report.error().to_string());
  return std::move(report).value();
}

Result<audit::Report> audit_of_template(const Corpus& corpus, const CorpusRow& row) {
  auto compiled = jinja::Template::compile(files::read(row.template_path).value(), {}, row.id);
  if (!compiled.ok()) return compiled.error();
  audit::Input input;
  input.chat_template = std::move(compiled).value();
  input.base.bos_token = row.bos_token;
  input.base.eos_token = row.eos_token;
  input.options.now = corpus.clock();
  input.model = row.id;
  return audit::check(input, {});
}

}  // namespace rondo::test
