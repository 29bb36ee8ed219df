// Where a marker may be cut in two.  A marker consists of units such as `<tool>` or `[/x]` that must stay whole.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::format {

// In a marker of calls, represents a number that the template counts: `<call id="1">`, `<call id="2">`.
inline constexpr char kCounter = '\x1A';

[[nodiscard]] bool is_space(char byte);
[[nodiscard]] bool is_blank(std::string_view text);
// Returns whether `byte` is an ASCII letter, a digit or an underscore.
[[nodiscard]] bool is_word(char byte);
// Returns whether `byte` may be in the name of a tag or attribute: is_word(), or a hyphen, a colon or a dot.
[[nodiscard]] bool is_tag_byte(char byte);
// Returns `text` without white space at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);
// Returns the white space at the end.
[[nodiscard]] std::string_view trailing_space(std::string_view text);
[[nodiscard]] bool is_digit(char byte);
// Returns `marker` with `number` in place of each counter.
[[nodiscard]] std::string numbered(std::string_view marker, std::size_t number);
// Returns `marker` up to its first counter.
[[nodiscard]] std::string_view before_counter(std::string_view marker);
// Returns how many bytes at the end of `text` are `marker` with a number for each of its counters; 0 if none are.  The
// text may have white space between the marker's bytes.
[[nodiscard]] std::size_t numbered_suffix(std::string_view text, std::string_view marker);

// Returns whether all brackets in `text` are paired.
[[nodiscard]] bool is_paired(std::string_view text);
// Returns whether `text` has no brackets and begins or ends with a character that is not a word character: `%%done`.
[[nodiscard]] bool is_mark(std::string_view text);

// Returns whether ordinary text may contain the marker `text` by chance: it has no brackets around a word or character.
[[nodiscard]] bool is_plain(std::string_view text);

// Returns the offsets at which `text` may be cut: 0, its end, around white space, and after closing brackets that no
// word touches, if no bracket is open.  Punctuation on both sides of brackets belongs to them (`#[x]#`).  `<a>\n<b`
// gives 0, 3, 4, 6; `<|open|>x<|sep|>` gives only 0 and 16.  `atoms` are texts that are units by themselves, whatever
// brackets they contain.
[[nodiscard]] std::vector<std::size_t> unit_boundaries(std::string_view text, std::span<const std::string> atoms = {});

// Returns how many bytes both texts have in common at the start (end).
[[nodiscard]] std::size_t alike_in_front(std::string_view a, std::string_view b);
[[nodiscard]] std::size_t alike_behind(std::string_view a, std::string_view b);

// Returns the length of the longest common prefix (suffix) that ends (begins) at a unit boundary of both texts.
[[nodiscard]] std::size_t common_prefix(std::string_view a, std::string_view b,
                                        std::span<const std::string> atoms = {});
[[nodiscard]] std::size_t common_suffix(std::string_view a, std::string_view b,
                                        std::span<const std::string> atoms = {});

}  // namespace rondo::format
