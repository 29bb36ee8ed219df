// Templates: any source compiles or gives an Error, and renders within its limits; runs and dictionaries stay consistent,
// and the same bytes come out when nobody records origins.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "jinja/template.h"
#include "json/parse.h"

namespace {

const rondo::json::Object& variables() {
  static const rondo::json::Value kValue = rondo::json::parse(R"({
        "messages": [{"role": "system", "content": "s"}, {"role": "user", "content": "Hi <b>\n"},
          {"role": "assistant", "content": null, "reasoning_content": "r",
           "tool_calls": [{"id": "1", "type": "function",
                           "function": {"name": "f", "arguments": {"a": 1, "b": [true, null, 1.5]}}}]},
          {"role": "tool", "content": "42", "tool_call_id": "1"}],
        "tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}],
        "add_generation_prompt": true, "bos_token": "<s>", "n": 3, "f": 0.5, "s": "a,b", "d": {"k": "v"}})")
                                               .value();
  return kValue.as_object();
}

std::string listing(const rondo::jinja::Rendered& rendered) { return rendered.text.to_string(rendered.origins); }

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto compiled =
      rondo::jinja::Template::compile(std::string(reinterpret_cast<const char*>(data), size), {}, "fuzz");
  if (!compiled.ok()) return 0;
  for (const bool strict : {false, true}) {
    rondo::jinja::RenderOptions options;
    options.strict = strict;
    options.now = rondo::jinja::LocalTime{};
    options.limits.instructions = 20'000;
    options.limits.iterations = 5'000;
    options.limits.depth = 50;
    options.limits.output_bytes = std::size_t{1} << 18U;
    options.limits.memory_bytes = std::size_t{1} << 24U;
    const auto rendered = compiled.value()->render(variables(), options);
    if (!rendered.ok()) continue;
    if (const auto fault = rendered.value().text.verify(rendered.value().origins)) {
      std::fprintf(stderr, "%s\n", fault->c_str());
      std::abort();
    }
    options.limits = rondo::limits::Render{};  // with fewer runs other amounts of work and memory are counted
    options.whole_dumps = true;
    auto whole = compiled.value()->render(variables(), options);
    if (whole.ok()) whole.value().take_dumps_apart();
    if (!whole.ok() || listing(whole.value()) != listing(rendered.value())) {
      std::fprintf(stderr, "with whole dumps: %s\nin parts: %s\n",
                   whole.ok() ? listing(whole.value()).c_str() : whole.error().to_string().c_str(),
                   listing(rendered.value()).c_str());
      std::abort();
    }
    options.origins = false;
    const auto bare = compiled.value()->render(variables(), options);
    if (bare.ok() && bare.value().text.bytes() == rendered.value().text.bytes()) continue;
    std::fprintf(stderr, "without origins: %s\n",
                 bare.ok() ? bare.value().text.bytes().c_str() : bare.error().to_string().c_str());
    std::abort();
  }
  return 0;
}
