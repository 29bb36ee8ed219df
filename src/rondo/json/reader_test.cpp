#include "json/reader.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace rondo::json {
namespace {

// The error when `text` is skipped, with its place; "" if there is none.
std::string skip_failure(std::string_view text) {
  Reader in(text);
  if (in.skip() && in.finish()) return "";
  CHECK(in.failed());
  return std::to_string(in.error().line) + ":" + std::to_string(in.error().column) + " " + in.error().message;
}

// The string in `text`; the error if there is none.
std::string string_of(std::string_view text) {
  Reader in(text);
  std::string_view out;
  const bool is_read = in.string(out);
  CHECK(is_read != in.failed());
  return is_read && in.finish() ? std::string(out) : in.error().message;
}

}  // namespace

TEST_CASE("a string ends at its quote, and at nothing else, wherever that stands") {
  for (std::size_t before = 0; before <= 40; ++before) {
    for (const std::size_t behind : {0U, 1U, 15U, 16U, 17U, 40U}) {
      const std::string head(before, 'a');
      const std::string tail(behind, 'b');
      CAPTURE(before);
      CAPTURE(behind);
      CHECK(string_of("\"" + head + tail + "\"") == head + tail);
      CHECK(string_of("\"" + head + R"(\")" + tail + "\"") == head + "\"" + tail);
      CHECK(string_of("\"" + head + " \x7F" + tail + "\"") == head + " \x7F" + tail);
      CHECK(string_of("\"" + head + "\u00e9\u20ac\U0001F600" + tail + "\"") == head + "\u00e9\u20ac\U0001F600" + tail);
      CHECK(string_of("\"" + head + "\x1F" + tail + "\"") == "a control character in a string must be escaped");
      CHECK(string_of("\"\\n" + head + "\x1F" + tail + "\"") == "a control character in a string must be escaped");
      CHECK(string_of("\"" + head + "\xFF" + tail + "\"") == "invalid UTF-8 in a string");
      CHECK(string_of("\"" + head + tail) == "the string is not closed");
      CHECK(string_of("\"" + head + "\"" + tail) == (tail.empty() ? head : "expected the end of the text, found `b`"));

      const std::string text = "[\"" + head + "\", \"" + tail + "\\n\"]";
      Reader in(text, 0, Reader::Checked());
      std::string_view out;
      in.enter_array();
      REQUIRE((in.element() && in.string(out)));
      CHECK(out == head);
      REQUIRE((in.element() && in.string(out)));
      CHECK(out == tail + "\n");
      CHECK_FALSE(in.element());
      CHECK(in.finish());
    }
  }
}

TEST_CASE("characters of two bytes are those from U+0080 to U+07FF") {
  CHECK(string_of("\"\xC2\x80\xDF\xBF\"") == "\xC2\x80\xDF\xBF");
  CHECK(string_of("\"\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80\"") == "\xE0\xA0\x80\xED\x9F\xBF\xEE\x80\x80");
  for (const std::string_view bad : {"\xC1\xBF", "\xC0\x80", "\xC2", "\xC2\x7F", "\xC2\xC0", "\xE0\x9F\xBF", "\x80"}) {
    CHECK_MESSAGE(string_of("\"" + std::string(bad) + "\"") == "invalid UTF-8 in a string", bad);
  }
  CHECK(string_of("\"\xC3") == "invalid UTF-8 in a string");
}

