// Whether a text fits a grammar, character by character: what constrained sampling does, without a vocabulary.
//
//   Matcher matcher(grammar);
//   for (char32_t c : text) if (!matcher.feed(c)) ...;     // no text that begins like this fits
//   matcher.is_complete()                                  // this one does
//
// All ways to read the text are followed at once; each is a place in the grammar and a stack of places to return to,
// and equal stacks are one.  A call at the end of a rule leaves no trace on the stack, so long texts need no memory.
// REQUIRES: no rule refers to itself before it has read a character.  Not thread-safe.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "grammar/ir.h"

namespace rondo::grammar {

class Matcher {
 public:
  // Keeps nothing of `grammar`.
  explicit Matcher(const Grammar& grammar);

  // False once no continuation fits; the matcher then stays there.
  bool feed(char32_t code_point);
  // The whole text; bytes that are no UTF-8 fit nothing.
  bool feed(std::string_view text);
  [[nodiscard]] bool is_complete() const { return is_complete_; }
  [[nodiscard]] bool is_dead() const { return threads_.empty() && !is_complete_; }
  // True if the grammar was given up as too ambiguous or left-recursive.
  [[nodiscard]] bool gave_up() const { return gave_up_; }
  void restart();

 private:
  enum class Code : std::uint8_t { kChars, kCall, kSplit, kJump, kReturn };
  struct Instruction {
    Code code = Code::kReturn;
    std::uint32_t set = 0;
    std::uint32_t a = 0;  // target, or the rule called
    std::uint32_t b = 0;  // second target
  };
  struct Thread {
    std::uint32_t at = 0;
    std::uint32_t stack = 0;
  };

  void compile(const Grammar& grammar);
  void emit(const Grammar& grammar, NodeId id);
  std::uint32_t push(std::uint32_t at, std::uint32_t stack);
  void follow(std::vector<Thread> work);
  [[nodiscard]] std::uint32_t target(std::uint32_t at) const;

  std::vector<Instruction> code_;
  std::vector<CharSet> sets_;
  std::vector<std::uint32_t> entries_;  // of rules
  std::uint32_t root_ = 0;
  struct Frame {
    std::uint32_t at = 0;
    std::uint32_t below = 0;
  };
  std::vector<Frame> frames_;  // 0: the bottom
  std::unordered_map<std::uint64_t, std::uint32_t> frame_ids_;
  std::vector<Thread> threads_;
  std::unordered_set<std::uint64_t> seen_;
  bool is_complete_ = false;
  bool gave_up_ = false;
};

// Whether all of `text` fits.
[[nodiscard]] bool accepts(const Grammar& grammar, std::string_view text);

}  // namespace rondo::grammar
