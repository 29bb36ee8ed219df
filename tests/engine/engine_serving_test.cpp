// What serving many requests promises besides the ids: what is decoded once, who waits for whom, how a request ends.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "base/task_queue.h"
#include "engine/embedded.h"
#include "engine/forced_ids.h"
#include "model/gguf.h"
#include "tests/support/batches.h"
#include "tests/support/small_model.h"

using namespace rondo;
using namespace rondo::engine;

namespace {

using testing::BatchRun;
using testing::first_with;
using testing::Ids;
using testing::ids_of;
using testing::joined;
using testing::kVocabulary;

const TinyArchitecture& attention() { return first_with(MemoryKind::kAttention); }

}  // namespace

TEST_CASE("a beginning that prompts share is decoded once, also when they come together") {
  for (const TinyArchitecture& one : tiny_architectures()) {
    CAPTURE(one.name);
    const Ids head = ids_of(300, 1);
    BatchRun run(one, {.parallel = 8});
    for (std::uint64_t i = 0; i < 8; ++i)
      run.add({.prompt = joined(head, ids_of(10, 100 + i)), .max_tokens = 5, .shared_heads = {head.size()}});
    run.run();
    const EmbeddedStatus status = run.batcher->status();
    CHECK(status.prompt_tokens == 8 * 310);
    CHECK(status.prefilled_tokens == 300 + 8 * 10);
    CHECK(status.sampled_tokens == 8 * 5);
  }
}

TEST_CASE("a beginning that nobody names is kept where the second prompt parts from the first") {
  const Ids head = ids_of(300, 1);
  BatchRun run(first_with(MemoryKind::kHybrid), {.parallel = 2});
  for (std::uint64_t i = 0; i < 3; ++i)
    (void)run.result({.prompt = joined(head, ids_of(10, 100 + i)), .max_tokens = 5});
  CHECK(run.batcher->status().prefilled_tokens == 310 + 310 + 10);
}

TEST_CASE("a conversation that had to make room goes on without decoding anything again") {
  for (const TinyArchitecture& one : tiny_architectures()) {
    CAPTURE(one.name);
    for (const std::size_t kept_bytes : {std::size_t{0}, std::size_t{256} << 20U}) {
      BatchRun run(one, {.parallel = 1, .kept_bytes = kept_bytes});
      Ids conversations[2] = {ids_of(200, 1), ids_of(200, 2)};
      for (int turn = 0; turn < 3; ++turn) {
        for (Ids& ids : conversations) {
          const auto& got = run.result({.prompt = ids, .max_tokens = 6});
          const bool is_there = turn > 0 && kept_bytes > 0;
          CHECK(got.outcome.usage.cached_tokens == (is_there ? ids.size() - 11 : 0));
          CHECK(got.start.expected_tokens == (is_there ? ids.size() - 11 : 0));
          ids = joined(joined(ids, got.ids()), ids_of(10, 3));
        }
      }
      CHECK((run.batcher->status().kept_sequences > 0) == (kept_bytes > 0));
    }
  }
}

TEST_CASE("what is kept stays below its bound, and the oldest goes first") {
  const std::size_t bound = std::size_t{512} << 10U;
  BatchRun run(attention(), {.parallel = 1, .kept_bytes = bound});
  std::vector<Ids> all;
  for (std::uint64_t i = 0; i < 12; ++i) {
    all.push_back(ids_of(300, i + 1));
    (void)run.result({.prompt = all.back(), .max_tokens = 1});
    CHECK(run.batcher->status().kept_bytes <= bound);
  }
  CHECK(run.batcher->status().kept_sequences > 1);
  CHECK(run.result({.prompt = all[10], .max_tokens = 1}).outcome.usage.cached_tokens == 300);
  CHECK(run.result({.prompt = all[0], .max_tokens = 1}).outcome.usage.cached_tokens == 0);
}

