#include "remote/adapter_run.h"

#include <algorithm>
#include <utility>

#include "json/parse.h"

namespace rondo::remote {
namespace {

using engine::StopReason;

}  // namespace

net::Request post_of(const ServerInfo& info, const std::string& path, std::string body) {
  return {.method = "POST",
          .url = info.url + path,
          .headers = {{"Content-Type", "application/json"}},
          .body = std::move(body)};
}

AdapterRun::AdapterRun(Adapter& adapter, engine::Request request, engine::Listener& listener)
    : adapter_(adapter), request_(std::move(request)), listener_(&listener), asked_tokens_(request_.max_tokens) {}

AdapterRun::~AdapterRun() = default;

Status AdapterRun::check() const {
  if (Status status = engine::check_request(request_); !status.ok()) return status;
  const engine::Grammar::Dialect dialect = request_.grammar.dialect;
  const auto& known = adapter_.capabilities_.grammars;
  if (dialect != engine::Grammar::Dialect::kNone && std::ranges::find(known, dialect) == known.end()) {
    return Error(ErrorCode::kInvalidArgument, "a grammar in the form `" + std::string(engine::to_string(dialect)) +
                                                  "` cannot be asked of " +
                                                  std::string(to_string(adapter_.info().kind)));
  }
  const std::size_t context = adapter_.info().context_tokens;
  if (context > 0 && request_.prompt.size() >= context) {
    return Error(ErrorCode::kLimit, "the prompt has " + std::to_string(request_.prompt.size()) +
                                        " tokens, and the context is " + std::to_string(context) + " long");
  }
  return Done{};
}

// Servers refuse a request that does not fit as a whole.
void AdapterRun::fit_context() {
  const std::size_t context = adapter_.info().context_tokens;
  if (context > 0) request_.max_tokens = std::min(request_.max_tokens, context - request_.prompt.size());
}

void AdapterRun::begin() {
  if (Status status = check(); !status.ok()) return fail(status.error());
  fit_context();
  choices_.resize(request_.choices);
  request_.prompt_logprobs ? score() : begin_legs();
}

std::string AdapterRun::next_id() { return adapter_.id_prefix_ + std::to_string(adapter_.next_id_++); }

// Asks for the log probabilities of the prompt.  The ids are asked for afterwards, and find the prompt in the cache.
void AdapterRun::score() {
  auto body = adapter_.dialect_->score_body(request_, next_id());
  if (!body.ok()) return fail(body.error());
  ++adapter_.running_;
  scoring_ = adapter_.client_.fetch(post_of(adapter_.info(), adapter_.info().path, std::move(body).value()),
                                    [this](const Result<net::Response>& response) {
                                      const auto self = shared_from_this();
                                      const auto call = std::move(scoring_);
                                      --adapter_.running_;
                                      take_scores(response);
                                    });
}

void AdapterRun::take_scores(const Result<net::Response>& response) {
  if (!response.ok()) return fail(response.error());
  const net::Response& answer = response.value();
  if (answer.status != 200) return fail(adapter_.dialect_->refusal(answer.status, answer.body, request_));
  const auto parsed = json::parse(answer.body);
  const auto scores = adapter_.dialect_->read_scores(parsed.ok() ? parsed.value() : json::Value(), request_);
  if (!scores.ok()) return fail(scores.error());
  taken_up();
  if (!is_over()) listener_->on_prompt(scores.value());
  if (!is_over() && !is_cancelled_) begin_legs();
}

void AdapterRun::begin_legs() {
  const bool is_one = request_.choices == 1 || adapter_.dialect_->takes_choices(request_);
  const std::size_t count = is_one ? request_.choices : 1;
  for (std::size_t first = 0; first < request_.choices; first += count) {
    std::string id = next_id();
    auto body = adapter_.dialect_->body(request_, count, request_.sampling.seed + first, id);
    if (!body.ok()) return fail(body.error());
    legs_.push_back(std::make_unique<AdapterLeg>(*this, first, count, std::move(id)));
    legs_.back()->begin(std::move(body).value());
  }
  open_legs_ = legs_.size();
}

void AdapterRun::taken_up() {
  if (std::exchange(is_taken_up_, true) || is_over()) return;
  listener_->on_start({});
}

void AdapterRun::deliver(std::size_t index, std::vector<engine::SampledToken> tokens) {
  if (is_over() || tokens.empty()) return;
  Choice& choice = choices_[index];
  if (choice.ending) return;
  std::size_t count = std::min(tokens.size(), request_.max_tokens - std::min(request_.max_tokens, choice.ids.size()));
  std::optional<engine::TokenId> stop;
  for (std::size_t i = 0; i < count && !stop; ++i) {
    choice.ids.push_back(tokens[i].id);
    if (std::ranges::find(request_.stop_ids, tokens[i].id) == request_.stop_ids.end()) continue;
    stop = tokens[i].id;
    count = i + 1;
  }
  if (stop) choice.ending = engine::Ending{StopReason::kStopToken, stop, choice.inexact};
  if (count > 0) listener_->on_tokens(index, std::span(tokens).first(count));
}

void AdapterRun::end_choice(std::size_t index, const Part& part) {
  if (is_over() || has_ended(index)) return;
  // The server names the stop id but leaves it out of the ids.  It was sampled all the same.
  if (part.stop_id && (choices_[index].ids.empty() || choices_[index].ids.back() != *part.stop_id)) {
    deliver(index, {engine::SampledToken{.id = *part.stop_id}});
    if (is_over() || has_ended(index)) return;
  }
  Choice& choice = choices_[index];
  engine::Ending ending{*part.stop, std::nullopt, choice.inexact};
  if (asked_tokens_ == 0) ending.stop = StopReason::kLength;  // whatever the server sampled
  if (ending.stop == StopReason::kStopToken) {
    if (!choice.ids.empty()) ending.stop_id = choice.ids.back();
  } else if (ending.stop == StopReason::kLength && choice.ids.size() < asked_tokens_) {
    ending.stop = StopReason::kContextFull;
  }
  choice.ending = std::move(ending);
}

void AdapterRun::note_inexact(std::size_t index, const std::string& why) {
  Choice& choice = choices_[index];
  if (!choice.inexact.empty()) return;
  choice.inexact = why;
  if (choice.ending) choice.ending->inexact = why;
}

void AdapterRun::note_usage(const Event& event) {
  if (event.prompt_tokens && usage_.prompt_tokens == 0) usage_.prompt_tokens = *event.prompt_tokens;
  if (!event.cached_tokens || usage_.cached_tokens) return;
  // What was computed for the log probabilities came from no cache.
  usage_.cached_tokens = request_.prompt_logprobs ? 0 : *event.cached_tokens;
}

void AdapterRun::fail(Error error) {
  if (is_over() || error_) return;
  error_ = std::move(error);
  close();
  // Runs neither inside submit() nor while a connection is active below.
  adapter_.loop_.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->finish();
  });
}

