// Finds the statements around a byte of a source, for edits before or after a statement, or edits that repeat its
// condition.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "audit/source.h"

namespace rondo::audit {

// A statement with a body: {% if %} ... {% endif %}.
struct SourceBlock {
  std::string word;              // "if", "for", ...
  std::vector<TokenRange> tags;  // without their brackets: the first tag, `elif` and `else`, the closing tag
  std::size_t begin = 0;         // bytes, from the bracket of the first tag to the end of the last one
  std::size_t end = 0;
};

class SourceBlocks {
 public:
  // `source` must outlive this.
  explicit SourceBlocks(const Source& source);

  // Returns the statements around `byte`, innermost first.  The tags of a statement are inside it.
  [[nodiscard]] std::vector<const SourceBlock*> around(std::size_t byte) const;
  // Returns the branch of a statement that `byte` is in: the number of the tag before it.
  [[nodiscard]] std::size_t branch_of(const SourceBlock& block, std::size_t byte) const;
  // Returns the variables of the loops around `byte`, innermost first.
  [[nodiscard]] std::vector<std::string> loop_names(std::size_t byte) const;
  // Finds the innermost if statement around `byte` that tests `name`, and returns the conditions of the if statements
  // inside it that are around `byte`, joined with `and`: "a" in the branch of `if a`, "not (a)" in its else.  Returns
  // "" if there are none, or if none tests `name`.
  [[nodiscard]] std::string condition_inside(std::size_t byte, const std::string& name) const;

 private:
  void add(std::size_t open, std::size_t close, std::vector<std::size_t>& open_blocks);
  [[nodiscard]] std::string condition_of(const SourceBlock& block, std::size_t byte) const;
  [[nodiscard]] bool names(TokenRange tag, const std::string& name) const;

  const Source& source_;
  std::vector<SourceBlock> blocks_;  // in the order in which they begin
};

}  // namespace rondo::audit
