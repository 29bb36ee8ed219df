#include "tests/support/corpus_files.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/files.h"

namespace rondo::test {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

bool is_small_corpus() { return !variable("RONDO_CORPUS").empty(); }

std::string corpus_folder() {
  if (is_small_corpus()) return variable("RONDO_CORPUS");
  const std::string beside = RONDO_SOURCE_DIR "/../shared/corpus";
  return files::is_folder(beside) ? beside : "";
}

std::string corpus_models() {
  return is_small_corpus() ? corpus_folder() + "/models" : variable("RONDO_CORPUS_MODELS");
}

std::string output_of(const std::string& command) {
  std::string text;
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> pipe(popen(command.c_str(), "r"), &pclose);
  if (!pipe) return text;
  std::array<char, 1 << 16> buffer;
  for (std::size_t got = 0; (got = std::fread(buffer.data(), 1, buffer.size(), pipe.get())) > 0;) {
    text.append(buffer.data(), got);
  }
  return text;
}

std::vector<std::string> read_xz_lines(const std::string& path) {
  std::vector<std::string> lines;
  const std::string text = output_of("xz -dc '" + path + "' 2>/dev/null");
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

}  // namespace rondo::test
