// Replays of a few requests.  Every byte of their prompts is a token, and so is each marker.
#include "replay/replay.h"

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "analysis/analyse.h"
#include "tests/support/byte_tokenizer.h"
#include "tests/support/replays.h"

namespace rondo::replay {
namespace {

constexpr std::string_view kUsual =
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<assistant>{% endif %}";

ReplayReport replay(const std::vector<std::string>& lines, std::string_view source = kUsual) {
  PromptMaker::Parts parts;
  auto compiled = jinja::Template::compile(std::string(source), {}, "invented.jinja");
  REQUIRE(compiled.ok());
  parts.chat_template = compiled.value();
  parts.tokenizer = test::byte_tokenizer({"<system>", "<user>", "<assistant>", "<end>"}, "<end>");
  analysis::Options options;
  options.tokenizer = parts.tokenizer.get();
  auto format = analysis::analyse(*parts.chat_template, options);
  REQUIRE(format.ok());
  parts.format = format.value();
  return test::replay_of(std::move(parts), {}, lines);
}

std::uint64_t hits(const ReplayReport& report) {
  REQUIRE(report.lanes.front().name == "as-sent");
  return report.lanes.front().hits[static_cast<std::size_t>(cache::Policy::kRadix)];
}

// A request of the Responses API, with the reply that it got.
std::string asked(const std::string& request, const std::string& id, const std::string& said) {
  return R"({"body": {"model": "m", )" + request + R"(}, "response": {"id": ")" + id +
         R"(", "output": [{"type": "message", "role": "assistant", "content": ")" + said + R"("}]}})";
}

TEST_CASE("a chain of replies goes on with what was asked, with instructions or without") {
  const std::string before = R"("input": "more", "previous_response_id": "r1")";
  // <user>hello<end><assistant> are 8 ids, fine<end> 5.
  const ReplayReport plain = replay({asked(R"("input": "hello")", "r1", "fine"), asked(before, "r2", "x")});
  CHECK(plain.requests == 2);
  CHECK(plain.conversations == 1);
  CHECK(hits(plain) == 8 + 5);
  CHECK(plain.causes.empty());
  // Instructions belong to each request: those of the first are not sent again.
  const ReplayReport dropped =
      replay({asked(R"("input": "hello", "instructions": "abcd")", "r1", "fine"), asked(before, "r2", "x")});
  CHECK(dropped.requests == 2);
  CHECK(hits(dropped) == 0);
  const ReplayReport added =
      replay({asked(R"("input": "hello")", "r1", "fine"), asked(before + R"(, "instructions": "abcd")", "r2", "x")});
  CHECK(hits(added) == 0);
  CHECK(added.causes.size() == 1);
}

TEST_CASE("bug: a cause names the field that the client sent, not the one that the template reads") {
  const std::string drops =
      "{% for m in messages %}<{{ m.role }}>{% if m.thinking and loop.last %}[{{ m.thinking }}]{% endif %}"
      "{{ m.content }}<end>{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}";
  const std::string user = R"({"role": "user", "content": "hello"})";
  for (const std::string field : {"reasoning_content", "reasoning", "thinking"}) {
    CAPTURE(field);
    const std::string said = R"({"role": "assistant", ")" + field + R"(": "hm", "content": "fine"})";
    const ReplayReport report =
        replay({R"({"request": {"messages": [)" + user + R"(]}, "response": {"choices": [{"message": )" + said + "}]}}",
                R"({"request": {"messages": [)" + user + ", " + said + ", " + user + "]}}"},
               drops);
    REQUIRE(report.causes.size() == 1);
    CHECK(report.causes.front().name == "template: reasoning-dropped");
    CHECK(report.causes.front().examples.front().path == "messages[1]." + field);
  }
}

TEST_CASE("a reply that says nothing is its stop alone") {
  const std::string user = R"({"role": "user", "content": "hello"})";
  const std::string nothing = R"({"role": "assistant", "content": ""})";
  const ReplayReport report =
      replay({R"({"messages": [)" + user + "]}", R"({"messages": [)" + user + ", " + nothing + ", " + user + "]}"});
  CHECK(hits(report) == 8 + 1);
  CHECK(report.causes.empty());
}

}  // namespace
}  // namespace rondo::replay
