// Ends a turn: first it is kept, then its reply is complete.
#include <algorithm>
#include <utility>

#include "apis/custom_input.h"
#include "chat/api_tools.h"
#include "gateway/diagnostics.h"
#include "gateway/engine_terms.h"
#include "gateway/turn_run.h"
#include "json/print.h"

namespace rondo::gateway {
namespace {

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

}  // namespace

json::Value TurnRun::message_of(const apis::Choice& choice) const {
  json::Object message{{"role", "assistant"}, {"content", choice.joined(apis::PartKind::kContent)}};
  if (const std::string reasoning = choice.joined(apis::PartKind::kReasoning); !reasoning.empty())
    message.set("reasoning_content", reasoning);
  json::Array calls;
  for (const apis::Part& part : choice.parts) {
    if (part.kind != apis::PartKind::kCall) continue;
    const chat::ApiTool* tool = apis::find_tool(read_.request.tool_table, part.name);
    if (tool != nullptr && tool->kind == chat::ApiTool::Kind::kCustom) {
      // The client has only the text, whatever the arguments were.
      calls.push_back(chat::custom_call(part.call_id, part.name, apis::custom_input(part.text)));
      continue;
    }
    calls.push_back(json::Object{{"id", part.call_id},
                                 {"type", "function"},
                                 {"function", json::Object{{"name", part.name}, {"arguments", part.text}}}});
  }
  if (!calls.empty()) message.set("tool_calls", std::move(calls));
  return message;
}

spans::NewReply TurnRun::reply_of(std::size_t choice, const engine::Outcome& outcome) const {
  const apis::Choice& told = answer_.collector->choices()[choice];
  const json::Value message = message_of(told);
  spans::NewReply reply;
  reply.key = choices_[choice].key;
  if (is_cut_) reply.key.bytes = state_->parts.random();  // not the one that the client has
  reply.completion = choices_[choice].ids;
  reply.logprobs = choices_[choice].logprobs;
  reply.finish = !broken_        ? kept_finish(told.finish)
                 : outcome.error ? spans::Finish::kFailed
                                 : spans::Finish::kCancelled;
  reply.inexact = !outcome.choices[choice].inexact.empty();
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
  facts.set("prompt", prompt_facts(read_.request));
  facts.set("api", chat::to_string(read_.request.api));
  facts.set("request_id", read_.visit->request_id);
  reply.facts = json::to_compact(facts);
  return reply;
}

void TurnRun::keep_all(const engine::Outcome& outcome) {
  kept_.waiting = choices_.size();
  if (!plan_.cause) plan_.cause = loss_in_engine(plan_, outcome.usage, replica_);
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    spans::NewReply reply = reply_of(i, outcome);
    net::Loop& loop = state_->loop;
    const auto kept = [self = shared_from_this(), &loop, outcome](const Status& done) {
      loop.post([self, outcome, error = done.ok() ? std::optional<Error>() : done.error()] {
        if (error) self->kept_.lost = error;
        if (--self->kept_.waiting == 0) self->complete(outcome);
      });
    };
    const auto session = state_->parts.spans->keep(*scope_, plan_, std::move(reply), kept);
    if (!session.ok()) kept(session.error());
    if (session.ok() && i == 0) kept_.session = spans::to_hex(session.value());
  }
}

json::Object TurnRun::explained(const engine::Usage& usage) const {
  json::Object out{{"session", kept_.session.empty() ? json::Value() : json::Value(kept_.session)},
                   {"turn", spans::mint_id("turn", choices_.front().key, 0)},
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
  for (const std::string& warning : read_.request.warnings) notes.emplace_back(warning);
  out.set("notes", std::move(notes));
  return out;
}

void TurnRun::complete(const engine::Outcome& outcome) {
  const auto self = shared_from_this();
  const engine::Usage& usage = outcome.usage;
  apis::TurnEnd end;
  end.usage.prompt = static_cast<std::int64_t>(plan_.ids.size());
  if (usage.cached_tokens) end.usage.cached = static_cast<std::int64_t>(*usage.cached_tokens);
  for (const Choice& choice : choices_) end.usage.completion += static_cast<std::int64_t>(choice.ids.size());
  end.usage.reasoning = reasoning_tokens_;
  end.time_s = state_->parts.now_ms() / 1000;
  end.diagnostics = answer_.meta.diagnostics;
  end.prompt = std::move(answer_.prompt);
  if (read_.request.explain) end.rondo = explained(usage);
  count(usage, end.usage.completion);

  WholeReply whole{.headers = headers(&usage),
                   .body = apis::reply_body(read_.request, answer_.meta, answer_.collector->choices(), end)};
  // A reply that the client could not continue is not reported as complete.
  whole.fault = kept_.lost ? fault_of_store(*kept_.lost) : broken_;
  if (whole.fault && !answer_.is_streaming) {
    answer_.sink->refuse(read_.request.api, *whole.fault);
    return leave();
  }
  if (whole.fault) {
    read_.visit->fault_status = whole.fault->status();
    answer_.sink->send(answer_.writer->fail(*whole.fault));
  } else if (answer_.is_streaming) {
    send_told();
    answer_.sink->send(answer_.writer->finish(end));
  }
  answer_.sink->finish(std::move(whole));
  leave();
}

// Counts the turn in the log and the metrics.
void TurnRun::count(const engine::Usage& usage, std::int64_t completion) {
  Visit& visit = *read_.visit;
  if (usage.cached_tokens) visit.cached_tokens = static_cast<std::int64_t>(*usage.cached_tokens);
  visit.completion_tokens = completion;
  state_->metrics.turn({.how = visit.how,
                        .cause = plan_.cause ? plan_.cause->name : "",
                        .prompt = plan_.ids.size(),
                        .cached = usage.cached_tokens.value_or(0),
                        .completion = static_cast<std::size_t>(completion)});
}

}  // namespace rondo::gateway
