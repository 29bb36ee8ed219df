// Import: turns an Edge template into a Jinja template that writes the same.
//
// The template begins with a comment that holds what no render shows: the model's path, unknown members and further
// roles.  So exporting the template again gives the same file.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "edge/edge_template.h"
#include "json/value.h"

namespace rondo::edge {

[[nodiscard]] std::string to_jinja(const EdgeTemplate& edge_template);

// The content of that comment.
struct Unseen {
  std::string model_path;
  std::vector<std::string> roles;  // in addition to system, user and assistant
  // By name: the format if no part can ask for it, otherwise null.
  json::Object content_types;
  json::Object rest;  // members to be put back if they are missing
};
// Returns nullopt if the template has no such comment.
[[nodiscard]] std::optional<Unseen> unseen_of(std::string_view jinja_source);

// Returns `text` as a string constant of a template.
[[nodiscard]] std::string jinja_constant(std::string_view text);

}  // namespace rondo::edge
