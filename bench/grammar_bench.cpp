// Grammars for many tools: size and time must grow with their number, not faster.
#include <cstdio>
#include <string>

#include "bench/bench.h"
#include "format/format.h"
#include "grammar/gbnf.h"
#include "grammar/lark.h"
#include "grammar/turn.h"
#include "json/print.h"

namespace {

using rondo::json::Array;
using rondo::json::Object;
using rondo::json::Value;

Value property(int i) {
  switch (i % 5) {
    case 0: return Object{{"type", "string"}, {"description", "what is looked for, in a few words"}};
    case 1: return Object{{"type", "integer"}, {"minimum", 0}, {"maximum", 100 + i}};
    case 2: return Object{{"enum", Array{"first", "second", "third" + std::to_string(i)}}};
    case 3: return Object{{"type", "array"}, {"items", Object{{"type", "number"}}}, {"maxItems", 20}};
    default:
      return Object{{"type", "object"},
                    {"properties", Object{{"a", Object{{"type", "string"}}}, {"b", Object{{"type", "boolean"}}}}},
                    {"required", Array{"a"}}};
  }
}

Value tools(int count) {
  Array out;
  for (int i = 0; i < count; ++i) {
    Object properties;
    for (int j = 0; j < 6; ++j) properties.set("parameter_" + std::to_string(j), property(i + j));
    const Object parameters{
        {"type", "object"}, {"properties", properties}, {"required", Array{"parameter_0", "parameter_1"}}};
    out.push_back(Object{{"type", "function"},
                         {"function", Object{{"name", "tool_" + std::to_string(i)}, {"parameters", parameters}}}});
  }
  return out;
}

}  // namespace

int main() {
  rondo::format::Format format;
  format.calls.present = true;
  format.calls.envelope = rondo::format::Envelope::kJsonObject;
  format.calls.call_open = "[[call]]\n";
  format.calls.call_close = "\n[[/call]]";
  format.calls.roles.name = {"name"};
  format.calls.roles.arguments = {"arguments"};
  for (const int count : {66, 131, 263, 526}) {
    rondo::grammar::TurnOptions options;
    options.tools = tools(count);
    const std::size_t size = rondo::json::to_compact(*options.tools).size();
    const auto turn = rondo::grammar::turn_grammar(format, options);
    if (!turn.ok()) return 1;
    std::printf("%d tools: %zu bytes of schemas, %zu of GBNF, %zu of Lark\n", count, size,
                rondo::grammar::to_gbnf(turn.value().grammar).size(),
                rondo::grammar::to_lark(turn.value().grammar).size());
    const std::string name = "grammar of " + std::to_string(count) + " tools, as GBNF";
    rondo::bench::measure(name.c_str(), size, [&] {
      (void)rondo::grammar::to_gbnf(rondo::grammar::turn_grammar(format, options).value().grammar);
    });
  }
  return 0;
}
