#include "tester/difference.h"

#include <doctest/doctest.h>

#include "template/chat_template.h"

namespace rondo::tester {
namespace {

// Each line after a letter for its kind.
std::string shown(const std::vector<ShownLine>& lines) {
  std::string out;
  for (const ShownLine& line : lines) out += std::string(1, to_string(line.kind)[0]) + " " + line.text + "\n";
  return out;
}

constexpr const char* kTemplate =
    "{%- for m in messages %}\n"
    "<{{ m.role }}>{{ m.content | trim }}\n"
    "{% endfor %}{{ bos_token }}";

// A prompt and what wrote it.
struct Written {
  explicit Written(const char* source) {
    chat_template = jinja::Template::compile(source, {}, "test").value();
    chat::Conversation conversation;
    conversation.messages = {json::Object{{"role", "user"}, {"content", "hello "}},
                             json::Object{{"role", "assistant"}, {"content", "world"}}};
    conversation.bos_token = "B";
    messages = conversation.messages;
    rendered = tmpl::apply(*chat_template, conversation, {}).value();
  }
  [[nodiscard]] Writers writers() const { return {rendered, *chat_template, messages, shaping}; }

  std::shared_ptr<const jinja::Template> chat_template;
  jinja::Rendered rendered;
  json::Array messages;
  tmpl::Shaping shaping;
};

TEST_CASE("equal texts do not differ") {
  CHECK(difference("", "").empty());
  CHECK(difference("a\nb", "a\nb").empty());
}

TEST_CASE("lines that differ are shown with the one before, control characters visible") {
  CHECK(shown(difference("a\nb\nc\n", "a\nB\x1b\nc\n")) == "n line 2:\ns a\\n\ne b\\n\ng B\\u001b\\n\n");
  CHECK(shown(difference("a\n", "a")) == "n line 1:\ne a\\n\ng a\n");
  CHECK(shown(difference("a\nb\n", "a\n")) == "n line 2:\ns a\\n\ne b\\n\n");
  CHECK(shown(difference("", "x")) == "n line 1:\ng x\n");
}

TEST_CASE("what wrote the first byte that differs stands below it") {
  const Written written(kTemplate);
  const Writers writers = written.writers();
  const std::string& text = written.rendered.text.bytes();
  REQUIRE(text == "<user>hello\n<assistant>world\nB");
  CHECK(shown(difference("<user>hullo\n<assistant>world\nB", text, {.got = &writers})) ==
        "n line 1:\ne <user>hullo\\n\ng <user>hello\\n\n"
        "p        ^ messages[0].content, written by template line 2: <{{ m.role }}>{{ m.content | trim }}\n");
  CHECK(shown(difference("<user>hello\n[assistant>world\nB", text, {.got = &writers}))
            .find("p ^ template line 2: <{{ m.role }}>{{ m.content | trim }}, in the turn of messages[1]") !=
        std::string::npos);
  CHECK(shown(difference("<user>hello\n<assistant>world\nA", text, {.got = &writers})).ends_with("p ^ special\n") ==
        false);
  CHECK(shown(difference(text, "<user>hello\n<assistant>world\nA", {.expected = &writers})).find("p ^ ") !=
        std::string::npos);
}

TEST_CASE("text that is missing at the end is told from the last byte") {
  const Written written(kTemplate);
  CHECK(written.writers().at(10'000).find("template line 3") != std::string::npos);
  const Written nothing("");
  CHECK(nothing.writers().at(0).empty());
}

TEST_CASE("a template of one long line is told from the place on") {
  const std::string lead(300, ' ');
  const Written written(("{#" + lead + "#}{{ messages[0].content }}").c_str());
  CHECK(written.writers().at(0) == "messages[0].content, written by template line 1: messages[0].content }}");
}

TEST_CASE("of a long line the part around the difference is shown") {
  const std::string before(1000, 'x');
  const std::string text = shown(difference(before + "a" + before, before + "b" + before));
  CHECK(text.size() < 600);
  CHECK(text.find("e …") != std::string::npos);
  CHECK(text.find("xa") != std::string::npos);
  CHECK(text.find("xbx") != std::string::npos);
}

TEST_CASE("a character is never cut") {
  CHECK(first_difference("é", "è") == 0);
  CHECK(first_difference("aé", "aé!") == 3);
  CHECK(first_difference("abc", "ab") == 2);
  CHECK(quoted("a\"\n") == "\"a\"\\n\"");
}

TEST_CASE("only some places are shown of many") {
  std::string a;
  std::string b;
  for (int i = 0; i < 20; ++i) {
    a += "same\n" + std::to_string(i) + "\n";
    b += "same\nx" + std::to_string(i) + "\n";
  }
  CHECK(shown(difference(a, b)).ends_with("n ... and 12 more places\n"));
}

}  // namespace
}  // namespace rondo::tester