TEST_CASE("escapes stand for their characters") {
  CHECK(string_of(R"("\"\\\/\b\f\n\r\t")") == "\"\\/\b\f\n\r\t");
  CHECK(string_of(R"("\u0009\u004A\u004a\u00ff\uABCD")") == "\tJJ\u00ff\uABCD");
  CHECK(string_of(R"("\ud83d\ude00\uD800\uDC00\udbff\udfff")") == "\U0001F600\U00010000\U0010FFFF");
  // Half a pair is kept, and what follows is read on its own.
  CHECK(string_of(R"("\ud83dx")") == "\xED\xA0\xBDx");
  CHECK(string_of(R"("\ud83d\u0041")") ==
        "\xED\xA0\xBD"
        "A");
  CHECK(string_of(R"("\ud83d\ud83d\ude00")") == "\xED\xA0\xBD\U0001F600");
  CHECK(string_of(R"("\ude00\ud83d")") == "\xED\xB8\x80\xED\xA0\xBD");
  CHECK(string_of(R"("\ud83d\ue000")") == "\xED\xA0\xBD\uE000");
  CHECK(string_of(R"("\ud7ff\udc00")") == "\uD7FF\xED\xB0\x80");
  for (const std::string_view bad :
       {R"("\u00g0")", R"("\u00`0")", R"("\u00/0")", R"("\u00:0")", R"("\u004")", R"("\u00)"}) {
    CHECK_MESSAGE(string_of(bad) == "`\\u` must be followed by four hexadecimal digits", bad);
  }
  CHECK(string_of(R"("\u0041)") == "the string is not closed");
  CHECK(string_of(R"("\)") == "the escape is cut off");
  CHECK(string_of(R"("\x")") == "unknown escape in a string");
}

TEST_CASE("an array is read from behind what is known of it") {
  const auto rest = [](std::string_view text, std::string_view begun) {
    Reader in(text);
    std::string out;
    if (!in.enter_array_behind(begun)) return std::string("other");
    std::int64_t number = 0;
    while (in.element() && in.integer(number)) out += std::to_string(number) + ";";
    return in.finish() ? out : in.error().message;
  };
  CHECK(rest(" [1, 2, 3, 4]", "[1, 2") == "3;4;");
  CHECK(rest("[1, 2]", "[1, 2").empty());
  CHECK(rest("[1, 25]", "[1, 2") == "other");
  CHECK(rest("[1, 3]", "[1, 2") == "other");
  CHECK(rest("[1, 2", "[1, 2") == "other");
  CHECK(rest("[1, 2 , 3]", "[1, 2") == "other");
  CHECK(rest("[1, 2, x]", "[1, 2").starts_with("expected a"));
}

TEST_CASE("what is passed over is checked as what is read") {
  CHECK(skip_failure(R"( {"a": [true, false, null, -1.5e+3, NaN, "x\n"], "b": {}, "c": [[], {"d": 0}]} )").empty());
  CHECK(skip_failure("") == "1:1 expected a value, found the end of the text");
  // Lists of integers are skipped in large steps.  A fault in one of them is found wherever it is.
  for (std::size_t before = 0; before < 40; ++before) {
    std::string row = "[";
    for (std::size_t i = 0; i < before; ++i) row += std::to_string(i * i) + ",";
    CHECK(skip_failure(row + "10,0,7]").empty());
    CHECK(skip_failure(row + "7, 10 ,-3,1.5]").empty());
    for (const char* wrong : {"01]", "5,]", "5,,6]", "]", "00,1]", "5", "5}", "5x]", "5 6]"}) {
      const bool is_empty = before == 0 && std::string_view(wrong) == "]";
      CHECK_MESSAGE(skip_failure(row + wrong).empty() == is_empty, (row + wrong));
    }
  }
  CHECK(skip_failure("[1,\n ]") == "2:2 expected a value, found `]`");
  CHECK(skip_failure("[1 2]") == "1:4 expected `,` or `]` after the element, found `2`");
  CHECK(skip_failure("[1}") == "1:3 expected `,` or `]` after the element, found `}`");
  CHECK(skip_failure(R"({"a": 1)") == "1:8 expected `,` or `}` after the member, found the end of the text");
  CHECK(skip_failure(R"({"a" 1})") == "1:6 expected `:` after the key, found `1`");
  CHECK(skip_failure("{1: 2}") == "1:2 expected a key in double quotes, found `1`");
  CHECK(skip_failure("{\"a\": }") == "1:7 expected a value, found `}`");
  CHECK(skip_failure("[tru]") == "1:2 expected a value, found `t`");
  CHECK(skip_failure("[nul]") == "1:2 expected a value, found `n`");
  CHECK(skip_failure("[fals]") == "1:2 expected a value, found `f`");
  CHECK(skip_failure("[1] 2") == "1:5 expected the end of the text, found `2`");
  CHECK(skip_failure("[\"a\x01\"]") == "1:4 a control character in a string must be escaped");
  CHECK(skip_failure("\x01") == "1:1 expected a value, found a control character");
  CHECK(skip_failure("[-]") == "1:2 expected a value, found `-`");
  CHECK(skip_failure("[1.]") == "1:4 expected a digit after the decimal point, found `]`");
  CHECK(skip_failure("[1e+]") == "1:5 expected a digit in the exponent, found `]`");
}

TEST_CASE("what is passed over may be nested as deep as what is read") {
  const auto nested = [](int depth) {
    return std::string(static_cast<std::size_t>(depth), '[') + std::string(static_cast<std::size_t>(depth), ']');
  };
  CHECK(skip_failure(nested(limits::kJsonDepth)).empty());
  CHECK(parse(nested(limits::kJsonDepth)).ok());
  const std::string deeper = nested(limits::kJsonDepth + 1);
  Reader in(deeper);
  CHECK_FALSE(in.skip());
  CHECK(in.error().code == ErrorCode::kLimit);
  CHECK(in.error().offset == static_cast<std::size_t>(limits::kJsonDepth));
  CHECK(parse(deeper).error().code == ErrorCode::kLimit);
}

TEST_CASE("after a failure nothing is read, and the first failure stays") {
  Reader in("[1, x, 2]");
  std::int64_t number = 0;
  REQUIRE((in.enter_array() && in.element() && in.integer(number) && in.element()));
  CHECK_FALSE(in.integer(number));
  const std::string message = in.error().message;
  std::string_view text;
  Value value;
  CHECK_FALSE(in.element());
  CHECK_FALSE(in.member(text));
  CHECK_FALSE(in.enter_array());
  CHECK_FALSE(in.enter_object());
  CHECK_FALSE(in.string(text));
  CHECK_FALSE(in.number(text));
  CHECK_FALSE(in.integer(number));
  CHECK_FALSE(in.value(value));
  CHECK_FALSE(in.skip());
  CHECK_FALSE(in.finish());
  CHECK(in.peek() == '\0');
  CHECK_FALSE(in.fail_at(0, "another"));
  CHECK(in.error().message == message);
  CHECK(message == "expected a value, found `x`");
  CHECK(in.error().offset == 4);
}

TEST_CASE("values of another kind are refused by name") {
  std::string_view text;
  std::int64_t number = 0;
  Reader object("[1]");
  CHECK_FALSE(object.enter_object());
  CHECK(object.error().message == "expected an object, found `[`");
  Reader array(" 1");
  CHECK_FALSE(array.enter_array());
  CHECK(array.error().message == "expected an array, found `1`");
  CHECK(array.error().column == 2);
  Reader string(" 1");
  CHECK_FALSE(string.string(text));
  CHECK(string.error().message == "expected a string, found `1`");
  Reader nothing(" ");
  CHECK_FALSE(nothing.string(text));
  CHECK(nothing.error().message == "expected a string, found the end of the text");
  Reader fraction(" 1.5");
  CHECK_FALSE(fraction.integer(number));
  CHECK(fraction.error().message == "expected an integer, found `1.5`");
  CHECK(fraction.error().offset == 1);
}

TEST_CASE("numbers are given as they are spelled") {
  for (const char* spelled : {"0", "-0", "10", "-1.50", "1E5", "1e-05", "2E+3", "NaN", "Infinity", "-Infinity"}) {
    const std::string padded = " " + std::string(spelled) + " ";
    Reader in(padded);
    std::string_view text;
    REQUIRE_MESSAGE(in.number(text), spelled);
    CHECK(text == spelled);
    CHECK(in.at() == padded.size() - 1);
    CHECK(in.finish());
  }
  for (const char* spelled : {"+1", ".5", "-NaN", "-x", "", "e5", "/", ":"}) {
    Reader in(spelled);
    std::string_view text;
    CHECK_FALSE_MESSAGE(in.number(text), spelled);
  }
}

TEST_CASE("integers of any length that fits are read, whatever ends them") {
  for (const std::string_view end : {"", ",", "}", "]", "\n", " ", "\r", "\t"}) {
    for (const std::int64_t wanted :
         {std::int64_t{0}, std::int64_t{9}, std::int64_t{10}, std::int64_t{-7}, std::int64_t{99'999'999'999'999'999},
          std::int64_t{100'000'000'000'000'000}, std::int64_t{999'999'999'999'999'999},
          std::int64_t{1'000'000'000'000'000'000}, INT64_MAX, INT64_MIN}) {
      const std::string text = std::to_string(wanted) + std::string(end);
      Reader in(text);
      std::int64_t number = 0;
      REQUIRE_MESSAGE(in.integer(number), text);
      CHECK(number == wanted);
      CHECK(in.at() == text.size() - end.size());
    }
  }
}

TEST_CASE("a long line is left out of an error, and places are those of the whole text") {
  const auto line_of = [](std::size_t size) {
    return parse("[\n" + std::string(size - 1, ' ') + "x\n]").error().line_text.size();
  };
  CHECK(line_of(1) == 1);
  CHECK(line_of(200) == 200);
  CHECK(line_of(201) == 0);
  Reader in("ab\n\n  [x]", 4);
  in.enter_array();
  CHECK_FALSE((in.element() && in.skip()));
  CHECK(in.error().line == 3);
  CHECK(in.error().column == 4);
  CHECK(in.error().offset == 7);
}

}  // namespace rondo::json
