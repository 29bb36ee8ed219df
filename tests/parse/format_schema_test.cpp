// docs/format.schema.json, against what is written and what is read.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "base/files.h"
#include "json/parse.h"
#include "json/print.h"
#include "tests/support/corpus_templates.h"
#include "tests/support/schema.h"

namespace rondo {
namespace {

json::Value read_schema() { return test::read_schema("docs/format.schema.json"); }

// A value with every member that the schema knows.
json::Value example_of(const json::Value& schema) {
  if (const json::Value* choices = schema.find("enum")) return choices->as_array().front();
  const std::string type(*schema.find_string("type"));
  if (type == "string") return json::Value("x");
  if (type == "boolean") return json::Value(true);
  if (type == "integer") return json::Value(1);
  if (type == "array") return json::Value(json::Array{example_of(*schema.find("items"))});
  json::Object out;
  for (const json::Member& member : schema.find("properties")->as_object())
    out.set(member.key, example_of(member.value));
  return json::Value(std::move(out));
}

TEST_CASE("the reader knows every member of the schema and no other") {
  const json::Value schema = read_schema();
  json::Value example = example_of(schema);
  const auto read = format::from_json(example);
  const std::string message = read.ok() ? "" : read.error().message;
  // The example is of the right types all over; that its parts do not fit each other is verify()'s word.
  INFO(message);
  CHECK(message.find("unknown member") == std::string::npos);
  CHECK(message.find("must be") == std::string::npos);
  CHECK(message == "format: calls.pieces: there is no name");
  CHECK(test::objection(example, schema) == "");
}

// The format as a section of golden/format/rows.txt.
std::string section_of(const test::CorpusRow& row) {
  return "### " + row.id + "\n" + test::analysed_template(row).value().format->to_string();
}

// "### id", then the format of that row of the corpus; RONDO_UPDATE=1 rewrites the formats, the ids are chosen by hand.
TEST_CASE("001:320-321: the formats of chosen templates are what they were") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  const std::string path = RONDO_SOURCE_DIR "/tests/golden/format/rows.txt";
  const std::string golden = files::read(path).value();
  std::string now;
  int compared = 0;
  for (std::size_t begin = golden.find("### "); begin < golden.size();) {
    const std::size_t next = std::min(golden.find("\n### ", begin), golden.size() - 1) + 1;
    const std::string section = golden.substr(begin, next - begin);
    begin = next;
    const std::string id = section.substr(4, section.find('\n') - 4);
    const test::CorpusRow* row = corpus->find(id);
    REQUIRE_MESSAGE((row != nullptr || test::is_small_corpus() || id.starts_with("own-")), id);
    const std::string text = row != nullptr ? section_of(*row) : section;
    CHECK_MESSAGE((section == text || std::getenv("RONDO_UPDATE") != nullptr), "now\n" << text);
    now += text;
    compared += row != nullptr ? 1 : 0;
  }
  CHECK(compared >= 50);
  if (std::getenv("RONDO_UPDATE") != nullptr) std::ofstream(path, std::ios::binary) << now;
}

TEST_CASE("the formats of all templates follow the schema and survive JSON") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  const json::Value schema = read_schema();
  int count = 0;
  for (const test::CorpusRow& row : corpus->rows()) {
    const auto found = test::analysed_template(row);
    if (!found.ok()) continue;
    const json::Value written = format::to_json(*found.value().format);
    CHECK_MESSAGE(test::objection(written, schema) == "", row.id);
    const auto again = format::from_json(written);
    REQUIRE_MESSAGE(again.ok(), row.id << ": " << again.error().message);
    CHECK_MESSAGE(json::to_compact(format::to_json(again.value())) == json::to_compact(written), row.id);
    ++count;
  }
  CHECK(count > (test::is_small_corpus() ? 70 : 300));
}

}  // namespace
}  // namespace rondo
