// What models really write: rows of testdata/messy.jsonl.  A case has a sentence, a text and the message that it stands
// for.
//
// A line is a format (`name`, `format`), the tools that the lines after it may use (`tools`), or a case.
#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <string>

#include "json/parse.h"
#include "json/print.h"
#include "parse/parser.h"
#include "tests/support/parsed.h"

namespace rondo::parse {
namespace {

TEST_CASE("texts that models write") {
  std::ifstream file(RONDO_SOURCE_DIR "/src/rondo/parse/testdata/messy.jsonl");
  REQUIRE(file.good());
  std::map<std::string, std::shared_ptr<const format::Format>> formats;
  json::Value tools;
  int cases = 0;
  for (std::string line; std::getline(file, line);) {
    const json::Value row = json::parse(line).value();
    if (const json::Value* format = row.find("format"); format != nullptr && format->is_object()) {
      auto made = format::from_json(*format);
      REQUIRE_MESSAGE(made.ok(), *row.find_string("name"));
      formats[std::string(*row.find_string("name"))] = std::make_shared<const format::Format>(std::move(made).value());
    } else if (row.find("it") == nullptr) {
      tools = *row.find("tools");
    } else {
      Options options;
      if (row.find("tools") != nullptr) options.tools = tools;
      const std::string name(*row.find_string("format"));
      const std::string text(*row.find_string("text"));
      REQUIRE_MESSAGE(formats.contains(name), name);
      INFO(name << ": " << *row.find_string("it") << "\n" << text);
      CHECK(testing::in_any_chunks(formats[name], text, options) == *row.find_string("want"));
      ++cases;
    }
  }
  CHECK(cases > 100);
}

}  // namespace
}  // namespace rondo::parse
