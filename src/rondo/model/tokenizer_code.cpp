#include "model/tokenizer_code.h"

#include <array>

#include "model/python_text.h"

namespace rondo::model {
namespace {

// The names of the pattern in such files, also in the spelling of constants.
constexpr std::array<std::string_view, 5> kNames = {"pat_str", "PAT_STR", "_pat_str", "pattern", "PATTERN"};

std::optional<std::string> assigned(std::string_view python, std::string_view name) {
  for (std::size_t at = python.find(name); at != std::string_view::npos; at = python.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if ((at > 0 && is_name_byte(python[at - 1])) || (end < python.size() && is_name_byte(python[end]))) continue;
    const auto value = behind_assignment(python, end);
    if (!value) continue;
    if (auto text = python_text(python, *value)) return text;
  }
  return std::nullopt;
}

}  // namespace

TokenizerCode read_tokenizer_code(std::string_view python) {
  TokenizerCode code;
  for (const std::string_view name : kNames) {
    if (!code.pattern) code.pattern = assigned(python, name);
  }
  for (const std::string_view call : {"unicodedata.normalize(\"NFC\"", "unicodedata.normalize('NFC'"}) {
    code.nfc = code.nfc || python.find(call) != std::string_view::npos;
  }
  return code;
}

}  // namespace rondo::model
