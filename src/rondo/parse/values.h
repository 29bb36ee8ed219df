// Values of tagged parameters: text in the format's own syntax to JSON, with the type that the tool's schema asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.h"
#include "json/value.h"

namespace rondo::parse {

inline constexpr std::size_t kLongestName = 256;  // of a tool; OpenAI allows 64

// JSON types as a set.
class TypeSet {
 public:
  enum Type : std::uint8_t {
    kString = 1,
    kInteger = 2,
    kNumber = 4,
    kBoolean = 8,
    kNull = 16,
    kObject = 32,
    kArray = 64
  };
  TypeSet() = default;
  explicit TypeSet(unsigned bits) : bits_(static_cast<std::uint8_t>(bits)) {}
  void add(Type type) { bits_ = static_cast<std::uint8_t>(bits_ | type); }
  void add(TypeSet other) { bits_ = static_cast<std::uint8_t>(bits_ | other.bits_); }
  [[nodiscard]] bool empty() const { return bits_ == 0; }
  [[nodiscard]] bool has(Type type) const { return (bits_ & type) != 0; }
  [[nodiscard]] bool is_only(Type type) const { return bits_ == type; }
  // A number fits where an integer is asked for and the other way round.
  [[nodiscard]] bool allows(const json::Value& value) const;

 private:
  std::uint8_t bits_ = 0;
};

// What "#/$defs/x" stands for inside `root`; nullptr if nothing is there, or if it leads elsewhere.
[[nodiscard]] const json::Value* resolve_reference(std::string_view reference, const json::Value& root);
// The types that `schema` allows; nullopt if it does not say.  `root` resolves local references.
[[nodiscard]] std::optional<TypeSet> schema_types(const json::Value& schema, const json::Value& root);
// The same in words, "an integer or null"; "" if it does not say.
[[nodiscard]] std::string wanted_types(const json::Value& schema, const json::Value& root);
// The schema of property `key`, nullptr if there is none.
[[nodiscard]] const json::Value* property_schema(const json::Value& schema, const json::Value& root,
                                                 std::string_view key);

// How strings inside nested values are quoted, beside JSON and Python quotes.
struct NestedSyntax {
  std::string string_open;
  std::string string_close;
  bool python = false;  // True, False, None, (1, 2)
};

// All of `text` as one value in JSON or Python spelling, or with bare keys and the format's own quotes; nullopt if it
// reads otherwise.
[[nodiscard]] std::optional<json::Value> read_literal(std::string_view text, const NestedSyntax& syntax);

// A schema inside its root, which resolves references; `schema` may be null.
struct SchemaPlace {
  const json::Value* schema = nullptr;
  const json::Value* root = nullptr;
};

// True if the schema names the values that it allows.
[[nodiscard]] bool has_choices(const SchemaPlace& place);
// A string that is one of these values but for the white space at its ends, as that value; else as it is.
[[nodiscard]] json::Value as_choice(json::Value value, const SchemaPlace& place);

// `text` as an object or array in the format's own markup: a sequence of parameters, or of items; nullopt if it begins
// with neither.
[[nodiscard]] std::optional<json::Value> read_markup(std::string_view text, const format::Parameters& parameters,
                                                     const SchemaPlace& place);

// `text` as a value.  `forms` are the forms it may have (REQUIRES: not empty).  Without `types` a text that reads as
// JSON is that value, else a string.
[[nodiscard]] json::Value read_value(std::string_view text, const std::vector<const format::ValueForm*>& forms,
                                     const std::optional<TypeSet>& types, const NestedSyntax& syntax);

}  // namespace rondo::parse
