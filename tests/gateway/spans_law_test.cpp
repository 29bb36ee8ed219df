// The laws of the gateway's spans over real templates: conversations at random, as clients send them back.
//
// A violation is a prompt that does not begin with the ids of the turn that the request goes on from, or has ids of a turn that was
// changed, of another branch or of another tenant.  RONDO_SPANS=N conversations for each template, from RONDO_SEED on.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>

#include "chat/conversation.h"
#include "core/model.h"
#include "json/parse.h"
#include "json/print.h"
#include "spans/memory_store.h"
#include "spans/spans.h"
#include "spans/sqlite_store.h"
#include "tests/support/benign_client.h"
#include "tests/support/corpus.h"
#include "tests/support/own_folder.h"
#include "tests/support/rollouts.h"

namespace rondo {
namespace {

using namespace spans;  // NOLINT(google-build-using-namespace): the names of what is tested

struct Counts {
  std::size_t requests = 0, bridges = 0, raw = 0, renders = 0, refused = 0, edits = 0, branches = 0, restarts = 0,
              kept = 0, violations = 0;
};

// A turn that was kept, and the conversation behind it.
struct Spoken {
  TurnKey key;
  std::vector<TokenId> ids;
  std::vector<TokenId> completion;
  json::Array messages;       // with the reply
  std::vector<TurnKey> line;  // the turns of its replies, in order
};

class Conversations {
 public:
  Conversations(std::shared_ptr<const core::Model> model, core::Call base,
                std::shared_ptr<const render::RolloutModel> shared, std::uint32_t seed, Store& store, Counts& counts,
                std::string name)
      : model_(std::move(model)),
        base_(std::move(base)),
        shared_(std::move(shared)),
        maker_(shared_->context(), shared_->profile(), *shared_->parts().format, seed),
        client_(seed, seed % 2 == 0),
        store_(store),
        spans_(std::make_unique<Spans>(store, kSecret)),
        scope_(spans_->scope("tenant" + std::to_string(seed), name)),
        counts_(counts),
        name_(std::move(name)),
        seed_(seed) {}

  void run() {
    json::Array messages = maker_.first_messages();
    std::optional<Spoken> last;
    for (int turn = 0; turn < 5; ++turn) {
      const auto plan = check_request(messages, last ? &*last : nullptr);
      if (!plan) return;
      auto spoken = speak(*plan, messages, last ? &*last : nullptr);
      if (!spoken) return;
      if (client_.one_in(4)) branch(*plan, messages, last ? &*last : nullptr);
      last = std::move(spoken);
      spoken_.push_back(*last);
      messages = last->messages;
      for (json::Value& next : next_) messages.push_back(std::move(next));
      if (client_.one_in(6)) restart();
    }
    edit(messages);
  }

 private:
  static constexpr HashKey kSecret = {5};

  std::optional<Plan> plan(const json::Array& messages, const Scope& scope) {
    PlanRequest request;
    request.call = base_;
    request.call.conversation.messages = messages;
    request.call.conversation.add_generation_prompt = true;
    request.call.has_messages = true;
    ++counts_.requests;
    auto made = spans_->plan(*model_, scope, std::move(request));
    if (!made.ok()) {
      ++counts_.refused;
      return std::nullopt;
    }
    switch (made.value().how) {
      case How::kRender: ++counts_.renders; break;
      case How::kBridge: ++counts_.bridges; break;
      case How::kRawTurns: ++counts_.raw; break;
    }
    return std::move(made).value();
  }

  void require(bool holds, const char* law, const Plan& plan) {
    if (holds) return;
    ++counts_.violations;
    std::string notes;
    for (const std::string& note : plan.notes) notes += "; " + note;
    MESSAGE(name_ << " seed " << seed_ << ": " << law << " (" << std::string(json::name_in(kHowNames, plan.how)) << ")"
                  << notes);
  }

  static bool begins_with(const std::vector<TokenId>& ids, const std::vector<TokenId>& begin) {
    return ids.size() >= begin.size() && std::equal(begin.begin(), begin.end(), ids.begin());
  }

