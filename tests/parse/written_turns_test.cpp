// What models write over the templates of the corpus, and what they mean by it: rows of golden/parse/written.jsonl, by hand.
//
// White space at the ends of content and reasoning does not count, nor does the spelling of the arguments' JSON.
#include <doctest/doctest.h>

#include <string>

#include "base/files.h"
#include "format/units.h"
#include "json/parse.h"
#include "json/print.h"
#include "protocol/service.h"
#include "tests/support/corpus_files.h"

namespace rondo {
namespace {

json::Value text_of(const json::Value& reply, const char* field) {
  return json::Value(std::string(format::trimmed(reply.find_string(field).value_or(""))));
}

// The reply as the rows say it.
json::Value meant_by(const json::Value& reply) {
  json::Array calls;
  if (const json::Value* all = reply.find("tool_calls")) {
    for (const json::Value& call : all->as_array()) {
      auto arguments = json::parse(*call.find_string("arguments"));
      calls.push_back(
          json::Object{{"name", *call.find("name")},
                       {"arguments", arguments.ok() ? std::move(arguments).value() : *call.find("arguments")}});
    }
  }
  return json::Object{{"reasoning", text_of(reply, "reasoning_content")},
                      {"content", text_of(reply, "content")},
                      {"calls", std::move(calls)}};
}

std::string template_file(const json::Value& row) {
  return test::corpus_folder() + "/templates/" + std::string(*row.find_string("template")) + ".jinja";
}

json::Value request_of(const json::Value& row, const json::Value& tools) {
  json::Object out{{"op", "parse"},
                   {"template_file", template_file(row)},
                   {"mode", "lenient"},
                   {"messages", json::Array{json::Object{{"role", "user"}, {"content", "Hi"}}}},
                   {"tools", tools},
                   {"bos_token", "<s>"},
                   {"eos_token", "</s>"},
                   {"now", "2026-03-14T15:09:26"},
                   {"text", *row.find("text")}};
  if (const json::Value* kwargs = row.find("kwargs")) out.set("kwargs", *kwargs);
  return json::Value(std::move(out));
}

}  // namespace

TEST_CASE("001:265-269: turns that models write mean what they mean") {
  if (test::corpus_folder().empty()) {
    MESSAGE(test::kNoCorpus);
    return;
  }
  const protocol::Service service{protocol::ServiceOptions{}};
  const auto file = files::read(RONDO_SOURCE_DIR "/tests/golden/parse/written.jsonl");
  REQUIRE(file.ok());
  const std::string& text = file.value();
  json::Value tools;
  int count = 0;
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
    const json::Value row = json::parse(text.substr(begin, end - begin)).value();
    if (const json::Value* given = row.find("tools")) {
      tools = *given;
      continue;
    }
    if (test::is_small_corpus() && !files::exists(template_file(row))) continue;
    const auto reply = service.run(request_of(row, tools));
    REQUIRE_MESSAGE(reply.ok(), *row.find_string("template"));
    const json::Object wanted{
        {"reasoning", *row.find("reasoning")}, {"content", *row.find("content")}, {"calls", *row.find("calls")}};
    INFO(*row.find_string("template") << ": " << *row.find_string("it") << "\n" << *row.find_string("text"));
    CHECK(json::to_compact(meant_by(reply.value())) == json::to_compact(json::Value(wanted)));
    ++count;
  }
  CHECK(count > 200);
}

}  // namespace rondo
