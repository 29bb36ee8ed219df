#include "core/families.h"

#include <algorithm>

#include "core/families_text.h"
#include "json/parse.h"
#include "model/gguf.h"

namespace rondo::core {
namespace {

struct Entry {
  std::string name;
  std::vector<std::string> tokens;
  std::vector<std::string> architectures;
};

std::vector<std::string> texts_of(const json::Value& entry, std::string_view key) {
  std::vector<std::string> out;
  for (const json::Value& text : entry.find(key)->as_array()) out.push_back(text.as_string());
  return out;
}

const std::vector<Entry>& entries() {
  static const std::vector<Entry> kEntries = [] {
    std::vector<Entry> out;
    const auto index = json::parse(families_text("index.json"));
    for (const json::Value& entry : index.value().as_array()) {
      out.push_back({.name = entry.find("name")->as_string(),
                     .tokens = texts_of(entry, "tokens"),
                     .architectures = texts_of(entry, "architectures")});
    }
    return out;
  }();
  return kEntries;
}

Family chosen(const Entry& entry, std::string reason) {
  return {.name = entry.name, .source = families_text(entry.name + ".jinja"), .reason = std::move(reason)};
}

}  // namespace

std::vector<std::string> family_names() {
  std::vector<std::string> out;
  for (const Entry& entry : entries()) out.push_back(entry.name);
  return out;
}

std::optional<Family> family_named(std::string_view name) {
  const auto found = std::ranges::find(entries(), name, &Entry::name);
  return found == entries().end() ? std::nullopt : std::optional(chosen(*found, "it was named"));
}

Family family_for(const tokenizer::Tokenizer* vocabulary, std::string_view architecture) {
  const Entry* best = nullptr;
  for (const Entry& entry : entries()) {
    const auto is_known = [&](const std::string& token) { return vocabulary->find(token).has_value(); };
    if (vocabulary == nullptr || entry.tokens.empty() || !std::ranges::all_of(entry.tokens, is_known)) continue;
    if (best == nullptr || entry.tokens.size() > best->tokens.size()) best = &entry;
  }
  if (best != nullptr) {
    std::string reason = "its vocabulary has ";
    for (const std::string& token : best->tokens) reason += (&token == &best->tokens.front() ? "" : ", ") + token;
    return chosen(*best, std::move(reason));
  }
  for (const Entry& entry : entries()) {
    if (std::ranges::find(entry.architectures, architecture) != entry.architectures.end())
      return chosen(entry, "its architecture is " + std::string(architecture));
  }
  return chosen(entries().back(), "neither its vocabulary nor its architecture is one of a known family");
}

std::string architecture_of(const std::string& path) {
  if (!path.ends_with(".gguf")) return "";
  const auto file = model::read_gguf(path);
  const std::string* found = file.ok() ? file.value().find_string("general.architecture") : nullptr;
  return found == nullptr ? "" : *found;
}

}  // namespace rondo::core
