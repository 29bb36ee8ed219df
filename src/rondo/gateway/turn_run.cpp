#include "gateway/turn_run.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "json/print.h"

namespace rondo::gateway {

using tokenizer::TokenId;

namespace {

apis::Finish finish_of(const engine::Ending& ending) {
  switch (ending.stop) {
    case engine::StopReason::kStopToken:
    case engine::StopReason::kConstraint: return apis::Finish::kStop;
    case engine::StopReason::kLength:
    case engine::StopReason::kContextFull: return apis::Finish::kLength;
    case engine::StopReason::kCancelled: return apis::Finish::kCancelled;
  }
  return apis::Finish::kStop;
}

spans::Finish kept_finish(apis::Finish finish) {
  switch (finish) {
    case apis::Finish::kLength: return spans::Finish::kLength;
    case apis::Finish::kCancelled: return spans::Finish::kCancelled;
    case apis::Finish::kStop:
    case apis::Finish::kStopText:
    case apis::Finish::kRefusal: return spans::Finish::kStop;
  }
  return spans::Finish::kStop;
}

apis::Fault fault_of_engine(chat::Api api, const Error& error, std::size_t prompt_tokens, std::size_t limit) {
  switch (error.code) {
    case ErrorCode::kLimit:
      return apis::context_too_long(api, static_cast<std::int64_t>(prompt_tokens), static_cast<std::int64_t>(limit));
    case ErrorCode::kInvalidArgument: return {.kind = apis::FaultKind::kInvalid, .message = error.message};
    default: return {.kind = apis::FaultKind::kEngine, .message = error.message};
  }
}

// Without what is kept a known conversation would be rendered anew: it waits for the store instead.
apis::Fault fault_of_store(const Error& error) {
  return {.kind = apis::FaultKind::kUnavailable, .message = error.message, .retry_after_s = 1};
}

apis::Fault fault_of_plan(const Error& error) {
  return error.code == ErrorCode::kIo ? fault_of_store(error) : apis::fault_of(error);
}

std::string_view id_prefix(chat::Api api) {
  switch (api) {
    case chat::Api::kChat: return "chatcmpl";
    case chat::Api::kMessages: return "msg";
    case chat::Api::kResponses: return "resp";
  }
  return "id";
}

}  // namespace

TurnRun::TurnRun(std::shared_ptr<Service::State> state, ReadRequest read, net::Exchange exchange)
    : state_(std::move(state)),
      read_(std::move(read)),
      exchange_(std::move(exchange)),
      call_(call_of(*read_.model, read_.request)) {}

void TurnRun::begin() {
  if (auto fault = prepare()) return answer_fault(exchange_, read_.request.api, *fault);
  auto request = engine_request();
  if (!request.ok()) return answer_fault(exchange_, read_.request.api, request.fault());
  writer_ = apis::make_writer(read_.request, meta_);
  state_->running[this] = shared_from_this();
  exchange_.on_gone([weak = weak_from_this()] {
    // The client is gone: what it was sent is kept as a turn that was cut off.
    if (const auto self = weak.lock(); self && self->submission_) self->submission_->cancel();
  });
  submission_ = read_.model->serving->submit(std::move(request).value(), *this);
}

std::optional<apis::Fault> TurnRun::prepare() {
  const apis::GenerateRequest& request = read_.request;
  scope_.emplace(state_->parts.spans->scope("", read_.model->name));
  spans::PlanRequest asked{.call = call_, .session = std::nullopt, .retention = state_->parts.options.retention};
  const std::string& named = request.session.session.empty() ? request.session.group : request.session.session;
  if (!named.empty()) asked.session = spans::Spans::session(*scope_, named);
  for (const chat::EchoedKey& echo : request.echoed) asked.echoed.push_back({echo.message, echo.key});
  auto plan = state_->parts.spans->plan(*read_.model->model, *scope_, std::move(asked));
  if (!plan.ok()) return fault_of_plan(plan.error());
  plan_ = std::move(plan).value();
  auto profile = read_.model->model->profile(call_);
  if (!profile.ok()) return apis::fault_of(profile.error());
  profile_ = std::move(profile).value();
  call_id_shape_ = spans::call_id_shape(*read_.model->model, call_);
  return prepare_choices();
}

std::optional<apis::Fault> TurnRun::prepare_choices() {
  const apis::GenerateRequest& request = read_.request;
  core::Asked asked;
  asked.parallel_tool_calls = request.tool_choice.parallel;
  if (request.tool_choice.mode == apis::ToolChoice::Mode::kNone) asked.tool_choice = core::ToolChoice::kNone;
  if (request.format.kind == apis::AnswerFormat::Kind::kSchema) asked.response_schema = request.format.schema;
  core::ParseCall parsing;
  parsing.options = core::parse_options(asked, request.tools.has_value());
  parsing.prompt_ids = plan_.ids;
  choices_.resize(request.choices);
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    choices_[i].key.bytes = state_->parts.random();
    auto parser = read_.model->model->parser(call_, parsing);
    if (!parser.ok()) return apis::fault_of(parser.error());
    choices_[i].parser.emplace(read_.model->model, std::move(parser).value());
    choices_[i].builder.emplace(i, naming(i));
  }
  collector_.emplace(choices_.size());
  meta_.id = spans::mint_id(id_prefix(request.api), choices_.front().key, 0);
  meta_.model = request.model.empty() ? read_.model->name : request.model;
  meta_.created_s = state_->parts.now_ms() / 1000;
  if (request.return_token_ids) meta_.prompt_ids = plan_.ids;
  meta_.prompt_tokens = static_cast<std::int64_t>(plan_.ids.size());
  return std::nullopt;
}

