#include "engine/batcher.h"

#include <algorithm>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/batcher_work.h"

namespace rondo::engine {
namespace {

constexpr std::uint64_t kOldestEach = 4;  // every this many prompts of a tenant, the oldest one continues
constexpr int kMaxFailures = 2;           // failed batches that a choice was part of
constexpr std::size_t kMostScored = 64;   // ids in one batch, because the library keeps the logits of all of them

// The id sampled from these logits, with its log probability and those of the `best` others.
SampledToken described(std::span<const float> logits, TokenId id, std::optional<std::size_t> best) {
  SampledToken token{.id = id};
  if (!best) return token;
  const LogProbabilities probabilities(logits);
  token.logprob = probabilities.of(id);
  for (const TokenId one : probabilities.best(*best))
    token.best.push_back({.id = one, .logprob = probabilities.of(one)});
  return token;
}

}  // namespace

Batcher::Work::Work(LoadedLlama loaded, const EmbeddedOptions& options, Events& events)
    : loaded_(std::move(loaded)),
      batch_(loaded_.context.get()),
      kept_(loaded_.description, options.kept_bytes),
      events_(events) {
  for (std::size_t i = 0; i < options.parallel; ++i) {
    slots_.push_back(std::make_unique<Slot>(LlamaSequence(
        loaded_.context.get(), loaded_.description, static_cast<llama_seq_id>(i), options.llama.checkpoint_bytes)));
  }
}

// --- Requests come and go

void Batcher::Work::refuse(Ticket ticket, const Request& request, Error error) {
  Outcome outcome;
  outcome.choices.resize(request.choices);
  outcome.usage.prompt_tokens = request.prompt.size();
  outcome.error = std::move(error);
  events_.on_end(ticket, std::move(outcome));
}

void Batcher::Work::add(Ticket ticket, Request request) {
  ++status_.requests;
  if (auto checked = check_request(request); !checked.ok()) return refuse(ticket, request, checked.error());
  if (auto checked = check_prompt(loaded_.description, request.prompt); !checked.ok())
    return refuse(ticket, request, checked.error());
  auto flow = std::make_unique<Flow>();
  flow->ticket = ticket;
  flow->outcome.choices.resize(request.choices);
  flow->outcome.usage.prompt_tokens = request.prompt.size();
  flow->unfinished = request.choices;
  flow->request = std::move(request);
  flow->limits = IdLimits(flow->request, loaded_.description.vocab_size);
  for (std::size_t i = 0; i < flow->request.choices; ++i) {
    Sampling sampling = flow->request.sampling;
    sampling.seed += i;
    auto choice = std::make_unique<Choice>(*flow, i, sampling);
    if (flow->request.grammar.dialect != Grammar::Dialect::kNone) {
      auto grammar =
          LlamaGrammar::make(llama_model_get_vocab(loaded_.model.get()), flow->request.grammar, flow->request.stop_ids);
      if (!grammar.ok()) return refuse(ticket, flow->request, grammar.error());
      choice->grammar = std::move(grammar).value();
    }
    if (flow->request.constraint) choice->constraint = flow->request.constraint(i);
    flow->choices.push_back(std::move(choice));
  }
  Tenant& tenant = tenants_[flow->request.tenant];
  if (tenant.active == 0) tenant.served = std::max(tenant.served, least_served());
  tenant.active += flow->choices.size();
  for (const auto& choice : flow->choices) tenant.waiting.push_back(choice.get());
  flows_[ticket] = std::move(flow);
}

// The least that any tenant with work has been served.  A tenant that comes later is not owed more.
std::uint64_t Batcher::Work::least_served() const {
  std::optional<std::uint64_t> least;
  for (const auto& [name, tenant] : tenants_) {
    if (tenant.active > 0) least = std::min(least.value_or(tenant.served), tenant.served);
  }
  return least.value_or(0);
}

void Batcher::Work::cancel(Ticket ticket) {
  const auto found = flows_.find(ticket);
  if (found == flows_.end()) return;
  std::vector<Choice*> running;
  for (const auto& choice : found->second->choices) {
    if (!choice->has_ended) running.push_back(choice.get());
  }
  for (Choice* choice : running) finish(*choice, StopReason::kCancelled);  // the last one ends the flow
}

// Ends the choice and frees its sequence.  The last choice of a flow ends the flow too.
void Batcher::Work::finish(Choice& choice, StopReason stop) {
  Flow& flow = choice.flow;
  Tenant& tenant = tenants_[flow.request.tenant];
  choice.has_ended = true;
  if (choice.slot != nullptr) {
    to_remember_.push_back(&choice.slot->sequence);
    choice.slot->owner = nullptr;
    choice.slot->last_used = status_.steps;
  }
  std::erase(tenant.waiting, &choice);
  std::erase(admitted_, &choice);
  Ending& ending = flow.outcome.choices[choice.index];
  ending.stop = stop;
  if (stop == StopReason::kStopToken) ending.stop_id = choice.ids.back();
  if (--tenant.active == 0) tenants_.erase(flow.request.tenant);
  if (--flow.unfinished > 0) return;
  const Ticket ticket = flow.ticket;
  Outcome outcome = std::move(flow.outcome);
  flows_.erase(ticket);
  events_.on_end(ticket, std::move(outcome));
}

void Batcher::Work::fail(Choice& choice, const Error& error) {
  choice.flow.outcome.error = error;
  finish(choice, StopReason::kCancelled);
}

// --- Order of service

// The tenant that has been served least, among those for which `counts` holds.
template <typename Counts>
Batcher::Work::Tenant* Batcher::Work::next_tenant(const Counts& counts) {
  Tenant* next = nullptr;
  for (auto& [name, tenant] : tenants_) {
    if (counts(tenant) && (next == nullptr || tenant.served < next->served)) next = &tenant;
  }
  return next;
}

// Admits waiting choices while there are sequences.  Each gets one when its first piece is decoded.
void Batcher::Work::admit() {
  while (admitted_.size() < slots_.size()) {
    Tenant* tenant = next_tenant([](const Tenant& one) { return !one.waiting.empty(); });
    if (tenant == nullptr) return;
    admitted_.push_back(tenant->waiting.front());
    tenant->waiting.pop_front();
    tenant->served += 1;  // so that another tenant is next among equals
  }
}

// Finds what may be the next piece of the batch that decodes `due`: how many ids of the choice's prompt are not yet
// there; nullopt if the prompt must wait, or has been decoded.
std::optional<std::size_t> Batcher::Work::left(const Choice& choice, const std::vector<Due>& due) {
  if (choice.is_sampling) return std::nullopt;
  // Events about the prompt come before all sampled ids.
  if (choice.index > 0 && choice.flow.request.prompt_logprobs && !choice.flow.has_scored) return std::nullopt;
  const bool is_new = choice.slot == nullptr;
  const std::size_t there = is_new ? best_source(choice).reusable : choice.slot->sequence.tokens().size();
  for (const Due& other : due) {
    if (other.choice == &choice || (is_new && will_share(other, choice, there))) return std::nullopt;
  }
  return choice.ids.size() - there;
}

// The admitted choice whose prompt continues next; without one, null.
Batcher::Work::Next Batcher::Work::next_prompt(const std::vector<Due>& due) {
  std::vector<Next> ready;  // the oldest first
  for (Choice* choice : admitted_) {
    if (const auto rest = left(*choice, due)) ready.push_back({choice, *rest});
  }
  const auto tenant_of = [&](const Next& one) { return &tenants_[one.choice->flow.request.tenant]; };
  const Tenant* tenant = next_tenant([&](const Tenant& one) {
    return std::any_of(ready.begin(), ready.end(), [&](const Next& next) { return tenant_of(next) == &one; });
  });
  const bool takes_oldest = (pieces_ + 1) % kOldestEach == 0;
  Next chosen;
  for (const Next& one : ready) {
    if (tenant_of(one) != tenant) continue;
    if (chosen.choice == nullptr || one.left < chosen.left) chosen = one;
    if (takes_oldest) break;
  }
  return chosen;
}

// --- One step

// Decodes one batch: an id for each choice that samples, and pieces of prompts.
bool Batcher::Work::step() {
  for (LlamaSequence* sequence : std::exchange(to_remember_, {})) sequence->remember();
  admit();
  if (admitted_.empty()) return false;
  ++status_.steps;
  std::vector<Due> due;
  for (Choice* choice : admitted_) {
    if (choice->is_sampling) add_due(*choice, 1, due);
  }
  add_prompts(due);
  decode(due);
  return true;
}

void Batcher::Work::add_due(Choice& choice, std::size_t size, std::vector<Due>& due) {
  LlamaSequence& sequence = choice.slot->sequence;
  const std::size_t begin = sequence.tokens().size();
  due.push_back({.choice = &choice, .piece = {&sequence, std::span(choice.ids).subspan(begin, size)}, .begin = begin});
  if (choice.scores()) score(choice, due.back().piece);
  tenants_[choice.flow.request.tenant].served += size;
}

// Adds pieces of prompts: as many whole ones as fit into the batch, and one that may be longer.
void Batcher::Work::add_prompts(std::vector<Due>& due) {
  std::size_t room = loaded_.description.batch_tokens - std::min(due.size(), loaded_.description.batch_tokens);
  bool is_first = true;
  while (room > 0) {
    const auto [choice, rest] = next_prompt(due);
    if (choice == nullptr || (!is_first && rest > room)) return;
    if (choice->slot == nullptr) place(*choice);
    const LlamaSequence& sequence = choice->slot->sequence;
    const std::size_t most = choice->scores() ? std::min(kMostScored, room) : room;
    const std::size_t size = std::min(choice->next_stop() - sequence.tokens().size(), most);
    ++pieces_;
    if (size == 0) {
      end_piece(*choice);
      continue;
    }
    is_first = false;
    room -= size;
    add_due(*choice, size, due);
    // What a copy is made of must stay until the batch is decoded.  The logits of scored ids take much memory.
    if (sequence.is_copy() || choice->scores()) return;
  }
}

void Batcher::Work::decode(const std::vector<Due>& due) {
  std::vector<LlamaBatch::Piece> pieces;
  for (const Due& one : due) pieces.push_back(one.piece);
  if (pieces.empty()) return;
  const Status all = batch_.decode(pieces);
  for (const Due& one : due) {
    // If one piece was at fault, the others can be decoded alone, unless the failure has changed their sequences.
    Status done = all;
    const LlamaSequence& sequence = *one.piece.sequence;
    if (!all.ok() && due.size() > 1 && sequence.tokens().size() == one.begin) done = batch_.decode({&one.piece, 1});
    if (!done.ok()) {
      lose(*one.choice, done.error());
      continue;
    }
    if (!one.choice->is_sampling) status_.prefilled_tokens += one.piece.ids.size();
    end_piece(*one.choice);
  }
}

// What follows when the sequence holds one more piece of the choice's ids.
void Batcher::Work::end_piece(Choice& choice) {
  LlamaSequence& sequence = choice.slot->sequence;
  if (sequence.tokens().size() < choice.ids.size()) return keep_head(choice);
  if (!choice.is_sampling) {
    to_remember_.push_back(&sequence);
    choice.is_sampling = true;
    if (choice.scores()) {
      choice.flow.has_scored = true;
      events_.on_prompt(choice.flow.ticket, std::move(choice.flow.scored));
    }
  }
  sample(choice);
}

// A batch failed.  The reused state may be at fault, so the sequence starts over once.
void Batcher::Work::lose(Choice& choice, const Error& error) {
  ++status_.failed_batches;
  if (++choice.failures >= kMaxFailures) return fail(choice, error);
  choice.slot->sequence.clear();
  choice.is_sampling = false;
  Usage& usage = choice.flow.outcome.usage;
  usage.cached_tokens = 0;
  usage.how = Reuse::kFull;
  usage.reason = error.message;
}

// --- Sampling

// The next id, which the choice's grammar has accepted; nullopt if there is none.
std::optional<TokenId> Batcher::Work::pick(Choice& choice) {
  const std::span<const float> logits = choice.slot->sequence.logits();
  const auto sampled = std::span<const TokenId>(choice.ids).last(choice.sampled);
  Allowed steered;
  if (choice.constraint) {
    steered = choice.constraint->next(sampled);
    if (steered.kind == Allowed::Kind::kDone) return std::nullopt;
  }
  const Request& request = choice.flow.request;
  IdLimits& limits = choice.flow.limits;
  std::optional<TokenId> id = choice.sampler.pick(logits, limits.next(sampled, steered));
  if (!choice.grammar || (id && choice.grammar->accept(*id))) return id;
  // The grammar usually accepts an id that was sampled without it.  Only otherwise are all ids checked.
  std::vector<TokenId> allowed = choice.grammar->allowed(loaded_.description.vocab_size);
  std::erase_if(allowed, [&limits](TokenId one) { return !limits.takes(one); });
  const auto ends = [&request](TokenId one) {
    return std::ranges::find(request.stop_ids, one) != request.stop_ids.end();
  };
  if (sampled.size() < request.min_tokens && !std::ranges::all_of(allowed, ends)) std::erase_if(allowed, ends);
  while (true) {
    if (id) std::erase(allowed, *id);
    id = choice.sampler.pick(logits, {.kind = Allowed::Kind::kOnly, .ids = allowed});
    if (!id || choice.grammar->accept(*id)) return id;
  }
}

// The decoded part of the prompt gives the probabilities of the ids after it.
void Batcher::Work::score(Choice& choice, LlamaBatch::Piece& piece) const {
  const std::size_t begin = piece.sequence->tokens().size();
  std::vector<SampledToken>& scored = choice.flow.scored;
  scored.resize(begin + 1);  // if something was decoded twice, the second result counts
  scored.front().id = choice.ids.front();
  piece.each = [&choice, &scored, begin](std::size_t index, std::span<const float> logits) {
    const std::vector<TokenId>& prompt = choice.flow.request.prompt;
    if (begin + index + 1 < prompt.size())
      scored.push_back(described(logits, prompt[begin + index + 1], choice.flow.request.prompt_logprobs));
  };
}

// REQUIRES: the choice's sequence holds all of its ids.
void Batcher::Work::sample(Choice& choice) {
  const Request& request = choice.flow.request;
  choice.failures = 0;
  if (choice.sampled >= request.max_tokens) return finish(choice, StopReason::kLength);
  const std::optional<TokenId> id = pick(choice);
  if (!id) return finish(choice, StopReason::kConstraint);
  SampledToken token = described(choice.slot->sequence.logits(), *id, request.logprobs);
  choice.ids.push_back(*id);
  choice.sampler.accept(*id);
  ++choice.sampled;
  ++choice.flow.outcome.usage.completion_tokens;
  ++status_.sampled_tokens;
  events_.on_token(choice.flow.ticket, choice.index, std::move(token));
  if (std::find(request.stop_ids.begin(), request.stop_ids.end(), *id) != request.stop_ids.end())
    return finish(choice, StopReason::kStopToken);
  if (choice.grammar && choice.grammar->is_end(*id)) return finish(choice, StopReason::kConstraint);
  if (choice.sampled >= request.max_tokens) return finish(choice, StopReason::kLength);
  if (choice.ids.size() > loaded_.description.context_tokens) return finish(choice, StopReason::kContextFull);
}

EmbeddedStatus Batcher::Work::status() const {
  EmbeddedStatus status = status_;
  status.running = admitted_.size();
  for (const auto& [name, tenant] : tenants_) status.waiting += tenant.waiting.size();
  status.kept_sequences = kept_.size();
  status.kept_bytes = kept_.size_bytes();
  return status;
}

// --- The interface

Batcher::Batcher(std::unique_ptr<Work> work) : work_(std::move(work)) {}
Batcher::~Batcher() = default;

Result<std::unique_ptr<Batcher>> Batcher::load(const std::string& path, const EmbeddedOptions& options,
                                               Events& events) {
  Result<LoadedLlama> loaded = load_llama(path, options.llama, options.parallel);
  if (!loaded.ok()) return loaded.error();
  auto work = std::make_unique<Work>(std::move(loaded).value(), options, events);
  return std::unique_ptr<Batcher>(new Batcher(std::move(work)));
}

const Description& Batcher::describe() const { return work_->description(); }
void Batcher::add(Ticket ticket, Request request) { work_->add(ticket, std::move(request)); }
void Batcher::cancel(Ticket ticket) { work_->cancel(ticket); }
bool Batcher::step() { return work_->step(); }
EmbeddedStatus Batcher::status() const { return work_->status(); }

}  // namespace rondo::engine
