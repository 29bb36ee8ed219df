#include <doctest/doctest.h>

#include "tokenizer/regex.h"
#include "tokenizer/regex_dialect.h"

namespace rondo::tokenizer {
namespace {

// The matches in `text`, each between bars.
std::string found(std::string_view pattern, std::string_view text, Dialect dialect = Dialect::kOniguruma) {
  const Result<Regex> regex = Regex::compile(pattern, dialect);
  if (!regex.ok()) return regex.error().message;
  std::vector<Range> matches;
  regex.value().find_all(text, {0, static_cast<std::uint32_t>(text.size())}, matches);
  std::string out = "|";
  for (const Range match : matches) out += std::string(text.substr(match.begin, match.end - match.begin)) + "|";
  return out;
}

std::string rewritten(std::string_view pattern, Dialect dialect = Dialect::kOniguruma) {
  return to_pcre2(pattern, dialect, [](std::string_view name) { return name == "Han"; });
}

}  // namespace

// The expectations are what the reference finds.
TEST_CASE("word characters and boundaries") {
  CHECK(found(R"(\w+)", "a1_\u00e9\u0301 \u2160-\u24b6.\u20e3") == "|a1_\u00e9\u0301|\u2160|\u24b6|\u20e3|");
  CHECK(found(R"(\w)", "\u00bd\u00b2\u2153") == "|\u00bd|\u00b2|");
  CHECK(found(R"([\w])", "\u00bd\u00b2\u2153") == "|");
  CHECK(found(R"(\W)", "a\u00bd-") == "|-|");
  CHECK(found(R"([^\W_]+)", "ab_c-") == "|ab|c|");
  CHECK(found(R"(\bt\w*)", "to at \u00e9t the") == "|to|the|");
  CHECK(found(R"(\Bt)", "to at") == "|t|");
  CHECK(found(R"(\w+)", "a\u200db", Dialect::kPerl) == "|a\u200db|");
}

TEST_CASE("intervals") {
  CHECK(found(R"(\p{N}{1,3}+)", "12345 1") == "|12345|1|");
  CHECK(found(R"(\p{N}{1,3}+)", "12345 1", Dialect::kPerl) == "|123|45|1|");
  CHECK(found(R"((?:ab){2}+)", "abababab ab") == "|abababab|");
  CHECK(found("xa{2}?", "x xaa xa") == "|x|xaa|x|");
  CHECK(found("ba{,2}", "baaa") == "|baa|");
  CHECK(found("a{b}", "a{b}") == "|a{b}|");
  CHECK(found(R"(\x{e9}\u00e9)", "\u00e9\u00e9") == "|\u00e9\u00e9|");
}

TEST_CASE("options, escapes") {
  CHECK(found("(?m:a.b)", "a\nb") == "|a\nb|");
  CHECK(found("(?i)A", "aA") == "|a|A|");
  CHECK(found(R"(\h+\H)", "0aFg") == "|0aFg|");
  CHECK(found(R"(\v)", "\n\v") == "|\v|");
  CHECK(found(R"(a\O)", "a\n") == "|a\n|");
  CHECK(found("(?#no)a", "a") == "|a|");
}

TEST_CASE("sets in sets, intersections, names") {
  CHECK(found("[a-z&&[^aeiou]]+", "abcde") == "|bcd|");
  CHECK(found("[^a-z&&[^aeiou]]+", "abcde") == "|a|e|");
  CHECK(found(R"([^a[b-d]\s]+)", "abc ef") == "|ef|");
  CHECK(found("[]x]+", "x]y") == "|x]|");
  CHECK(found("[[:alpha:]]+", "a\u0345\u0363\u0301 1") == "|a\u0345\u0363|");
  CHECK(found("[[:^alpha:]]", "a1") == "|1|");
  CHECK(found("[[:punct:]]+", "!$x") == "|!$|");
  CHECK(found(R"(\p{Punct}+)", "!$x") == "|!|");
  CHECK(found(R"(\p{Uppercase_Letter}+\p{^L})", "AB1") == "|AB1|");
  CHECK(rewritten(R"(\p{Han}\P{^Lu})") == R"([\p{sc:Han}][\p{Lu}])");
  CHECK(rewritten(R"([\d\-a])") == R"([\d\-a])");
  CHECK(found("[a", "a").find("does not compile") != std::string::npos);
  CHECK(found(std::string(40, '[') + "a" + std::string(40, ']'), "a").find("does not compile") != std::string::npos);
}

}  // namespace rondo::tokenizer
