#include "grammar/schema_types.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>

#include "grammar/definition.h"
#include "json/print.h"

namespace rondo::grammar {
namespace {

std::optional<TypeSet> type_named(std::string_view name) {
  if (name == "null") return kNullType;
  if (name == "boolean" || name == "bool") return kBooleanType;
  if (name == "integer" || name == "int") return kIntegerType;
  if (name == "number" || name == "float") return kNumericTypes;
  if (name == "string" || name == "str") return kStringType;
  if (name == "object" || name == "dict") return kObjectType;
  if (name == "array" || name == "list") return kArrayType;
  if (name == "any") return kAnyType;
  return std::nullopt;
}

bool is_whole(const json::Value& number) {
  if (number.kind() == json::Kind::kInteger) return true;
  const double value = number.to_double().value_or(0.5);
  return value == static_cast<double>(static_cast<std::int64_t>(std::clamp(value, -9e15, 9e15)));
}

}  // namespace

TypeSet type_of(const json::Value& value) {
  switch (value.kind()) {
    case json::Kind::kNull: return kNullType;
    case json::Kind::kBool: return kBooleanType;
    case json::Kind::kInteger: return kIntegerType;
    case json::Kind::kFloat: return is_whole(value) ? kNumericTypes : TypeSet{kNumberType};
    case json::Kind::kString: return kStringType;
    case json::Kind::kArray: return kArrayType;
    case json::Kind::kObject: return kObjectType;
  }
  return 0;
}

std::string equality_key(const json::Value& value) {
  const double number = value.is_number() ? value.to_double().value_or(0) : std::nan("");
  if (std::isnan(number)) return json::to_compact(value);
  return json::to_compact(json::Value(number == 0 ? 0.0 : number));  // there is no negative zero
}

bool are_equal(const json::Value& a, const json::Value& b) { return equality_key(a) == equality_key(b); }

bool is_type(std::string_view name) { return type_named(name).has_value(); }

TypeSet types_by_type(const json::Value& schema, bool& is_said) {
  const json::Value* type = schema.find("type");
  TypeSet out = 0;
  if (type != nullptr && type->is_string()) {
    if (const auto one = type_named(type->as_string())) out = *one;
  } else if (type != nullptr && type->is_array()) {
    for (const json::Value& item : type->as_array()) {
      if (!item.is_string()) continue;
      if (const auto one = type_named(item.as_string())) out |= *one;
    }
  }
  is_said = out != 0;
  if (is_said && schema.is_true("nullable")) out |= kNullType;
  return is_said ? out : kAnyType;
}

std::string_view kind_of_keyword(std::string_view keyword, const json::Value& value) {
  constexpr std::array<std::string_view, 5> kObjects = {"properties", "patternProperties", "$defs", "definitions",
                                                        kGrammarKeyword};
  constexpr std::array<std::string_view, 6> kArrays = {"required", "enum", "prefixItems", "anyOf", "oneOf", "allOf"};
  constexpr std::array<std::string_view, 3> kStrings = {"pattern", "format", "$ref"};
  if (value.is_null()) return "";  // some libraries write what is not set
  const auto is_in = [keyword](const auto& keywords) { return std::ranges::find(keywords, keyword) != keywords.end(); };
  if (is_in(kObjects)) return value.is_object() ? "" : "an object";
  if (is_in(kArrays)) return value.is_array() ? "" : "an array";
  if (is_in(kStrings)) return value.is_string() ? "" : "a string";
  return "";
}

bool has_keyword(const json::Value& schema, std::initializer_list<std::string_view> keywords) {
  return std::ranges::any_of(keywords, [&](std::string_view key) { return schema.find(key) != nullptr; });
}

TypeSet types_by_keywords(const json::Value& schema) {
  const auto has = [&](std::initializer_list<std::string_view> keywords) { return has_keyword(schema, keywords); };
  TypeSet out = 0;
  if (has({"properties", "additionalProperties", "patternProperties", "required", "minProperties", "maxProperties",
           "propertyNames"}))
    out |= kObjectType;
  if (has({"items", "prefixItems", "minItems", "maxItems"})) out |= kArrayType;
  if (has({"pattern", "format", "minLength", "maxLength", kGrammarKeyword})) out |= kStringType;
  if (has({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})) out |= kNumericTypes;
  return out == 0 ? kAnyType : out;
}

}  // namespace rondo::grammar
