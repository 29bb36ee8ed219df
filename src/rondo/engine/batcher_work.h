// The state of a Batcher: requests, sequences, and whose turn it is.  Private to engine/.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/batcher.h"
#include "engine/id_limits.h"
#include "engine/kept_states.h"
#include "engine/llama_batch.h"
#include "engine/llama_grammar.h"
#include "engine/llama_load.h"

namespace rondo::engine {

class Batcher::Work {
 public:
  Work(LoadedLlama loaded, const EmbeddedOptions& options, Events& events);

  [[nodiscard]] const Description& description() const { return loaded_.description; }
  void add(Ticket ticket, Request request);
  void cancel(Ticket ticket);
  bool step();
  [[nodiscard]] EmbeddedStatus status() const;

 private:
  struct Choice;

  // A running request.
  struct Flow {
    Ticket ticket = 0;
    Request request;
    std::vector<std::unique_ptr<Choice>> choices;
    std::size_t unfinished = 0;
    bool has_started = false;
    bool has_scored = false;  // `scored` was already reported
    Outcome outcome;
    std::vector<SampledToken> scored{};  // log probabilities of the part of the prompt that is decoded
    IdLimits limits{};
  };

  // One sequence of the library.  Its ids stay when its owner has gone: the next prompt may continue from them.
  struct Slot {
    explicit Slot(LlamaSequence of_slot) : sequence(std::move(of_slot)) {}
    LlamaSequence sequence;
    std::string tenant;
    Choice* owner = nullptr;
    std::uint64_t last_used = 0;  // the step in which it was last used
  };

  // A growing row of ids.
  struct Choice {
    Choice(Flow& of_flow, std::size_t at, const Sampling& sampling)
        : flow(of_flow), index(at), ids(of_flow.request.prompt), sampler(sampling, of_flow.request.prompt) {}
    // Returns how far the next piece of the prompt may reach.
    [[nodiscard]] std::size_t next_stop() const;
    // Returns whether it must report the log probabilities of the prompt.
    [[nodiscard]] bool scores() const { return index == 0 && flow.request.prompt_logprobs && !flow.has_scored; }

    Flow& flow;
    std::size_t index;
    std::vector<TokenId> ids;  // the prompt and what was sampled
    Sampler sampler;
    std::optional<LlamaGrammar> grammar;
    std::unique_ptr<TokenConstraint> constraint;
    Slot* slot = nullptr;         // set with the first piece
    std::set<std::size_t> heads;  // lengths of the prompt's beginnings whose state is to be kept
    std::size_t sampled = 0;
    int failures = 0;          // since the last sampled id
    bool is_sampling = false;  // the whole prompt is decoded
    bool has_ended = false;
  };

  struct Tenant {
    std::deque<Choice*> waiting;
    std::size_t active = 0;    // choices that have not ended
    std::uint64_t served = 0;  // ids decoded for the tenant, from the least of the others on when its work begins
  };

  // A piece of a batch.
  struct Due {
    Choice* choice = nullptr;
    LlamaBatch::Piece piece;
    std::size_t begin = 0;  // how many ids the sequence holds before it
  };

  // A prompt that may continue.
  struct Next {
    Choice* choice = nullptr;
    std::size_t left = 0;  // how many of its ids are not decoded
  };

  // Where the beginning of a prompt can be taken from.
  struct Source {
    Slot* slot = nullptr;  // one of the two fields is set
    std::shared_ptr<const SavedSequence> saved;
    std::size_t reusable = 0;
    std::size_t common = 0;  // how many ids the prompt has in common with anything held
  };

  void refuse(Ticket ticket, const Request& request, Error error);
  void finish(Choice& choice, StopReason stop);
  void fail(Choice& choice, const Error& error);
  void lose(Choice& choice, const Error& error);

  [[nodiscard]] std::uint64_t least_served() const;
  template <typename Counts>
  Tenant* next_tenant(const Counts& counts);
  void admit();
  [[nodiscard]] std::optional<std::size_t> left(const Choice& choice, const std::vector<Due>& due);
  [[nodiscard]] Next next_prompt(const std::vector<Due>& due);
  void add_due(Choice& choice, std::size_t size, std::vector<Due>& due);
  void add_prompts(std::vector<Due>& due);
  void decode(const std::vector<Due>& due);
  void end_piece(Choice& choice);

  [[nodiscard]] Source best_source(const Choice& choice);
  [[nodiscard]] Slot& victim(const Slot* spared);
  void make_room(Slot& slot);
  [[nodiscard]] Slot& take(const Source& source, const Choice& choice);
  [[nodiscard]] bool will_share(const Due& due, const Choice& waiting, std::size_t there) const;
  void place(Choice& choice);
  void keep_head(const Choice& choice);

  [[nodiscard]] std::optional<TokenId> pick(Choice& choice);
  void score(Choice& choice, LlamaBatch::Piece& piece) const;
  void sample(Choice& choice);

  LoadedLlama loaded_;
  LlamaBatch batch_;
  std::vector<std::unique_ptr<Slot>> slots_;
  KeptStates kept_;
  Events& events_;
  std::unordered_map<Ticket, std::unique_ptr<Flow>> flows_;
  std::map<std::string, Tenant> tenants_;
  std::vector<Choice*> admitted_;  // at most one per sequence, oldest first
  // What ended a prompt or a turn in the last step.  Its state is kept before the next one, when callers have the ids.
  std::vector<LlamaSequence*> to_remember_;
  std::uint64_t pieces_ = 0;  // how many pieces of prompts were decoded
  EmbeddedStatus status_;
};

}  // namespace rondo::engine
