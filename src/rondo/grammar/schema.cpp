#include "grammar/schema.h"

#include <algorithm>
#include <array>
#include <unordered_set>
#include <utility>

#include "grammar/definition.h"
#include "grammar/matcher.h"
#include "grammar/schema_types.h"
#include "json/pointer.h"
#include "json/print.h"

namespace rondo::grammar {
namespace {

// The most schemas inside schemas that compilers inside compilers follow.  Deeper ones are treated as any value.
constexpr int kDeepestSchema = 160;
// The bodies of objects and arrays that nest deeper are compiled after the others, so that recursion ends.
constexpr int kDeepestBody = 140;
constexpr std::size_t kWorkOfConstant = 2;  // a listed value takes the time of so many schemas

// Keywords that constrain values.
constexpr std::array<std::string_view, 33> kConstraints = {"type",
                                                           "enum",
                                                           "const",
                                                           "properties",
                                                           "required",
                                                           "additionalProperties",
                                                           "items",
                                                           "prefixItems",
                                                           "minItems",
                                                           "maxItems",
                                                           "additionalItems",
                                                           "patternProperties",
                                                           "pattern",
                                                           kGrammarKeyword,
                                                           "format",
                                                           "minLength",
                                                           "maxLength",
                                                           "minimum",
                                                           "maximum",
                                                           "exclusiveMinimum",
                                                           "exclusiveMaximum",
                                                           "multipleOf",
                                                           "minProperties",
                                                           "maxProperties",
                                                           "propertyNames",
                                                           "nullable",
                                                           "unevaluatedProperties",
                                                           "unevaluatedItems",
                                                           "uniqueItems",
                                                           "contains",
                                                           "minContains",
                                                           "maxContains",
                                                           "not"};

// Keywords that are handled elsewhere, or say nothing about values.
constexpr std::array<std::string_view, 33> kOthers = {"$ref",
                                                      "allOf",
                                                      "anyOf",
                                                      "oneOf",
                                                      "$defs",
                                                      "definitions",
                                                      "$id",
                                                      "id",
                                                      "$schema",
                                                      "$anchor",
                                                      "$dynamicAnchor",
                                                      "$dynamicRef",
                                                      "$recursiveRef",
                                                      "$recursiveAnchor",
                                                      "$vocabulary",
                                                      "$comment",
                                                      "title",
                                                      "description",
                                                      "default",
                                                      "examples",
                                                      "example",
                                                      "deprecated",
                                                      "readOnly",
                                                      "writeOnly",
                                                      "contentEncoding",
                                                      "contentMediaType",
                                                      "contentSchema",
                                                      "discriminator",
                                                      "xml",
                                                      "externalDocs",
                                                      "strict",
                                                      "name",
                                                      "summary"};

// Keywords that no grammar here expresses.
constexpr std::array<std::string_view, 12> kNotExpressed = {"if",
                                                            "then",
                                                            "else",
                                                            "dependentRequired",
                                                            "dependentSchemas",
                                                            "dependencies",
                                                            "uniqueItems",
                                                            "contains",
                                                            "minContains",
                                                            "maxContains",
                                                            "not",
                                                            "unevaluatedItems"};

template <std::size_t N>
bool is_among(const std::array<std::string_view, N>& list, std::string_view word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// Returns the one value that the `const` or `enum` of that property allows; nullptr if it allows several.
const json::Value* only_value(const json::Value& branch, const std::string& name) {
  const json::Value* properties = branch.find("properties");
  const json::Value* property = properties != nullptr ? properties->find(name) : nullptr;
  if (property == nullptr) return nullptr;
  if (const json::Value* value = property->find("const")) return value;
  const json::Value* list = property->find("enum");
  const bool is_one = list != nullptr && list->is_array() && list->as_array().size() == 1;
  return is_one ? &list->as_array()[0] : nullptr;
}

// Returns whether it is plain that no value satisfies both schemas.  Their types differ, or they have different
// constants, or they are objects with different constants under one name.
bool exclude_each_other(const json::Value& a, const json::Value& b) {
  bool is_said = false;
  bool is_said_too = false;
  if ((types_by_type(a, is_said) & types_by_type(b, is_said_too)) == 0) return true;
  if (a.find("const") != nullptr && b.find("const") != nullptr) return !are_equal(*a.find("const"), *b.find("const"));
  const json::Value* properties = a.find("properties");
  if (properties == nullptr || !properties->is_object()) return false;
  return std::any_of(properties->as_object().begin(), properties->as_object().end(), [&](const json::Member& member) {
    const json::Value* mine = only_value(a, member.key);
    const json::Value* other = only_value(b, member.key);
    return mine != nullptr && other != nullptr && !are_equal(*mine, *other);
  });
}

}  // namespace

void Warnings::add(std::string sentence) {
  if (sentences_.size() >= kMost || !seen_.insert(sentence).second) return;
  sentences_.push_back(std::move(sentence));
}

SchemaCompiler::SchemaCompiler(Grammar& grammar, const json::Value& document, std::string label, SchemaContext& context)
    : grammar_(grammar), document_(&document), label_(std::move(label)), context_(context) {}

bool SchemaCompiler::has_constraints(const Part& part) {
  if (!part.schema->is_object()) return false;
  for (const json::Member& member : part.schema->as_object()) {
    if (is_among(kConstraints, member.key)) return true;
    if (member.key == "anyOf" && (part.distributed & 1U) == 0) return true;
    if (member.key == "oneOf" && (part.distributed & 2U) == 0) return true;
  }
  return false;
}

void SchemaCompiler::warn(const std::string& where, const std::string& sentence) {
  context_.warnings.add(place(where) + sentence);
}

std::string SchemaCompiler::place(const std::string& where) const {
  return label_ + ": " + (where.empty() ? "the schema" : "`" + where + "`") + ": ";
}

// ---- Limits

void SchemaCompiler::exhaust(const Parts& parts, const std::string& what) {
  const std::string where = parts.empty() ? "" : parts[0].where;
  is_exhausted_ = true;
  if (context_.limit.empty()) context_.limit = place(where) + "it " + what;
  warn(where, "it " + what + "; taken for any value");
}

bool SchemaCompiler::can_afford(std::size_t work, const Parts& parts) {
  context_.work += work;
  if (context_.work > kMostWork) {
    if (!is_exhausted_)
      exhaust(parts, "and what was read before take more than " + std::to_string(kMostWork) + " steps");
    return false;
  }
  if (depth_ <= kDeepestSchema) return true;
  exhaust(parts, "nests deeper than " + std::to_string(kDeepestSchema) + " schemas");
  return false;
}

// ---- Keywords that a grammar cannot express

void SchemaCompiler::check_keywords(const Part& part) {
  if (!checked_.insert(part.schema).second) return;
  for (const json::Member& member : part.schema->as_object()) {
    const std::string& key = member.key;
    const bool is_harmless = (key == "uniqueItems" && member.value == json::Value(false)) ||
                             (key == "not" && member.value == json::Value(false));
    if (is_harmless) continue;
    if (is_among(kNotExpressed, key)) {
      warn(part.where, "`" + key + "` is not expressed");
    } else if (const std::string_view kind = kind_of_keyword(key, member.value); !kind.empty()) {
      warn(part.where, "`" + key + "` must be " + std::string(kind) + ", and says nothing");
    } else if (!is_among(kConstraints, key) && !is_among(kOthers, key) && !key.starts_with("x-")) {
      warn(part.where, "the keyword `" + key + "` is not known and says nothing");
    }
  }
  if (const json::Value* type = part.schema->find("type")) {
    bool is_said = false;
    (void)types_by_type(*part.schema, is_said);
    if (!is_said) warn(part.where, "the type " + json::to_compact(*type) + " is not known; taken for any type");
  }
}

// Warns if several branches of a oneOf may hold at once.
void SchemaCompiler::check_one_of(const Part& part, const json::Value& list) {
  if (!checked_.insert(&list).second) return;
  const auto& branches = list.as_array();
  const auto followed = [this](const json::Value& branch) -> const json::Value& {
    std::string where;
    const auto reference = branch.find_string("$ref");
    const json::Value* target = reference ? resolve(*reference, where) : nullptr;
    return target != nullptr ? *target : branch;
  };
  constexpr std::size_t kMostCompared = 64;
  for (std::size_t i = 0; i < branches.size(); ++i) {
    for (std::size_t j = 0; j < i && branches.size() <= kMostCompared; ++j) {
      if (!can_afford(1, {part})) return;
      if (exclude_each_other(followed(branches[i]), followed(branches[j]))) continue;
      warn(part.where, "`oneOf` is read as `anyOf`: several of its branches may hold at once");
      return;
    }
  }
}

// ---- Types and enumerations

TypeSet SchemaCompiler::types(const Parts& alternative) const {
  TypeSet out = kAnyType;
  bool any_said = false;
  for (const Part& part : alternative) {
    bool is_said = false;
    const TypeSet allowed = types_by_type(*part.schema, is_said);
    any_said = any_said || is_said;
    if (is_said) out &= allowed;
  }
  if (any_said) return out;
  for (const Part& part : alternative) {
    const bool has_values = part.schema->find("enum") != nullptr || part.schema->find("const") != nullptr;
    if (!has_values) out &= types_by_keywords(*part.schema);
  }
  return out;
}

bool SchemaCompiler::has_shape(const Parts& alternative) {
  return std::ranges::any_of(
      alternative, [](const Part& part) { return has_keyword(*part.schema, {"pattern", "format", kGrammarKeyword}); });
}

bool SchemaCompiler::is_free_text(const Parts& alternative) {
  return !has_shape(alternative) && std::ranges::none_of(alternative, [](const Part& part) {
    return has_keyword(*part.schema, {"enum", "const", "minLength", "maxLength"});
  });
}

// Drops the values that type, const or enum of any of the parts do not allow.
void SchemaCompiler::keep_listed(const Parts& parts, std::vector<json::Value>& values) {
  for (const Part& part : parts) {
    bool is_said = false;
    const TypeSet types = types_by_type(*part.schema, is_said);
    const json::Value* constant = part.schema->find("const");
    const json::Value* list = part.schema->find("enum");
    std::unordered_set<std::string> listed;
    const bool has_list = list != nullptr && list->is_array();
    if (has_list) {
      for (const json::Value& item : list->as_array()) listed.insert(equality_key(item));
    }
    std::erase_if(values, [&](const json::Value& value) {
      return (types & type_of(value)) == 0 || (constant != nullptr && !are_equal(*constant, value)) ||
             (has_list && !listed.contains(equality_key(value)));
    });
  }
}

// Drops the listed values that other keywords exclude.  For that it compiles the schema without its enumeration, and
// matches each value with the result.
void SchemaCompiler::drop_excluded(const Parts& parts, std::vector<json::Value>& values) const {
  const bool has_more = std::any_of(parts.begin(), parts.end(), [](const Part& part) {
    return std::any_of(
        part.schema->as_object().begin(), part.schema->as_object().end(), [](const json::Member& member) {
          const std::string& key = member.key;
          return key != "type" && key != "enum" && key != "const" && key != "nullable" && is_among(kConstraints, key);
        });
  });
  if (!has_more || values.empty()) return;
  Grammar grammar;
  SchemaContext context;
  SchemaCompiler compiler(grammar, *document_, label_, context);
  compiler.ignores_values_ = true;
  compiler.depth_ = compiler.outermost_ = depth_;  // one limit for all nested compilers
  context.work = context_.work;
  const RuleId root = grammar.declare("root");
  grammar.define(root, compiler.value(parts, Speller(grammar, Spelling::json()), "value"));
  grammar.set_root(root);
  context_.work = context.work;
  if (compiler.is_exhausted_) {
    context_.warnings.add(place(parts[0].where) + "the listed values are not held to the other keywords");
    return;
  }
  Matcher matcher(grammar);
  std::erase_if(values, [&](const json::Value& value) {
    matcher.restart();
    return !matcher.feed(json::to_compact(value)) || !matcher.is_complete();
  });
}

std::optional<std::vector<json::Value>> SchemaCompiler::enumerated(const Parts& alternative, TypeSet types) const {
  std::optional<std::vector<json::Value>> found;
  for (const Part& part : alternative) {
    const json::Value* constant = part.schema->find("const");
    const json::Value* list = part.schema->find("enum");
    if (constant != nullptr) {
      found = {{*constant}};
      break;
    }
    if (list != nullptr && list->is_array() && (!found || list->as_array().size() < found->size()))
      found = list->as_array();
  }
  if (!found) return std::nullopt;
  std::erase_if(*found, [&](const json::Value& value) { return (type_of(value) & types) == 0; });
  keep_listed(alternative, *found);
  drop_excluded(alternative, *found);
  return found;
}

// ---- Values

std::string SchemaCompiler::memo_key(const Parts& parts, const Speller& speller, TypeSet types) const {
  const Spelling& spelling = speller.spelling();
  std::string out = std::to_string(static_cast<int>(spelling.strings)) + spelling.open + "\n" + spelling.close + "\n" +
                    spelling.true_word + "\n" + spelling.false_word + "\n" + spelling.null_word + "\n" +
                    std::to_string(types);
  for (const auto* escapes : {&spelling.escapes, &grammar_.escapes()})
    for (const format::Escape& escape : *escapes) out += "\n" + escape.text + "\n" + escape.written;
  for (const Part& part : parts) {
    out += ' ';
    out += std::to_string(reinterpret_cast<std::uintptr_t>(part.schema));
    out += static_cast<char>('a' + part.distributed);
  }
  return out;
}

// Equal schemas give the same node.  Beyond the limits on size and depth, a schema stands for any value.
NodeId SchemaCompiler::value(const Parts& parts, const Speller& speller, const std::string& name, TypeSet types) {
  const auto followed = flat(parts);
  if (!followed) return grammar_.never();
  const std::string key = memo_key(*followed, speller, types);
  if (const auto found = values_.find(key); found != values_.end()) return found->second;
  if (!can_afford(1, parts)) return anything(speller, types);
  ++depth_;
  std::vector<NodeId> ways;
  for (const Parts& alternative : alternatives(parts)) ways.push_back(compile(alternative, speller, name, types));
  --depth_;
  const NodeId made = grammar_.choice(ways);
  values_.emplace(key, made);
  if (depth_ == outermost_) define_deferred();
  return made;
}

// Defines the rule of an object or an array, at once or, if it nests deep, after the others.
void SchemaCompiler::define(RuleId rule, Body body, const Parts& parts, const Speller& speller,
                            const std::string& name) {
  if (depth_ < kDeepestBody) {
    grammar_.define(rule, (this->*body)(parts, speller, name));
  } else {
    deferred_.push_back({rule, body, parts, speller, name});
  }
}

void SchemaCompiler::define_deferred() {
  ++depth_;
  while (!deferred_.empty()) {
    const Deferred next = std::move(deferred_.front());
    deferred_.pop_front();
    grammar_.define(next.rule, (this->*next.body)(next.parts, next.speller, next.name));
  }
  --depth_;
}

NodeId SchemaCompiler::compile(const Parts& alternative, const Speller& speller, const std::string& name,
                               TypeSet asked) {
  // The alternative without any constraint is any value.  Listed values are written as constants.
  const TypeSet allowed = types(alternative) & asked;
  if (alternative.empty()) return anything(speller, asked);
  const bool looks_at_values = !ignores_values_ || depth_ > outermost_ + 1;
  if (const auto values = looks_at_values ? enumerated(alternative, allowed) : std::nullopt) {
    if (!can_afford(values->size() * kWorkOfConstant, alternative)) return anything(speller, allowed);
    std::vector<NodeId> ways;
    for (const json::Value& value : *values) ways.push_back(speller.constant(value));
    return grammar_.choice(ways);
  }
  std::vector<NodeId> ways;
  if ((allowed & kObjectType) != 0) ways.push_back(object(alternative, speller, name));
  if ((allowed & kArrayType) != 0) ways.push_back(array(alternative, speller, name));
  if ((allowed & kStringType) != 0) ways.push_back(string(alternative, speller));
  if ((allowed & kNumericTypes) != 0) ways.push_back(numeric(alternative, speller, (allowed & kNumberType) == 0));
  if ((allowed & kBooleanType) != 0) ways.push_back(speller.boolean());
  if ((allowed & kNullType) != 0) ways.push_back(speller.null());
  return grammar_.choice(ways);
}

}  // namespace rondo::grammar
