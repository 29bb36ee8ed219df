// What kind of server answers at an address, and what it can: found out by asking, never by its name.
//
//   auto probe = remote::probe(client, "http://10.0.0.5:8000", [](Result<remote::ServerInfo> found) { ... });
//
// Asked are `/props` (llama-server), `/server_info` (SGLang) and `/version` (vLLM), all at once; who answers in the
// shape of one of them is asked for the rest: the model's name, the length of its context, whether ids may come in and
// go out.
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
#include "rondo/result.h"

namespace rondo::remote {

enum class ServerKind : std::uint8_t { kVllm, kSglang, kLlamaServer };
[[nodiscard]] std::string_view to_string(ServerKind kind);  // "vllm", "sglang", "llama-server"
[[nodiscard]] std::optional<ServerKind> server_kind(std::string_view name);

struct ServerInfo {
  ServerKind kind = ServerKind::kVllm;
  std::string url;                 // without a slash at its end
  std::string version;             // as the server tells it
  std::string model;               // the name under which it serves
  std::size_t context_tokens = 0;  // of one request; 0: it does not say
  std::size_t parallel = 0;        // requests at the same time; 0: it does not say
  std::size_t cache_tokens = 0;    // that its prefix cache holds; 0: it does not say
  std::size_t block = 1;           // its cache knows whole blocks of that many ids
  // The way in: "/inference/v1/generate", "/v1/completions", "/generate" or "/completion".
  std::string path;
  std::vector<std::string> notes;  // what is switched off, and what would switch it on
};
[[nodiscard]] json::Value to_json(const ServerInfo& info);

// What an adapter to that server can.
[[nodiscard]] engine::Capabilities capabilities_of(const ServerInfo& info);

// Asks on its way.  Destroying it gives up, and nothing is called.
class Probe {
 public:
  virtual ~Probe() = default;
};

// Calls `done` once, from the loop: kIo where nobody answers, kEngine where an answer is of no server that is known, or
// asks for a key.
// `patience`: for each question.
[[nodiscard]] std::unique_ptr<Probe> probe(net::Client& client, std::string url,
                                           std::function<void(Result<ServerInfo>)> done,
                                           net::Milliseconds patience = net::Milliseconds(10'000));

}  // namespace rondo::remote
