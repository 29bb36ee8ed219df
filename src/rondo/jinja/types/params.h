// Reads the arguments of calls, with Python's messages for wrong ones.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>

#include "jinja/value/runtime.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// The called function, for messages about wrong arguments.  Python's wording depends on how the function is written.
struct Callee {
  std::string_view name;    // the reference's name: "do_indent" for the filter `indent`
  bool is_python = false;   // whether it is written in Python; otherwise in C
  std::size_t leading = 0;  // if in Python: how many parameters precede those in the template's parentheses
  std::string_view type;    // for a method in C: "str" for str.upper()
  bool parses = false;      // a method in C that counts its arguments in another way: find, count, startswith, ...
};
constexpr Callee python(std::string_view name, std::size_t leading = 0) { return {name, true, leading, {}, false}; }
constexpr Callee c_function(std::string_view name) { return {name, false, 0, {}, false}; }
constexpr Callee method_of(std::string_view type, std::string_view name) { return {name, false, 0, type, false}; }
constexpr Callee parsing_method(std::string_view name) { return {name, false, 0, "str", true}; }

// Arguments by position or name.  Fails where Python raises TypeError: too many, unknown, repeated or missing
// arguments.
//   Params params(runtime, python("do_indent", 1), args, {"width", "first", "blank"});
//   const std::int64_t width = params.integer(0, 4);
class Params {
 public:
  // `required` is how many of the names must be given.
  Params(Runtime& runtime, Callee callee, const Args& args, std::initializer_list<std::string_view> names,
         std::size_t required = 0);

  [[nodiscard]] bool given(std::size_t index) const { return values_[index] != nullptr; }
  // Returns None if the argument was not given.
  [[nodiscard]] Value operator[](std::size_t index) const { return given(index) ? *values_[index] : Value::none(); }
  [[nodiscard]] Value value(std::size_t index, const Value& fallback) const;
  [[nodiscard]] bool boolean(std::size_t index, bool fallback) const;
  // Like boolean(), for arguments for which Python takes only ints and bools.
  [[nodiscard]] bool flag(std::size_t index, bool fallback) const;
  // Fails if the argument was given and is not an int of 32 bits (C's int).
  [[nodiscard]] std::int64_t c_int(std::size_t index, std::int64_t fallback) const;
  // Fails if the argument was given and is not an int of 64 bits.
  [[nodiscard]] std::int64_t integer(std::size_t index, std::int64_t fallback) const;
  // Fails if the argument is not a string.
  [[nodiscard]] Value string(std::size_t index) const;

 private:
  static constexpr std::size_t kMost = 8;
  void take_named(const NamedValue& argument, std::span<const std::string_view> names, std::size_t positional);

  Runtime& runtime_;
  Callee callee_;
  const Value* values_[kMost] = {};
};

// Fails if there are arguments.  For functions in C that take only the value that a filter or test is applied to.
void require_no_more(Runtime& runtime, std::string_view function, const Args& args);
// Fails if there are named arguments.
void require_positional(Runtime& runtime, Callee callee, const Args& args, std::size_t least, std::size_t most);

}  // namespace rondo::jinja