void AdapterRun::leg_done() {
  if (--open_legs_ == 0 && !error_ && !is_cancelled_) finish();
}

void AdapterRun::cancel() {
  if (is_over() || is_cancelled_ || error_) return;
  is_cancelled_ = true;
  close();
  adapter_.loop_.post([weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->finish();
  });
}

void AdapterRun::abandon() {
  listener_ = nullptr;
  close();
}

void AdapterRun::close() {
  if (scoring_) --adapter_.running_;
  scoring_.reset();
  for (const auto& leg : legs_) leg->close();
}

void AdapterRun::finish() {
  engine::Listener* listener = std::exchange(listener_, nullptr);
  if (listener == nullptr) return;
  engine::Outcome outcome;
  for (Choice& choice : choices_) {
    outcome.choices.push_back(
        choice.ending.value_or(engine::Ending{StopReason::kCancelled, std::nullopt, choice.inexact}));
    usage_.completion_tokens += choice.ids.size();
  }
  outcome.choices.resize(request_.choices, engine::Ending{StopReason::kCancelled, std::nullopt, ""});
  if (usage_.prompt_tokens == 0) usage_.prompt_tokens = request_.prompt.size();
  outcome.usage = usage_;
  outcome.error = std::move(error_);
  listener->on_end(outcome);
}

}  // namespace rondo::remote
