// The arguments of calls, with the words in which Python refuses wrong ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

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
