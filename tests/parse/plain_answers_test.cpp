// Answers that hold no call, such as lists, JSON, code and Markdown, come back as they were written: from every template at hand,
// with and without tools, whole and in pieces.
#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <set>
#include <sstream>

#include "analysis/analyse.h"
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

std::shared_ptr<const format::Format> format_without_end(const std::string& user, const std::string& assistant,
                                                         const std::string& end) {
  const std::string source = "{%- for m in messages %}{%- if m.role == 'user' %}{{- '" + user + "' + m.content + '" +
                             end + "' }}{%- else %}{{- '" + assistant + "' + m.content + '" + end +
                             "' }}{%- endif %}{%- endfor %}{%- if add_generation_prompt %}{{- '" + assistant +
                             "' }}{%- endif %}";
  return analysis::analyse(*jinja::Template::compile(source, {}, "test").value(), {}).value();
}

TEST_CASE("bug: headings and tables in an answer ended turns without an end token") {
  const auto heading = format_without_end("\\n### Human: ", "\\n### Assistant: ", "");
  const auto word = format_without_end("\\n\\nHuman: ", "\\n\\nAssistant: ", "");
  const auto rule = format_without_end("user:\\n", "assistant:\\n", "\\n---\\n");
  const std::string text = "Intro ### x Human: --- y\n\n### Heading\n---|---\n**a**\n\n### Humans";
  CHECK(objection(heading, std::nullopt) == "");
  CHECK(objection(word, std::nullopt) == "");
  for (const auto& format : {heading, word, rule}) {
    const auto syntax = parse::compile(format, {});
    const std::string& stop = format->stops.content.front();
    for (const bool in_pieces : {false, true}) {
      CHECK(read(syntax, "", text, in_pieces).content == text);
      CHECK(read(syntax, "", text + stop, in_pieces).content == text);
      CHECK(read(syntax, "", text + stop + "\nand more", in_pieces).content == text);
    }
  }
  // White space before the next turn is no text of the answer.
  const auto syntax = parse::compile(format_without_end("USER: ", "ASSISTANT: ", "\\n"), {});
  CHECK(read(syntax, "", "a\nb\n", true).content == "a\nb");
  CHECK(read(syntax, "", "a\nb\nUSER: c", true).content == "a\nb");
}

}  // namespace
}  // namespace rondo
