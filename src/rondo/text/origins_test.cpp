#include "text/origins.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <vector>

namespace rondo::text {
namespace {

PathId members_of(PathTable& paths, PathId parent, const std::vector<std::string>& names) {
  return paths.members(parent, names.size(), [&](std::size_t i) { return std::string_view(names[i]); });
}

}  // namespace

TEST_CASE("paths that are made one by one are found again, however many there are") {
  PathTable paths;
  std::vector<std::string> wanted;
  std::vector<PathId> made;
  const auto make = [&](std::size_t i) {
    const std::string key = "a key of the same beginning " + std::to_string(i) + " and end";
    const PathId parent = i % 2 == 0 ? paths.variable("messages") : paths.variable("tools");
    return i % 3 == 0 ? paths.index(parent, i) : i % 3 == 1 ? paths.member(parent, key) : paths.key_of(parent, key);
  };
  for (std::size_t i = 0; i < 1000; ++i) {
    made.push_back(make(i));
    wanted.push_back(paths.to_string(made.back()));
  }
  const std::size_t size = paths.size();
  CHECK(size == 1003);  // the two variables, and none
  for (std::size_t i = 0; i < 1000; ++i) {
    REQUIRE(make(i) == made[i]);
    REQUIRE(paths.to_string(made[i]) == wanted[i]);
    const bool is_message = i % 2 == 0 && i % 3 == 0;
    REQUIRE(paths.message(made[i]) == (is_message ? static_cast<std::int32_t>(i) : kNoMessage));
  }
  CHECK(paths.size() == size);
  CHECK(wanted[3] == "tools[3]");
  CHECK(wanted[5] == "tools.#a key of the same beginning 5 and end");
}

TEST_CASE("steps of different kinds are different paths") {
  PathTable paths;
  const PathId root = paths.variable("a");
  CHECK(paths.member(PathId::kNone, "a") != root);
  CHECK(paths.member(root, "b") != paths.key_of(root, "b"));
  CHECK(paths.index(root, 0) != paths.member(root, ""));
  CHECK(paths.member(root, "abcdefgh") != paths.member(root, "abcdefghi"));
  CHECK(paths.member(root, "abcdefgh1abcdefgh") != paths.member(root, "abcdefgh2abcdefgh"));
  CHECK(paths.to_string(paths.key_of(PathId::kNone, "b")) == "#b");
  CHECK(paths.step_index(paths.index(root, 7)) == 7);
  CHECK(paths.step_name(paths.index(root, 7)).empty());
  CHECK(paths.root(PathId::kNone).empty());
  CHECK(paths.depth(PathId::kNone) == 0);
  CHECK(paths.contains(PathId::kNone));
}

TEST_CASE("only what is below a variable called messages belongs to a message") {
  PathTable paths;
  const PathId messages = paths.variable("messages");
  CHECK(kNoMessage < 0);  // so that it is not an index
  CHECK(paths.message(messages) == kNoMessage);
  CHECK(paths.message(paths.index(messages, 0)) == 0);
  const PathId inner = paths.member(paths.index(messages, 2), "messages");
  CHECK(paths.message(paths.index(inner, 9)) == 2);
  const PathId elsewhere = paths.member(paths.variable("body"), "messages");
  CHECK(paths.message(paths.index(elsewhere, 9)) == kNoMessage);
  CHECK(paths.message(paths.indices(elsewhere, 2)) == kNoMessage);
  const PathId enumerated = paths.indices(paths.member(paths.index(messages, 4), "parts"), 3);
  CHECK(paths.message(enumerated) == 4);
  CHECK(paths.to_string(paths.index(paths.parent(enumerated), 2)) == "messages[4].parts[2]");
}

TEST_CASE("parts are enumerated once, and as what they were first") {
  PathTable paths;
  const PathId list = paths.variable("list");
  const PathId first = paths.indices(list, 3);
  CHECK(paths.indices(list, 3) == first);
  CHECK(paths.indices(list, 2) == PathId::kNone);
  CHECK(members_of(paths, list, {"a", "b", "c"}) == PathId::kNone);
  CHECK(paths.indices(list, 0) == PathId::kNone);
  CHECK(paths.indices(PathId::kNone, 1) == PathId::kNone);
  CHECK(paths.member(list, "a") != first);
  CHECK(paths.to_string(paths.index(list, 3)) == "list[3]");

  // A huge object is not enumerated, but a list of any length is.
  std::vector<std::string> names;
  for (int i = 0; i < 65; ++i) names.push_back("k" + std::to_string(i));
  CHECK(members_of(paths, paths.variable("huge"), names) == PathId::kNone);
  names.pop_back();
  const PathId most = members_of(paths, paths.variable("large"), names);
  REQUIRE(most != PathId::kNone);
  CHECK(paths.to_string(paths.member(paths.variable("large"), "k63")) == "large.k63");
  CHECK(paths.indices(paths.variable("long"), 65) != PathId::kNone);
}

TEST_CASE("objects with the same keys share their names") {
  PathTable paths;
  const PathId list = paths.variable("list");
  members_of(paths, paths.index(list, 0), {"role", "content"});
  const std::size_t names = paths.sizes().names;
  const PathId second = members_of(paths, paths.index(list, 1), {"role", "content"});
  CHECK(paths.sizes().names == names);
  CHECK(paths.to_string(second) == "list[1].role");
  members_of(paths, paths.index(list, 2), {"role", "content", "name"});
  CHECK(paths.sizes().names == names + 3);
}

TEST_CASE("the key of a member is one path, whichever of the two was made first") {
  PathTable paths;
  const PathId before = paths.variable("before");
  const PathId key = paths.key_of(before, "a");
  const PathId member = members_of(paths, before, {"a", "b"});
  CHECK(paths.key_of_member(member) == key);
  CHECK(paths.key_of(before, "a") == key);
  CHECK(paths.to_string(paths.key_of(before, "b")) == "before.#b");
  CHECK(paths.key_of(before, "b") != key);
}

TEST_CASE("chains know their steps") {
  ChainTable chains;
  CHECK(chains.last_step(ChainId::kNone).empty());
  CHECK(chains.to_string(ChainId::kNone).empty());
  const ChainId strip = chains.extend(ChainId::kNone, "strip");
  const ChainId json = chains.extend(strip, "json");
  const ChainId again = chains.extend(json, "strip");
  CHECK(chains.steps(again) == std::vector<std::string>{"strip", "json", "strip"});
  CHECK(chains.last_step(json) == "json");
  CHECK(chains.contains(again, "json"));
  CHECK_FALSE(chains.contains(ChainId::kNone, "strip"));
  CHECK_FALSE(chains.contains(again, ""));
  CHECK(chains.extend(ChainId::kNone, "json") != json);
  CHECK(chains.extend(ChainId::kNone, "") != ChainId::kNone);
  CHECK(chains.size() == 6);
}

TEST_CASE("contexts are found again, however many there are") {
  ContextTable contexts;
  CHECK(contexts.intern({}) == ContextId::kNone);
  std::vector<Context> all;
  for (std::int32_t message = kNoMessage; message < 60; ++message) {
    for (const bool prompt : {false, true}) {
      for (const bool block : {false, true}) {
        Context context;
        context.message = message;
        context.guard = message % 5 - 1;
        context.element = static_cast<PathId>(message % 3 + 1);
        context.generation_prompt = prompt;
        context.generation_block = block;
        all.push_back(context);
      }
    }
  }
  std::vector<ContextId> ids;
  for (const Context& context : all) ids.push_back(contexts.intern(context));
  CHECK(contexts.size() == all.size() + 1);
  for (std::size_t i = 0; i < all.size(); ++i) {
    REQUIRE(contexts.intern(all[i]) == ids[i]);
    REQUIRE(contexts.at(ids[i]) == all[i]);
  }
  CHECK(contexts.intern({}) == ContextId::kNone);
  CHECK(contexts.size() == all.size() + 1);
}

TEST_CASE("output belongs to the message that a context is bound to, else to its guard") {
  Context context;
  CHECK(context.owner() == kNoMessage);
  context.guard = 2;
  CHECK(context.owner() == 2);
  context.message = 0;
  CHECK(context.owner() == 0);
}

}  // namespace rondo::text
