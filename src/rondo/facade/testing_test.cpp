#include "rondo/testing.h"

#include <string>

#include "tests/support/facade_models.h"

namespace rondo::testing {
namespace {

constexpr const char* kQuestion = R"([{"role": "user", "content": "Hi"}])";
constexpr const char* kPrompt = "<bos>[[user: Hi~fin~[[assistant: ";
constexpr const char* kCall = R"({!do add with {"a": 2} do!}~fin~)";

std::string joined(const Check& made) {
  std::string out;
  for (const std::string& failure : made.failures()) out += failure;
  return out;
}

TEST_CASE("a conversation is tested in one line") {
  const Model model = tiny_model();
  CHECK(joined(check(model)
                   .messages(kQuestion)
                   .renders(kPrompt)
                   .contains("Hi")
                   .excludes("None")
                   .encodes(tokens(model, kPrompt))
                   .tools(kTools)
                   .kwargs("{}")
                   .now("2026-03-14T15:09:26")
                   .parses(kCall, R"({"tool_calls": [{"name": "add", "arguments": {"a": 2}}], "place": "ended"})")
                   .in_pieces()
                   .grammar_accepts()
                   .grammar_accepts(kCall)
                   .grammar_refuses(R"({!do add with {"a": "x"} do!}~fin~)")
                   .bridges(R"([{"role": "tool", "name": "add", "content": "4"}])")) == "");
  CHECK(check(model)
            .messages(R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}])")
            .round_trips()
            .learns({"Hello~fin~"})
            .holds()
            .expect("mask", R"({"part": "content", "roles": ["user"], "texts": "Hi"})")
            .passed());
  CHECK(check(model).messages(R"([{"role": "narrator", "content": "x"}])").fails("no such role").passed());
}

TEST_CASE("what fails is collected, with the template's line") {
  const Model model = tiny_model();
  const std::string failed = joined(check(model).messages(kQuestion).renders("<bos>[[user: Ho~fin~[[assistant: "));
  CHECK(failed.starts_with("rendered: the prompt is another text\n"));
  CHECK(failed.find("messages[0].content, written by template line ") != std::string::npos);
  Check all = check(model);
  all.messages(kQuestion).contains("x").excludes("Hi").encodes({1}).learns({"x"}).fails("x").round_trips();
  CHECK(all.failures().size() == 6);
  all.writes("Hello~fin~").grammar_refuses("x").holds();
  CHECK_FALSE(all.passed());
}

TEST_CASE("where no turn is written, nothing can be read in pieces") {
  const Model model = tiny_model();
  CHECK_FALSE(check(model).messages(kQuestion).in_pieces().passed());
  CHECK(check(model).messages(kQuestion).writes("Hello~fin~").in_pieces().passed());
}

TEST_CASE("what is no JSON, or no case, is a failure too") {
  const Model model = tiny_model();
  CHECK(joined(check(model).messages("[")).starts_with("messages: line 1:2: "));
  CHECK(joined(check(model).messages(kQuestion).parses("x", "{")).starts_with("parsed: line 1:2: "));
  CHECK(joined(check(model).messages(kQuestion).bridges("x")).starts_with("bridge: line 1:1: "));
  CHECK(joined(check(model).expect("mask", "[")).starts_with("mask: line 1:2: "));
  CHECK(joined(check(model).input("tols", "[]").holds()).starts_with("unknown key `tols` in a case"));
}

}  // namespace
}  // namespace rondo::testing
