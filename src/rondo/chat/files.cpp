#include "chat/files.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/base64.h"
#include "base/utf8.h"
#include "chat/api_parts.h"

namespace rondo::chat {
namespace {

// Media types of texts, beside those of the kind `text` and those that name their syntax at the end (`+json`, `+xml`).
constexpr std::array<std::string_view, 12> kTextTypes = {
    "application/ecmascript", "application/graphql", "application/javascript", "application/json",
    "application/json5",      "application/jsonl",   "application/sql",        "application/toml",
    "application/x-ndjson",   "application/x-sh",    "application/xml",        "application/yaml"};

bool is_text_type(std::string_view type) {
  std::string name(type.substr(0, type.find(';')));
  while (name.ends_with(' ')) name.pop_back();
  std::ranges::transform(name, name.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return name.starts_with("text/") || name.ends_with("+json") || name.ends_with("+xml") || name.ends_with("+yaml") ||
         name.ends_with("/x-yaml") || std::ranges::find(kTextTypes, name) != kTextTypes.end();
}

}  // namespace

std::optional<std::string> text_of_data(std::string_view type, std::string_view data) {
  if (!is_text_type(type)) return std::nullopt;
  std::optional<std::string> text = base64::decode(data);
  if (text && !utf8::is_valid(*text)) return std::nullopt;
  return text;
}

std::optional<std::string> text_of_file(const json::Value& part) {
  const std::string_view kind = part.find_string("type").value_or("");
  const json::Value* file = kind == "input_file" ? &part : kind == "file" ? part.find("file") : nullptr;
  if (file == nullptr) return std::nullopt;
  constexpr std::string_view kScheme = "data:";
  constexpr std::string_view kEncoding = ";base64,";
  const std::string_view url = file->find_string("file_data").value_or("");
  const std::size_t comma = url.find(kEncoding);
  if (!url.starts_with(kScheme) || comma == std::string_view::npos) return std::nullopt;
  const std::string_view type = url.substr(kScheme.size(), comma - kScheme.size());
  std::optional<std::string> content = text_of_data(type, url.substr(comma + kEncoding.size()));
  if (!content) return std::nullopt;
  std::string text = first_text(*file, {"filename"});
  if (!text.empty()) text += '\n';
  return std::move(text) + *content;
}

}  // namespace rondo::chat
