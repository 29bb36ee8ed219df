// Templates with random edits: a text is shorter, a condition is negated, a filter is left out, a field has another's name,
// a line is that of another template.  What comes out is often odd, and compiles.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

namespace rondo::test {

// Returns the template with some edits and lines of `other`, the same ones for a seed; the template itself if none was found
// that compiles.
std::string varied_template(const std::string& source, const std::string& other, std::uint64_t seed);

struct EditedTemplate {
  std::string name;  // of the template that was edited
  std::string row;   // what varied_template() was given: two names and the seed
  std::string source;
};

// Checks that what `describe` says of edited templates has the digests of a golden file.  The file says which templates: each
// line is a digest and a row.  RONDO_UPDATE=1 writes the digests anew; a new line may have any digest.
void check_edited(const std::string& golden, const std::map<std::string, std::string>& sources,
                  const std::function<std::string(const EditedTemplate&)>& describe);

}  // namespace rondo::test
