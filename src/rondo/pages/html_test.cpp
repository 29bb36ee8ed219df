#include "pages/html.h"

#include <doctest/doctest.h>

#include "json/parse.h"
#include "pages/page.h"
#include "pages/token_page.h"
#include "tests/support/markup.h"

namespace rondo::pages {
namespace {

TEST_CASE("nothing of a text is markup") {
  CHECK(html_text("a<b>&\"'") == "a&lt;b&gt;&amp;&quot;&#39;");
  CHECK(html_text("tab\there") == "tab\there");
  CHECK(html_text("é €") == "é €");
  CHECK(html_text(std::string_view("\0\r\x1F", 3)) == "\u2400\u240D\u241F");
  CHECK(html_text("a\nb") == "a<span class=\"w\">\u21B5</span>\nb");
  CHECK(html_text("").empty());
}

TEST_CASE("an attribute has no markup of its own either") {
  CHECK(html_attribute("a\n\"b\"") == "a\u21B5&quot;b&quot;");
  CHECK(html_attribute("<>&'\x01") == "&lt;&gt;&amp;&#39;\u2401");
}

TEST_CASE("a page may load nothing, and runs scripts only where it has some") {
  const std::string none = html_head("a <b>", "p {}");
  CHECK(none.find("<title>a &lt;b&gt;</title>") != std::string::npos);
  CHECK(none.find("default-src 'none'") != std::string::npos);
  CHECK(none.find("script-src") == std::string::npos);
  CHECK(none.find("<style>\np {}</style>") != std::string::npos);
  CHECK(html_head("a", "", Scripts::kInline).find("script-src 'unsafe-inline'") != std::string::npos);
}

TEST_CASE("bytes of a token are shown as text where they are some") {
  CHECK(token_text("hé\n") == "hé\n");
  CHECK(token_text("\xE2\x82") == "\\xE2\\x82");
  CHECK(token_text("a\xFF"
                   "é") == "a\\xFFé");
  CHECK(token_text("").empty());
}

TEST_CASE("a page of tokens shows each, with its kind and owner") {
  const json::Value reply = json::parse(R"({"ids": [1, 2, 3], "offsets": [[0, 1], [1, 4], [4, 6]],
      "kinds": ["special", null, "added"], "message_indices": [-1, 0, 7], "content_mask": [0, 1, 0],
      "sampled_mask": [0, 0, 1], "straddles": [0, 1, 0], "loss_mask": [0, 0, 1], "roles": ["<user>"]})")
                                .value();
  const test::Markup page = test::read_markup(token_page(reply, "a<b>\xC3\xA9"), test::Dialect::kHtml);
  CHECK(page.objection == "");
  std::vector<test::Element> tokens;
  for (const test::Element& element : page.all("span")) {
    if (element.attributes.contains("title")) tokens.push_back(element);
  }
  REQUIRE(tokens.size() == 3);
  CHECK(tokens[0].attributes.at("class") == "t special template nobody");
  CHECK(tokens[0].attributes.at("title") == "id 1, bytes 0 to 1, special token, of no message, template");
  CHECK(tokens[1].text == "<b>");
  CHECK(tokens[1].attributes.at("title") == "id 2, bytes 1 to 4, message 0 (<user>), data, and what follows");
  CHECK(tokens[2].attributes.at("class") == "t added learned template sampled");
  CHECK(tokens[2].attributes.at("title") ==
        "id 3, bytes 4 to 6, added token, message 7 (?), template, sampled, in the loss mask");
  CHECK(page.has_text("3 tokens"));
  CHECK(page.has_text("6 bytes, 5 characters"));
}

TEST_CASE("a page of tokens is well-formed whatever they are") {
  const std::string text = "<b>&\"'</script><!-- ]]> \x01\x1B[31m\r\n\t \xFF\xC3( end";
  json::Object reply{{"ids", json::Array{json::Value(1)}}};
  reply.set("offsets", json::Array{json::Value(json::Array{json::Value(0), json::Value(text.size())})});
  const test::Markup page = test::read_markup(token_page(reply, text), test::Dialect::kHtml);
  CHECK(page.objection == "");
  CHECK(page.count("script") == 0);
}

TEST_CASE("the data of a trace cannot end its script") {
  const json::Object reply{{"text", "</script><!-- \u2028\u2029 --><script>"}, {"other", "not shown"}};
  const std::string page = trace_page(reply);
  CHECK(page.find("\\u003c/script>\\u003c!-- \\u2028\\u2029 -->\\u003cscript>") != std::string::npos);
  CHECK(page.find("not shown") == std::string::npos);
  CHECK(page.find("<!--DATA-->") == std::string::npos);
}

}  // namespace
}  // namespace rondo::pages
