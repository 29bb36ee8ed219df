// The messages about wrong usage, and `rondo help`.  Internal to cli/.
#pragma once

#include <CLI/CLI.hpp>

#include <functional>
#include <string>

namespace rondo::cli {

// Two or three lines: what is wrong, perhaps what was meant, and whose help explains it.
[[nodiscard]] std::string usage_message(const CLI::App& app, const CLI::Error& error);

// Adds the command `help NAME`, which shows the help of another command.  If it is called, it is put into `chosen`.
void define_help_command(CLI::App& app, std::function<int()>& chosen);

}  // namespace rondo::cli
