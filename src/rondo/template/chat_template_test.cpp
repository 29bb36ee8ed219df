#include "template/chat_template.h"

#include <doctest/doctest.h>

#include "json/parse.h"
#include "json/print.h"

namespace rondo::tmpl {
namespace {

json::Value parsed(std::string_view text) {
  auto result = json::parse(text);
  REQUIRE(result.ok());
  return std::move(result).value();
}

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

// The prompt whose last message is continued, or the error's message.
std::string continued(const std::string& source, std::string_view messages, const std::string& field = "content") {
  chat::Conversation input = conversation(messages);
  input.continue_final_message = field;
  auto rendered = apply(*compiled(source), input, {});
  if (!rendered.ok()) return "error: " + rendered.error().message;
  CHECK(rendered.value().text.verify(rendered.value().origins) == std::nullopt);
  return rendered.value().text.bytes();
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

}  // namespace rondo::tmpl
