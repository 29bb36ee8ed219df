#include "model/python_text.h"

#include <doctest/doctest.h>

#include "json/print.h"

namespace rondo::model {
namespace {

std::string constants(std::string_view python) {
  const auto found = python_constants(python);
  return found.ok() ? json::to_compact(json::Value(found.value())) : found.error().message;
}

}  // namespace

TEST_CASE("python constants: literals in all their spellings") {
  CHECK(constants("A = 'a'\nB: str = \"b\" 'c'\nC = ('d'\n     + \"e\")  # f\n") == R"({"A":"a","B":"bc","C":"de"})");
  CHECK(constants("A = '''x\n'y' \\\nz'''") == R"({"A":"x\n'y' z"})");
  CHECK(constants("A = r'\\n' '\\n\\x41\\u00e9\\U0001F600\\q'") ==
        "{\"A\":\"\\\\n\\nA\xC3\xA9\xF0\x9F\x98\x80\\\\q\"}");
  CHECK(constants("A = 'a' \\\n  'b'; B = 'c'") == R"({"A":"ab"})");
  CHECK(constants("A = 'a'\r\nB = '''b\r\nc\rd'''") == R"({"A":"a","B":"b\nc\nd"})");
  CHECK(constants("A = ', '.join(['a', 'b'])") == R"({"A":"a, b"})");
  CHECK(constants("A = ', '.join([  # of two\n  'a',\n  'b',\n])\nB = 'c'\n") == R"({"A":"a, b","B":"c"})");
  CHECK(constants("A = ''.join(('a' 'b', ('c')))\nB = ('d'\n)\nC = 'e'") == R"({"A":"abc","B":"d","C":"e"})");
  CHECK(constants("A = R'\\n' u'\\n'") == "{\"A\":\"\\\\n\\n\"}");
}

TEST_CASE("python text: brackets behind a text are a call of it") {
  CHECK(python_text("'a' 'b', 'c'", 0) == "ab");
  CHECK(python_text("'a' ('b')", 0) == "a");
  CHECK(python_text("('a' ('b'))", 0) == "ab");
  CHECK(python_text("x = r'a'", 4) == "a");
  CHECK_FALSE(python_text("x = 1", 4));
}

TEST_CASE("python constants: dictionaries, and names of constants above") {
  CHECK(constants("A = 'a'\nB = 'x' + A\nC: Dict[str, str] = {\n  'k': A,  # one\n  \"l\": (\n 'm' A),\n}\nD = {}") ==
        R"({"A":"a","B":"xa","D":{}})");
  CHECK(constants("A = 'a'\nC = {'k': A, 'l': ('m' + A),\n}") == R"({"A":"a","C":{"k":"a","l":"ma"}})");
  CHECK(constants("A = B\nB = 'b'") == R"({"B":"b"})");
}

TEST_CASE("python constants: what is no constant is left out") {
  CHECK(constants("A = 1\nB = f'{A}'\nC = 'a'.upper()\nD = 'a' % 1\nE = 'a', \nF = {'a': 1}\nG = b'a'\nH == 'h'\nI") ==
        "{}");
  CHECK(constants("def f():\n  A = 'a'\n  return \"\"\"\nB = 'b'\n\"\"\"\nC = g(\n'x',\nD = 'd'\n)\nE = 'e'") ==
        R"({"E":"e"})");
  CHECK(constants("# A = 'a'\n'''\nB = 'b'\n'''\nC = 'c") == "{}");
  CHECK(constants("A = 'a'\nA = 'b'\nB = 'b'\nB = 1\nC = 'c'\nC += 'd'") == R"({"A":"b"})");
  CHECK(constants("A = '\\ud800'\nB = '\\u00'\nC = '\\U00110000'") == "{}");
  CHECK(constants("A = {'a'\nB") == "{}");
  CHECK(constants("") == "{}");
}

TEST_CASE("python constants: what grows without end is refused") {
  std::string python = "A = '" + std::string(60'000, 'x') + "'\n";
  for (int i = 0; i < 100; ++i) python += "B = A\n";
  CHECK(constants(python) == "the Python file has more constants than rondo reads");
  python.clear();
  for (int i = 0; i < 1001; ++i) python += "A" + std::to_string(i) + " = ''\n";
  CHECK(constants(python) == "the Python file has more constants than rondo reads");
  CHECK(constants("A = '" + std::string(70'000, 'x') + "'") == "{}");
  CHECK(constants("A = " + std::string(100'000, '(')) == "{}");
}

}  // namespace rondo::model