TEST_CASE("003:119-126: a long prompt holds up what runs by one piece at a time") {
  BatchRun run(attention(), {.parallel = 2});
  const auto stream = run.add({.prompt = ids_of(10, 1), .max_tokens = 200});
  (void)run.step();
  const auto long_prompt = run.add({.prompt = ids_of(1500, 2), .max_tokens = 1});
  std::size_t steps = 0;
  while (!run.received.by_ticket[long_prompt].has_ended) {
    const std::size_t before = run.received.by_ticket[stream].ids().size();
    REQUIRE(run.step());
    CHECK(run.received.by_ticket[stream].ids().size() == before + 1);
    CHECK(run.batcher->status().prefilled_tokens <= 10 + 32 * ++steps);
  }
  CHECK(steps == 49);  // 1500 in pieces of 31, because the stream's id is in the same batch
}

TEST_CASE("prompts that come together are decoded in one batch, which is never larger than the library takes") {
  for (const TinyArchitecture& one : tiny_architectures()) {
    CAPTURE(one.name);
    BatchRun run(one, {.parallel = 5});
    std::vector<Ids> conversations;
    for (std::uint64_t i = 0; i < 5; ++i) {
      conversations.push_back(ids_of(20 + 3 * i, i + 1));
      const auto& got = run.result({.prompt = conversations.back(), .max_tokens = 3});
      conversations.back() = joined(joined(conversations.back(), got.ids()), ids_of(5, i + 10));
    }
    // One id of each is left from the turn before, and five are new: 30 of the 32 that a batch takes.
    std::vector<Batcher::Ticket> tickets;
    for (const Ids& ids : conversations) tickets.push_back(run.add({.prompt = ids, .max_tokens = 2}));
    const std::uint64_t steps = run.batcher->status().steps;
    REQUIRE(run.step());
    for (const auto ticket : tickets) CHECK(run.received.by_ticket[ticket].ids().size() == 1);
    run.run();
    CHECK(run.batcher->status().steps == steps + 2);
    CHECK(run.batcher->status().failed_batches == 0);
  }
}

TEST_CASE("short prompts pass a long one, which still goes on") {
  BatchRun run(attention(), {.parallel = 4});
  const auto long_prompt = run.add({.prompt = ids_of(1500, 1), .max_tokens = 1});
  (void)run.step();
  const auto short_prompt = run.add({.prompt = ids_of(60, 2), .max_tokens = 1});
  run.run();
  CHECK(run.received.by_ticket[short_prompt].first_step <= 6);
  // Prompts without end do not starve it.
  BatchRun busy(attention(), {.parallel = 4});
  const auto patient = busy.add({.prompt = ids_of(640, 1), .max_tokens = 1});
  for (std::uint64_t i = 0; !busy.received.by_ticket[patient].has_ended && i < 400; ++i) {
    busy.add({.prompt = ids_of(32, i + 10), .max_tokens = 1});
    (void)busy.step();
  }
  CHECK(busy.received.by_ticket[patient].has_ended);
  (void)long_prompt;
}

TEST_CASE("tenants take turns, however much one of them asks for") {
  BatchRun run(attention(), {.parallel = 2});
  for (std::uint64_t i = 0; i < 20; ++i) run.add({.prompt = ids_of(200, i + 1), .max_tokens = 20, .tenant = "greedy"});
  for (int i = 0; i < 10; ++i) (void)run.step();
  const auto modest = run.add({.prompt = ids_of(200, 99), .max_tokens = 20, .tenant = "modest"});
  run.run();
  std::size_t before = 0;
  for (const auto& [ticket, one] : run.received.by_ticket) {
    if (one.last_step < run.received.by_ticket[modest].last_step) ++before;
  }
  CHECK(before <= 4);
}

TEST_CASE("tenants do not see what the other one's prompts left") {
  BatchRun run(attention(), {.parallel = 1});
  const Ids ids = ids_of(200, 1);
  (void)run.result({.prompt = ids, .max_tokens = 1, .tenant = "a"});
  const auto& other = run.result({.prompt = ids, .max_tokens = 1, .tenant = "b"});
  CHECK(other.outcome.usage.cached_tokens == 0);
  CHECK(other.start.expected_tokens == 0);
  CHECK(run.result({.prompt = ids, .max_tokens = 1, .tenant = "a"}).outcome.usage.cached_tokens == 200);
}

