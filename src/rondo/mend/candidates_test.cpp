#include "mend/candidates.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "jinja/template.h"

namespace rondo::mend {
namespace {

using Texts = std::vector<std::string>;

// The sources that the candidates make from `text`.
std::vector<std::string> made(const Source& source, const std::vector<Candidate>& candidates) {
  std::vector<std::string> out;
  for (const Candidate& candidate : candidates) {
    out.push_back(source.apply(candidate.edits));
    CHECK_MESSAGE(jinja::Template::compile(out.back(), {}, "edited").ok(), out.back());
  }
  return out;
}

TEST_CASE("condition: an operand is left out, or the whole is kept as it was") {
  const Source source("{% if loop.last and (a or b) %}x{% endif %}{{ 1 if c else 2 }}");
  CHECK(made(source, condition_candidates(source, 1, 7, true)) ==
        Texts{"{% if loop.first and (a or b) %}x{% endif %}{{ 1 if c else 2 }}",
              "{% if (a or b) %}x{% endif %}{{ 1 if c else 2 }}", "{% if loop.last %}x{% endif %}{{ 1 if c else 2 }}",
              "{% if true %}x{% endif %}{{ 1 if c else 2 }}"});
  CHECK(made(source, condition_candidates(source, 1, 52, false)) ==
        Texts{"{% if loop.last and (a or b) %}x{% endif %}{{ 1 if false else 2 }}"});
  CHECK(condition_candidates(source, 1, 34, true).empty());
  for (const Candidate& candidate : condition_candidates(source, 1, 7, true)) CHECK_FALSE(candidate.is_copying);
  CHECK(condition_candidates(source, 7, 1, true).empty());
}

TEST_CASE("strip: filters and methods that cut white space are left out") {
  const Source source("{{ m.content | trim }}\n{{ a.strip('\\n').lstrip() + b }}\n{{ strip }}");
  CHECK(made(source, strip_candidates(source, 1)).front() ==
        "{{ m.content  }}\n{{ a.strip('\\n').lstrip() + b }}\n{{ strip }}");
  const auto second = made(source, strip_candidates(source, 2));
  REQUIRE(second.size() == 3);
  CHECK(second.back() == "{{ m.content | trim }}\n{{ a + b }}\n{{ strip }}");
  CHECK(strip_candidates(source, 3).empty());
  for (const Candidate& candidate : strip_candidates(source, 2)) CHECK(candidate.is_copying);
}

TEST_CASE("verbatim: arguments given as text are copied, alone or in the call's object") {
  const Source source("{{ 'x' ~ call['arguments'] | tojson(indent=2) }}{{ tool_call.function|tojson }}");
  CHECK(made(source, verbatim_candidates(source)) ==
        Texts{"{{ 'x' ~ (call['arguments'] if call['arguments'] is string else call['arguments']| tojson(indent=2)) }}"
              "{{ tool_call.function|tojson }}",
              "{{ 'x' ~ call['arguments'] | tojson(indent=2) }}{{ ('{\"name\": ' ~ (tool_call.function.name|tojson) ~ "
              "', \"arguments\": ' ~ tool_call.function.arguments ~ '}' if tool_call.function.arguments is string else "
              "tool_call.function|tojson) }}"});
}

TEST_CASE("conditions: what is asked about the last one may be asked about the first, or the last of its role") {
  const Source source("{% for m in ms %}{% if loop.last and i == ns.most or m == us[-1] %}a{% endif %}{% endfor %}");
  const Texts all = made(source, condition_candidates(source, 1, 24, true));
  const auto has = [&](const std::string& asked) {
    const std::string text = "{% for m in ms %}{% if " + asked + " %}a{% endif %}{% endfor %}";
    return std::ranges::find(all, text) != all.end();
  };
  CHECK(has("loop.first and i == ns.most or m == us[-1]"));
  CHECK(has("(loop.last or loop.nextitem.role != m.role) and i == ns.most or m == us[-1]"));
  CHECK(has("loop.last and i == 0 or m == us[-1]"));
  CHECK(has("loop.last and i == ns.most or m == us[0]"));
}

TEST_CASE("conditions: one operand is left out, or two") {
  const Source source("{% if a and b and c %}x{% endif %}");
  const Texts all = made(source, condition_candidates(source, 1, 7, true));
  for (const char* const left : {"b and c", "a and c", "a and b", "a", "b", "c", "true"})
    CHECK(std::ranges::find(all, "{% if " + std::string(left) + " %}x{% endif %}") != all.end());
}

}  // namespace
}  // namespace rondo::mend
