// Golden files of several cases, each of named sections.
//
//   # What the file is about: lines before the first section.
//   === template
//   {{ x.y }}
//   --- error
//   template:1:6: ...
//
// A section's text is the lines up to the next separator, without the last newline.  `===` begins a case, `---` a
// further section of it; sections before the first case belong to the file.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rondo::test {

struct Sections {
  std::vector<std::pair<std::string, std::string>> items;  // name, text; in the order of the file

  // nullptr if there is no such section.
  [[nodiscard]] const std::string* find(std::string_view name) const;
  // Replaces the section, or adds it at the end.
  void set(std::string_view name, std::string text);
};

struct GoldenFile {
  std::string path;
  std::string heading;
  Sections shared;
  std::vector<Sections> cases;

  [[nodiscard]] std::string to_string() const;
};

// All files FOLDER/PREFIX*.txt in order of their names; fails the test if there is none.
[[nodiscard]] std::vector<GoldenFile> golden_files(const std::string& folder, std::string_view prefix);

// True if goldens are to be rewritten (RONDO_UPDATE=1).
[[nodiscard]] bool updating();
// Writes the file if its text changed.
void write_golden(const GoldenFile& file);

}  // namespace rondo::test
