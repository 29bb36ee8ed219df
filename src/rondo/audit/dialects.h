// What minijinja, the template engine of several servers, does otherwise than jinja2, as measured with 2.24.0 and 3.0.5.
// Internal to audit/.
//
// Not an engine: the text is what a traced render becomes when the values in it are printed that engine's way.  Where a
// value's printing decides a condition, or its length, that is not followed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jinja/reading/features.h"
#include "jinja/template.h"

namespace rondo::audit {

struct Dialect {
  std::string_view name;
  // Lists and dictionaries print with strings in double quotes, tuples as lists.
  bool json_lists = false;
  // Its own `tojson`, which many servers replace by Python's, writes no spaces.
  bool compact_json = false;
};
inline constexpr Dialect kMinijinja2{"minijinja 2", true, true};
inline constexpr Dialect kMinijinja3{"minijinja 3", false, false};

// The text with lists and dictionaries printed in that dialect; `own_json`: and with its own `tojson`, which also writes
// `<`, `>`, `&` and `'` as \u escapes.
[[nodiscard]] std::string in_dialect(const jinja::Rendered& rendered, const Dialect& dialect, bool own_json);

// Parts of the language that neither version has, even with the methods of Python's strings and dictionaries: as people
// write them, "`{% generation %}`", "filter `truncate`".  "" for parts that are there.
[[nodiscard]] std::string lacking(const jinja::Feature& feature);
// Whether the template asks `x is iterable and x | length` of a variable that is none where the request has none: for
// minijinja none is iterable, and has no length.
[[nodiscard]] const jinja::Feature* length_of_none(const std::vector<jinja::Feature>& features);
// The same for what is there only if a server adds it: Python's methods, and arguments of Python's `tojson`.
[[nodiscard]] std::string to_be_added(const jinja::Feature& feature);

}  // namespace rondo::audit