TEST_CASE("choices of one prompt are decoded from one prefill and sampled with seeds of their own") {
  for (const TinyArchitecture& one : tiny_architectures()) {
    CAPTURE(one.name);
    BatchRun run(one, {.parallel = 2});
    const auto& got = run.result(
        {.prompt = ids_of(200, 1), .max_tokens = 12, .choices = 5, .sampling = {.temperature = 1.0F, .seed = 7}});
    REQUIRE(got.outcome.choices.size() == 5);
    CHECK(got.outcome.usage.completion_tokens == 60);
    for (std::size_t i = 0; i < 5; ++i) {
      CHECK(got.ids(i).size() == 12);
      CHECK(got.outcome.choices[i].stop == StopReason::kLength);
    }
    CHECK(got.ids(0) != got.ids(1));
    CHECK(run.batcher->status().prefilled_tokens <= 200 + 4);
    // Any choice is what it would have been alone.
    BatchRun alone(one, {.parallel = 1});
    CHECK(alone.result({.prompt = ids_of(200, 1), .max_tokens = 12, .sampling = {.temperature = 1.0F, .seed = 9}})
              .ids() == got.ids(2));
  }
}

TEST_CASE("a request ends at a stop id, at its length, at the context's end, or when it is cancelled") {
  BatchRun run(attention(), {.llama = {.context_tokens = 256}, .parallel = 2});
  const Ids prompt = ids_of(100, 1);
  const Ids free = run.result({.prompt = prompt, .max_tokens = 20}).ids();
  REQUIRE(free.size() == 20);
  const auto first = std::find(free.begin(), free.end(), free[9]);  // it may have come before
  const auto& stopped = run.result({.prompt = prompt, .max_tokens = 20, .stop_ids = {free[9]}});
  CHECK(stopped.ids() == Ids(free.begin(), first + 1));
  CHECK(stopped.outcome.choices[0].stop == StopReason::kStopToken);
  CHECK(stopped.outcome.choices[0].stop_id == free[9]);

  const auto& nothing = run.result({.prompt = prompt, .max_tokens = 0});
  CHECK(nothing.ids().empty());
  CHECK(nothing.outcome.choices[0].stop == StopReason::kLength);

  const auto& full = run.result({.prompt = ids_of(250, 2), .max_tokens = 100});
  CHECK(full.ids().size() == 7);  // six more are held, and the last is not decoded
  CHECK(full.outcome.choices[0].stop == StopReason::kContextFull);

  const auto running = run.add({.prompt = prompt, .max_tokens = 100});
  const auto waiting = run.add({.prompt = ids_of(100, 3), .max_tokens = 100, .choices = 3});
  for (int i = 0; i < 8; ++i) (void)run.step();
  run.batcher->cancel(waiting);
  run.batcher->cancel(running);
  run.batcher->cancel(running);
  run.batcher->cancel(999);
  CHECK_FALSE(run.step());
  CHECK(run.received.by_ticket[running].outcome.choices[0].stop == StopReason::kCancelled);
  CHECK(run.received.by_ticket[running].ids().size() >= 4);
  for (const Ending& ending : run.received.by_ticket[waiting].outcome.choices)
    CHECK(ending.stop == StopReason::kCancelled);
  // What was cancelled can be gone on from.
  const Ids more = joined(prompt, run.received.by_ticket[running].ids());
  CHECK(run.result({.prompt = more, .max_tokens = 1}).outcome.usage.cached_tokens == more.size() - 1);
}

TEST_CASE("no stop id comes before the least tokens") {
  BatchRun run(attention(), {.llama = {.context_tokens = 256}, .parallel = 2});
  const Ids prompt = ids_of(100, 1);
  const Ids free = run.result({.prompt = prompt, .max_tokens = 20}).ids();
  const auto first = static_cast<std::size_t>(std::find(free.begin(), free.end(), free[9]) - free.begin());
  const Ids later = run.result({.prompt = prompt, .max_tokens = 20, .min_tokens = 15, .stop_ids = {free[9]}}).ids();
  CHECK(later.size() > 15);
  CHECK(std::equal(free.begin(), free.begin() + static_cast<std::ptrdiff_t>(first), later.begin()));
  CHECK(std::find(later.begin(), later.begin() + 15, free[9]) == later.begin() + 15);
  const auto& endless = run.result({.prompt = prompt, .max_tokens = 20, .min_tokens = 20, .stop_ids = {free[9]}});
  CHECK(endless.ids().size() == 20);
  CHECK(endless.outcome.choices[0].stop == StopReason::kLength);
  const auto& at_once = run.result({.prompt = prompt, .max_tokens = 20, .min_tokens = first, .stop_ids = {free[9]}});
  CHECK(at_once.ids().size() == first + 1);
}

