// Tokenizers beside their peers: runs bench/tokenize_bench.py with the library that stands beside this program.
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

int main(int /*count*/, char** arguments) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::string script = std::string(RONDO_SOURCE_DIR) + "/bench/tokenize_bench.py";
  const std::string library = (self.parent_path() / "librondo_bench_tokenize.so").string();
  std::vector<std::string> command = {"python3", "-B", script, "--library", library};
  for (char** argument = arguments + 1; *argument != nullptr; ++argument) command.emplace_back(*argument);
  std::vector<char*> raw;
  raw.reserve(command.size() + 1);
  for (std::string& word : command) raw.push_back(word.data());
  raw.push_back(nullptr);
  execvp(raw[0], raw.data());
  std::perror("python3");
  return 1;
}
