// Characters that a template writes in another way: `<` as `&lt;`, a quote behind a backslash.  Internal to analysis/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/parts.h"

namespace rondo::analysis {

// Those that templates like to escape: in names, in visible text, white space.
inline constexpr std::string_view kSignsInNames = "&<>\"'\\";
inline constexpr std::string_view kVisibleSigns = "&<>\"'\\!#$%()*+,-./:;=?@[]^_`{|}~";
inline constexpr std::string_view kWhiteSigns = " \n\t";

// A text with each of `characters`: a word stands before each of them and behind the last one.
[[nodiscard]] std::string with_words(std::string_view characters);

// What stands between the words of with_words(characters) in the template's text: the escapes among them.  White space
// and single characters stand for themselves too, and would be none that can be told from these.
[[nodiscard]] std::vector<format::Escape> escapes_between(std::string_view characters, std::string_view written);

// `calls` with the escapes of names, and of arguments that are one text of JSON.
[[nodiscard]] format::Calls with_escapes(const Evidence& evidence, format::Calls calls);

}  // namespace rondo::analysis
