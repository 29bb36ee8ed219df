#include "template/chat_template.h"

#include <doctest/doctest.h>

#include "base/utf8.h"
#include "json/print.h"
#include "tests/support/json.h"

namespace rondo::tmpl {
namespace {

using testing::parsed;

chat::Conversation conversation(std::string_view messages) {
  chat::Conversation out;
  out.messages = parsed(messages).as_array();
  return out;
}

std::string aliases(std::string_view message) {
  const json::Object variables = template_variables(conversation("[" + std::string(message) + "]"));
  return json::to_compact(variables.find("messages")->as_array()[0]);
}

std::shared_ptr<const jinja::Template> compiled(const std::string& source) {
  auto result = jinja::Template::compile(source, {}, "test");
  REQUIRE(result.ok());
  return result.value();
}

Result<jinja::Rendered> continue_render(const std::string& source, chat::Conversation input,
                                        const std::string& field = "content") {
  input.continue_final_message = field;
  return apply(*compiled(source), input, {});
}

// The prompt whose last message is continued, or the error's message.
std::string continued(const std::string& source, std::string_view messages, const std::string& field = "content") {
  const auto rendered = continue_render(source, conversation(messages), field);
  if (!rendered.ok()) return "error: " + rendered.error().message;
  CHECK(rendered.value().text.verify(rendered.value().origins) == std::nullopt);
  return rendered.value().text.bytes();
}

// The prompt after one message with this content, which the template trims.
std::string continued_trimmed(const std::string& content) {
  chat::Conversation input;
  input.messages.emplace_back(json::Object{{"role", "a"}, {"content", content}});
  const auto rendered = continue_render("{% for m in messages %}<{{ m.content | trim }}>{% endfor %}", input);
  return rendered.ok() ? rendered.value().text.bytes() : "error: " + rendered.error().message;
}

std::string text_of(const Result<jinja::Rendered>& rendered) {
  return rendered.ok() ? rendered.value().text.bytes() : "error: " + rendered.error().message;
}

}  // namespace

TEST_CASE("variables that a template sees") {
  chat::Conversation input = conversation(R"([{"role": "user", "content": "hi"}])");
  CHECK(json::to_compact(template_variables(input)) ==
        R"({"messages":[{"role":"user","content":"hi"}],"tools":null,"documents":null,"add_generation_prompt":false})");
  input.bos_token = "<s>";
  input.kwargs = parsed(R"({"x": 1, "bos_token": "B", "tools": []})").as_object();
  CHECK(json::to_compact(template_variables(input)) ==
        R"({"messages":[{"role":"user","content":"hi"}],"tools":[],"documents":null,"add_generation_prompt":false,)"
        R"("bos_token":"B","x":1})");
}

TEST_CASE("reasoning is offered under the names that templates read") {
  CHECK(aliases(R"({"role":"a","reasoning":"r","content":"c"})") ==
        R"({"thinking":"r","role":"a","reasoning":"r","content":"c","reasoning_content":"r"})");
  CHECK(aliases(R"({"reasoning_content":null,"reasoning":"r","thinking":"t"})") ==
        R"({"thinking":"t","reasoning_content":"t","reasoning":"r"})");
  CHECK(aliases(R"({"thinking":null,"reasoning_content":"c"})") == R"({"thinking":null,"reasoning_content":"c"})");
  CHECK(aliases(R"({"role":"a","reasoning":null})") == R"({"role":"a","reasoning":null})");
}

TEST_CASE("a continued message ends the prompt") {
  const std::string plain = "{% for m in messages %}<{{ m.role }}>{{ m.content }}</>\n{% endfor %}";
  const std::string trimming = "{% for m in messages %}<{{ m.role }}>{{ m.content | trim }}</>\n{% endfor %}";
  const std::string messages = R"([{"role":"u","content":"q"},{"role":"a","content":"Well, \n"}])";
  CHECK(continued(plain, messages) == "<u>q</>\n<a>Well, \n");
  CHECK(continued(trimming, messages) == "<u>q</>\n<a>Well,");
  CHECK(continued(plain, R"([{"role":"a","content":""}])") == "<a>");
  CHECK(continued("{% for m in messages %}{% for p in m.content %}{{ p.text }};{% endfor %}{% endfor %}",
                  R"([{"role":"a","content":[{"text":"x"},{"text":"y"},{"image":1}]}])") == "x;y");
  CHECK(continued("{% for m in messages %}[{{ m.thinking }}]{{ m.content }}{% endfor %}",
                  R"([{"role":"a","content":"","reasoning_content":"so "}])", "reasoning_content") == "[so ");
}

TEST_CASE("a message that cannot be continued") {
  const std::string plain = "{% for m in messages %}{{ m.content }}{% endfor %}";
  CHECK(continued(plain, "[]") == "error: there is no final message to continue");
  CHECK(continued(plain, R"([{"role":"a"}])") == "error: messages[0].content, which is to be continued, is absent");
  CHECK(continued(plain, R"([{"content":1}])") == "error: messages[0].content cannot be continued: it is an integer");
  CHECK(continued(plain, R"([{"content":[{"image":1}]}])") ==
        "error: messages[0].content cannot be continued: it has no text part");
  CHECK(continued(plain, R"([{"content":"","thinking":"x"}])", "thinking") ==
        "error: messages[0].thinking cannot be continued: the template never uses `thinking`");
  CHECK(continued("{{ messages[0].content }}", R"([{"content":"a"},{"content":"b"}])") ==
        "error: the template does not write messages[1].content, which is to be continued");
}

TEST_CASE("what is trimmed off a continued message is what Python takes for white space") {
  const auto trim = compiled("{{ ('x' + c) | trim }}");
  constexpr std::pair<char32_t, char32_t> kRanges[] = {{0x1, 0x100},     {0x167F, 0x1682}, {0x180E, 0x180F},
                                                       {0x1FFF, 0x2070}, {0x2FFF, 0x3002}, {0xFEFF, 0xFF00}};
  for (const auto& [first, end] : kRanges) {
    for (char32_t c = first; c < end; ++c) {
      CAPTURE(static_cast<std::uint32_t>(c));
      std::string space;
      utf8::append(space, c);
      const json::Object variables{{"c", space}};
      const bool is_space = text_of(trim->render(variables, {})) == "x";
      CHECK(continued_trimmed("x" + space) == (is_space ? "<x" : "<x" + space));
      CHECK(continued_trimmed(space + "x" + space + space) == (is_space ? "<x" : "<" + space + "x" + space + space));
    }
  }
}

TEST_CASE("a continued text that the template leaves out, or splits, is said to be missing") {
  const std::string messages = R"([{"role":"a","content":" one two "}])";
  CHECK(continued("{{ messages[0].content | replace('one', '') }}", messages) ==
        "error: the template does not write messages[0].content, which is to be continued");
  CHECK(continued("{{ messages[0].content | trim }}", messages) == "one two");
  // If there is only white space before the text, that is white space of the text too.
  CHECK(continued("\u00a0{{ messages[0].content | trim }}", R"([{"role":"a","content":""}])") == "");
}

TEST_CASE("what a render says of a continued message does not know of what was put behind it") {
  const auto strips = [](const std::string& messages) {
    const std::string trimming = "{% for m in messages %}<{{ m.content | trim }}>{% endfor %}";
    const auto rendered = continue_render(trimming, conversation(messages));
    REQUIRE(rendered.ok());
    std::string out;
    for (const jinja::Strip& strip : rendered.value().strips)
      out += rendered.value().origins.paths.to_string(strip.path) + " " + std::to_string(strip.begin) + "-" +
             std::to_string(strip.end) + ";";
    return out;
  };
  CHECK(strips(R"([{"role":"a","content":"x"}])") == "");
  CHECK(strips(R"([{"role":"u","content":"q "},{"role":"a","content":" x"}])") ==
        "messages[0].content 1-2;messages[1].content 0-1;");

  const auto blocks = [](const std::string& content) {
    const auto rendered = continue_render(
        "{% for m in messages %}<{% generation %}{{ m.content }}.{% endgeneration %}>{% endfor %}"
        "{% generation %}{% endgeneration %}",
        conversation(R"([{"content":"ab"},{"content":")" + content + R"("}])"));
    REQUIRE(rendered.ok());
    std::string out;
    for (const auto& [begin, end] : rendered.value().generation_blocks)
      out += std::to_string(begin) + "-" + std::to_string(end) + ";";
    return out;
  };
  CHECK(blocks("cd") == "1-4;6-8;");
  CHECK(blocks("") == "1-4;");
}

TEST_CASE("what cannot be continued with what else was asked for") {
  chat::Conversation input = conversation(R"([{"role":"a","content":"x"}])");
  input.add_generation_prompt = true;
  CHECK(text_of(continue_render("{{ messages }}", input)) ==
        "error: continue_final_message and add_generation_prompt exclude each other");
  input.add_generation_prompt = false;
  input.kwargs.set("messages", "none");
  CHECK(text_of(continue_render("{{ messages }}", input)) == "none");
  CHECK(text_of(continue_render("{{ 1 + 'x' }}", conversation(R"([{"content":"x"}])"))).starts_with("error: "));
}

TEST_CASE("a conversation made ready renders as the whole one does, whatever came and went") {
  const auto source = compiled("{{ messages | tojson }} {{ add_generation_prompt }} {{ tools }}");
  const json::Array all =
      parsed(R"([{"role":"u","content":"q"},{"role":"a","reasoning":"r"},{"role":"u"},{"role":"a","thinking":"t"}])")
          .as_array();
  for (const char* kwargs : {R"({})", R"({"tools":[1]})", R"({"add_generation_prompt":true})", R"({"messages":[{}]})",
                             R"({"messages":"none"})"}) {
    CAPTURE(kwargs);
    chat::Conversation base;
    base.kwargs = parsed(kwargs).as_object();
    ReadyConversation ready(base, std::span(all).first(1));
    const auto check_size = [&](std::size_t size) {
      CHECK(ready.size() == size);
      const json::Array messages(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size));
      for (const bool asks : {false, true})
        CHECK(text_of(ready.render(*source, asks, {})) == text_of(apply(*source, base, messages, asks, {})));
    };
    check_size(1);
    for (std::size_t size = 1; size < all.size(); ++size) {
      ready.push(all[size]);
      check_size(size + 1);
    }
    ready.shrink(2);
    check_size(2);
    ready.push(all[2]);
    check_size(3);
    ready.shrink(0);
    check_size(0);
  }
}

}  // namespace rondo::tmpl