apis::Naming TurnRun::naming(std::size_t choice) {
  const auto key = [this, choice] { return choices_[choice].key; };
  return {.item_id =
              [key](apis::PartKind kind, std::size_t, std::size_t part) {
                const char* prefix = kind == apis::PartKind::kReasoning ? "rs"
                                     : kind == apis::PartKind::kCall    ? "fc"
                                                                        : "msg";
                return spans::mint_id(prefix, key(), part + 1);
              },
          .call_id =
              [this, key](std::size_t, std::size_t call, const std::optional<std::string>&) {
                return spans::mint_call_id(*scope_, key(), call, call_id_shape_);
              },
          .secret = [key](std::size_t, std::size_t part) { return spans::mint_id("sig", key(), part + 1); }};
}

apis::Outcome<engine::Request> TurnRun::engine_request() {
  const apis::GenerateRequest& from = read_.request;
  const std::size_t context = read_.model->serving->capabilities().context_tokens;
  if (context > 0 && plan_.ids.size() >= context) {
    return apis::context_too_long(from.api, static_cast<std::int64_t>(plan_.ids.size()),
                                  static_cast<std::int64_t>(context));
  }
  engine::Request request;
  request.prompt = plan_.ids;
  const std::size_t room = context > 0 ? context - plan_.ids.size() : 4096;
  request.max_tokens = from.max_tokens ? std::min(static_cast<std::size_t>(*from.max_tokens), room) : room;
  request.choices = from.choices;
  request.stop_ids = profile_->stop_ids;
  const apis::Sampling& sampling = from.sampling;
  request.sampling.temperature = static_cast<float>(sampling.temperature.value_or(1.0));
  request.sampling.top_p = static_cast<float>(sampling.top_p.value_or(1.0));
  request.sampling.top_k = static_cast<std::size_t>(std::max<std::int64_t>(0, sampling.top_k.value_or(0)));
  request.sampling.min_p = static_cast<float>(sampling.min_p.value_or(0.0));
  request.sampling.presence_penalty = static_cast<float>(sampling.presence_penalty.value_or(0.0));
  request.sampling.frequency_penalty = static_cast<float>(sampling.frequency_penalty.value_or(0.0));
  request.sampling.repetition_penalty = static_cast<float>(sampling.repetition_penalty.value_or(1.0));
  for (const auto& [id, value] : sampling.logit_bias) request.sampling.bias.push_back({id, static_cast<float>(value)});
  request.sampling.seed = 0;
  if (sampling.seed) {
    request.sampling.seed = static_cast<std::uint64_t>(*sampling.seed);
  } else {
    for (const std::uint8_t byte : state_->parts.random()) request.sampling.seed = request.sampling.seed << 5U ^ byte;
  }
  if (from.logprobs) request.logprobs = from.top_logprobs;
  request.affinity = from.session.session.empty() ? from.session.group : from.session.session;
  // What other conversations share: everything in front of the first message that is not the system's.
  for (std::size_t i = 0; i < plan_.owners.size(); ++i) {
    const std::int32_t owner = plan_.owners[i];
    if (owner < 0) continue;
    const auto role = call_.conversation.messages[static_cast<std::size_t>(owner)].find_string("role");
    if (role == "system" || role == "developer") continue;
    if (i > 0) request.shared_heads.push_back(i);
    break;
  }
  if (auto fault = set_grammar(request)) return *fault;
  return request;
}

