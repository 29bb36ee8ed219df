#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <optional>
#include <string>

#include "cli/commands.h"
#include "cli/io.h"
#include "demo/demo.h"

namespace rondo::cli {
namespace {

std::optional<std::string> read_line() {
  if (isatty(STDIN_FILENO) != 0) std::fputs("> ", stderr);
  std::string line;
  if (!std::getline(std::cin, line)) return std::nullopt;
  return line;
}

}  // namespace

int run_chat(const ChatArguments& arguments) {
  demo::ChatOptions options;
  options.model = arguments.model;
  options.chat_template = arguments.chat_template;
  options.polyfill = arguments.polyfill;
  options.system = arguments.system;
  options.cache_folder = cache_folder();
  if (const char* fixtures = std::getenv("RONDO_FIXTURES")) options.fixtures = fixtures;
  options.max_tokens = arguments.max_tokens;
  options.temperature = arguments.temperature;
  options.seed = arguments.seed;
  options.json = arguments.json;
  options.clock = service_options().clock;
  bool printed = true;
  const Status status =
      demo::run_chat(options, read_line, [&printed](std::string_view text) { printed = print(text) && printed; }, note);
  if (!status.ok()) return report(status.error());
  return printed ? kSuccess : kFailure;
}

}  // namespace rondo::cli
