// Servers that answer as vLLM, SGLang or llama-server do, without a model: for tests and for trying things out.
//
//   auto server = fakes::EngineServer::make(loop, {.dialect = fakes::Dialect::kVllm});
//   remote engine at server.value()->url() ...
//   server.value()->log().back().cached   // how many ids of that prompt were not computed again
//
// What they share with the real ones is what a client can be caught by: which routes there are and how they refuse, how ids
// are streamed, which ids are told and which get lost, how much of a prompt is reused and how that is reported.  What they
// sample is in model.h.  They take any grammar and keep to none.
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
    kSlowStart,   // `delay` before the first byte
    kSlowTokens,  // `delay` before each id
    kDie,         // the connection is cut behind `after` ids
    kGarbage,     // an event that is no JSON comes behind `after` ids
    kHang,        // nothing follows `after` ids
  };
  Kind kind = Kind::kNone;
  std::size_t first = 1;
  std::size_t count = SIZE_MAX;
  std::size_t after = 2;
  net::Milliseconds delay{200};
};
// "none", "error500", "error503", "slow-start", "slow-tokens", "die", "garbage", "hang".
[[nodiscard]] std::string_view to_string(Fault::Kind kind);

// "KIND", "KIND:FIRST" or "KIND:FIRST:COUNT".
[[nodiscard]] Result<Fault> read_fault(std::string_view text);

struct EngineOptions {
  Dialect dialect = Dialect::kVllm;
  std::string host = "127.0.0.1";
  std::uint16_t port = 0;
  std::string name = "fake-model";
  ModelOptions model{};
  std::size_t context_tokens = 4096;
  std::size_t cache_tokens = 65'536;  // of the block caches
  std::size_t slots = 4;              // of llama-server; more requests wait
  net::Milliseconds token_delay{0};   // before each id
  std::size_t cut_bytes = 0;          // streams are written in pieces of so many bytes; 0: as they are made

  enum class Route : std::uint8_t { kOn, kForbidden, kMissing };
  Route generate =
      Route::kForbidden;  // vLLM: /inference/v1/generate; without its flag it is forbidden, in old versions missing
  bool prompt_tokens_details = false;  // vLLM: the flag with which `usage` tells cached tokens
  bool incremental = false;            // SGLang: the flag with which chunks hold new ids only
};

// A request for ids.
struct Logged {
  std::string path;
  json::Value body;
  Ids prompt;
  std::size_t cached = 0;        // leading ids that were not computed
  std::vector<Ids> completions;  // as far as they were sampled
  std::string salt;
  std::optional<std::size_t> slot;
  bool was_aborted = false;  // by the client: closed, or asked to
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

  // In the order in which they began to be computed.
  [[nodiscard]] const std::vector<Logged>& log() const;
  void clear_log();

  void set_fault(Fault fault);  // requests are counted anew
  void flush();                 // the cache is empty
  // No connections are taken, running ones are cut; the cache is lost.
  void stop();
  // After stop(): at the same port.
  [[nodiscard]] Status start();

 private:
  std::shared_ptr<Impl> impl_;
};

}  // namespace rondo::fakes
