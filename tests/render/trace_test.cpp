// The trace of a render, as data and as a page.
#include <doctest/doctest.h>

#include <string>

#include "json/parse.h"
#include "json/print.h"
#include "pages/page.h"
#include "protocol/service.h"

namespace rondo {
namespace {

json::Value parsed(const std::string& text) {
  auto value = json::parse(text);
  REQUIRE_MESSAGE(value.ok(), value.error().to_string());
  return std::move(value).value();
}

// The reply to a render with `fields` and a trace.
json::Value traced(const std::string& chat_template, const std::string& fields) {
  json::Value request = parsed("{\"op\": \"render\", " + fields + "}");
  request.as_object().set("template", chat_template);
  const protocol::Service service({});
  auto reply = service.run(request, {.trace = true});
  REQUIRE_MESSAGE(reply.ok(), reply.error().to_string());
  return std::move(reply).value();
}

std::int64_t number(const json::Value& object, const char* field) {
  const json::Value* found = object.find(field);
  return found == nullptr ? -1 : found->to_int64().value_or(-1);
}

// "bytes|from kind path via @line:column #owner G B" per part; what is absent is left out.
std::string parts(const json::Value& reply) {
  const std::string text(*reply.find_string("text"));
  const json::Value& trace = *reply.find("trace");
  std::string out;
  std::int64_t at = 0;
  for (const json::Value& part : trace.find("parts")->as_array()) {
    CHECK(number(part, "start") == at);
    at = number(part, "end");
    const json::Value& origin = trace.find("origins")->as_array()[static_cast<std::size_t>(number(part, "origin"))];
    const auto begin = static_cast<std::size_t>(number(part, "start"));
    out += json::to_compact(text.substr(begin, static_cast<std::size_t>(at) - begin)) + " ";
    out += *origin.find_string("from");
    out += " ";
    out += *origin.find_string("kind");
    if (const auto path = origin.find_string("path")) out += " " + std::string(*path);
    if (const json::Value* source = part.find("source")) out += json::to_compact(*source);
    if (const json::Value* via = origin.find("via")) out += " via " + json::to_compact(*via);
    out += " @" + std::to_string(number(origin, "line")) + ":" + std::to_string(number(origin, "column"));
    if (const std::int64_t owner = number(part, "owner"); owner >= 0) out += " #" + std::to_string(owner);
    if (part.find("generation_prompt") != nullptr) out += " G";
    if (part.find("generation_block") != nullptr) out += " B";
    out += "\n";
  }
  CHECK(at == static_cast<std::int64_t>(text.size()));
  return out;
}

const char* const kTemplate =
    "{% for m in messages %}\n"
    "é<{{ m.role }}>\n"
    "{%- if (m.content and m.role == 'user') or m.x %}\n"
    " {{ m.content | trim | tojson }}\n"
    "{%- endif %}\n"
    "{% if false %}\n"
    "never\n"
    "{% if tools %}{% endif %}\n"
    "{% endif %}\n"
    "{% endfor %}\n"
    "{% if add_generation_prompt %}{{ '>' ~ messages | length }}{% endif %}";

const char* const kFields =
    R"("messages": [{"role": "user", "content": " a\"b\n"}, {"role": "bot", "content": "c"}], "add_generation_prompt": true)";

}  // namespace

TEST_CASE("000:259: trace: every part with its origin, its place and its owner") {
  CHECK(parts(traced(kTemplate, kFields)) ==
        "\"é<\" template literal @2:1 #0\n"
        "\"user\" message data messages[0].role[0,4] @2:6 #0\n"
        "\">\" template literal @2:15 #0\n"
        "\" \" template literal @4:1 #0\n"
        "\"\\\"\" message serialiser messages[0].content via [\"json\"] @4:5 #0\n"
        "\"a\" message data messages[0].content[1,2] via [\"strip\",\"json\"] @4:5 #0\n"
        "\"\\\\\\\"\" message escaped messages[0].content[2,3] via [\"strip\",\"json\"] @4:5 #0\n"
        "\"b\" message data messages[0].content[3,4] via [\"strip\",\"json\"] @4:5 #0\n"
        "\"\\\"\" message serialiser messages[0].content via [\"json\"] @4:5 #0\n"
        "\"é<\" template literal @2:1 #1\n"
        "\"bot\" message data messages[1].role[0,3] @2:6 #1\n"
        "\">\" template literal @2:15 #1\n"
        "\">\" template literal @11:34 G\n"
        "\"2\" template computed @11:34 G\n");
}

TEST_CASE("trace: conditions, cuts and lines that did nothing") {
  const json::Value reply = traced(kTemplate, kFields);
  const json::Value& trace = *reply.find("trace");
  CHECK(json::to_compact(*trace.find("messages")) == R"(["user","bot"])");
  std::string source;
  for (const json::Value& row : trace.find("template")->find("rows")->as_array()) {
    CHECK(number(row, "column") == 1);
    source += (source.empty() ? "" : "\n") + std::string(*row.find_string("text"));
  }
  CHECK(source == kTemplate);
  CHECK(number(*trace.find("template"), "lines") == 11);
  const json::Array& conditions = trace.find("conditions")->as_array();
  REQUIRE(conditions.size() == 4);
  CHECK(
      json::to_compact(conditions[0]) ==
      R"x({"line":3,"column":9,"row":2,"text":"(m.content and m.role == 'user') or m.x","true":1,"false":1,"outcomes":[)x"
      R"x({"outcome":true,"owner":0,"element":"messages[0]","reads":["messages[0].content","messages[0].role"]},)x"
      R"x({"outcome":false,"owner":1,"element":"messages[1]","reads":["messages[1].content","messages[1].role","messages[1].x"]}]})x");
  CHECK(
      json::to_compact(conditions[1]) ==
      R"({"line":6,"column":7,"row":5,"text":"false","true":0,"false":2,"outcomes":[)"
      R"({"outcome":false,"owner":0,"element":"messages[0]","reads":[]},{"outcome":false,"owner":1,"element":"messages[1]","reads":[]}]})");
  CHECK(json::to_compact(conditions[2]) ==
        R"({"line":8,"column":7,"row":7,"text":"tools","true":0,"false":0,"outcomes":[]})");
  CHECK(json::to_compact(*conditions[3].find("outcomes")) == R"([{"outcome":true,"reads":["add_generation_prompt"]}])");
  CHECK(json::to_compact(*trace.find("cuts")) ==
        R"([{"line":4,"column":17,"row":3,"path":"messages[0].content","start":0,"end":1,"text":" "},)"
        R"({"line":4,"column":17,"row":3,"path":"messages[0].content","start":4,"end":5,"text":"\n"}])");
  CHECK(json::to_compact(*trace.find("idle")) == "[6,7]");
}

