// Import: an Edge template as a Jinja template that writes the same, for whatever needs one.
//
// What renders cannot show (the model's path, unknown members, which further roles there are) stands in a comment at the
// template's begin, so that exporting it again gives the same file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "edge/edge_template.h"
#include "json/value.h"

namespace rondo::edge {

[[nodiscard]] std::string to_jinja(const EdgeTemplate& edge_template);

// What that comment says.
struct Unseen {
  std::string model_path;
  std::vector<std::string> roles;  // beside system, user and assistant
  // By name; the format of one that no part can ask for, null for the others.
  json::Object content_types;
  json::Object rest;  // members to be put back where they are missing
};
// nullopt if the template has no such comment.
[[nodiscard]] std::optional<Unseen> unseen_of(std::string_view jinja_source);

// `text` as a string constant of a template.
[[nodiscard]] std::string jinja_constant(std::string_view text);

}  // namespace rondo::edge
