// What each format's parser makes of texts that were written for any format, and its place at each byte of its own
// texts: tests/golden/parse.
#include <doctest/doctest.h>

#include <map>
#include <string>
#include <vector>

#include "base/files.h"
#include "json/parse.h"
#include "json/print.h"
#include "parse/parser.h"
#include "tests/support/golden.h"
#include "tests/support/parsed.h"

namespace rondo::parse {
namespace {

struct Written {
  std::string format;
  std::string text;
  Options options;
};

// The rows of messy_test.cpp.
struct Rows {
  std::map<std::string, std::shared_ptr<const format::Format>> formats;
  std::vector<Written> written;

  Rows() {
    const std::string file = files::read(RONDO_SOURCE_DIR "/src/rondo/parse/testdata/messy.jsonl").value();
    json::Value tools;
    for (std::size_t begin = 0, end = 0; (end = file.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const json::Value row = json::parse(file.substr(begin, end - begin)).value();
      const json::Value* format = row.find("format");
      if (format != nullptr && format->is_object()) {
        formats[std::string(*row.find_string("name"))] =
            std::make_shared<const format::Format>(format::from_json(*format).value());
      } else if (row.find("it") == nullptr) {
        tools = *row.find("tools");
      } else {
        Written made{format->as_string(), std::string(*row.find_string("text")), {}};
        if (row.find("tools") != nullptr) made.options.tools = tools;
        written.push_back(std::move(made));
      }
    }
  }
};

std::string in_quotes(const std::string& text) { return json::to_compact(json::Value(text)); }

TEST_CASE("what each format makes of the others' texts is what it was") {
  const Rows rows;
  std::string out;
  for (const Written& written : rows.written) {
    // Formats that make the same of a text share a line.
    std::map<std::string, std::string> said;
    for (const auto& [name, format] : rows.formats)
      said[testing::show(parse(format, written.options, written.text).value())] += " " + name;
    out += in_quotes(written.text) + "\n";
    for (const auto& [message, names] : said) out += "  " + in_quotes(message) + ":" + names + "\n";
  }
  test::check_golden("parse/foreign.txt", out);
}

TEST_CASE("where a parser stands in a text, and what would close it there, is what it was") {
  const Rows rows;
  std::string out;
  for (const Written& written : rows.written) {
    Parser parser(rows.formats.at(written.format), written.options);
    out += written.format + " " + in_quotes(written.text) + "\n";
    std::string last;
    for (std::size_t at = 0; at < written.text.size(); ++at) {
      (void)parser.feed(written.text.substr(at, 1));
      const std::string stands = std::to_string(static_cast<int>(parser.place())) + (parser.ended() ? " ended" : "") +
                                 (parser.closes_from_end() ? " rest " : " ") + in_quotes(parser.closing_text());
      if (stands != last) out += "  " + std::to_string(at + 1) + ": " + stands + "\n";
      last = stands;
    }
  }
  test::check_golden("parse/places.txt", out);
}

}  // namespace
}  // namespace rondo::parse
