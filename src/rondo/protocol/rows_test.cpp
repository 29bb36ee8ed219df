#include "protocol/rows.h"

#include <doctest/doctest.h>

#include "template/chat_template.h"

namespace rondo::protocol {
namespace {

TEST_CASE("a line is cut from tag to tag only where it is long") {
  CHECK(cut_line("") == std::vector<std::string_view>{""});
  CHECK(cut_line("{{ a }}b{{ c }}") == std::vector<std::string_view>{"{{ a }}b{{ c }}"});
  const std::string text(100, 'x');
  const std::string first = text + "{ x";
  const std::string second = "{{ a }}" + text;
  const std::string third = "{# {{ no tag #}";
  const std::string fourth = "{% if '}}' %}";
  const std::string open = "{{ never closed";
  const std::string line = first + second + third + fourth + open;
  CHECK(cut_line(line) == std::vector<std::string_view>{first, second, third, fourth, open});
}

TEST_CASE("rows are lines and pieces of long ones, and every place has one") {
  const std::string text(200, 'x');
  const auto chat_template = jinja::Template::compile("short\né" + text + "{{ a }}{{ b }}\nend", {}, "test");
  REQUIRE(chat_template.ok());
  const core::TemplateLines lines(*chat_template.value());
  const auto is_at = [](const core::TemplatePlace& place, std::int64_t line, std::int64_t column) {
    return place.line == line && place.column == column;
  };
  const TemplateRows rows(lines);
  REQUIRE(rows.rows().size() == 5);
  CHECK(rows.rows()[0].text == "short");
  CHECK(is_at(rows.rows()[1].place, 2, 1));
  CHECK(is_at(rows.rows()[2].place, 2, 202));
  CHECK(rows.rows()[2].text == "{{ a }}");
  CHECK(is_at(rows.rows()[3].place, 2, 209));
  CHECK(is_at(rows.rows()[4].place, 3, 1));
  CHECK(rows.row_of({1, 3}) == 0);
  CHECK(rows.row_of({2, 201}) == 1);
  CHECK(rows.row_of({2, 202}) == 2);
  CHECK(rows.row_of({2, 208}) == 2);
  CHECK(rows.row_of({2, 209}) == 3);
  CHECK(rows.row_of({3, 1}) == 4);
  CHECK(rows.row_of({0, 0}) == 0);
  CHECK(rows.row_of({99, 1}) == 4);
}

}  // namespace
}  // namespace rondo::protocol
