// The commands of a rondo without a network: each says what to install.
#include <CLI/CLI.hpp>

#include <functional>
#include <string>

#include "cli/io.h"
#include "cli/network_commands.h"

namespace rondo::cli {

void define_network_commands(CLI::App& app, NetworkArguments& /*arguments*/, std::function<int()>& chosen) {
  for (const char* name : {"serve", "engines", "fake-engine"}) {
    CLI::App& command = *app.add_subcommand(name, "not in this build")->group("")->prefix_command();
    command.callback([&chosen, text = "this rondo has no server in it, so `" + std::string(name) +
                                      "` is missing: build rondo from its source with ./dev build"] {
      chosen = [text] { return report({ErrorCode::kUnsupported, text}); };
    });
  }
}

}  // namespace rondo::cli
