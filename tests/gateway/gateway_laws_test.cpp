// The laws of the gateway over HTTP: random conversations of clients of the three chat APIs, through real templates, with an engine
// that samples what a model might: also what no template writes, cut off, spelled otherwise, with faults.
//
// A violation is a prompt that does not begin with the ids of the turn that the request goes on from, a kept turn that is not what
// the engine and the client saw, or text that became a control token.  RONDO_LAWS=N conversations for each template (with and
// without tools), from RONDO_SEED on; RONDO_LAWS_ROW=WORD: of rows with that word alone.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>

#include "core/model.h"
#include "gateway/service.h"
#include "net/client.h"
#include "net/server.h"
#include "spans/memory_store.h"
#include "spans/sqlite_store.h"
#include "tests/support/api_history.h"
#include "tests/support/corpus.h"
#include "tests/support/gateway_client.h"
#include "tests/support/http.h"
#include "tests/support/own_folder.h"
#include "tests/support/rollouts.h"
#include "tests/support/scripted_engine.h"

namespace rondo {
namespace {

using chat::Api;
using spans::TokenId;
using test::History;
using test::HistoryEntry;
using test::ShownReply;
using testing::Script;
using Ids = std::vector<TokenId>;

struct Counts {
  std::size_t conversations = 0, requests = 0, turns = 0, refused = 0, cut = 0, branches = 0, edits = 0, restarts = 0,
              twins = 0, violations = 0;
};

bool begins_with(const Ids& ids, const Ids& begin) {
  return ids.size() >= begin.size() && std::equal(begin.begin(), begin.end(), ids.begin());
}

// A gateway with one model, on a store that outlives it.
class World {
 public:
  World(std::shared_ptr<const core::Model> model, std::string name, spans::Store& store)
      : model_(std::move(model)),
        name_(std::move(name)),
        store_(store),
        engine_(loop_, [this](const engine::Request& request) { return say(request); }, [this] { leave_soon(); }) {
    client_ = net::Client::make(loop_, {}).value();
    start();
  }
  ~World() {
    client_.reset();
    server_.reset();
    service_.reset();
  }

  // What a process knows is gone; the store stays.
  void restart() {
    client_ = net::Client::make(loop_, {}).value();
    start();
  }

  struct Answer {
    int status = 0;
    std::string body;
    std::string prefix;  // x-rondo-prefix
  };
  // Until the answer is whole; or, of a stream in which the engine waits, as far as it came: then the client goes away.
  Answer ask(const std::string& path, const json::Object& body) {
    struct Handler final : net::StreamHandler {
      void on_head(int status, const net::Headers& headers) override {
        answer.status = status;
        answer.prefix = headers.find("x-rondo-prefix").value_or("");
      }
      void on_data(std::string_view bytes) override { answer.body += bytes; }
      void on_end(const net::Ending&) override { loop->stop(); }
      Answer answer;
      net::Loop* loop = nullptr;
    } handler;
    handler.loop = &loop_;
    auto call = client_->stream({.method = "POST",
                                 .url = server_->url() + path,
                                 .headers = {{"x-rondo-explain", "1"}},
                                 .body = json::to_compact(json::Value(body))},
                                handler);
    is_leaving_ = false;
    loop_.run();
    call.reset();
    // What a client that went away leaves behind is kept a little later.
    for (int i = 0; is_leaving_ && i < 3; ++i) {
      testing::settle(loop_);
      store_.flush();
    }
    return std::move(handler.answer);
  }

  std::function<Script(const engine::Request&)> say;
  [[nodiscard]] const Ids& prompt() const { return engine_.prompt(); }
  [[nodiscard]] const Ids& said() const { return engine_.said(); }
  [[nodiscard]] std::shared_ptr<const spans::Turn> turn(const std::string& id) {
    const auto key = spans::key_in(id);
    if (!key) return nullptr;
    auto found = spans_->turn(spans_->scope("", name_), *key);
    return found.ok() ? found.value() : nullptr;
  }

