// Runs many requests on one llama.cpp context: continuous batching.  Private to engine/.  engine/embedded.h runs a
// Batcher on its own thread.
//
// Each step decodes one batch: an id for every running choice, and pieces of prompts.  So a long prompt delays the
// others by only one piece at a time.  Tenants take turns according to the tokens that they have used.
// Among the prompts of one tenant, the one with the least left goes first; every fourth time, the one that has waited
// longest.
//
// If the beginning of a prompt is already held by a sequence of the same tenant or by a state in memory, it is not
// decoded again.  docs/engine.md describes the checks.
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

  // Gets what happens to requests.  Called inside step(), add() and cancel().
  class Events {
   public:
    virtual ~Events() = default;
    virtual void on_start(Ticket ticket, const Start& start) = 0;
    virtual void on_prompt(Ticket ticket, std::vector<SampledToken> tokens) = 0;
    virtual void on_token(Ticket ticket, std::size_t choice, SampledToken token) = 0;
    virtual void on_end(Ticket ticket, Outcome outcome) = 0;
  };

  // Loads a model.  Fails as LlamaCpp::load does.  `events` must outlive the batcher.
  //
  // REQUIRES: as LlamaCpp::load.
  [[nodiscard]] static Result<std::unique_ptr<Batcher>> load(const std::string& path, const EmbeddedOptions& options,
                                                             Events& events);
  ~Batcher();

  [[nodiscard]] const Description& describe() const;

  // Adds a request.
  //
  // REQUIRES: no running request has this ticket.
  void add(Ticket ticket, Request request);
  // Cancels a request.  Does nothing if no running request has this ticket.
  void cancel(Ticket ticket);

  // Decodes one batch.  Returns false if there is nothing to do.
  bool step();

  [[nodiscard]] EmbeddedStatus status() const;

 private:
  class Work;
  explicit Batcher(std::unique_ptr<Work> work);
  std::unique_ptr<Work> work_;
};

}  // namespace rondo::engine
