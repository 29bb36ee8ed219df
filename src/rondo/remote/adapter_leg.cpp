#include <algorithm>
#include <utility>

#include "json/parse.h"
#include "json/print.h"
#include "remote/adapter_run.h"
#include "remote/wire_json.h"

namespace rondo::remote {
namespace {

constexpr std::size_t kRefusalBytes = std::size_t{64} << 10U;

std::vector<engine::SampledToken> tokens_of(const net::Response& response) {
  const auto body = json::parse(response.body);
  const json::Value* tokens = body.ok() ? body.value().find("tokens") : nullptr;
  std::vector<engine::SampledToken> out;
  if (response.status != 200 || tokens == nullptr || !tokens->is_array()) return out;
  for (const json::Value& each : tokens->as_array()) {
    const auto id = each.is_object() ? id_in(each, "id") : std::nullopt;
    out.push_back({.id = static_cast<engine::TokenId>(id ? *id : each.to_int64().value_or(-1))});
  }
  return out;
}

std::string how_many(std::size_t count) { return std::to_string(count) + (count == 1 ? " id" : " ids"); }

}  // namespace

AdapterLeg::AdapterLeg(AdapterRun& run, std::size_t first, std::size_t count, std::string id)
    : run_(run), first_(first), count_(count), id_(std::move(id)) {}

void AdapterLeg::begin(std::string body) {
  Adapter& adapter = run_.adapter();
  ++adapter.running_;
  call_ = adapter.client_.stream(post_of(adapter.info(), adapter.info().path, std::move(body)), *this);
}

void AdapterLeg::close() {
  if (std::exchange(is_done_, true)) return;
  --run_.adapter().running_;
  recovery_.reset();
  held_.clear();
  const bool is_running = call_ && !ended_;
  call_.reset();
  if (is_running) run_.adapter().tell_to_abort(id_);
}

void AdapterLeg::on_head(int status, const net::Headers& /*headers*/) {
  status_ = status;
  const auto self = run_.shared_from_this();
  if (status == 200) run_.taken_up();
}

void AdapterLeg::on_data(std::string_view bytes) {
  const auto self = run_.shared_from_this();
  if (status_ != 200) {
    refused_.append(bytes.substr(0, kRefusalBytes - std::min(kRefusalBytes, refused_.size())));
    return;
  }
  const Status status = sse_.read(bytes, [this](const net::SseEvent& raw) {
    if (is_done_ || raw.data.empty()) return;
    auto event = run_.adapter().dialect_->read(raw.data, reading_);
    if (!event.ok()) return run_.fail(event.error());
    if (recovery_ || !held_.empty()) {
      held_.push_back(std::move(event).value());
    } else {
      take(std::move(event).value());
    }
  });
  if (!status.ok()) run_.fail(Error(ErrorCode::kEngine, status.error().message, run_.adapter().info().url));
}

void AdapterLeg::take(Event event) {
  run_.note_usage(event);
  if (event.completion_tokens) counted_ = *event.completion_tokens;
  if (event.error) return run_.fail(std::move(*event.error));
  // A choice may end at a stop id that the server does not know.  Then it continues there, and the server must be told.
  if (all_ended() && !event.parts.empty() && !event.is_last && !run_.adapter().dialect_->knows_stop_ids())
    return complete();
  for (Part& part : event.parts) {
    if (is_done_) return;
    if (part.choice >= count_)
      return run_.fail(
          Error(ErrorCode::kEngine, "an event is of a choice that was not asked for", run_.adapter().info().url));
    take_part(std::move(part));
  }
}

void AdapterLeg::take_part(Part part) {
  const std::size_t choice = first_ + part.choice;
  if (run_.has_ended(choice)) return;
  part.missing = std::min(part.missing, run_.request().max_tokens);
  if (part.missing > 0 && !part.stop && !part.text.empty() && !recovery_) return recover_text(std::move(part));
  const bool is_greedy =
      run_.request().sampling.temperature == 0 && run_.request().grammar.dialect == engine::Grammar::Dialect::kNone;
  const bool is_llama = run_.adapter().info().kind == ServerKind::kLlamaServer;
  if (part.missing > 0 && part.stop && is_llama && is_greedy && !recovery_) return recover_tail(std::move(part));
  if (part.missing > 0)
    run_.note_inexact(choice, "the server counts " + how_many(part.missing) + " that it did not tell");
  run_.deliver(choice, std::move(part.tokens));
  if (is_done_ || !part.stop) return;
  const std::size_t told = run_.told(choice);
  const std::size_t sampled = std::min(part.sampled.value_or(0), run_.request().max_tokens);
  if (sampled > told && part.missing == 0)
    run_.note_inexact(choice, "the server counts " + how_many(sampled - told) + " that it did not tell");
  run_.end_choice(choice, part);
}

// The text of the withheld ids and of the reported ones has arrived.  The tokenizer turns it into ids.
void AdapterLeg::recover_text(Part part) {
  std::string body =
      json::to_compact(json::Object{{"content", part.text}, {"add_special", false}, {"parse_special", false}});
  ask("/tokenize", std::move(body), std::move(part), &AdapterLeg::read_tokenized);
}

// Nothing is reported about trailing ids that do not form a whole character.  They are sampled once more, which gives
// the same ids if the likeliest is always taken.
void AdapterLeg::recover_tail(Part part) {
  std::vector<engine::TokenId> ids = run_.request().prompt;
  const std::vector<engine::TokenId>& sampled = run_.ids(first_ + part.choice);
  ids.insert(ids.end(), sampled.begin(), sampled.end());
  for (const engine::SampledToken& token : part.tokens) ids.push_back(token.id);
  const json::Object rest{{"n_predict", part.missing},
                          {"stream", false},
                          {"return_tokens", true},
                          {"cache_prompt", true},
                          {"temperature", 0.0}};
  ask(run_.adapter().info().path, object_with_ids("prompt", ids, rest), std::move(part), &AdapterLeg::read_tail);
}

void AdapterLeg::ask(const std::string& path, std::string body, Part part,
                     std::vector<engine::SampledToken> (AdapterLeg::*read)(const net::Response&, const Part&)) {
  if (call_ && !ended_) call_->pause();
  recovery_ = run_.adapter().client_.fetch(
      post_of(run_.adapter().info(), path, std::move(body)),
      [this, part = std::move(part), read](Result<net::Response> response) mutable {
        const auto self = run_.shared_from_this();
        const auto call = std::move(recovery_);
        std::vector<engine::SampledToken> tokens;
        if (response.ok()) tokens = (this->*read)(response.value(), part);
        if (!tokens.empty()) {
          part.missing = 0;
          part.tokens = std::move(tokens);
        }
        part.text.clear();
        const bool is_lost = part.missing > 0;
        const std::size_t choice = first_ + part.choice;
        if (is_lost) {
          run_.note_inexact(choice, how_many(part.missing) + " of a character in pieces were not told by the server");
          part.missing = 0;
        }
        take_part(std::move(part));
        take_held();
      });
}

// The ids of the text, if they end with the reported ones and are as many as the server counts.
std::vector<engine::SampledToken> AdapterLeg::read_tokenized(const net::Response& response, const Part& part) {
  std::vector<engine::SampledToken> out = tokens_of(response);
  if (out.size() != part.missing + part.tokens.size()) return {};
  for (std::size_t i = 0; i < part.tokens.size(); ++i) {
    if (out[part.missing + i].id != part.tokens[i].id) return {};
    out[part.missing + i] = part.tokens[i];
  }
  return out;
}

std::vector<engine::SampledToken> AdapterLeg::read_tail(const net::Response& response, const Part& part) {
  std::vector<engine::SampledToken> out = tokens_of(response);
  if (out.size() != part.missing) return {};
  out.insert(out.begin(), part.tokens.begin(), part.tokens.end());
  return out;
}

void AdapterLeg::take_held() {
  while (!held_.empty() && !recovery_ && !is_done_) {
    Event event = std::move(held_.front());
    held_.pop_front();
    take(std::move(event));
  }
  if (is_done_ || recovery_) return;
  if (ended_) return complete();
  call_->resume();
}

bool AdapterLeg::all_ended() const {
  for (std::size_t i = 0; i < count_; ++i) {
    if (!run_.has_ended(first_ + i)) return false;
  }
  return true;
}

void AdapterLeg::on_end(const net::Ending& ending) {
  const auto self = run_.shared_from_this();
  ended_ = ending;
  if (!recovery_ && held_.empty()) complete();
}

// The answer is over, or the rest of it does not matter.
void AdapterLeg::complete() {
  if (is_done_) return;
  const ServerInfo& info = run_.adapter().info();
  const bool is_good = status_ == 200 && all_ended();
  std::optional<Error> error;
  if (!is_good && ended_ && !ended_->status.ok()) {
    error = ended_->status.error();
  } else if (!is_good && status_ != 200) {
    error = run_.adapter().dialect_->refusal(status_, refused_, run_.request());
  } else if (!is_good) {
    error = Error(ErrorCode::kIo, "the answer ended before its last event", info.url);
  }
  if (error) return run_.fail(std::move(*error));
  std::size_t told = 0;
  for (std::size_t i = 0; i < count_; ++i) told += run_.told(first_ + i);
  for (std::size_t i = 0; counted_ > told && i < count_; ++i)
    run_.note_inexact(first_ + i, "the server counts " + how_many(counted_ - told) + " that it did not tell");
  close();
  run_.leg_done();
}

}  // namespace rondo::remote
