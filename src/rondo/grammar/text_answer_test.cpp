// Answers that are texts of a schema's string, not JSON.
#include <doctest/doctest.h>

#include "format/format.h"
#include "grammar/matcher.h"
#include "grammar/turn.h"
#include "json/parse.h"

namespace rondo::grammar {
namespace {

const std::string kThinking = R"("reasoning": {"present": true, "open": "<think>\n", "close": "\n</think>\n\n"})";

Grammar text_answer(const std::string& members, const std::string& schema, TurnOptions options = {}) {
  const auto format = format::from_json(
      json::parse(R"({"header": "[bot]", "stops": {"content": ["<eot>\n"]})" + members + "}").value());
  if (!format.ok()) FAIL(format.error().to_string());
  options.response_schema = json::parse(schema).value();
  options.is_text_answer = true;
  auto turn = turn_grammar(format.value(), options);
  if (!turn.ok()) FAIL(turn.error().to_string());
  CHECK(turn.value().warnings.empty());
  return std::move(turn.value().grammar);
}

const std::string kChoice = R"({"type": "string", "enum": ["yes", "n\"o"]})";

TEST_CASE("an answer chosen from texts is one of them, without quotes or white space around it") {
  const Grammar g = text_answer("", kChoice);
  for (const char* good : {"yes", "n\"o", "yes<eot>\n"}) CHECK_MESSAGE(accepts(g, good), good);
  for (const char* bad : {"\"yes\"", " yes", "yes ", "yesn\"o", "no", "", "<think>\n\n</think>\n\nyes"})
    CHECK_MESSAGE(!accepts(g, bad), bad);
}

TEST_CASE("an answer by a pattern matches it as a whole") {
  const Grammar g = text_answer("", R"({"type": "string", "pattern": "^(?:[0-9]{2}|a+b)$"})");
  for (const char* good : {"42", "aab", "ab<eot>\n"}) CHECK_MESSAGE(accepts(g, good), good);
  for (const char* bad : {"4", "421", "\"42\"", "b", "aab\n"}) CHECK_MESSAGE(!accepts(g, bad), bad);
}

TEST_CASE("an answer by a grammar is one of its texts, behind reasoning too") {
  const std::string schema =
      R"x({"x-grammar": {"syntax": "gbnf", "definition": "root ::= \"(\" root \")\" | [a-z\\n]{2}"}})x";
  const Grammar g = text_answer(", " + kThinking, schema);
  for (const char* good : {"ab", "((a\n))", "<think>\nhm\n</think>\n\n(ab)", "(xy)<eot>\n"})
    CHECK_MESSAGE(accepts(g, good), good);
  for (const char* bad : {"a", "((ab)", " ab", "\"ab\"", "(ab)\n"}) CHECK_MESSAGE(!accepts(g, bad), bad);
}

TEST_CASE("an answer in text comes behind reasoning and the template's own white space") {
  const Grammar g = text_answer(", " + kThinking, kChoice);
  for (const char* good : {"<think>\nhm\n</think>\n\nyes", "<think>\nhm\n</think>yes<eot>\n", "yes"})
    CHECK_MESSAGE(accepts(g, good), good);
  for (const char* bad : {"<think>\nhm\n</think>\n\n\nyes", "<think>\nhm\n</think>\n\nyes\n", "<think>\nhm"})
    CHECK_MESSAGE(!accepts(g, bad), bad);
  TurnOptions open;
  open.prompt_tail = "[bot]<think>\n";
  const Grammar begun = text_answer(", " + kThinking, kChoice, open);
  CHECK(accepts(begun, "hm\n</think>\n\nyes"));
  CHECK(!accepts(begun, "yes"));
}

TEST_CASE("an answer in text stands in the format's own markers of content") {
  const std::string content = R"(, "content": {"open": "<say>\n", "close": "\n</say>"})";
  const Grammar g = text_answer(content, kChoice);
  for (const char* good : {"<say>\nyes\n</say>", "<say>yes</say><eot>\n", "yes"}) CHECK_MESSAGE(accepts(g, good), good);
  CHECK(!accepts(g, "<say>\n\nyes\n</say>"));
  TurnOptions ends;
  ends.ends_by_token = true;
  CHECK(accepts(text_answer("", kChoice, ends), "yes"));
  CHECK(!accepts(text_answer("", kChoice, ends), "yes<eot>\n"));
}

}  // namespace
}  // namespace rondo::grammar
