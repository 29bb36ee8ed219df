// Engine: one sequence of token ids in, sampled token ids out.
//
// An engine knows nothing of messages or text.  What its memory (KV cache, recurrent state) holds is described by the
// list of ids that were decoded into it, prompt and sampled alike; reuse is decided on that list alone.
//
//   auto report = engine.prompt(ids);            // the memory now stands behind exactly these ids
//   auto turn = engine.generate(options);        // ids, and why it stopped
//
// Not thread-safe; a cancel flag may be set from any thread.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/sampling.h"
#include "rondo/result.h"

namespace rondo::engine {

// How a model remembers, and with it what can be undone.
enum class MemoryKind : std::uint8_t {
  kAttention,      // every position is kept: any prefix can be kept
  kSlidingWindow,  // some layers forget positions behind a window
  kRecurrent,      // one state for the whole past: nothing can be undone
  kHybrid,         // recurrent and attention layers: nothing can be undone
};
[[nodiscard]] std::string_view to_string(MemoryKind kind);

struct Description {
  std::string name;  // the engine's own name of the model
  MemoryKind memory = MemoryKind::kAttention;
  std::size_t context_tokens = 0;  // prompt and completion together
  std::size_t batch_tokens = 0;    // prefill goes in pieces of this size
  std::size_t window_tokens = 0;   // of a sliding window, else 0
  TokenId vocab_size = 0;          // ids are below this
  int threads = 1;
};

// How the memory came to hold a prompt.
enum class Reuse : std::uint8_t {
  kAppend,      // what was there is a prefix of the prompt
  kRollback,    // positions behind the common prefix were removed
  kCheckpoint,  // an earlier state was restored
  kFull,        // everything was decoded afresh
};
[[nodiscard]] std::string_view to_string(Reuse reuse);

struct PromptReport {
  std::size_t reused = 0;     // ids that were not decoded again
  std::size_t prefilled = 0;  // ids that were; reused + prefilled = size of the prompt
  Reuse how = Reuse::kFull;
  std::string reason;  // for kFull: a sentence on why nothing could be reused
};

enum class StopReason : std::uint8_t { kStopToken, kLength, kConstraint, kContextFull, kCancelled };
[[nodiscard]] std::string_view to_string(StopReason reason);

// What may be sampled next.
struct Allowed {
  enum class Kind : std::uint8_t {
    kAny,   // every id
    kOnly,  // the ids listed
    kMask,  // the ids whose bit is set: bit (id % 64) of mask[id / 64]
    kDone,  // nothing more: generation ends
  };
  Kind kind = Kind::kAny;
  std::span<const TokenId> ids{};         // kOnly; valid until the next call
  std::span<const std::uint64_t> mask{};  // kMask; valid until the next call
};

// Steers sampling token by token: a grammar, a script, a forced text.
class TokenConstraint {
 public:
  virtual ~TokenConstraint() = default;
  // What may follow the ids sampled so far in this call of generate().
  [[nodiscard]] virtual Allowed next(std::span<const TokenId> sampled) = 0;
};

using CancelFlag = std::atomic<bool>;

struct GenerateOptions {
  std::size_t max_tokens = 256;
  std::span<const TokenId> stop_ids{};  // generation ends with the first of them; it is part of the result
  Sampling sampling{};
  TokenConstraint* constraint = nullptr;
  std::function<void(TokenId)> on_token{};  // called for each sampled id, in order
  const CancelFlag* cancel = nullptr;       // checked before every decode and inside of it
};

struct Generation {
  std::vector<TokenId> ids;
  StopReason stop = StopReason::kLength;
};

class Engine {
 public:
  virtual ~Engine() = default;

  [[nodiscard]] virtual const Description& describe() const = 0;

  // Makes the memory stand behind exactly `ids`, decoding as few of them as can be proven enough.  Afterwards logits()
  // are those that follow the last id.  Fails with kInvalidArgument (no ids, an id out of range), kLimit (longer than
  // the context) or kEngine (the engine refused, or `cancel` was set); the memory is then consistent with tokens().
  [[nodiscard]] virtual Result<PromptReport> prompt(std::span<const TokenId> ids,
                                                    const CancelFlag* cancel = nullptr) = 0;

  // Samples until something in StopReason holds.  The last sampled id is not decoded: the next prompt() brings it.
  // Fails with kInvalidArgument (no prompt yet, a constraint that allows no id) or kEngine.
  [[nodiscard]] virtual Result<Generation> generate(const GenerateOptions& options) = 0;

  // One value per id of the vocabulary, for the position behind tokens(); empty before the first prompt().
  [[nodiscard]] virtual std::span<const float> logits() const = 0;

  // The ids that the memory holds.
  [[nodiscard]] virtual std::span<const TokenId> tokens() const = 0;

  // Forgets everything.
  virtual void clear() = 0;
};

// Checks what every engine requires of a prompt.
[[nodiscard]] Status check_prompt(const Description& description, std::span<const TokenId> ids);

}  // namespace rondo::engine
