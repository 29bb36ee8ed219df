// Tokenizers: text to ids and back, exactly as the model's own tokenizer does it.
//
//   auto tokenizer = Tokenizer::load(files);               // model::TokenizerSource
//   auto pieces = tokenizer.value()->encode("Hello", {});  // ids with byte offsets
//   tokenizer.value()->decode(ids, {});
//
// Immutable after loading; many threads may call any const member at once.  It knows nothing about chat.
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

// A token, and the bytes of the input that it stands for.
struct Piece {
  TokenId id = 0;
  std::uint32_t begin = 0;  // a byte of the encoded text
  std::uint32_t end = 0;
  bool operator==(const Piece&) const = default;
};

// A token that is found in text before the model splits it.
struct AddedToken {
  TokenId id = 0;
  std::string content;
  bool special = false;      // a control token, which skip_special hides
  bool lstrip = false;       // takes the white space before it
  bool rstrip = false;       // takes the white space after it
  bool single_word = false;  // matches only if no word character touches it
  bool normalized = false;   // searched for in normalised text
};

// The bytes that may take part in an added token, as sorted, disjoint ranges.  A match must lie entirely in allowed
// bytes.
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct EncodeOptions {
  bool parse_special = true;  // recognise tokens with `special`
  bool parse_added = true;    // recognise added tokens that are not special
  bool add_special = false;   // add what the post-processor adds: BOS, EOS, ...
  bool added_only = false;    // return only the added tokens, without the text between them
  // If set, added tokens (special or not) are recognised only inside these ranges of the text; white space that a token
  // strips may be outside.  Text outside can then not become a special token by merging either, which the reference
  // allows in a few vocabularies.
  const std::vector<ByteRange>* allowed = nullptr;
};

struct LoadOptions {
  // If not empty: a folder in which large tokenizers are cached in a form that loads fast.  It is made if it is
  // missing.  Any number of processes may use it.  Damaged files and failed writes are ignored.
  std::string cache_folder;
};

struct DecodeOptions {
  bool skip_special = false;
};

class Tokenizer {
 public:
  // Builds the tokenizer that `source` describes.  Fails with kTokenizer if it is damaged or of an unsupported kind.
  [[nodiscard]] static Result<std::shared_ptr<const Tokenizer>> load(const model::TokenizerSource& source,
                                                                     const LoadOptions& options = {});
  ~Tokenizer();
  Tokenizer(const Tokenizer&) = delete;
  Tokenizer& operator=(const Tokenizer&) = delete;

  // Returns the tokens of `text` in order, with offsets.  Accepts any bytes: invalid UTF-8 is encoded by byte fallback,
  // or with U+FFFD as the reference does.
  [[nodiscard]] std::vector<Piece> encode(std::string_view text, const EncodeOptions& options) const;
  [[nodiscard]] std::vector<TokenId> encode_ids(std::string_view text, const EncodeOptions& options) const;

  // Returns encode_ids() of each text, in order.  Uses at most `threads` threads, including the caller's own; 0: one
  // for each core.  If fewer can be started, those do the work.  `options.allowed` applies to every text.
  [[nodiscard]] std::vector<std::vector<TokenId>> encode_batch(std::span<const std::string_view> texts,
                                                               const EncodeOptions& options, unsigned threads) const;

  // Decodes ids.  Fails with kTokenizer if an id is out of range.  Does not clean up spaces.
  [[nodiscard]] Result<std::string> decode(std::span<const TokenId> ids, const DecodeOptions& options) const;

  // Decodes ids one by one.  The joined results equal decode() of the whole, and no result ends inside a character that
  // later ids could complete.
  class Stream {
   public:
    explicit Stream(const Tokenizer& tokenizer, DecodeOptions options = {});
    ~Stream();
    Stream(Stream&&) noexcept;
    [[nodiscard]] Result<std::string> next(TokenId id);
    [[nodiscard]] std::string finish();  // returns what was held back
    // Do the same, but append to `out`.
    [[nodiscard]] Status next(TokenId id, std::string& out);
    void finish(std::string& out);

   private:
    struct State;
    std::unique_ptr<State> state_;
  };

  // Returns the bytes that `id` stands for inside a text; for an added token its content; "" for an unused id.  They
  // may be part of a character.
  //
  // REQUIRES: 0 <= id < vocab_size().
  [[nodiscard]] std::string_view token_bytes(TokenId id) const;
  // Returns the id of the vocabulary entry or added token with exactly this content.
  [[nodiscard]] std::optional<TokenId> find(std::string_view content) const;
  [[nodiscard]] bool is_added(TokenId id) const;
  [[nodiscard]] bool is_special(TokenId id) const;
  // Returns the added tokens, sorted by content.
  [[nodiscard]] std::span<const AddedToken> added_tokens() const;
  [[nodiscard]] TokenId vocab_size() const;  // ids are less than this

  [[nodiscard]] std::optional<TokenId> bos() const;
  [[nodiscard]] std::optional<TokenId> eos() const;
  // Returns the ids that end generation according to the files (generation_config, GGUF eos / eot / eom), sorted.
  [[nodiscard]] std::span<const TokenId> end_ids() const;
  // Returns the parts of the file that have no effect here, such as "truncation" and "padding".
  [[nodiscard]] std::span<const std::string> ignored() const;
  // Returns one line: kind, vocabulary size, added tokens, pre-tokenizer, ignored parts.
  [[nodiscard]] std::string to_string() const;

  struct State;  // internal to this folder

 private:
  explicit Tokenizer(std::unique_ptr<const State> state);
  std::unique_ptr<const State> state_;
};

}  // namespace rondo::tokenizer