TEST_CASE("a request that no engine could run is refused with a sentence, and holds up nobody") {
  BatchRun run(attention(), {.llama = {.context_tokens = 256}, .parallel = 1});
  const auto error_of = [&](Request request) {
    const auto& got = run.result(std::move(request));
    REQUIRE(got.outcome.error.has_value());
    CHECK_FALSE(got.has_started);
    return *got.outcome.error;
  };
  CHECK(error_of({}).message == "the prompt has no tokens");
  CHECK(error_of({.prompt = {kVocabulary}}).code == ErrorCode::kInvalidArgument);
  CHECK(error_of({.prompt = ids_of(257, 1)}).code == ErrorCode::kLimit);
  CHECK(error_of({.prompt = {1}, .grammar = {.dialect = Grammar::Dialect::kLark}}).message ==
        "the embedded engine takes grammars in GBNF, not lark");
  CHECK(error_of({.prompt = {1}, .grammar = {.dialect = Grammar::Dialect::kGbnf, .text = "root ::= \"a\""}}).message ==
        "the model's ids have no text to constrain");
  CHECK_FALSE(run.result({.prompt = {1}, .max_tokens = 1}).outcome.error.has_value());
}

TEST_CASE("log probabilities are told where they were asked for") {
  BatchRun run(attention());
  const auto& got = run.result({.prompt = ids_of(50, 1), .max_tokens = 3, .logprobs = 4});
  for (const SampledToken& token : got.tokens.at(0)) {
    REQUIRE(token.best.size() == 4);
    CHECK(token.best[0].id == token.id);
    CHECK(token.best[0].logprob == token.logprob);
    CHECK(token.best[1].logprob <= token.logprob);
    CHECK(token.logprob < 0);
  }
  const auto& plain = run.result({.prompt = ids_of(50, 1), .max_tokens = 1});
  CHECK(std::isnan(plain.tokens.at(0)[0].logprob));
}

TEST_CASE("an id has the same log probability in a prompt as when it was sampled") {
  BatchRun run(attention());
  const std::vector<TokenId> prompt = ids_of(50, 1);
  const auto& sampled = run.result({.prompt = prompt, .max_tokens = 100, .logprobs = 0}).tokens.at(0);
  std::vector<TokenId> whole = prompt;
  for (const SampledToken& token : sampled) whole.push_back(token.id);
  // What the caches hold is computed again: it has no log probabilities.
  const auto& got = run.result({.prompt = whole, .max_tokens = 1, .prompt_logprobs = 2});
  REQUIRE(got.prompt.size() == whole.size());
  CHECK(std::isnan(got.prompt[0].logprob));
  for (std::size_t i = 0; i < sampled.size(); ++i) {
    const SampledToken& told = got.prompt[prompt.size() + i];
    CHECK(told.id == sampled[i].id);
    CHECK(told.logprob == doctest::Approx(sampled[i].logprob).epsilon(0.01));
    CHECK(told.best.size() == 2);
  }
  CHECK(run.result({.prompt = whole, .max_tokens = 1}).prompt.empty());
}

namespace {

// A batcher over a model with text, and the text of what it samples.
class TextRun {
 public:
  TextRun() : folder_("serving") {
    const std::string path = testing::small_model(folder_, "text.gguf", "");
    auto gguf = model::read_gguf(path);
    REQUIRE(gguf.ok());
    tokens_ = *gguf.value().find_strings("tokenizer.ggml.tokens");
    auto loaded = Batcher::load(path, {.llama = {.context_tokens = 512}}, received_);
    REQUIRE(loaded.ok());
    batcher_ = std::move(loaded).value();
  }

  [[nodiscard]] TokenId id_of(std::string_view token) const {
    const auto found = std::ranges::find(tokens_, token);
    REQUIRE(found != tokens_.end());
    return static_cast<TokenId>(found - tokens_.begin());
  }

