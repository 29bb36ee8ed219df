// Runs several conversations at once on one engine.
#include <algorithm>
#include <memory>
#include <utility>

#include "base/task_queue.h"
#include "demo/demo_driver.h"
#include "demo/table.h"
#include "engine/embedded.h"
#include "engine/fake.h"
#include "engine/forced_ids.h"
#include "render/encode.h"
#include "render/join.h"
#include "render/turn.h"

namespace rondo::demo {
namespace {

using tokenizer::TokenId;

// What one turn asks for, both ways, and what the model writes.
struct Turn {
  std::vector<TokenId> bridged;
  std::vector<TokenId> rerendered;
  std::vector<TokenId> sampled;
};

// The prompt of a client that has only the messages; empty if the template refuses them.
std::vector<TokenId> render_again(const session::Session& session) {
  const render::RolloutModel& model = session.rollout().model();
  const auto rendered = render::render_messages(model.context(), session.messages(), true);
  if (!rendered.ok()) return {};
  return render::ids_of(
      render::encode_range(model.context(), rendered.value(), 0, rendered.value().text.size(), model.parts().specials));
}

// The conversation's turns, found without weights.
Result<std::vector<Turn>> turns_of(const EmbeddedModel& model, const DemoData& data, std::size_t index) {
  chat::Conversation conversation = opening(data, data.agent, {}, " (case " + std::to_string(index + 1) + ")");
  conversation.bos_token = model.bos_token;
  conversation.eos_token = model.eos_token;
  engine::Fake fake(model.engine->describe(), {});
  // This does not ask why a re-render breaks, which would take longer than all the rest.
  auto driver =
      Driver::start({model.chat_template, model.tokenizer, fake}, conversation, data.agent, {.compare = false});
  if (!driver.ok()) return driver.error();
  std::vector<Turn> turns;
  for (std::size_t i = 0; i < data.agent.size(); ++i) {
    if (const Status prepared = driver.value().prepare(i); !prepared.ok()) return prepared.error();
    Script& script = driver.value().script();
    const session::Session& session = driver.value().session();
    std::vector<TokenId> rerendered = render_again(session);
    fake.add(std::vector<TokenId>(script.size(), 0));  // the script has the ids to use instead
    engine::GenerateOptions generate;
    generate.max_tokens = script.size();
    generate.constraint = &script;
    const Result<session::Turn> done = driver.value().session().step(generate);
    if (!done.ok()) return done.error();
    const std::span<const TokenId> all = driver.value().session().ids();
    const std::span<const TokenId> prompt = all.first(done.value().prompt_tokens);
    const std::span<const TokenId> sampled = all.subspan(done.value().sampled_begin, done.value().generated());
    Turn turn{
        .bridged = {prompt.begin(), prompt.end()},
        .rerendered = rerendered.empty() ? std::vector<TokenId>(prompt.begin(), prompt.end()) : std::move(rerendered),
        .sampled = {sampled.begin(), sampled.end()}};
    turns.push_back(std::move(turn));
  }
  return turns;
}

// A client that takes its turns one after the other.
class Client final : public engine::Listener {
 public:
  struct Shared {
    engine::Serving& serving;
    TaskQueue& tasks;
    const std::function<double()>& clock;
    bool is_rerendered = false;
    std::size_t running = 0;
    DemoTogetherWay way{};
    std::vector<double> first_token_seconds{};
    std::optional<Error> failure{};
  };

  Client(Shared& shared, const std::vector<Turn>& turns) : shared_(shared), turns_(turns) { ++shared_.running; }

  void ask() {
    running_.reset();
    if (next_ == turns_.size() || shared_.failure) {
      --shared_.running;
      return;
    }
    const Turn& turn = turns_[next_++];
    engine::Request request;
    request.prompt = shared_.is_rerendered ? turn.rerendered : turn.bridged;
    request.max_tokens = turn.sampled.size();
    request.constraint = [&turn](std::size_t) { return std::make_unique<engine::ForcedIds>(turn.sampled); };
    asked_ = shared_.clock ? shared_.clock() : 0.0;
    has_first_ = false;
    running_ = shared_.serving.submit(std::move(request), *this);
  }

  void on_start(const engine::Start&) override {}
  void on_tokens(std::size_t, std::span<const engine::SampledToken>) override {
    if (!has_first_ && shared_.clock) shared_.first_token_seconds.push_back(shared_.clock() - asked_);
    has_first_ = true;
  }
  void on_end(const engine::Outcome& outcome) override {
    if (outcome.error) shared_.failure = outcome.error;
    shared_.way.prompt_tokens += outcome.usage.prompt_tokens;
    shared_.way.prefilled += outcome.usage.prompt_tokens - outcome.usage.cached_tokens.value_or(0);
    shared_.tasks.post([this] { ask(); });
  }

