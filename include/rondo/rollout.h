// A conversation that grows by sampled turns and by messages, as token ids.  A rollout has no engine: the caller
// samples.
//
//   auto rollout = rondo::Rollout::start(model, chat);
//   for (...) {
//     std::vector<std::int32_t> sampled = engine.generate(rollout.value().ids());
//     rondo::Parsed said = rollout.value().complete(sampled).value();
//     if (!rollout.value().extend(R"([{"role": "tool", "content": "4"}])").ok()) break;   // ids() is the next prompt
//   }
//
// The ids are the truth: a Rollout never renders or tokenizes again what was prompted or sampled.  Any number of
// rollouts may share a model; the first one builds the tables that they all use.  Only one thread at a time may use a
// Rollout.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rondo/model.h"
#include "rondo/result.h"

namespace rondo {

// Which reasoning of earlier turns stays when new messages follow; docs/bridge.md explains the policies.  Everything
// else in earlier turns stays as it is.
enum class Retention : std::uint8_t {
  kAll,
  kTemplate,
  kToolCycle,
  kThinkingBetweenToolCalls,
  kAllThinking,
};

// The result of one extend().
struct Extended {
  std::size_t begin = 0;            // ids()[begin ..) are new
  std::size_t kept = 0;             // how many leading ids stayed in place: all old ones if nothing was cut
  std::vector<std::string> notes;   // sentences: what was written to close the turn, and what does not fit
  std::vector<std::string> shaped;  // sentences: where the template got a message in another form than you sent it
};

class Rollout {
 public:
  // Renders and tokenizes the first prompt.  Fails as Model::encode().
  [[nodiscard]] static Result<Rollout> start(const Model& model, const Chat& chat);
  ~Rollout();
  Rollout(Rollout&&) noexcept;
  Rollout& operator=(Rollout&&) noexcept;

  // Takes the ids that were sampled after ids(), with or without the stop token, possibly cut off.  Returns the message
  // in them.  Fails with kInvalidArgument if the last turn is already the model's, or with kTokenizer if an id is out
  // of range.
  [[nodiscard]] Result<Parsed> complete(const std::vector<std::int32_t>& completion);

  // Appends what follows the model's turn.  `new_messages` is a JSON array without assistant messages.  Fails with
  // kJson, with kInvalidArgument if the last turn is not the model's, or with the template's own error.  A call that
  // fails leaves the rollout unchanged.
  [[nodiscard]] Result<Extended> extend(const std::string& new_messages, Retention retention = Retention::kAll);

  // Returns every id so far: the next prompt, or that prompt and the completion after it.
  [[nodiscard]] std::vector<std::int32_t> ids() const;
  // Returns for each id the index of the message that owns it; -1 means no message.
  [[nodiscard]] std::vector<std::int32_t> message_indices() const;
  // Returns for each id whether it was sampled: 1 or 0.
  [[nodiscard]] std::vector<std::uint8_t> sampled_mask() const;
  // Returns sentences: where the template got one of the first messages in another form than you sent it.
  [[nodiscard]] std::vector<std::string> shaped() const;
  // Returns sentences about the first messages, as Encoded::notes.
  [[nodiscard]] std::vector<std::string> notes() const;
  // Returns the visible conversation as a JSON array.  The next extend() adds the message of a sampled turn.
  [[nodiscard]] std::string messages() const;

 private:
  struct State;
  explicit Rollout(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rondo
