// What the commands that talk to engines over a network share.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/client.h"
#include "net/loop.h"
#include "remote/server_info.h"

namespace rondo::cli {

// How to reach an engine: its key, and a file of certificates; "" for none.
struct EngineAccess {
  std::string key;
  std::string ca_file;
  bool insecure = false;
  std::size_t connections = 64;  // to each address
};
[[nodiscard]] Result<std::unique_ptr<net::Client>> engine_client(net::Loop& loop, const EngineAccess& access);

// Asks all addresses at once, and runs the loop until each has answered or failed.  Returns one answer for each
// address.
[[nodiscard]] std::vector<Result<remote::ServerInfo>> probe_engines(
    net::Loop& loop, net::Client& client, const std::vector<std::string>& urls,
    net::Milliseconds patience = net::Milliseconds(10'000));

}  // namespace rondo::cli
