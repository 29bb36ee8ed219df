#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "text/dumps.h"
#include "text/text.h"

namespace rondo::text {
namespace {

// The runs of a dump of `tools`, one line each.
std::string parts(const std::string& json) {
  Origins origins;
  const PathId tools = origins.paths.variable("tools");
  Text text;
  Run dump;
  dump.kind = RunKind::kDump;
  dump.origin = static_cast<std::uint32_t>(tools);
  text.append("<", Run{});
  text.append(json, dump);
  text.append(">", Run{});
  CHECK(text.has_dumps());
  text.take_dumps_apart(origins.paths);
  CHECK(!text.has_dumps());
  CHECK(text.verify(origins).value_or("") == "");
  const std::string out = text.to_string(origins);
  const std::size_t first = out.find('\n') + 1;
  return out.substr(first, out.rfind("\n[") + 1 - first);
}

}  // namespace

TEST_CASE("dumps: the parts of a text and their paths") {
  const std::pair<std::string, std::string> rows[] = {
      {"{}", "[1,3) serialiser tools \"{}\"\n"},
      {"[ ]", "[1,4) serialiser tools \"[ ]\"\n"},
      {R"(["", -1.5e3,null])",
       "[1,2) serialiser tools \"[\"\n[2,4) serialiser tools[0] \"\\\"\\\"\"\n[4,6) serialiser tools \", \"\n"
       "[6,12) scalar tools[1] \"-1.5e3\"\n[12,13) serialiser tools \",\"\n[13,17) scalar tools[2] \"null\"\n"
       "[17,18) serialiser tools \"]\"\n"},
      {"[[],[[]]]",
       "[1,2) serialiser tools \"[\"\n[2,4) serialiser tools[0] \"[]\"\n[4,5) serialiser tools \",\"\n"
       "[5,6) serialiser tools[1] \"[\"\n[6,8) serialiser tools[1][0] \"[]\"\n[8,9) serialiser tools[1] \"]\"\n"
       "[9,10) serialiser tools \"]\"\n"},
      {R"({"a\n": "x\u001f\"", "": true})",
       "[1,3) serialiser tools \"{\\\"\"\n[3,4) data tools.#a\n[0,1) \"a\"\n[4,6) escaped tools.#a\n[1,2) \"\\\\n\"\n"
       "[6,9) serialiser tools \"\\\": \"\n[9,10) serialiser tools.a\n \"\\\"\"\n[10,11) data tools.a\n[0,1) \"x\"\n"
       "[11,17) escaped tools.a\n[1,2) \"\\\\u001f\"\n[17,19) escaped tools.a\n[2,3) \"\\\\\\\"\"\n"
       "[19,20) serialiser tools.a\n \"\\\"\"\n[20,26) serialiser tools \", \\\"\\\": \"\n[26,30) scalar tools. "
       "\"true\"\n"
       "[30,31) serialiser tools \"}\"\n"},
      {"{\n  \"]\": \"{,\"\n}",
       "[1,6) serialiser tools \"{\\n  \\\"\"\n[6,7) data tools.#][0,1) \"]\"\n[7,10) serialiser tools \"\\\": \"\n"
       "[10,11) serialiser tools.] \"\\\"\"\n[11,13) data tools.][0,2) \"{,\"\n[13,14) serialiser tools.] \"\\\"\"\n"
       "[14,16) serialiser tools \"\\n}\"\n"},
      {R"({"a": 1, "a": 2})",
       "[1,3) serialiser tools \"{\\\"\"\n[3,4) data tools.#a[0,1) \"a\"\n[4,7) serialiser tools \"\\\": \"\n"
       "[7,8) scalar tools.a \"1\"\n[8,11) serialiser tools \", \\\"\"\n[11,12) data tools.#a[0,1) \"a\"\n"
       "[12,15) serialiser tools \"\\\": \"\n[15,16) scalar tools.a \"2\"\n[16,17) serialiser tools \"}\"\n"},
  };
  for (const auto& [json, want] : rows) CHECK_MESSAGE(parts(json) == want, json);
}

TEST_CASE("dumps: keys name their members by what their escapes stand for") {
  // Printed by letter; in a path, as the bytes themselves.
  const std::string out = parts(R"({"\u001f\u000A\n\r\t\b\f\"\\": 1, "x\u007f": "a"})");
  CHECK(out.find("scalar tools.\x1f\n\n\r\t\b\f\"\\ \"1\"\n") != std::string::npos);
  CHECK(out.find("data tools.x\x7f[0,1) \"a\"\n") != std::string::npos);
}

TEST_CASE("dumps: strings that are escapes alone, and ones that end with an escape") {
  CHECK(parts(R"(["\n"])") ==
        "[1,2) serialiser tools \"[\"\n[2,3) serialiser tools[0] \"\\\"\"\n[3,5) escaped tools[0][0,1) \"\\\\n\"\n"
        "[5,6) serialiser tools[0] \"\\\"\"\n[6,7) serialiser tools \"]\"\n");
  CHECK(parts(R"(["a\\","b"])") ==
        "[1,2) serialiser tools \"[\"\n[2,3) serialiser tools[0] \"\\\"\"\n[3,4) data tools[0][0,1) \"a\"\n"
        "[4,6) escaped tools[0][1,2) \"\\\\\\\\\"\n[6,7) serialiser tools[0] \"\\\"\"\n[7,8) serialiser tools \",\"\n"
        "[8,9) serialiser tools[1] \"\\\"\"\n[9,10) data tools[1][0,1) \"b\"\n[10,11) serialiser tools[1] \"\\\"\"\n"
        "[11,12) serialiser tools \"]\"\n");
}

TEST_CASE("dumps: an object of many members, whose paths are not made at once") {
  std::string json = "{";
  for (int i = 0; i < 100; ++i) json += (i == 0 ? "\"k" : ", \"k") + std::to_string(i) + "\": " + std::to_string(i);
  const std::string out = parts(json + "}");
  CHECK(out.find("data tools.#k99[0,3) \"k99\"\n") != std::string::npos);
  CHECK(out.find("scalar tools.k99 \"99\"\n") != std::string::npos);
}

TEST_CASE("dumps: what goes on with what stands before is one run, and each dump has its own paths") {
  Origins origins;
  Run run;
  run.kind = RunKind::kDump;
  Text text;
  for (const char* name : {"a", "a", "b"}) {
    run.origin = static_cast<std::uint32_t>(origins.paths.variable(name));
    text.append("[1]", run);
  }
  text.take_dumps_apart(origins.paths);
  CHECK(text.to_string(origins) ==
        "[0,1) serialiser a \"[\"\n[1,2) scalar a[0] \"1\"\n[2,4) serialiser a \"][\"\n[4,5) scalar a[0] \"1\"\n"
        "[5,6) serialiser a \"]\"\n[6,7) serialiser b \"[\"\n[7,8) scalar b[0] \"1\"\n[8,9) serialiser b \"]\"\n");
}

}  // namespace rondo::text
