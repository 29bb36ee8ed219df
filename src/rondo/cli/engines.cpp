// rondo engines: what kinds of inference servers answer at addresses.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/engine_probe.h"
#include "cli/io.h"
#include "cli/paint.h"
#include "json/print.h"
#include "net/http.h"
#include "remote/server_info.h"

namespace rondo::cli {
namespace {

std::string number(std::size_t value, const char* unit) {
  return value == 0 ? std::string("not told") : std::to_string(value) + unit;
}

std::string described(const remote::ServerInfo& info) {
  std::string grammars;
  for (const engine::Grammar::Dialect dialect : remote::capabilities_of(info).grammars)
    grammars += (grammars.empty() ? "" : ", ") + std::string(engine::to_string(dialect));
  const std::string version = info.version.empty() ? "" : " " + printable(info.version, false);
  std::string out = info.url + "\n  kind      " + std::string(remote::to_string(info.kind)) + version +
                    "\n  model     " + printable(info.model, false) + "\n  ids by    " + info.path + "\n  context   " +
                    number(info.context_tokens, " tokens") + "\n  at once   " + number(info.parallel, " requests") +
                    "\n  cache     " + number(info.cache_tokens, " tokens") +
                    (info.block > 1 ? ", whole blocks of " + std::to_string(info.block) : "") + "\n  grammars  " +
                    grammars + "\n";
  for (const std::string& note : info.notes) out += "  note      " + note + "\n";
  return out;
}

}  // namespace

int run_engines(const EnginesArguments& arguments) {
  net::Loop loop;
  const auto client = engine_client(loop, {arguments.key, arguments.ca_file, arguments.insecure});
  if (!client.ok()) return report(client.error());
  const auto found = probe_engines(loop, *client.value(), arguments.urls, net::Milliseconds(arguments.timeout_ms));
  json::Array all;
  std::string out;
  int status = kSuccess;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Result<remote::ServerInfo>& one = found[i];
    if (one.ok()) {
      out += described(one.value());
      all.push_back(remote::to_json(one.value()));
      continue;
    }
    status = kFailure;
    if (!arguments.json) static_cast<void>(report(one.error()));
    json::Object error{{"code", to_string(one.error().code)}, {"message", one.error().message}};
    if (!one.error().hint.empty()) error.set("hint", one.error().hint);
    all.emplace_back(json::Object{{"url", net::shown_url(arguments.urls[i])}, {"error", std::move(error)}});
  }
  if (!arguments.json) return print(out) ? status : kFailure;
  const int printed = print_json(json::Object{{"engines", std::move(all)}});
  return printed == kSuccess ? status : printed;
}

}  // namespace rondo::cli