  std::string text(Request request) {
    batcher_->add(++ticket_, std::move(request));
    while (batcher_->step()) {}
    const auto& got = received_.by_ticket[ticket_];
    if (got.outcome.error) return got.outcome.error->to_string();
    std::string text;
    for (const TokenId id : got.ids()) text += tokens_[static_cast<std::size_t>(id)];
    return text + "|" + std::string(to_string(got.outcome.choices[0].stop));
  }

 private:
  testing::OwnFolder folder_;
  std::vector<std::string> tokens_;
  testing::Received received_;
  std::unique_ptr<Batcher> batcher_;
  Batcher::Ticket ticket_ = 0;
};

}  // namespace

TEST_CASE("a grammar holds generation to its text") {
  TextRun run;
  const auto held = [&](Grammar grammar, std::size_t max_tokens, std::uint64_t seed) {
    return run.text({.prompt = {1, 2, 3},
                     .max_tokens = max_tokens,
                     .sampling = {.temperature = 1.0F, .seed = seed},
                     .grammar = std::move(grammar)});
  };
  const auto gbnf = [](std::string text) {
    return Grammar{.dialect = Grammar::Dialect::kGbnf, .text = std::move(text)};
  };
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::string text = held(gbnf("root ::= \"ab\" [c-e]{3} \"f\""), 40, seed);
    CAPTURE(text);
    CHECK(text.substr(0, 2) == "ab");
    CHECK(text.find_first_not_of("cde", 2) == 5);
    CHECK(text[5] == 'f');
    CHECK(text.ends_with("|constraint"));
  }
  CHECK(held(gbnf("root ::= ("), 4, 1).find("grammar:") == 0);
  CHECK(held(gbnf("root ::= root \"a\""), 4, 1).find("left recursion") != std::string::npos);
  CHECK(held(gbnf(""), 4, 1).find("grammar:") == 0);
}

TEST_CASE("a stop id may come where the grammar may end, though the grammar does not spell it") {
  TextRun run;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::string text = run.text({.prompt = {1, 2, 3},
                                       .max_tokens = 400,
                                       .stop_ids = {run.id_of("q")},
                                       .sampling = {.temperature = 1.0F, .seed = seed},
                                       .grammar = {.dialect = Grammar::Dialect::kGbnf, .text = "root ::= [ab]{3,6}"}});
    CAPTURE(text);
    const std::size_t end = text.find_first_not_of("ab");
    CHECK((end >= 3 && end <= 6));
    const std::string behind = text.substr(end);
    CHECK(behind == "q|stop");  // the vocabulary's own end token is none of the request's
  }
}

TEST_CASE("the least tokens hold as long as the grammar allows something else than a stop id") {
  TextRun run;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const std::string text = run.text({.prompt = {1, 2, 3},
                                       .max_tokens = 40,
                                       .min_tokens = 20,
                                       .stop_ids = {run.id_of("q")},
                                       .sampling = {.temperature = 1.0F, .seed = seed},
                                       .grammar = {.dialect = Grammar::Dialect::kGbnf, .text = "root ::= [ab]{3,6}"}});
    CAPTURE(text);
    CHECK(text.find_first_not_of("ab") == 6);
  }
}

TEST_CASE("only allowed ids are sampled, and no bad row") {
  BatchRun run(attention());
  const Ids prompt = ids_of(50, 1);
  const Ids free = run.result({.prompt = prompt, .max_tokens = 20}).ids();
  REQUIRE(free.size() == 20);
  for (const std::size_t min_tokens : {std::size_t{0}, std::size_t{9}}) {
    const auto limited = [&](Ids allowed, std::vector<Ids> bad) {
      return run
          .result({.prompt = prompt,
                   .max_tokens = 20,
                   .min_tokens = min_tokens,
                   .choices = 2,
                   .allowed_ids = std::move(allowed),
                   .bad_ids = std::move(bad),
                   .sampling = {.temperature = 50}})
          .ids(1);
    };
    const Ids listed = limited({5, 9, 11}, {{9}, {5, 11}});
    CHECK(listed.size() == 20);
    CHECK(std::ranges::all_of(listed, [](TokenId id) { return id == 5 || id == 11; }));
    CHECK(std::ranges::count(listed, 5) > 0);
    CHECK(std::ranges::count(listed, 11) > 0);
    CHECK(std::ranges::search(listed, Ids{5, 11}).empty());
  }
  const Ids barred = run.result({.prompt = prompt, .max_tokens = 20, .bad_ids = {{free[0]}}}).ids();
  CHECK(std::ranges::count(barred, free[0]) == 0);
  // The prompt's last id and the first sampled one are no row.
  CHECK(run.result({.prompt = prompt, .max_tokens = 20, .bad_ids = {{prompt.back(), free[0]}}}).ids() == free);
}

