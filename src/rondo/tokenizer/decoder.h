// Turns tokens back into text, as the member "decoder" of a tokenizer.json says.
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

// A list of steps.  Each turns a stream of token texts into a stream of texts.  Immutable.
class Decoder {
 public:
  Decoder() = default;  // joins tokens with spaces, as the reference does if there is no decoder

  // Reads the member "decoder".  Fails with kTokenizer on an unknown kind.
  [[nodiscard]] static Result<Decoder> from_json(const json::Value* description);

  struct Bytes {};         // decodes the byte-level alphabet
  struct ByteFallback {};  // decodes runs of <0xXX>
  struct Fuse {};          // joins all tokens: later steps work on the whole text
  struct Join {};          // puts a space before every token but the first
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
    bool drop_first = true;  // replacements in the first token are dropped
  };
  struct Strip {
    std::string content;
    std::size_t start = 0;
    std::size_t stop = 0;
  };
  // Puts a space before every token but the first, unless the token starts with `prefix`, which is dropped.
  struct WordPiece {
    std::string prefix;
    bool cleanup = true;  // remove spaces before punctuation and in English contractions
  };
  struct WordEnds {
    std::string suffix;  // becomes a space; dropped in the last token
  };
  // Keeps one of equal neighbouring tokens, and drops the padding.
  struct Ctc {
    std::string padding;
    std::string delimiter;  // becomes a space if `cleanup`
    bool cleanup = true;
  };
  using Step =
      std::variant<Bytes, ByteFallback, Fuse, Join, Replace, ReplaceRegex, Metaspace, Strip, WordPiece, WordEnds, Ctc>;

  template <typename T>
  void add(T step) {
    steps_.emplace_back(std::move(step));
  }
  // Adds the steps of vocabularies that write kSpaceMark for a space.  `strips_first`: a space was put before the text.
  void add_marks(bool byte_fallback, bool strips_first);
  [[nodiscard]] bool starts_with_bytes() const { return !steps_.empty() && std::holds_alternative<Bytes>(steps_[0]); }

  // Returns whether decoding the bytes is the only step.
  [[nodiscard]] bool is_bytes_only() const { return steps_.size() == 1 && starts_with_bytes(); }
  // Returns whether the decoded text is the inner texts of the tokens joined, with runs of byte tokens made valid,
  // followed by strip_joined().
  [[nodiscard]] bool joins_inner_bytes() const;
  void strip_joined(std::string& text) const;
  // Returns the byte that a token such as <0x0A> stands for.
  [[nodiscard]] static std::optional<char> fallback_byte(std::string_view token);

  // Returns the text that the token spelled `text` stands for inside a text, whatever its neighbours are.
  [[nodiscard]] std::string inner_bytes(std::string_view text) const;

  // Decodes token by token.  The decoded text is what all calls of push() and finish() append.
  class Run {
   public:
    explicit Run(const Decoder& decoder);
    void push(std::string_view token, std::string& out);
    // Adds a token whose bytes are known.
    //
    // REQUIRES: starts_with_bytes().
    void push_bytes(std::string_view bytes, std::string& out);
    void finish(std::string& out);

   private:
    struct StepState {
      std::string held;
      std::size_t count = 0;  // how many tokens were seen, or how many characters were already stripped
      bool fused = false;     // earlier steps joined all tokens into one text
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
