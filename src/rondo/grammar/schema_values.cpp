// The values of each type, as the schemas that hold for them allow.
#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "base/utf8.h"
#include "grammar/definition.h"
#include "grammar/matcher.h"
#include "grammar/pattern.h"
#include "grammar/schema.h"
#include "json/pointer.h"

namespace rondo::grammar {
namespace {

// The most elements of an array that have schemas of their own.
constexpr std::size_t kMostPrefixItems = 1000;
constexpr std::size_t kNodesInStep = 4;  // matching a name takes a step for so many nodes of the grammar
constexpr std::size_t kWorkOfName = 8;   // the name of a member takes the time of so many schemas

// Writes a number without an exponent: "1e3" becomes "1000".  Returns nullopt if that takes too many digits.
std::optional<std::string> plain_decimal(const json::Value& number) {
  std::string_view text = number.number();
  const bool is_negative = text.starts_with('-');
  if (is_negative) text.remove_prefix(1);
  const std::size_t mark = text.find_first_of("eE");
  int exponent = 0;
  if (mark != std::string_view::npos) {
    std::string_view power = text.substr(mark + 1);
    if (power.starts_with('+')) power.remove_prefix(1);
    if (std::from_chars(power.data(), power.data() + power.size(), exponent).ec != std::errc()) return std::nullopt;
    text = text.substr(0, mark);
  }
  constexpr int kMostDigits = 400;
  if (text.empty() || text[0] < '0' || text[0] > '9' || exponent > kMostDigits || exponent < -kMostDigits ||
      text.size() > kMostDigits)
    return std::nullopt;
  const std::size_t point = std::min(text.find('.'), text.size());
  std::string digits = std::string(text.substr(0, point));
  if (point < text.size()) digits += text.substr(point + 1);
  auto whole = static_cast<std::ptrdiff_t>(point) + exponent;
  if (whole <= 0) {
    digits.insert(0, static_cast<std::size_t>(1 - whole), '0');
    whole = 1;
  }
  if (static_cast<std::size_t>(whole) > digits.size())
    digits.append(static_cast<std::size_t>(whole) - digits.size(), '0');
  if (static_cast<std::size_t>(whole) < digits.size()) digits.insert(static_cast<std::size_t>(whole), ".");
  return (is_negative ? "-" : "") + digits;
}

const json::Value* object_member(const json::Value& schema, std::string_view keyword) {
  const json::Value* found = schema.find(keyword);
  return found != nullptr && found->is_object() ? found : nullptr;
}

// Returns the schema of properties that `schema` does not name, and its keyword; nullptr if there is none.
std::pair<const json::Value*, const char*> additional(const json::Value& schema) {
  for (const char* keyword : {"additionalProperties", "unevaluatedProperties"}) {
    if (const json::Value* found = schema.find(keyword)) return {found, keyword};
  }
  return {nullptr, ""};
}

bool names_property(const json::Value& schema, std::string_view name) {
  const json::Value* own = object_member(schema, "properties");
  if (own != nullptr && own->find(name) != nullptr) return true;
  const json::Value* patterns = object_member(schema, "patternProperties");
  return patterns != nullptr &&
         std::any_of(patterns->as_object().begin(), patterns->as_object().end(),
                     [name](const json::Member& member) { return pattern_matches(member.key, name); });
}

// Collects the members that the parts name.  A name that only `required` lists is a member too.
std::vector<Property> named_properties(const Parts& alternative) {
  std::vector<Property> out;
  std::map<std::string, std::size_t, std::less<>> index;
  const auto named = [&](const std::string& name) -> Property& {
    const auto [found, is_new] = index.emplace(name, out.size());
    if (is_new) out.push_back({name, {}, false});
    return out[found->second];
  };
  for (const Part& part : alternative) {
    if (const json::Value* own = object_member(*part.schema, "properties")) {
      for (const json::Member& member : own->as_object())
        named(member.key)
            .parts.push_back({&member.value, part.where + "/properties" + json::pointer_step(member.key), 0});
    }
    const json::Value* required = part.schema->find("required");
    if (required == nullptr || !required->is_array()) continue;
    for (const json::Value& name : required->as_array()) {
      if (name.is_string()) named(name.as_string()).required = true;
    }
  }
  return out;
}

// Adds the members of `patternProperties`.  A named member that matches must satisfy the pattern's schema too.
void add_patterns(const Part& part, Properties& properties) {
  const json::Value* patterns = object_member(*part.schema, "patternProperties");
  if (patterns == nullptr) return;
  for (const json::Member& member : patterns->as_object()) {
    const Part schema{&member.value, part.where + "/patternProperties" + json::pointer_step(member.key), 0};
    properties.patterns.emplace_back(member.key, Parts{schema});
    for (Property& property : properties.known) {
      if (pattern_matches(member.key, property.name)) property.parts.push_back(schema);
    }
  }
}

// Adds the part's schema of members that it does not name.  Other parts may name them.
void add_extra(const Part& part, Properties& properties) {
  const auto [extra, keyword] = additional(*part.schema);
  if (extra == nullptr) return;
  const Part schema{extra, part.where + "/" + keyword, 0};
  if (extra->is_bool() && !extra->as_bool()) properties.has_extra = false;
  const bool is_unevaluated = std::string_view(keyword) == "unevaluatedProperties";
  for (Property& property : properties.known) {
    if (!names_property(*part.schema, property.name) && !(is_unevaluated && !property.parts.empty()))
      property.parts.push_back(schema);
  }
  properties.extra.push_back(schema);
}

// What a schema says of the elements of an array, and under which keywords: the schemas that it lists for the first
// elements, and the schema of the rest.  Each is nullptr if there is none.
struct ItemSchemas {
  const json::Array* firsts = nullptr;
  const char* firsts_keyword = "/prefixItems/";
  const json::Value* rest = nullptr;
  const char* rest_keyword = "/items";
};

ItemSchemas item_schemas(const json::Value& schema) {
  const json::Value* items = schema.find("items");
  if (items != nullptr && items->is_array())  // as in older drafts
    return {&items->as_array(), "/items/", schema.find("additionalItems"), "/additionalItems"};
  const json::Value* prefix = schema.find("prefixItems");
  ItemSchemas out;
  if (prefix != nullptr && prefix->is_array()) out.firsts = &prefix->as_array();
  out.rest = items;
  return out;
}

// `least` to `most` items with a comma between two; kNever if `least` is greater.
NodeId list_of(Grammar& grammar, NodeId item, NodeId comma, std::uint32_t least, std::uint32_t most) {
  const NodeId more = grammar.repeat(grammar.sequence({comma, item}), least > 0 ? least - 1 : 0,
                                     most == kUnbounded || most == 0 ? most : most - 1);
  NodeId list = most == 0 ? grammar.empty() : grammar.sequence({item, more});
  if (least == 0) list = grammar.choice({grammar.empty(), list});
  return least > most ? grammar.never() : list;
}

// A number that a keyword sets as a bound.
struct Limit {
  const json::Value* value = nullptr;
  bool is_exclusive = false;
};

// Returns the lower or the upper bounds that a schema sets.
std::vector<Limit> limits_of(const json::Value& schema, bool is_lower) {
  const json::Value* limit = schema.find(is_lower ? "minimum" : "maximum");
  const std::string_view keyword = is_lower ? "exclusiveMinimum" : "exclusiveMaximum";
  const json::Value* exclusive = schema.find(keyword);
  const bool is_flag = schema.is_true(keyword);  // draft 4
  std::vector<Limit> out;
  if (limit != nullptr && limit->is_number()) out.push_back({limit, is_flag});
  if (exclusive != nullptr && exclusive->is_number()) out.push_back({exclusive, true});
  return out;
}

// The tightest of the limits on one side.
struct TightestBound {
  bool is_lower = false;
  std::optional<Bound> bound = std::nullopt;
  double number = 0;  // of `bound`

