// What a grammar accepts is read: random texts of the grammars of all templates, of the corpus and invented ones.
//
// RONDO_VERBOSE=TEMPLATE prints the format and failures of that template; RONDO_SAMPLES=N draws N texts of each grammar;
// RONDO_TEMPLATES=FOLDER takes the templates of that folder alone.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

#include "json/print.h"
#include "tests/support/corpus_templates.h"
#include "tests/support/read_law.h"

namespace rondo {
namespace {

using Subject = test::AnalysedTemplate;

std::vector<Subject> subjects() {
  std::vector<Subject> out;
  std::vector<std::filesystem::path> files;
  const char* folder = std::getenv("RONDO_TEMPLATES");
  for (const auto& entry : std::filesystem::directory_iterator(
           folder != nullptr ? std::string(folder) : RONDO_SOURCE_DIR "/tests/golden/format/invented"))
    if (entry.path().extension() == ".jinja") files.push_back(entry.path());
  std::ranges::sort(files);
  for (const std::filesystem::path& file : files) {
    auto found = test::analysed_template(file.string(), {});
    if (folder != nullptr && !found.ok()) continue;
    REQUIRE_MESSAGE(found.ok(), file.string());
    out.push_back(std::move(found).value());
  }
  if (folder != nullptr) return out;
  const auto corpus = test::Corpus::open();
  if (!corpus) return out;
  const bool is_full = std::getenv("RONDO_TEST_FULL") != nullptr || test::is_small_corpus();
  for (Subject& subject : test::analysed_templates(*corpus, is_full ? 1 : 7)) {
    // Strings stand without quotes in these: what they write can't be told from the syntax around it.
    const bool is_ambiguous = subject.name == "vllm-tool_chat_template_llama3.2_pythonic" ||
                              subject.name == "vllm-tool_chat_template_toolace";
    if (!is_ambiguous) out.push_back(std::move(subject));
  }
  return out;
}

TEST_CASE("what a grammar accepts is read as calls that are right") {
  const json::Value tools = test::tools_of_every_type();
  const char* verbose = std::getenv("RONDO_VERBOSE");
  const char* samples = std::getenv("RONDO_SAMPLES");
  const std::size_t count = samples != nullptr ? std::strtoull(samples, nullptr, 10) : 4;
  std::size_t texts = 0;
  std::size_t broken = 0;
  std::string report;
  std::vector<std::string> seen;
  for (const Subject& subject : subjects()) {
    // No grammar tells where a string ends whose quotes the template does not escape.
    const bool loses_quotes = std::ranges::any_of(
        subject.format->losses, [](const format::Loss& loss) { return loss.what == "quotes in strings"; });
    if (!subject.format->calls.present || loses_quotes) continue;
    if (verbose != nullptr && subject.name != verbose && std::string_view(verbose) != "all") continue;
    const auto turn = test::write_turn(
        subject,
        {.messages = {json::Object{{"role", "assistant"}, {"content", "x"}}}, .tools = tools, .needs_prompt = true});
    const std::string prompt = turn ? turn->prompt : "";
    const std::string key =
        subject.format->to_string() + "\n" + prompt.substr(prompt.size() - std::min<std::size_t>(prompt.size(), 100));
    if (std::ranges::find(seen, key) != seen.end()) continue;
    seen.push_back(key);
    if (verbose != nullptr && subject.name == verbose) MESSAGE(subject.format->to_string());
    test::ReadTally tally;
    std::uint64_t seed = 1;
    const std::vector<std::string> tags = test::tags_of(*subject.format, tools);
    for (const test::GrammarQuestion& question : test::grammar_questions(subject.format, tools, prompt))
      test::count_readings(question, count, seed++, tally, tags);
    texts += tally.texts;
    broken += tally.objections.size();
    if (tally.objections.empty()) continue;
    report += "  " + subject.name + ": " + std::to_string(tally.objections.size()) + " of " +
              std::to_string(tally.texts) + "\n";
    tally.objections.resize(std::min<std::size_t>(tally.objections.size(), verbose != nullptr ? 100 : 2));
    for (const std::string& objection : tally.objections) report += "    " + objection.substr(0, 900) + "\n";
  }
  MESSAGE(seen.size() << " formats, " << texts - broken << " of " << texts << " texts read\n" << report);
  CHECK(broken == 0);
}

}  // namespace
}  // namespace rondo