 private:
  void start() {
    server_.reset();
    service_.reset();
    spans_ = std::make_unique<spans::Spans>(store_, spans::HashKey{5});
    gateway::ServiceParts parts;
    parts.models = {{.name = name_, .model = model_, .serving = &engine_}};
    parts.spans = spans_.get();
    testing::make_repeatable(parts);
    static const auto kKeys = testing::counted_keys();  // of all servers: they share stores
    parts.random = kKeys;
    service_ = std::make_unique<gateway::Service>(loop_, std::move(parts));
    auto server = net::Server::make(loop_, {.explain = gateway::Service::explain},
                                    [this](net::Exchange exchange) { service_->handle(std::move(exchange)); });
    REQUIRE(server.ok());
    server_ = std::move(server).value();
  }
  // Once what was said has come over.
  void leave_soon() {
    is_leaving_ = true;
    constexpr int kRounds = 50;
    rounds_ = kRounds;
    next_round();
  }
  void next_round() {
    loop_.post([this] {
      if (--rounds_ == 0) return loop_.stop();
      next_round();
    });
  }

  net::Loop loop_;
  std::shared_ptr<const core::Model> model_;
  std::string name_;  // the model's: turns of one are not those of another
  spans::Store& store_;
  testing::ScriptedEngine engine_;
  std::unique_ptr<spans::Spans> spans_;
  std::unique_ptr<gateway::Service> service_;
  std::unique_ptr<net::Server> server_;
  std::unique_ptr<net::Client> client_;
  bool is_leaving_ = false;
  int rounds_ = 0;
};

// A turn that a client was shown, and what the engine knows of it.
struct Spoken {
  ShownReply shown;
  Ids prompt;
  Ids completion;
  Script::End end = Script::End::kDone;
  std::size_t place = 0;  // of the reply in the history

  [[nodiscard]] Ids ids() const {
    Ids out = prompt;
    out.insert(out.end(), completion.begin(), completion.end());
    return out;
  }
  bool is_misshown = false;  // a call's arguments are no JSON, and were shown as an object

  [[nodiscard]] bool is_empty() const { return shown.content.empty() && shown.calls.empty(); }
};

class Talk {
 public:
  Talk(World& world, const core::Model& model, const render::RolloutModel& shared, bool with_tools, std::uint32_t seed,
       std::string name, Counts& counts)
      : world_(world),
        model_(model),
        maker_(shared.context(), shared.profile(), *shared.parts().format, seed),
        client_(seed, seed % 2 == 0),
        with_tools_(with_tools),
        api_(static_cast<Api>(seed % 3)),
        uses_previous_(seed % 2 == 0),
        thinks_(seed % 5 != 0),
        seed_(seed),
        name_(std::move(name)),
        counts_(counts) {}

  void run() {
    ++counts_.conversations;
    if (client_.one_in(3))
      history_.push_back({.kind = HistoryEntry::Kind::kSystem, .text = words(), .call_id = {}, .reply = {}});
    add_user();
    for (int i = 0; i < 5; ++i) {
      if (client_.one_in(3)) check_text();
      auto spoken = ask(true);
      if (!spoken) return;
      if (client_.one_in(4)) branch(*spoken);
      if (spoken->is_empty() && !has_message(*spoken)) return;  // nothing of it can be shown
      spoken->place = history_.size();
      history_.push_back({.kind = HistoryEntry::Kind::kReply, .text = {}, .call_id = {}, .reply = spoken->shown});
      spoken_.push_back(std::move(*spoken));
      answer(history_, spoken_.back());
      if (client_.one_in(6)) {
        world_.restart();
        uses_previous_ = false;  // stored replies are found by their ids alone while the process lives
        ++counts_.restarts;
      }
    }
    edit();
  }

 private:
  using Kind = HistoryEntry::Kind;