TEST_CASE("a choice ends where its limits and its constraint allow nothing together") {
  BatchRun run(attention());
  const auto& nothing = run.result({.prompt = {1, 2}, .max_tokens = 9, .allowed_ids = {5}, .bad_ids = {{5}}});
  CHECK(nothing.ids().empty());
  CHECK(nothing.outcome.choices[0].stop == StopReason::kConstraint);
  const auto forced = [](std::size_t) { return std::make_unique<ForcedIds>(Ids{7, 8, 9}); };
  const auto& broken = run.result({.prompt = {1, 2}, .max_tokens = 9, .bad_ids = {{8, 9}}, .constraint = forced});
  CHECK(broken.ids() == Ids{7, 8});
  CHECK(broken.outcome.choices[0].stop == StopReason::kConstraint);
}

TEST_CASE("a grammar's ids are sampled within the limits of the request") {
  TextRun run;
  const TokenId a = run.id_of("a");
  const TokenId b = run.id_of("b");
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Request request{.prompt = {1, 2, 3},
                    .max_tokens = 40,
                    .bad_ids = {{a, b}, {b, b, b}},
                    .sampling = {.temperature = 1.0F, .seed = seed},
                    .grammar = {.dialect = Grammar::Dialect::kGbnf, .text = "root ::= [ab]{8} \"c\""}};
    const std::string text = run.text(request);
    CAPTURE(text);
    CHECK(text.find('c') == 8);
    CHECK(text.find("ab") == std::string::npos);
    CHECK(text.find("bbb") == std::string::npos);
    request.bad_ids.clear();
    request.allowed_ids = {a};
    CHECK(run.text(request) == "aaaaaaaa|constraint");
  }
}

TEST_CASE("bug: stop ids began a lazy grammar that waits for a pattern") {
  TextRun run;
  std::size_t with_end = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Grammar grammar{.dialect = Grammar::Dialect::kGbnf, .text = "root ::= \"a\"", .is_lazy = true};
    grammar.triggers.push_back({.kind = Grammar::Trigger::Kind::kPattern, .token = -1, .text = "(no such text)"});
    const std::string text = run.text({.prompt = {1, 2, 3},
                                       .max_tokens = 200,
                                       .stop_ids = {run.id_of("q")},
                                       .sampling = {.temperature = 1.0F, .seed = seed},
                                       .grammar = grammar});
    CAPTURE(text);
    CHECK((text.ends_with("q|stop") || text.ends_with("|length")));
    if (text.find("~fin~") != std::string::npos) ++with_end;
  }
  CHECK(with_end > 0);  // nothing refuses the vocabulary's own end token yet
}

TEST_CASE("a lazy grammar begins where a word ends the freedom, wherever that is") {
  TextRun run;
  std::size_t triggered = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    Grammar grammar{.dialect = Grammar::Dialect::kGbnf, .text = "root ::= \"a\" \"bcd\"", .is_lazy = true};
    grammar.triggers.push_back({.kind = Grammar::Trigger::Kind::kWord, .token = -1, .text = "a"});
    const std::string text = run.text(
        {.prompt = {1, 2, 3}, .max_tokens = 200, .sampling = {.temperature = 1.0F, .seed = seed}, .grammar = grammar});
    CAPTURE(text);
    const std::size_t begin = text.find('a');
    if (begin == std::string::npos || !text.ends_with("|constraint")) continue;
    ++triggered;
    CHECK(text.substr(begin, 4) == "abcd");
  }
  CHECK(triggered > 20);
}

