// The whole report of an audit as text, for golden files.
#pragma once

#include <map>
#include <string>

namespace rondo::test {

// Returns what the audit of a template reports: what is played, what breaks and why, which remedies hold, and each finding with its
// proof and place.  Templates with `_bare` in their names have no tokenizer.
std::string report_text(const std::string& name, const std::string& source);

// Returns the templates of a folder below tests/golden, by their names.
std::map<std::string, std::string> templates_in(const std::string& folder);

}  // namespace rondo::test
