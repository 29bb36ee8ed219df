// rondo engines: what kinds of inference servers answer at addresses.
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/io.h"
#include "json/print.h"
#include "net/client.h"
#include "net/loop.h"
#include "remote/server_info.h"

namespace rondo::cli {
namespace {

using Found = std::vector<std::optional<Result<remote::ServerInfo>>>;

// Asks all addresses at once.
Found ask(net::Loop& loop, net::Client& client, const EnginesArguments& arguments) {
  Found found(arguments.urls.size());
  std::vector<std::unique_ptr<remote::Probe>> probes;
  std::size_t open = arguments.urls.size();
  for (std::size_t i = 0; i < arguments.urls.size(); ++i) {
    auto done = [&, i](Result<remote::ServerInfo> info) {
      found[i] = std::move(info);
      if (--open == 0) loop.stop();
    };
    probes.push_back(
        remote::probe(client, arguments.urls[i], std::move(done), net::Milliseconds(arguments.timeout_ms)));
  }
  loop.run();
  return found;
}

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
  net::ClientOptions options{.insecure = arguments.insecure, .bearer = arguments.key};
  if (!arguments.ca_file.empty()) {
    auto certificates = files::read(arguments.ca_file);
    if (!certificates.ok()) return report(certificates.error());
    options.ca_pem = std::move(certificates).value();
  }
  net::Loop loop;
  auto client = net::Client::make(loop, std::move(options));
  if (!client.ok()) return report(client.error());
  const Found found = ask(loop, *client.value(), arguments);
  json::Array all;
  std::string out;
  int status = kSuccess;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Result<remote::ServerInfo>& one = *found[i];
    if (one.ok()) {
      out += described(one.value());
      all.push_back(remote::to_json(one.value()));
      continue;
    }
    status = kFailure;
    if (!arguments.json) static_cast<void>(report(one.error()));
    json::Object error{{"code", to_string(one.error().code)}, {"message", one.error().message}};
    if (!one.error().hint.empty()) error.set("hint", one.error().hint);
    all.emplace_back(json::Object{{"url", arguments.urls[i]}, {"error", std::move(error)}});
  }
  if (!arguments.json) return print(out) ? status : kFailure;
  const int printed = print_json(json::Object{{"engines", std::move(all)}});
  return printed == kSuccess ? status : printed;
}

}  // namespace rondo::cli
