// A conversation that grows by sampled turns and by messages, as token ids.  No engine: the caller samples.
//
//   auto rollout = rondo::Rollout::start(model, chat);
//   for (...) {
//     std::vector<std::int32_t> sampled = engine.generate(rollout.value().ids());
//     rondo::Parsed said = rollout.value().complete(sampled).value();
//     rollout.value().extend(R"([{"role": "tool", "content": "4"}])");   // ids() is the next prompt
//   }
//
// The ids are the truth: a Rollout never renders or tokenizes again what was prompted or sampled.  Any number of rollouts
// share a model.  The first makes what they have in common.  Only one thread at a time may use a Rollout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rondo/model.h"
#include "rondo/result.h"

namespace rondo {

// Which reasoning of earlier turns stays when new messages follow; docs/bridge.md explains the policies.  Everything else
// stays verbatim.
enum class Retention : std::uint8_t {
  kAll,
  kTemplate,
  kToolCycle,
  kThinkingBetweenToolCalls,
  kAllThinking,
};

// What one extend() did.
struct Extended {
  std::size_t begin = 0;            // ids()[begin ..) was appended
  std::size_t kept = 0;             // how many leading ids are where they were: all old ones if nothing was cut
  std::vector<std::string> notes;   // what was written to close the turn, and what does not fit, as sentences
  std::vector<std::string> shaped;  // what of the new messages was given to the template otherwise than it was sent
};

class Rollout {
 public:
  // Renders and tokenizes the first prompt.  Fails as Model::encode().
  [[nodiscard]] static Result<Rollout> start(const Model& model, const Chat& chat);
  ~Rollout();
  Rollout(Rollout&&) noexcept;
  Rollout& operator=(Rollout&&) noexcept;

  // Takes what was sampled behind ids(), with or without its stop token, possibly cut off.  Fails with kInvalidArgument if
  // the model has just spoken, with kTokenizer on ids out of range.
  [[nodiscard]] Result<Parsed> complete(const std::vector<std::int32_t>& completion);

  // What follows the model's turn: a JSON array of messages, none of role `assistant`.  Fails with kJson, with
  // kInvalidArgument if the model has not spoken, or as the template does; the rollout is unchanged then.
  [[nodiscard]] Result<Extended> extend(const std::string& new_messages, Retention retention = Retention::kAll);

  // Every id so far: the next prompt, or that prompt and what was sampled behind it.
  [[nodiscard]] std::vector<std::int32_t> ids() const;
  // Per id the message it belongs to, -1 for nobody's.
  [[nodiscard]] std::vector<std::int32_t> message_indices() const;
  // Per id 1 if it was sampled.
  [[nodiscard]] std::vector<std::uint8_t> sampled_mask() const;
  // What of the first messages was given to the template otherwise than it was sent.
  [[nodiscard]] std::vector<std::string> shaped() const;
  // What was noticed of the first messages, as Encoded::notes.
  [[nodiscard]] std::vector<std::string> notes() const;
  // The visible conversation as a JSON array; a sampled turn's message joins it with the next extend().
  [[nodiscard]] std::string messages() const;

 private:
  struct State;
  explicit Rollout(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rondo
