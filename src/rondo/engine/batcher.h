// Many requests on one llama.cpp context: continuous batching.  Private to engine/; engine/embedded.h runs one on a thread
// of its own.
//
// Each step decodes one id for every choice that runs, in one batch, and then one piece of a prompt, so that a long prompt
// holds up the others by a piece at a time.  Tenants take turns by the tokens they had; among the prompts of one tenant the
// one with the least left goes first, and every fourth time the one that has waited longest.
//
// Where a prompt's beginning is already held, by any sequence of the same tenant or by a state kept in memory, it is not
// decoded again.  docs/engine.md says what is checked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/embedded.h"
#include "engine/serving.h"

namespace rondo::engine {

class Batcher {
 public:
  using Ticket = std::uint64_t;

  // What happened to a request; called inside of step(), add() and cancel().
  class Events {
   public:
    virtual ~Events() = default;
    virtual void on_start(Ticket ticket, const Start& start) = 0;
    virtual void on_prompt(Ticket ticket, std::vector<SampledToken> tokens) = 0;
    virtual void on_token(Ticket ticket, std::size_t choice, SampledToken token) = 0;
    virtual void on_end(Ticket ticket, Outcome outcome) = 0;
  };

  // Fails as LlamaCpp::load.  REQUIRES: as there.  `events` must outlive the batcher.
  [[nodiscard]] static Result<std::unique_ptr<Batcher>> load(const std::string& path, const EmbeddedOptions& options,
                                                             Events& events);
  ~Batcher();

  [[nodiscard]] const Description& describe() const;

  // REQUIRES: no other request with this ticket is on its way.
  void add(Ticket ticket, Request request);
  // What is not on its way is passed over.
  void cancel(Ticket ticket);

  // Goes on by one batch of each kind.  False: there is nothing to do.
  bool step();

  [[nodiscard]] EmbeddedStatus status() const;

 private:
  class Work;
  explicit Batcher(std::unique_ptr<Work> work);
  std::unique_ptr<Work> work_;
};

}  // namespace rondo::engine
