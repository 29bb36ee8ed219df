// Tokens back to text, as the member "decoder" of a tokenizer.json says.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "json/value.h"
#include "rondo/result.h"
#include "tokenizer/regex.h"

namespace rondo::tokenizer {

// A list of steps, each from a stream of token texts to a stream of texts.  Immutable.
class Decoder {
 public:
  Decoder() = default;  // joins tokens with spaces, as the reference does without a decoder

  // Fails with kTokenizer on unknown kinds.
  [[nodiscard]] static Result<Decoder> from_json(const json::Value* description);

  struct Bytes {};         // the byte-level alphabet
  struct ByteFallback {};  // runs of <0xXX>
  struct Fuse {};          // what follows works on the whole text
  struct Join {};          // a space before every token but the first
  struct Replace {
    std::string from;
    std::string to;
  };
  struct ReplaceRegex {
    std::shared_ptr<const Regex> from;
    std::string to;
  };
  struct Metaspace {
    std::string replacement;
    bool drop_first = true;  // the first token's replacements vanish
  };
  struct Strip {
    std::string content;
    std::size_t start = 0;
    std::size_t stop = 0;
  };
  // A space before every token but the first, unless it starts with `prefix`, which vanishes.
  struct WordPiece {
    std::string prefix;
    bool cleanup = true;  // no spaces before punctuation and in English contractions
  };
  struct WordEnds {
    std::string suffix;  // becomes a space, in the last token nothing
  };
  // One of equal neighbouring tokens, without the padding.
  struct Ctc {
    std::string padding;
    std::string delimiter;  // becomes a space, if there is cleanup
    bool cleanup = true;
  };
  using Step =
      std::variant<Bytes, ByteFallback, Fuse, Join, Replace, ReplaceRegex, Metaspace, Strip, WordPiece, WordEnds, Ctc>;

  template <typename T>
  void add(T step) {
    steps_.emplace_back(std::move(step));
  }
  // The steps of vocabularies that write kSpaceMark for a space.  `strips_first`: the text was given a space in front.
  void add_marks(bool byte_fallback, bool strips_first);
  [[nodiscard]] bool starts_with_bytes() const { return !steps_.empty() && std::holds_alternative<Bytes>(steps_[0]); }

  // Nothing but the bytes counts.
  [[nodiscard]] bool is_bytes_only() const { return steps_.size() == 1 && starts_with_bytes(); }
  // The decoded text is what the tokens stand for inside a text, one behind the other, runs of byte tokens made valid, and
  // then strip_joined().
  [[nodiscard]] bool joins_inner_bytes() const;
  void strip_joined(std::string& text) const;
  // The byte that a token such as <0x0A> stands for.
  [[nodiscard]] static std::optional<char> fallback_byte(std::string_view token);

  // What the token spelled `text` stands for inside a text, its neighbours unknown.
  [[nodiscard]] std::string inner_bytes(std::string_view text) const;

  // Decodes token by token.  What finish() and all push() append is the decoded text.
  class Run {
   public:
    explicit Run(const Decoder& decoder);
    void push(std::string_view token, std::string& out);
    // The same for a token whose bytes are known.  REQUIRES: the decoder starts_with_bytes().
    void push_bytes(std::string_view bytes, std::string& out);
    void finish(std::string& out);

   private:
    struct StepState {
      std::string held;
      std::size_t count = 0;  // of tokens seen, or of characters already stripped
      bool fused = false;     // earlier steps joined all tokens to one text
      bool holds = false;     // a token is held
    };
    void feed(std::size_t step, std::string text, std::string& out);
    void feed_token(std::size_t step, std::string text, std::string& out);
    void release_bytes(std::size_t step, std::string& out);
    void flush(std::size_t step, std::string& out);
    void flush_bytes(std::size_t step, std::string& out);
    void strip(std::size_t step, const Strip& options, std::string text, std::string& out);

    const Decoder& decoder_;
    std::vector<StepState> states_;
  };

 private:
  std::vector<Step> steps_;
};

}  // namespace rondo::tokenizer
