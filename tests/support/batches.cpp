#include "tests/support/batches.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <utility>

#include "engine/forced_ids.h"

namespace rondo::testing {

using engine::TokenId;

Ids ids_of(std::size_t size, std::uint64_t seed) { return random_ids(size, kVocabulary, seed); }

std::vector<TokenId> Received::One::ids(std::size_t choice) const {
  std::vector<TokenId> ids;
  const auto found = tokens.find(choice);
  if (found == tokens.end()) return ids;
  for (const engine::SampledToken& token : found->second) ids.push_back(token.id);
  return ids;
}

void Received::on_start(engine::Batcher::Ticket ticket, const engine::Start& start) {
  One& one = by_ticket[ticket];
  CHECK_FALSE(one.has_started);
  CHECK_FALSE(one.has_ended);
  one.has_started = true;
  one.start = start;
}

void Received::on_prompt(engine::Batcher::Ticket ticket, std::vector<engine::SampledToken> tokens) {
  One& one = by_ticket[ticket];
  CHECK(one.has_started);
  CHECK(one.prompt.empty());
  CHECK(one.tokens.empty());
  one.prompt = std::move(tokens);
}

void Received::on_token(engine::Batcher::Ticket ticket, std::size_t choice, engine::SampledToken token) {
  One& one = by_ticket[ticket];
  CHECK(one.has_started);
  CHECK_FALSE(one.has_ended);
  if (one.tokens.empty()) one.first_step = step;
  one.last_step = step;
  one.tokens[choice].push_back(std::move(token));
}

void Received::on_end(engine::Batcher::Ticket ticket, engine::Outcome outcome) {
  One& one = by_ticket[ticket];
  CHECK_FALSE(one.has_ended);
  one.has_ended = true;
  one.outcome = std::move(outcome);
}

BatchRun::BatchRun(const engine::TinyArchitecture& architecture, engine::EmbeddedOptions options) {
  options.llama.batch_tokens = small_batches().batch_tokens;
  if (options.llama.context_tokens == 0) options.llama.context_tokens = 2048;
  auto loaded = engine::Batcher::load(tiny_model_path(architecture), options, received);
  REQUIRE_MESSAGE(loaded.ok(), (loaded.ok() ? "" : loaded.error().to_string()));
  batcher = std::move(loaded).value();
}

engine::Batcher::Ticket BatchRun::add(engine::Request request) {
  batcher->add(++last_, std::move(request));
  return last_;
}

bool BatchRun::step() {
  ++received.step;
  return batcher->step();
}

void BatchRun::run() {
  while (step()) {}
}

const Received::One& BatchRun::result(engine::Request request) {
  const auto ticket = add(std::move(request));
  run();
  const Received::One& one = received.by_ticket[ticket];
  CHECK(one.has_ended);
  return one;
}

std::string differs_from_alone(engine::LlamaCpp& reference, const std::vector<TokenId>& prompt,
                               const std::vector<TokenId>& sampled) {
  const auto report = reference.prompt(prompt);
  if (!report.ok()) return report.error().to_string();
  engine::ForcedIds forced(sampled);
  std::string difference;
  std::size_t at = 0;
  const auto generated =
      reference.generate({.max_tokens = sampled.size(), .constraint = &forced, .on_token = [&](TokenId id) {
                            const auto logits = reference.logits();
                            const float best = *std::max_element(logits.begin(), logits.end());
                            const double gap = static_cast<double>(best - logits[static_cast<std::size_t>(id)]);
                            if (gap > 2 * kTolerance && difference.empty()) {
                              difference = "sampled id " + std::to_string(at) + " is " + std::to_string(id) + ", " +
                                           std::to_string(gap) + " below the best";
                            }
                            ++at;
                          }});
  return generated.ok() ? difference : generated.error().to_string();
}

}  // namespace rondo::testing