  void require(bool holds, const std::string& law, const std::string& more = "") {
    if (holds) return;
    constexpr std::size_t kMostTold = 40;
    if (++counts_.violations > kMostTold) return;
    MESSAGE(name_ << " seed " << seed_ << " " << chat::to_string(api_) << " turn " << spoken_.size() << ": " << law
                  << " " << more);
    if (std::getenv("RONDO_VERBOSE") == nullptr) return;
    std::printf("asked: %s\n", json::to_compact(json::Value(body_)).c_str());
    for (const Spoken& spoken : spoken_) {
      const auto turn = world_.turn(spoken.shown.id);
      std::printf("kept: %s\nas: %s\n", turn == nullptr ? "nothing" : turn->message.c_str(),
                  model_.detokenize(spoken.ids(), false).value().c_str());
    }
    std::printf("prompt: %s\n", model_.detokenize(world_.prompt(), false).value().c_str());
  }

  // --- What is said ------------------------------------------------------------------------------------------------------

  std::string words() {
    static constexpr std::array kWords = {"the",  "weather", "in",    "Paris", "日本語", "{\"a\": 1}", "é",
                                          "\n\n", "x = 1",   "don't", "42",    "- a",    "```",        "😀"};
    std::string out = "w" + std::to_string(seed_) + "-" + std::to_string(++said_) + " ";
    const std::size_t count = 1 + client_.below(client_.one_in(10) ? 60 : 8);
    const auto added = model_.tokenizer()->added_tokens();
    for (std::size_t i = 0; i < count; ++i) {
      const bool is_trap = !added.empty() && client_.one_in(12);
      out += is_trap ? added[client_.below(added.size())].content : kWords[client_.below(kWords.size())];
      if (!client_.one_in(4)) out += ' ';
    }
    return out + "end";
  }
  void add_user() { history_.push_back({.kind = Kind::kUser, .text = words(), .call_id = {}, .reply = {}}); }

  // Results of its calls, then now and then the user; without calls the user.
  void answer(History& history, const Spoken& spoken) {
    std::vector<test::ShownCall> calls = spoken.shown.calls;
    if (spoken.end != Script::End::kDone || spoken.shown.has_failed) calls.clear();
    if (client_.one_in(4)) std::ranges::reverse(calls);
    for (const test::ShownCall& call : calls)
      history.push_back({.kind = Kind::kResult, .text = words(), .call_id = call.id, .reply = {}});
    if (calls.empty() || client_.one_in(4))
      history.push_back({.kind = Kind::kUser, .text = words(), .call_id = {}, .reply = {}});
  }

  // Whether a client has something to send back of a reply that says nothing: it may leave reasoning out.
  [[nodiscard]] bool has_message(const Spoken& spoken) const {
    if (api_ == Api::kChat) return true;
    const json::Value& raw = spoken.shown.raw;
    return api_ == Api::kResponses && raw.is_array() &&
           std::ranges::any_of(raw.as_array(),
                               [](const json::Value& item) { return item.find_string("type") == "message"; });
  }

  [[nodiscard]] std::string path() const {
    if (api_ == Api::kChat) return "/v1/chat/completions";
    return api_ == Api::kMessages ? "/v1/messages" : "/v1/responses";
  }

  json::Object body_of(const History& history, bool goes_by_id) {
    std::optional<std::string> previous;
    if (goes_by_id && uses_previous_ && !spoken_.empty() && spoken_.back().end == Script::End::kDone)
      previous = spoken_.back().shown.id;
    json::Object body =
        test::request_of(api_, history, with_tools_, client_, api_ == Api::kResponses ? previous : std::nullopt);
    if (api_ == Api::kMessages) {
      body.set("max_tokens", 4000);
      if (thinks_) body.set("thinking", json::Object{{"type", "enabled"}, {"budget_tokens", 1024}});
    }
    return body;
  }

  // What the engine will say: mostly all of it.
  Script script(const engine::Request& request, bool may_break, bool streams) {
    Script out;
    out.ids = maker_.completion(request.prompt, test::plain_messages(history_)).ids;
    out.piece = 1 + client_.below(client_.one_in(3) ? 20 : 3);
    if (may_break && client_.one_in(6)) {
      out.end = streams && client_.one_in(2) ? Script::End::kWaits : Script::End::kFails;
      out.until = client_.below(out.ids.size() + 1);
    }
    return out;
  }

