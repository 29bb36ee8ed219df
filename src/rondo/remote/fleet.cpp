#include "remote/fleet.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <optional>
#include <span>
#include <utility>

namespace rondo::remote {
namespace {

using cache::Router;

// For a server that does not report its cache size: more than most have, and small enough to remember.
constexpr std::size_t kUnknownCache = std::size_t{8} << 20U;

// The request itself is at fault, so another replica would refuse it too.
bool is_of_request(const Error& error) {
  return error.code == ErrorCode::kInvalidArgument || error.code == ErrorCode::kLimit;
}

engine::Capabilities common(const std::vector<ServerInfo>& servers) {
  engine::Capabilities out = capabilities_of(servers.front());
  out.parallel = 0;
  for (const ServerInfo& info : servers) {
    const engine::Capabilities one = capabilities_of(info);
    if (out.context_tokens == 0 || (one.context_tokens > 0 && one.context_tokens < out.context_tokens))
      out.context_tokens = one.context_tokens;
    out.parallel += one.parallel;
    out.tells_cached_tokens = out.tells_cached_tokens && one.tells_cached_tokens;
    out.tells_prompt_logprobs = out.tells_prompt_logprobs && one.tells_prompt_logprobs;
    std::erase_if(out.grammars, [&one](engine::Grammar::Dialect dialect) {
      return std::ranges::find(one.grammars, dialect) == one.grammars.end();
    });
  }
  return out;
}

}  // namespace

// One request, sent to one replica after the other until one has reported an id.
class FleetRun final : public engine::Submission, public engine::Listener {
 public:
  FleetRun(Fleet& fleet, engine::Request request, engine::Listener& listener)
      : fleet_(fleet), request_(std::move(request)), listener_(listener), told_(request_.choices) {
    route();
  }
  ~FleetRun() override {
    if (ticket_) fleet_.router_.drop(*ticket_);
  }
  FleetRun(const FleetRun&) = delete;
  FleetRun& operator=(const FleetRun&) = delete;

  void cancel() override {
    if (is_cancelled_ || !inner_) return;
    is_cancelled_ = true;
    inner_->cancel();
  }

  void on_start(const engine::Start& /*start*/) override {}

  void on_prompt(std::span<const engine::SampledToken> tokens) override {
    begin();
    listener_.on_prompt(tokens);
  }

  void on_tokens(std::size_t choice, std::span<const engine::SampledToken> tokens) override {
    begin();
    for (const engine::SampledToken& token : tokens) told_[choice].push_back(token.id);
    listener_.on_tokens(choice, tokens);
  }

  void on_end(const engine::Outcome& outcome) override {
    patience_.cancel();
    if (!outcome.error && (has_begun_ || !is_cancelled_)) {
      settle(outcome);
      return finish(outcome);
    }
    if (is_cancelled_ || is_of_request(*outcome.error)) {
      fleet_.router_.drop(*std::exchange(ticket_, std::nullopt));
      return finish(outcome);
    }
    give_up(*outcome.error);
    if (has_begun_ || tried_.size() >= fleet_.options_.attempts || !route()) finish(outcome);
  }

 private:
  // Sends the request to the best replica that was not tried.  False if there is none.
  bool route() {
    const Router::Ask ask{.ids = request_.prompt,
                          .tenant = request_.tenant,
                          .affinity = request_.affinity,
                          .now_ms = fleet_.now_ms(),
                          .without = tried_};
    const auto choice = fleet_.router_.choose(ask);
    if (!choice) return false;
    ticket_ = fleet_.router_.begin(choice->replica, ask);
    tried_.push_back(choice->replica);
    Fleet::Replica& replica = fleet_.replicas_[choice->replica];
    ++replica.requests;
    expected_ = ticket_->expected;
    if (fleet_.options_.first_token.count() > 0) {
      patience_ = fleet_.loop_.after(fleet_.options_.first_token, [this] { lose_patience(); });
    }
    inner_ = replica.adapter->submit(request_, *this);
    return true;
  }

  void lose_patience() {
    inner_.reset();
    engine::Outcome outcome;
    outcome.choices.resize(request_.choices);
    for (engine::Ending& ending : outcome.choices) ending.stop = engine::StopReason::kCancelled;
    outcome.usage.prompt_tokens = request_.prompt.size();
    outcome.error =
        Error(ErrorCode::kIo, "no id within " + std::to_string(fleet_.options_.first_token.count()) + " ms", address());
    on_end(outcome);
  }

  void give_up(const Error& error) {
    const Router::Replica replica = ticket_->replica;
    fleet_.router_.fail(*std::exchange(ticket_, std::nullopt), fleet_.now_ms());
    fleet_.failed(replica, error);
  }

