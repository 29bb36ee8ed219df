#include "template/tool_shape.h"

#include <doctest/doctest.h>

#include "json/parse.h"
#include "json/print.h"

namespace rondo::tmpl {
namespace {

struct ShapedTools {
  std::string tools;
  std::string changes;  // one per line
};

ShapedTools shaped_tools(std::string_view text, const ToolRules& rules) {
  json::Value tools = json::parse(text).value();
  ShapedTools out;
  for (const std::string& sentence : shape_tools(tools, rules)) out.changes += sentence + "\n";
  json::Value again = tools;
  CHECK(shape_tools(again, rules).empty());
  CHECK(again == tools);
  out.tools = json::to_compact(tools);
  return out;
}

}  // namespace

TEST_CASE("without rules tools stay as they were sent, whatever they are") {
  for (const char* tools : {R"([{"name":"f"},{"function":{"name":"f","description":null}},7,null])", "7", "{}"}) {
    const ShapedTools out = shaped_tools(tools, {});
    CHECK(out.tools == tools);
    CHECK(out.changes.empty());
  }
}

TEST_CASE("a definition gets the function around it") {
  ToolRules rules;
  rules.wraps = true;
  rules.describes = true;
  const ShapedTools out = shaped_tools(R"([{"name":"f","description":"d"},{"type":"search"},{"function":7}])", rules);
  CHECK(
      out.tools ==
      R"([{"type":"function","function":{"name":"f","description":"d"}},{"type":"search","description":""},{"function":7}])");
  CHECK(out.changes == "tools[0]: given as a function\ntools[1].description: given as an empty text\n");
}

TEST_CASE("bug: a tool without a description or parameters was refused by templates that print them") {
  ToolRules rules;
  rules.describes = true;
  rules.gives_properties = true;
  const ShapedTools none = shaped_tools(R"([{"function":{"name":"f"}}])", rules);
  CHECK(none.tools == R"([{"function":{"name":"f","description":"","parameters":{"type":"object","properties":{}}}}])");
  CHECK(none.changes ==
        "tools[0].function.description: given as an empty text\n"
        "tools[0].function.parameters: given as an object without properties\n");
  const ShapedTools some = shaped_tools(R"([{"function":{"name":"f","description":"d","parameters":{}}}])", rules);
  CHECK(some.tools ==
        R"([{"function":{"name":"f","description":"d","parameters":{"properties":{},"additionalProperties":true}}}])");
  CHECK(some.changes == "tools[0].function.parameters.properties: given as an empty object\n");
}

TEST_CASE("members that are null are left out, and then count as missing") {
  ToolRules rules;
  rules.takes_nulls = false;
  const char* tools = R"([{"function":{"name":"f","description":null,"parameters":null,"strict":null}}])";
  CHECK(shaped_tools(tools, rules).tools == R"([{"function":{"name":"f"}}])");
  CHECK(shaped_tools(tools, rules).changes == "tools[0].function: given without the members that are null\n");
  rules.describes = true;
  CHECK(shaped_tools(tools, rules).tools == R"([{"function":{"name":"f","description":""}}])");
}

TEST_CASE("parameters: descriptions and types") {
  ToolRules rules;
  rules.describes_parameters = true;
  rules.takes_nulls = false;
  rules.takes_null_types = false;
  const auto parameter = [&](const std::string& schema) {
    return shaped_tools(R"([{"function":{"parameters":{"properties":{"x":)" + schema + "}}}}]", rules);
  };
  const auto in_tool = [](const std::string& schema) {
    return R"([{"function":{"parameters":{"properties":{"x":)" + schema + "}}}}]";
  };
  const std::string place = "tools[0].function.parameters.properties.x";
  CHECK(parameter("{}").tools == in_tool(R"({"description":""})"));
  CHECK(parameter("true").tools == in_tool(R"({"description":""})"));
  for (const char* other : {"3", "false"}) CHECK(parameter(other).tools == in_tool(other));
  CHECK(parameter(R"({"description":null})").changes == place + ".description: given as an empty text\n");
  const ShapedTools one = parameter(R"({"type":["string","null"],"description":"d"})");
  CHECK(one.tools == in_tool(R"({"type":"string","description":"d","nullable":true})"));
  CHECK(one.changes == place + ".type: given without `null`, as `nullable`\n");
  CHECK(parameter(R"({"type":["string","null","integer"],"description":"d"})").tools ==
        in_tool(R"({"type":["string","integer"],"description":"d","nullable":true})"));
  CHECK(parameter(R"({"type":["null"],"description":"d"})").changes.empty());
  rules.describes_parameters = false;
  CHECK(parameter(R"({"description":null,"default":null})").tools == in_tool(R"({"default":null})"));
}

}  // namespace rondo::tmpl
