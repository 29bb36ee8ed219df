// Rendering a template for a test, and showing whose each part of the text is.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "jinja/template.h"
#include "json/parse.h"

namespace rondo::test {

// Fails the test if the template does not compile or render, or if the text's runs are not in order.
inline jinja::Rendered render(const std::string& source, const char* variables_json,
                              const jinja::RenderOptions& options = {}) {
  const auto variables = json::parse(variables_json);
  REQUIRE(variables.ok());
  const auto compiled = jinja::Template::compile(source, {}, "test");
  REQUIRE_MESSAGE(compiled.ok(), compiled.error().to_string());
  auto rendered = compiled.value()->render(variables.value().as_object(), options);
  REQUIRE_MESSAGE(rendered.ok(), rendered.error().to_string());
  CHECK_FALSE(rendered.value().text.verify(rendered.value().origins).has_value());
  return std::move(rendered).value();
}

// The text with the owner before each stretch of one owner: "0:<S> 1:<U>"; "-" for nobody, "~1" for a weak owner; behind
// it "G" in the generation prompt, "B" in a generation block, and with `elements` a slash and the loop's element.
inline std::string owners(const jinja::Rendered& rendered, bool elements = false) {
  std::string out;
  std::string last;
  std::size_t at = 0;
  for (const text::Run& run : rendered.text.runs()) {
    const text::Context& context = rendered.origins.contexts.at(run.context);
    std::string owner = context.message != text::kNoMessage ? std::to_string(context.message)
                        : context.guard != text::kNoMessage ? "~" + std::to_string(context.guard)
                                                            : "-";
    if (context.generation_prompt) owner += "G";
    if (context.generation_block) owner += "B";
    if (elements) owner += "/" + rendered.origins.paths.to_string(context.element);
    if (owner != last) out += (out.empty() ? "" : " ") + owner + ":";
    last = owner;
    out += rendered.text.bytes().substr(at, run.size);
    at += run.size;
  }
  return out;
}

}  // namespace rondo::test
