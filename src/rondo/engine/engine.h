// Engine: one sequence of token ids in, sampled token ids out.
//
// An engine knows nothing about messages or text.  The content of its memory (KV cache, recurrent state) is described
// by the list of ids that were decoded into it, prompt and sampled alike.  Reuse is decided from that list alone.
//
//   auto report = engine.prompt(ids);            // the memory now holds exactly these ids
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

// The kind of a model's memory, which determines what can be undone.
enum class MemoryKind : std::uint8_t {
  kAttention,      // keeps every position: any prefix can be kept
  kSlidingWindow,  // some layers drop positions that have left a window
  kRecurrent,      // one state for the whole past: nothing can be undone
  kHybrid,         // recurrent and attention layers: nothing can be undone
};
[[nodiscard]] std::string_view to_string(MemoryKind kind);

struct Description {
  std::string name;  // the engine's name for the model
  MemoryKind memory = MemoryKind::kAttention;
  std::size_t context_tokens = 0;  // prompt and completion together
  std::size_t batch_tokens = 0;    // a prompt is decoded in pieces of this size
  std::size_t window_tokens = 0;   // the size of a sliding window; otherwise 0
  TokenId vocab_size = 0;          // ids are less than this
  bool has_end_token = false;      // the vocabulary has a token that ends texts
  int threads = 1;
};

// How the memory came to hold a prompt.
enum class Reuse : std::uint8_t {
  kAppend,      // the memory held a prefix of the prompt
  kRollback,    // positions after the common prefix were removed
  kCheckpoint,  // an earlier state was restored
  kFull,        // everything was decoded again
};
[[nodiscard]] std::string_view to_string(Reuse reuse);

struct PromptReport {
  std::size_t reused = 0;     // ids that were not decoded again
  std::size_t prefilled = 0;  // ids that were decoded; reused + prefilled = size of the prompt
  Reuse how = Reuse::kFull;
  std::string reason;  // for kFull: a sentence that says why nothing could be reused
};

enum class StopReason : std::uint8_t { kStopToken, kLength, kConstraint, kContextFull, kCancelled };
[[nodiscard]] std::string_view to_string(StopReason reason);

// Which id may be sampled next.
struct Allowed {
  enum class Kind : std::uint8_t {
    kAny,   // every id
    kOnly,  // the ids listed
    kMask,  // the ids whose bit is set: bit (id % 64) of mask[id / 64]
    kDone,  // none: generation ends
  };
  Kind kind = Kind::kAny;
  std::span<const TokenId> ids{};         // kOnly; valid until the next call
  std::span<const std::uint64_t> mask{};  // kMask; valid until the next call
};

// Controls sampling token by token: a grammar, a script, a forced text.
class TokenConstraint {
 public:
  virtual ~TokenConstraint() = default;
  // Returns what may follow the ids that this call of generate() has sampled so far.
  [[nodiscard]] virtual Allowed next(std::span<const TokenId> sampled) = 0;
};

using CancelFlag = std::atomic<bool>;

struct GenerateOptions {
  std::size_t max_tokens = 256;
  std::span<const TokenId> stop_ids{};  // generation ends with the first of them, which is part of the result
  Sampling sampling{};
  TokenConstraint* constraint = nullptr;
  std::function<void(TokenId)> on_token{};  // called for each sampled id, in order
  const CancelFlag* cancel = nullptr;       // checked before every decode and during it
};

struct Generation {
  std::vector<TokenId> ids;
  StopReason stop = StopReason::kLength;
};

class Engine {
 public:
  virtual ~Engine() = default;

  [[nodiscard]] virtual const Description& describe() const = 0;

  // Makes the memory hold exactly `ids`.  Decodes only those ids that cannot be proven to be held already.  Afterwards
  // logits() are those that follow the last id.  Fails with kInvalidArgument (no ids, an id out of range), kLimit
  // (longer than the context) or kEngine (the engine refused, or `cancel` was set).  After a failure the memory still
  // agrees with tokens().
  [[nodiscard]] virtual Result<PromptReport> prompt(std::span<const TokenId> ids,
                                                    const CancelFlag* cancel = nullptr) = 0;

  // Samples until a StopReason applies.  The last sampled id is not decoded; the next prompt() decodes it.  Fails with
  // kInvalidArgument (no prompt yet, or a constraint that allows no id) or kEngine.
  [[nodiscard]] virtual Result<Generation> generate(const GenerateOptions& options) = 0;

  // Returns one value per id of the vocabulary, for the position after tokens(); empty before the first prompt().
  [[nodiscard]] virtual std::span<const float> logits() const = 0;

  // Returns the ids that the memory holds.
  [[nodiscard]] virtual std::span<const TokenId> tokens() const = 0;

  // Empties the memory.
  virtual void clear() = 0;
};

// Checks the conditions that every engine sets for a prompt.
[[nodiscard]] Status check_prompt(const Description& description, std::span<const TokenId> ids);

}  // namespace rondo::engine