// What the API promises of the answer's shape is enforced by the engine.
std::optional<apis::Fault> TurnRun::set_grammar(engine::Request& request) {
  const apis::GenerateRequest& from = read_.request;
  const bool is_required = from.tool_choice.mode == apis::ToolChoice::Mode::kRequired;
  const bool has_schema = from.format.kind == apis::AnswerFormat::Kind::kSchema;
  if (!is_required && !has_schema) return std::nullopt;
  core::Asked asked;
  asked.parallel_tool_calls = from.tool_choice.parallel;
  if (is_required) asked.tool_choice = core::ToolChoice::kRequired;
  if (is_required && from.tool_choice.only.size() == 1) {
    asked.tool_choice = core::ToolChoice::kNamed;
    asked.tool_name = from.tool_choice.only.front();
  }
  if (has_schema) asked.response_schema = from.format.schema;
  const auto& known = read_.model->serving->capabilities().grammars;
  using Dialect = engine::Grammar::Dialect;
  const auto takes = [&](Dialect dialect) { return std::find(known.begin(), known.end(), dialect) != known.end(); };
  const auto [language, dialect] = takes(Dialect::kStructuralTag)
                                       ? std::pair(core::GrammarLanguage::kStructuralTag, Dialect::kStructuralTag)
                                       : std::pair(core::GrammarLanguage::kGbnf, Dialect::kGbnf);
  auto grammar = read_.model->model->grammar(call_, asked, language);
  if (!grammar.ok()) return apis::fault_of(grammar.error());
  core::GrammarText& text = grammar.value();
  if (text.text.empty()) return std::nullopt;
  request.grammar = {.dialect = dialect, .text = std::move(text.text), .is_lazy = text.is_lazy};
  request.grammar.preserved_tokens = std::move(text.preserved_tokens);
  for (core::GrammarTrigger& trigger : text.triggers) {
    using Kind = engine::Grammar::Trigger::Kind;
    const Kind kind = trigger.kind == core::GrammarTrigger::Kind::kToken  ? Kind::kToken
                      : trigger.kind == core::GrammarTrigger::Kind::kWord ? Kind::kWord
                                                                          : Kind::kPattern;
    request.grammar.triggers.push_back({.kind = kind, .token = trigger.id, .text = std::move(trigger.value)});
  }
  return std::nullopt;
}

// --- what the engine says ---------------------------------------------------------------------------------------------

net::Headers TurnRun::headers(const engine::Usage* usage) const {
  std::string prefix =
      "how=" + std::string(json::name_in(spans::kHowNames, plan_.how)) + " expected=" + std::to_string(plan_.expected);
  if (usage != nullptr && usage->cached_tokens) prefix += " cached=" + std::to_string(*usage->cached_tokens);
  prefix += " appended=" + std::to_string(plan_.appended) + " rendered=" + std::to_string(plan_.rendered);
  net::Headers headers{{"x-rondo-prefix", std::move(prefix)}};
  for (const std::string& warning : read_.request.warnings) {
    std::string text = "299 rondo \"";
    for (const char c : warning) text += c == '"' || static_cast<unsigned char>(c) < 0x20 ? '\'' : c;
    headers.add("warning", text + "\"");
  }
  return headers;
}

