#include "engine/engine.h"

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <set>
#include <string>

#include "engine/fake.h"
#include "engine/forced_ids.h"
#include "engine/serving.h"

using namespace rondo;
using namespace rondo::engine;

namespace {

Description small() {
  Description description;
  description.name = "fake";
  description.context_tokens = 16;
  description.vocab_size = 10;
  return description;
}

}  // namespace

TEST_CASE("greedy picks the best, the lowest id among equals, and never a NaN if there is a number") {
  Sampler sampler(Sampling{});
  const std::vector<float> logits = {std::nanf(""), 2.0F, 3.0F, 3.0F, -1.0F};
  CHECK(sampler.pick(logits, {}) == 2);
  const std::vector<TokenId> only = {4, 1};
  CHECK(sampler.pick(logits, {.kind = Allowed::Kind::kOnly, .ids = only}) == 1);
  const std::vector<std::uint64_t> mask = {0b10001};
  CHECK(sampler.pick(logits, {.kind = Allowed::Kind::kMask, .mask = mask}) == 4);
  // Ids beyond the mask are not allowed.
  const std::vector<float> many(130, 1.0F);
  const std::vector<std::uint64_t> short_mask = {0, 1U << 2U};
  CHECK(sampler.pick(many, {.kind = Allowed::Kind::kMask, .mask = short_mask}) == 66);
  CHECK_FALSE(sampler.pick(many, {.kind = Allowed::Kind::kMask}).has_value());
  const std::vector<TokenId> outside = {-1, 99};
  CHECK_FALSE(sampler.pick(logits, {.kind = Allowed::Kind::kOnly, .ids = outside}).has_value());
  const std::vector<TokenId> nan = {0};
  CHECK(sampler.pick(logits, {.kind = Allowed::Kind::kOnly, .ids = nan}) == 0);
}

TEST_CASE("sampling follows the probabilities and repeats with its seed") {
  const std::vector<float> logits = {std::log(0.5F), std::log(0.3F), std::log(0.2F)};
  std::array<int, 3> counts{};
  Sampler sampler({.temperature = 1.0F, .top_k = 0, .top_p = 1.0F, .seed = 7});
  Sampler again({.temperature = 1.0F, .top_k = 0, .top_p = 1.0F, .seed = 7});
  for (int i = 0; i < 20000; ++i) {
    const auto id = sampler.pick(logits, {});
    CHECK(id == again.pick(logits, {}));
    ++counts[static_cast<std::size_t>(*id)];
  }
  CHECK(std::abs(counts[0] - 10000) < 400);
  CHECK(std::abs(counts[2] - 4000) < 400);
}

TEST_CASE("top_k and top_p cut the tail") {
  const std::vector<float> logits = {std::log(0.2F), std::log(0.5F), std::log(0.3F)};
  Sampler best_two({.temperature = 1.0F, .top_k = 2, .top_p = 1.0F, .seed = 1});
  Sampler best_half({.temperature = 1.0F, .top_k = 0, .top_p = 0.5F, .seed = 1});
  for (int i = 0; i < 500; ++i) {
    CHECK(best_two.pick(logits, {}) != 0);
    CHECK(best_half.pick(logits, {}) == 1);
  }
}

TEST_CASE("what is drawn with a seed is the same everywhere") {
  const std::vector<float> logits = {std::log(0.1F), std::log(0.4F), std::log(0.2F), std::log(0.3F)};
  const auto drawn = [&](const Sampling& sampling, const Allowed& allowed = {}) {
    Sampler sampler(sampling);
    std::string out;
    for (int i = 0; i < 16; ++i) out += std::to_string(*sampler.pick(logits, allowed));
    return out;
  };
  CHECK(drawn({.temperature = 1.0F, .seed = 3}) == "1320121313231133");
  CHECK(drawn({.temperature = 0.2F, .seed = 3}) == "1111111313111112");
  CHECK(drawn({.temperature = 1.0F, .top_k = 3, .seed = 3}) == "1331131232333132");
  CHECK(drawn({.temperature = 1.0F, .top_p = 0.8F, .seed = 3}) == "1331131232333132");
  const std::vector<TokenId> only = {3, 0};
  CHECK(drawn({.temperature = 1.0F, .seed = 3}, {.kind = Allowed::Kind::kOnly, .ids = only}) == "0330030333333333");
}

TEST_CASE("sampling keeps its probabilities for logits of any size") {
  for (const float best : {-900.0F, 0.0F, 900.0F}) {
    CAPTURE(best);
    const std::vector<float> logits = {best - 50.0F, best, best - 50.0F};
    Sampler sampler({.temperature = 1.0F, .seed = 1});
    for (int i = 0; i < 20; ++i) CHECK(sampler.pick(logits, {}) == 1);
  }
}

