#include "cli/engine_probe.h"

#include <memory>
#include <optional>
#include <utility>

#include "base/files.h"

namespace rondo::cli {

Result<std::unique_ptr<net::Client>> engine_client(net::Loop& loop, const EngineAccess& access) {
  net::ClientOptions options{.insecure = access.insecure, .bearer = access.key};
  options.connections_per_origin = access.connections;
  if (!access.ca_file.empty()) {
    auto certificates = files::read(access.ca_file);
    if (!certificates.ok()) return certificates.error();
    options.ca_pem = std::move(certificates).value();
  }
  return net::Client::make(loop, std::move(options));
}

std::vector<Result<remote::ServerInfo>> probe_engines(net::Loop& loop, net::Client& client,
                                                      const std::vector<std::string>& urls,
                                                      net::Milliseconds patience) {
  std::vector<std::optional<Result<remote::ServerInfo>>> found(urls.size());
  std::vector<std::unique_ptr<remote::Probe>> probes;
  std::size_t open = urls.size();
  for (std::size_t i = 0; i < urls.size(); ++i) {
    if (const auto read = net::Url::parse(urls[i]); !read.ok()) {
      found[i] = read.error();
      --open;
      continue;
    }
    auto done = [&, i](Result<remote::ServerInfo> info) {
      found[i] = std::move(info);
      if (--open == 0) loop.stop();
    };
    probes.push_back(remote::probe(client, urls[i], std::move(done), patience));
  }
  if (open > 0) loop.run();
  std::vector<Result<remote::ServerInfo>> all;
  for (auto& one : found) all.push_back(std::move(*one));
  return all;
}

}  // namespace rondo::cli