void TurnRun::send(const std::vector<apis::StreamEvent>& events) {
  if (!read_.request.stream) return;
  std::string text;
  for (const apis::StreamEvent& event : events) text += event.text();
  if (!text.empty()) exchange_.write(text);
}

void TurnRun::on_start(const engine::Start&) {
  if (!read_.request.stream) return;
  net::Headers fields = headers(nullptr);
  fields.add("content-type", "text/event-stream; charset=utf-8");
  fields.add("cache-control", "no-cache");
  exchange_.start(200, fields);
  is_streaming_ = true;
  send(writer_->start());
}

void TurnRun::tell(const std::vector<apis::TurnEvent>& events) {
  for (const apis::TurnEvent& event : events) {
    collector_->add(event);
    if (is_streaming_) send(writer_->add(event));
  }
}

apis::Tokens TurnRun::described(const engine::SampledToken& token) const {
  apis::Tokens tokens{.ids = {token.id}, .logprobs = {}};
  if (!read_.request.logprobs || std::isnan(token.logprob)) return tokens;
  const auto text_of = [&](TokenId id) {
    auto text = read_.model->model->detokenize(std::span(&id, 1), false);
    return text.ok() ? std::move(text).value() : std::string();
  };
  apis::Logprob logprob{.text = text_of(token.id), .logprob = static_cast<double>(token.logprob), .top = {}};
  for (const engine::Candidate& best : token.best)
    logprob.top.push_back({.text = text_of(best.id), .logprob = static_cast<double>(best.logprob)});
  tokens.logprobs.push_back(std::move(logprob));
  return tokens;
}

void TurnRun::on_tokens(std::size_t choice, std::span<const engine::SampledToken> tokens) {
  for (const engine::SampledToken& token : tokens) take(choice, token);
}

void TurnRun::take(std::size_t index, const engine::SampledToken& token) {
  Choice& choice = choices_[index];
  if (choice.has_ended) return;
  choice.ids.push_back(token.id);
  if (read_.request.logprobs) choice.logprobs.push_back(token.logprob);
  if (profile_->is_stop(token.id)) {
    tell(choice.builder->feed({}, described(token)));
    return;
  }
  if (choice.parser->parser().place() == parse::Place::kReasoning) ++reasoning_tokens_;
  auto events = choice.parser->feed(std::span(&token.id, 1));
  if (!events.ok()) return;  // an id beyond the tokenizer has no text; it stays in the ids
  tell(choice.builder->feed(cut_at_stop(choice, std::move(events).value(), false), described(token)));
  if (choice.stop_text.empty()) return;
  end_choice(index, apis::Finish::kStopText);
  const auto runs = [](const Choice& one) { return !one.has_ended; };
  if (std::none_of(choices_.begin(), choices_.end(), runs)) submission_->cancel();
}

namespace {

// Where the first of the stop texts begins in `text`; its size where none does.  `stop` is that text.
std::size_t first_stop(const std::string& text, const std::vector<std::string>& stops, std::string& stop) {
  std::size_t first = text.size();
  for (const std::string& one : stops) {
    const std::size_t at = text.find(one);
    if (at == std::string::npos || (at >= first && !stop.empty())) continue;
    first = at;
    stop = one;
  }
  return first;
}

// How much of the text is certain: its end may still become a stop text.
std::size_t certain_size(std::string_view text, const std::vector<std::string>& stops) {
  std::size_t certain = text.size();
  for (const std::string& stop : stops) {
    for (std::size_t size = std::min(stop.size() - 1, text.size()); size > 0; --size) {
      if (text.substr(text.size() - size) != std::string_view(stop).substr(0, size)) continue;
      certain = std::min(certain, text.size() - size);
      break;
    }
  }
  return certain;
}

}  // namespace

