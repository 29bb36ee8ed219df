// What a tokenizer does to text before everything else.
#pragma once

#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "json/value.h"
#include "rondo/result.h"
#include "tokenizer/aligned.h"
#include "tokenizer/charsmap.h"
#include "tokenizer/regex.h"
#include "tokenizer/sentence_normalizer.h"
#include "unicode/normalise.h"

namespace rondo::tokenizer {

// A list of steps, applied in order.  Immutable.
class Normalizer {
 public:
  Normalizer() = default;  // changes nothing

  // Reads the member "normalizer" of a tokenizer.json; null is the empty list.  Fails with kTokenizer on an unknown
  // kind, and on a list of steps that makes texts longer without bound.
  [[nodiscard]] static Result<Normalizer> from_json(const json::Value* description);

  struct Unicode {
    unicode::Form form = unicode::Form::kNfc;
  };
  struct ReplaceText {
    std::string from;
    std::string to;
  };
  struct ReplaceRegex {
    Regex from;
    std::string to;
  };
  struct Prepend {
    std::string text;
  };
  struct Strip {
    bool left = true;
    bool right = true;
  };
  struct Lowercase {};
  struct StripAccents {};
  struct Nmt {};           // drops control characters, turns rare white space into spaces
  struct CleanText {};     // BERT: drops control characters, turns all white space into spaces
  struct SpaceChinese {};  // BERT: puts spaces around Chinese characters
  struct StripMarks {};    // BERT: drops marks from decomposed text
  struct SpellBytes {};    // writes bytes in the byte-level alphabet
  // Replaces a whole cluster of characters if it is short and starts with an entry; otherwise replaces character by
  // character.
  struct MapCharacters {
    std::shared_ptr<const Charsmap> map;
  };
  struct Sentence {  // everything that SentencePiece does
    std::shared_ptr<const SentenceNormalizer> steps;
  };
  using Step = std::variant<Unicode, ReplaceText, ReplaceRegex, Prepend, Strip, Lowercase, StripAccents, Nmt, CleanText,
                            SpaceChinese, StripMarks, SpellBytes, MapCharacters, Sentence>;

  template <typename T>
  void add(T step) {
    steps_.emplace_back(std::move(step));
  }
  [[nodiscard]] bool empty() const { return steps_.empty(); }
  // REQUIRES: the text is valid UTF-8.
  [[nodiscard]] Aligned apply(Aligned text) const;
  [[nodiscard]] std::string apply(std::string_view text) const;

 private:
  [[nodiscard]] Status check_growth() const;

  std::vector<Step> steps_;
};

}  // namespace rondo::tokenizer
