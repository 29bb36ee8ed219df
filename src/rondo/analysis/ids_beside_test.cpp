// Tests calls in JSON whose ids stand beside their objects.
#include <doctest/doctest.h>

#include "tests/support/verified_format.h"

namespace rondo::analysis {
namespace {

std::shared_ptr<const format::Format> format_with(const std::string& call, const std::string& result) {
  const std::string source = "{%- for m in messages %}\n{{- '[' + m.role + '>' }}\n{%- if m.role == 'tool' %}{{- " +
                             result +
                             " + m.content }}\n{%- else %}{{- m.content or '' }}\n{%- endif %}\n"
                             "{%- for c in m.tool_calls or [] %}{%- set f = c.function %}{{- " +
                             call +
                             " }}{%- endfor %}\n{{- '~fin~' }}\n{%- endfor %}\n{%- if add_generation_prompt %}{{- "
                             "'[assistant>' }}{%- endif %}";
  return test::verified_format(source);
}

const std::string kCallObject = "{'name': f.name, 'arguments': f.arguments} | tojson";

TEST_CASE("bug: an id in the tag around a call's JSON made the JSON a text of the template") {
  using enum format::CallPiece::Kind;
  for (const char* result : {"''", "'<r id=\"' + (m.tool_call_id or '') + '\">'"}) {
    const auto format = format_with("'<act id=\"' + (c.id or '') + '\">' + (" + kCallObject + ") + '</act>'", result);
    CHECK(format->calls.envelope == format::Envelope::kJsonObject);
    CHECK(format->calls.call_open == "<act id=\"");
    CHECK(format->calls.pieces == std::vector<format::CallPiece>{{kId, ""}, {kLiteral, "\">"}, {kObject, ""}});
    CHECK(format->calls.call_close == "</act>");
    CHECK(format->calls.writes_ids());
  }
  const auto behind = format_with("'<act>' + (" + kCallObject + ") + '</act of=' + (c.id or '') + '>'", "''");
  CHECK(behind->calls.envelope == format::Envelope::kJsonObject);
  CHECK(behind->calls.call_open == "<act>");
  CHECK(behind->calls.pieces == std::vector<format::CallPiece>{{kObject, ""}, {kLiteral, "</act of="}, {kId, ""}});
  CHECK(behind->calls.call_close == ">");
}

TEST_CASE("an id that is the first member of a call's JSON belongs to its object") {
  const auto format =
      format_with("'<act>' + ({'id': c.id or '', 'name': f.name, 'arguments': f.arguments} | tojson) + '</act>'", "''");
  CHECK(format->calls.call_open == "<act>");
  CHECK(format->calls.call_close == "</act>");
  CHECK(format->calls.roles.id == std::vector<std::string>{"id"});
  CHECK(format->calls.pieces.empty());
}

TEST_CASE("bug: a counter beside a call's JSON that a result repeats was no id") {
  using enum format::CallPiece::Kind;
  const std::string call = "'<act n=\"a' + (loop.index | string) + '\">' + (" + kCallObject + ") + '</act>'";
  const auto repeated = format_with(call, "'<r n=\"a1\">'");
  CHECK(repeated->calls.call_open == "<act n=\"a");
  CHECK(repeated->calls.pieces == std::vector<format::CallPiece>{{kId, ""}, {kLiteral, "\">"}, {kObject, ""}});
  const auto other = format_with(call, "'<r n=\"b1\">'");
  CHECK(other->calls.call_open == "<act n=\"a\x1A\">");
  CHECK(other->calls.pieces.empty());
}

}  // namespace
}  // namespace rondo::analysis