TEST_CASE("trace: a long line is cut from tag to tag") {
  const std::string padding(80, '.');
  const std::string line =
      "é {{ '%}' }}" + padding + "{% if x %}a{# }} {{ #}{% endif %}" + padding + "{{ messages[0].content }} {";
  const json::Value reply = traced("one\n" + line + "\n\n", R"("messages": [{"content": "c"}])");
  const json::Value& trace = *reply.find("trace");
  std::string rows;
  for (const json::Value& row : trace.find("template")->find("rows")->as_array()) {
    rows += std::to_string(number(row, "line")) + ":" + std::to_string(number(row, "column")) + " " +
            std::string(*row.find_string("text")) + "\n";
  }
  CHECK(rows == "1:1 one\n2:1 é \n2:3 {{ '%}' }}" + padding +
                    "\n2:93 {% if x %}a\n2:104 {# }} {{ #}\n2:115 {% endif %}" + padding +
                    "\n2:206 {{ messages[0].content }} {\n3:1 \n");
  CHECK(json::to_compact(*trace.find("idle")) == "[]");
  for (const json::Value& origin : trace.find("origins")->as_array()) {
    const json::Value& row =
        trace.find("template")->find("rows")->as_array()[static_cast<std::size_t>(number(origin, "row"))];
    CHECK(number(row, "line") == number(origin, "line"));
    CHECK(number(row, "column") <= number(origin, "column"));
  }
}

TEST_CASE("trace: outcomes that are alike are counted, not repeated") {
  const json::Value reply =
      traced("{% for i in range(5) %}{% if i is odd %}{{ i }}{% endif %}{% endfor %}", "\"messages\": []");
  CHECK(json::to_compact(*reply.find("trace")->find("conditions")->as_array()[0].find("outcomes")) ==
        R"([{"outcome":false,"reads":[],"times":3},{"outcome":true,"reads":[],"times":2}])");
}

TEST_CASE("trace: what is cut off a value that the template made itself has no text") {
  const json::Value reply = traced("{% set d = messages[0].content | from_json %}{{ d.a | trim }}",
                                   R"("mode": "lenient", "messages": [{"content": "{\"a\": \" b\"}"}])");
  CHECK(*reply.find_string("text") == "b");
  for (const json::Value& cut : reply.find("trace")->find("cuts")->as_array()) CHECK(cut.find("text") == nullptr);
}

TEST_CASE("trace: only where it is asked for, and only by render") {
  const protocol::Service service({});
  const json::Value request = parsed(R"({"op": "render", "template": "x", "messages": []})");
  CHECK(json::to_compact(service.handle(request)) == R"({"text":"x"})");
  CHECK(service.run(parsed(R"({"op": "jinja", "template": "x"})"), {.trace = true}).value().find("trace") == nullptr);
}

TEST_CASE("page: nothing in a prompt or a template becomes markup") {
  const std::string hostile = "</script><!--<script>alert(1)</script><img src=x onerror=alert(1)>\xE2\x80\xA8'\"&";
  json::Value request = parsed(R"({"op": "render", "messages": [{"role": "</title><b>"}]})");
  request.as_object().find("messages")->as_array()[0].as_object().set("content", hostile);
  request.as_object().set("template",
                          "{# " + hostile + " #}" + hostile + "{{ messages[0].content }}{{ messages[0].role }}");
  const protocol::Service service({});
  auto reply = service.run(request, {.trace = true});
  REQUIRE(reply.ok());
  const std::string page = pages::trace_page(reply.value());
  const auto count = [&](const std::string& what) {
    std::size_t found = 0;
    for (std::size_t at = page.find(what); at != std::string::npos; at = page.find(what, at + 1)) ++found;
    return found;
  };
  CHECK(count("<script") == 2);
  CHECK(count("</script>") == 2);
  CHECK(count("<!--") == 0);
  CHECK(count("<img") == 0);
  CHECK(count("\xE2\x80\xA8") == 0);
  CHECK(count("</title>") == 1);

  // The data is there all the same, and says what the reply says.
  const std::string mark = "id=\"data\">";
  const std::size_t begin = page.find(mark) + mark.size();
  const json::Value data = parsed(page.substr(begin, page.find("</script>", begin) - begin));
  CHECK(data == reply.value());
}

TEST_CASE("page: self-contained") {
  const std::string page = pages::trace_page(traced("{{ messages[0].content }}", R"("messages": [{"content": "x"}])"));
  for (const char* loads : {"src=", "href=", "url(", "@import", "http:", "https:", "fetch(", "innerHTML"})
    CHECK_MESSAGE(page.find(loads) == std::string::npos, loads);
  CHECK(page.find("default-src 'none'") != std::string::npos);
}

}  // namespace rondo