  // What the answer says about the replica.
  void settle(const engine::Outcome& outcome) {
    Router::Ticket ticket = *std::exchange(ticket_, std::nullopt);
    Fleet::Replica& replica = fleet_.replicas_[ticket.replica];
    replica.fault.clear();
    replica.check.cancel();
    if (outcome.usage.cached_tokens) {
      replica.expected_tokens += expected_;
      replica.cached_tokens += *outcome.usage.cached_tokens;
    }
    const Router::Replica index = ticket.replica;
    const std::size_t prompt = request_.prompt.size();
    std::vector<engine::TokenId> ids;
    ids.reserve(prompt + told_[0].size());
    ids.assign(request_.prompt.begin(), request_.prompt.end());
    const auto of_choice = [&](std::size_t choice) -> const std::vector<engine::TokenId>& {
      ids.resize(prompt);
      ids.insert(ids.end(), told_[choice].begin(), told_[choice].end());
      return ids;
    };
    fleet_.router_.end(std::move(ticket), of_choice(0), outcome.usage.cached_tokens);
    for (std::size_t choice = 1; choice < told_.size(); ++choice) {
      const std::vector<engine::TokenId>& all = of_choice(choice);  // the last one has not been computed
      fleet_.router_.note(index, request_.tenant, std::span(all).first(all.size() - (told_[choice].empty() ? 0 : 1)));
    }
  }

  // The first id, what is told of the prompt, or the end has arrived.  From now on the request belongs to this replica.
  void begin() {
    if (std::exchange(has_begun_, true)) return;
    patience_.cancel();
    if (ticket_) fleet_.router_.progress(*ticket_, request_.prompt);
    const bool is_one_of_several = fleet_.replicas_.size() > 1;
    listener_.on_start({.expected_tokens = expected_, .replica = is_one_of_several ? address() : std::string()});
  }

  void finish(engine::Outcome outcome) {
    if (!outcome.error) begin();
    outcome.usage.expected_tokens = expected_;
    listener_.on_end(outcome);  // may destroy this
  }

  [[nodiscard]] const std::string& address() const { return fleet_.replicas_[tried_.back()].adapter->info().url; }

  Fleet& fleet_;
  engine::Request request_;
  engine::Listener& listener_;
  std::vector<std::vector<engine::TokenId>> told_;  // by choice
  std::vector<Router::Replica> tried_;
  std::optional<Router::Ticket> ticket_;
  std::unique_ptr<engine::Submission> inner_;
  net::Timer patience_;
  std::size_t expected_ = 0;
  bool has_begun_ = false;
  bool is_cancelled_ = false;
};

Fleet::Fleet(net::Loop& loop, net::Client& client, std::vector<ServerInfo> servers, const FleetOptions& options)
    : loop_(loop), client_(client), options_(options), router_(options.router) {
  assert(!servers.empty());
  capabilities_ = common(servers);
  for (ServerInfo& info : servers) {
    router_.add({.capacity = info.cache_tokens == 0 ? kUnknownCache : info.cache_tokens, .block = info.block});
    replicas_.emplace_back().adapter = std::make_unique<Adapter>(loop, client, std::move(info));
  }
}

Fleet::~Fleet() = default;

std::int64_t Fleet::now_ms() const {
  return std::chrono::duration_cast<net::Milliseconds>(loop_.now().time_since_epoch()).count();
}

std::unique_ptr<engine::Submission> Fleet::submit(engine::Request request, engine::Listener& listener) {
  return std::make_unique<FleetRun>(*this, std::move(request), listener);
}

void Fleet::failed(std::size_t index, const Error& error) {
  Replica& replica = replicas_[index];
  replica.fault = error.to_string();
  const std::int64_t pause = router_.state(static_cast<Router::Replica>(index)).left_out_until_ms - now_ms();
  replica.health.reset();
  replica.check =
      loop_.after(net::Milliseconds(std::max<std::int64_t>(pause, 1)), [this, index] { ask_health(index); });
}

void Fleet::ask_health(std::size_t index) {
  Replica& replica = replicas_[index];
  net::Timeouts timeouts;
  timeouts.connect = timeouts.first_byte = timeouts.idle = timeouts.whole = options_.health;
  net::Request request{.url = replica.adapter->info().url + "/health"};
  request.timeouts = timeouts;
  replica.health = client_.fetch(std::move(request), [this, index](const Result<net::Response>& response) {
    const auto call = std::move(replicas_[index].health);
    const auto id = static_cast<Router::Replica>(index);
    if (response.ok() && response.value().status == 200) return router_.readmit(id, now_ms());
    router_.fail(id, now_ms());
    failed(index, response.ok() ? Error(ErrorCode::kEngine,
                                        "its health is answered with status " + std::to_string(response.value().status))
                                : response.error());
  });
}

Fleet::Report Fleet::report(std::size_t index) const {
  const Replica& replica = replicas_[index];
  const auto id = static_cast<Router::Replica>(index);
  return {.url = replica.adapter->info().url,
          .state = router_.state(id),
          .is_out = router_.is_out(id, now_ms()),
          .fault = replica.fault,
          .requests = replica.requests,
          .expected_tokens = replica.expected_tokens,
          .cached_tokens = replica.cached_tokens};
}

}  // namespace rondo::remote
