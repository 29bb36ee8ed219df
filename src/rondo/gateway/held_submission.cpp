#include "gateway/held_submission.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace rondo::gateway {
namespace {

using engine::Allowed;
using engine::TokenId;

// More than any end of a reasoning takes.  A constraint that allows one id forever is released.
constexpr std::size_t kMostForced = 64;

class HeldSubmission final : public engine::Submission {
 public:
  HeldSubmission(engine::Serving& serving, engine::Request request, engine::Listener& listener)
      : serving_(serving), request_(std::move(request)), listener_(listener) {
    outcome_.choices.resize(request_.choices);
    outcome_.usage.prompt_tokens = request_.prompt.size();
    running_ = request_.choices;
    for (std::size_t i = 0; i < request_.choices; ++i) {
      legs_.push_back(std::make_unique<Leg>(*this, i, request_.constraint(i)));
      submit(*legs_.back());
    }
  }

  void cancel() override {
    is_cancelled_ = true;
    for (const auto& leg : legs_) {
      if (leg->running && !leg->has_ended) leg->running->cancel();
    }
  }

 private:
  // One choice, which may take several requests.
  struct Leg final : engine::Listener {
    Leg(HeldSubmission& of, std::size_t number, std::unique_ptr<engine::TokenConstraint> by)
        : owner(of), choice(number), constraint(std::move(by)) {}
    void on_start(const engine::Start& start) override { owner.start(start); }
    void on_prompt(std::span<const engine::SampledToken> tokens) override { owner.listener_.on_prompt(tokens); }
    void on_tokens(std::size_t, std::span<const engine::SampledToken> tokens) override { owner.take(*this, tokens); }
    void on_end(const engine::Outcome& outcome) override { owner.end(*this, outcome); }

    HeldSubmission& owner;
    std::size_t choice;
    std::unique_ptr<engine::TokenConstraint> constraint;
    std::unique_ptr<engine::Submission> running;
    std::vector<TokenId> ids;
    std::optional<TokenId> forced;  // what must follow if something else came
    std::size_t parts = 0;          // requests made for it
    bool has_ended = false;
  };

  void submit(Leg& leg) {
    engine::Request request = request_;
    request.constraint = nullptr;
    request.choices = 1;
    if (leg.choice > 0 || leg.parts > 0) request.prompt_logprobs.reset();  // told once
    request.sampling.seed += leg.choice;
    if (!leg.ids.empty()) {
      std::vector<TokenId>& prompt = request.prompt.change();
      prompt.insert(prompt.end(), leg.ids.begin(), leg.ids.end());
    }
    request.max_tokens -= leg.ids.size();
    ++leg.parts;
    leg.running = serving_.submit(std::move(request), leg);
  }

  void start(const engine::Start& start) {
    if (!std::exchange(has_started_, true)) listener_.on_start(start);
  }

  void take(Leg& leg, std::span<const engine::SampledToken> tokens) {
    if (leg.forced) return;
    std::size_t good = 0;
    for (; good < tokens.size() && !leg.forced; ++good) {
      const TokenId id = tokens[good].id;
      const Allowed allowed = leg.constraint ? leg.constraint->next(leg.ids) : Allowed{};
      if (allowed.kind == Allowed::Kind::kOnly && !allowed.ids.empty() && std::ranges::count(allowed.ids, id) == 0) {
        leg.forced = allowed.ids.front();
        break;
      }
      leg.ids.push_back(id);
    }
    const bool is_cut = leg.forced.has_value();
    if (good > 0) listener_.on_tokens(leg.choice, tokens.first(good));
    if (is_cut) leg.running->cancel();
  }

  void end(Leg& leg, const engine::Outcome& outcome) {
    if (leg.parts == 1 && leg.choice == 0) {
      outcome_.usage.cached_tokens = outcome.usage.cached_tokens;
      outcome_.usage.expected_tokens = outcome.usage.expected_tokens;
    }
    if (leg.forced && !is_cancelled_) return go_on(leg);
    engine::Ending& ending = outcome_.choices[leg.choice];
    if (!outcome.choices.empty()) ending = outcome.choices.front();
    if (outcome.error && !outcome_.error) {
      outcome_.error = outcome.error;
      cancel();
    }
    end(leg);
  }

  void go_on(Leg& leg) {
    std::vector<engine::SampledToken> added;
    while (leg.forced && leg.ids.size() < request_.max_tokens && added.size() < kMostForced) {
      leg.ids.push_back(*leg.forced);
      added.push_back({.id = *leg.forced});
      const Allowed allowed = leg.constraint->next(leg.ids);
      const bool goes_on = allowed.kind == Allowed::Kind::kOnly && !allowed.ids.empty();
      leg.forced = goes_on ? std::optional(allowed.ids.front()) : std::nullopt;
    }
    if (added.size() == kMostForced) leg.constraint.reset();
    leg.forced.reset();
    listener_.on_tokens(leg.choice, added);
    if (leg.ids.size() < request_.max_tokens && !is_cancelled_) return submit(leg);
    outcome_.choices[leg.choice].stop = is_cancelled_ ? engine::StopReason::kCancelled : engine::StopReason::kLength;
    end(leg);
  }

  void end(Leg& leg) {
    leg.has_ended = true;
    if (--running_ > 0) return;
    for (const auto& each : legs_) outcome_.usage.completion_tokens += each->ids.size();
    listener_.on_end(outcome_);
  }

  engine::Serving& serving_;
  engine::Request request_;
  engine::Listener& listener_;
  engine::Outcome outcome_;
  std::vector<std::unique_ptr<Leg>> legs_;
  std::size_t running_ = 0;
  bool has_started_ = false;
  bool is_cancelled_ = false;
};

}  // namespace

std::unique_ptr<engine::Submission> submit_held(engine::Serving& serving, engine::Request request,
                                                engine::Listener& listener) {
  if (!request.constraint || serving.capabilities().takes_constraints)
    return serving.submit(std::move(request), listener);
  return std::make_unique<HeldSubmission>(serving, std::move(request), listener);
}

}  // namespace rondo::gateway
