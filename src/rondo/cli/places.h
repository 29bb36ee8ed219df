// Positional arguments.  Internal to cli/.
#pragma once

#include <CLI/CLI.hpp>

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "cli/request.h"

namespace rondo::cli {

// The positional arguments of a command that takes a model and other things.  The model may be anywhere among them.
class Places {
 public:
  void add_model(CLI::App& command) { add(command, "MODEL", "as --model", "PATH"); }
  void add(CLI::App& command, const char* name, const std::string& help, const char* type) {
    command.add_option(name, given_.emplace_back(), help)->type_name(type);
  }

  // Assigns the given arguments: to the model unless an option has named it, and in order to those `others` that have
  // no value yet (see put_in_place()).  If an argument is left over, throws CLI::ArgumentMismatch: `what` is given
  // twice.
  void hand_out(std::string& model, const std::vector<OtherPlace>& others, const std::string& what,
                Others kind = Others::kFiles) const {
    std::vector<std::string> given;
    for (const auto& place : given_) {
      if (place) given.push_back(*place);
    }
    if (!put_in_place(std::move(given), model, others, kind)) throw CLI::ArgumentMismatch(what + " is given twice");
  }

 private:
  std::deque<std::optional<std::string>> given_;  // CLI11 keeps their addresses
};

}  // namespace rondo::cli
