// The law of origins over every operation on strings: a traced render writes the bytes of an untraced one, and each of
// its runs says the truth about where they came from (support/origin_law.h).
#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "jinja/template.h"
#include "json/parse.h"
#include "json/print.h"
#include "tests/support/origin_law.h"

namespace rondo {
namespace {

const char* const kTexts[] = {
    "",
    " ",
    "hello",
    "  two words \n",
    "HÉLLO wörld ß ŉ",
    "a\tb\tc",
    "<b>\"it's\" & more</b>",
    "\\n \\",
    "ΑΣ ὀΣ",
    "line 1\nline 2",
    "\r\nx\xC2\x85y\r ",
    "日本語 テキスト 👍🏽",
    "{%s} %% {}",
    "a-b(c)[d] e",
    "aaaa",
    "\x01\x7F é\xE2\x80\xA8",
    "see http://a.b/c?d=e, www.x.org (f@g.hi)",
    "[1, \"x\"]",
    "3.50",
    "İı ǅ ﬁ",
};

// x is the text; o a dict with it; l a list.
const char* const kOperations[] = {
    "x",
    "x.strip()",
    "x.lstrip()",
    "x.rstrip('lo \n')",
    "x.strip('a<')",
    "x | trim",
    "x | trim('h')",
    "x.split()",
    "x.split() | join('|')",
    "x.split('l') | join",
    "x.split(' ', 1)[-1]",
    "x.rsplit('e', 1) | join('+')",
    "x.splitlines() | join('/')",
    "x.splitlines(true) | last",
    "x.partition('l') | join('#')",
    "x.rpartition(' ')[2]",
    "x.removeprefix('he')",
    "x.removesuffix('\n')",
    "x[1:]",
    "x[:-1]",
    "x[::-1]",
    "x[::2]",
    "x[-3:]",
    "x[0]",
    "x[2:4]",
    "x | first",
    "x | last",
    "x | reverse | string | length",
    "x | list | join(',')",
    "x.upper()",
    "x | upper",
    "x | lower",
    "x.swapcase()",
    "x.casefold()",
    "x | title",
    "x.title()",
    "x | capitalize",
    "x.capitalize()",
    "x.replace('l', 'L')",
    "x | replace('l', '')",
    "x.replace('', '-')",
    "x | replace(' ', '__', 1)",
    "x.replace(o.k, 'z')",
    "x | replace('e', o.k)",
    "x | tojson",
    "o | tojson",
    "o | tojson ~ x ~ l | tojson",
    "(o | tojson) + (o | tojson)",
    "[o, l] | map('tojson') | join(', ')",
    "(o | tojson) | trim",
    "(o | tojson | trim)[2:-1].split(':')[1]",
    "(o | tojson(indent=2)) | indent(3) | upper",
    "(l | tojson) | replace(', ', ' , ')",
    "o | tojson in x or 'k' in (o | tojson)",
    "(messages | tojson) ~ (messages[0] | tojson)",
    "'a' if (o | tojson) else 'b'",
    "(o | tojson | from_json) | tojson",
    "o | tojson(separators=(' ,', ':'), indent='\t')",
    "l | tojson(separators=(';', ':'))",
    "o | tojson(indent=2)",
    "o | tojson(ensure_ascii=true, sort_keys=true)",
    "l | tojson(separators=(',', ':'))",
    "o | string",
    "l | string",
    "o | pprint",
    "l | pprint",
    "'%r' % x",
    "'%s' % x",
    "'%8s|%-9s|%.2s' % (x, x, x)",
    "'%d %s %s' % (o.n, o.f, o.t)",
    "'{}'.format(x)",
    "'{!r}'.format(x)",
    "'{:>12}|{:.3}|{:^9}'.format(x, x, x)",
    "'{0[k]} {1.n:05d}'.format(o, o)",
    "x % ()",
    "'%s' | format(x)",
    "x | e",
    "x | forceescape",
    "(x | e) ~ x",
    "(x | safe) + x",
    "x | escape | upper",
    "x | striptags",
    "x | urlize",
    "x | urlencode",
    "o | urlencode",
    "[('k', x)] | urlencode",
    "(x | e).unescape()",
    "{'k': x} | xmlattr",
    "x | indent",
    "x | indent(2, true, true)",
    "x | wordwrap(7)",
    "x | truncate(5, true, '…', 0)",
    "x | truncate(9)",
    "x | center(15)",
    "x.center(15, '*')",
    "x.ljust(9)",
    "x.rjust(9)",
    "x.zfill(9)",
    "x.expandtabs(4)",
    "x.translate({97: 'AA', 108: none, 101: 'E'})",
    "x ~ x",
    "x + x",
    "x ~ 1 ~ o.n ~ none",
    "x * 3",
    "[x, x] | join(x)",
    "x.join(['a', x])",
    "[o.n, x] | join(' ')",
    "o.n",
    "o.f",
    "o.t",
    "o.z",
    "o.big",
    "o.n ~ x",
    "o.items() | list",
    "o.keys() | join(' ')",
    "o | dictsort | list",
    "o | items | list",
    "l | map('upper') | join",
    "l | map('trim') | list",
    "l | select('string') | join('+')",
    "l | sort | join(' ')",
    "l | unique | join",
    "l | batch(2) | list",
    "l | slice(2) | list",
    "l | max",
    "l | min",
    "[{'k': x}] | map(attribute='k') | list",
    "[{'k': x}] | groupby('k')",
    "x | default('d')",
    "x or 'd'",
    "x if x else 'empty'",
    "(x | tojson) | upper",
    "(x | tojson)[1:-1]",
    "(x | e)[:6]",
    "(o | string)[3:20]",
    "(x.upper() | tojson).lower()",
    "(x | tojson | tojson)",
    "x | string | tojson | e",
    "dict(a=x) | tojson",
    "x | wordcount",
    "x | length",
    "x.find('l')",
    "x.encode",
    "lipsum | string",
    "x | int",
    "x | float",
    "x | abs",
    "('[' ~ (x | tojson) ~ ']') | from_json | join",
    "namespace(v=x).v",
    "cycler(x, 'b').next()",
    "joiner(x)()",
    "x.strip().split('\n')[0].rstrip().upper() | tojson",
    "x[1:].lstrip('a')[:-1] | replace('o', '0') | e",
};

// $ is the operation.
const char* const kWrappers[] = {
    "{{ $ }}",
    "<{{ $ }}>{{ 'a' ~ ($) ~ 'b' }}",
    "{% macro m(v) %}[{{ v }}]{% endmacro %}{{ m($) | upper }}",
    "{% set v %}({{ $ }}){% endset %}{{ v | trim }}{{ v[1:-1] }}",
    "{% filter replace('e', '3') | upper %}{{ $ }} {{ x }}{% endfilter %}",
    "{% macro m() %}{{ caller(x) }}|{{ caller('z') }}{% endmacro %}{% call(v) m() %}{{ $ }}{{ v }}{% endcall %}",
    "{% set n = namespace(t='') %}{% for m in messages %}{% set n.t = n.t ~ ($) ~ m.content %}{% endfor %}{{ n.t }}",
    "{% for m in messages %}{{ m.role }}{% set c = $ %}{% if c %}{{ c }}{% endif %}{{ loop.index }}{% endfor %}",
    "{% autoescape true %}{{ $ }}{{ x }}{% endautoescape %}",
    "{% generation %}{{ [$, x] }}{% endgeneration %}",
};

json::Object variables_with(const std::string& text) {
  json::Object out = json::parse(R"({"messages": [{"role": "user", "content": " hi <b>"}, {"role": "a", "content": ""}],
      "o": {"k": "", "n": 42, "f": 1.50, "t": true, "z": null, "big": 123456789012345678901234567890, "ké\"y": "v"}})")
                         .value()
                         .as_object();
  out.set("x", json::Value(text));
  out.find("o")->as_object().set("k", json::Value(text));
  out.set("l", json::Value(json::Array{json::Value(text), json::Value("b é\n"), json::Value("<'>")}));
  return out;
}

std::string filled(std::string wrapper, const std::string& operation) {
  for (std::size_t at = wrapper.find('$'); at != std::string::npos; at = wrapper.find('$', at + operation.size())) {
    wrapper.replace(at, 1, operation);
  }
  return wrapper;
}

std::string outcome(const Result<jinja::Rendered>& rendered) {
  return rendered.ok() ? rendered.value().text.bytes() : "error " + rendered.error().to_string();
}

}  // namespace