namespace {

struct Heard final : Listener {
  void on_start(const Start&) override { ++starts; }
  void on_tokens(std::size_t, std::span<const SampledToken> tokens) override {
    for (const SampledToken& token : tokens) ids.push_back(token.id);
    if (on_token) on_token();
  }
  void on_end(const Outcome& end) override { outcome = end; }
  int starts = 0;
  Ids ids;
  std::optional<Outcome> outcome;
  std::function<void()> on_token;
};

std::unique_ptr<Embedded> embedded(const EmbeddedOptions& options) {
  auto loaded = Embedded::load(testing::tiny_model_path(attention()), options);
  REQUIRE(loaded.ok());
  return std::move(loaded).value();
}

}  // namespace

TEST_CASE("the embedded engine answers on its callers' executors") {
  TaskQueue executors[2];
  const auto engine = embedded({.llama = {.context_tokens = 512}, .parallel = 2});
  const std::unique_ptr<Serving> servings[2] = {engine->serve(executors[0]), engine->serve(executors[1])};
  CHECK(servings[0]->capabilities().parallel == 2);
  CHECK(servings[0]->capabilities().context_tokens == 512);
  Heard heard[2];
  const auto running_0 = servings[0]->submit({.prompt = ids_of(50, 1), .max_tokens = 30}, heard[0]);
  const auto running_1 = servings[1]->submit({.prompt = ids_of(50, 1), .max_tokens = 30}, heard[1]);
  for (int i = 0; i < 2; ++i) {
    executors[i].run_until([&] { return heard[i].outcome.has_value(); });
    CHECK(heard[i].starts == 1);
    CHECK(heard[i].ids.size() == 30);
    CHECK_FALSE(heard[i].outcome->error.has_value());
  }
  CHECK(heard[0].ids == heard[1].ids);
  CHECK(engine->status().requests == 2);
}

TEST_CASE("a submission can be cancelled or dropped at any time, from inside a call too") {
  TaskQueue executor;
  const auto engine = embedded({.llama = {.context_tokens = 2048}, .parallel = 2});
  const auto serving = engine->serve(executor);
  Heard cancelled;
  auto running = serving->submit({.prompt = ids_of(50, 1), .max_tokens = 1900}, cancelled);
  cancelled.on_token = [&] { running->cancel(); };
  Heard dropped;
  auto other = serving->submit({.prompt = ids_of(50, 2), .max_tokens = 1900}, dropped);
  dropped.on_token = [&] { other.reset(); };
  executor.run_until([&] { return cancelled.outcome.has_value(); });
  CHECK(cancelled.outcome->choices[0].stop == StopReason::kCancelled);
  CHECK(cancelled.ids.size() < 1900);
  executor.run_until([&] { return other == nullptr; });
  const std::size_t heard = dropped.ids.size();
  Heard last;
  const auto after = serving->submit({.prompt = ids_of(50, 3), .max_tokens = 5}, last);
  executor.run_until([&] { return last.outcome.has_value(); });
  CHECK(dropped.ids.size() == heard);
  CHECK_FALSE(dropped.outcome.has_value());
  // And one that nobody waits for any more when the engine goes.
  Heard never;
  auto abandoned = serving->submit({.prompt = ids_of(50, 4), .max_tokens = 1900}, never);
  abandoned.reset();
}

TEST_CASE("bug: a shared sequence was remembered before the library had copied it") {
  const TinyArchitecture& window = first_with(MemoryKind::kSlidingWindow);
  BatchRun run(window, {.parallel = 2, .kept_bytes = 0});
  auto reference = testing::tiny_engine(window, testing::small_batches());
  Ids ids = ids_of(90, 1);
  // The second choice's prompt is there as a whole, beside the first choice; then the first choice's sequence is given up.
  (void)run.result({.prompt = ids, .max_tokens = 400, .choices = 2, .sampling = {.temperature = 1.0F, .seed = 1}});
  (void)run.result({.prompt = ids_of(40, 2), .max_tokens = 1});
  // Only the state behind the second choice's prompt serves this one.
  ids = joined(ids, ids_of(10, 3));
  const auto& got = run.result({.prompt = ids, .max_tokens = 8});
  CHECK(got.outcome.usage.how == Reuse::kCheckpoint);
  CHECK(testing::differs_from_alone(*reference, ids, got.ids()) == "");
}
