// Which statements of a source stand around a byte of it: for edits that go in front of or behind a statement, or ask what it
// asks.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "audit/source.h"

namespace rondo::audit {

// A statement with a body: {% if %} ... {% endif %}.
struct SourceBlock {
  std::string word;              // "if", "for", ...
  std::vector<TokenRange> tags;  // inside of their brackets: the first one, `elif` and `else`, the one that ends it
  std::size_t begin = 0;         // bytes, from the first tag's bracket to behind the last one's
  std::size_t end = 0;
};

class SourceBlocks {
 public:
  // `source` must outlive it.
  explicit SourceBlocks(const Source& source);

  // Those around `byte`, the innermost first.  A tag of a statement stands inside of it.
  [[nodiscard]] std::vector<const SourceBlock*> around(std::size_t byte) const;
  // Which of its branches `byte` of a statement stands in: the number of the tag that it follows.
  [[nodiscard]] std::size_t branch_of(const SourceBlock& block, std::size_t byte) const;
  // The variables of the loops around `byte`, the innermost first.
  [[nodiscard]] std::vector<std::string> loop_names(std::size_t byte) const;
  // What the if statements around `byte` ask, so far as they stand inside one that asks for `name`: "a" in the branch of
  // `if a`, "not (a)" in its else.  Joined with `and`; "" if nothing is asked, or nothing asks for `name`.
  [[nodiscard]] std::string condition_inside(std::size_t byte, const std::string& name) const;

 private:
  void add(std::size_t open, std::size_t close, std::vector<std::size_t>& open_blocks);
  [[nodiscard]] std::string condition_of(const SourceBlock& block, std::size_t byte) const;
  [[nodiscard]] bool names(TokenRange tag, const std::string& name) const;

  const Source& source_;
  std::vector<SourceBlock> blocks_;  // in the order of their beginnings
};

}  // namespace rondo::audit