TEST_CASE("top_k and top_p keep at least the best") {
  const std::vector<float> logits = {0.0F, 2.0F, 1.0F};
  for (const Sampling& sampling :
       {Sampling{.temperature = 1.0F, .top_k = 1}, Sampling{.temperature = 1.0F, .top_p = 0.0F},
        Sampling{.temperature = 1.0F, .top_p = -1.0F}}) {
    Sampler sampler(sampling);
    for (int i = 0; i < 20; ++i) CHECK(sampler.pick(logits, {}) == 1);
  }
  Sampler beyond({.temperature = 1.0F, .top_k = 9, .seed = 4});
  Sampler all({.temperature = 1.0F, .top_k = 3, .seed = 4});
  for (int i = 0; i < 50; ++i) CHECK(beyond.pick(logits, {}) == all.pick(logits, {}));
}

namespace {

// The ids that 400 draws give, each once, ascending.
std::vector<TokenId> drawn_ids(const Sampling& sampling, std::span<const float> logits) {
  Sampler sampler(sampling);
  std::set<TokenId> ids;
  for (int i = 0; i < 400; ++i) ids.insert(*sampler.pick(logits, {}));
  return {ids.begin(), ids.end()};
}

}  // namespace

TEST_CASE("each number of sampling changes what is drawn") {
  const std::vector<float> logits = {std::log(0.05F), std::log(0.5F), std::log(0.15F), std::log(0.3F)};
  const std::vector<TokenId> prompt = {1};
  const auto drawn = [&](const Sampling& sampling) {
    Sampler sampler(sampling, prompt);
    std::vector<TokenId> ids;
    for (int i = 0; i < 100; ++i) sampler.accept(ids.emplace_back(*sampler.pick(logits, {})));
    return ids;
  };
  const Sampling plain{.temperature = 1.0F};
  for (const SamplingNumber& number : kSamplingNumbers) {
    Sampling changed = plain;
    changed.*number.value = number.most == 1 ? 0.5F : 2.0F;
    CHECK_MESSAGE(drawn(changed) != drawn(plain), number.name);
  }
}

TEST_CASE("each cut keeps the ids that its definition names") {
  const std::vector<float> logits = {std::log(0.05F), std::log(0.5F), std::log(0.15F), std::log(0.3F)};
  using Ids = std::vector<TokenId>;
  CHECK(drawn_ids({.temperature = 1.0F}, logits) == Ids{0, 1, 2, 3});
  CHECK(drawn_ids({.temperature = 1.0F, .min_p = 0.25F}, logits) == Ids{1, 2, 3});
  CHECK(drawn_ids({.temperature = 1.0F, .min_p = 0.55F}, logits) == Ids{1, 3});
  CHECK(drawn_ids({.temperature = 1.0F, .min_p = 1.0F}, logits) == Ids{1});
  // The entropy is 1.14: a surprise of 1.20 (id 3) is nearest, then 0.69 (id 1), 1.90 (id 2), 3.00 (id 0).
  CHECK(drawn_ids({.temperature = 1.0F, .typical_p = 0.2F}, logits) == Ids{3});
  CHECK(drawn_ids({.temperature = 1.0F, .typical_p = 0.7F}, logits) == Ids{1, 3});
  CHECK(drawn_ids({.temperature = 1.0F, .typical_p = 0.9F}, logits) == Ids{1, 2, 3});
  CHECK(drawn_ids({.temperature = 1.0F, .top_k = 3, .top_p = 0.8F}, logits) == Ids{1, 3});
  // More ids than are sorted at first.
  const std::vector<float> flat(1000, 0.0F);
  const Ids first = drawn_ids({.temperature = 1.0F, .top_p = 0.0995F}, flat);
  CHECK(first.back() <= 99);
  CHECK(first.back() > 90);
}

TEST_CASE("bias and penalties change what is best") {
  const std::vector<float> logits = {1.0F, 3.0F, 2.0F, -1.0F};
  Sampler biased({.bias = {{.id = 0, .value = 5.0F}, {.id = 99, .value = 5.0F}, {.id = -1, .value = 5.0F}}});
  CHECK(biased.pick(logits, {}) == 0);
  Sampler forbidden({.temperature = 1.0F, .bias = {{.id = 1, .value = -std::numeric_limits<float>::infinity()}}});
  for (int i = 0; i < 100; ++i) CHECK(forbidden.pick(logits, {}) != 1);
  const std::vector<TokenId> prompt = {1, 1, 3};
  CHECK(Sampler({.repetition_penalty = 2.0F}, prompt).pick(logits, {}) == 2);
  Sampler counted({.frequency_penalty = 0.4F}, prompt);
  CHECK(counted.pick(logits, {}) == 1);
  counted.accept(1);
  counted.accept(1);
  CHECK(counted.pick(logits, {}) == 1);
  counted.accept(1);
  CHECK(counted.pick(logits, {}) == 2);
  Sampler once({.presence_penalty = 1.5F});
  once.accept(1);
  CHECK(once.pick(logits, {}) == 2);
  const std::vector<TokenId> only = {1, 3};
  CHECK(once.pick(logits, {.kind = Allowed::Kind::kOnly, .ids = only}) == 1);
}

