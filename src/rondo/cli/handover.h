// The program with the engine and the server, which the package `rondo-engine` installs beside a program without them.
#pragma once

#include <optional>
#include <string>

namespace rondo::cli {

// Returns the full program that belongs to the program at `own`: PREFIX/lib/rondo-VERSION/rondo for PREFIX/bin/rondo,
// if there is one.
[[nodiscard]] std::optional<std::string> full_program(const std::string& own, const std::string& version);

// Replaces this process by the full program with the same arguments.  Returns if this program has an engine itself, or if there is
// none to hand over to.
void hand_over(char** argv);

}  // namespace rondo::cli
