// What a fake engine says, and what its caches hold.
#include "fakes/model.h"

#include <doctest/doctest.h>

#include <string>

#include "fakes/memory.h"
#include "tests/support/json.h"

namespace rondo::fakes {
namespace {

using testing::parsed;

TEST_CASE("fake model: what was cut off goes on as it would have, and seeds differ") {
  const Model model(ModelOptions{.end_after = 1000, .rules = {{{1, 2, 3}, {65, 226, 130, 172, 66, 2}}}});
  const Ids prompt = {9, 9, 9};
  const Completion whole = model.complete(prompt, {.max_tokens = 20});
  Ids half = prompt;
  half.insert(half.end(), whole.ids.begin(), whole.ids.begin() + 7);
  const Completion rest = model.complete(half, {.max_tokens = 13});
  CHECK(Ids(whole.ids.begin() + 7, whole.ids.end()) == rest.ids);
  CHECK(model.complete(prompt, {.max_tokens = 20, .seed = 1}).ids != whole.ids);
  CHECK(model.complete({{5, 1, 2, 3, 65, 226}}, {.max_tokens = 20}).ids == Ids{130, 172, 66, 2});
  CHECK(model.complete({{5, 1, 2, 3}}, {.max_tokens = 8, .ignore_end = true}).ids.size() == 8);
}

TEST_CASE("fake model: ids that a request excludes are not sampled") {
  const Model model(ModelOptions{.rules = {{{1}, {300, 301, 302, 300, 301, 2}}}});
  CHECK(model.complete({{1}}, {.bad = {{300, 301}, {302}}}).ids == Ids{300, 303, 303, 300, 303, 2});
  const Completion only = model.complete({{1}}, {.max_tokens = 5, .allowed = {301, 305}});
  CHECK(only.ids == Ids{301, 301, 305, 301, 301});
  CHECK(only.stop == Stop::kLength);
}

TEST_CASE("fake model: scripts") {
  const auto read = [](const std::string& text) { return read_model(parsed(text)); };
  const auto good = read(
      R"({"vocabulary": 1000, "end_ids": [9], "pieces": {"300": "Hi"}, "rules": [{"suffix": [1], "completion": [300, 9]}]})");
  REQUIRE(good.ok());
  const Model model(good.value());
  const Completion completion = model.complete({{5, 1}}, {});
  CHECK(completion.ids == Ids{300, 9});
  CHECK(completion.stop == Stop::kEnd);
  CHECK(model.text_of(completion.ids) == "Hi");
  // The ends of a script take the place of the default.
  const ModelOptions defaults{.end_ids = {2}};
  CHECK(read_model(parsed(R"({"end_ids": [9]})"), defaults).value().end_ids == Ids{9});
  CHECK(read_model(parsed("{}"), defaults).value().end_ids == Ids{2});
  CHECK(read(R"({"rules": [{"suffix": "x"}]})").error().message ==
        "script.rules[0].suffix must be an array, found a string");
  CHECK(read(R"({"pieces": {"x": "a"}})").error().message == "script.pieces: `x` must be an id, with a text");
  CHECK(read(R"({"first_plain": 600})").error().message == "script.first_plain must be below script.vocabulary");
  CHECK(read("[]").error().message == "script must be an object, found an array");
  CHECK(read(R"({"odd": 1})").error().message == "script: unknown member `odd`");
}

TEST_CASE("fake model: a conversation is said turn by turn") {
  const auto read = read_model(parsed(R"({"end_ids": [9], "opens": [1, 2], "turns": [[11, 12, 9], [13, 9]],
                            "rules": [{"suffix": [7, 1, 2], "completion": [8, 9]}]})"));
  REQUIRE(read.ok());
  const Model model(read.value());
  CHECK(model.complete({{5, 1, 2}}, {}).ids == Ids{11, 12, 9});
  CHECK(model.complete({{5, 1, 2, 11}}, {}).ids == Ids{12, 9});
  CHECK(model.complete({{5, 1, 2, 11, 12, 9, 6, 1, 2}}, {}).ids == Ids{13, 9});
  CHECK(model.complete({{1, 2, 1, 2, 1, 2}}, {}).ids == Ids{13, 9});
  CHECK(model.complete({{1, 2, 7, 1, 2}}, {}).ids == Ids{8, 9});
  CHECK(model.complete({{5, 1, 2, 12}}, {}).ids != Ids{11, 12, 9});
}

TEST_CASE("fake caches: the beginnings used longest ago are forgotten") {
  BlockMemory memory(1, 10);
  memory.keep(Ids{1, 2, 3, 4}, "");
  memory.keep(Ids{5, 6, 7}, "");
  CHECK(memory.known(Ids{1, 2, 3, 4, 9}, "") == 4);
  memory.keep(Ids{8, 9, 10, 11}, "");
  CHECK(memory.known(Ids{1, 2, 3, 4, 9}, "") < 4);
  CHECK(memory.known(Ids{8, 9, 10, 11, 12}, "") == 4);
  CHECK(memory.known(Ids{}, "") == 0);
}

}  // namespace
}  // namespace rondo::fakes