  // Returns false if the limit takes too many digits to be written.
  [[nodiscard]] bool take(const Limit& limit) {
    const auto digits = plain_decimal(*limit.value);
    if (!digits) return false;
    const double candidate = limit.value->to_double().value_or(0);
    const bool is_tighter =
        !bound || (is_lower ? candidate > number : candidate < number) || (candidate == number && limit.is_exclusive);
    if (!is_tighter) return true;
    number = candidate;
    bound = Bound{*digits, limit.is_exclusive};
    return true;
  }
};

std::string rule_name(const std::string& parent, std::string_view name) {
  constexpr std::size_t kLongestName = 60;
  std::string out = parent + "-" + std::string(name);
  if (out.size() > kLongestName) out = std::string(name.substr(0, kLongestName));
  return out;
}

}  // namespace

// Returns the count under `keyword`, or `otherwise` if there is none or it is not a count.
std::uint32_t SchemaCompiler::count_of(const Part& part, const char* keyword, std::uint32_t otherwise) {
  const json::Value* count = part.schema->find(keyword);
  if (count == nullptr) return otherwise;
  const auto value = count->is_number() ? count->to_double() : std::nullopt;
  if (!value || *value < 0) {
    warn(part.where, "`" + std::string(keyword) + "` is no count, and is left out");
    return otherwise;
  }
  if (*value > kLargestCount) {
    if (otherwise == kUnbounded) return kUnbounded;  // an upper bound that no value reaches
    warn(part.where, "`" + std::string(keyword) + "` is larger than any value can be; " +
                         std::to_string(kLargestCount) + " is meant");
    return kLargestCount;
  }
  return static_cast<std::uint32_t>(*value);
}

// ---- Objects

// Returns how many names of members are compared with patterns.
std::size_t SchemaCompiler::comparisons(const Parts& alternative, std::size_t names) {
  std::size_t patterns = 0;
  for (const Part& part : alternative) {
    if (const json::Value* own = object_member(*part.schema, "patternProperties")) patterns += own->as_object().size();
  }
  return patterns * names;
}

// A member that one part names must also satisfy what all parts say of members that they do not name.
Properties SchemaCompiler::properties(const Parts& alternative) {
  Properties out;
  out.has_extra = true;
  std::vector<Property> known = named_properties(alternative);
  if (!can_afford(comparisons(alternative, known.size()) * kWorkOfName, alternative)) return out;
  out.known = std::move(known);
  for (const Part& part : alternative) {
    add_patterns(part, out);
    add_extra(part, out);
    if (const json::Value* names = part.schema->find("propertyNames"))
      out.names.push_back({names, part.where + "/propertyNames", 0});
    out.least = std::max(out.least, count_of(part, "minProperties", 0));
    out.most = std::min(out.most, count_of(part, "maxProperties", kUnbounded));
  }
  if (!out.names.empty()) forbid_names(out);
  return out;
}

// Makes properties impossible whose names `propertyNames` does not allow.
void SchemaCompiler::forbid_names(Properties& properties) {
  static const json::Value kNothing(false);
  Grammar grammar;
  SchemaContext context;
  SchemaCompiler compiler(grammar, *document_, label_, context);
  compiler.depth_ = depth_;
  context.work = context_.work;
  const RuleId root = grammar.declare("root");
  grammar.define(root, compiler.value(properties.names, Speller(grammar, Spelling::bare()), "name", kStringType));
  grammar.set_root(root);
  context_.work = context.work;
  Matcher matcher(grammar);
  for (Property& property : properties.known) {
    if (!can_afford(grammar.node_count() / kNodesInStep, properties.names)) return;
    matcher.restart();
    const bool is_allowed = matcher.feed(property.name) || property.name.empty();
    if (!is_allowed || !matcher.is_complete()) property.parts = {{&kNothing, "", 0}};
  }
}

NodeId SchemaCompiler::object(const Parts& parts, const Speller& speller, const std::string& name) {
  const std::string key = memo_key(parts, speller, kObjectType);
  if (const auto found = containers_.find(key); found != containers_.end()) return grammar_.reference(found->second);
  const RuleId rule = grammar_.declare(name);
  containers_.emplace(key, rule);
  define(rule, &SchemaCompiler::object_body, parts, speller, name);
  return grammar_.reference(rule);
}

// Returns the key of a member that the schema does not name, as `propertyNames` allows it.
NodeId SchemaCompiler::extra_key(const Properties& properties, const Speller& speller) {
  std::vector<std::string> names;
  for (const Property& property : properties.known) names.push_back(property.name);
  const std::set<std::string_view> known(names.begin(), names.end());
  if (properties.names.empty()) return speller.key_except(names);
  if (speller.spelling().bare_keys) return speller.key_except(names);
  std::vector<NodeId> ways;
  for (const Parts& alternative : alternatives(properties.names)) {
    if (const auto values = enumerated(alternative, kStringType)) {
      for (const json::Value& value : *values) {
        if (!known.contains(value.as_string())) ways.push_back(speller.string(value.as_string()));
      }
    } else if (is_free_text(alternative)) {
      ways.push_back(speller.key_except(names));
    } else {
      ways.push_back(string(alternative, speller));
    }
  }
  return grammar_.choice(ways);
}

NodeId SchemaCompiler::object_body(const Parts& parts, const Speller& speller, const std::string& name) {
  const Properties all = properties(parts);
  Grammar& g = grammar_;
  const NodeId space = speller.space();
  const NodeId colon = speller.colon();
  Members members{{}, {}, all.least, all.most};
  if (speller.spelling().separators) members.tracked = 1;
  if (!can_afford(all.known.size() * kWorkOfName, parts)) return anything(speller, kObjectType);
  for (const Property& property : all.known) {
    const NodeId content = value(property.parts, speller, rule_name(name, property.name));
    const NodeId member = g.sequence({speller.key(property.name), colon, content});
    (property.required ? members.required : members.others).push_back(member);
  }
  if (!can_afford(members.required.size() * kWorkOfRequired, parts)) return anything(speller, kObjectType);
  for (const auto& [pattern, schema] : all.patterns) {
    bool is_taken = true;
    const NodeId key = speller.quoted([&](const Speller& inner) {
      auto content = pattern_content(inner, pattern);
      is_taken = is_taken && content.ok();
      return content.ok() ? content.value() : inner.grammar().never();
    });
    if (!is_taken) warn(schema[0].where, "the pattern of these names is not expressed; they are left out");
    if (is_taken)
      members.others.push_back(g.sequence({key, colon, value(schema, speller, rule_name(name, "matching"))}));
  }
  if (all.has_extra) {
    if (!all.patterns.empty())
      warn(parts[0].where, "names that match `patternProperties` may also have the values of other names");
    members.others.push_back(
        g.sequence({extra_key(all, speller), colon, value(all.extra, speller, rule_name(name, "other"))}));
  }
  std::erase(members.others, g.never());
  if (!counts_are_kept(members)) warn(parts[0].where, "`minProperties` and `maxProperties` are not expressed here");
  const NodeId list = in_any_order(g, members, speller.comma(), name);
  const NodeId inside = g.choice({g.sequence({space, list, space})});
  return g.sequence({g.literal("{"), inside, g.literal("}")});
}

// ---- Arrays

NodeId SchemaCompiler::array(const Parts& parts, const Speller& speller, const std::string& name) {
  const std::string key = memo_key(parts, speller, kArrayType);
  if (const auto found = containers_.find(key); found != containers_.end()) return grammar_.reference(found->second);
  const RuleId rule = grammar_.declare(rule_name(name, "list"));
  containers_.emplace(key, rule);
  define(rule, &SchemaCompiler::array_body, parts, speller, name);
  return grammar_.reference(rule);
}

// Collects what holds for each element: the schema that a part lists for it, or else the part's schema for the rest.
Elements SchemaCompiler::elements(const Parts& parts) {
  Elements out;
  for (const Part& part : parts) {
    out.least = std::max(out.least, count_of(part, "minItems", 0));
    out.most = std::min(out.most, count_of(part, "maxItems", kUnbounded));
    const ItemSchemas items = item_schemas(*part.schema);
    const std::size_t listed = items.firsts != nullptr ? items.firsts->size() : 0;
    const std::size_t count = std::min(listed, kMostPrefixItems);
    if (listed > count) warn(part.where, "only the first elements are held to their own schemas");
    while (out.firsts.size() < count) out.firsts.push_back(out.rest);
    for (std::size_t i = 0; i < count; ++i)
      out.firsts[i].push_back({&(*items.firsts)[i], part.where + items.firsts_keyword + std::to_string(i), 0});
    if (items.rest == nullptr) continue;
    const Part rest{items.rest, part.where + items.rest_keyword, 0};
    for (std::size_t i = count; i < out.firsts.size(); ++i) out.firsts[i].push_back(rest);
    out.rest.push_back(rest);
  }
  return out;
}

NodeId SchemaCompiler::array_body(const Parts& parts, const Speller& speller, const std::string& name) {
  Grammar& g = grammar_;
  const Elements all = elements(parts);
  const NodeId space = speller.space();
  const NodeId comma = speller.comma();
  const NodeId item = value(all.rest, speller, rule_name(name, "item"));
  const auto in_brackets = [&](NodeId list) {
    return g.sequence({g.literal("["), space, list, space, g.literal("]")});
  };
  if (all.firsts.empty()) return in_brackets(list_of(g, item, comma, all.least, all.most));
  // The list is built from the end.  `tail` is what may follow element i.
  const auto prefix_size = static_cast<std::uint32_t>(all.firsts.size());
  const auto left = [&](std::uint32_t count) { return count > prefix_size ? count - prefix_size : 0; };
  NodeId tail =
      g.repeat(g.sequence({comma, item}), left(all.least), all.most == kUnbounded ? kUnbounded : left(all.most));
  for (std::uint32_t i = prefix_size; i-- > 0;) {
    const NodeId element = value(all.firsts[i], speller, rule_name(name, std::to_string(i)));
    const NodeId from_here = i < all.most ? g.sequence({i > 0 ? comma : g.empty(), element, tail}) : g.never();
    tail = i >= all.least ? g.choice({g.empty(), from_here}) : from_here;
  }
  return in_brackets(tail);
}

// ---- Strings

NodeId SchemaCompiler::string(const Parts& parts, const Speller& speller) {
  if (is_free_text(parts)) return speller.any_string();
  return speller.quoted([&](const Speller& inner) { return string_content(parts, inner); });
}

// The content of a string by the grammar of `x-grammar`.
Result<NodeId> SchemaCompiler::grammar_content(const json::Value& grammar, const Speller& speller,
                                               const std::string& where) {
  std::vector<std::string> notes;
  const auto text = read_definition(grammar.find_string("syntax").value_or(""),
                                    grammar.find_string("definition").value_or(""), &notes);
  if (!text.ok()) return text.error();
  for (const std::string& note : notes) warn(where, note);
  return spelled(speller, text.value());
}

// Only the first grammar, pattern or format is expressed, because nothing here intersects two grammars.
NodeId SchemaCompiler::string_content(const Parts& parts, const Speller& speller) {
  std::uint32_t least = 0;
  std::uint32_t most = kUnbounded;
  std::optional<NodeId> shaped;
  for (const Part& part : parts) {
    least = std::max(least, count_of(part, "minLength", 0));
    most = std::min(most, count_of(part, "maxLength", kUnbounded));
    const auto take = [&](const Result<NodeId>& content, std::string_view keyword) {
      if (shaped) {
        warn(part.where, "`" + std::string(keyword) + "` is not expressed beside another pattern or format");
      } else if (content.ok()) {
        shaped = content.value();
      } else {
        warn(part.where, "`" + std::string(keyword) + "` is not expressed: " + content.error().message);
      }
    };
    if (const json::Value* grammar = object_member(*part.schema, kGrammarKeyword))
      take(grammar_content(*grammar, speller, part.where), kGrammarKeyword);
    if (const auto pattern = part.schema->find_string("pattern")) take(pattern_content(speller, *pattern), "pattern");
    if (const auto format = part.schema->find_string("format")) {
      const std::string_view pattern = format_pattern(*format);
      if (pattern.empty()) {
        warn(part.where, "the format `" + std::string(*format) + "` is not known and says nothing");
      } else {
        take(pattern_content(speller, pattern), "format");
      }
    }
  }
  if (least > most) return grammar_.never();
  if (!shaped) return speller.any_content(least, most);
  if (least > 0 || most != kUnbounded)
    warn(parts[0].where, "`minLength` and `maxLength` are not expressed beside a pattern or format");
  return *shaped;
}

// ---- Numbers

// Returns the tightest bounds of all parts.
NumberRange SchemaCompiler::range_of(const Parts& parts) {
  TightestBound least{.is_lower = true};
  TightestBound most{.is_lower = false};
  for (const Part& part : parts) {
    for (TightestBound* side : {&least, &most}) {
      for (const Limit& limit : limits_of(*part.schema, side->is_lower)) {
        if (!side->take(limit)) warn(part.where, "the bound " + limit.value->number() + " is not expressed");
      }
    }
  }
  return {least.bound, most.bound};
}

// Returns the power of ten that values must be a multiple of; nullopt if there is none.  Warns about other steps.
std::optional<int> SchemaCompiler::decimal_step(const Parts& parts) {
  std::optional<int> out;
  for (const Part& part : parts) {
    const json::Value* step = part.schema->find("multipleOf");
    if (step == nullptr) continue;
    const auto digits = step->is_number() ? plain_decimal(*step) : std::nullopt;
    const std::size_t one = digits ? digits->find('1') : std::string::npos;
    const bool is_power = one != std::string::npos && digits->find_first_of("23456789-") == std::string::npos &&
                          digits->find('1', one + 1) == std::string::npos;
    if (!is_power) {
      warn(part.where, "`multipleOf` is not expressed");
      continue;
    }
    const std::size_t point = std::min(digits->find('.'), digits->size());
    const int exponent = one < point ? static_cast<int>(point - one) - 1 : -static_cast<int>(one - point);
    out = out ? std::max(*out, exponent) : exponent;
  }
  return out;
}

// Beside bounds, a step only decides between whole numbers and fractions.
NodeId SchemaCompiler::numeric(const Parts& parts, const Speller& speller, bool integers_only) {
  Grammar& g = grammar_;
  const NumberRange range = range_of(parts);
  const std::optional<int> step = decimal_step(parts);
  const bool is_whole = integers_only || (step && *step >= 0);
  if (range.least || range.most) {
    if (step && *step != 0 && !(integers_only && *step < 0))
      warn(parts[0].where, "`multipleOf` is not expressed beside bounds");
    return is_whole ? integers_within(g, range) : numbers_within(g, range);
  }
  if (!step || *step == 0 || (*step < 0 && integers_only)) return is_whole ? speller.integer() : speller.number();
  const NodeId digit = g.chars(CharSet::range('0', '9'));
  const NodeId sign = g.optional(g.literal("-"));
  const NodeId positive = g.sequence({g.chars(CharSet::range('1', '9')), g.any_number(digit)});
  if (*step > 0) {
    const NodeId zeros = g.literal(std::string(static_cast<std::size_t>(*step), '0'));
    return g.token(g.choice({g.literal("0"), g.sequence({sign, positive, zeros})}));
  }
  const NodeId fraction = g.sequence(
      {g.literal("."), g.repeat(digit, 1, static_cast<std::uint32_t>(-*step)), g.any_number(g.literal("0"))});
  return g.token(g.sequence({sign, g.choice({g.literal("0"), positive}), g.optional(fraction)}));
}

// ---- Any value

// The rules for any value are made once per spelling, and are shared by all compilers.
NodeId SchemaCompiler::anything(const Speller& speller, TypeSet types) {
  Grammar& g = grammar_;
  const std::string key = memo_key({}, speller, kAnyType);
  auto found = context_.anything.find(key);
  if (found == context_.anything.end()) {
    const RuleId object_rule = g.declare("any-object");
    const RuleId array_rule = g.declare("any-array");
    context_.anything.emplace(key + "o", object_rule);
    context_.anything.emplace(key + "a", array_rule);
    const RuleId rule = g.declare("any");
    found = context_.anything.emplace(key, rule).first;
    const NodeId any = g.reference(rule);
    const NodeId space = speller.space();
    const NodeId comma = speller.comma();
    const NodeId member = g.sequence({speller.key_except({}), speller.colon(), any});
    const auto list = [&](NodeId item) {
      return g.optional(g.sequence({item, g.any_number(g.sequence({comma, item}))}));
    };
    g.define(object_rule, g.sequence({g.literal("{"), space, list(member), space, g.literal("}")}));
    g.define(array_rule, g.sequence({g.literal("["), space, list(any), space, g.literal("]")}));
    g.define(rule, g.choice({g.reference(object_rule), g.reference(array_rule), speller.any_string(), speller.number(),
                             speller.boolean(), speller.null()}));
  }
  if (types == kAnyType) return g.reference(found->second);
  std::vector<NodeId> ways;
  if ((types & kObjectType) != 0) ways.push_back(g.reference(context_.anything.at(key + "o")));
  if ((types & kArrayType) != 0) ways.push_back(g.reference(context_.anything.at(key + "a")));
  if ((types & kStringType) != 0) ways.push_back(speller.any_string());
  if ((types & kNumberType) != 0) {
    ways.push_back(speller.number());
  } else if ((types & kIntegerType) != 0) {
    ways.push_back(speller.integer());
  }
  if ((types & kBooleanType) != 0) ways.push_back(speller.boolean());
  if ((types & kNullType) != 0) ways.push_back(speller.null());
  return g.choice(ways);
}

}  // namespace rondo::grammar
