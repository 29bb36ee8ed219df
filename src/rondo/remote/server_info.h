// Finds out the kind and the abilities of the server at an address.  It asks the server and never guesses from a name.
//
//   auto probe = remote::probe(client, "http://10.0.0.5:8000", [](Result<remote::ServerInfo> found) { ... });
//
// It requests `/props` (llama-server), `/server_info` (SGLang) and `/version` (vLLM) at the same time.  A server that
// answers in one of these forms is asked for the rest: the model's name, the length of its context, and whether it
// takes and returns ids.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/serving.h"
#include "json/value.h"
#include "net/client.h"
#include "remote/server_kind.h"
#include "rondo/result.h"

namespace rondo::remote {

struct ServerInfo {
  ServerKind kind = ServerKind::kVllm;
  std::string url;                 // without a slash at the end
  std::string version;             // as the server reports it
  std::string model;               // the name under which the server offers it
  std::size_t context_tokens = 0;  // for one request; 0: the server does not say
  std::size_t parallel = 0;        // requests at the same time; 0: the server does not say
  std::size_t cache_tokens = 0;    // how many its prefix cache holds; 0: the server does not say
  std::size_t block = 1;           // its cache knows whole blocks of this many ids
  // The path that is used: "/inference/v1/generate", "/v1/completions", "/generate" or "/completion".
  std::string path;
  std::vector<std::string> notes;  // sentences: what is switched off, and what would switch it on
};
[[nodiscard]] json::Value to_json(const ServerInfo& info);

// Returns what an adapter for that server can do.
[[nodiscard]] engine::Capabilities capabilities_of(const ServerInfo& info);

// A running probe.  Destroying it stops it, and nothing is called.
class Probe {
 public:
  virtual ~Probe() = default;
};

// Calls `done` once, from the loop.  Fails with kIo if nobody answers, or with kEngine if the answer is not from a
// known kind of server or asks for a key.  `patience` is the time limit for each request.
[[nodiscard]] std::unique_ptr<Probe> probe(net::Client& client, std::string url,
                                           std::function<void(Result<ServerInfo>)> done,
                                           net::Milliseconds patience = net::Milliseconds(10'000));

}  // namespace rondo::remote
