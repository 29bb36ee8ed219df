// Regular expressions of tokenizer files, matched with the classes of Unicode 16.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/result.h"
#include "tokenizer/aligned.h"
#include "tokenizer/regex_dialect.h"

namespace rondo::tokenizer {

// The steps of backtracking that are left for one text.  Nested quantifiers can take exponentially many; reasonable
// expressions take a few for each byte.
class Effort {
 public:
  explicit Effort(std::size_t text_bytes) : left_(kFree + kPerByte * text_bytes) {}

 private:
  friend class Regex;
  static constexpr std::uint64_t kFree = 12'000'000;
  static constexpr std::uint64_t kPerByte = 500;
  std::uint64_t left_;
};

// Immutable.  Many threads may call find_all at once.
class Regex {
 public:
  // Compiles a pattern.  Fails with kTokenizer if it does not compile.
  [[nodiscard]] static Result<Regex> compile(std::string_view pattern, Dialect dialect = Dialect::kPerl);
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  // Appends the successive matches in text[piece], with offsets in `text`.  Nothing outside the piece is seen, not even
  // by look-around.  An empty match is reported unless it directly follows the last match.
  //
  // If an expression takes too many steps at some place, it is given up there.  The rest of the piece is reported as
  // one match, so that nothing is lost.  `effort` is what all pieces of a text may take together.
  //
  // REQUIRES: `text` is the result of unicode::substitute_newer for valid UTF-8.
  void find_all(std::string_view text, Range piece, std::vector<Range>& matches, Effort& effort) const;
  // Does the same with an effort of its own.
  void find_all(std::string_view text, Range piece, std::vector<Range>& matches) const;

 private:
  struct State;
  struct Subject;
  [[nodiscard]] int match(const Subject& subject, Effort& effort) const;
  explicit Regex(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rondo::tokenizer
