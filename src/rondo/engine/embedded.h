// The embedded engine for many requests at once: llama.cpp in this process, on its own thread.
//
//   auto embedded = Embedded::load(path, {.parallel = 8});
//   auto serving = embedded.value()->serve(loop);      // one for each executor
//   auto running = serving->submit(std::move(request), listener);
//
// A common beginning of several prompts is decoded once.  A sequence that had to make room is kept in memory
// (`kept_bytes`) and restored when it is needed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "base/executor.h"
#include "engine/llama_cpp.h"
#include "engine/serving.h"

namespace rondo::engine {

struct EmbeddedOptions {
  LlamaCppOptions llama{};                            // `context_tokens` counts for each sequence
  std::size_t parallel = 4;                           // how many sequences: requests that run at the same time
  std::size_t kept_bytes = std::size_t{2048} << 20U;  // memory for sequences that had to make room; 0: they are dropped
};

// What an engine has done since it was loaded, and what it holds now.
struct EmbeddedStatus {
  std::uint64_t requests = 0;
  std::uint64_t prompt_tokens = 0;
  std::uint64_t prefilled_tokens = 0;  // ids of prompts that were decoded
  std::uint64_t reused_tokens = 0;     // ids of prompts that were not decoded again
  std::uint64_t sampled_tokens = 0;
  std::uint64_t steps = 0;
  std::uint64_t failed_batches = 0;
  std::size_t running = 0;         // choices that have a sequence
  std::size_t waiting = 0;         // choices that wait for one
  std::size_t kept_sequences = 0;  // how many are kept in memory, besides the engine's own
  std::size_t kept_bytes = 0;
};

class Embedded {
 public:
  // Loads a model.  Fails as LlamaCpp::load does, and with kInvalidArgument for 0 or more than kMaxSequences sequences.
  //
  // REQUIRES: as LlamaCpp::load.
  [[nodiscard]] static Result<std::unique_ptr<Embedded>> load(const std::string& path, const EmbeddedOptions& options);
  // Drops running requests without calling their listeners.
  //
  // REQUIRES: everything that serve() returned is destroyed.
  ~Embedded();

  [[nodiscard]] const Description& describe() const;

  // Returns the engine as seen from one executor, which must outlive the engine.  Any thread may call this.
  [[nodiscard]] std::unique_ptr<Serving> serve(Executor& executor);

  // Any thread may call this.
  [[nodiscard]] EmbeddedStatus status() const;

 private:
  class Worker;
  class Front;
  explicit Embedded(std::unique_ptr<Worker> worker);
  std::unique_ptr<Worker> worker_;
};

}  // namespace rondo::engine
