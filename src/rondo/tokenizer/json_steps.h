// Reads the parts of a tokenizer.json that are a step with a "type", or a "Sequence" of such steps.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"
#include "rondo/result.h"
#include "tokenizer/damaged.h"

namespace rondo::tokenizer {

// Returns the error of a step at `path`, such as `normalizer.normalizers[1]`.
[[nodiscard]] Error located_error(Error error, const std::string& path);

// Returns a member that is true or false; `otherwise` if it is anything else.
[[nodiscard]] bool step_flag(const json::Value& description, std::string_view key, bool otherwise);
// Returns a member that is one character; `otherwise` if there is none.  Fails with kTokenizer.
[[nodiscard]] Result<std::string> step_character(const json::Value& description, std::string_view key,
                                                 std::string_view otherwise);

// Deeper sequences are refused.
constexpr int kMaxStepDepth = 32;

// Calls add(type, description), which returns a Status, for every step in order.  `list` is the name of the member that
// holds the steps of a sequence.  Fails with kTokenizer and the path of the step.
template <typename Add>
[[nodiscard]] Status for_each_step(const json::Value& description, const std::string& path, std::string_view list,
                                   Add add, int depth = 0) {
  const auto type = description.find_string("type");
  if (!type) return located_error(damaged("it has no `type`"), path);
  if (depth > kMaxStepDepth) return located_error(damaged("sequences stand too deep in each other"), path);
  if (*type != "Sequence") {
    Status status = add(*type, description);
    return status.ok() ? status : located_error(status.error(), path);
  }
  const json::Value* members = description.find(list);
  if (members == nullptr || !members->is_array()) {
    return located_error(damaged("the `Sequence` has no list `" + std::string(list) + "`"), path);
  }
  for (std::size_t i = 0; i < members->as_array().size(); ++i) {
    const std::string place = path + "." + std::string(list) + "[" + std::to_string(i) + "]";
    Status status = for_each_step(members->as_array()[i], place, list, add, depth + 1);
    if (!status.ok()) return status;
  }
  return Done{};
}

}  // namespace rondo::tokenizer
