// Regular expressions as tokenizer files write them, rewritten for PCRE2.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace rondo::tokenizer {

enum class Dialect : std::uint8_t {
  kPerl,       // PCRE2's own, but for classes that Oniguruma and Rust's regular expressions share
  kOniguruma,  // that of tokenizer.json
};

// What PCRE2 reads as the dialect reads `pattern`: word characters and boundaries, POSIX and long names of classes, sets
// within sets and their intersections; of Oniguruma also `{n,m}+`, `{n}?`, `{,n}`, `(?m)` and escapes.  A pattern that the
// dialect does not know comes out as one that PCRE2 refuses, or as it was.  `is_script(name)` tells whether PCRE2 knows the
// script.
[[nodiscard]] std::string to_pcre2(std::string_view pattern, Dialect dialect,
                                   const std::function<bool(std::string_view)>& is_script);

}  // namespace rondo::tokenizer
