// The laws of the parser over the formats of all templates at hand and texts that their models might write: recorded
// completions of the corpus, mutated.  Every 11th text unless RONDO_TEST_FULL=1.
#include <doctest/doctest.h>

#include <cstdlib>
#include <memory>
#include <random>

#include "base/files.h"
#include "base/utf8.h"
#include "json/parse.h"
#include "parse/parser.h"
#include "tests/support/corpus_templates.h"
#include "tests/support/parsed.h"

namespace rondo {
namespace {

using format::Format;
using parse::Event;
using parse::EventKind;
using parse::Options;
using parse::Parser;

constexpr std::size_t kLongestText = 1500;
constexpr std::size_t kTextsPerRow = 24;

std::string completions_file(const std::string& row) {
  return test::corpus_folder() + "/completions/" + row + ".jsonl.xz";
}

std::vector<std::string> completions(const std::string& row) {
  std::vector<std::string> out;
  for (const std::string& text : test::read_xz_lines(completions_file(row))) {
    const json::Value line = json::parse(text).value();
    const auto written = line.find_string("q");
    if (written && !written->empty() && written->size() < kLongestText) out.emplace_back(*written);
  }
  return out;
}

// Texts of the format that a mutation may put in or take out.
std::vector<std::string> markers_of(const Format& format) {
  std::vector<std::string> out = {"\n", " ", "{", "}", "\"", "'", ",", "\xC3", "\xA9"};
  const auto add = [&out](const std::string& text) {
    if (!text.empty()) out.push_back(text);
  };
  for (const auto* text :
       {&format.header, &format.reasoning.open, &format.reasoning.close, &format.content.open, &format.content.close,
        &format.calls.section_open, &format.calls.section_close, &format.calls.call_open, &format.calls.call_close,
        &format.calls.separator, &format.calls.parameters.open, &format.calls.parameters.key_close,
        &format.calls.parameters.close, &format.calls.parameters.separator})
    add(*text);
  for (const auto& piece : format.calls.pieces) add(piece.text);
  for (const auto& form : format.calls.parameters.forms) {
    add(form.open);
    add(form.close);
  }
  for (const std::string& stop : format.stops.content) add(stop);
  return out;
}

std::string mutated(std::string text, const std::vector<std::string>& markers, std::mt19937& random) {
  const auto below = [&random](std::size_t limit) { return limit == 0 ? 0 : random() % limit; };
  for (std::size_t count = below(4); count > 0; --count) {
    const std::size_t at = below(text.size() + 1);
    const std::string& marker = markers[below(markers.size())];
    switch (below(5)) {
      case 0: text.insert(at, marker); break;
      case 1: text.erase(at, below(12)); break;
      case 2: text.resize(at); break;
      case 3: text.insert(at, text.substr(below(text.size() + 1), below(60))); break;
      default:
        if (const std::size_t found = text.find(marker); found != std::string::npos) text.erase(found, marker.size());
        break;
    }
  }
  return text;
}

std::vector<std::string> cut_by(const std::string& text, const std::vector<std::size_t>& cuts) {
  std::vector<std::string> out;
  std::size_t begin = 0;
  for (const std::size_t cut : cuts) {
    if (cut <= begin || cut >= text.size()) continue;
    out.push_back(text.substr(begin, cut - begin));
    begin = cut;
  }
  out.push_back(text.substr(begin));
  return out;
}

// Single bytes, pairs, random pieces, and cut at and around every marker.
std::vector<std::vector<std::string>> chunkings(const std::string& text, const std::vector<std::string>& markers,
                                                std::mt19937& random) {
  std::vector<std::size_t> ones;
  std::vector<std::size_t> twos;
  std::vector<std::size_t> any;
  std::vector<std::size_t> borders;
  for (std::size_t i = 0; i < text.size(); ++i) {
    ones.push_back(i);
    if (i % 2 == 0) twos.push_back(i);
    if (random() % 5 == 0) any.push_back(i);
    for (const std::string& marker : markers) {
      if (marker.size() > 1 && text.compare(i, marker.size(), marker) == 0) borders.push_back(i);
    }
  }
  return {cut_by(text, ones), cut_by(text, twos), cut_by(text, any), cut_by(text, borders)};
}

// `run` itself checks that the events cover the text and say what the message says.
void check_chunks(const std::shared_ptr<const Format>& format, const Options& options, const std::string& text,
                  std::mt19937& random) {
  const std::string whole = parse::testing::run(format, options, {text});
  for (const auto& chunks : chunkings(text, markers_of(*format), random))
    CHECK_MESSAGE(parse::testing::run(format, options, chunks) == whole, text);
}

// What the events hold of a text is whole characters, if the text is.
void check_characters(const std::shared_ptr<const Format>& format, const Options& options, const std::string& text) {
  if (!utf8::is_valid(text)) return;
  Parser parser(format, options);
  const auto check = [&text](std::span<const Event> events) {
    for (const Event& event : events) CHECK_MESSAGE(utf8::is_valid(event.text), text);
  };
  for (const char byte : text) check(parser.feed(std::string_view(&byte, 1)));
  check(parser.close());
}

// With the closing text the message is complete, and its calls are those that were open.
bool closes(const std::shared_ptr<const Format>& format, const Options& options, const std::string& text) {
  Parser parser(format, options);
  (void)parser.feed(text);
  const std::string closing = parser.closing_text();
  (void)parser.feed(closing);
  const bool is_complete = parser.finish().value().complete;
  if (!is_complete && std::getenv("RONDO_VERBOSE") != nullptr) MESSAGE(text << "\n  closing " << closing);
  return is_complete;
}

struct Count {
  int texts = 0;
  int closed = 0;
};

void check_row(const test::CorpusRow& row, const std::shared_ptr<const Format>& format, std::size_t step,
               Count& count) {
  const std::vector<std::string> texts = completions(row.id);
  const std::vector<std::string> markers = markers_of(*format);
  std::mt19937 random(static_cast<std::uint32_t>(texts.size()));
  const std::size_t every = std::max<std::size_t>(1, texts.size() * step / 7 / kTextsPerRow);
  for (std::size_t i = 0; i < texts.size(); i += every) {
    Options options;
    options.inline_reasoning = random() % 8 == 0;
    options.partial = random() % 8 == 0;
    options.calls = random() % 16 != 0;
    const std::string text = mutated(texts[i], markers, random);
    INFO(row.id);
    check_chunks(format, options, text, random);
    check_characters(format, options, text);
    options = {};
    std::string cut = texts[i].substr(0, random() % (texts[i].size() + 1));
    cut.resize(utf8::complete_prefix(cut));
    ++count.texts;
    count.closed += closes(format, options, cut) ? 1 : 0;
  }
}

}  // namespace

TEST_CASE("001:382, 001:387: the laws of the parser hold for mutated completions of every template") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  const std::size_t step = std::getenv("RONDO_TEST_FULL") != nullptr ? 1 : 11;
  Count count;
  for (const test::CorpusRow& row : corpus->rows()) {
    if (!files::exists(completions_file(row.id))) continue;
    const auto found = test::analysed_template(row);
    if (found.ok()) check_row(row, found.value().format, step, count);
  }
  MESSAGE(count.closed << " of " << count.texts << " texts that were cut off are complete with their closing text");
  CHECK(count.texts > 200);
  CHECK(count.closed * 10 > count.texts * 9);
}

}  // namespace rondo
