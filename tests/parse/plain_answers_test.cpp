// Answers that hold no call, such as lists, JSON, code and Markdown, come back as they were written: from every template at hand,
// with and without tools, whole and in pieces.
#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <sstream>

#include "base/files.h"
#include "format/units.h"
#include "json/parse.h"
#include "parse/parser.h"
#include "tests/support/corpus_templates.h"

namespace rondo {
namespace {

std::vector<std::string> answers() {
  std::vector<std::string> out;
  std::istringstream lines(files::read(RONDO_SOURCE_DIR "/tests/golden/parse/plain_answers.jsonl").value());
  for (std::string line; std::getline(lines, line);) out.push_back(json::parse(line).value().as_string());
  return out;
}

chat::AssistantMessage read(const std::shared_ptr<const parse::Syntax>& syntax, const std::string& tail,
                            const std::string& text, bool in_pieces) {
  parse::Parser parser(syntax, tail);
  for (std::size_t at = 0; at < text.size(); at += in_pieces ? 1 : text.size())
    (void)parser.feed(in_pieces ? text.substr(at, 1) : text);
  return parser.finish().value();
}

// "" if each answer is read as content alone, else what became of the first that is not.
std::string objection(const std::shared_ptr<const format::Format>& format, const std::optional<json::Value>& tools) {
  parse::Options options;
  options.tools = tools;
  const auto syntax = parse::compile(format, options);
  const std::string tail = format->generation_prompts.empty() ? "" : format->generation_prompts.front().text;
  const bool is_reasoning_open = read(syntax, tail, "yes", false).content.empty();
  const std::string before = is_reasoning_open ? "Hm." + format->reasoning.close : "";
  const std::string_view opener = format::trimmed(format->reasoning.open);
  for (const std::string& answer : answers()) {
    if (!opener.empty() && answer.starts_with(opener)) continue;  // `> ` may open the reasoning, too
    for (const bool in_pieces : {false, true}) {
      const chat::AssistantMessage message = read(syntax, tail, before + answer, in_pieces);
      if (message.content != answer || !message.tool_calls.empty())
        return "`" + answer + "` became `" + message.content + "` and " + std::to_string(message.tool_calls.size()) +
               " calls";
    }
  }
  return "";
}

TEST_CASE("answers without calls come back as they were written") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  const json::Value tools =
      json::parse(files::read(RONDO_SOURCE_DIR "/tests/golden/transcripts/tools.json").value()).value();
  CHECK(answers().size() >= 40);
  std::set<std::string> seen;
  for (const test::CorpusRow& row : corpus->rows()) {
    if (!seen.insert(row.template_path).second) continue;
    const auto found = test::analysed_template(row);
    if (!found.ok()) continue;
    CHECK_MESSAGE(objection(found.value().format, std::nullopt) == "", row.id);
    CHECK_MESSAGE(objection(found.value().format, tools) == "", row.id << ", with tools");
  }
  CHECK(seen.size() >= 50);
}

}  // namespace
}  // namespace rondo
