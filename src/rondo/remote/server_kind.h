// The kinds of servers that rondo can talk to, one row for each.  server_info.cpp recognises a server's kind.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "engine/serving.h"

namespace rondo::remote {

class Dialect;
struct ServerInfo;

enum class ServerKind : std::uint8_t { kVllm, kSglang, kLlamaServer };

// Make the dialects, each in a file of that name.
[[nodiscard]] std::unique_ptr<Dialect> make_vllm(ServerInfo info);
[[nodiscard]] std::unique_ptr<Dialect> make_sglang(ServerInfo info);
[[nodiscard]] std::unique_ptr<Dialect> make_llama_server(ServerInfo info);

struct KindRow {
  ServerKind kind;
  std::string_view name;
  std::unique_ptr<Dialect> (*make)(ServerInfo info);
  bool reads_tags;  // structural tags and regular expressions, besides GBNF and JSON schemas
  bool tells_prompt_logprobs;
  bool tells_cached_tokens;  // false: only if the server was started so; each reply shows it
};
inline constexpr std::array kServerKinds = {
    KindRow{ServerKind::kVllm, "vllm", make_vllm, true, true, false},
    KindRow{ServerKind::kSglang, "sglang", make_sglang, true, true, true},
    KindRow{ServerKind::kLlamaServer, "llama-server", make_llama_server, false, false, true},
};

// Returns the row of `kind`.
[[nodiscard]] const KindRow& row_of(ServerKind kind);
[[nodiscard]] std::string_view to_string(ServerKind kind);
// Returns the names in the order of the rows.
[[nodiscard]] std::vector<std::string_view> server_names();

}  // namespace rondo::remote
