#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/commands.h"
#include "cli/io.h"
#include "fakes/engine_server.h"
#include "json/print.h"
#include "net/loop.h"

namespace rondo::cli {
namespace {

fakes::Dialect dialect_of(const std::string& name) {
  if (name == "vllm") return fakes::Dialect::kVllm;
  return name == "sglang" ? fakes::Dialect::kSglang : fakes::Dialect::kLlamaServer;
}

fakes::EngineOptions::Route route_of(const std::string& name) {
  if (name == "on") return fakes::EngineOptions::Route::kOn;
  return name == "missing" ? fakes::EngineOptions::Route::kMissing : fakes::EngineOptions::Route::kForbidden;
}

Result<fakes::EngineOptions> engine_options(const FakeEngineArguments& arguments) {
  fakes::EngineOptions options;
  options.dialect = dialect_of(arguments.kind);
  options.host = arguments.host;
  options.port = static_cast<std::uint16_t>(arguments.port);
  options.name = arguments.name;
  options.context_tokens = arguments.context;
  options.slots = arguments.slots;
  options.cut_bytes = arguments.cut_bytes;
  options.token_delay = net::Milliseconds(arguments.delay_ms);
  options.generate = route_of(arguments.generate);
  options.prompt_tokens_details = arguments.cached_tokens;
  options.incremental = arguments.incremental;
  if (!arguments.script.empty()) {
    const Result<json::Value> script = json_argument(arguments.script, "--script");
    if (!script.ok()) return script.error();
    Result<fakes::ModelOptions> model = fakes::read_model(script.value());
    if (!model.ok()) return model.error();
    options.model = std::move(model).value();
  }
  return options;
}

}  // namespace

int run_fake_engine(const FakeEngineArguments& arguments) {
  Result<fakes::EngineOptions> options = engine_options(arguments);
  if (!options.ok()) return report(options.error());
  fakes::Fault fault;
  if (!arguments.fault.empty()) {
    const Result<fakes::Fault> read = fakes::read_fault(arguments.fault);
    if (!read.ok()) return refuse(read.error());
    fault = read.value();
  }
  net::Loop loop;
  const std::vector<int> signals = {SIGINT, SIGTERM};
  if (const Status status = loop.on_signals(signals, [&](int) { loop.stop(); }); !status.ok()) {
    return report(status.error());
  }
  const auto server = fakes::EngineServer::make(loop, std::move(options).value());
  if (!server.ok()) return report(server.error());
  server.value()->set_fault(fault);
  const std::string url = server.value()->url();
  const std::string line =
      arguments.json ? json::to_compact(json::Object{{"url", url}}) : "rondo: a fake " + arguments.kind + " on " + url;
  if (!print(line + "\n")) return kFailure;
  loop.run();
  return kSuccess;
}

}  // namespace rondo::cli
