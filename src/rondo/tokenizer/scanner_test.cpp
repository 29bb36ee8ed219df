#include <doctest/doctest.h>

#include <random>
#include <string>

#include "base/utf8.h"
#include "tokenizer/regex.h"
#include "tokenizer/scanner.h"
#include "unicode/classes.h"

namespace rondo::tokenizer {
namespace {

// The expressions as tokenizer files spell them.
const std::string kPatterns[] = {
    R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)",
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    R"((?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
    R"([^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+)",
};

std::string random_text(std::mt19937& random) {
  static const char* const kParts[] = {
      " ",  "  ",      "\n",  "\r\n", "\t",         "\u00a0", "\u3000", "\u180e",     "\u0085", "a",      "b",
      "ab", "A",       "B",   "AB",   "\u4e2d",     "\u01c5", "\u02b0", "\u0301",     "\u0903", "'",      "'s",
      "'S", "'\u017f", "'ll", "'Re",  "'vE",        "'D",     "1",      "12",         "\u00bd", "\u0663", "!",
      "/",  "//",      "-",   "_",    "\U0001f600", "\u2028", "\u200d", "\U0002ebf0", "\u1c89", "\u0897", "\ufb01"};
  std::string text;
  const std::size_t count = random() % 12;
  for (std::size_t i = 0; i < count; ++i) text += kParts[random() % std::size(kParts)];
  if (random() % 8 == 0) utf8::append(text, static_cast<char32_t>(0xE000 + random() % 0x102000));
  return text;
}

}  // namespace

TEST_CASE("scanners cut as their expressions do") {
  std::mt19937 random(20261121);
  for (const std::string& pattern : kPatterns) {
    CAPTURE(pattern);
    const auto scanner = Scanner::find(pattern);
    REQUIRE(scanner.has_value());
    const Result<Regex> regex = Regex::compile(pattern);
    REQUIRE(regex.ok());
    for (int i = 0; i < 4000; ++i) {
      const std::string text = random_text(random);
      std::string shadow;
      const bool substituted = unicode::substitute_newer(text, shadow);
      const Range all{0, static_cast<std::uint32_t>(text.size())};
      std::vector<Range> expected;
      regex.value().find_all(substituted ? shadow : text, all, expected);
      std::vector<Range> found;
      scanner->split(text, all, found);
      if (found != expected) FAIL_CHECK(text);
    }
  }
}

TEST_CASE("scanners find the same pieces in blocks and by characters") {
  std::mt19937 random(20261122);
  constexpr std::string_view kBytes = "aaabcdestlmvrABST0123456789    \n\n\r\t''''(/.,;:-_";
  for (const std::string& pattern : kPatterns) {
    CAPTURE(pattern);
    const auto scanner = Scanner::find(pattern);
    REQUIRE(scanner.has_value());
    for (int i = 0; i < 20000; ++i) {
      std::string text;
      const std::size_t size = random() % 200;
      const std::size_t kinds = 1 + random() % kBytes.size();
      const std::size_t first = random() % kBytes.size();
      while (text.size() < size) {
        if (random() % 64 == 0) text += random_text(random);
        text.append(1 + (random() % 16 == 0 ? random() % 8 : 0), kBytes[(first + random() % kinds) % kBytes.size()]);
      }
      std::vector<std::uint32_t> found[2];
      for (const int slowly : {0, 1}) {
        Scanner::Ends ends;
        for (std::uint32_t at = 0; at < text.size(); at = found[slowly].back()) {
          const Range rest{at, static_cast<std::uint32_t>(text.size())};
          slowly != 0 ? scanner->next_slowly(text, rest, ends) : scanner->next(text, rest, ends);
          REQUIRE(ends.count > 0);
          for (std::size_t n = 0; n < ends.count; ++n) found[slowly].push_back(ends.at[n]);
        }
      }
      if (found[0] != found[1]) FAIL_CHECK(text);
    }
  }
}

TEST_CASE("unknown expressions have no scanner") { CHECK_FALSE(Scanner::find("a+").has_value()); }

TEST_CASE("regex: dialect and limits") {
  const auto find = [](const std::string& pattern, const std::string& text) {
    const Result<Regex> regex = Regex::compile(pattern);
    REQUIRE(regex.ok());
    std::vector<Range> found;
    regex.value().find_all(text, {0, static_cast<std::uint32_t>(text.size())}, found);
    std::string out;
    for (const Range range : found) out += "[" + text.substr(range.begin, range.end - range.begin) + "]";
    return out;
  };
  CHECK(find("(?=(\\d{3})+(?!\\d))", "1234567") == "[][]");
  CHECK(find("\\w+", "a\u0301b_c-d") == "[a\u0301b_c][d]");
  CHECK(find("\\s+$", "a \nb ") == "[ ][ ]");
  CHECK(find("[\\u4E00-\\u9FFF]+", "a\u4e2d\u6587") == "[\u4e2d\u6587]");
  CHECK(find("\\h+", "xyzAF09") == "[AF09]");
  CHECK_FALSE(Regex::compile("[").ok());
  // Catastrophic for a backtracking matcher: it gives up, but nothing is lost.
  const std::string nasty(40, 'a');
  CHECK(find("(a|aa)+[bc]", nasty) == "[" + nasty + "]");
}

TEST_CASE("regex: nested quantifiers end, and lose nothing") {
  const char* const kNested[] = {"(a+)+[bc]",
                                 "(a*)*[bc]",
                                 "(a|a)*[bc]",
                                 "(a|aa)+[bc]",
                                 "(a+a+)+[bc]",
                                 "(?:a?){30}(?:a+)*[bc]",
                                 "(.*)(.*)(.*)(.*)[bc]",
                                 "(?=(a+)+[bc])a",
                                 "^(([a-z])+.)+[A-Z]([a-z])+$",
                                 "((a+)+)+[bc]"};
  for (const char* pattern : kNested) {
    CAPTURE(pattern);
    const Result<Regex> regex = Regex::compile(pattern);
    REQUIRE(regex.ok());
    for (const std::size_t size : {40U, 3000U, 100000U}) {
      const std::string text(size, 'a');
      std::vector<Range> found;
      regex.value().find_all(text, {0, static_cast<std::uint32_t>(size)}, found);
      // Given up at once, or found to match nowhere.
      for (const Range range : found) CHECK(range == Range{0, static_cast<std::uint32_t>(size)});
    }
  }
}

TEST_CASE("regex: many pieces share one effort") {
  const Result<Regex> regex = Regex::compile("(a|aa)+[bc]|d");
  REQUIRE(regex.ok());
  std::string text;
  for (int i = 0; i < 3000; ++i) text += std::string(45, 'a') + "d";
  Effort effort(text.size());
  std::vector<Range> found;
  for (std::uint32_t at = 0; at < text.size(); at += 46) regex.value().find_all(text, {at, at + 46}, found, effort);
  std::vector<Range> expected;
  for (std::uint32_t at = 0; at < text.size(); at += 46) expected.push_back({at, at + 46});
  CHECK(found == expected);
}

TEST_CASE("regex: a long text between two matches is no reason to give up") {
  const Result<Regex> regex = Regex::compile("b+(?!c)|\\s+(?!\\S)");
  REQUIRE(regex.ok());
  const std::string text = "b" + std::string(300000, 'a') + "bb" + std::string(300000, ' ') + "bbc";
  std::vector<Range> found;
  regex.value().find_all(text, {0, static_cast<std::uint32_t>(text.size())}, found);
  CHECK(found == std::vector<Range>{{0, 1}, {300001, 300003}, {300003, 600002}, {600003, 600004}});
}

}  // namespace rondo::tokenizer
