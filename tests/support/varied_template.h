// Templates with random edits: a text is shorter, a condition is negated, a filter is left out, a field has another's name,
// a line is that of another template.  What comes out is often odd, and compiles.
#pragma once

#include <cstdint>
#include <string>

namespace rondo::test {

// Returns the template with some edits and lines of `other`, the same ones for a seed; the template itself if none was found
// that compiles.
std::string varied_template(const std::string& source, const std::string& other, std::uint64_t seed);

}  // namespace rondo::test
