// Turns ids into pieces of text for a parser: each added token by itself, the text between two of them in one piece.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "format/units.h"
#include "parse/parser.h"
#include "render/stop.h"
#include "rondo/result.h"
#include "tokenizer/tokenizer.h"

namespace rondo::render {

// Where a turn ends.
struct TurnEnd {
  std::optional<tokenizer::TokenId> stop;
  bool closes_reasoning = false;  // the stop also closes the reasoning, and nothing was sampled after it
  std::size_t stops_from = 0;     // as in ParsedCompletion
};

class TokenText {
 public:
  // REQUIRES: `tokenizer` outlives this.
  explicit TokenText(const tokenizer::Tokenizer& tokenizer) : tokenizer_(tokenizer), stream_(tokenizer) {}

  // Calls take(const parse::Piece&) for the text that is certain.  The pieces' bytes are valid until it returns.  Text
  // that later ids may continue is held back.  Fails with kTokenizer if an id is out of range.
  template <typename Take>
  [[nodiscard]] Status feed(std::span<const tokenizer::TokenId> ids, Take take) {
    ends_.reserve(ends_.size() + ids.size());
    for (const tokenizer::TokenId id : ids) {
      const std::size_t before = held_.size();
      if (Status next = stream_.next(id, held_); !next.ok()) return next;
      const std::string_view own = tokenizer_.is_added(id) ? tokenizer_.token_bytes(id) : std::string_view();
      if (!own.empty() && std::string_view(held_).substr(before).ends_with(own)) {
        // The bytes of a broken character that were held back come with the token after it.
        held_.resize(held_.size() - own.size());
        pass_on(take);
        take(parse::Piece{id, own, true});
        size_ += own.size();
      }
      ends_.push_back(static_cast<std::uint32_t>(size_ + held_.size()));
    }
    return Done{};
  }
  // Does feed() and finish() up to the stop of the turn.  If `parser` is inside reasoning, a stop token that completes
  // the close of the reasoning does not end the turn.  `take` must feed the parser.
  template <typename Take>
  [[nodiscard]] Result<TurnEnd> feed_turn(std::span<const tokenizer::TokenId> ids, const TurnProfile& profile,
                                          const parse::Parser& parser, std::string_view reasoning_close, Take take) {
    TurnEnd end;
    const std::string_view close = format::trimmed(reasoning_close);
    std::string recent;  // the last text, as much as the close has
    const auto recording = [&](const parse::Piece& piece) {
      recent += piece.bytes.substr(piece.bytes.size() - std::min(piece.bytes.size(), close.size()));
      recent.erase(0, recent.size() - std::min(recent.size(), close.size()));
      take(piece);
    };
    const auto closes_behind = [&](std::string_view text, std::string_view token) {
      return close.ends_with(token) && text.ends_with(close.substr(0, close.size() - token.size()));
    };
    for (std::size_t at = 0; at < ids.size() && !end.stop;) {
      const auto rest = ids.subspan(at);
      const auto found = std::ranges::find_if(rest, [&](tokenizer::TokenId id) { return profile.is_stop(id); });
      const auto size = static_cast<std::size_t>(found - rest.begin());
      if (Status fed = feed(rest.first(size), recording); !fed.ok()) return fed.error();
      at += size + 1;
      if (found == rest.end()) break;
      pass_on(recording);
      const bool closes =
          parser.place() == parse::Place::kReasoning && closes_behind(recent, tokenizer_.token_bytes(*found));
      if (closes && at < ids.size()) {
        if (Status fed = feed(rest.subspan(size, 1), recording); !fed.ok()) return fed.error();
        end.stops_from = at;
      } else {
        end.stop = *found;
        end.closes_reasoning = closes;
      }
    }
    finish(take);
    return end;
  }
  // Passes on the ordinary text that was held back, in whole characters.
  template <typename Take>
  void pass_on(Take take) {
    if (held_.empty()) return;
    take(parse::Piece{-1, held_, false});
    size_ += held_.size();
    held_.clear();
  }
  // Passes on everything: no id follows.
  template <typename Take>
  void finish(Take take) {
    stream_.finish(held_);
    pass_on(take);
    if (!ends_.empty()) ends_.back() = static_cast<std::uint32_t>(size_);
  }

  // Returns for each id the offset in the text at which its bytes end.
  [[nodiscard]] std::vector<std::uint32_t>& ends() { return ends_; }

 private:
  const tokenizer::Tokenizer& tokenizer_;
  tokenizer::Tokenizer::Stream stream_;
  std::string held_;
  std::size_t size_ = 0;  // of the text that was passed on
  std::vector<std::uint32_t> ends_;
};

}  // namespace rondo::render