std::vector<parse::Event> TurnRun::cut_at_stop(Choice& choice, std::vector<parse::Event> events, bool is_last) {
  const std::vector<std::string>& stops = read_.request.stops;
  if (stops.empty()) return events;
  std::vector<parse::Event> out;
  const auto release = [&](std::size_t size) {
    if (size == 0) return;
    parse::Event content;
    content.kind = parse::EventKind::kContent;
    content.text = choice.held.substr(0, size);
    choice.held.erase(0, size);
    out.push_back(std::move(content));
  };
  for (parse::Event& event : events) {
    if (event.kind != parse::EventKind::kContent) {
      release(choice.held.size());  // a stop text is content as a whole
      out.push_back(std::move(event));
      continue;
    }
    choice.held += event.text;
    const std::size_t stop = first_stop(choice.held, stops, choice.stop_text);
    if (!choice.stop_text.empty()) {
      release(stop);
      choice.held.clear();
      return out;
    }
    release(certain_size(choice.held, stops));
  }
  if (is_last) release(choice.held.size());
  return out;
}

void TurnRun::end_choice(std::size_t index, apis::Finish finish) {
  Choice& choice = choices_[index];
  choice.has_ended = true;
  // Who is gone was not shown what was held back.
  const bool is_held = finish != apis::Finish::kStopText && !exchange_.is_gone();
  if (is_held) tell(choice.builder->feed(cut_at_stop(choice, choice.parser->close(), true)));
  tell(choice.builder->finish(finish, choice.stop_text));
}

void TurnRun::on_end(const engine::Outcome& outcome) {
  const auto self = shared_from_this();  // leave() lets go of it
  const bool has_ids =
      std::any_of(choices_.begin(), choices_.end(), [](const Choice& one) { return !one.ids.empty(); });
  if (outcome.error && !has_ids) {
    const std::size_t limit = read_.model->serving->capabilities().context_tokens;
    fail(fault_of_engine(read_.request.api, *outcome.error, plan_.ids.size(), limit));
    return leave();
  }
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (!choices_[i].has_ended) end_choice(i, finish_of(outcome.choices[i]));
  }
  keep_all(outcome);
}

void TurnRun::fail(const apis::Fault& fault) {
  ++state_->counters.failed;
  if (!is_streaming_) return answer_fault(exchange_, read_.request.api, fault);
  send(writer_->fail(fault));
  exchange_.finish();
}

// --- the end ----------------------------------------------------------------------------------------------------------

json::Value TurnRun::message_of(const apis::Choice& choice) const {
  json::Object message{{"role", "assistant"}, {"content", choice.joined(apis::PartKind::kContent)}};
  if (const std::string reasoning = choice.joined(apis::PartKind::kReasoning); !reasoning.empty())
    message.set("reasoning_content", reasoning);
  json::Array calls;
  for (const apis::Part& part : choice.parts) {
    if (part.kind != apis::PartKind::kCall) continue;
    calls.push_back(json::Object{{"id", part.call_id},
                                 {"type", "function"},
                                 {"function", json::Object{{"name", part.name}, {"arguments", part.text}}}});
  }
  if (!calls.empty()) message.set("tool_calls", std::move(calls));
  return message;
}