  // The next reply, to `other` instead of the history, or to the last request once more; nothing where the request is refused, or nothing came of it.
  std::optional<Spoken> ask(bool may_break, const History* other = nullptr, bool is_again = false) {
    const bool streams = client_.one_in(2);
    if (!is_again) body_ = body_of(other != nullptr ? *other : history_, other == nullptr);
    json::Object body = body_;
    body.set("stream", streams);
    Script::End end = Script::End::kDone;
    bool was_asked = false;
    world_.say = [&](const engine::Request& request) {
      was_asked = true;
      Script out = script(request, may_break, streams);
      end = out.end;
      return out;
    };
    ++counts_.requests;
    const World::Answer answer = world_.ask(path(), body);
    if (!was_asked || answer.status != 200) {
      ++counts_.refused;
      if (std::getenv("RONDO_VERBOSE") != nullptr && end == Script::End::kDone)
        std::printf("%s seed %u: %d %s\n", name_.c_str(), seed_, answer.status, answer.body.c_str());
      return std::nullopt;
    }
    Spoken out;
    out.end = end;
    out.prompt = world_.prompt();
    out.completion = world_.said();
    if (end != Script::End::kDone) ++counts_.cut;
    if (streams) {
      std::vector<net::SseEvent> events;
      net::SseReader reader;
      (void)reader.read(answer.body, [&](const net::SseEvent& event) { events.push_back(event); });
      out.shown = test::streamed_reply(api_, events);
    } else {
      out.shown = test::whole_reply(api_, json::parse(answer.body).value());
    }
    if (out.completion.empty() && end != Script::End::kDone) return std::nullopt;  // nothing was said, nothing is kept
    if (other == nullptr) check_prompt(out, answer.prefix);
    check_kept(out);
    ++counts_.turns;
    return out;
  }

  // --- The laws ----------------------------------------------------------------------------------------------------------

  // 1, 4 and 6.
  void check_prompt(const Spoken& now, const std::string& prefix) {
    if (spoken_.empty()) return;
    const Spoken& last = spoken_.back();
    if (last.is_misshown && !client_.keeps_ids()) return;  // it can be found by its key alone
    const char* law =
        last.end == Script::End::kDone ? "1: the prompt goes on from the turn" : "4: so it does from one cut off";
    require(begins_with(now.prompt, last.ids()), law, prefix + " shown: " + json::to_compact(last.shown.raw));
  }

  // 7: what is kept is what the engine said and the client was shown.
  void check_kept(Spoken& now) {
    const auto turn = world_.turn(now.shown.id);
    require(turn != nullptr, "6: the turn is kept", now.shown.id);
    if (turn == nullptr) return;
    require(turn->prompt == now.prompt, "7: the prompt's ids are kept");
    require(turn->completion == now.completion, "7: the completion's ids are kept");
    const json::Value message = json::parse(turn->message).value();
    const std::string content = chat::content_text(message);
    const json::Value* calls = message.find("tool_calls");
    const std::size_t count = calls == nullptr ? 0 : calls->as_array().size();
    for (std::size_t i = 0; i < count && api_ == Api::kMessages; ++i) {
      const auto arguments = chat::function_of(calls->as_array()[i]).find_string("arguments");
      const auto read = json::parse(arguments.value_or("{}"));
      now.is_misshown = now.is_misshown || !read.ok() || !read.value().is_object();
    }
    if (now.end != Script::End::kDone || now.shown.has_failed) {
      require(content.starts_with(now.shown.content), "7: what was shown of the content is kept", content);
      return;
    }
    require(content == now.shown.content, "7: the content is what was shown", content + " | " + now.shown.content);
    require(count == now.shown.calls.size(), "7: the calls are those that were shown");
    for (std::size_t i = 0; i < std::min(count, now.shown.calls.size()); ++i) {
      const json::Value& call = calls->as_array()[i];
      const std::string arguments(chat::function_of(call).find_string("arguments").value_or(""));
      require(call.find_string("id") == now.shown.calls[i].id, "7: a call's id is the one that was shown");
      if (api_ == Api::kMessages) continue;  // an object there, whatever was sampled
      require(arguments == now.shown.calls[i].arguments, "7: a call's arguments are those that were shown", arguments);
    }
  }

