#include <chrono>
#include <cstdlib>
#include <string>

#include "cli/commands.h"
#include "cli/demo_serve.h"
#include "cli/io.h"
#include "demo/demo.h"

namespace rondo::cli {

int run_demo(const DemoArguments& arguments) {
  demo::DemoOptions options;
  options.model = arguments.model;
  options.cache_folder = cache_folder();
  options.corpus = arguments.corpus;
  options.gemma = arguments.gemma;
  if (const char* fixtures = std::getenv("RONDO_FIXTURES")) options.fixtures = fixtures;
  options.seconds = [] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
  };
  options.seed = arguments.seed;
  options.json = arguments.json;
#ifdef RONDO_HAVE_NET
  options.serve = [&options] { return serve_demo(options); };
#endif
  bool printed = true;
  const Status status =
      demo::run_demo(options, [&printed](std::string_view text) { printed = print(text) && printed; }, note);
  if (!status.ok()) return report(status.error());
  return printed ? kSuccess : kFailure;
}

}  // namespace rondo::cli