  // Laws 1, 3 and 5.
  std::optional<Plan> check_request(const json::Array& messages, const Spoken* last) {
    auto made = plan(client_.as_sent(messages), scope_);
    if (!made) return made;
    if (last != nullptr) {
      require(begins_with(made->ids, last->ids), "the prompt goes on from the turn", *made);
      require(made->parent != nullptr && made->parent->key == last->key, "the turn is found", *made);
      require(made->expected >= last->ids.size(), "the engine is expected to know it", *made);
    }
    if (client_.one_in(3)) {
      const auto again = plan(client_.as_sent(messages), scope_);
      if (last != nullptr) require(again && begins_with(again->ids, last->ids), "the same request once more", *made);
    }
    if (client_.one_in(5)) {
      const auto other = plan(client_.as_sent(messages), spans_->scope("other" + std::to_string(seed_), name_));
      if (other)
        require(other->parent == nullptr && other->how == How::kRender, "another tenant knows nothing", *other);
    }
    return made;
  }

  // The model answers; what follows it is in next_.
  std::optional<Spoken> speak(const Plan& plan, const json::Array& messages, const Spoken* last) {
    const test::RandomCompletion completion = maker_.completion(plan.ids, messages);
    const auto read = shared_->reader().read(shared_->profile(), plan.ids, completion.ids);
    if (!read.ok()) return std::nullopt;
    next_ = maker_.new_messages(read.value());
    NewReply reply;
    for (std::uint8_t& byte : reply.key.bytes) byte = static_cast<std::uint8_t>(client_.below(256));
    reply.completion = completion.ids;
    reply.reasoned = read.value().message.reasoning.has_value();
    reply.finish =
        !completion.ids.empty() && shared_->profile().is_stop(completion.ids.back()) ? Finish::kStop : Finish::kLength;
    json::Value shown = chat::to_history(read.value().message, 0);
    give_ids(shown, reply);
    reply.message = json::to_compact(shown);
    Spoken out{reply.key, plan.ids, reply.completion, messages, {}};
    if (last != nullptr) out.line = last->line;
    out.line.push_back(reply.key);
    out.ids.insert(out.ids.end(), reply.completion.begin(), reply.completion.end());
    out.messages.push_back(std::move(shown));
    bool kept = false;
    const auto put = spans_->keep(scope_, plan, std::move(reply), [&kept](const Status& done) { kept = done.ok(); });
    store_.flush();
    require(put.ok() && kept, "the turn is kept", plan);
    ++counts_.kept;
    return out;
  }

  // Ids of ours for the calls, which results answer under.
  void give_ids(json::Value& shown, NewReply& reply) {
    json::Value* calls = shown.as_object().find("tool_calls");
    if (calls == nullptr) return;
    const auto shape = call_id_shape(*model_, base_);
    for (std::size_t i = 0; i < calls->as_array().size(); ++i) {
      json::Value& call = calls->as_array()[i];
      const std::string old(call.find_string("id").value_or(""));
      const std::string id = mint_call_id(scope_, reply.key, i, shape);
      call.as_object().set("id", id);
      if (shape == CallIdShape::kNineLetters) reply.ids.push_back(id);
      for (json::Value& next : next_) {
        if (next.find_string("tool_call_id") == old && !old.empty()) next.as_object().set("tool_call_id", id);
      }
    }
  }

  // Law 3: the same request answered otherwise, and gone on from.
  void branch(const Plan& plan, const json::Array& messages, const Spoken* last) {
    json::Array next = std::exchange(next_, {});
    const auto other = speak(plan, messages, last);
    if (other && !next_.empty()) {
      json::Array on = other->messages;
      on.back().as_object().set("id", mint_id("msg", other->key, 0));
      on.insert(on.end(), next_.begin(), next_.end());
      const auto made = this->plan(on, scope_);
      ++counts_.branches;
      if (made) require(begins_with(made->ids, other->ids), "a branch has its own ids", *made);
    }
    next_ = std::move(next);
  }

  // What a process knows is gone; the store stays.
  void restart() {
    spans_ = std::make_unique<Spans>(store_, kSecret);
    ++counts_.restarts;
  }

