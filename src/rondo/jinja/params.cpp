#include "jinja/operations.h"
#include "jinja/string_functions.h"

namespace rondo::jinja {

Params::Params(Runtime& runtime, std::string_view function, const Args& args,
               std::initializer_list<std::string_view> names, std::size_t required)
    : runtime_(runtime), function_(function) {
  const std::string call = std::string(function) + "()";
  if (args.positional.size() > names.size()) {
    runtime.fail(call + " takes at most " + std::to_string(names.size()) + " arguments (" +
                 std::to_string(args.positional.size()) + " given)");
  }
  for (std::size_t i = 0; i < args.positional.size(); ++i) values_[i] = &args.positional[i];
  for (const NamedValue& argument : args.named) {
    std::size_t index = 0;
    for (const std::string_view name : names) {
      if (name == argument.name) break;
      ++index;
    }
    const std::string name(argument.name);
    const bool unknown = index == names.size();
    if (unknown || values_[index] != nullptr) {
      std::string message = call;
      message += unknown ? " got an unexpected keyword argument '" : " got multiple values for argument '";
      message += name;
      message += '\'';
      runtime.fail(std::move(message));
    }
    values_[index] = &argument.value;
  }
  for (std::size_t i = 0; i < required; ++i) {
    if (values_[i] != nullptr) continue;
    runtime.fail(call + " missing required argument: '" + std::string(names.begin()[i]) + "'");
  }
}

Value Params::value(std::size_t index, const Value& fallback) const {
  return given(index) ? *values_[index] : fallback;
}

bool Params::boolean(std::size_t index, bool fallback) const {
  return given(index) ? truthy(runtime_, *values_[index]) : fallback;
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
  require_defined(runtime_, value);
  if (!value.is_string()) {
    runtime_.fail(std::string(function_) + "() argument " + std::to_string(index + 1) + " must be str, not " +
                  type_name(value));
  }
  return value;
}

void require_positional(Runtime& runtime, std::string_view function, const Args& args, std::size_t least,
                        std::size_t most) {
  const std::string call = std::string(function) + "()";
  if (!args.named.empty()) runtime.fail(call + " takes no keyword arguments");
  const std::size_t count = args.positional.size();
  if (count >= least && count <= most) return;
  if (least == most) {
    const std::string wanted = most == 0   ? "no arguments"
                               : most == 1 ? "exactly one argument"
                                           : std::to_string(most) + " arguments";
    runtime.fail(call + " takes " + wanted + " (" + std::to_string(count) + " given)");
  }
  const bool few = count < least;
  const std::size_t bound = few ? least : most;
  runtime.fail(std::string(function) + " expected at " + (few ? "least " : "most ") + std::to_string(bound) +
               (bound == 1 ? " argument, got " : " arguments, got ") + std::to_string(count));
}

}  // namespace rondo::jinja
