// Where a marker text may be cut in two: markers are made of units such as `<tool>` or `[/x]` that nobody splits.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::format {

[[nodiscard]] bool is_space(char byte);
[[nodiscard]] bool is_blank(std::string_view text);
// A letter or digit of ASCII, or a low line.
[[nodiscard]] bool is_word(char byte);
// Without white space at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

// True if the brackets in it open and close each other.
[[nodiscard]] bool is_paired(std::string_view text);
// True if it has no brackets and begins or ends with something else than a word: `%%done`.
[[nodiscard]] bool is_mark(std::string_view text);

// Offsets at which `text` may be cut: 0, its end, around white space and behind closing brackets that no word touches,
// as long as no bracket is open; punctuation on both sides of brackets belongs to them (`#[x]#`).  `<a>\n<b` gives 0, 3,
// 4, 6 and `<|open|>x<|sep|>` only 0 and 16.
// `atoms` are texts that stand for themselves, whatever brackets they have: units of their own.
[[nodiscard]] std::vector<std::size_t> unit_boundaries(std::string_view text, std::span<const std::string> atoms = {});

// How many bytes both texts have in common at their begin (end).
[[nodiscard]] std::size_t alike_in_front(std::string_view a, std::string_view b);
[[nodiscard]] std::size_t alike_behind(std::string_view a, std::string_view b);

// Length of the longest common prefix (suffix) of both texts that ends (begins) at a unit boundary of each.
[[nodiscard]] std::size_t common_prefix(std::string_view a, std::string_view b,
                                        std::span<const std::string> atoms = {});
[[nodiscard]] std::size_t common_suffix(std::string_view a, std::string_view b,
                                        std::span<const std::string> atoms = {});

}  // namespace rondo::format
