// How minijinja, the template engine of several servers, differs from jinja2, as measured with versions 2.24.0 and
// 3.0.5.  Internal to audit/.
//
// This is not an engine.  The result is the text of a traced render with its values printed as minijinja prints them.
// Conditions keep the outcome that they have in jinja2, even if they depend on the printed form of a value or on its
// length.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "jinja/reading/features.h"
#include "jinja/template.h"

namespace rondo::audit {

struct Dialect {
  std::string_view name;
  // Lists and dictionaries print strings in double quotes, and tuples print as lists.
  bool json_lists = false;
  // Its own `tojson` writes no spaces; many servers replace it by Python's.
  bool compact_json = false;
};
inline constexpr Dialect kMinijinja2{"minijinja 2", true, true};
inline constexpr Dialect kMinijinja3{"minijinja 3", false, false};

// Returns the text with lists and dictionaries printed in that dialect.  With `own_json`, also with its own `tojson`,
// which writes `<`, `>`, `&` and `'` as \u escapes.
[[nodiscard]] std::string in_dialect(const jinja::Rendered& rendered, const Dialect& dialect, bool own_json);

// Returns a part of the language that neither version has, even with the methods of Python's strings and dictionaries,
// in the notation that people use: "`{% generation %}`", "filter `truncate`".  Returns "" for a part that exists.
[[nodiscard]] std::string lacking(const jinja::Feature& feature);
// Returns where the template tests `x is iterable and x | length` for a variable that is none if the request does not
// set it.  For minijinja, none is iterable but has no length.
[[nodiscard]] const jinja::Feature* length_of_none(const std::vector<jinja::Feature>& features);
// Returns the name of a part, as lacking() does, that exists only if a server adds it: Python's methods, and arguments
// of Python's `tojson`.
[[nodiscard]] std::string to_be_added(const jinja::Feature& feature);

}  // namespace rondo::audit
