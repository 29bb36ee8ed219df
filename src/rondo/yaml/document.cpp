#include "yaml/document.h"

#include "json/parse.h"
#include "yaml/read.h"

namespace rondo::yaml {
namespace {

bool is_json(std::string_view text, std::string_view name) {
  if (name.ends_with(".json")) return true;
  if (name.ends_with(".yaml") || name.ends_with(".yml")) return false;
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  return begin != std::string_view::npos && (text[begin] == '{' || text[begin] == '[');
}

}  // namespace

Result<json::Value> read_document(std::string_view text, const std::string& name) {
  Result<json::Value> value = is_json(text, name) ? json::parse(text) : read(text);
  if (value.ok()) return value;
  Error error = value.error();
  error.source = name;
  if (error.code == ErrorCode::kJson) error.code = ErrorCode::kInvalidArgument;
  return error;
}

}  // namespace rondo::yaml
