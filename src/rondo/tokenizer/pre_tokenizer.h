// Cuts normalised text into pieces, which the model merges separately.
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

// What happens to the matches of a pattern.  `Invert` makes the gaps the matches.
enum class Behavior : std::uint8_t { kIsolated, kRemoved, kContiguous, kMergedWithPrevious, kMergedWithNext };

// Text cut into pieces: ranges of text.text(), in order; none is empty.
struct Pieces {
  Aligned text;
  std::vector<Range> ranges;
  bool byte_spelled = false;  // the text is written in the byte-level alphabet (byte_level.h) and stands for bytes
};

// A list of steps, each applied to all pieces in order.  Immutable.
class PreTokenizer {
 public:
  PreTokenizer() = default;  // makes one piece

  // Reads the member "pre_tokenizer" of a tokenizer.json; null is the empty list.  Fails with kTokenizer on an unknown
  // kind.
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
  // Splits into words, and runs of characters that are neither words nor white space; drops white space.
  struct Words {};
  struct PrependSpace {};
  // Writes the text in the byte-level alphabet.
  struct SpellBytes {
    bool as_bytes = false;  // the result is wanted as bytes; the spelling only serves the later steps
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
  // Adds a SplitRegex.  Fails with kTokenizer if `pattern` does not compile.
  [[nodiscard]] Status add_regex(std::string_view pattern, Behavior behavior, bool invert,
                                 Dialect dialect = Dialect::kPerl);
  // Returns whether pieces may stay bytes: every piece is spelled once, and nothing outside the alphabet is added
  // afterwards.
  [[nodiscard]] bool can_leave_bytes() const;
  // From now on pieces are bytes, or spelled pieces marked as `byte_spelled`.
  //
  // REQUIRES: can_leave_bytes().
  void leave_bytes();
  [[nodiscard]] bool empty() const { return steps_.empty(); }
  // Returns the scanner that does everything that the steps do, if there is one.
  [[nodiscard]] const Scanner* only_scanner() const;
  [[nodiscard]] std::string to_string() const;

  // REQUIRES: the text is valid UTF-8.
  [[nodiscard]] Pieces apply(Aligned text) const;

 private:
  std::vector<Step> steps_;
};

}  // namespace rondo::tokenizer
