// What a Jinja template writes around its messages, read off the origins of a few renders.  Internal to edge/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "edge/edge_template.h"
#include "edge/renders.h"

namespace rondo::edge {

// Edge templates that may write what the template writes, the likeliest first; empty if it writes no user message as it is.
// They differ in where one turn ends and the next begins, in which turn they are read off, and in what stands before the
// first message where there is no system message.
[[nodiscard]] std::vector<EdgeTemplate> find_candidates(const Renders& renders);

// What stands for parts of a type in a user message.
struct FoundFormat {
  std::string format;     // "" if nothing does
  bool counts = false;    // the second one has another number in it
  std::string part_type;  // of the parts that it was found with: "image", "image_url"
};
[[nodiscard]] FoundFormat find_format(const Renders& renders, std::string_view type);

// A part of that type as requests have it.
[[nodiscard]] json::Value media_part(std::string_view part_type);

// The boolean variable of the template that changes the generation prompt: `enable_thinking`, else one of its own.  `renders`
// keeps it.
[[nodiscard]] std::string find_thinking_variable(Renders& renders);

// A message of a role for 's', 'u', 'a'.
[[nodiscard]] json::Value plain_message_of(char role, std::string_view text);

}  // namespace rondo::edge
