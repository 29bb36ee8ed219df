#include "tests/support/audits.h"

#include <doctest/doctest.h>

#include <utility>

#include "base/files.h"
#include "tests/support/corpus_models.h"

namespace rondo::test {

std::optional<report::Report> audit_of(const Corpus& corpus, const std::string& row, std::vector<std::string> scenarios,
                                       json::Object kwargs) {
  const CorpusRow* found = corpus.find(row);
  const auto model = found == nullptr ? std::nullopt : load_model(*found);
  if (!model) return std::nullopt;
  audit::Input input;
  input.chat_template = model->chat_template;
  input.tokenizer = model->tokenizer;
  input.base.bos_token = found->bos_token;
  input.base.eos_token = found->eos_token;
  input.base.kwargs = std::move(kwargs);
  input.options.now = kClock;
  input.model = row;
  audit::Options options;
  options.scenarios = std::move(scenarios);
  auto report = audit::check(input, options);
  REQUIRE_MESSAGE(report.ok(), report.error().to_string());
  return std::move(report).value();
}

Result<audit::Input> input_of(const CorpusRow& row, const std::string& source) {
  auto compiled = jinja::Template::compile(source, {}, row.id);
  if (!compiled.ok()) return compiled.error();
  audit::Input input;
  input.chat_template = std::move(compiled).value();
  input.base.bos_token = row.bos_token;
  input.base.eos_token = row.eos_token;
  input.options.now = kClock;
  input.model = row.id;
  return input;
}

Result<report::Report> audit_of_template(const Corpus& /*corpus*/, const CorpusRow& row) {
  const auto input = input_of(row, files::read(row.template_path).value());
  if (!input.ok()) return input.error();
  return audit::check(input.value(), {});
}

}  // namespace rondo::test
