// Edge templates made in advance, for models whose own template is missing or cannot be used.  They are data
// (prebuilt.json): what the model's config.json calls its type, the template, and why there is one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "edge/edge_template.h"

namespace rondo::edge {

struct Prebuilt {
  std::string name;
  std::string model_type;  // of config.json
  std::string reason;      // a sentence
  EdgeTemplate edge_template;
};

[[nodiscard]] const std::vector<Prebuilt>& prebuilt();
// nullptr if there is none for that type.
[[nodiscard]] const Prebuilt* find_prebuilt(std::string_view model_type);

// The text of prebuilt.json.
[[nodiscard]] std::string_view prebuilt_json();

}  // namespace rondo::edge
