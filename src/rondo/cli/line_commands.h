// Commands that answer line by line: rondo batch (docs/batch.md) and rondo mask (docs/masks.md).
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "cli/commands.h"

namespace CLI {  // NOLINT(readability-identifier-naming): as CLI11 names it
class App;
}  // namespace CLI

namespace rondo::cli {

struct MaskArguments {
  ModelArguments model;
  std::string input = "-";   // "-": standard input
  std::string output = "-";  // "-": standard output
  std::string field = "messages";
  std::string kwargs;
  std::string part = "sampled";
  std::vector<std::string> roles;  // empty: the default
  bool text = false;
  bool owners = false;
  int threads = 0;           // 0: as many as the machine has cores
  std::string html_file;     // "" for none
  std::size_t samples = 20;  // on the page
};

[[nodiscard]] int run_mask(const MaskArguments& arguments);

// Adds both commands.  The one that is called is put into `chosen`.  The arguments must live as long as the app.
void define_line_commands(CLI::App& app, MaskArguments& mask, BatchArguments& batch, std::function<int()>& chosen);

}  // namespace rondo::cli
