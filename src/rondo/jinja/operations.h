// Operations on values that the VM does not need but the builtins share.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/runtime.h"

namespace rondo::jinja {

// The paths of the parts of an input container.
class PartPaths {
 public:
  PartPaths(Runtime& runtime, text::PathId parent, const json::Array& array)
      : paths_(runtime.origins.paths), parent_(parent), first_(paths_.indices(parent, array.size())) {}
  PartPaths(Runtime& runtime, text::PathId parent, const json::Object& object)
      : PartPaths(runtime, parent, object,
                  runtime.origins.paths.members(parent, object.size(), [&](std::size_t i) -> std::string_view {
                    return object.begin()[i].key;
                  })) {}
  // `first`: what first() of an earlier one was.
  PartPaths(Runtime& runtime, text::PathId parent, const json::Object& object, text::PathId first)
      : paths_(runtime.origins.paths), parent_(parent), first_(first), object_(&object) {}

  // Of the first part, if the others follow it; else kNone.
  [[nodiscard]] text::PathId first() const { return first_; }
  [[nodiscard]] text::PathId at(std::size_t i) const {
    if (first_ != text::PathId::kNone) return static_cast<text::PathId>(static_cast<std::size_t>(first_) + i);
    if (parent_ == text::PathId::kNone) return text::PathId::kNone;
    return object_ == nullptr ? paths_.index(parent_, i) : paths_.member(parent_, object_->begin()[i].key);
  }
  // Of a member's key.  REQUIRES: made of an object that has a path.
  [[nodiscard]] text::PathId key_at(std::size_t i) const {
    return first_ != text::PathId::kNone ? paths_.key_of_member(at(i))
                                         : paths_.key_of(parent_, object_->begin()[i].key);
  }

 private:
  text::PathTable& paths_;
  text::PathId parent_;
  text::PathId first_;
  const json::Object* object_ = nullptr;
};

// Python's ==, without logging a probe.
[[nodiscard]] bool equals(Runtime& runtime, const Value& left, const Value& right);
// Python's <; fails for values that have no order.
[[nodiscard]] bool less(Runtime& runtime, const Value& left, const Value& right);
// Exact order of two numbers; unordered with NaN.
[[nodiscard]] std::partial_ordering order_numbers(const Value& left, const Value& right);
// Nothing if the value cannot be hashed.
[[nodiscard]] std::optional<std::size_t> hash_of(Runtime& runtime, const Value& value);

// An int; normalised to kInt if it fits 64 bits.
[[nodiscard]] Value make_integer(Runtime& runtime, BigInt value);
[[nodiscard]] BigInt to_big(const Value& integral);   // REQUIRES: is_integral()
[[nodiscard]] double to_double(const Value& number);  // REQUIRES: is_number()
[[nodiscard]] Value make_length(std::size_t value);
// An int as Python takes a bound: one beyond 64 bits is the largest or smallest that fits.  REQUIRES: is_integral()
[[nodiscard]] std::int64_t clipped(const Value& integral);

// A copy of a dict with the same values; keys get their origins.
[[nodiscard]] Value copy_dict(Runtime& runtime, const Value& dict);
// True if there was such a key.
bool erase_item(Runtime& runtime, Dict& dict, const Value& key);
// Adds what dict.update() takes: a dict or an iterable of pairs.
void update_dict(Runtime& runtime, Dict& dict, const Value& from);

// What object.name gives if there is no such attribute or member.  `name` must outlive the render.
[[nodiscard]] Value missing_attribute(Runtime& runtime, const Value& object, std::string_view name);
// Fails if an output of `size` bytes is too long.
void check_output_size(Runtime& runtime, std::size_t size);
// What a macro writes to `output` at once, where its text would be emitted as it is: begins where this is made, and
// finish() does what emit() would do to the whole.
class PartEmission {
 public:
  PartEmission(Runtime& runtime, text::Text& output)
      : runtime_(runtime), output_(output), begin_(output.size()), part_(output.begin_part()) {}
  void finish() const;

