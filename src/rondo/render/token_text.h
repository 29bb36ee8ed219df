// The text that ids become, cut for a parser: added tokens by themselves, all text between two of them in one piece.
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
  bool closes_reasoning = false;  // the stop also closes the reasoning, and nothing was sampled behind it
  std::size_t stops_from = 0;     // see ParsedCompletion
};

class TokenText {
 public:
  // REQUIRES: the tokenizer outlives it.
  explicit TokenText(const tokenizer::Tokenizer& tokenizer) : tokenizer_(tokenizer), stream_(tokenizer) {}

  // Calls take(const parse::Piece&) for what is certain now; the pieces' bytes live until it returns.  Text that later ids
  // may go on with is kept.  Fails with kTokenizer on an id out of range.
  template <typename Take>
  [[nodiscard]] Status feed(std::span<const tokenizer::TokenId> ids, Take take) {
    ends_.reserve(ends_.size() + ids.size());
    for (const tokenizer::TokenId id : ids) {
      const std::size_t before = held_.size();
      if (Status next = stream_.next(id, held_); !next.ok()) return next;
      const std::string_view own = tokenizer_.is_added(id) ? tokenizer_.token_bytes(id) : std::string_view();
      if (!own.empty() && std::string_view(held_).substr(before).ends_with(own)) {
        // What was held back of a broken character comes with the token behind it.
        held_.resize(held_.size() - own.size());
        pass_on(take);
        take(parse::Piece{id, own, true});
        size_ += own.size();
      }
      ends_.push_back(static_cast<std::uint32_t>(size_ + held_.size()));
    }
    return Done{};
  }
  // feed() and finish() up to the stop of the turn.  A stop token that closes the reasoning, which `parser` is in then, is no
  // stop: the turn goes on behind it.  `take` must feed the parser.
  template <typename Take>
  [[nodiscard]] Result<TurnEnd> feed_turn(std::span<const tokenizer::TokenId> ids, const TurnProfile& profile,
                                          const parse::Parser& parser, std::string_view reasoning_close, Take take) {
    TurnEnd end;
    for (std::size_t at = 0; at < ids.size() && !end.stop;) {
      const auto rest = ids.subspan(at);
      const auto found = std::ranges::find_if(rest, [&](tokenizer::TokenId id) { return profile.is_stop(id); });
      const auto size = static_cast<std::size_t>(found - rest.begin());
      if (Status fed = feed(rest.first(size), take); !fed.ok()) return fed.error();
      at += size + 1;
      if (found == rest.end()) break;
      pass_on(take);
      const bool closes = parser.place() == parse::Place::kReasoning &&
                          format::trimmed(reasoning_close) == tokenizer_.token_bytes(*found);
      if (closes && at < ids.size()) {
        if (Status fed = feed(rest.subspan(size, 1), take); !fed.ok()) return fed.error();
        end.stops_from = at;
      } else {
        end.stop = *found;
        end.closes_reasoning = closes;
      }
    }
    finish(take);
    return end;
  }
  // Passes on what is kept of ordinary text; whole characters only.
  template <typename Take>
  void pass_on(Take take) {
    if (held_.empty()) return;
    take(parse::Piece{-1, held_, false});
    size_ += held_.size();
    held_.clear();
  }
  // No id follows.
  template <typename Take>
  void finish(Take take) {
    stream_.finish(held_);
    pass_on(take);
    if (!ends_.empty()) ends_.back() = static_cast<std::uint32_t>(size_);
  }

  // Per id: where its bytes end in the text.
  [[nodiscard]] std::vector<std::uint32_t>& ends() { return ends_; }

 private:
  const tokenizer::Tokenizer& tokenizer_;
  tokenizer::Tokenizer::Stream stream_;
  std::string held_;
  std::size_t size_ = 0;  // of what was passed on
  std::vector<std::uint32_t> ends_;
};

}  // namespace rondo::render
