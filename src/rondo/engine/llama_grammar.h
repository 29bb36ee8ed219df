// A GBNF grammar over the ids of a vocabulary, by llama.cpp.  Private to engine/.
#pragma once

#include <llama-cpp.h>

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/serving.h"

namespace rondo::engine {

// Follows the sampled ids.  A lazy grammar allows everything until a trigger is met.
//
// The library looks for triggers with a regular expression over all of the text so far, by a matcher whose stack grows
// with the text.  Words and tokens are therefore looked for here, and the library sees the end of the text alone; what
// is for the beginning of the text (patterns) is given up once the text is longer than kPatternBytes.
class LlamaGrammar {
 public:
  static constexpr std::size_t kPatternBytes = 4096;

  // Fails with kInvalidArgument: another dialect, a grammar that does not parse, a vocabulary without text.  `vocab` must
  // outlive the grammar.
  [[nodiscard]] static Result<LlamaGrammar> make(const llama_vocab* vocab, const Grammar& grammar);

  [[nodiscard]] bool allows(TokenId id) const;
  // All ids that are allowed, of those below `vocab_size`.
  [[nodiscard]] std::vector<TokenId> allowed(TokenId vocab_size) const;
  // Goes on by `id`.  False: the grammar can't, also where the id would begin it and has text behind the trigger that the
  // grammar does not know; nothing has changed then.
  [[nodiscard]] bool accept(TokenId id);
  // Whether `id`, which was accepted, says that the text has ended.
  [[nodiscard]] bool is_end(TokenId id) const { return active_ && llama_vocab_is_eog(vocab_, id); }

 private:
  LlamaGrammar(const llama_vocab* vocab, Grammar grammar) : vocab_(vocab), grammar_(std::move(grammar)) {}
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
  llama_sampler_ptr active_;
  llama_sampler_ptr by_pattern_;  // waits for a pattern; null if there is none, or none can match any more
  std::size_t text_bytes_ = 0;    // that by_pattern_ has seen
  std::size_t longest_word_ = 0;
  std::vector<Seen> tail_;  // the last ids, as many as a trigger word may span
};

}  // namespace rondo::engine
