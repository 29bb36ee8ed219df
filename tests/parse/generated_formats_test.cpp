// Laws over random templates: whatever markers, brackets and places a template has, its format is inferred, its turns are
// read back, constrained and bridged.
//
// RONDO_GENERATED=N templates, from seed RONDO_SEED on.  RONDO_VERBOSE=N names the seed of each failure at once, shrinks N
// of each law at the end and prints one of each kind.  RONDO_LAW=NAME: that law alone.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <utility>

#include "tests/support/format_laws.h"
#include "tests/support/random_message.h"
#include "tests/support/random_template.h"
#include "tests/support/shrink_template.h"

namespace rondo {
namespace {

using test::Failure;
using test::Law;

constexpr int kMessagesPerTemplate = 6;
// A run of all of them shows that many failures of a law that is broken more often than it may be.
constexpr std::size_t kShownPerLaw = 3;

// How many of a thousand messages may break the law: what 10,000 templates were measured to break (docs/parse.md), and a little
// more, since 150 of them are a small sample.  A bound goes down with each fault that is mended; none goes up.
struct Bound {
  Law law;
  double per_thousand;
};
constexpr Bound kBounds[] = {
    {Law::kReads, 0},
    {Law::kKeepsAll, 0},
    {Law::kPieces, 0},
    // 0: calls that the prompt forces behind reasoning whose marks begin as theirs do.
    {Law::kAccepts, 0.5},
    // 1: calls behind several signs that could each begin one.
    {Law::kIsRead, 10},
    // 0.3: two marks that touch and share a sign.
    {Law::kRefuses, 2},
    // 0.03: a token that ends both a call and content.
    {Law::kReadsIds, 0.5},
    {Law::kBridges, 0},
    {Law::kReturns, 0},
    {Law::kTravels, 0},
};
// Fewer templates say nothing about rates, but a law that nothing may break is judged by any number.
constexpr std::uint64_t kFewestJudged = 100;

struct Tally {
  long checked = 0;
  long broken = 0;
  std::vector<Failure> failures;

