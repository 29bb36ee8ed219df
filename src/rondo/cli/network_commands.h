// The commands that need a network: servers and their clients.  In a build without a network, each says what to do
// instead.
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

// Adds the commands.  The one that is called is put into `chosen`.  `arguments` must live as long as the app.
void define_network_commands(CLI::App& app, NetworkArguments& arguments, std::function<int()>& chosen);

}  // namespace rondo::cli
