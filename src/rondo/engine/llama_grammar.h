// A GBNF grammar over the ids of a vocabulary, implemented by llama.cpp.  Private to engine/.
#pragma once

#include <llama-cpp.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/serving.h"

namespace rondo::engine {

// Follows the sampled ids.  A lazy grammar allows everything until a trigger matches.
//
// The library searches for triggers with a regular expression over the whole text so far, and its matcher uses a stack
// that grows with the text.  So this class searches for words and tokens itself and gives the library only the end of
// the text.  Patterns are for the beginning of the text; they are dropped once the text is longer than kPatternBytes.
class LlamaGrammar {
 public:
  static constexpr std::size_t kPatternBytes = 4096;

  // Makes the grammar.  Fails with kInvalidArgument: another dialect, a grammar that does not parse, or a vocabulary
  // without text.  `vocab` must outlive the grammar.  If the vocabulary has an end token, one of `stop_ids` may come
  // wherever the grammar may end, and no other end token may if there are any.
  [[nodiscard]] static Result<LlamaGrammar> make(const llama_vocab* vocab, const Grammar& grammar,
                                                 std::vector<TokenId> stop_ids);

  // Returns all allowed ids below `vocab_size`.
  [[nodiscard]] std::vector<TokenId> allowed(TokenId vocab_size) const;
  // Continues with `id`.  Returns false, and changes nothing, if the grammar does not allow it.  This includes an id
  // that would start the grammar but has text after the trigger that the grammar does not allow.
  [[nodiscard]] bool accept(TokenId id);
  // Returns whether `id`, which was accepted, marks the end of the text.
  [[nodiscard]] bool is_end(TokenId id) const { return active_ && llama_vocab_is_eog(vocab_, id); }

 private:
  LlamaGrammar(const llama_vocab* vocab, Grammar grammar, std::vector<TokenId> stop_ids)
      : vocab_(vocab), grammar_(std::move(grammar)), stop_ids_(std::move(stop_ids)) {}
  [[nodiscard]] bool spells(TokenId id) const;
  [[nodiscard]] std::vector<TokenId> spelled(TokenId vocab_size) const;
  [[nodiscard]] bool may_end() const;
  [[nodiscard]] bool is_stop(TokenId id) const;
  [[nodiscard]] bool is_foreign_end(TokenId id) const;
  [[nodiscard]] llama_sampler_ptr lazy(std::span<const std::string> patterns) const;
  [[nodiscard]] std::string text_of(TokenId id) const;
  [[nodiscard]] bool begins_by_token(TokenId id) const;
  void look_for_words(TokenId id);
  void look_for_patterns(TokenId id);

  struct Seen {
    TokenId id;
    std::string text;
  };

  const llama_vocab* vocab_;
  Grammar grammar_;
  std::vector<TokenId> stop_ids_;
  llama_sampler_ptr active_;
  llama_sampler_ptr by_pattern_;  // waits for a pattern; null if there is none, or if none can match any more
  std::size_t text_bytes_ = 0;    // how much text by_pattern_ has seen
  std::size_t longest_word_ = 0;
  std::vector<Seen> tail_;  // the last ids: as many as a trigger word may span
};

}  // namespace rondo::engine