  // Law 2: a message is changed.
  void edit(json::Array messages) {
    std::vector<std::size_t> candidates;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const json::Value* content = messages[i].find("content");
      if (messages[i].find_string("role") != "assistant" && content != nullptr && content->is_string())
        candidates.push_back(i);
    }
    if (candidates.empty() || spoken_.empty()) return;
    const std::size_t at = candidates[client_.below(candidates.size())];
    messages[at].as_object().set("content", messages[at].find("content")->as_string() + " changed");
    const bool inserts = client_.one_in(3);
    if (inserts) messages[at] = json::Object{{"role", "user"}, {"content", "quite another one"}};
    const auto made = plan(messages, scope_);
    if (!made) return;
    ++counts_.edits;
    const Spoken* before = nullptr;
    for (const Spoken& spoken : spoken_) {
      if (spoken.messages.size() <= at) before = &spoken;
    }
    if (before != nullptr) require(begins_with(made->ids, before->ids), "what is before the change is reused", *made);
    const bool refused = std::ranges::any_of(
        made->notes, [](const std::string& note) { return note.starts_with("turns do not stand"); });
    auto from = made->ids.begin() + static_cast<std::ptrdiff_t>(before == nullptr ? 0 : before->ids.size());
    for (const Spoken& spoken : spoken_) {
      const std::size_t reply = spoken.messages.size() - 1;
      if (reply < at || refused) continue;
      // A call's results are told by the call's place; a message between may break that.
      const bool has_key = !echoed_ids(messages[reply]).empty();
      if (reply == at + 1 && !has_key) continue;
      const auto found = std::search(from, made->ids.end(), spoken.completion.begin(), spoken.completion.end());
      require(found != made->ids.end() || spoken.completion.empty(), "a later turn stands as sampled", *made);
      if (found != made->ids.end()) from = found + static_cast<std::ptrdiff_t>(spoken.completion.size());
    }
  }

  std::shared_ptr<const core::Model> model_;
  core::Call base_;
  std::shared_ptr<const render::RolloutModel> shared_;
  test::RolloutMaker maker_;
  test::BenignClient client_;
  Store& store_;
  std::unique_ptr<Spans> spans_;
  Scope scope_;
  Counts& counts_;
  std::string name_;
  std::uint32_t seed_;
  json::Array next_;
  std::vector<Spoken> spoken_;
};

std::size_t number_from(const char* name, std::size_t otherwise) {
  const char* given = std::getenv(name);
  return given == nullptr ? otherwise : std::strtoul(given, nullptr, 10);
}

TEST_CASE("the laws of spans hold for random conversations through every template") {
  const auto corpus = test::Corpus::open_with_models();
  if (!corpus) return;
  const testing::OwnFolder folder("spans-law");
  auto sqlite = SqliteStore::open(folder.path("turns.sqlite"), {.sync = false});
  REQUIRE(sqlite.ok());
  const std::size_t each = number_from("RONDO_SPANS", 6);
  const std::size_t first = number_from("RONDO_SEED", 1);
  Counts counts;
  for (const test::CorpusRow& row : corpus->rows_with_tokenizer()) {
    const auto model = core::Model::load({.path = row.model_folder, .chat_template = row.template_path});
    if (!model.ok()) continue;
    for (const bool with_tools : {true, false}) {
      core::Call base;
      base.now = test::kClock;
      base.has_messages = true;
      if (with_tools) base.conversation.tools = json::parse(test::kTools).value();
      core::Call asked = base;
      const auto shared = model.value()->rollouts(asked, core::Locality::kNotProven);
      if (!shared.ok()) continue;
      for (std::size_t i = 0; i < each; ++i) {
        MemoryStore memory;
        Store& store = i % 3 == 2 ? static_cast<Store&>(*sqlite.value()) : memory;
        Conversations(model.value(), base, shared.value(), static_cast<std::uint32_t>(first + i), store, counts,
                      row.id + (with_tools ? "+tools" : ""))
            .run();
      }
    }
  }
  std::printf(
      "requests %zu: bridge %zu, raw-turns %zu, render %zu, refused %zu; turns %zu, edits %zu, branches %zu, "
      "restarts %zu; violations %zu\n",
      counts.requests, counts.bridges, counts.raw, counts.renders, counts.refused, counts.kept, counts.edits,
      counts.branches, counts.restarts, counts.violations);
  CHECK(counts.violations == 0);
  CHECK(counts.bridges > counts.renders);
  CHECK(counts.edits > 0);
}

}  // namespace
}  // namespace rondo