  // 3: the same request once more, answered otherwise; both are gone on from.
  void branch(const Spoken& spoken) {
    auto other = ask(false, nullptr, true);
    if (!other) return;
    ++counts_.branches;
    require(other->prompt == spoken.prompt, "3: the same request has the same prompt");
    // White space at the ends tells nothing apart.
    const auto trimmed = [](const std::string& text) {
      const std::size_t begin = std::min(text.find_first_not_of(" \t\r\n"), text.size());
      return text.substr(begin, text.find_last_not_of(" \t\r\n") + 1 - begin);
    };
    const bool is_told_apart = trimmed(other->shown.content) != trimmed(spoken.shown.content) && !other->is_empty();
    const bool has_key = !other->shown.calls.empty() && client_.keeps_ids();
    if ((!is_told_apart || other->is_misshown) && !has_key) return;
    History on = history_;
    on.push_back({.kind = Kind::kReply, .text = {}, .call_id = {}, .reply = other->shown});
    answer(on, *other);
    const auto next = ask(false, &on);
    if (next)
      require(begins_with(next->prompt, other->ids()), "3: a branch has its own ids",
              json::to_compact(other->shown.raw));
  }

  // 8: the prompt has no control token more than with a plain text in the place of the last ones.
  void check_text() {
    if (api_ != Api::kChat) return;
    History plain = history_;
    for (std::size_t i = spoken_.empty() ? 0 : spoken_.back().place + 1; i < plain.size(); ++i) plain[i].text = "x";
    const auto count = [&](const History& history) -> std::optional<std::size_t> {
      json::Object body = body_of(history, false);
      const World::Answer answer = world_.ask(path() + "/render", body);
      if (answer.status != 200) return std::nullopt;
      const json::Value read = json::parse(answer.body).value();
      const json::Value* ids = read.find("token_ids");
      if (ids == nullptr) ids = read.find("prompt_token_ids");
      REQUIRE(ids != nullptr);
      std::size_t out = 0;
      for (const json::Value& id : ids->as_array())
        out += model_.tokenizer()->is_special(static_cast<TokenId>(id.to_int64().value_or(0))) ? 1 : 0;
      return out;
    };
    const auto hostile = count(history_);
    const auto neutral = count(plain);
    if (!hostile || !neutral) return;
    ++counts_.twins;
    require(*hostile <= *neutral, "8: text stays text", json::to_compact(json::Value(test::plain_messages(history_))));
  }

  // 2: a message is changed.
  void edit() {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < history_.size(); ++i) {
      if (history_[i].kind == Kind::kUser || history_[i].kind == Kind::kResult) places.push_back(i);
    }
    if (places.empty() || spoken_.empty()) return;
    if (!client_.keeps_ids() && std::ranges::any_of(spoken_, &Spoken::is_misshown)) return;  // found by keys alone
    const std::size_t at = places[client_.below(places.size())];
    history_[at].text += " changed";
    world_.say = [&](const engine::Request& request) { return script(request, false, false); };
    ++counts_.requests;
    body_ = body_of(history_, false);
    const World::Answer answer = world_.ask(path(), body_);
    if (answer.status != 200) return;
    ++counts_.edits;
    const Ids& prompt = world_.prompt();
    const Spoken* before = nullptr;
    for (const Spoken& spoken : spoken_) {
      if (spoken.place < at) before = &spoken;
    }
    if (before != nullptr)
      require(begins_with(prompt, before->ids()), "2: what is before the change is reused", answer.prefix);
    if (answer.body.find("turns do not stand") != std::string::npos) return;  // a note says why
    auto from = prompt.begin() + static_cast<std::ptrdiff_t>(before == nullptr ? 0 : before->ids().size());
    for (const Spoken& spoken : spoken_) {
      // The answer to a changed message stands only where its key is echoed.
      if (spoken.place < at || spoken.is_empty() || spoken.end != Script::End::kDone) continue;
      if (before == nullptr || spoken_.front().place == spoken.place || history_[spoken.place - 1].kind != Kind::kUser)
        continue;
      if (spoken.place == at + 1) continue;
      const auto found = std::search(from, prompt.end(), spoken.completion.begin(), spoken.completion.end());
      require(found != prompt.end(), "2: a later turn stands as sampled", answer.prefix + " " + answer.body);
      if (found != prompt.end()) from = found + static_cast<std::ptrdiff_t>(spoken.completion.size());
    }
  }

