// What schemas cost: each test counts the schemas that were looked at, or the nodes of the grammar.
#include <doctest/doctest.h>

#include <string>
#include <utility>
#include <vector>

#include "grammar/lower.h"
#include "grammar/matcher.h"
#include "grammar/schema.h"
#include "json/parse.h"

namespace rondo::grammar {
namespace {

struct Cost {
  Grammar grammar;
  SchemaContext context;
};

Cost cost_of(const std::string& schema) {
  Cost out;
  const auto document = json::parse(schema);
  REQUIRE_MESSAGE(document.ok(), schema);
  SchemaCompiler compiler(out.grammar, document.value(), "test", out.context);
  const RuleId root = out.grammar.declare("root");
  out.grammar.define(root, compiler.value(compiler.root(), Speller(out.grammar, Spelling::json()), "value"));
  out.grammar.set_root(root);
  CHECK(compiler.is_exhausted() == !out.context.limit.empty());
  return out;
}

std::string reference(int to) { return R"({"$ref":"#/$defs/d)" + std::to_string(to) + R"("})"; }

// Returns a schema of `count` definitions, of which the first is the root.
template <typename Define>
std::string definitions(int count, const Define& define) {
  std::string out = R"({"$ref":"#/$defs/d0","$defs":{)";
  for (int i = 0; i < count; ++i)
    out += std::string(i > 0 ? "," : "") + "\"d" + std::to_string(i) + "\":" + std::string(define(i));
  return out + "}}";
}

std::string nothing(int) { return ""; }

// Definitions that are one of two others.  There are exponentially many ways through them.  `before(i)` are keywords of
// definition i, and `more(i)` more of its branches.
template <typename Before, typename More>
std::string net(int count, const Before& before, const More& more) {
  return definitions(count, [&](int i) {
    return "{" + std::string(before(i)) + R"("anyOf":[)" + reference((i * 7 + 1) % count) + "," +
           reference((i * 11 + 3) % count) + more(i) + "]}";
  });
}

std::string union_of_nodes(int count) {
  std::string nodes;
  for (int i = 1; i <= count; ++i) nodes += (i > 1 ? "," : "") + reference(i);
  return definitions(count + 1, [&](int i) {
    if (i == 0) return R"({"anyOf":[)" + nodes + "]}";
    return R"({"type":"object","required":["kind"],"additionalProperties":false,"properties":{"kind":{"const":)" +
           std::to_string(i) + R"(},"kids":{"type":"array","items":)" + reference(0) + "}}}";
  });
}

}  // namespace

TEST_CASE("bug: branches that refer to each other took exponential time") {
  const Cost fifty = cost_of(net(50, nothing, nothing));
  const Cost hundred = cost_of(net(100, nothing, nothing));
  CHECK(fifty.context.limit.empty());
  CHECK(!fifty.grammar.productive_rules()[0]);
  CHECK(hundred.context.work < fifty.context.work * 5 / 2);

  const auto object = [](int i) {
    return R"(,{"type":"object","required":["kind"],"additionalProperties":false,"properties":{"kind":{"const":)" +
           std::to_string(i) + R"(},"a":)" + reference(0) + "}}";
  };
  const Cost some = cost_of(net(50, nothing, object));
  const Cost more = cost_of(net(100, nothing, object));
  CHECK(more.context.limit.empty());
  CHECK(more.context.work < some.context.work * 5 / 2);
  CHECK(more.grammar.node_count() < some.grammar.node_count() * 5 / 2);
  CHECK(accepts(more.grammar, R"({"kind":99,"a":{"kind":2,"a":{"kind":50}}})"));
  CHECK(!accepts(more.grammar, R"({"kind":1,"a":{"kind":100}})"));
}

TEST_CASE("alternatives that really are too many end with a limit that names its place") {
  const auto longest = [](int i) { return R"("maxLength":)" + std::to_string(i + 1) + ","; };
  const Cost net_of_all = cost_of(net(80, longest, [](int) { return R"(,{"type":"string"})"; }));
  CHECK(net_of_all.context.work < kMostWork + kMostWork / 100);
  CHECK(net_of_all.context.limit.find("test: `/$defs/d") == 0);
  CHECK(net_of_all.context.limit.find("1000000 steps") != std::string::npos);

  std::string branches;
  for (int i = 0; i < 20; ++i) {
    const std::string name = std::to_string(i);
    branches +=
        (i > 0 ? "," : "") + (R"({"anyOf":[{"required":["a)" + name + R"("]},{"required":["b)" + name) + R"("]}]})";
  }
  const Cost products = cost_of(R"({"properties":{"p":{"allOf":[)" + branches + "]}}}");
  CHECK(products.context.limit == "test: `/properties/p`: it has more than 4096 alternatives");
}

TEST_CASE("bug: a union of 90 types that contain each other was refused, and a chain of 300 references") {
  const Cost ninety = cost_of(union_of_nodes(90));
  const Cost many = cost_of(union_of_nodes(900));
  CHECK(ninety.context.limit.empty());
  CHECK(many.context.limit.empty());
  CHECK(many.context.work < ninety.context.work * 12);
  CHECK(accepts(many.grammar, R"({"kind":900,"kids":[{"kind":1},{"kind":450,"kids":[]}]})"));
  CHECK(!accepts(many.grammar, R"({"kind":900,"kids":[{"kind":901}]})"));

  const Cost chain = cost_of(definitions(301, [](int i) -> std::string {
    return i == 300 ? R"({"type":"integer"})" : R"({"type":"array","minItems":1,"items":)" + reference(i + 1) + "}";
  }));
  CHECK(chain.context.limit.empty());
  CHECK(chain.context.warnings.sentences().empty());
  CHECK(accepts(chain.grammar, std::string(300, '[') + "1" + std::string(300, ']')));
  CHECK(!accepts(chain.grammar, std::string(300, '[') + "null" + std::string(300, ']')));

  const Cost plain = cost_of(
      definitions(301, [](int i) -> std::string { return i == 300 ? R"({"type":"integer"})" : reference(i + 1); }));
  CHECK(plain.context.warnings.sentences().empty());
  CHECK(!accepts(plain.grammar, "null"));
}

TEST_CASE("comparing names with patterns is work") {
  const auto members = [](int count, const std::string& before, const std::string& behind) {
    std::string out;
    for (int i = 0; i < count; ++i) out += (i > 0 ? "," : "") + before + std::to_string(i) + behind;
    return out;
  };
  const auto matched = [&](int count) {
    return cost_of(R"({"properties":{)" + members(count, "\"p", "\":{}") + R"(},"patternProperties":{)" +
                   members(count, "\"^p.*", "$\":{}") + "}}");
  };
  CHECK(matched(50).context.limit.empty());
  CHECK(matched(500).context.limit.find("1000000 steps") != std::string::npos);
  const auto listed = [&](int count) {
    return cost_of(R"({"properties":{)" + members(count, "\"p", "\":{}") + R"(},"propertyNames":{"enum":[)" +
                   members(count, "\"p", "\"") + "]}}");
  };
  CHECK(listed(500).context.limit.empty());
  CHECK(listed(4000).context.limit.find("1000000 steps") != std::string::npos);
}

TEST_CASE("bug: a long text took memory by the square of its length") {
  const auto bytes_of = [](const Grammar& grammar) {
    std::size_t out = 0;
    for (std::size_t i = 0; i < grammar.node_count(); ++i) {
      const Node& node = grammar.node(NodeId{static_cast<std::uint32_t>(i)});
      out += node.text.size() + node.children.size();
      for (const std::string& word : node.words) out += word.size();
    }
    return out;
  };
  for (const std::string text : {"a", R"(\n)", "\u00e9"}) {
    std::string once;
    for (int i = 0; i < 1000; ++i) once += text;
    const auto size = [&](const std::string& before, const std::string& long_text, const std::string& behind) {
      const Cost cost = cost_of(before + long_text + behind);
      const Grammar plain = lowered(cost.grammar);
      CHECK(plain.productive_rules()[0]);
      return bytes_of(cost.grammar) + bytes_of(plain);
    };
    for (const auto& [before, behind] : {std::pair{R"({"const":")", R"("})"}, std::pair{R"({"enum":["x",")", R"("]})"},
                                         std::pair{R"({"pattern":"^)", R"($"})"},
                                         std::pair{R"({"additionalProperties":false,"properties":{")", R"(":{}}})"}}) {
      CHECK_MESSAGE(size(before, once + once, behind) < size(before, once, behind) * 5 / 2, before);
    }
  }
}

TEST_CASE("a sequence matches once all of its parts do, however often one of them stands in it") {
  Grammar grammar;
  const RuleId root = grammar.declare("root");
  const RuleId later = grammar.declare("later");
  const RuleId never = grammar.declare("never");
  const NodeId one = grammar.reference(later);
  grammar.define(root, grammar.sequence({one, grammar.chars(CharSet::of('a')), one, one}));
  grammar.define(never, grammar.sequence({one, grammar.reference(never)}));
  grammar.define(later, grammar.choice({grammar.reference(never), grammar.literal("b")}));
  grammar.set_root(root);
  CHECK(grammar.productive_rules() == std::vector<bool>{true, true, false});
}

TEST_CASE("all schemas of a grammar have one limit") {
  const auto document = json::parse(R"({"type":"array","items":{"type":"string"}})");
  REQUIRE(document.ok());
  Grammar grammar;
  SchemaContext context;
  SchemaCompiler first(grammar, document.value(), "first", context);
  CHECK(first.can_afford(kMostWork, {}));
  SchemaCompiler second(grammar, document.value(), "second", context);
  (void)second.value(second.root(), Speller(grammar, Spelling::json()), "value");
  CHECK(context.limit.find("second: the schema: ") == 0);
}

}  // namespace rondo::grammar
