// Cuts normalised text into the pieces that the model merges on their own.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "json/value.h"
#include "rondo/result.h"
#include "tokenizer/aligned.h"
#include "tokenizer/regex.h"
#include "tokenizer/scanner.h"

namespace rondo::tokenizer {

// What becomes of the matches of a pattern; `Invert` makes the gaps the matches.
enum class Behavior : std::uint8_t { kIsolated, kRemoved, kContiguous, kMergedWithPrevious, kMergedWithNext };

// Text cut into pieces: ranges of text.text(), in order, none empty.
struct Pieces {
  Aligned text;
  std::vector<Range> ranges;
  bool byte_spelled = false;  // text is written in the byte-level alphabet (byte_level.h) and stands for bytes
};

// A list of steps, applied in order to all pieces.  Immutable.
class PreTokenizer {
 public:
  PreTokenizer() = default;  // one piece

  // The member "pre_tokenizer" of a tokenizer.json; null is the empty list.  Fails with kTokenizer on unknown kinds.
  [[nodiscard]] static Result<PreTokenizer> from_json(const json::Value* description);

  enum class Class : std::uint8_t { kDigit, kPunctuation, kWhiteSpace };
  struct SplitRegex {
    Regex regex;
    Behavior behavior = Behavior::kIsolated;
    bool invert = false;
    std::optional<Scanner> scanner;  // does the same faster
  };
  struct SplitText {
    std::string text;
    Behavior behavior = Behavior::kIsolated;
    bool invert = false;
  };
  // Splits at characters of a class.
  struct SplitClass {
    Class members = Class::kDigit;
    Behavior behavior = Behavior::kIsolated;
  };
  // Words, and runs of neither words nor white space; white space is dropped.
  struct Words {};
  struct PrependSpace {};
  // Spells the text in the byte-level alphabet.
  struct SpellBytes {
    bool as_bytes = false;  // who gets the pieces wants the bytes; the spelling only serves the steps behind this one
  };
  struct Metaspace {
    enum class Prepend : std::uint8_t { kNever, kFirst, kAlways };
    std::string replacement;
    Prepend prepend = Prepend::kAlways;
    bool split = true;
  };
  struct FixedLength {
    std::size_t length = 1;
  };
  struct Scripts {};
  using Step =
      std::variant<SplitRegex, SplitText, SplitClass, Words, PrependSpace, SpellBytes, Metaspace, FixedLength, Scripts>;

  template <typename T>
  void add(T step) {
    steps_.emplace_back(std::move(step));
  }
  // Adds a SplitRegex.  Fails with kTokenizer when `pattern` does not compile.
  [[nodiscard]] Status add_regex(std::string_view pattern, Behavior behavior, bool invert,
                                 Dialect dialect = Dialect::kPerl);
  // Every piece is spelled once, and nothing that is not of the alphabet comes in behind that: the bytes say the same.
  [[nodiscard]] bool can_leave_bytes() const;
  // From now on pieces are bytes, or spelled ones marked as `byte_spelled`.  REQUIRES: can_leave_bytes().
  void leave_bytes();
  [[nodiscard]] bool empty() const { return steps_.empty(); }
  // What does all that the steps do, if there is such a scanner.
  [[nodiscard]] const Scanner* only_scanner() const;
  [[nodiscard]] std::string to_string() const;

  // REQUIRES: valid UTF-8.
  [[nodiscard]] Pieces apply(Aligned text) const;

 private:
  std::vector<Step> steps_;
};

}  // namespace rondo::tokenizer
