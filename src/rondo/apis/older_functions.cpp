// The form that the Chat API had before tools: `functions` and `function_call`.
#include <algorithm>

#include "apis/request_parts.h"

namespace rondo::apis {
namespace {

constexpr std::string_view kFunctions = "functions";
constexpr std::string_view kFunctionCall = "function_call";

bool has_elements(Fields& fields, std::string_view key) {
  const json::Array* list = fields.array(key, kMostTools);
  return list != nullptr && !list->empty();
}

void check_function(Fields& function, std::size_t) {
  check_function_types(function);
  if (function.text("name").value_or("").empty()) function.refuse_missing("name");
  check_parameters(function, "parameters");
}

// The name that `function_call` demands; "" if it is a word or missing.
std::string demanded(Fields& fields) {
  const json::Value* call = fields.any(kFunctionCall);
  if (call == nullptr) return "";
  if (!call->is_object()) {
    (void)fields.word(kFunctionCall, {"none", "auto"});
    return "";
  }
  Fields inside = fields.inside(kFunctionCall);
  const std::string name = inside.text("name").value_or("");
  if (name.empty()) inside.refuse_missing("name");
  return name;
}

}  // namespace

void check_functions(Fields& fields, GenerateRequest& out) {
  fields.each(kFunctions, kMostTools, check_function);
  const std::string name = demanded(fields);
  out.older_calls = has_elements(fields, kFunctions);
  if (!out.older_calls) {
    if (!name.empty()) fields.refuse(kFunctionCall, "goes with `functions`, and there are none");
    return;
  }
  if (has_elements(fields, "tools"))
    fields.refuse(kFunctions, "and `tools` exclude each other: `functions` is the older form of `tools`");
  if (fields.any("tool_choice") != nullptr)
    fields.refuse("tool_choice", "goes with `tools`; with `functions`, use `function_call`");
  const json::Array& functions = *fields.array(kFunctions, kMostTools);
  const auto is_meant = [&](const json::Value& function) { return function.find_string("name") == name; };
  if (!fields.failed() && !name.empty() && std::ranges::none_of(functions, is_meant))
    fields.refuse(kFunctionCall, "names `" + name + "`, which is none of the functions");
}

void read_functions(Fields& fields, GenerateRequest& out) {
  if (!out.older_calls) return;
  const std::string name = demanded(fields);
  const bool is_off = fields.any(kFunctionCall) != nullptr && *fields.any(kFunctionCall) == json::Value("none");
  out.tool_choice.parallel = false;
  if (is_off) out.tool_choice.mode = ToolChoice::Mode::kNone;
  if (!name.empty()) {
    out.tool_choice.mode = ToolChoice::Mode::kRequired;
    out.tool_choice.only.push_back(name);
  }
}

}  // namespace rondo::apis
