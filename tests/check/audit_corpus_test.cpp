// Audits of the whole corpus, of the published table of templates, and of templates that are known to be clean.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>

#include "json/print.h"
#include "tests/support/audits.h"

namespace rondo {
namespace {

using report::Verdict;

const report::Case* find_case(const report::Report& report, const std::string& scenario) {
  const auto found = std::ranges::find_if(
      report.cases, [&](const report::Case& item) { return item.scenario == scenario && item.setting == "default"; });
  return found == report.cases.end() ? nullptr : &*found;
}

// A row of the published table, as a scenario, or one like it; cause "" where the prefix holds.
struct Row {
  const char* model;
  const char* kwargs;  // one variable that is true, or ""
  const char* scenario;
  const char* cause;
};

// Where a scenario breaks earlier than the table says, the row has the scenario that shows the table's cause.
constexpr Row kTable[] = {
    {"qwen3.6", "", "reasoning-call", ""},
    {"qwen3.6", "", "call-many-arguments", ""},
    {"qwen3.6", "", "reasoning-content", "reasoning-dropped"},
    {"qwen3.6", "preserve_thinking", "reasoning-content", ""},
    {"glm5.1", "", "blank-line-behind-reasoning", "whitespace-stripped"},
    {"glm5.1", "", "reasoning-content", "reasoning-dropped"},
    {"kimi-k2.6", "", "reasoning-call", ""},
    {"kimi-k2.6", "", "reasoning-call-call-answer", "moved-message"},
    {"deepseek-v4", "thinking", "reasoning-call", ""},
    {"deepseek-v4", "thinking", "reasoning-call-answer", ""},
    {"gpt-oss", "", "arguments-text", "double-encoded"},
    {"gpt-oss", "", "arguments-object", ""},
    // The same causes in other templates.
    {"qwen3.5", "", "reasoning-call", ""},
    {"qwen3.5", "", "reasoning-content", "reasoning-dropped"},
    {"glm4.7", "", "blank-line-behind-reasoning", "whitespace-stripped"},
    {"glm4.7", "", "reasoning-content", "reasoning-dropped"},
    {"lfm2.5", "", "reasoning-content", "reasoning-dropped"},
    {"lfm2.5", "preserve_thinking", "reasoning-content", ""},
    {"own-forgetful", "", "reasoning-call", ""},
    {"own-forgetful", "", "call-many-arguments", ""},
    {"own-forgetful", "", "reasoning-content", "reasoning-dropped"},
    {"own-forgetful", "keep_thoughts", "reasoning-content", ""},
    {"own-stripping", "", "blank-line-behind-reasoning", "whitespace-stripped"},
    {"own-stripping", "", "reasoning-content", ""},
    {"own-numbered", "", "reasoning-content", "reasoning-dropped"},
    {"own-respelling", "", "arguments-text", "double-encoded"},
    {"own-respelling", "", "arguments-object", ""},
    {"own-copying", "", "reasoning-call-call-answer", ""},
};
constexpr std::size_t kPublished = 12;  // of them
constexpr std::size_t kOfSmall = 20;    // rows of the small corpus

TEST_CASE("the published table, with its causes") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  std::size_t played = 0;
  for (const Row& row : kTable) {
    CAPTURE(std::string(row.model));
    CAPTURE(std::string(row.scenario));
    json::Object kwargs;
    if (*row.kwargs != '\0') kwargs.set(row.kwargs, true);
    const auto report = test::audit_of(*corpus, row.model, {row.scenario}, kwargs);
    if (!report) continue;
    ++played;
    const report::Case* found = find_case(*report, row.scenario);
    REQUIRE(found != nullptr);
    CAPTURE(found->note);
    const bool holds = *row.cause == '\0';
    CHECK(found->string_prefix == (holds ? Verdict::kHolds : Verdict::kBreaks));
    CHECK(found->token_prefix == (holds ? Verdict::kHolds : Verdict::kBreaks));
    CHECK(found->bridge == Verdict::kHolds);
    CHECK(found->broken.has_value() != holds);
    if (found->broken) CHECK(to_string(found->broken->cause.kind) == row.cause);
  }
  CHECK(played >= (test::is_small_corpus() ? kOfSmall : kPublished));
}

// Read: they copy what they are given, open each turn as the generation prompt does, and look at no later message.
constexpr const char* kClean[] = {
    "kimi-k2-instruct",  "phi-3.5-mini",           "yi-1.5",     "qwen2", "unsloth-chatml",
    "gguf-opencoder-8b", "hfjs-openchat-3.5-0106", "own-copying"};

TEST_CASE("templates that are clean have no findings") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  std::size_t audited = 0;
  for (const std::string id : kClean) {
    CAPTURE(id);
    const test::CorpusRow* row = corpus->find(id);
    if (row == nullptr) continue;
    ++audited;
    const auto report = test::audit_of_template(*corpus, *row);
    REQUIRE_MESSAGE(report.ok(), report.error().to_string());
    for (const report::Finding& finding : report.value().findings)
      CHECK_MESSAGE(false, finding.rule << ": " << finding.sentence);
    const auto held = std::ranges::count(report.value().cases, Verdict::kHolds, &report::Case::string_prefix);
    CHECK(held >= 8);
    if (id == "kimi-k2-instruct" || id == "own-copying") CHECK(held >= 35);
  }
  CHECK(audited >= (test::is_small_corpus() ? 3U : 7U));
}

TEST_CASE("every template of the corpus is audited without a fault, and findings have their parts") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  const bool is_full = std::getenv("RONDO_TEST_FULL") != nullptr;
  const std::size_t every = test::is_small_corpus() ? 8 : 36;
  std::size_t done = 0;
  for (std::size_t i = 0; i < corpus->rows().size(); i += is_full ? 1 : every) {
    const test::CorpusRow& row = corpus->rows()[i];
    CAPTURE(row.id);
    const auto report = test::audit_of_template(*corpus, row);
    if (!report.ok()) {
      CHECK_MESSAGE(report.error().code == ErrorCode::kLimit, report.error().to_string());
      continue;
    }
    ++done;
    for (const report::Finding& finding : report.value().findings) {
      CHECK_FALSE(finding.rule.empty());
      CHECK_FALSE(finding.sentence.empty());
      const auto line = static_cast<std::size_t>(finding.place.line);
      CHECK(line <= report.value().template_lines.size());
    }
    for (const report::Case& played : report.value().cases) {
      CAPTURE(played.scenario);
      CHECK(played.broken.has_value() == (played.string_prefix == Verdict::kBreaks));
    }
    CHECK_FALSE(json::to_compact(to_json(report.value())).empty());
  }
  CHECK(done > 8);
}

}  // namespace
}  // namespace rondo
