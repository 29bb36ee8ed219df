// Positional arguments.  Internal to cli/.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/request.h"

namespace rondo::cli {

// The positional arguments of a command that takes a model and one other thing, in any order.
struct Places {
  std::optional<std::string> first;
  std::optional<std::string> second;

  void add(CLI::App& command, const char* name, const std::string& help, const char* type) {
    command.add_option("MODEL", first, "as --model")->type_name("PATH");
    command.add_option(name, second, help)->type_name(type);
  }

  // `other` is the value of the option with the same meaning as the second place, if it was given.
  void hand_out(std::string& model, std::optional<std::string>& other, const char* name) const {
    std::vector<std::string> given;
    for (const auto& place : {first, second}) {
      if (place) given.push_back(*place);
    }
    if (!put_in_place(std::move(given), model, other))
      throw CLI::ArgumentMismatch(std::string(name) + " is given twice");
  }
};

}  // namespace rondo::cli
