// The templates of the corpus with what was inferred of them, and what they write.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analyse.h"
#include "tests/support/corpus.h"

namespace rondo::test {

struct AnalysedTemplate {
  std::string name;  // of its file
  std::shared_ptr<const jinja::Template> chat_template;
  std::shared_ptr<const format::Format> format;
  std::optional<std::string> bos_token;
  std::optional<std::string> eos_token;
};

// How a row's template is analysed: with its special tokens, at the corpus' time.
[[nodiscard]] analysis::Options analysis_options(const CorpusRow& row);

// Fails with what is wrong with the template.
[[nodiscard]] Result<AnalysedTemplate> analysed_template(const std::string& path, const analysis::Options& options);
[[nodiscard]] Result<AnalysedTemplate> analysed_template(const CorpusRow& row);

// Each template once, but for those that are no templates; in the order of their paths.  `step`: only every step'th of them.
[[nodiscard]] std::vector<AnalysedTemplate> analysed_templates(const Corpus& corpus, std::size_t step = 1);

struct WrittenTurn {
  std::string prompt;
  std::string text;  // the turn, and what the template writes behind it
};

// What is asked of a template: to write these messages behind a question.
struct TurnQuestion {
  json::Array messages;
  std::optional<json::Value> tools;
  std::string thinking = "default";  // or "on", "off": the usual variables
  bool needs_prompt = false;         // the turn must go on from the generation prompt, else the question alone will do
};

// nullopt if the template refuses, or rewrites what stands before.
[[nodiscard]] std::optional<WrittenTurn> write_turn(const AnalysedTemplate& from, const TurnQuestion& question);

}  // namespace rondo::test
