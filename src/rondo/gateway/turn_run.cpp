#include "gateway/turn_run.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "gateway/engine_terms.h"
#include "gateway/held_submission.h"
#include "json/print.h"

namespace rondo::gateway {

TurnRun::TurnRun(std::shared_ptr<Service::State> state, ReadRequest read, std::shared_ptr<ReplySink> sink)
    : state_(std::move(state)), read_(std::move(read)) {
  answer_.sink = std::move(sink);
}

void TurnRun::begin() {
  if (!read_.ticket) {
    auto ticket = state_->begin_stream(read_.visit->tenant);
    if (!ticket.ok()) return answer_.sink->refuse(read_.request.api, ticket.fault());
    read_.ticket = std::move(ticket.value());
  }
  watch();
  times_.is_planning = true;
  const auto self = shared_from_this();
  state_->off_loop(read_.bytes, [self] { self->plan(); }, [self] { self->submit(); });
}

void TurnRun::begin_planned(Streams::Ticket ticket, std::shared_ptr<ReplySink> sink) {
  read_.ticket = std::move(ticket);
  answer_.sink = std::move(sink);
  watch();
  submit();
}

void TurnRun::plan() {
  times_.plan_begin = state_->loop.now();
  prepared_.emplace(prepare());
  times_.plan_end = state_->loop.now();
}

// Watches the time limit and the client.
void TurnRun::watch() {
  times_.limit = state_->at_limit(*read_.visit, [weak = weak_from_this()] {
    if (const auto self = weak.lock()) self->end_early(late());
  });
  answer_.sink->on_gone([weak = weak_from_this()] {
    if (const auto turn = weak.lock()) turn->gone();
  });
}

void TurnRun::submit() {
  times_.is_planning = false;
  apis::Outcome<engine::Request> request = *std::exchange(prepared_, std::nullopt);
  if (is_gone_ || broken_) return;
  if (!request.ok()) return answer_.sink->refuse(read_.request.api, request.fault());
  state_->metrics.planned(std::chrono::duration<double>(times_.plan_end - times_.plan_begin).count());
  Visit& visit = *read_.visit;
  visit.model = read_.model->name;
  visit.how = json::name_in(spans::kHowNames, plan_.how);
  visit.prompt_tokens = static_cast<std::int64_t>(plan_.ids.size());
  answer_.writer = apis::make_writer(read_.request, answer_.meta);
  state_->running[this] = shared_from_this();
  answer_.sink->begin(read_.request, answer_.meta);
  submission_ = submit_held(*read_.model->serving, std::move(request.value()), *this);
}

// The client left.  What it was sent is kept as a cut-off turn.
void TurnRun::gone() {
  is_gone_ = true;
  if (submission_) submission_->cancel();
}

void TurnRun::end_early(apis::Fault fault) {
  if (kept_.waiting > 0) return;  // it is complete and is being kept right now
  broken_ = std::move(fault);
  if (times_.is_planning) return answer_.sink->refuse(read_.request.api, *broken_);
  if (submission_) submission_->cancel();
}

net::Headers TurnRun::headers(const engine::Usage* usage) const {
  std::string prefix =
      "how=" + std::string(json::name_in(spans::kHowNames, plan_.how)) + " expected=" + std::to_string(plan_.expected);
  if (usage != nullptr && usage->cached_tokens) prefix += " cached=" + std::to_string(*usage->cached_tokens);
  prefix += " appended=" + std::to_string(plan_.appended) + " rendered=" + std::to_string(plan_.rendered);
  net::Headers headers{{"x-rondo-prefix", std::move(prefix)}};
  add_warnings(read_.request.warnings, headers);
  return headers;
}

void TurnRun::on_start(const engine::Start& start) {
  replica_ = start.replica;
  if (!answer_.sink->takes_events()) return;
  answer_.sink->start(headers(nullptr));
  answer_.is_streaming = true;
  answer_.sink->send(answer_.writer->start());
}

void TurnRun::tell(const std::vector<apis::TurnEvent>& events) {
  for (const apis::TurnEvent& event : events) {
    answer_.collector->add(event);
    if (answer_.is_streaming) std::ranges::move(answer_.writer->add(event), std::back_inserter(answer_.told));
  }
}

void TurnRun::send_told() {
  if (!answer_.told.empty()) answer_.sink->send(answer_.told);
  answer_.told.clear();
}

void TurnRun::on_prompt(std::span<const engine::SampledToken> tokens) {
  TokenTexts texts(read_.model->model->tokenizer());
  for (const engine::SampledToken& token : tokens) answer_.prompt.push_back(scored_token(texts, token));
}

void TurnRun::on_tokens(std::size_t choice, std::span<const engine::SampledToken> tokens) {
  if (Visit& visit = *read_.visit; !visit.first_token) {
    visit.first_token = state_->loop.now();
    state_->metrics.first_token(std::chrono::duration<double>(*visit.first_token - visit.began).count());
  }
  for (const engine::SampledToken& token : tokens) take(choice, token);
  send_told();
}

apis::Tokens TurnRun::told_of(Choice& choice, const engine::SampledToken& token) const {
  const apis::GenerateRequest& request = read_.request;
  if (!request.logprobs && !request.return_token_ids && !request.continuous_usage) return {};
  return described(choice.texts, token, request.logprobs);
}

void TurnRun::watch_stops(Choice& choice) const {
  choice.stop = StopText(read_.request.stops, read_.request.shows_stop);
}

void TurnRun::take(std::size_t index, const engine::SampledToken& token) {
  Choice& choice = choices_[index];
  if (choice.has_ended) return;
  choice.ids.push_back(token.id);
  const auto least = static_cast<std::size_t>(read_.request.sampling.min_tokens);
  if (least > 0 && choice.ids.size() == least) watch_stops(choice);
  if (keeps_logprobs_) choice.logprobs.push_back(token.logprob);
  apis::Tokens tokens = told_of(choice, token);
  const auto logprobs = std::exchange(tokens.logprobs, {});  // the client gets those of content alone
  const std::vector<std::int32_t>& named = read_.request.stop_ids;
  const bool is_named = std::ranges::find(named, token.id) != named.end();
  if (is_named) choice.stop_id = token.id;
  if (profile_->is_stop(token.id) || (is_named && !read_.request.shows_stop)) {
    tell(read_events(choice, choice.parser->end_turn(token.id), std::move(tokens), false));
    return;
  }
  if (choice.parser->parser().place() == parse::Place::kReasoning) ++reasoning_tokens_;
  const std::size_t begin = choice.parser->text().size();
  auto events = choice.parser->feed(std::span(&token.id, 1));
  if (!events.ok()) return;  // an id outside the vocabulary has no text; it remains in the ids
  for (const apis::Logprob& logprob : logprobs) choice.content.sampled(logprob, begin, choice.parser->text().size());
  tell(read_events(choice, std::move(events).value(), std::move(tokens), false));
  if (choice.stop.found().empty()) return;
  end_choice(index, apis::Finish::kStopText);
  const auto runs = [](const Choice& one) { return !one.has_ended; };
  if (std::none_of(choices_.begin(), choices_.end(), runs)) submission_->cancel();
}

namespace {

// Takes out the text that the prompt already has of a continued message: it is not part of the reply.  Such text stands
// for no sampled text.
void drop_begun(std::vector<parse::Event>& events) {
  for (parse::Event& event : events) {
    const bool is_text = event.kind == parse::EventKind::kContent || event.kind == parse::EventKind::kReasoning;
    const std::size_t sampled = event.end - event.begin;
    if (is_text && event.begin == 0 && event.text.size() > sampled) event.text.erase(0, event.text.size() - sampled);
  }
  std::erase_if(events, [](const parse::Event& event) {
    return event.kind != parse::EventKind::kMarker && event.end == 0 && event.text.empty();
  });
}

}  // namespace

std::vector<apis::TurnEvent> TurnRun::read_events(Choice& choice, std::vector<parse::Event> events, apis::Tokens tokens,
                                                  bool is_last) const {
  if (read_.request.continue_final) drop_begun(events);
  if (!read_.request.logprobs)
    return choice.builder->feed(cut_at_stop(choice, std::move(events), is_last), std::move(tokens));
  choice.content.parsed(events);
  events = cut_at_stop(choice, std::move(events), is_last);
  for (const parse::Event& event : events)
    choice.content_bytes += event.kind == parse::EventKind::kContent ? event.text.size() : 0;
  tokens.logprobs = choice.content.shown(choice.content_bytes);
  return choice.builder->feed(events, std::move(tokens));
}

std::vector<parse::Event> TurnRun::cut_at_stop(Choice& choice, std::vector<parse::Event> events, bool is_last) {
  if (choice.stop.is_idle()) return events;
  std::vector<parse::Event> out;
  const auto release = [&](std::string text) {
    if (text.empty()) return;
    parse::Event content;
    content.kind = parse::EventKind::kContent;
    content.text = std::move(text);
    out.push_back(std::move(content));
  };
  for (parse::Event& event : events) {
    if (event.kind != parse::EventKind::kContent) {
      release(choice.stop.flush());  // a stop text is content as a whole
      out.push_back(std::move(event));
      continue;
    }
    release(choice.stop.feed(event.text));
    if (!choice.stop.found().empty()) return out;
  }
  if (is_last) release(choice.stop.flush());
  return out;
}

namespace {

// Takes out the ends of calls that only the end of the text has ended: such a call is incomplete.
void drop_ends_of_cut_calls(const core::ParserStream& parser, std::vector<parse::Event>& events) {
  const auto& calls = parser.parser().message().tool_calls;
  std::erase_if(events, [&calls](const parse::Event& event) {
    if (event.kind != parse::EventKind::kCallEnd || event.call >= calls.size()) return false;
    const chat::CallStatus status = calls[event.call].status;
    return status == chat::CallStatus::kUnclosed || status == chat::CallStatus::kInvalidJson;
  });
}

}  // namespace

void TurnRun::end_choice(std::size_t index, apis::Finish finish) {
  Choice& choice = choices_[index];
  choice.has_ended = true;
  // A client that left was never shown what was held back.
  if (finish != apis::Finish::kStopText && !is_gone_) {
    std::vector<parse::Event> events = choice.parser->close();
    if (finish == apis::Finish::kLength) drop_ends_of_cut_calls(*choice.parser, events);
    tell(read_events(choice, std::move(events), {}, true));
  }
  tell(choice.builder->finish(finish, choice.stop.found(), choice.stop_id));
}

void TurnRun::break_off(std::size_t index) {
  Choice& choice = choices_[index];
  choice.has_ended = true;
  if (!is_gone_) {
    std::vector<parse::Event> rest = choice.parser->close();
    drop_ends_of_cut_calls(*choice.parser, rest);
    tell(read_events(choice, std::move(rest), {}, true));
  }
  auto events = choice.builder->finish(apis::Finish::kCancelled);
  std::erase_if(events, [](const apis::TurnEvent& event) { return event.kind == apis::TurnEvent::Kind::kFinish; });
  tell(events);
}

void TurnRun::on_end(const engine::Outcome& outcome) {
  const auto self = shared_from_this();  // leave() releases it
  if (outcome.error && std::ranges::any_of(choices_, [](const Choice& one) { return !one.has_ended; })) {
    state_->metrics.engine_failed();
    broken_ = fault_of_engine(read_.request.api, *outcome.error, *read_.model, plan_.ids.size());
  }
  if (outcome.error && std::ranges::all_of(choices_, [](const Choice& one) { return one.ids.empty(); })) {
    fail(*broken_);
    return leave();
  }
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (choices_[i].has_ended) continue;
    broken_ ? break_off(i) : end_choice(i, finish_of(outcome.choices[i].stop));
  }
  if (broken_) send_told();  // all others are told of their end once it is stored
  keep_all(outcome);
}

// Ends the turn without a result.
void TurnRun::fail(const apis::Fault& fault) {
  if (!answer_.is_streaming) return answer_.sink->refuse(read_.request.api, fault);
  read_.visit->fault_status = fault.status();
  answer_.sink->send(answer_.writer->fail(fault));
  answer_.sink->finish({.headers = headers(nullptr), .body = {}, .fault = fault});
}

void TurnRun::leave() {
  submission_.reset();
  state_->running.erase(this);
}

}  // namespace rondo::gateway
