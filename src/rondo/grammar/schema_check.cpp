#include "grammar/schema_check.h"

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "grammar/definition.h"
#include "grammar/pattern.h"
#include "grammar/schema_types.h"
#include "json/pointer.h"
#include "json/print.h"

namespace rondo::grammar {
namespace {

using Words = std::span<const std::string_view>;

bool is_word_in(Words words, std::string_view word) { return std::ranges::find(words, word) != words.end(); }

// What the values of keywords are made of.
constexpr auto kSchemaKeywords =
    std::to_array<std::string_view>({"additionalProperties", "additionalItems", "propertyNames", "not", "if", "then",
                                     "else", "unevaluatedProperties", "unevaluatedItems", "contains", "items"});
constexpr auto kListKeywords = std::to_array<std::string_view>({"anyOf", "oneOf", "allOf", "prefixItems"});
constexpr auto kMapKeywords =
    std::to_array<std::string_view>({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"});
constexpr auto kNumberKeywords =
    std::to_array<std::string_view>({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"});
constexpr auto kCountKeywords = std::to_array<std::string_view>(
    {"minLength", "maxLength", "minItems", "maxItems", "minProperties", "maxProperties", "minContains", "maxContains"});

class SchemaCheck {
 public:
  std::optional<SchemaFault> run(const json::Value& schema) {
    check(schema, "");
    return std::move(fault_);
  }

 private:
  void fail(const std::string& where, std::string sentence) {
    if (!fault_) fault_ = {where, std::move(sentence)};
  }

  void fail_kind(const std::string& where, std::string_view key, std::string_view expected, const json::Value& found) {
    fail(where, "`" + std::string(key) + "` must be " + std::string(expected) + ", found " +
                    std::string(json::describe(found.kind())));
  }

  void check(const json::Value& schema, const std::string& where) {
    if (schema.is_bool()) return;
    if (!schema.is_object())
      return fail(where, "a schema must be an object, found " + std::string(json::describe(schema.kind())));
    for (const json::Member& member : schema.as_object()) {
      if (fault_) return;
      if (!member.value.is_null()) check_keyword(member.key, member.value, where);
    }
  }

  void check_keyword(const std::string& key, const json::Value& value, const std::string& where) {
    if (const std::string_view kind = kind_of_keyword(key, value); !kind.empty())
      return fail_kind(where, key, kind, value);
    if (key == "type") return check_type(value, where);
    if (key == "required") return check_required(value, where);
    if (key == "pattern") return check_regex(value.as_string(), where);
    if (key == kGrammarKeyword) return check_grammar(value, where + json::pointer_step(key));
    if ((key == "nullable" || key == "uniqueItems") && !value.is_bool())
      return fail_kind(where, key, "a boolean", value);
    if (is_word_in(kNumberKeywords, key)) return check_number(key, value, where);
    if (is_word_in(kCountKeywords, key)) return check_count(key, value, where);
    check_inner(key, value, where + json::pointer_step(key));
  }

  void check_inner(const std::string& key, const json::Value& value, const std::string& where) {
    const bool is_list = is_word_in(kListKeywords, key) || (key == "items" && value.is_array());
    if (is_list) {
      for (std::size_t i = 0; i < value.as_array().size() && !fault_; ++i)
        check(value.as_array()[i], where + "/" + std::to_string(i));
    } else if (is_word_in(kSchemaKeywords, key)) {
      check(value, where);
    } else if (is_word_in(kMapKeywords, key) && value.is_object()) {
      for (const json::Member& member : value.as_object()) {
        if (fault_) return;
        const std::string inner = where + json::pointer_step(member.key);
        if (key == "patternProperties") check_regex(member.key, where);
        check(member.value, inner);
      }
    }
  }

  void check_type(const json::Value& type, const std::string& where) {
    if (!type.is_string() && !type.is_array()) return fail_kind(where, "type", "a string or an array", type);
    if (type.is_array() && type.as_array().empty()) return fail(where, "`type` must not be empty");
    const json::Array one = type.is_array() ? type.as_array() : json::Array{type};
    for (const json::Value& name : one) {
      if (!name.is_string() || !is_type(name.as_string()))
        return fail(where, "the type " + json::to_compact(name) + " is not known");
    }
  }

  void check_required(const json::Value& required, const std::string& where) {
    for (const json::Value& name : required.as_array()) {
      if (!name.is_string())
        return fail(where, "`required` must name members by strings, found " + json::to_compact(name));
    }
  }

  void check_regex(const std::string& pattern, const std::string& where) {
    if (const Status status = check_pattern(pattern); !status.ok())
      fail(where, "the pattern `" + pattern + "` is not a regular expression: " + status.error().message);
  }

  void check_grammar(const json::Value& grammar, const std::string& where) {
    for (const std::string_view key : {"syntax", "definition"}) {
      const json::Value* text = grammar.find(key);
      if (text == nullptr) return fail(where, "`" + std::string(key) + "` is missing");
      if (!text->is_string()) return fail_kind(where, key, "a string", *text);
    }
    const auto read = read_definition(*grammar.find_string("syntax"), *grammar.find_string("definition"));
    if (!read.ok() && read.error().code == ErrorCode::kInvalidArgument)
      fail(where, "the grammar cannot be read: " + read.error().to_string());
  }

  // Drafts up to 4 have `exclusiveMinimum: true` beside `minimum`.
  void check_number(const std::string& key, const json::Value& value, const std::string& where) {
    if (value.is_bool() && key.starts_with("exclusive")) return;
    if (!value.is_number()) return fail_kind(where, key, "a number", value);
    if (key == "multipleOf" && value.to_double().value_or(1) <= 0)
      fail(where, "`multipleOf` must be more than 0, found " + value.number());
  }

  void check_count(const std::string& key, const json::Value& value, const std::string& where) {
    if (!value.is_number()) return fail_kind(where, key, "a number", value);
    const bool is_count = (type_of(value) & kIntegerType) != 0 && value.to_double().value_or(0) >= 0;
    if (!is_count) fail(where, "`" + key + "` must be a whole number, at least 0, found " + value.number());
  }

  std::optional<SchemaFault> fault_;
};

}  // namespace

std::optional<SchemaFault> schema_fault(const json::Value& schema) { return SchemaCheck().run(schema); }

}  // namespace rondo::grammar
