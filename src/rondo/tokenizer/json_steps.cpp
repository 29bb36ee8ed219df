#include "tokenizer/json_steps.h"

#include <utility>

#include "base/utf8.h"

namespace rondo::tokenizer {

Error located_error(Error error, const std::string& path) {
  error.message = "`" + path + "`: " + error.message;
  return error;
}

bool step_flag(const json::Value& description, std::string_view key, bool otherwise) {
  const json::Value* value = description.find(key);
  return value != nullptr && value->is_bool() ? value->as_bool() : otherwise;
}

Result<std::string> step_character(const json::Value& description, std::string_view key, std::string_view otherwise) {
  std::string text(description.find_string(key).value_or(otherwise));
  if (utf8::length(text) != 1) return damaged("`" + std::string(key) + "` is not one character: `" + text + "`");
  return text;
}

}  // namespace rondo::tokenizer
