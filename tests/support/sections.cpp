#include "sections.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "base/files.h"

namespace rondo::test {
namespace {

// The name if `line` is a separator that begins with `mark`.
std::string_view section_name(std::string_view line, std::string_view mark) {
  return line.starts_with(mark) ? line.substr(mark.size()) : std::string_view();
}

GoldenFile parse(const std::string& path, const std::string& text) {
  GoldenFile file;
  file.path = path;
  std::string* open = &file.heading;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    if (const std::string_view name = section_name(line, "=== "); !name.empty()) {
      file.cases.emplace_back().items.emplace_back(name, "");
      open = &file.cases.back().items.back().second;
    } else if (const std::string_view more = section_name(line, "--- "); !more.empty()) {
      Sections& owner = file.cases.empty() ? file.shared : file.cases.back();
      owner.items.emplace_back(more, "");
      open = &owner.items.back().second;
    } else {
      *open += line;
      *open += '\n';
    }
  }
  const auto drop_newline = [](Sections& sections) {
    for (auto& [name, body] : sections.items) {
      if (!body.empty()) body.pop_back();
    }
  };
  drop_newline(file.shared);
  for (Sections& sections : file.cases) drop_newline(sections);
  return file;
}

}  // namespace

const std::string* Sections::find(std::string_view name) const {
  const auto found = std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.first == name; });
  return found == items.end() ? nullptr : &found->second;
}

void Sections::set(std::string_view name, std::string text) {
  const auto found = std::find_if(items.begin(), items.end(), [&](const auto& item) { return item.first == name; });
  if (found == items.end()) {
    items.emplace_back(name, std::move(text));
  } else {
    found->second = std::move(text);
  }
}

std::string GoldenFile::to_string() const {
  std::string out = heading;
  for (const auto& [name, text] : shared.items) out += "--- " + name + "\n" + text + "\n";
  for (const Sections& sections : cases) {
    std::string_view mark = "=== ";
    for (const auto& [name, text] : sections.items) {
      out += std::string(mark) + name + "\n" + text + "\n";
      mark = "--- ";
    }
  }
  return out;
}

std::vector<GoldenFile> golden_files(const std::string& folder, std::string_view prefix) {
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(prefix) && name.ends_with(".txt")) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  REQUIRE_FALSE(paths.empty());
  std::vector<GoldenFile> out;
  for (const std::string& path : paths) {
    const auto text = files::read(path);
    REQUIRE_MESSAGE(text.ok(), path);
    out.push_back(parse(path, text.value()));
  }
  return out;
}

bool updating() {
  const char* update = std::getenv("RONDO_UPDATE");
  return update != nullptr && std::string_view(update) == "1";
}

void write_golden(const GoldenFile& file) {
  const auto old = files::read(file.path);
  const std::string text = file.to_string();
  if (old.ok() && old.value() == text) return;
  CHECK(files::write(file.path, text).ok());
}

}  // namespace rondo::test