TEST_CASE("log probabilities are those of the logits") {
  const std::vector<float> logits = {std::log(0.5F) + 7, std::nanf(""), std::log(0.2F) + 7, std::log(0.3F) + 7};
  const LogProbabilities probabilities(logits);
  CHECK(probabilities.of(0) == doctest::Approx(std::log(0.5)));
  CHECK(probabilities.of(2) == doctest::Approx(std::log(0.2)));
  CHECK(probabilities.best(2) == std::vector<TokenId>{0, 3});
  CHECK(probabilities.best(9) == std::vector<TokenId>{0, 3, 2});
}

TEST_CASE("what every engine requires of a request") {
  const auto refused = [](const Request& request) {
    const auto checked = check_request(request);
    return checked.ok() ? std::string() : checked.error().message;
  };
  CHECK(refused({.prompt = {1, 2}}).empty());
  CHECK(refused({}) == "the prompt has no tokens");
  CHECK(refused({.prompt = {1, -2}}) == "token 1 of the prompt is -2");
  CHECK(refused({.prompt = {1}, .choices = 0}) == "choices must be from 1 to 128");
  CHECK(refused({.prompt = {1}, .choices = 129}) == "choices must be from 1 to 128");
  CHECK(refused({.prompt = {1}, .sampling = {.top_p = 1.5F}}) == "top_p must be a number from 0 to 1");
  CHECK(refused({.prompt = {1}, .sampling = {.temperature = std::nanf("")}}) ==
        "temperature must be a number from 0 to 100");
  CHECK(refused({.prompt = {1}, .sampling = {.bias = {{.id = 1, .value = std::nanf("")}}}}) ==
        "a bias is not a number");
  CHECK(refused({.prompt = {1}, .allowed_ids = {0}, .bad_ids = {{0}, {1, 0}}}).empty());
  CHECK(refused({.prompt = {1}, .allowed_ids = {0, -1}}) == "an allowed id is negative");
  CHECK(refused({.prompt = {1}, .bad_ids = {{0}, {1, -1}}}) == "a bad id is negative");
  CHECK(refused({.prompt = {1}, .bad_ids = {{}}}) == "a row of bad ids is empty");
}

TEST_CASE("a request may go to the ends of each range, and the first id is as good as others") {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const auto takes = [](const Sampling& sampling) {
    return check_request({.prompt = {0}, .choices = 128, .sampling = sampling}).ok();
  };
  CHECK(takes({.temperature = 0, .typical_p = 0, .top_p = 0, .min_p = 0}));
  CHECK(takes({.temperature = 100, .typical_p = 1, .top_p = 1, .min_p = 1}));
  CHECK(takes({.repetition_penalty = 0.001F, .frequency_penalty = -100, .presence_penalty = -100}));
  CHECK(takes({.repetition_penalty = 100, .frequency_penalty = 100, .presence_penalty = 100}));
  CHECK(takes({.bias = {{.id = 0, .value = -kInfinity}}}));
  CHECK_FALSE(takes({.temperature = kInfinity}));
  CHECK_FALSE(takes({.min_p = -0.1F}));
  CHECK_FALSE(takes({.typical_p = 1.1F}));
  CHECK_FALSE(takes({.repetition_penalty = 0}));
  CHECK_FALSE(takes({.frequency_penalty = 101}));
  CHECK_FALSE(takes({.presence_penalty = -101}));
}

TEST_CASE("a request has a grammar or a constraint, not both") {
  const auto forced = [](std::size_t) { return std::make_unique<ForcedIds>(std::vector<TokenId>{1}); };
  const Grammar grammar{.dialect = Grammar::Dialect::kGbnf, .text = "root ::= \"a\""};
  CHECK(check_request({.prompt = {1}, .grammar = grammar}).ok());
  CHECK(check_request({.prompt = {1}, .constraint = forced}).ok());
  CHECK_FALSE(check_request({.prompt = {1}, .grammar = grammar, .constraint = forced}).ok());
}

TEST_CASE("the generator is the same everywhere") {
  Random random(1);
  CHECK(random.next() == 0x910A2DEC89025CC1U);
  double sum = 0;
  double squares = 0;
  for (int i = 0; i < 20000; ++i) {
    const double value = random.normal();
    sum += value;
    squares += value * value;
  }
  CHECK(std::abs(sum / 20000) < 0.03);
  CHECK(std::abs(squares / 20000 - 1.0) < 0.05);
}

