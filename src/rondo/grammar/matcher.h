// Checks whether a text fits a grammar, character by character, as constrained sampling does, but without a vocabulary.
//
//   Matcher matcher(grammar);
//   for (char32_t c : text) if (!matcher.feed(c)) ...;     // no text with this beginning fits
//   matcher.is_complete()                                  // the text so far fits
//
// It follows all ways to read the text at once.  Each is a place in the grammar and a stack of places to return to.
// Equal stacks are shared.  A call at the end of a rule leaves nothing on the stack, so long texts do not make the
// stacks grow.  Not thread-safe.
//
// REQUIRES: no rule refers to itself before it has read a character.
#pragma once

#include <cstdint>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "grammar/ir.h"

namespace rondo::grammar {

class Matcher {
 public:
  // Keeps no reference to `grammar`.
  explicit Matcher(const Grammar& grammar);

  // Feeds one character.  Returns false once no text with this beginning fits; only restart() helps then.
  bool feed(char32_t code_point);
  // Feeds a whole text.  Bytes that are not UTF-8 never fit.
  bool feed(std::string_view text);
  [[nodiscard]] bool is_complete() const { return is_complete_; }
  [[nodiscard]] bool is_dead() const { return threads_.empty() && !is_complete_; }
  // Returns true if the matcher gave up because the grammar is too ambiguous or left-recursive.
  [[nodiscard]] bool gave_up() const { return gave_up_; }
  // Forgets the text, so another one can be checked.
  void restart();

 private:
  enum class Code : std::uint8_t { kChars, kCall, kSplit, kJump, kReturn };
  struct Instruction {
    Code code = Code::kReturn;
    std::uint32_t set = 0;
    std::uint32_t a = 0;  // the target, or the called rule
    std::uint32_t b = 0;  // the second target
  };
  struct Thread {
    std::uint32_t at = 0;
    std::uint32_t stack = 0;
  };
  // A set of keys that is emptied at once: each place holds the round in which its key was put there.
  class Seen {
   public:
    void clear();
    bool insert(std::uint64_t key);  // returns false if it is there
    [[nodiscard]] std::size_t size() const { return size_; }

   private:
    struct Place {
      std::uint64_t key = 0;
      std::uint64_t round = 0;
    };
    void grow();
    std::vector<Place> places_ = std::vector<Place>(64);
    std::uint64_t round_ = 1;
    std::size_t size_ = 0;
  };

  void compile(const Grammar& grammar);
  void emit(const Grammar& grammar, NodeId id);
  std::uint32_t push(std::uint32_t at, std::uint32_t stack);
  void follow(std::vector<Thread> work);
  [[nodiscard]] std::uint32_t target(std::uint32_t at) const;

  std::vector<Instruction> code_;
  std::vector<CharSet> sets_;
  std::vector<std::uint32_t> entries_;  // by rule
  std::uint32_t root_ = 0;
  struct Frame {
    std::uint32_t at = 0;
    std::uint32_t below = 0;
  };
  std::vector<Frame> frames_;  // element 0 is the bottom of every stack
  std::unordered_map<std::uint64_t, std::uint32_t> frame_ids_;
  std::vector<Thread> threads_;
  Seen seen_;
  bool is_complete_ = false;
  bool gave_up_ = false;
};

// Returns whether all of `text` fits.
[[nodiscard]] bool accepts(const Grammar& grammar, std::string_view text);

}  // namespace rondo::grammar
