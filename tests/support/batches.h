// Runs a batcher and keeps what it says.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/batcher.h"
#include "tests/support/ids.h"
#include "tests/support/tiny.h"

namespace rondo::testing {

[[nodiscard]] Ids ids_of(std::size_t size, std::uint64_t seed);  // random ones

// Requests by ticket: what came, in order.
struct Received : engine::Batcher::Events {
  struct One {
    bool has_started = false;
    bool has_ended = false;
    engine::Start start;
    std::vector<engine::SampledToken> prompt;
    std::map<std::size_t, std::vector<engine::SampledToken>> tokens;  // by choice
    engine::Outcome outcome;
    std::uint64_t first_step = 0;  // of the batcher's, when the first id came
    std::uint64_t last_step = 0;

    [[nodiscard]] std::vector<engine::TokenId> ids(std::size_t choice = 0) const;
  };

  void on_start(engine::Batcher::Ticket ticket, const engine::Start& start) override;
  void on_prompt(engine::Batcher::Ticket ticket, std::vector<engine::SampledToken> tokens) override;
  void on_token(engine::Batcher::Ticket ticket, std::size_t choice, engine::SampledToken token) override;
  void on_end(engine::Batcher::Ticket ticket, engine::Outcome outcome) override;

  std::map<engine::Batcher::Ticket, One> by_ticket;
  std::uint64_t step = 0;  // set by whoever steps
};

// A batcher over a tiny model, with batches of 32.
class BatchRun {
 public:
  explicit BatchRun(const engine::TinyArchitecture& architecture, engine::EmbeddedOptions options = {});

  // Submits; the ticket counts from 1.
  engine::Batcher::Ticket add(engine::Request request);
  bool step();
  void run();  // until nothing is left to do
  // Submits, runs to the end, and gives what came.
  const Received::One& result(engine::Request request);

  Received received;
  std::unique_ptr<engine::Batcher> batcher;

 private:
  engine::Batcher::Ticket last_ = 0;
};

// Where greedy ids differ from those that a fresh engine finds, one after the other, behind `prompt`; "" if nowhere.  Ids
// whose logits are nearer to the best than the tolerance tells apart count as equal.
[[nodiscard]] std::string differs_from_alone(engine::LlamaCpp& reference, const std::vector<engine::TokenId>& prompt,
                                             const std::vector<engine::TokenId>& sampled);

}  // namespace rondo::testing
