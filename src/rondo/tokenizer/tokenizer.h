// Tokenizers: text to ids and back, exactly as the model's own tokenizer does it.
//
//   auto tokenizer = Tokenizer::load(files);               // model::TokenizerSource
//   auto pieces = tokenizer.value()->encode("Hello", {});  // ids with byte offsets
//   tokenizer.value()->decode(ids, {});
//
// Immutable after loading; every const member may be called from many threads at once.  Knows nothing of chat.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/model_files.h"
#include "rondo/result.h"
#include "text/text.h"

namespace rondo::tokenizer {

using TokenId = std::int32_t;

// A token and the bytes of the input that it stands for.
struct Piece {
  TokenId id = 0;
  std::uint32_t begin = 0;  // bytes of the encoded text
  std::uint32_t end = 0;
  bool operator==(const Piece&) const = default;
};

// A token that is found in text before the model's own splitting.
struct AddedToken {
  TokenId id = 0;
  std::string content;
  bool special = false;      // a control token; hidden by skip_special
  bool lstrip = false;       // takes the white space before it
  bool rstrip = false;       // takes the white space behind it
  bool single_word = false;  // only where no word character touches it
  bool normalized = false;   // searched in normalised text
};

// Which bytes may take part in an added token: sorted, disjoint ranges.  A match must lie wholly inside allowed bytes.
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct EncodeOptions {
  bool parse_special = true;  // recognise tokens with `special`
  bool parse_added = true;    // recognise added tokens that are not special
  bool add_special = false;   // what the post-processor adds: BOS, EOS, ...
  bool added_only = false;    // only the added tokens are given, without the text between them
  // If set, added tokens (special or not) are recognised only inside these ranges of the text; white space that a token
  // strips may lie outside.  No text can then become a special token by merging either, which in a few vocabularies the
  // reference lets happen.
  const std::vector<ByteRange>* allowed = nullptr;
};

struct LoadOptions {
  // A folder where large tokenizers are kept in a form that loads at once, if not empty; it is made where it is missing.
  // Any number of processes may use it; what is damaged there or can't be written is passed over.
  std::string cache_folder;
};

struct DecodeOptions {
  bool skip_special = false;
};

class Tokenizer {
 public:
  // Builds the tokenizer that `source` describes.  Fails with kTokenizer (damaged, of an unsupported kind).
  [[nodiscard]] static Result<std::shared_ptr<const Tokenizer>> load(const model::TokenizerSource& source,
                                                                     const LoadOptions& options = {});
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // The tokens of `text` in order, with offsets.  Any bytes are accepted; invalid UTF-8 is encoded by byte fallback or
  // as the reference does with U+FFFD.
  [[nodiscard]] std::vector<Piece> encode(std::string_view text, const EncodeOptions& options) const;
  [[nodiscard]] std::vector<TokenId> encode_ids(std::string_view text, const EncodeOptions& options) const;

  // encode_ids() of each text, in their order; the threads take them one by one.  At most `threads` work, the caller's own
  // among them; 0: as many as the machine has cores.  Where no more threads can be had, fewer do the work.
  // `options.allowed` would hold for all texts alike.
  [[nodiscard]] std::vector<std::vector<TokenId>> encode_batch(std::span<const std::string_view> texts,
                                                               const EncodeOptions& options, unsigned threads) const;

  // Fails with kTokenizer when an id is out of range.  No clean-up of spaces.
  [[nodiscard]] Result<std::string> decode(std::span<const TokenId> ids, const DecodeOptions& options) const;

  // Decodes ids one by one: the joined results equal decode() of the whole, and no result ends inside a character that
  // later ids could complete.
  class Stream {
   public:
    explicit Stream(const Tokenizer& tokenizer, DecodeOptions options = {});
    ~Stream();
    Stream(Stream&&) noexcept;
    [[nodiscard]] Result<std::string> next(TokenId id);
    [[nodiscard]] std::string finish();  // what was held back
    // The same, appended to `out`.
    [[nodiscard]] Status next(TokenId id, std::string& out);
    void finish(std::string& out);

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

  // The bytes that `id` stands for inside a text; an added token's content; "" for an unused id.  May be part of a
  // character.  REQUIRES: 0 <= id < vocab_size().
  [[nodiscard]] std::string_view token_bytes(TokenId id) const;
  // The id whose vocabulary entry or added token reads exactly `content`.
  [[nodiscard]] std::optional<TokenId> find(std::string_view content) const;
  [[nodiscard]] bool is_added(TokenId id) const;
  [[nodiscard]] bool is_special(TokenId id) const;
  // Sorted by content.
  [[nodiscard]] std::span<const AddedToken> added_tokens() const;
  [[nodiscard]] TokenId vocab_size() const;  // ids are below this

  [[nodiscard]] std::optional<TokenId> bos() const;
  [[nodiscard]] std::optional<TokenId> eos() const;
  // Ids that end generation according to the files (generation_config, GGUF eos / eot / eom), sorted.
  [[nodiscard]] std::span<const TokenId> end_ids() const;
  // Parts of the file that have no effect here, such as "truncation" and "padding".
  [[nodiscard]] std::span<const std::string> ignored() const;
  // One line: kind, vocabulary size, added tokens, pre-tokenizer, what is ignored.
  [[nodiscard]] std::string to_string() const;

  struct State;  // of this folder

 private:
  explicit Tokenizer(std::unique_ptr<const State> state);
  std::unique_ptr<const State> state_;
};

}  // namespace rondo::tokenizer
