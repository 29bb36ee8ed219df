// The filters tojson and from_json.
#include "jinja/builtins/json_filters.h"

#include <algorithm>

#include "jinja/builtins/filters.h"
#include "jinja/builtins/tojson.h"
#include "jinja/types/iteration.h"
#include "jinja/types/params.h"
#include "jinja/value/input.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"
#include "json/parse.h"

namespace rondo::jinja {
namespace {

void set_indent(Runtime& runtime, const Value& indent, JsonStyle& style) {
  if (indent.is_none()) return;
  style.item_separator = ",";
  if (indent.is_string()) {
    style.indent = std::string(bytes_of(runtime, indent));
    return;
  }
  require_defined(runtime, indent);
  if (!indent.is_small_int()) runtime.fail("can't multiply sequence by non-int of type '" + type_name(indent) + "'");
  const auto width = static_cast<std::size_t>(std::max<std::int64_t>(indent.as_int(), 0));
  runtime.pay_for_filling(width);
  style.indent = std::string(width, ' ');
}

// The arguments of transformers' tojson for `subject`.
JsonStyle json_style(Runtime& runtime, const Value& subject, const Args& args) {
  JsonStyle style;
  if (args.size() == 0) return style;
  const Params params(runtime, python("tojson", 1), args, {"ensure_ascii", "indent", "separators", "sort_keys"});
  style.ensure_ascii = params.boolean(0, false);
  style.sort_keys = params.boolean(3, false);
  std::vector<Value> separators;
  if (!params[2].is_none()) {
    const auto& two = unpack_items(runtime, params[2], 2);
    separators.assign(two.begin(), two.end());
  }
  // For a string, Python ignores everything else.
  if (subject.is_string()) return style;
  set_indent(runtime, params[1], style);
  for (const std::size_t i : {std::size_t{1}, std::size_t{0}}) {
    if (separators.empty() || separators[i].is_string()) continue;
    // With an indent, Python checks the separators only when it writes one.
    const bool writes_none = (!subject.is_sequence() && !subject.is_dict()) || length_of(runtime, subject) == 0;
    if (!params[1].is_none() && writes_none) return style;
    runtime.fail("make_encoder() argument " + std::to_string(6 - i) + " must be str, not " + type_name(separators[i]));
  }
  if (!separators.empty()) {
    style.item_separator = bytes_of(runtime, separators[0]);
    style.key_separator = bytes_of(runtime, separators[1]);
  }
  return style;
}

Value tojson(Runtime& runtime, const Value& subject, const Args& args) {
  if (runtime.options.chat_globals) return to_json(runtime, subject, json_style(runtime, subject, args));
  // jinja2's own filter, for HTML pages.
  JsonStyle style;
  const Params params(runtime, python("tojson", 1), args, {"indent"});
  style.ensure_ascii = true;
  style.sort_keys = true;
  style.html_safe = true;
  set_indent(runtime, params[0], style);
  return to_json(runtime, subject, style).with_markup(true);
}

// REQUIRES: runtime.options.chat_globals.
void write_tojson(Runtime& runtime, const Value& subject, const Args& args, text::Text& out) {
  const JsonStyle style = json_style(runtime, subject, args);
  write_json(runtime, subject, style, out);
}

Value from_json(Runtime& runtime, const Value& subject, const Args& args) {
  require_positional(runtime, c_function("from_json"), args, 0, 0);
  require_defined(runtime, subject);
  if (!subject.is_string()) runtime.fail("the JSON object must be str, bytes or bytearray, not " + type_name(subject));
  runtime.spend(bytes_of(runtime, subject).size() / 2);
  Result<json::Value> parsed = json::parse(bytes_of(runtime, subject));
  if (!parsed.ok()) runtime.fail(parsed.error().message);
  runtime.heap.charge(4 * bytes_of(runtime, subject).size());
  return wrap(runtime, *runtime.heap.keep(std::move(parsed).value()), subject.path());
}

constexpr Filter kJsonFilters[] = {
    {"from_json", from_json, true}, {"fromjson", from_json, true}, plain({"tojson", tojson, false, write_tojson})};
static_assert(std::ranges::is_sorted(kJsonFilters, {}, &Filter::name));

}  // namespace

std::span<const Filter> json_filters() { return kJsonFilters; }

}  // namespace rondo::jinja
