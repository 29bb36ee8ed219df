// Turns the values of tagged parameters, texts in the format's own syntax, into JSON of the type that the tool's schema
// requires.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "format/format.h"
#include "json/value.h"

namespace rondo::parse {

inline constexpr std::size_t kLongestName = 256;  // bytes in the name of a tool; OpenAI allows 64

// A set of JSON types.
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
  // Returns whether the set has the type of `value`.  Any number fits if integers or numbers are allowed.
  [[nodiscard]] bool allows(const json::Value& value) const;

 private:
  std::uint8_t bits_ = 0;
};

// Returns the types that `schema` allows; nullopt if it does not say.  Local references are looked up in `root`.
[[nodiscard]] std::optional<TypeSet> schema_types(const json::Value& schema, const json::Value& root);
// Returns these types in words, such as "an integer or null"; "" if the schema does not say.
[[nodiscard]] std::string wanted_types(const json::Value& schema, const json::Value& root);
// Returns the schema of property `key`; nullptr if there is none.  Local references are looked up in `root`.
[[nodiscard]] const json::Value* property_schema(const json::Value& schema, const json::Value& root,
                                                 std::string_view key);

// Does the same with `schema` as its own root.  Alternatives of `schema` may state the property differently.  `begun`
// is the JSON of the object up to the key: alternatives that its members rule out do not count.  If several are left,
// their joined schema is made in `joined`.
[[nodiscard]] const json::Value* chosen_property(const json::Value& schema, std::string_view key,
                                                 std::string_view begun, std::optional<json::Value>& joined);

// How strings inside nested values are quoted, besides JSON and Python quotes.
struct NestedSyntax {
  std::string string_open;
  std::string string_close;
  bool python = false;  // reads True, False, None and (1, 2)
};

// What opens a string as JSON or Python writes it.
struct StringOpening {
  std::size_t prefix = 0;  // bytes of letters such as `r` before the quotes
  std::size_t quotes = 0;  // 1 or 3; 0: no string begins here
  bool is_open = false;    // more may follow
};
// Reads the opening at the start of `text`.
[[nodiscard]] StringOpening string_opening(std::string_view text);

// Reads all of `text` as one value in JSON or Python spelling.  Keys without quotes and the format's own quotes are
// allowed too.  Returns nullopt if it is not such a value.
[[nodiscard]] std::optional<json::Value> read_literal(std::string_view text, const NestedSyntax& syntax);

// Returns the text that completes `begun`, the beginning of an object, array or string as read_literal() reads it;
// nullopt if it is none, or if other text follows it.
[[nodiscard]] std::optional<std::string> literal_closing(std::string_view begun, const NestedSyntax& syntax);
// Returns what completes `begun`, the beginning of a JSON string that contains the text of a JSON object: the rest of
// an escape, what closes the object, and the quote.  `replaced` is the size of what JsonScanner::closing() has for the
// string alone.  Returns nullopt if it is not such a string, or if the string has ended.
struct TextClosing {
  std::string text;
  std::size_t replaced = 0;
};
[[nodiscard]] std::optional<TextClosing> json_text_closing(std::string_view begun);
// Returns the text that completes a number or a word of JSON or Python; "" if it needs nothing.
[[nodiscard]] std::string scalar_closing(std::string_view begun);

// A schema, and the root in which its references are looked up.  `schema` may be null.
struct SchemaPlace {
  const json::Value* schema = nullptr;
  const json::Value* root = nullptr;
};

// Returns true if the schema lists the values that it allows.
[[nodiscard]] bool has_choices(const SchemaPlace& place);
// If `value` is not one of these values, but its text without the white space at its ends is, returns that text.
// Otherwise returns `value` unchanged.
[[nodiscard]] json::Value as_choice(json::Value value, const SchemaPlace& place);

// Reads `text` as a value.  `forms` are the forms that it may have.  Without `types`, valid JSON becomes that value,
// and other text a string.  If nothing else fits, the value is a string.
//
// REQUIRES: `forms` is not empty.
[[nodiscard]] json::Value read_value(std::string_view text, const std::vector<const format::ValueForm*>& forms,
                                     const std::optional<TypeSet>& types, const NestedSyntax& syntax);

}  // namespace rondo::parse