TEST_CASE("a prompt is checked") {
  Fake engine(small(), {});
  CHECK(engine.prompt({}).error().message == "the prompt has no tokens");
  CHECK(engine.prompt(std::vector<TokenId>{1, 10}).error().message ==
        "token 1 of the prompt is 10, the model's ids are below 10");
  CHECK(engine.prompt(std::vector<TokenId>(17, 1)).error().code == ErrorCode::kLimit);
  CHECK(engine.generate({}).error().code == ErrorCode::kInvalidArgument);
}

TEST_CASE("the fake engine reuses prefixes and plays its script") {
  Fake engine(small(), {{3, 4, 9, 5}, {6, 6}, {1, 2, 3, 4}});
  auto first = engine.prompt(std::vector<TokenId>{1, 2});
  REQUIRE(first.ok());
  CHECK(first.value().how == Reuse::kFull);
  CHECK(first.value().reason == "the memory was empty");
  const std::vector<TokenId> stops = {9};
  auto turn = engine.generate({.stop_ids = stops});
  REQUIRE(turn.ok());
  CHECK(turn.value().ids == std::vector<TokenId>{3, 4, 9});
  CHECK(turn.value().stop == StopReason::kStopToken);
  CHECK(engine.tokens().size() == 4);  // the stop token is not decoded

  auto second = engine.prompt(std::vector<TokenId>{1, 2, 3, 4, 9, 7});
  CHECK(second.value().how == Reuse::kAppend);
  CHECK(second.value().reused == 4);
  CHECK(second.value().prefilled == 2);
  CHECK(engine.generate({}).value().stop == StopReason::kLength);

  auto branch = engine.prompt(std::vector<TokenId>{1, 2, 5});
  CHECK(branch.value().how == Reuse::kRollback);
  CHECK(branch.value().reused == 2);
  ForcedIds script({1, 8});
  auto forced = engine.generate({.constraint = &script});
  CHECK(forced.value().ids == std::vector<TokenId>{1, 8});
  CHECK(forced.value().stop == StopReason::kConstraint);
}

TEST_CASE("the fake engine tells why it stopped") {
  Fake engine(small(), {{3}, std::vector<TokenId>(20, 4), {5, 6}, {7}});
  const std::vector<TokenId> prompt = {1, 2};
  REQUIRE(engine.prompt(prompt).ok());
  CHECK(engine.logits().size() == 10);
  CHECK(engine.generate({}).value().stop == StopReason::kLength);  // a script that ends was cut off
  REQUIRE(engine.prompt(prompt).ok());
  const auto full = engine.generate({});
  CHECK(full.value().stop == StopReason::kContextFull);
  CHECK(full.value().ids.size() == 15);  // 14 fit, and the last was sampled after them
  REQUIRE(engine.prompt(prompt).ok());
  CancelFlag cancel{true};
  const auto cancelled = engine.generate({.cancel = &cancel});
  CHECK(cancelled.value().stop == StopReason::kCancelled);
  CHECK(cancelled.value().ids == std::vector<TokenId>{5});
  CHECK(engine.prompt(prompt, &cancel).error().message == "cancelled");
  REQUIRE(engine.prompt(prompt).ok());
  const auto none = engine.generate({.max_tokens = 0});
  CHECK(none.value().ids.empty());
  CHECK(none.value().stop == StopReason::kLength);
  CHECK(engine.generate({}).error().message == "the script has no further completion");
}

TEST_CASE("the fake engine takes what its constraint allows where the script does not fit") {
  Fake engine(small(), {{9, 9}, {9}, {9}});
  REQUIRE(engine.prompt(std::vector<TokenId>{1}).ok());
  class Masked : public TokenConstraint {
   public:
    Allowed next(std::span<const TokenId> sampled) override {
      if (sampled.size() == 3) return {.kind = Allowed::Kind::kDone};
      mask_ = {sampled.size() == 1 ? 0b1000000000U : 0b100100U};
      return {.kind = Allowed::Kind::kMask, .mask = mask_};
    }

   private:
    std::array<std::uint64_t, 1> mask_{};
  };
  Masked masked;
  CHECK(engine.generate({.constraint = &masked}).value().ids == std::vector<TokenId>{2, 9, 2});
  class Nothing : public TokenConstraint {
   public:
    Allowed next(std::span<const TokenId> /*sampled*/) override { return {.kind = Allowed::Kind::kOnly}; }
  };
  Nothing nothing;
  CHECK(engine.generate({.constraint = &nothing}).error().message == "the constraint allows no token");
}
