#include "gateway/completion_run.h"

#include <algorithm>
#include <utility>

#include "gateway/constraint.h"
#include "gateway/engine_terms.h"
#include "json/print.h"
#include "spans/visible.h"

namespace rondo::gateway {

namespace {

// A decoder of the text that follows a prompt: it does not begin a text, which may lack the blank of its first token.
tokenizer::Tokenizer::Stream behind(const tokenizer::Tokenizer& tokenizer, std::span<const core::TokenId> prompt) {
  tokenizer::Tokenizer::Stream decoder(tokenizer);
  if (const core::TokenId* last = last_text_in(tokenizer, prompt)) (void)decoder.next(*last);
  (void)decoder.finish();
  return decoder;
}

apis::Usage told_usage(const engine::Usage& counted) {
  apis::Usage out{.prompt = static_cast<std::int64_t>(counted.prompt_tokens),
                  .completion = static_cast<std::int64_t>(counted.completion_tokens)};
  if (counted.cached_tokens) out.cached = static_cast<std::int64_t>(*counted.cached_tokens);
  return out;
}

}  // namespace

CompletionRun::CompletionRun(std::shared_ptr<Service::State> state, Asked asked, std::shared_ptr<ReplySink> sink)
    : state_(std::move(state)), asked_(std::move(asked)), sink_(std::move(sink)) {}

void CompletionRun::begin() {
  const auto self = shared_from_this();
  watch();
  state_->off_loop(asked_.bytes, [self] { self->refused_ = self->prepare(); }, [self] { self->submit(); });
}

// Watches the time limit and the client.
void CompletionRun::watch() {
  limit_ = state_->at_limit(*asked_.visit, [weak = weak_from_this()] {
    if (const auto run = weak.lock()) run->end_early(late());
  });
  sink_->on_gone([weak = weak_from_this()] {
    if (const auto run = weak.lock()) run->gone();
  });
}

void CompletionRun::submit() {
  is_preparing_ = false;
  if (is_gone_ || fault_) return;
  if (refused_) return sink_->refuse(chat::Api::kChat, *refused_);
  asked_.visit->model = asked_.served.name;
  asked_.visit->how = "render";
  state_->running_completions[this] = shared_from_this();
  running_ = prompts_.size();
  for (std::size_t i = 0; i < prompts_.size(); ++i)
    prompts_[i]->submission = asked_.served.serving->submit(std::move(requests_[i]), *prompts_[i]);
}

std::optional<apis::Fault> CompletionRun::prepare() {
  if (asked_.served.model->tokenizer() == nullptr) return apis::invalid("model", "the model brings no tokenizer");
  const tokenizer::Tokenizer& tokenizer = *asked_.served.model->tokenizer();
  if (auto fault = unknown_ids(&tokenizer, asked_.request.sampling, asked_.request.stops.ids)) return fault;
  for (const auto& asked : asked_.request.prompts) {
    auto prompt = std::make_unique<Prompt>();
    prompt->run = this;
    prompt->first = prompts_.size() * asked_.request.choices;
    if (const auto* text = std::get_if<std::string>(&asked)) {
      // The text is the client's own, so control tokens in it are meant, as engines treat them.
      prompt->ids = tokenizer.encode_ids(*text, {.add_special = asked_.request.add_special_tokens});
      prompt->text = *text;
    } else {
      prompt->ids = std::get<std::vector<std::int32_t>>(asked);
      if (const Status valid = core::check_ids(tokenizer, prompt->ids, "prompt"); !valid.ok())
        return apis::invalid("prompt", valid.error().message);
      if (auto decoded = tokenizer.decode(prompt->ids, {}); decoded.ok()) prompt->text = std::move(decoded).value();
    }
    if (prompt->ids.empty()) return apis::invalid("prompt", "`prompt` has no tokens");
    truncate(*prompt);
    make_choices(*prompt);
    prompts_.push_back(std::move(prompt));
  }
  meta_.id = spans::mint_id("cmpl-", prompts_.front()->choices.front().key, 0);
  meta_.model = asked_.request.model.empty() ? asked_.served.name : asked_.request.model;
  meta_.created_s = state_->parts.now_ms() / 1000;
  const bool is_for_trainers = state_->parts.options.keep_logprobs && !asked_.session.empty();
  keeps_logprobs_ = asked_.request.logprobs || is_for_trainers;
  auto constraint = make_answer_constraint(asked_.served, asked_.request.format);
  if (!constraint.ok()) return constraint.fault();
  for (std::string& note : constraint.value().notes) asked_.request.warnings.push_back(std::move(note));
  for (const auto& prompt : prompts_) {
    auto request = engine_request(*prompt);
    if (!request.ok()) return request.fault();
    request.value().grammar = constraint.value().grammar;
    requests_.push_back(std::move(request.value()));
  }
  return std::nullopt;
}

void CompletionRun::make_choices(Prompt& prompt) const {
  const tokenizer::Tokenizer& tokenizer = *asked_.served.model->tokenizer();
  prompt.texts = TokenTexts(&tokenizer);
  prompt.choices.resize(asked_.request.choices);
  for (Choice& choice : prompt.choices) {
    choice.key.bytes = state_->parts.random();
    choice.decoder.emplace(behind(tokenizer, prompt.ids));
    choice.texts = TokenTexts(&tokenizer, prompt.ids);
    if (asked_.request.sampling.min_tokens == 0) watch_stops(choice);
  }
}

void CompletionRun::truncate(Prompt& prompt) const {
  const std::size_t most =
      most_prompt_tokens(asked_.request.cut, asked_.served, asked_.request.max_tokens).value_or(prompt.ids.size());
  if (prompt.ids.size() <= most) return;
  if (asked_.request.cut.keeps_beginning) {
    prompt.ids.resize(most);
  } else {
    prompt.ids.erase(prompt.ids.begin(), prompt.ids.end() - static_cast<std::ptrdiff_t>(most));
  }
  auto decoded = asked_.served.model->tokenizer()->decode(prompt.ids, {});
  prompt.text = decoded.ok() ? std::move(decoded).value() : "";
}

apis::Outcome<engine::Request> CompletionRun::engine_request(const Prompt& prompt) const {
  const std::string_view scores = apis::asks_for_prompt(asked_.request);
  if (!scores.empty() && !asked_.served.serving->capabilities().tells_prompt_logprobs)
    return no_prompt_logprobs(scores);
  const auto room = room_behind(chat::Api::kChat, asked_.served, prompt.ids.size(), asked_.request.max_tokens);
  if (!room.ok()) return room.fault();
  engine::Request out;
  out.prompt = prompt.ids;
  out.max_tokens = room.value();
  out.min_tokens = least_tokens(asked_.request.sampling, out.max_tokens);
  out.choices = asked_.request.choices;
  const auto ends = asked_.served.model->tokenizer()->end_ids();
  out.stop_ids.assign(ends.begin(), ends.end());
  out.stop_ids.insert(out.stop_ids.end(), asked_.request.stops.ids.begin(), asked_.request.stops.ids.end());
  out.sampling = sampling_of(asked_.request.sampling, state_->parts);
  if (auto fault = set_limits(*asked_.served.model, asked_.request.sampling, out)) return *fault;
  if (keeps_logprobs_) out.logprobs = asked_.request.logprobs ? asked_.request.top_logprobs : 0;
  if (!scores.empty()) {
    const std::size_t echoed = asked_.request.echo ? asked_.request.top_logprobs : 0;
    out.prompt_logprobs = std::max(asked_.request.prompt_logprobs.value_or(0), echoed);
  }
  out.tenant = tenant_of(asked_.visit->tenant, asked_.request.cache_salt);
  out.affinity = asked_.session;
  return out;
}

// --- Events from the engine

void CompletionRun::Prompt::on_start(const engine::Start&) { run->start(); }

void CompletionRun::Prompt::on_prompt(std::span<const engine::SampledToken> tokens) {
  for (const engine::SampledToken& token : tokens) scored.push_back(scored_token(texts, token));
}

void CompletionRun::Prompt::on_tokens(std::size_t choice, std::span<const engine::SampledToken> tokens) {
  for (const engine::SampledToken& token : tokens) run->take(*this, choice, token);
}

void CompletionRun::Prompt::on_end(const engine::Outcome& ended) {
  outcome = ended;
  if (ended.error && std::ranges::any_of(choices, [](const Choice& choice) { return !choice.has_ended; })) {
    run->state_->metrics.engine_failed();
    run->fault_ = fault_of_engine(chat::Api::kChat, *ended.error, run->asked_.served, ids.size());
    if (run->fault_->param == "messages") run->fault_->param = "prompt";  // what this address calls it
  }
  for (std::size_t i = 0; i < choices.size(); ++i) {
    choices[i].inexact = ended.choices[i].inexact;
    if (choices[i].has_ended) continue;
    run->fault_ ? run->break_off(*this, i) : run->end_choice(*this, i, finish_of(ended.choices[i].stop));
  }
  run->ended();
}

void CompletionRun::start() {
  if (is_streaming_ || !sink_->takes_events()) return;
  is_streaming_ = true;
  sink_->start(headers(false));
}

void CompletionRun::take(Prompt& prompt, std::size_t index, const engine::SampledToken& token) {
  Choice& choice = prompt.choices[index];
  if (choice.has_ended) return;
  choice.ids.push_back(token.id);
  const auto least = static_cast<std::size_t>(asked_.request.sampling.min_tokens);
  if (least > 0 && choice.ids.size() == least) watch_stops(choice);
  if (keeps_logprobs_) choice.logprobs.push_back(token.logprob);
  apis::Tokens tokens = described(choice.texts, token, asked_.request.logprobs);
  choice.untold.ids.push_back(token.id);
  for (apis::Logprob& logprob : tokens.logprobs) choice.untold.logprobs.push_back(std::move(logprob));
  const auto is_in = [&token](std::span<const core::TokenId> ids) {
    return std::ranges::find(ids, token.id) != ids.end();
  };
  if (is_in(asked_.request.stops.ids)) choice.stop_id = token.id;
  if (is_in(asked_.served.model->tokenizer()->end_ids())) return;
  if (choice.stop_id && !asked_.request.stops.is_shown) return;
  auto text = choice.decoder->next(token.id);
  if (!text.ok()) return;  // an id outside the vocabulary has no text; it remains in the ids
  tell(prompt, index, choice.stop.feed(text.value()), false);
  if (choice.stop.found().empty()) return;
  end_choice(prompt, index, apis::Finish::kStopText);
  const auto runs = [](const Choice& one) { return !one.has_ended; };
  if (std::ranges::none_of(prompt.choices, runs)) prompt.submission->cancel();
}

void CompletionRun::watch_stops(Choice& choice) const {
  choice.stop = StopText(asked_.request.stops.texts, asked_.request.stops.is_shown);
}

void CompletionRun::tell(Prompt& prompt, std::size_t index, std::string_view text, bool is_last) {
  Choice& choice = prompt.choices[index];
  const bool has_ids = asked_.request.return_token_ids || asked_.request.logprobs;
  if (text.empty() && !is_last && !(has_ids && !choice.untold.ids.empty())) return;
  apis::CompletionPiece piece;
  piece.index = prompt.first + index;
  piece.text_offset = choice.told_bytes + (asked_.request.echo && choice.has_begun ? prompt.text.size() : 0);
  if (!choice.has_begun) {
    if (asked_.request.echo) piece.text = prompt.text;
    piece.prompt_ids = prompt.ids;
    piece.prompt = prompt.scored;
    choice.has_begun = true;
  }
  piece.text += text;
  choice.text += text;
  piece.tokens = std::exchange(choice.untold, {});
  for (const apis::Logprob& told : piece.tokens.logprobs) choice.told_bytes += told.text.size();
  piece.is_last = is_last;
  piece.finish = choice.finish;
  piece.stop_text = choice.stop.found();
  if (is_last) piece.stop_id = choice.stop_id;
  if (asked_.request.continuous_usage) piece.usage = told_usage(usage());
  choice.told.ids.insert(choice.told.ids.end(), piece.tokens.ids.begin(), piece.tokens.ids.end());
  choice.told.logprobs.insert(choice.told.logprobs.end(), piece.tokens.logprobs.begin(), piece.tokens.logprobs.end());
  if (is_streaming_) sink_->send(std::vector{apis::completion_event(asked_.request, meta_, piece)});
}

void CompletionRun::end_choice(Prompt& prompt, std::size_t index, apis::Finish finish) {
  Choice& choice = prompt.choices[index];
  choice.has_ended = true;
  choice.finish = finish;
  tell(prompt, index, finish == apis::Finish::kStopText ? "" : rest_of(choice), true);
}

// Ends the text of a choice of which the client gets a fault instead of an end.
void CompletionRun::break_off(Prompt& prompt, std::size_t index) {
  Choice& choice = prompt.choices[index];
  choice.has_ended = true;
  choice.finish = apis::Finish::kCancelled;
  tell(prompt, index, rest_of(choice), false);
}

std::string CompletionRun::rest_of(Choice& choice) {
  std::string rest = choice.stop.feed(choice.decoder->finish());
  return rest + choice.stop.flush();
}

// --- The end

void CompletionRun::ended() {
  if (--running_ > 0) return;
  const auto self = shared_from_this();
  keep_all();
}

void CompletionRun::keep_all() {
  if (asked_.session.empty()) return complete();
  for (const auto& prompt : prompts_) unkept_ += prompt->choices.size();
  for (const auto& prompt : prompts_) {
    for (const Choice& choice : prompt->choices) keep(*prompt, choice);
  }
}

// Keeps it as a turn of its own, because its prompt does not belong to any message.
void CompletionRun::keep(const Prompt& prompt, const Choice& choice) {
  const spans::Scope scope = state_->parts.spans->scope(asked_.visit->tenant, asked_.served.name);
  spans::Plan plan;
  plan.ids = prompt.ids;
  plan.owners = std::vector<std::int32_t>(plan.ids.size(), -1);
  plan.sampled = std::vector<std::uint8_t>(plan.ids.size(), 0);
  plan.rendered = plan.ids.size();
  plan.filing.session = spans::Spans::session(scope, asked_.session);
  // No conversation continues from it.
  plan.asked.seen.context = scope.hash('c', choice.key.view());
  plan.asked.seen.chain = {plan.asked.seen.context};
  spans::NewReply reply;
  reply.key = choice.key;
  reply.completion = choice.ids;
  reply.logprobs = choice.logprobs;
  reply.finish = fault_ && prompt.outcome->error             ? spans::Finish::kFailed
                 : choice.finish == apis::Finish::kLength    ? spans::Finish::kLength
                 : choice.finish == apis::Finish::kCancelled ? spans::Finish::kCancelled
                                                             : spans::Finish::kStop;
  reply.inexact = !choice.inexact.empty();
  reply.message = json::to_compact(json::Value(json::Object{{"role", "assistant"}, {"content", choice.text}}));
  reply.time_ms = state_->parts.now_ms();
  reply.session_name = asked_.session;
  const std::optional<std::size_t> cached = prompt.outcome->usage.cached_tokens;
  reply.facts = json::to_compact(json::Value(json::Object{{"api", "completions"},
                                                          {"request_id", asked_.visit->request_id},
                                                          {"how", "render"},
                                                          {"cached", cached ? json::Value(*cached) : json::Value()}}));
  net::Loop& loop = state_->loop;
  const auto kept = [self = shared_from_this(), &loop](const Status&) {
    loop.post([self] {
      if (--self->unkept_ == 0) self->complete();
    });
  };
  const auto session = state_->parts.spans->keep(scope, plan, std::move(reply), kept);
  if (!session.ok()) kept(session.error());
}

engine::Usage CompletionRun::usage() const {
  engine::Usage out;
  for (const auto& prompt : prompts_) {
    out.prompt_tokens += prompt->ids.size();
    for (const Choice& choice : prompt->choices) out.completion_tokens += choice.ids.size();
    if (prompt->outcome && prompt->outcome->usage.cached_tokens)
      out.cached_tokens = out.cached_tokens.value_or(0) + *prompt->outcome->usage.cached_tokens;
  }
  return out;
}

apis::CompletionPiece CompletionRun::whole(const Prompt& prompt, std::size_t index) const {
  const Choice& choice = prompt.choices[index];
  return {.index = prompt.first + index,
          .text = (asked_.request.echo ? prompt.text : "") + choice.text,
          .tokens = choice.told,
          .prompt_ids = prompt.ids,
          .is_last = true,
          .prompt = prompt.scored,
          .finish = choice.finish,
          .stop_text = choice.stop.found(),
          .stop_id = choice.stop_id};
}

net::Headers CompletionRun::headers(bool with_usage) const {
  const engine::Usage counted = usage();
  std::string prefix = "how=render expected=0";
  if (with_usage && counted.cached_tokens) prefix += " cached=" + std::to_string(*counted.cached_tokens);
  net::Headers out{{"x-rondo-prefix", prefix + " appended=0 rendered=" + std::to_string(counted.prompt_tokens)}};
  add_warnings(asked_.request.warnings, out);
  return out;
}

void CompletionRun::complete() {
  const auto self = shared_from_this();
  const engine::Usage counted = usage();
  apis::TurnEnd end;
  end.usage = told_usage(counted);
  end.time_s = state_->parts.now_ms() / 1000;
  Visit& visit = *asked_.visit;
  visit.prompt_tokens = end.usage.prompt;
  visit.cached_tokens = end.usage.cached;
  visit.completion_tokens = end.usage.completion;
  state_->metrics.turn({.how = visit.how,
                        .cause = "",
                        .prompt = counted.prompt_tokens,
                        .cached = counted.cached_tokens.value_or(0),
                        .completion = counted.completion_tokens});
  if (fault_) return fail();
  std::vector<apis::CompletionPiece> pieces;
  for (const auto& prompt : prompts_) {
    for (std::size_t i = 0; i < prompt->choices.size(); ++i) pieces.push_back(whole(*prompt, i));
  }
  if (is_streaming_) sink_->send(apis::completion_end(asked_.request, meta_, end));
  sink_->finish({.headers = headers(true), .body = apis::completion_body(asked_.request, meta_, pieces, end)});
  state_->running_completions.erase(this);
}

// Ends the reply without a result.
void CompletionRun::fail() {
  if (is_streaming_) {
    asked_.visit->fault_status = fault_->status();
    sink_->send(std::vector{apis::error_event(chat::Api::kChat, *fault_), apis::StreamEvent{"", "[DONE]"}});
    sink_->finish({.headers = headers(true), .body = {}, .fault = fault_});
  } else {
    sink_->refuse(chat::Api::kChat, *fault_);
  }
  state_->running_completions.erase(this);
}

void CompletionRun::gone() {
  is_gone_ = true;
  cancel();
}

void CompletionRun::end_early(apis::Fault fault) {
  if (running_ == 0 && !is_preparing_) return;  // it is complete and is being kept right now
  fault_ = std::move(fault);
  if (is_preparing_) return sink_->refuse(chat::Api::kChat, *fault_);
  cancel();
}

void CompletionRun::cancel() {
  for (const auto& prompt : prompts_) {
    if (prompt->submission && !prompt->outcome) prompt->submission->cancel();
  }
}

}  // namespace rondo::gateway
