#include "json/pointer.h"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/hex.h"

namespace rondo::json {
namespace {

// Decodes one step of a JSON pointer in a URI fragment.
std::string unescaped(std::string_view token) {
  std::string out;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~' && i + 1 < token.size()) {
      out += token[++i] == '1' ? '/' : '~';
    } else if (const auto byte = token[i] == '%' ? hex::byte(token, i + 1) : std::nullopt) {
      out += *byte;
      i += 2;
    } else {
      out += token[i];
    }
  }
  return out;
}

// Returns the element at a step of a JSON pointer; nullptr if the step is no index of the array.
const Value* element_at(const Array& array, std::string_view step) {
  constexpr std::size_t kLargestIndex = 1'000'000;
  std::size_t index = 0;
  for (const char byte : step) {
    if (byte < '0' || byte > '9' || index >= kLargestIndex) return nullptr;
    index = index * 10 + static_cast<std::size_t>(byte - '0');
  }
  return !step.empty() && index < array.size() ? &array[index] : nullptr;
}

}  // namespace

std::string pointer_step(std::string_view key) {
  std::string out = "/";
  for (const char byte : key) {
    if (byte == '~') {
      out += "~0";
    } else if (byte == '/') {
      out += "~1";
    } else {
      out += byte;
    }
  }
  return out;
}

const Value* follow_pointer(const Value& base, std::string_view pointer, std::string& where) {
  const Value* at = &base;
  while (!pointer.empty() && at != nullptr) {
    pointer.remove_prefix(1);  // the slash
    const std::size_t end = std::min(pointer.find('/'), pointer.size());
    const std::string step = unescaped(pointer.substr(0, end));
    pointer.remove_prefix(end);
    where += pointer_step(step);
    at = at->is_array() ? element_at(at->as_array(), step) : at->find(step);
  }
  return at;
}

const Value* resolve_reference(std::string_view reference, const Value& root) {
  if (reference != "#" && !reference.starts_with("#/")) return nullptr;
  std::string where;
  return follow_pointer(root, reference.substr(1), where);
}

}  // namespace rondo::json
