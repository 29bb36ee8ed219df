// rondo completion: what a shell needs to complete the words of a command line.
#pragma once

#include <functional>
#include <string>

namespace CLI {  // NOLINT(readability-identifier-naming): as CLI11 names it
class App;
}  // namespace CLI

namespace rondo::cli {

// Adds the command.  If it is called, `chosen` prints a script for the shell, made from everything that `app` contains
// then.  Both must live as long as the app.
void define_completion_command(CLI::App& app, std::string& shell, std::function<int()>& chosen);

}  // namespace rondo::cli