 private:
  Shared& shared_;
  const std::vector<Turn>& turns_;
  std::size_t next_ = 0;
  std::unique_ptr<engine::Submission> running_;
  double asked_ = 0;
  bool has_first_ = false;
};

Result<DemoTogetherWay> play(const EmbeddedModel& model, const std::vector<std::vector<Turn>>& conversations,
                             bool is_rerendered, const std::function<double()>& clock) {
  TaskQueue tasks;
  engine::EmbeddedOptions options;
  options.parallel = conversations.size();
  options.llama.threads = model.engine->describe().threads;
  options.llama.context_tokens = std::min<std::size_t>(model.engine->describe().context_tokens, 8192);
  auto embedded = engine::Embedded::load(model.path, options);
  if (!embedded.ok()) return embedded.error();
  const std::unique_ptr<engine::Serving> serving = embedded.value()->serve(tasks);
  Client::Shared shared{.serving = *serving, .tasks = tasks, .clock = clock, .is_rerendered = is_rerendered};
  std::vector<std::unique_ptr<Client>> clients;
  const double begin = clock ? clock() : 0.0;
  for (const std::vector<Turn>& turns : conversations) clients.push_back(std::make_unique<Client>(shared, turns));
  for (const auto& client : clients) client->ask();
  tasks.run_until([&] { return shared.running == 0; });
  if (shared.failure) return *shared.failure;
  if (!clock) return shared.way;
  std::vector<double>& first = shared.first_token_seconds;
  std::sort(first.begin(), first.end());
  shared.way.seconds = clock() - begin;
  if (!first.empty()) {
    shared.way.first_token_seconds = first[first.size() / 2];
    shared.way.slow_first_token_seconds = first[first.size() * 19 / 20];
  }
  return shared.way;
}

std::string milliseconds(const std::optional<double>& seconds) {
  return seconds ? std::to_string(static_cast<long>(*seconds * 1000 + 0.5)) : "-";
}

json::Value way_json(const DemoTogetherWay& way) {
  json::Object out{{"prompt_tokens", way.prompt_tokens}, {"prefilled", way.prefilled}};
  if (way.seconds) out.set("seconds", *way.seconds);
  if (way.first_token_seconds) out.set("first_token_seconds", *way.first_token_seconds);
  if (way.slow_first_token_seconds) out.set("slow_first_token_seconds", *way.slow_first_token_seconds);
  return out;
}

}  // namespace

Result<DemoTogether> run_together(const EmbeddedModel& model, const DemoData& data, std::size_t count,
                                  const std::function<double()>& clock) {
  DemoTogether run;
  std::vector<std::vector<Turn>> conversations;
  for (std::size_t i = 0; i < count; ++i) {
    auto turns = turns_of(model, data, i);
    if (!turns.ok()) return turns.error();
    run.turns += turns.value().size();
    conversations.push_back(std::move(turns).value());
  }
  run.conversations = conversations.size();
  auto bridged = play(model, conversations, false, clock);
  if (!bridged.ok()) return bridged.error();
  auto rerendered = play(model, conversations, true, clock);
  if (!rerendered.ok()) return rerendered.error();
  run.bridged = std::move(bridged).value();
  run.rerendered = std::move(rerendered).value();
  return run;
}

std::string together_text(const DemoTogether& run) {
  const std::vector<Column> columns = {{"", Align::kLeft},          {"prompt\ntokens"}, {"\nprefilled"},
                                       {"first token\nmiddle, ms"}, {"\n95 %, ms"},     {"all\nms"}};
  const auto row = [](const char* name, const DemoTogetherWay& way) {
    return std::vector<std::string>{name,
                                    std::to_string(way.prompt_tokens),
                                    std::to_string(way.prefilled),
                                    milliseconds(way.first_token_seconds),
                                    milliseconds(way.slow_first_token_seconds),
                                    milliseconds(way.seconds)};
  };
  return std::to_string(run.conversations) + " such conversations at once on one engine, " + std::to_string(run.turns) +
         " turns in all.\n" + format_table(columns, {row("bridge", run.bridged), row("re-render", run.rerendered)});
}

json::Value to_json(const DemoTogether& run) {
  return json::Object{{"conversations", run.conversations},
                      {"turns", run.turns},
                      {"bridge", way_json(run.bridged)},
                      {"rerender", way_json(run.rerendered)}};
}

}  // namespace rondo::demo
