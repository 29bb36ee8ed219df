// Models that turn a piece of text into tokens: a closed set behind one interface.
//
//   std::unique_ptr<TokenModel> model = ...;          // Bpe, ...
//   auto scratch = model->make_scratch();             // one per thread
//   model->encode(piece, Control::kAllowed, *scratch, units);
//
// The tokens of a piece depend only on the piece, so they may be cached.  Immutable after loading.  Many threads may
// then call encode() at once, each with its own scratch memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <vector>

#include "tokenizer/vocabulary.h"

namespace rondo::tokenizer {

class Bpe;

// A token of a piece, and how many bytes of the piece it covers.
struct Unit {
  TokenId id = 0;
  std::uint32_t size = 0;
};

// kForbidden: no text may become a control token, whatever it spells.  The reference has no such mode.
enum class Control : std::uint8_t { kAllowed, kForbidden };

// Returns the tokens <0x00> to <0xFF> of byte fallback; -1 for a missing one.
[[nodiscard]] std::array<TokenId, 256> fallback_tokens(const Vocabulary& vocabulary);

class TokenModel {
 public:
  // Memory that encode() reuses; every model has its own kind.
  struct Scratch {
    virtual ~Scratch() = default;
  };

  TokenModel() = default;
  virtual ~TokenModel() = default;
  TokenModel(const TokenModel&) = delete;
  TokenModel& operator=(const TokenModel&) = delete;

  // Returns the name that users know, such as "BPE".
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Scratch> make_scratch() const = 0;
  // Appends the tokens of `piece`.  The sum of their sizes is the size of the piece, or less if its last characters
  // have no token.
  //
  // REQUIRES: `scratch` was made by this model; `piece` is valid UTF-8 unless the vocabulary is byte-level.
  virtual void encode(std::string_view piece, Control control, Scratch& scratch, std::vector<Unit>& out) const = 0;
  // Prefetches together the memory that encode() will read for these pieces.
  virtual void ask_for(std::span<const std::string_view> /*pieces*/) const {}
  // Returns the characters that occur directly before `mark` in some token.  Before a `mark` that follows any other
  // character, text may be cut without changing its tokens, because no token crosses such a place.  Returns nullopt if
  // this does not hold for the model.
  [[nodiscard]] virtual std::optional<std::set<char32_t>> joined_before(std::string_view mark) const;
  // For the fast path of byte-pair encoding, which bypasses the functions above; nullptr for other models.
  [[nodiscard]] virtual const Bpe* as_bpe() const { return nullptr; }

  // Declares a control token; see Control.
  void set_control(TokenId id);
  [[nodiscard]] bool is_control(TokenId id) const {
    return static_cast<std::size_t>(id) < control_.size() && control_[static_cast<std::size_t>(id)];
  }

 private:
  std::vector<bool> control_;  // by id
};

}  // namespace rondo::tokenizer
