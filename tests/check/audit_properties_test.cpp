// The properties that the audit reads off every template of the corpus: none crashes it, every finding has
// a known rule, its level's list, a sentence and a proof, and places that exist.
//
// RONDO_ROW=<row> audits that row alone; RONDO_VERBOSE=<file> writes all findings there as lines of JSON.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>

#include "analysis/analyse.h"
#include "audit/properties.h"
#include "base/files.h"
#include "json/parse.h"
#include "json/print.h"
#include "tests/support/byte_tokenizer.h"
#include "tests/support/corpus_models.h"
#include "tests/support/corpus_templates.h"

namespace rondo {
namespace {

struct Subject {
  std::shared_ptr<const jinja::Template> chat_template;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  bool has_tokenizer = false;
  std::shared_ptr<const format::Format> format;
  chat::Conversation base;
  tmpl::ApplyOptions options;
};

// A token for each byte, and for the ends that the manifest names.
std::shared_ptr<const tokenizer::Tokenizer> stand_in(const test::CorpusRow& row) {
  std::set<std::string> tokens(row.stop_tokens.begin(), row.stop_tokens.end());
  for (const auto& token : {row.bos_token, row.eos_token}) {
    if (token && !token->empty()) tokens.insert(*token);
  }
  return test::byte_tokenizer({tokens.begin(), tokens.end()}, row.eos_token.value_or(""));
}

Subject load(const test::CorpusRow& row) {
  Subject out;
  out.chat_template = jinja::Template::compile(files::read(row.template_path).value(), {}, row.id).value();
  if (const auto model = test::load_model(row)) out.tokenizer = model->tokenizer;
  out.has_tokenizer = out.tokenizer != nullptr;
  if (!out.has_tokenizer) out.tokenizer = stand_in(row);
  out.base.bos_token = row.bos_token;
  out.base.eos_token = row.eos_token;
  out.options.now = test::kClock;
  analysis::Options analyse = test::analysis_options(row);
  if (out.has_tokenizer) analyse.tokenizer = out.tokenizer.get();
  out.format = analysis::analyse(*out.chat_template, analyse).value();
  return out;
}

report::Report audit_of(const Subject& subject) {
  const render::TurnContext turn{*subject.chat_template, *subject.tokenizer, subject.base, subject.options};
  const render::TurnProfile profile = render::probe_turns(turn);
  report::Report report;
  audit::find_properties({*subject.chat_template, *subject.tokenizer, subject.has_tokenizer, subject.format, profile,
                          subject.base, subject.options},
                         report);
  return report;
}

void check_finding(const report::Finding& finding, bool is_note, std::int32_t lines) {
  const auto known = std::ranges::find(report::rules(), finding.rule, &report::Rule::name);
  CHECK_MESSAGE(known != report::rules().end(), finding.rule);
  CHECK((finding.level == report::Level::kNote) == is_note);
  CHECK_FALSE(finding.sentence.empty());
  CHECK_MESSAGE(!finding.proof.empty(), finding.rule << ": " << finding.sentence);
  CHECK(finding.place.line >= 0);
  CHECK(finding.place.line <= lines);
}

TEST_CASE("properties of the templates of the corpus") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  const char* only = std::getenv("RONDO_ROW");
  const char* path = std::getenv("RONDO_VERBOSE");
  std::ofstream verbose;
  if (path != nullptr) verbose.open(path);
  const std::size_t step = std::getenv("RONDO_TEST_FULL") != nullptr || only != nullptr ? 1
                           : test::is_small_corpus()                                    ? 11
                                                                                        : 79;
  std::map<std::string, int> counts;
  int templates = 0;
  for (std::size_t i = 0; i < corpus->rows().size(); i += step) {
    const test::CorpusRow& row = corpus->rows()[i];
    if (only != nullptr && row.id != only) continue;
    const Subject subject = load(row);
    const report::Report report = audit_of(subject);
    const std::string& source = subject.chat_template->source();
    const auto lines = static_cast<std::int32_t>(std::count(source.begin(), source.end(), '\n')) + 1;
    std::set<std::string> rules;
    for (const auto* list : {&report.findings, &report.notes}) {
      for (const report::Finding& finding : *list) {
        check_finding(finding, list == &report.notes, lines);
        rules.insert(finding.rule + " " + std::string(report::to_string(finding.level)));
        if (path == nullptr) continue;
        verbose << json::to_compact(json::Object{{"row", row.id},
                                                 {"rule", finding.rule},
                                                 {"level", std::string(report::to_string(finding.level))},
                                                 {"line", finding.place.line},
                                                 {"column", finding.place.column},
                                                 {"source", finding.place.source},
                                                 {"sentence", finding.sentence},
                                                 {"proof", finding.proof},
                                                 {"path", finding.path}})
                << "\n";
      }
    }
    for (const std::string& rule : rules) ++counts[rule];
    ++templates;
  }
  std::string summary;
  for (const auto& [rule, count] : counts) summary += "  " + rule + ": " + std::to_string(count) + "\n";
  MESSAGE(templates << " templates\n" << summary);
  CHECK(templates > 0);
}

// golden/check/properties.jsonl: what was read in the templates themselves, each with its reason.
TEST_CASE("faults that are known from reading templates are found, and clean templates have none") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  const std::string text = files::read(RONDO_SOURCE_DIR "/tests/golden/check/properties.jsonl").value();
  std::map<std::string, std::vector<json::Value>> labels;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const json::Value label = json::parse(text.substr(begin, end - begin)).value();
    labels[std::string(*label.find_string("row"))].push_back(label);
    begin = end + 1;
  }
  std::size_t checked = 0;
  for (const auto& [id, expected] : labels) {
    const test::CorpusRow* row = corpus->find(id);
    REQUIRE_MESSAGE((row != nullptr || test::is_small_corpus() || id.starts_with("own-")), id);
    if (row == nullptr) continue;
    const Subject subject = load(*row);
    const report::Report report = audit_of(subject);
    for (const json::Value& label : expected) {
      CAPTURE(json::to_compact(label));
      ++checked;
      if (label.find("tokenizer") != nullptr && !subject.has_tokenizer) continue;
      if (label.find_string("rule") == "clean") {
        CHECK(report.findings.empty());
        continue;
      }
      const bool is_note = label.find_string("level") == "note";
      const std::vector<report::Finding>& list = is_note ? report.notes : report.findings;
      CHECK(std::ranges::any_of(list, [&label](const report::Finding& finding) {
        return finding.rule == label.find_string("rule") &&
               report::to_string(finding.level) == label.find_string("level") &&
               finding.place.line == label.find("line")->to_int64();
      }));
    }
  }
  CHECK(checked >= 16);
}

}  // namespace
}  // namespace rondo
