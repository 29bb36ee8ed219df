// Finds which parts of the language a template uses.  It tells at which of them another engine would fail.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "text/origins.h"

namespace rondo::jinja {

struct Feature {
  enum class Kind : std::uint8_t {
    kFilter,
    kTest,
    kMethod,     // x.name(...), where x is not `loop`
    kStatement,  // "generation", "break", "continue"
    kPercent,    // 'text' % values; name: "%"
  };
  Kind kind = Kind::kFilter;
  std::string name;
  std::string subject;         // for a filter or test: the variable that it is applied to; "" if that is not a variable
  bool has_arguments = false;  // for a filter or method
  std::vector<std::string> keywords;  // keyword arguments
  text::Literal place;
};

// Returns the features in source order; none for source that does not parse.  `source` is a template's normalised
// source (Template::source).
[[nodiscard]] std::vector<Feature> used_features(std::string_view source);

}  // namespace rondo::jinja
