// Commands behind `$ ` with what they print below, as tests repeat them: transcripts of their own, and pages with such blocks.
#pragma once

#include <string>
#include <string_view>

namespace rondo::testing {

// What `command` prints, errors included, where `rondo` is `program` and `folder` the current one; a last line tells of an exit
// status other than 0.  `scratch`: a folder for its files, and for what rondo keeps.
[[nodiscard]] std::string printed(const std::string& program, const std::string& scratch, const std::string& folder,
                                  const std::string& command);

// Where two texts differ first, with the command above it.
[[nodiscard]] std::string first_difference(std::string_view wanted, std::string_view found);

}  // namespace rondo::testing
