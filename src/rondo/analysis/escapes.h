// Characters that a template writes in another way: `<` as `&lt;`, a quote after a backslash.  Internal to analysis/.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/parts.h"

namespace rondo::analysis {

// Characters that templates often escape: in names, in visible text, and white space.
inline constexpr std::string_view kSignsInNames = "&<>\"'\\";
inline constexpr std::string_view kVisibleSigns = "&<>\"'\\!#$%()*+,-./:;=?@[]^_`{|}~";
inline constexpr std::string_view kWhiteSigns = " \n\t";

// Returns a text with each of `characters`, with a word before, between and after them.
[[nodiscard]] std::string with_words(std::string_view characters);

// Returns the escapes in `written`, the template's text for with_words(characters): what it has between the words.
// White space and single characters are left out, because they also stand for themselves and could not be told apart.
[[nodiscard]] std::vector<format::Escape> escapes_between(std::string_view characters, std::string_view written);

// Does the same if the template writes the text as a JSON string and then replaces characters in that string.  Returns
// only the template's own escapes, and none unless undoing all escapes gives the text back.
[[nodiscard]] std::vector<format::Escape> escapes_in_json_string(std::string_view characters, std::string_view written);

// Returns what the turn has from its first text of `kind` to the last, with what the template writes in between.
[[nodiscard]] std::string text_of(const Turn& turn, SlotKind kind);

// Returns `blocks` with the escapes of reasoning and content.  The quotes of a text that is written as a JSON string
// become a part of the markers around it.
[[nodiscard]] Blocks with_text_escapes(const Evidence& evidence, Blocks blocks);

// Returns `calls` with the escapes of names, and with those of arguments that are one text of JSON.
[[nodiscard]] format::Calls with_escapes(const Evidence& evidence, format::Calls calls);

}  // namespace rondo::analysis
