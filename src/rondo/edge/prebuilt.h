// Edge templates made in advance for models whose own template is missing or unusable.  They are data (prebuilt.json):
// the type in the model's config.json, the template, and the reason for it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "edge/edge_template.h"

namespace rondo::edge {

struct Prebuilt {
  std::string name;
  std::string model_type;  // from config.json
  std::string reason;      // a sentence
  EdgeTemplate edge_template;
};

[[nodiscard]] const std::vector<Prebuilt>& prebuilt();
// Returns nullptr if there is none for that type.
[[nodiscard]] const Prebuilt* find_prebuilt(std::string_view model_type);

// Returns the text of prebuilt.json.
[[nodiscard]] std::string_view prebuilt_json();

}  // namespace rondo::edge
