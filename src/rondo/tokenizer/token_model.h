// What turns a piece of text into tokens: one of a closed set of models behind one interface.
//
//   std::unique_ptr<TokenModel> model = ...;          // Bpe, ...
//   auto scratch = model->make_scratch();             // one per thread
//   model->encode(piece, Control::kAllowed, *scratch, units);
//
// The tokens of a piece depend on the piece alone, so they may be kept for its next occurrence.  Immutable after loading;
// encode() may then be called from many threads at once, each with its own scratch memory.
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

// A token of a piece and how many bytes of the piece it covers.
struct Unit {
  TokenId id = 0;
  std::uint32_t size = 0;
};

// kForbidden: no text may become a control token, whatever it spells.  The reference has no such mode.
enum class Control : std::uint8_t { kAllowed, kForbidden };

// The tokens <0x00> to <0xFF> of byte fallback; -1 where there is none.
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

  // As users know it, such as "BPE".
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual std::unique_ptr<Scratch> make_scratch() const = 0;
  // Appends the tokens of `piece`; their sizes add up to at most its own, and to exactly that unless its last characters
  // have no token.  REQUIRES: `scratch` is of this model; valid UTF-8 unless the vocabulary is byte-level.
  virtual void encode(std::string_view piece, Control control, Scratch& scratch, std::vector<Unit>& out) const = 0;
  // Has the memory brought in that encode() will read for these pieces, all of it together.
  virtual void ask_for(std::span<const std::string_view> /*pieces*/) const {}
  // The characters that some token has directly before `mark`.  Before a `mark` that follows any other character text may
  // be cut without changing its tokens, because no token crosses such a place.  Nothing if that does not hold here.
  [[nodiscard]] virtual std::optional<std::set<char32_t>> joined_before(std::string_view mark) const;
  // For the fast path of byte-pair encoding, which does without the calls above; else nullptr.
  [[nodiscard]] virtual const Bpe* as_bpe() const { return nullptr; }

  // Names a control token; see Control.
  void set_control(TokenId id);
  [[nodiscard]] bool is_control(TokenId id) const {
    return static_cast<std::size_t>(id) < control_.size() && control_[static_cast<std::size_t>(id)];
  }

 private:
  std::vector<bool> control_;  // by id
};

}  // namespace rondo::tokenizer