TEST_CASE("jinja origins: the law holds for every operation, in every place") {
  std::vector<json::Object> inputs;
  for (const char* text : kTexts) inputs.push_back(variables_with(text));
  jinja::RenderOptions traced;
  jinja::RenderOptions untraced;
  untraced.origins = false;
  // Without RONDO_TEST_FULL each pair of an operation and a place takes every fifth text, the next pair the next ones.
  const std::size_t step = std::getenv("RONDO_TEST_FULL") != nullptr ? 1 : 5;
  std::size_t pair = 0;
  for (const char* operation : kOperations) {
    for (const char* wrapper : kWrappers) {
      const std::string source = filled(wrapper, operation);
      const auto compiled = jinja::Template::compile(source, {}, "law");
      REQUIRE_MESSAGE(compiled.ok(), compiled.error().to_string());
      for (std::size_t at = pair++ % step; at < inputs.size(); at += step) {
        const json::Object& variables = inputs[at];
        const auto rendered = compiled.value()->render(variables, traced);
        const bool same = outcome(rendered) == outcome(compiled.value()->render(variables, untraced));
        const std::string broken = rendered.ok() ? test::broken_origin(rendered.value(), variables) : "";
        const std::string text = variables.find("x")->as_string();
        CHECK_MESSAGE(same, source << " on " << text::quoted(text) << " is another text without origins");
        CHECK_MESSAGE(broken.empty(), source << " on " << text::quoted(text) << "\n  " << broken);
        const std::string whole = test::whole_difference(*compiled.value(), variables, traced, rendered);
        CHECK_MESSAGE(whole.empty(), source << " on " << text::quoted(text) << " with whole dumps\n  " << whole);
      }
    }
  }
}

