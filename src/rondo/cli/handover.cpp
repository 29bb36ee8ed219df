#include "cli/handover.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>

#include "engine/llama_cpp.h"

namespace rondo::cli {

std::optional<std::string> full_program(const std::string& own, const std::string& version) {
  const std::filesystem::path prefix = std::filesystem::path(own).parent_path().parent_path();
  std::string found = (prefix / "lib" / ("rondo-" + version) / "rondo").string();
  if (::access(found.c_str(), X_OK) != 0) return std::nullopt;
  return found;
}

void hand_over(char** argv) {
  if (engine::has_llama_cpp()) return;
  std::error_code unknown;  // where the system does not tell, nothing is handed over
  const std::filesystem::path own = std::filesystem::read_symlink("/proc/self/exe", unknown);
  if (unknown) return;
  if (const auto program = full_program(own.string(), RONDO_VERSION)) ::execv(program->c_str(), argv);
}

}  // namespace rondo::cli