  World& world_;
  const core::Model& model_;
  test::RolloutMaker maker_;
  test::BenignClient client_;
  bool with_tools_;
  Api api_;
  bool uses_previous_;
  bool thinks_;
  std::uint32_t seed_;
  std::string name_;
  Counts& counts_;
  History history_;
  json::Object body_;  // of the last request
  std::vector<Spoken> spoken_;
  std::size_t said_ = 0;
};

std::size_t number_from(const char* name, std::size_t otherwise) {
  const char* given = std::getenv(name);
  return given == nullptr ? otherwise : std::strtoul(given, nullptr, 10);
}

TEST_CASE("the laws of the gateway hold over HTTP for random conversations through every template") {
  const auto corpus = test::Corpus::open_with_models();
  if (!corpus) return;
  const testing::OwnFolder folder("gateway-laws");
  auto sqlite = spans::SqliteStore::open(folder.path("turns.sqlite"), {.sync = false});
  REQUIRE(sqlite.ok());
  const std::size_t each = number_from("RONDO_LAWS", 2);
  const std::size_t first = number_from("RONDO_SEED", 1);
  const char* word = std::getenv("RONDO_LAWS_ROW");
  Counts counts;
  const auto tell = [&](const char* when) {
    std::printf(
        "%s%zu conversations, %zu requests, %zu turns (%zu cut off), %zu branches, %zu edits, %zu restarts, %zu twins, "
        "%zu refused; violations %zu\n",
        when, counts.conversations, counts.requests, counts.turns, counts.cut, counts.branches, counts.edits,
        counts.restarts, counts.twins, counts.refused, counts.violations);
    std::fflush(stdout);
  };
  for (const test::CorpusRow& row : corpus->rows_with_tokenizer()) {
    if (word != nullptr && row.id.find(word) == std::string::npos) continue;
    const auto model = core::Model::load({.path = row.model_folder, .chat_template = row.template_path});
    if (!model.ok()) continue;
    spans::MemoryStore memory;
    std::array<std::unique_ptr<World>, 2> worlds = {std::make_unique<World>(model.value(), row.id, memory),
                                                    std::make_unique<World>(model.value(), row.id, *sqlite.value())};
    for (const bool with_tools : {true, false}) {
      core::Call asked;
      asked.now = test::kClock;
      asked.has_messages = true;
      if (with_tools) asked.conversation.tools = json::parse(test::kTools).value();
      const auto shared = model.value()->rollouts(asked, core::Locality::kNotProven);
      if (!shared.ok()) continue;
      for (std::size_t i = 0; i < each; ++i) {
        const auto seed = static_cast<std::uint32_t>(first + i);
        Talk(*worlds[i % 4 == 3 ? 1 : 0], *model.value(), *shared.value(), with_tools, seed,
             row.id + (with_tools ? "+tools" : ""), counts)
            .run();
      }
    }
    if (each > 20) tell((row.id + ": so far ").c_str());
  }
  tell("");
  CHECK(counts.violations == 0);
  CHECK(counts.turns > counts.conversations);
}

}  // namespace
}  // namespace rondo
