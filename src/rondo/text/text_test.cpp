#include "text/text.h"

#include <doctest/doctest.h>

#include <string>
#include <string_view>

namespace rondo::text {
namespace {

struct Fixture {
  Origins origins;
  PathId content;
  ContextId context;

  Fixture() {
    origins.literals = {{1, 1}, {2, 4}};
    content = origins.paths.member(origins.paths.index(origins.paths.variable("messages"), 3), "content");
    Context in_message;
    in_message.message = 3;
    context = origins.contexts.intern(in_message);
  }
};

TEST_CASE("paths are interned, print and know their message") {
  PathTable paths;
  const PathId messages = paths.variable("messages");
  const PathId third = paths.index(messages, 3);
  const PathId content = paths.member(third, "content");
  CHECK(paths.member(paths.index(paths.variable("messages"), 3), "content") == content);
  CHECK(paths.to_string(content) == "messages[3].content");
  CHECK(paths.to_string(paths.key_of(content, "city")) == "messages[3].content.#city");
  CHECK(paths.message(content) == 3);
  CHECK(paths.message(messages) == kNoMessage);
  CHECK(paths.message(paths.index(paths.variable("tools"), 3)) == kNoMessage);
  CHECK(paths.root(content) == "messages");
  CHECK(paths.depth(content) == 3);
  CHECK(paths.prefix(content, 2) == third);
}

TEST_CASE("paths of all parts are made at once, and are those that single ones have") {
  PathTable paths;
  const auto members = [&](PathId parent, std::vector<std::string_view> names) {
    return paths.members(parent, names.size(), [&](std::size_t i) { return names[i]; });
  };
  const PathId messages = paths.variable("messages");
  const PathId first = paths.indices(messages, 3);
  CHECK(paths.index(messages, 0) == first);
  CHECK(paths.to_string(paths.index(messages, 2)) == "messages[2]");
  CHECK(paths.message(paths.index(messages, 2)) == 2);
  CHECK(paths.index(messages, 3) != first);
  const PathId role = members(first, {"role", "content"});
  CHECK(paths.member(first, "role") == role);
  CHECK(paths.to_string(paths.member(first, "content")) == "messages[0].content");
  CHECK(paths.member(first, "name") != role);
  CHECK(paths.key_of(first, "role") == paths.key_of_member(role));
  CHECK(paths.to_string(paths.key_of_member(role)) == "messages[0].#role");
  // An object of the same shape, and one that begins alike.
  CHECK(paths.to_string(members(paths.index(messages, 1), {"role", "content"})) == "messages[1].role");
  CHECK(paths.to_string(members(paths.index(messages, 2), {"role", "contest"})) == "messages[2].role");
  CHECK(paths.to_string(paths.member(paths.index(messages, 2), "contest")) == "messages[2].contest");
  CHECK(members(PathId::kNone, {"a"}) == PathId::kNone);
}

TEST_CASE("paths of a text that is parsed in two ways keep their names") {
  PathTable paths;
  const PathId text = paths.variable("text");
  const auto members = [&](std::vector<std::string_view> names) {
    return paths.members(text, names.size(), [&](std::size_t i) { return names[i]; });
  };
  const PathId key = paths.key_of(text, "a");
  const PathId first = members({"a", "b"});
  CHECK(members({"a", "b"}) == first);
  CHECK(paths.key_of(text, "a") == key);
  CHECK(members({"a", "c"}) == PathId::kNone);
  CHECK(members({"a"}) == PathId::kNone);
  CHECK(paths.member(text, "a") == first);
  CHECK(paths.to_string(paths.member(text, "c")) == "text.c");
}

TEST_CASE("the key of an enumerated member needs no entry, and may have parts itself") {
  PathTable paths;
  const PathId args = paths.variable("args");
  const std::vector<std::string_view> names = {"a", "b"};
  const auto members = [&](PathId parent) { return paths.members(parent, 2, [&](std::size_t i) { return names[i]; }); };
  const PathId member = members(args);
  const std::size_t size = paths.size();
  const PathId key = paths.key_of(args, "a");
  CHECK(paths.size() == size);
  CHECK(key != member);
  CHECK(paths.contains(key));
  CHECK(paths.step_kind(key) == PathTable::StepKind::kKey);
  CHECK(paths.step_kind(member) == PathTable::StepKind::kMember);
  CHECK(paths.step_name(key) == "a");
  CHECK(paths.parent(key) == args);
  CHECK(paths.depth(key) == 2);
  CHECK(paths.prefix(key, 1) == args);
  // Text parsed from a key: its parts are not those of the member.
  CHECK(members(key) == PathId::kNone);
  CHECK(paths.indices(key, 2) == PathId::kNone);
  CHECK(paths.to_string(paths.index(key, 0)) == "args.#a[0]");
  CHECK(paths.to_string(paths.member(key, "b")) == "args.#a.b");
  CHECK(paths.to_string(members(member)) == "args.a.a");
  CHECK(paths.member(key, "b") != paths.member(member, "b"));
  CHECK_FALSE(paths.contains(static_cast<PathId>(paths.size())));
}

TEST_CASE("many chains are found again, as few are") {
  ChainTable chains;
  std::vector<ChainId> made;
  for (int i = 0; i < 60; ++i) {
    made.push_back(chains.extend(i % 3 == 0 ? ChainId::kNone : made.back(), "step" + std::to_string(i)));
  }
  for (int i = 0; i < 60; ++i) {
    const ChainId parent = i % 3 == 0 ? ChainId::kNone : made[static_cast<std::size_t>(i) - 1];
    CHECK(chains.extend(parent, "step" + std::to_string(i)) == made[static_cast<std::size_t>(i)]);
  }
  CHECK(chains.to_string(made[2]) == "step0, step1, step2");
}

TEST_CASE("chains are interned; a repeated step counts once") {
  ChainTable chains;
  const ChainId strip = chains.extend(ChainId::kNone, "strip");
  CHECK(chains.extend(strip, "strip") == strip);
  const ChainId both = chains.extend(strip, "json");
  CHECK(chains.to_string(both) == "strip, json");
  CHECK(chains.contains(both, "strip"));
  CHECK_FALSE(chains.contains(strip, "json"));
}

TEST_CASE_FIXTURE(Fixture, "slices keep source offsets and appends merge what continues") {
  Text text = Text::literal("Hello ", LiteralId{1}, 0, ContextId::kNone);
  text.append(Text::data("Annabel", content, context));
  CHECK(text.to_string(origins) ==
        "[0,6) literal 2:4 \"Hello \"\n"
        "[6,13) data messages[3].content[0,7) \"Annabel\" message 3\n");
  const Text part = text.slice(8, 11);
  CHECK(part.bytes() == "nab");
  CHECK(part.runs()[0].source_offset == 2);
  Text joined = text.slice(0, 9);
  joined.append(text, 9, 13);
  CHECK(joined == text);
  CHECK_FALSE(joined.verify(origins));
}

TEST_CASE_FIXTURE(Fixture, "a cut escape keeps the whole source it stands for") {
  Text text;
  Run run;
  run.kind = RunKind::kEscaped;
  run.origin = static_cast<std::uint32_t>(content);
  run.source_offset = 5;
  run.source_size = 1;
  text.append("\\n", run);
  const Text half = text.slice(1, 2);
  CHECK(half.runs()[0].source_offset == 5);
  CHECK(half.runs()[0].source_size == 1);
}

TEST_CASE_FIXTURE(Fixture, "verify names what is wrong") {
  Text text = Text::literal("x", LiteralId{7}, 0, ContextId::kNone);
  CHECK(text.verify(origins) == "run at byte 0: origin id 7 does not exist");
}

TEST_CASE_FIXTURE(Fixture, "a run that is appended goes on with the one before, unless a part has begun") {
  Text text = Text::data("Ann", content, context);
  Run run = text.runs()[0];
  run.source_offset = 3;
  text.append("abe", run);
  CHECK(text.to_string(origins) == "[0,6) data messages[3].content[0,6) \"Annabe\" message 3\n");
  run.source_offset = 6;
  const Text::Part part = text.begin_part();
  text.append("lla", run);
  CHECK(text.runs().size() == 2);
  CHECK(text.runs_of(part).size() == 1);
  text.end_part(part, [](const Run&) { return true; }, [](Run&) {});
  CHECK(text.to_string(origins) == "[0,9) data messages[3].content[0,9) \"Annabella\" message 3\n");
  CHECK_FALSE(text.verify(origins));
}

TEST_CASE_FIXTURE(Fixture, "a part ends with changed runs, which go on with each other where they now can") {
  Text text = Text::literal("ab", LiteralId{0}, 0, ContextId::kNone);
  const Text::Part outer = text.begin_part();
  Run run;
  run.kind = RunKind::kData;
  run.origin = static_cast<std::uint32_t>(content);
  text.append("Ann", run);
  const Text::Part inner = text.begin_part();
  run.source_offset = 3;
  run.context = context;
  text.append("abe", run);
  text.append("-", Text::literal("-", LiteralId{1}, 0, context).runs()[0]);
  text.end_part(inner, [](const Run&) { return true; }, [](Run&) {});
  CHECK(text.runs().size() == 4);
  text.end_part(outer, [](const Run&) { return false; }, [&](Run& each) { each.context = context; });
  CHECK(text.to_string(origins) ==
        "[0,2) literal 1:1 \"ab\"\n"
        "[2,8) data messages[3].content[0,6) \"Annabe\" message 3\n"
        "[8,9) literal 2:4 \"-\" message 3\n");
  CHECK_FALSE(text.verify(origins));
}

TEST_CASE_FIXTURE(Fixture, "when a part has ended, those before the part around it stay closed") {
  Run run;
  run.kind = RunKind::kData;
  run.origin = static_cast<std::uint32_t>(content);
  const auto append = [&run](Text& text, std::string_view bytes) {
    text.append(bytes, run);
    run.source_offset += static_cast<std::uint32_t>(bytes.size());
  };
  const auto keep = [](const Run&) { return true; };
  const auto change_nothing = [](Run&) {};
  Text text;
  append(text, "ab");
  const Text::Part outer = text.begin_part();
  const Text::Part inner = text.begin_part();
  text.end_part(inner, keep, change_nothing);
  append(text, "cd");
  append(text, "ef");  // continues what the outer part has
  CHECK(text.runs().size() == 2);
  CHECK(text.runs_of(outer).size() == 1);
  text.end_part(outer, keep, change_nothing);
  CHECK(text.runs().size() == 1);
  append(text, "gh");
  CHECK(text.to_string(origins) == "[0,8) data messages[3].content[0,8) \"abcdefgh\"\n");
}

TEST_CASE_FIXTURE(Fixture, "runs of a part that stay as they are stay apart, changed ones are joined") {
  Run run;
  run.kind = RunKind::kSerialiser;
  run.origin = static_cast<std::uint32_t>(content);
  Text text;
  const Text::Part part = text.begin_part();
  for (std::uint16_t expression = 1; expression <= 5; ++expression) text.append("x", run, ContextId::kNone, expression);
  CHECK(text.runs().size() == 5);
  // 1 and 2 are settled; the others become alike.
  text.end_part(part, [](const Run& each) { return each.expression <= 2; }, [](Run& each) { each.expression = 2; });
  REQUIRE(text.runs().size() == 2);
  CHECK(text.runs()[0].size == 1);
  CHECK(text.runs()[0].expression == 1);
  CHECK(text.runs()[1].size == 4);
  CHECK(text.runs()[1].expression == 2);
  CHECK_FALSE(text.verify(origins));
}

TEST_CASE_FIXTURE(Fixture, "only what has the same origin and stands right behind it goes on with a run") {
  Run first;
  first.kind = RunKind::kData;
  first.origin = static_cast<std::uint32_t>(content);
  first.context = context;
  first.expression = 1;
  Run next = first;
  next.source_offset = 2;
  const auto runs = [&](const Run& with) {
    Text text;
    text.append("ab", first);
    text.append("cd", with);
    Text old;
    old.append("ab", first);
    old.append_bytes("cd");
    Run sized = with;
    sized.size = 2;
    if (has_source(with.kind)) sized.source_size = 2;
    old.append_old_run(sized, with.context, with.expression);
    CHECK(old == text);
    return text.runs().size();
  };
  CHECK(runs(next) == 1);
  Run other = next;
  other.source_offset = 3;
  CHECK(runs(other) == 2);
  other = next;
  other.origin = 0;
  CHECK(runs(other) == 2);
  other = next;
  other.context = ContextId::kNone;
  CHECK(runs(other) == 2);
  other = next;
  other.chain = ChainId{1};
  CHECK(runs(other) == 2);
  other = next;
  other.expression = 2;
  CHECK(runs(other) == 2);
  other = next;
  other.kind = RunKind::kScalar;
  CHECK(runs(other) == 2);
  // Numbers represent values of their own; structure does not.
  first.kind = next.kind = RunKind::kScalar;
  CHECK(runs(next) == 2);
  first.kind = next.kind = RunKind::kSerialiser;
  CHECK(runs(next) == 1);
}

TEST_CASE_FIXTURE(Fixture, "every slice has its bytes and their sources") {
  Text text = Text::literal("abc", LiteralId{0}, 5, ContextId::kNone);
  text.append(Text::data("defgh", content, context));
  text.append(Text::made(RunKind::kScalar, "12", content, context, ChainId::kNone));
  text.append(Text::literal("ij", LiteralId{1}, 0, context));
  for (std::size_t begin = 0; begin <= text.size(); ++begin) {
    for (std::size_t end = begin; end <= text.size(); ++end) {
      const Text part = text.slice(begin, end);
      REQUIRE(part.bytes() == text.bytes().substr(begin, end - begin));
      REQUIRE(part.verify(origins).value_or("") == "");
      // Each copied byte has the same source as in the whole.
      std::size_t at = begin;
      for (const Run& run : part.runs()) {
        if (run.kind == RunKind::kLiteral && run.origin == 0) CHECK(run.source_offset == 5 + at);
        if (run.kind == RunKind::kData) CHECK(run.source_offset == at - 3);
        at += run.size;
      }
      Text whole = text.slice(0, begin);
      whole.append(part);
      whole.append(text, end, text.size());
      CHECK(whole.bytes() == text.bytes());
      CHECK(whole.runs().size() <= text.runs().size() + 2);  // only the number may be cut
    }
  }
  CHECK(text.slice(0, 0).runs().empty());
}

TEST_CASE_FIXTURE(Fixture, "a dump shows contexts and transformations") {
  Context all;
  all.message = 0;
  all.guard = 1;
  all.element = content;
  all.generation_prompt = true;
  all.generation_block = true;
  const ChainId chain = origins.chains.extend(origins.chains.extend(ChainId::kNone, "strip"), "upper");
  Text text = Text::made(RunKind::kComputed, "a\"\\\x01\x7f\n\t\r\xc3\xa9 ", PathId::kNone,
                         origins.contexts.intern(all), chain);
  CHECK(text.to_string(origins) ==
        "[0,11) computed \"a\\\"\\\\\\x01\\x7f\\n\\t\\r\u00e9 \" message 0 guard 1 in messages[3].content "
        "generation-prompt "
        "generation-block via strip, upper\n");
  CHECK(quoted("\x1f \x1e") == "\"\\x1f \\x1e\"");
  CHECK_FALSE(text.has_dumps());
}

TEST_CASE_FIXTURE(Fixture, "verify names the first violation of each kind") {
  const auto broken = [&](const auto& change) {
    Text text = Text::data("abc", content, context);
    text.append(Text::literal("d", LiteralId{0}, 0, ContextId::kNone));
    CHECK_FALSE(text.verify(origins));
    text.map_runs([&](Run& run) {
      if (run.kind == RunKind::kLiteral) change(run);
    });
    return text.verify(origins).value_or("nothing");
  };
  CHECK(broken([](Run& run) { run.origin = 2; }) == "run at byte 3: origin id 2 does not exist");
  CHECK(broken([](Run& run) { run.origin = 1; }) == "nothing");
  CHECK(broken([](Run& run) { run.context = ContextId{2}; }) == "run at byte 3: context id does not exist");
  CHECK(broken([](Run& run) { run.chain = ChainId{1}; }) == "run at byte 3: chain id does not exist");
  CHECK(broken([](Run& run) { run.source_size = 2; }) ==
        "run at byte 3: copied bytes differ in number from their source");
  Text text = Text::data("abc", content, context);
  text.append_bytes("d");
  CHECK(text.verify(origins) == "runs cover 3 of 4 bytes");
}

TEST_CASE_FIXTURE(Fixture, "texts are copied, emptied and given other bytes") {
  Text text;
  text.reserve(100, 100);
  for (int i = 0; i < 100; ++i) text.append(Text::literal("x", LiteralId{0}, 0, ContextId::kNone));
  CHECK(text.runs().size() == 100);
  Text copy = text;
  copy.append(Text::literal("y", LiteralId{1}, 0, ContextId::kNone));
  CHECK(text.runs().size() == 100);
  CHECK(copy.runs().size() == 101);
  CHECK_FALSE(copy == text);
  copy.clear();
  CHECK(copy.empty());
  CHECK(copy.runs().empty());
  copy.append(Text::data("ab", content, context));
  CHECK(copy.to_string(origins) == "[0,2) data messages[3].content[0,2) \"ab\" message 3\n");
  copy.append("", Run{});
  CHECK(copy.runs().size() == 1);
}

TEST_CASE("appending a text to itself doubles it") {
  Text text = Text::literal("ab", LiteralId{0}, 0, ContextId::kNone);
  text.append(text);
  CHECK(text.bytes() == "abab");
  CHECK(text.runs().size() == 2);
}

}  // namespace
}  // namespace rondo::text