  [[nodiscard]] double rate() const {
    return checked == 0 ? 0 : 1000.0 * static_cast<double>(broken) / static_cast<double>(checked);
  }
};

std::uint64_t env_number(const char* name, std::uint64_t otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::strtoull(text, nullptr, 10) : otherwise;
}

bool is_asked(Law law) {
  const char* only = std::getenv("RONDO_LAW");
  return only == nullptr || test::to_string(law) == only;
}

void check_template(std::uint64_t seed, std::map<Law, Tally>& tallies) {
  const bool names_seeds = std::getenv("RONDO_VERBOSE") != nullptr;
  const test::Specimen specimen = test::specimen_of(test::random_shape(seed));
  for (int i = 0; i < kMessagesPerTemplate; ++i) {
    const test::MessageParts message =
        test::random_message(specimen.shape, seed * kMessagesPerTemplate + static_cast<std::uint64_t>(i));
    for (const Law law : test::kLaws) {
      // Only a law of the format alone.
      if ((law == Law::kTravels && i > 0) || !is_asked(law)) continue;
      const test::Verdict verdict = test::check_law(law, specimen, message, seed);
      if (!verdict.applies) continue;
      Tally& tally = tallies[law];
      ++tally.checked;
      if (verdict.objection.empty()) continue;
      ++tally.broken;
      if (names_seeds) MESSAGE(test::to_string(law) << ": seed " << seed << ", message " << i);
      tally.failures.push_back({law, seed, specimen.shape, message, verdict.objection});
    }
  }
}

// One of each kind, the most frequent first.
std::string kinds_of(const std::vector<Failure>& failures, std::size_t limit) {
  std::map<std::string, std::vector<Failure>> kinds;
  const std::size_t step = std::max<std::size_t>(1, failures.size() / std::max<std::size_t>(1, limit));
  for (std::size_t i = 0; i < failures.size(); i += step) {
    Failure small = test::shrunk(failures[i]);
    kinds[test::kind_of(small)].push_back(std::move(small));
  }
  std::vector<const std::vector<Failure>*> order;
  for (const auto& [kind, list] : kinds) order.push_back(&list);
  std::ranges::stable_sort(order, [](const auto* a, const auto* b) { return a->size() > b->size(); });
  std::string out;
  for (const auto* list : order)
    out += std::to_string(list->size()) + " of the kind " + test::kind_of(list->front()) + "\n" +
           test::to_string(list->front()) + "\n";
  return out;
}

TEST_CASE("000:258: laws hold for random templates and messages") {
  const bool is_full = std::getenv("RONDO_TEST_FULL") != nullptr;
  const std::uint64_t count = env_number("RONDO_GENERATED", is_full ? 10000 : 45);
  const std::uint64_t first = env_number("RONDO_SEED", 1);
  std::map<Law, Tally> tallies;
  for (std::uint64_t seed = first; seed < first + count; ++seed) check_template(seed, tallies);
  std::string report = std::to_string(count) + " templates\n";
  for (const Bound& bound : kBounds) {
    const Tally& tally = tallies[bound.law];
    char line[160];
    std::snprintf(line, sizeof line, "  %-10s %7ld checked %6ld broken  %7.2f of 1000, %.2f allowed\n",
                  std::string(test::to_string(bound.law)).c_str(), tally.checked, tally.broken, tally.rate(),
                  bound.per_thousand);
    report += line;
  }
  MESSAGE(report);
  const std::uint64_t shown = env_number("RONDO_VERBOSE", 0);
  for (const Bound& bound : kBounds) {
    Tally& tally = tallies[bound.law];
    if (shown > 0 && tally.broken > 0) MESSAGE(kinds_of(tally.failures, shown));
    const bool is_judged = count >= kFewestJudged || bound.per_thousand == 0;
    if (!is_judged || tally.rate() <= bound.per_thousand) continue;
    tally.failures.resize(std::min(tally.failures.size(), kShownPerLaw));
    for (const Failure& failure : tally.failures) MESSAGE(test::to_string(test::shrunk(failure)));
    CHECK_MESSAGE(tally.rate() <= bound.per_thousand, test::to_string(bound.law));
  }
}

// One description for a seed, another for the next; what is simplest is the default, and simplifying ends there.
TEST_CASE("random templates are what their seeds say, and can be made simple") {
  CHECK(test::random_shape(7) == test::random_shape(7));
  CHECK(!(test::random_shape(7) == test::random_shape(8)));
  CHECK(test::to_string(test::TemplateShape()).empty());
  CHECK(test::is_sound(test::TemplateShape()));
  for (std::uint64_t seed = 1; seed < 200; ++seed) {
    test::TemplateShape shape = test::random_shape(seed);
    CHECK(test::is_sound(shape));
    for (const test::Simplification& step : test::simplifications(shape)) {
      test::TemplateShape simpler = shape;
      step.apply(simpler);
      test::tidy(simpler);
      if (test::is_sound(simpler)) shape = simpler;
    }
    shape.has_calls = true;
    CHECK_MESSAGE(test::to_string(shape).empty(), seed << "\n" << test::to_string(shape));
  }
}

TEST_CASE("random messages are what their seeds say, and can be made simple") {
  for (std::uint64_t seed = 1; seed < 200; ++seed) {
    const test::TemplateShape shape = test::random_shape(seed);
    test::MessageParts message = test::random_message(shape, seed);
    CHECK(test::is_expressible(shape, message));
    CHECK(test::to_string(message) == test::to_string(test::random_message(shape, seed)));
    for (bool goes_on = true; goes_on;) {
      goes_on = false;
      for (const test::MessageParts& simpler : test::simpler_messages(message)) {
        if (!test::is_expressible(shape, simpler)) continue;
        message = simpler;
        goes_on = true;
        break;
      }
    }
    if (shape.reasoning == test::ReasoningPlace::kOpened) CHECK(std::exchange(message.reasoning, "") == "x");
    const std::string smallest = test::to_string(message);
    CHECK_MESSAGE((smallest == R"({"content":"x"})" || smallest == R"({"calls":[{"search":{}}]})"), smallest);
  }
}

// What all laws object to in a template and a message.
std::string objections(const test::TemplateShape& shape, const test::MessageParts& message) {
  const test::Specimen specimen = test::specimen_of(shape);
  std::string out;
  for (const Law law : test::kLaws) {
    const test::Verdict verdict = test::check_law(law, specimen, message, 1);
    if (verdict.applies && !verdict.objection.empty())
      out.append(test::to_string(law)).append(": ").append(verdict.objection).append("\n");
  }
  return out;
}

// Calls in tags with parameters, in turns that only the next one's header ends.
test::TemplateShape unstopped_parameters() {
  test::TemplateShape shape;
  shape.form = test::CallForm::kTags;
  shape.argument_form = test::ArgumentForm::kParameters;
  shape.stop.clear();
  shape.header = {"<|turn|>", "<|says|>"};
  return shape;
}

TEST_CASE("bug: a call without arguments was closed twice where its close has a number") {
  test::TemplateShape shape = unstopped_parameters();
  shape.call = {"<do>", "[/do]</over#\x1A>"};
  shape.parameter = {"<p:", ">", ">", "</p:", "", false};
  CHECK(objections(shape, {.reasoning = "", .content = "", .calls = {json::Object()}, .names = {"search"}}) == "");
}

TEST_CASE("bug: a call without arguments was closed twice where a line's end stands between its closers") {
  test::TemplateShape shape = unstopped_parameters();
  shape.section = {"`acts`", "\n`/acts`"};
  shape.parameter = {"`set`", "=", "`/set`", "", "", false};
  CHECK(objections(shape, {.reasoning = "", .content = "", .calls = {json::Object()}, .names = {"search"}}) == "");
}

TEST_CASE("bug: white space behind the calls became the content's where only the next turn ends one") {
  test::TemplateShape shape;
  shape.form = test::CallForm::kTags;
  shape.stop.clear();
  shape.section = {"<:acts#:>", "<:/acts:> "};
  shape.name.close.clear();
  shape.content_behind = true;
  CHECK(objections(shape, {.reasoning = "", .content = "x", .calls = {json::Object()}, .names = {"search"}}) == "");
}

TEST_CASE("bug: a token that closes content ended the turn where it closes reasoning behind a quote") {
  test::TemplateShape shape;
  shape.stop.clear();
  shape.reasoning = test::ReasoningPlace::kWhereThere;
  shape.thought = {"<|why|>", "<|done|>"};
  shape.content = {"<|say|>", "<|done|>"};
  shape.reasoning_filter = "|tojson";
  CHECK(objections(shape, {.reasoning = "x", .content = "", .calls = {json::Object()}, .names = {"search"}}) == "");
}

TEST_CASE("bug: an answer that is one quote was taken for the close of quoted reasoning") {
  test::TemplateShape shape;
  shape.reasoning = test::ReasoningPlace::kWhereThere;
  shape.thought = {"<|why|>", " <|/why|>"};
  shape.reasoning_filter = "|tojson";
  CHECK(objections(shape, {.reasoning = "", .content = "\"", .calls = {}}) == "");
}

}  // namespace
}  // namespace rondo
