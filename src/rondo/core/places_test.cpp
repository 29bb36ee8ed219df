#include "core/places.h"

#include <doctest/doctest.h>

#include "template/chat_template.h"

namespace rondo::core {
namespace {

std::shared_ptr<const jinja::Template> compiled(const std::string& source) {
  auto out = jinja::Template::compile(source, {}, "test");
  REQUIRE_MESSAGE(out.ok(), out.error().to_string());
  return out.value();
}

bool is_at(const TemplatePlace& place, std::int64_t line, std::int64_t column) {
  return place.line == line && place.column == column;
}

TEST_CASE("lines of a template, with the last one") {
  const auto chat_template = compiled("one\n\nthree");
  const TemplateLines lines(*chat_template);
  REQUIRE(lines.size() == 3);
  CHECK(lines.line(1) == "one");
  CHECK(lines.line(2).empty());
  CHECK(lines.line(3) == "three");
  const auto empty = compiled("");
  CHECK(TemplateLines(*empty).size() == 1);
  CHECK(TemplateLines(*empty).line(1).empty());
}

TEST_CASE("columns of places count code points") {
  const auto chat_template = compiled("é€{{ x }}\nend");
  const TemplateLines lines(*chat_template);
  CHECK(is_at(lines.place({1, 1}), 1, 1));
  CHECK(is_at(lines.place({1, 6}), 1, 3));
  CHECK(is_at(lines.place({2, 2}), 2, 2));
  CHECK(is_at(lines.place({1, 99}), 1, 14));  // after the end: the last place counts
  CHECK(is_at(lines.place({2, 0}), 2, 1));    // a line as a whole
  CHECK(is_at(lines.place({0, 0}), 0, 0));    // unknown
  CHECK(is_at(lines.place({7, 3}), 7, 3));    // not a line of this text
}

TEST_CASE("template text of several lines stands in the source as it is") {
  const auto chat_template = compiled("a {{ x }}one\ntwo\nthree");
  const TemplateLines lines(*chat_template);
  const text::Literal literal{1, 10};
  const std::string bytes = "one\ntwo\nthree";
  CHECK(lines.is_text(literal, bytes));
  CHECK(is_at(lines.place(literal, bytes, 0), 1, 10));
  CHECK(is_at(lines.place(literal, bytes, 2), 1, 12));
  CHECK(is_at(lines.place(literal, bytes, 4), 2, 1));
  CHECK(is_at(lines.place(literal, bytes, 10), 3, 3));
}

TEST_CASE("a string constant is one place, wherever in it a byte is") {
  const auto chat_template = compiled("{{ 'one\\ntwo' }}");
  const TemplateLines lines(*chat_template);
  const text::Literal literal{1, 4};
  CHECK_FALSE(lines.is_text(literal, "one\ntwo"));
  CHECK_FALSE(lines.is_text({0, 0}, ""));
  CHECK(is_at(lines.place(literal, "one\ntwo", 5), 1, 4));
}

TEST_CASE("a condition is told from its parentheses to the end of its line") {
  const auto chat_template = compiled("{% if ( (x) and y) %}a\n{% endif %}");
  const TemplateLines lines(*chat_template);
  CHECK(lines.condition_line({1, 10}) == "( (x) and y) %}a");
  CHECK(lines.condition_line({1, 17}) == "y) %}a");
  CHECK(lines.condition_line({2, 4}) == "endif %}");
}

TEST_CASE("reasoning that stands in front of the content is named after the field that it was sent in") {
  json::Array messages{json::Object{{"role", "assistant"}, {"reasoning", "Hm."}, {"content", "Yes"}}};
  tmpl::MessageRules rules;
  rules.reasoning_in_content = true;
  rules.reasoning_open = "<r>";
  rules.reasoning_close = "</r>";
  const tmpl::Shaping shaping = tmpl::shape(messages, rules);
  const auto chat_template = compiled("{{ messages[0].content }}");
  const auto rendered = chat_template->render({{"messages", messages}}, {}).value();
  REQUIRE(rendered.text.bytes() == "<r>Hm.</r>Yes");
  const OriginNamer namer(rendered, *chat_template, messages, shaping);
  std::string told;
  for (const text::Run& run : namer.runs()) {
    const NamedOrigin origin = namer.name(run);
    const std::size_t begin = run.source_offset - origin.shift;
    told += origin.path + (origin.is_reshaped ? " mark" : " from " + std::to_string(begin)) + " of " +
            std::to_string(run.size) + "\n";
  }
  CHECK(told ==
        "messages[0].reasoning mark of 3\nmessages[0].reasoning from 0 of 3\nmessages[0].reasoning mark of 4\n"
        "messages[0].content from 0 of 3\n");
  CHECK(namer.name(namer.run_at(0).value()).is_reshaped);
  CHECK(namer.name(namer.run_at(3).value()).path == "messages[0].reasoning");
  CHECK(namer.name(namer.run_at(5).value()).path == "messages[0].reasoning");
  CHECK(namer.name(namer.run_at(10).value()).path == "messages[0].content");
  CHECK(namer.name(namer.run_at(99).value()).path == "messages[0].content");
}

}  // namespace
}  // namespace rondo::core
