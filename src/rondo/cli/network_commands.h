// The commands that need a network: servers, and what is asked of them.  Without one each says what to do.
#pragma once

#include <functional>

#include "cli/commands.h"

namespace CLI {  // NOLINT(readability-identifier-naming): as CLI11 names it
class App;
}  // namespace CLI

namespace rondo::cli {

struct NetworkArguments {
  FakeEngineArguments fake_engine;
  EnginesArguments engines;
  ServeArguments serve;
};

// Adds the commands; the one that is called is put into `chosen`.  `arguments` must live as long as the app.
void define_network_commands(CLI::App& app, NetworkArguments& arguments, std::function<int()>& chosen);

}  // namespace rondo::cli
