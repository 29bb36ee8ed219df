// Serving: many requests at once.  Token ids go in, streams of sampled ids come out.  The embedded engine
// (engine/embedded.h) and servers reached over HTTP (remote/) have this same interface.
//
//   struct Collect : engine::Listener { ... };
//   Collect listener;
//   auto running = serving.submit(std::move(request), listener);
//   running->cancel();   // on_end follows, with StopReason::kCancelled
//   running.reset();     // cancels, and the listener is not called again
//
// A serving engine belongs to one executor (base/executor.h).  It is made, used and destroyed on that executor's
// thread.  It calls listeners on that thread, never inside submit().  Threads or connections of its own are its own
// concern.
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

#include "base/shared_row.h"
#include "engine/engine.h"
#include "rondo/result.h"

namespace rondo::engine {

// The constraint on generation in the engine's language.  Capabilities lists the dialects that an engine takes.
struct Grammar {
  enum class Dialect : std::uint8_t { kNone, kGbnf, kLark, kStructuralTag, kJsonSchema, kRegex };
  struct Trigger {
    enum class Kind : std::uint8_t { kToken, kWord, kPattern };
    Kind kind = Kind::kWord;
    TokenId token = -1;  // for kToken
    std::string text;    // kWord: the text; kPattern: an ECMA-262 pattern whose first group is where the grammar begins
  };
  Dialect dialect = Dialect::kNone;
  std::string text{};
  bool is_lazy = false;                         // for kGbnf: unconstrained until a trigger matches
  std::vector<Trigger> triggers{};              // for a lazy kGbnf
  std::vector<std::string> preserved_tokens{};  // for kGbnf: control tokens that the grammar spells
};
[[nodiscard]] std::string_view to_string(Grammar::Dialect dialect);

// A row of ids to continue, `choices` times.
struct Request {
  SharedRow<TokenId> prompt{};
  std::size_t max_tokens = 256;  // for each choice
  std::size_t min_tokens = 0;    // no stop id comes before so many ids, unless the grammar allows nothing else
  std::size_t choices = 1;
  std::vector<TokenId> allowed_ids{};  // only these are sampled; empty: any id
  // Rows that are not sampled one id after the other.  The last id of a row is excluded after the row's other ids were
  // sampled.  The prompt does not count.
  std::vector<std::vector<TokenId>> bad_ids{};
  std::vector<std::string> bad_words{};   // the texts of these rows, for engines that take texts in their place
  std::vector<TokenId> stop_ids{};        // a choice ends with the first of them, which becomes the last of its ids
  Sampling sampling{};                    // with a seed, choice i uses seed + i
  std::optional<std::size_t> logprobs{};  // report log probabilities: of the sampled id, and of this many best ids
  // Report the same for each id of the prompt except the first: Listener::on_prompt.  Ids from a cache have no
  // probabilities, so the whole prompt is computed.  Needs Capabilities::tells_prompt_logprobs.
  std::optional<std::size_t> prompt_logprobs{};
  Grammar grammar{};
  // Controls a choice token by token, on the engine's thread.  Only for engines in this process
  // (Capabilities::takes_constraints).  The function must be safe to call there, and what it refers to must live as
  // long as the request.
  std::function<std::unique_ptr<TokenConstraint>(std::size_t choice)> constraint{};
  // Lengths of the prompt's beginnings that other requests share (system text and tools); each is worth a checkpoint.
  std::vector<std::size_t> shared_heads{};
  std::string tenant{};    // requests of different tenants share nothing, and take turns
  std::string affinity{};  // such requests go to the same replica, unless load or caches decide otherwise
};

struct Candidate {
  TokenId id = -1;
  float logprob =
      0;  // natural logarithm, from the model's own distribution: before temperature, penalties and constraint
};

struct SampledToken {
  TokenId id = -1;
  // NaN if it was not requested or the engine does not report it.
  float logprob = std::numeric_limits<float>::quiet_NaN();
  std::vector<Candidate> best{};  // most likely first
};

struct Start {
  std::size_t expected_tokens =
      0;                // how many leading ids of the prompt the engine was given before and probably still holds
  std::string replica;  // address of the chosen server; "" if there is only one
};

struct Usage {
  std::size_t prompt_tokens = 0;
  std::size_t completion_tokens = 0;  // sum over all choices
  std::size_t expected_tokens = 0;    // as in Start
  std::optional<std::size_t>
      cached_tokens;         // how many ids the engine says it did not compute again; nullopt if it does not say
  Reuse how = Reuse::kFull;  // from the embedded engine
  std::string reason;        // from the embedded engine, for kFull: a sentence that says why nothing was reused
};

// The end of a choice.
struct Ending {
  StopReason stop = StopReason::kLength;
  std::optional<TokenId> stop_id;  // for kStopToken; it is part of the ids
  std::string inexact;             // why the reported ids may differ from those that were sampled; "" if they do not
};

struct Outcome {
  std::vector<Ending> choices;
  Usage usage;
  std::optional<Error>
      error;  // the engine failed: kEngine, kLimit (too long), kInvalidArgument (refused) or kIo (connection)
};

class Listener {
 public:
  virtual ~Listener() = default;
  // Called at most once, before everything else: the engine has accepted the request.
  virtual void on_start(const Start& start) = 0;
  // Called once if the request asks for it, after on_start and before the ids of the first choice: the ids of the
  // prompt.
  virtual void on_prompt(std::span<const SampledToken> /*tokens*/) {}
  // The next ids of one choice; `tokens` is valid during the call.
  virtual void on_tokens(std::size_t choice, std::span<const SampledToken> tokens) = 0;
  // Called once, last.  May destroy the submission.
  virtual void on_end(const Outcome& outcome) = 0;
};

// A running request.
class Submission {
 public:
  // Cancels the request.  The listener is not called any more and may already be destroyed.
  virtual ~Submission() = default;
  // Stops the request as soon as possible.  on_end follows, with kCancelled for the choices that were still running.  A
  // second call does nothing.
  virtual void cancel() = 0;
};

struct Capabilities {
  std::string name;                // the engine's name for the model
  std::size_t context_tokens = 0;  // for the prompt and completion of one request; 0: unknown
  std::size_t parallel = 1;        // how many requests run at the same time; further ones wait
  std::vector<Grammar::Dialect> grammars;
  bool tells_cached_tokens = false;
  bool tells_prompt_logprobs = false;
  bool takes_constraints = false;
  bool stops_end_grammars = false;  // a stop id may come wherever the grammar may end
  bool takes_stop_ids = true;       // false: generation ends only at the model's own end tokens
};

class Serving {
 public:
  virtual ~Serving() = default;
  [[nodiscard]] virtual const Capabilities& capabilities() const = 0;

  // Starts a request.  Never fails by itself: an error in the request is reported in its Outcome.  `listener` must live
  // until on_end, or until the submission is destroyed.  The submission must not outlive the engine.
  [[nodiscard]] virtual std::unique_ptr<Submission> submit(Request request, Listener& listener) = 0;
};

// Checks the conditions that every engine sets for a request: at least one id, no negative id, at least one choice,
// options in range.
[[nodiscard]] Status check_request(const Request& request);

}  // namespace rondo::engine
