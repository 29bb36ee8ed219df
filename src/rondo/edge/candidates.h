// Finds what a Jinja template writes around its messages, from the origins of a few renders.  Internal to edge/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "edge/edge_template.h"
#include "edge/renders.h"

namespace rondo::edge {

// Returns Edge templates that may write what the template writes, most likely first; none if it writes no user message
// unchanged.  They differ in where one turn ends and the next begins, in which turn they are derived from, and in what
// comes before the first message if there is no system message.
[[nodiscard]] std::vector<EdgeTemplate> find_candidates(const Renders& renders);

// What the template writes for parts of a type in a user message.
struct FoundFormat {
  std::string format;     // "" if it writes nothing
  bool counts = false;    // the second part gets another number
  std::string part_type;  // type of the parts with which it was found: "image", "image_url"
};
[[nodiscard]] FoundFormat find_format(const Renders& renders, std::string_view type);

// Returns a part of that type as requests contain it.
[[nodiscard]] json::Value media_part(std::string_view part_type);

// Returns the boolean variable of the template that changes the generation prompt: `enable_thinking`, or one of its
// own.  `renders` remembers it.
[[nodiscard]] std::string find_thinking_variable(Renders& renders);

// Returns a message of the role 's', 'u' or 'a'.
[[nodiscard]] json::Value plain_message_of(char role, std::string_view text);

}  // namespace rondo::edge