 private:
  Runtime& runtime_;
  text::Text& output_;
  std::size_t begin_;
  text::Text::Part part_;
};
// Pays for `size` bytes of padding or digits that are about to be made; fails if they exceed the memory of a render.
void pay_for_filling(Runtime& runtime, std::size_t size);
// The message of an undefined value: "'x' is undefined".
[[nodiscard]] std::string undefined_message(const Value& value);
// Fails with it if the value is undefined.
void require_defined(Runtime& runtime, const Value& value);
// "dict object", "jinja2.utils.Namespace object".
[[nodiscard]] std::string object_type(const Value& value);

// Whether there is a global of this name in every render.
[[nodiscard]] bool is_global_name(std::string_view name);

// A lazy sequence: prints as <generator object NAME>, has no length and can be gone through once.
[[nodiscard]] Value make_generator(Runtime& runtime, std::string_view name, Iterator* iterator);
// The same under another type's name: prints as <TYPE object>.
[[nodiscard]] Value make_iterator(Runtime& runtime, std::string_view type, Iterator* iterator);
[[nodiscard]] Iterator* iterate_items(Runtime& runtime, std::vector<Value> items);

// The attribute alone, as Python's getattr() finds it; nothing for AttributeError.
[[nodiscard]] std::optional<Value> find_attribute(Runtime& runtime, const Value& object, std::string_view name);

// A character as \xHH, \uHHHH or \UHHHHHHHH.
[[nodiscard]] std::string hex_escape(char32_t c);
// repr(str) without the quotes and which quote Python takes.
[[nodiscard]] char repr_quote(std::string_view text);
// repr(value) as a string with origins.
[[nodiscard]] Value to_repr(Runtime& runtime, const Value& value);
// Escapes &, <, >, ", ' as markupsafe does; markup is left alone.  The result is markup.
[[nodiscard]] Value escape_html(Runtime& runtime, const Value& value);

// format(value, spec); fails for specs that the type does not take.
[[nodiscard]] std::string format_value(Runtime& runtime, const Value& value, std::string_view spec);
// text.format(...) and text % values.
[[nodiscard]] Value format_braces(Runtime& runtime, const Value& format, const Args& args, const Value* mapping);
[[nodiscard]] Value format_percent(Runtime& runtime, const Value& format, const Value& values);

// str(value) of an int, which Python limits in length.
[[nodiscard]] std::string decimal_digits(Runtime& runtime, const BigInt& value);
// int(text, base) and float(text) as Python reads them; nothing where it raises ValueError.
[[nodiscard]] std::optional<Value> parse_integer(Runtime& runtime, std::string_view text, unsigned base);
[[nodiscard]] std::optional<double> parse_float(std::string_view text);

struct JsonStyle {
  bool ensure_ascii = false;
  bool sort_keys = false;
  std::optional<std::string> indent;
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  bool html_safe = false;  // <, >, & and ' as \u003c, ..., as jinja2's own tojson
};
[[nodiscard]] Value to_json(Runtime& runtime, const Value& value, const JsonStyle& style);
// The same behind `out`, which is the template's output.
void write_json(Runtime& runtime, const Value& value, const JsonStyle& style, text::Text& out);

// `subject` with every `old` replaced, at most `count` times if that is not negative.
[[nodiscard]] Value replace_text(Runtime& runtime, const Value& subject, const Value& old, const Value& with,
                                 std::int64_t count);
// `separator` between strings.
[[nodiscard]] Value join_strings(Runtime& runtime, const Value& separator, std::span<const Value> strings);
enum class Side : std::uint8_t { kLeft = 1, kRight = 2, kBoth = 3 };
// strip(), with `characters` None for white space.
[[nodiscard]] Value strip_text(Runtime& runtime, const Value& subject, Side side, const Value& characters);
[[nodiscard]] Value upper_text(Runtime& runtime, const Value& subject);
[[nodiscard]] Value lower_text(Runtime& runtime, const Value& subject);
[[nodiscard]] Value capitalize_text(Runtime& runtime, const Value& subject);
// lower() of the character `c` at byte `at` of `text`, in UTF-8; a capital sigma that ends a word gets its final form.
[[nodiscard]] std::string lower_at(std::string_view text, std::size_t at, char32_t c);
[[nodiscard]] std::string folded(Runtime& runtime, const Value& subject);  // lower() without origins
// `size` blanks or other characters, computed here.
[[nodiscard]] Value padding(Runtime& runtime, std::size_t size, std::string_view character = " ");

// False for what `iterate` refuses.
[[nodiscard]] bool is_iterable(Runtime& runtime, const Value& value);
// The elements of `value`, which must be `count`.
[[nodiscard]] std::vector<Value> unpack_items(Runtime& runtime, const Value& value, std::size_t count);

// Who is called, for messages about wrong arguments: Python words them by how the function is written.
struct Callee {
  std::string_view name;    // of the reference's function: "do_indent" for the filter `indent`
  bool is_python = false;   // written in Python, else in C
  std::size_t leading = 0;  // if in Python: parameters before those in the template's parentheses
  std::string_view type;    // of a method in C: "str" of str.upper()
  bool parses = false;      // a method in C that counts its arguments in another way: find, count, startswith, ...
};
constexpr Callee python(std::string_view name, std::size_t leading = 0) { return {name, true, leading, {}, false}; }
constexpr Callee c_function(std::string_view name) { return {name, false, 0, {}, false}; }
constexpr Callee method_of(std::string_view type, std::string_view name) { return {name, false, 0, type, false}; }
constexpr Callee parsing_method(std::string_view name) { return {name, false, 0, "str", true}; }

// Arguments by position or name.  Fails where Python raises TypeError: too many, unknown, twice, missing.
//   Params params(runtime, python("do_indent", 1), args, {"width", "first", "blank"});
//   const std::int64_t width = params.integer(0, 4);
class Params {
 public:
  // `required`: how many of the names must be given.
  Params(Runtime& runtime, Callee callee, const Args& args, std::initializer_list<std::string_view> names,
         std::size_t required = 0);

  [[nodiscard]] bool given(std::size_t index) const { return values_[index] != nullptr; }
  // None if not given.
  [[nodiscard]] Value operator[](std::size_t index) const { return given(index) ? *values_[index] : Value::none(); }
  [[nodiscard]] Value value(std::size_t index, const Value& fallback) const;
  [[nodiscard]] bool boolean(std::size_t index, bool fallback) const;
  // The same where Python takes ints and bools only.
  [[nodiscard]] bool flag(std::size_t index, bool fallback) const;
  // Fails if it is given and no int that fits 32 bits, C's int.
  [[nodiscard]] std::int64_t c_int(std::size_t index, std::int64_t fallback) const;
  // Fails if it is given and no int that fits 64 bits.
  [[nodiscard]] std::int64_t integer(std::size_t index, std::int64_t fallback) const;
  // Fails if it is no string.
  [[nodiscard]] Value string(std::size_t index) const;

 private:
  static constexpr std::size_t kMost = 8;
  void take_named(const NamedValue& argument, std::span<const std::string_view> names, std::size_t positional);

  Runtime& runtime_;
  Callee callee_;
  const Value* values_[kMost] = {};
};

// Fails if there are arguments: for functions in C that take what a filter or test is applied to and nothing else.
void require_no_more(Runtime& runtime, std::string_view function, const Args& args);
// Fails if there are named arguments.
void require_positional(Runtime& runtime, Callee callee, const Args& args, std::size_t least, std::size_t most);

}  // namespace rondo::jinja
