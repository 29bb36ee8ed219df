#include "jinja/types/params.h"

#include <algorithm>

#include "jinja/types/access.h"
#include "jinja/value/runtime.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

// "1 argument", "2 arguments".
std::string plural(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

// More arguments than parameters.
[[noreturn]] void fail_count(Runtime& runtime, Callee callee, std::size_t given, std::size_t most,
                             std::size_t required) {
  const std::string call = std::string(callee.name) + "()";
  if (!callee.is_python) {
    runtime.fail(call + " takes at most " + plural(most, "argument") + " (" + std::to_string(given) + " given)");
  }
  // Python also counts the value that a filter is applied to, and the arguments that jinja2 passes before it.
  const std::size_t all = callee.leading + most;
  const std::size_t least = callee.leading + required;
  const std::string wanted =
      least == all ? plural(all, "positional argument")
                   : "from " + std::to_string(least) + " to " + std::to_string(all) + " positional arguments";
  runtime.fail(call + " takes " + wanted + " but " + std::to_string(callee.leading + given) + " were given");
}

[[noreturn]] void fail_missing(Runtime& runtime, Callee callee, std::span<const std::string> missing) {
  std::string list;
  for (std::size_t i = 0; i < missing.size(); ++i) {
    if (i != 0) list += i + 1 < missing.size() ? ", " : missing.size() == 2 ? " and " : ", and ";
    list += missing[i];
  }
  runtime.fail(std::string(callee.name) + "() missing " + plural(missing.size(), "required positional argument") +
               ": " + list);
}

}  // namespace

Params::Params(Runtime& runtime, Callee callee, const Args& args, std::initializer_list<std::string_view> names,
               std::size_t required)
    : runtime_(runtime), callee_(callee) {
  const std::size_t given = args.positional.size();
  for (std::size_t i = 0; i < std::min(given, names.size()); ++i) values_[i] = &args.positional[i];
  const std::span<const std::string_view> all(names.begin(), names.size());
  // Python's order of errors: unknown names, then too many, then missing.  Functions written in C count first.
  if (!callee.is_python && args.size() > all.size()) fail_count(runtime, callee, args.size(), all.size(), required);
  for (const NamedValue& argument : args.named) take_named(argument, all, given);
  if (given > all.size()) fail_count(runtime, callee, given, all.size(), required);
  std::vector<std::string> missing;
  for (std::size_t i = 0; i < required; ++i) {
    if (values_[i] == nullptr) missing.push_back("'" + std::string(all[i]) + "'");
  }
  if (!missing.empty()) fail_missing(runtime, callee, missing);
}

void Params::take_named(const NamedValue& argument, std::span<const std::string_view> names, std::size_t positional) {
  const auto index = static_cast<std::size_t>(std::find(names.begin(), names.end(), argument.name) - names.begin());
  const std::string quoted = "'" + std::string(argument.name) + "'";
  const std::string call = std::string(callee_.name) + "()";
  if (index == names.size()) {
    runtime_.fail(!callee_.is_python ? quoted + " is an invalid keyword argument for " + call
                                     : call + " got an unexpected keyword argument " + quoted);
  }
  if (index < positional) {
    runtime_.fail(!callee_.is_python ? "argument for " + call + " given by name (" + quoted + ") and position (" +
                                           std::to_string(index + 1) + ")"
                                     : call + " got multiple values for argument " + quoted);
  }
  values_[index] = &argument.value;
}

Value Params::value(std::size_t index, const Value& fallback) const {
  return given(index) ? *values_[index] : fallback;
}

bool Params::boolean(std::size_t index, bool fallback) const {
  return given(index) ? truthy(runtime_, *values_[index]) : fallback;
}

bool Params::flag(std::size_t index, bool fallback) const { return c_int(index, fallback ? 1 : 0) != 0; }

std::int64_t Params::c_int(std::size_t index, std::int64_t fallback) const {
  if (!given(index)) return fallback;
  const Value& value = *values_[index];
  const bool fits = value.is_small_int() && value.as_int() == static_cast<std::int32_t>(value.as_int());
  if (value.is_integral() && !fits) runtime_.fail("Python int too large to convert to C int");
  return integer(index, 0);
}

std::int64_t Params::integer(std::size_t index, std::int64_t fallback) const {
  if (!given(index)) return fallback;
  const Value& value = *values_[index];
  require_defined(runtime_, value);
  if (!value.is_integral()) runtime_.fail("'" + type_name(value) + "' object cannot be interpreted as an integer");
  if (!value.is_small_int()) runtime_.fail("Python int too large to convert to C ssize_t");
  return value.as_int();
}

Value Params::string(std::size_t index) const {
  const Value value = (*this)[index];
  if (callee_.is_python) require_defined(runtime_, value);
  if (!value.is_string()) {
    runtime_.fail(std::string(callee_.name) + "() argument " + std::to_string(index + 1) + " must be str, not " +
                  type_name(value));
  }
  return value;
}

void require_no_more(Runtime& runtime, std::string_view function, const Args& args) {
  if (args.size() == 0) return;
  const std::string call = std::string(function) + "()";
  if (!args.named.empty()) runtime.fail(call + " takes no keyword arguments");
  runtime.fail(call + " takes exactly one argument (" + std::to_string(args.positional.size() + 1) + " given)");
}

void require_positional(Runtime& runtime, Callee callee, const Args& args, std::size_t least, std::size_t most) {
  const std::size_t count = args.positional.size();
  if (args.named.empty() && count >= least && count <= most) return;
  const std::string name(callee.name);
  const std::string call = (callee.type.empty() ? name : std::string(callee.type) + "." + name) + "()";
  if (!args.named.empty()) runtime.fail(call + " takes no keyword arguments");
  const std::size_t bound = count < least ? least : most;
  const std::string side = count < least ? "at least " : "at most ";
  if (callee.parses) {
    runtime.fail(name + "() takes " + side + plural(bound, "argument") + " (" + std::to_string(count) + " given)");
  }
  if (most > 1 || least != most) {
    runtime.fail(name + " expected " + (least == most ? "" : side) + plural(bound, "argument") + ", got " +
                 std::to_string(count));
  }
  const std::string wanted = most == 0 ? "no arguments" : "exactly one argument";
  runtime.fail(call + " takes " + wanted + " (" + std::to_string(count) + " given)");
}

}  // namespace rondo::jinja
