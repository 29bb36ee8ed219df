// Rewrites the regular expressions of tokenizer files for PCRE2.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace rondo::tokenizer {

enum class Dialect : std::uint8_t {
  kPerl,       // PCRE2's own, except for classes that Oniguruma and Rust's regular expressions share
  kOniguruma,  // the dialect of tokenizer.json
};

// Returns a pattern that PCRE2 reads as the dialect reads `pattern`.  It rewrites word characters and boundaries, POSIX
// and long names of classes, nested sets and their intersections; for Oniguruma also `{n,m}+`, `{n}?`, `{,n}`, `(?m)`
// and escapes.  A pattern that the dialect does not know comes out unchanged, or as one that PCRE2 refuses.
// `is_script(name)` tells whether PCRE2 knows the script.
[[nodiscard]] std::string to_pcre2(std::string_view pattern, Dialect dialect,
                                   const std::function<bool(std::string_view)>& is_script);

}  // namespace rondo::tokenizer
