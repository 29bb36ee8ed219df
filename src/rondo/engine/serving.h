// Serving: many requests at once, token ids in, a stream of sampled ids out.  The same for the embedded engine
// (engine/embedded.h) and for servers that are reached over HTTP (remote/).
//
//   struct Collect : engine::Listener { ... };
//   Collect listener;
//   auto running = serving.submit(std::move(request), listener);
//   running->cancel();   // on_end follows, with StopReason::kCancelled
//   running.reset();     // cancels, and nothing follows
//
// A serving engine belongs to one executor (base/executor.h): it is made, used and destroyed on that executor's thread, and
// calls listeners there, never inside of submit().  What it needs besides, threads or connections, is its own affair.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.h"
#include "rondo/result.h"

namespace rondo::engine {

// What generation is held to, in the words of the engine: Capabilities says which dialects it takes.
struct Grammar {
  enum class Dialect : std::uint8_t { kNone, kGbnf, kLark, kStructuralTag, kJsonSchema, kRegex };
  struct Trigger {
    enum class Kind : std::uint8_t { kToken, kWord, kPattern };
    Kind kind = Kind::kWord;
    TokenId token = -1;  // kToken
    std::string text;  // kWord: this text; kPattern: an ECMA-262 pattern, whose first group is where the grammar begins
  };
  Dialect dialect = Dialect::kNone;
  std::string text{};
  bool is_lazy = false;                         // kGbnf: free until a trigger is met
  std::vector<Trigger> triggers{};              // kGbnf, of a lazy grammar
  std::vector<std::string> preserved_tokens{};  // kGbnf: control tokens that the grammar spells
};
[[nodiscard]] std::string_view to_string(Grammar::Dialect dialect);

// One row of ids to be continued, `choices` times.
struct Request {
  std::vector<TokenId> prompt{};
  std::size_t max_tokens = 256;  // for each choice
  std::size_t choices = 1;
  std::vector<TokenId> stop_ids{};        // a choice ends with the first of them, which is the last of its ids
  Sampling sampling{};                    // choice i of a seeded request samples with seed + i
  std::optional<std::size_t> logprobs{};  // log probabilities: of the sampled id (0) and of that many best
  // The same of each id of the prompt but the first: Listener::on_prompt.  What is in a cache has none, so that the whole prompt
  // is computed.  Of engines with Capabilities::tells_prompt_logprobs.
  std::optional<std::size_t> prompt_logprobs{};
  Grammar grammar{};
  // Steers a choice token by token, on the engine's thread; of engines in this process alone (Capabilities::takes_constraints).
  // It must be safe to ask there, and what it holds must live as long as the request.
  std::function<std::unique_ptr<TokenConstraint>(std::size_t choice)> constraint{};
  // Lengths of beginnings of the prompt that other requests share (system text and tools): worth a checkpoint.
  std::vector<std::size_t> shared_heads{};
  std::string tenant{};    // requests of different tenants share nothing, and take turns
  std::string affinity{};  // requests with the same are sent to the same replica where nothing speaks against it
};

struct Candidate {
  TokenId id = -1;
  float logprob =
      0;  // natural logarithm, of the model's own distribution: before temperature, penalties and constraint
};

struct SampledToken {
  TokenId id = -1;
  float logprob = std::numeric_limits<float>::quiet_NaN();  // not a number where none was asked for or told
  std::vector<Candidate> best{};                            // the likeliest first
};

struct Start {
  std::size_t expected_tokens =
      0;                // leading ids of the prompt that the engine was given before, and is thought to hold
  std::string replica;  // address of the server that was chosen, "" where there is only one
};

struct Usage {
  std::size_t prompt_tokens = 0;
  std::size_t completion_tokens = 0;  // of all choices
  std::size_t expected_tokens = 0;    // as in Start
  std::optional<std::size_t>
      cached_tokens;         // what the engine says it did not compute again; nothing if it does not say
  Reuse how = Reuse::kFull;  // of the embedded engine
  std::string reason;        // of the embedded engine, for kFull: a sentence on why nothing was reused
};

// How a choice ended.
struct Ending {
  StopReason stop = StopReason::kLength;
  std::optional<TokenId> stop_id;  // for kStopToken; it is part of the ids
  std::string inexact;             // why the ids handed out may not be all that were sampled, "" if they are
};

struct Outcome {
  std::vector<Ending> choices;
  Usage usage;
  std::optional<Error>
      error;  // the engine failed: kEngine, kLimit (too long), kInvalidArgument (refused), kIo (connection)
};

class Listener {
 public:
  virtual ~Listener() = default;
  // Once at most, before everything else: the request has been taken up.
  virtual void on_start(const Start& start) = 0;
  // Once, where the request asks for it, behind on_start and in front of all ids: those of the prompt.
  virtual void on_prompt(std::span<const SampledToken> /*tokens*/) {}
  // Ids of one choice, in order; `tokens` is valid during the call.
  virtual void on_tokens(std::size_t choice, std::span<const SampledToken> tokens) = 0;
  // Once, last.  May destroy the submission.
  virtual void on_end(const Outcome& outcome) = 0;
};

// A request on its way.
class Submission {
 public:
  // Cancels; the listener is not called any more, and may be gone.
  virtual ~Submission() = default;
  // Stops as soon as can be; on_end follows with the choices that still ran as kCancelled.  More than once does nothing.
  virtual void cancel() = 0;
};

struct Capabilities {
  std::string name;                // the engine's own name of the model
  std::size_t context_tokens = 0;  // prompt and completion of one request together; 0: not known
  std::size_t parallel = 1;        // requests that run at the same time; more of them wait
  std::vector<Grammar::Dialect> grammars;
  bool tells_cached_tokens = false;
  bool tells_prompt_logprobs = false;
  bool takes_constraints = false;
  bool takes_stop_ids = true;  // false: it ends at the model's own end tokens, and at nothing else
};

class Serving {
 public:
  virtual ~Serving() = default;
  [[nodiscard]] virtual const Capabilities& capabilities() const = 0;

  // Never fails by itself: what is wrong with a request is in its Outcome.  `listener` must live until on_end or until the
  // submission is destroyed; the submission must not outlive the engine.
  [[nodiscard]] virtual std::unique_ptr<Submission> submit(Request request, Listener& listener) = 0;
};

// Checks what every engine requires of a request: at least one id, none negative, one choice at least, options in range.
[[nodiscard]] Status check_request(const Request& request);

}  // namespace rondo::engine
