// Fake servers that answer as vLLM, SGLang or llama-server do, without a model.  For tests and for trying things out.
//
//   auto server = fakes::EngineServer::make(loop, {.dialect = fakes::Dialect::kVllm});
//   remote engine at server.value()->url() ...
//   server.value()->log().back().cached   // how many ids of that prompt were not computed again
//
// They share with the real servers everything that a client may stumble over: which routes exist and how they refuse,
// how ids are streamed, which ids are reported and which get lost, how much of a prompt is reused and how that is
// reported.  model.h defines what they sample.  They accept any grammar and ignore it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fakes/model.h"
#include "json/value.h"
#include "net/loop.h"
#include "rondo/result.h"

namespace rondo::fakes {

enum class Dialect : std::uint8_t { kVllm, kSglang, kLlamaServer };

// What happens to some of the requests for ids, counted from 1.
struct Fault {
  enum class Kind : std::uint8_t {
    kNone,
    kError500,
    kError503,
    kSlowStart,   // wait `delay` before the first byte
    kSlowTokens,  // wait `delay` before each id
    kDie,         // cut the connection after `after` ids
    kGarbage,     // send an event that is not JSON after `after` ids
    kHang,        // send nothing more after `after` ids
  };
  Kind kind = Kind::kNone;
  std::size_t first = 1;
  std::size_t count = SIZE_MAX;
  std::size_t after = 2;
  net::Milliseconds delay{200};
};
// Returns "none", "error500", "error503", "slow-start", "slow-tokens", "die", "garbage" or "hang".
[[nodiscard]] std::string_view to_string(Fault::Kind kind);

// Parses "KIND", "KIND:FIRST" or "KIND:FIRST:COUNT".
[[nodiscard]] Result<Fault> read_fault(std::string_view text);

struct EngineOptions {
  Dialect dialect = Dialect::kVllm;
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::string name = "fake-model";
  ModelOptions model{};
  std::size_t context_tokens = 4096;
  std::size_t cache_tokens = 65'536;  // for the block caches
  std::size_t slots = 4;              // for llama-server; further requests wait
  net::Milliseconds token_delay{0};   // before each id
  std::size_t cut_bytes = 0;          // write streams in pieces of this size; 0: as they are made

  enum class Route : std::uint8_t { kOn, kForbidden, kMissing };
  Route generate =
      Route::kForbidden;  // vLLM: /inference/v1/generate is forbidden without its flag, and missing in old versions
  bool prompt_tokens_details = false;  // vLLM: the flag that makes `usage` report cached tokens
  bool incremental = false;            // SGLang: the flag that makes chunks contain only new ids
};

// A request for ids.
struct Logged {
  std::string path;
  json::Value body;
  Ids prompt;
  std::size_t cached = 0;        // how many leading ids were not computed
  std::vector<Ids> completions;  // what was sampled
  std::string salt;
  std::optional<std::size_t> slot;
  bool was_aborted = false;  // the client closed the connection or asked to abort
};

class EngineServer {
 public:
  struct Impl;
  [[nodiscard]] static Result<std::unique_ptr<EngineServer>> make(net::Loop& loop, EngineOptions options);
  explicit EngineServer(std::shared_ptr<Impl> impl);
  EngineServer(const EngineServer&) = delete;
  EngineServer& operator=(const EngineServer&) = delete;
  ~EngineServer();

  [[nodiscard]] std::string url() const;
  [[nodiscard]] std::uint16_t port() const;

  // Returns the requests in the order in which their computation began.
  [[nodiscard]] const std::vector<Logged>& log() const;
  void clear_log();

  void set_fault(Fault fault);  // restarts the counting of requests
  void flush();                 // empties the cache
  // Refuses new connections, cuts the open ones, and loses the cache.
  void stop();
  // Listens again at the same port, after stop().
  [[nodiscard]] Status start();

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace rondo::fakes