void TurnRun::keep_all(const engine::Outcome& outcome) {
  unkept_ = choices_.size();
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    const apis::Choice& told = collector_->choices()[i];
    const json::Value message = message_of(told);
    spans::NewReply reply;
    reply.key = choices_[i].key;
    reply.completion = choices_[i].ids;
    reply.logprobs = choices_[i].logprobs;
    reply.finish = outcome.error ? spans::Finish::kFailed : kept_finish(told.finish);
    reply.inexact = !outcome.choices[i].inexact.empty();
    reply.message = json::to_compact(message);
    reply.time_ms = state_->parts.now_ms();
    reply.reasoned = message.find("reasoning_content") != nullptr;
    if (call_id_shape_ != spans::CallIdShape::kAny) {
      for (const apis::Part& part : told.parts) {
        if (part.kind == apis::PartKind::kCall) reply.ids.push_back(part.call_id);
      }
    }
    reply.session_name = read_.request.session.session;
    json::Object facts = explained(outcome.usage);
    facts.set("api", chat::to_string(read_.request.api));
    facts.set("request_id", meta_.id);
    reply.facts = json::to_compact(facts);
    net::Loop& loop = state_->loop;
    const auto kept = [self = shared_from_this(), &loop, outcome](const Status& done) {
      loop.post([self, outcome, error = done.ok() ? std::optional<Error>() : done.error()] {
        if (error) self->lost_ = error;
        if (--self->unkept_ == 0) self->complete(outcome);
      });
    };
    const auto session = state_->parts.spans->keep(*scope_, plan_, std::move(reply), kept);
    if (!session.ok()) kept(session.error());
  }
}

json::Object TurnRun::explained(const engine::Usage& usage) const {
  json::Object out{{"turn", spans::mint_id("turn", choices_.front().key, 0)},
                   {"how", json::name_in(spans::kHowNames, plan_.how)},
                   {"expected", plan_.expected},
                   {"cached", usage.cached_tokens ? json::Value(*usage.cached_tokens) : json::Value()},
                   {"appended", plan_.appended},
                   {"rendered", plan_.rendered},
                   {"reattached_reasoning", plan_.reattached_reasoning}};
  json::Value cause;
  if (plan_.cause) {
    json::Object why{{"name", plan_.cause->name}, {"path", plan_.cause->path}, {"sentence", plan_.cause->sentence}};
    if (plan_.cause->template_line > 0) why.set("template_line", static_cast<std::int64_t>(plan_.cause->template_line));
    why.set("lost_tokens", plan_.cause->lost_tokens);
    cause = std::move(why);
  }
  out.set("cause", std::move(cause));
  json::Array notes;
  for (const std::string& note : plan_.notes) notes.emplace_back(note);
  out.set("notes", std::move(notes));
  return out;
}

void TurnRun::complete(const engine::Outcome& outcome) {
  const auto self = shared_from_this();
  if (lost_) {
    // What cannot be gone on with is not told to be complete.
    fail(fault_of_store(*lost_));
    return leave();
  }
  const engine::Usage& usage = outcome.usage;
  apis::TurnEnd end;
  end.usage.prompt = static_cast<std::int64_t>(plan_.ids.size());
  if (usage.cached_tokens) end.usage.cached = static_cast<std::int64_t>(*usage.cached_tokens);
  for (const Choice& choice : choices_) end.usage.completion += static_cast<std::int64_t>(choice.ids.size());
  end.usage.reasoning = reasoning_tokens_;
  end.time_s = state_->parts.now_ms() / 1000;
  if (read_.request.explain) end.rondo = explained(usage);
  Counters& counters = state_->counters;
  counters.prompt_tokens += plan_.ids.size();
  counters.cached_tokens += usage.cached_tokens.value_or(0);
  counters.completion_tokens += static_cast<std::uint64_t>(end.usage.completion);
  ++counters.by_way[std::string(json::name_in(spans::kHowNames, plan_.how))];

  const json::Value body = apis::reply_body(read_.request, meta_, collector_->choices(), end);
  if (read_.request.api == chat::Api::kResponses && read_.request.responses.store) {
    const json::Value* output = body.find("output");
    state_->responses.keep(meta_.id,
                           {.input = read_.input,
                            .output = output != nullptr && output->is_array() ? output->as_array() : json::Array{},
                            .body = body});
  }
  if (outcome.error && is_streaming_) {
    fail(fault_of_engine(read_.request.api, *outcome.error, plan_.ids.size(), 0));
  } else if (is_streaming_) {
    send(writer_->finish(end));
    exchange_.finish();
  } else {
    answer_json(exchange_, 200, body, headers(&usage));
  }
  leave();
}

void TurnRun::leave() {
  submission_.reset();
  state_->running.erase(this);
}

}  // namespace rondo::gateway
