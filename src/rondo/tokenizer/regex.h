// Regular expressions as tokenizer files write them, matched with Unicode 16 classes.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/result.h"
#include "tokenizer/aligned.h"
#include "tokenizer/regex_dialect.h"

namespace rondo::tokenizer {

// Immutable; find_all may be called from many threads at once.
class Regex {
 public:
  // Fails with kTokenizer when `pattern` does not compile.
  [[nodiscard]] static Result<Regex> compile(std::string_view pattern, Dialect dialect = Dialect::kPerl);
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;
  ~Regex();

  // Appends the successive matches in text[piece], with offsets of `text`.  Nothing outside the piece is seen, not even by
  // look-around.  An empty match is reported unless it directly follows the last match.  REQUIRES: `text` is what
  // classes::substitute_newer makes of valid UTF-8.
  void find_all(std::string_view text, Range piece, std::vector<Range>& matches) const;

 private:
  struct State;
  explicit Regex(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rondo::tokenizer