namespace {

// Values of every kind and shape, around the sizes at which the writer of JSON changes its ways.
class RandomValues {
 public:
  json::Value make(int depth) {
    const std::size_t kind = pick(depth == 0 ? 5 : 8);
    switch (kind) {
      case 0: return json::Value();
      case 1: return json::Value(pick(2) == 0);
      case 2: return json::Value(json::Number{number(), false});
      case 3: return json::Value(json::Number{number() + "." + number().substr(1), true});
      case 4: return json::Value(string());
      case 5: {
        json::Array out;
        for (std::size_t count = part_count(); count > 0; --count) out.push_back(make(depth - 1));
        return json::Value(std::move(out));
      }
      default: {
        json::Object out;
        for (std::size_t count = part_count(); count > 0; --count) out.set(string(), make(depth - 1));
        return json::Value(std::move(out));
      }
    }
  }

 private:
  std::size_t pick(std::size_t count) {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::size_t>(state_ >> 33U) % count;
  }
  std::size_t part_count() { return pick(16) == 0 ? 60 + pick(10) : pick(5); }
  std::string number() { return (pick(3) == 0 ? "-" : "") + std::to_string(1 + pick(9)) + std::string(pick(20), '7'); }
  std::string string() {
    static constexpr std::size_t kSizes[] = {0, 1, 2, 3, 4, 7, 8, 9, 15, 16, 17, 40, 255, 256, 257, 511, 600};
    static const char* const kOdd[] = {"\"", "\\", "\n", "\x01", "é", "👍", "/", "\x7F"};
    std::string out(kSizes[pick(pick(8) == 0 ? std::size(kSizes) : 11)], static_cast<char>('a' + pick(26)));
    for (std::size_t count = pick(3) == 0 ? 1 + pick(3) : 0; count > 0; --count) {
      out.insert(pick(out.size() + 1), kOdd[pick(std::size(kOdd))]);
      while (!utf8::is_valid(out)) out.pop_back();
    }
    return out;
  }

  std::uint64_t state_ = 1;
};

}  // namespace

TEST_CASE("jinja origins: JSON is the same with runs, without, and taken apart") {
  const char* const styles[] = {"v | tojson",
                                "v | tojson(indent=3)",
                                "v | tojson(separators=(',', ':'))",
                                "v | tojson(indent=' ', separators=(' ,  ', ' :\n'))",
                                "v | tojson(separators=(',                    ', '                    :'))",
                                "'<' + (v | tojson) ~ (v | tojson) + '>'",
                                "v | tojson(ensure_ascii=true)",
                                "v | tojson(sort_keys=true)",
                                "(v | tojson) | trim | upper"};
  RandomValues values;
  std::vector<json::Object> inputs(200);
  for (json::Object& input : inputs) input.set("v", values.make(4));
  jinja::RenderOptions untraced;
  untraced.origins = false;
  for (const char* style : styles) {
    const auto compiled = jinja::Template::compile(std::string("{{ ") + style + " }}", {}, "json");
    REQUIRE_MESSAGE(compiled.ok(), compiled.error().to_string());
    for (const json::Object& input : inputs) {
      const auto rendered = compiled.value()->render(input, {});
      const std::string whole = test::whole_difference(*compiled.value(), input, {}, rendered);
      CHECK_MESSAGE(whole.empty(), style << ": " << whole);
      CHECK_MESSAGE(outcome(rendered) == outcome(compiled.value()->render(input, untraced)), style);
      if (style == styles[0]) CHECK(outcome(rendered) == json::to_python(*input.find("v"), {}));
    }
  }
}

}  // namespace rondo
