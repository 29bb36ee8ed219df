// Which parts of the language a template uses: for telling where another engine would stop.
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
  std::string subject;                // of a filter or test: the variable that it is asked of; "" if it is none
  bool has_arguments = false;         // of a filter or method
  std::vector<std::string> keywords;  // of the arguments
  text::Literal place;
};

// In the order of the source.  Empty for source that does not parse.  `source` is a template's normalised source
// (Template::source).
[[nodiscard]] std::vector<Feature> used_features(std::string_view source);

}  // namespace rondo::jinja
