// rondo edge: makes Edge JSON from templates, reads it, checks it and applies it.
#pragma once

#include <functional>
#include <string>

#include "cli/commands.h"

namespace CLI {  // NOLINT(readability-identifier-naming): as CLI11 names it
class App;
}  // namespace CLI

namespace rondo::cli {

struct EdgeArguments {
  ModelArguments model;  // for export
  std::string kwargs;
  std::string model_path;
  bool no_prebuilt = false;
  std::string file;      // for the others: an Edge JSON file, or a folder with one
  std::string requests;  // for format
  std::string output;
  std::string color = "auto";
  bool json = false;
};

int run_edge_export(const EdgeArguments& arguments);
int run_edge_import(const EdgeArguments& arguments);
int run_edge_validate(const EdgeArguments& arguments);
int run_edge_format(const EdgeArguments& arguments);

// Adds the command.  The subcommand that is called is put into `chosen`.  `arguments` must live as long as the app.
void define_edge_commands(CLI::App& app, EdgeArguments& arguments, std::function<int()>& chosen);

}  // namespace rondo::cli
