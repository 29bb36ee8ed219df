#include "engine/llama_grammar.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <string_view>
#include <utility>

#include "engine/gbnf_check.h"
#include "engine/llama_load.h"
#include "engine/llama_log.h"

namespace rondo::engine {
namespace {

// A regular expression in the library's syntax for text that contains `word`.  The grammar begins with its first group.
std::string pattern_of(std::string_view word) {
  std::string escaped;
  for (const char c : word) {
    if (std::string_view(".^$|()*+?[]{}\\/-").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return "[\\s\\S]*?(" + escaped + ")[\\s\\S]*";
}

}  // namespace

Result<LlamaGrammar> LlamaGrammar::make(const llama_vocab* vocab, const Grammar& grammar,
                                        std::vector<TokenId> stop_ids) {
  const auto refuse = [](const std::string& sentence) {
    return Error(ErrorCode::kInvalidArgument, sentence, "grammar");
  };
  if (grammar.dialect != Grammar::Dialect::kGbnf) {
    return refuse("the embedded engine takes grammars in GBNF, not " + std::string(to_string(grammar.dialect)));
  }
  if (llama_vocab_type(vocab) == LLAMA_VOCAB_TYPE_NONE) return refuse("the model's ids have no text to constrain");
  if (grammar.text.find_first_not_of(" \t\r\n") == std::string::npos) return refuse("the grammar is empty");
  if (const Status readable = check_gbnf(grammar.text); !readable.ok()) return readable.error();
  LlamaGrammar made(vocab, grammar, std::move(stop_ids));
  const LlamaLog log;
  try {
    llama_sampler_ptr whole(llama_sampler_init_grammar(vocab, grammar.text.c_str(), "root"));
    if (!whole) return refuse(log.last_error("the grammar does not parse"));
    if (!grammar.is_lazy) {
      made.active_ = std::move(whole);
      return made;
    }
    std::vector<std::string> patterns;
    for (const Grammar::Trigger& trigger : grammar.triggers) {
      if (trigger.kind == Grammar::Trigger::Kind::kPattern) patterns.push_back(trigger.text);
      if (trigger.kind == Grammar::Trigger::Kind::kWord)
        made.longest_word_ = std::max(made.longest_word_, trigger.text.size());
    }
    if (!patterns.empty()) made.by_pattern_ = made.lazy(patterns);
  } catch (const std::exception& failure) { return refuse(failure.what()); }
  return made;
}

llama_sampler_ptr LlamaGrammar::lazy(std::span<const std::string> patterns) const {
  std::vector<const char*> pointers;
  for (const std::string& pattern : patterns) pointers.push_back(pattern.c_str());
  return llama_sampler_ptr(llama_sampler_init_grammar_lazy_patterns(vocab_, grammar_.text.c_str(), "root",
                                                                    pointers.data(), pointers.size(), nullptr, 0));
}

std::string LlamaGrammar::text_of(TokenId id) const {
  std::array<char, 256> buffer{};
  const std::int32_t size =
      llama_token_to_piece(vocab_, id, buffer.data(), static_cast<std::int32_t>(buffer.size()), 0, true);
  if (size >= 0) return {buffer.data(), static_cast<std::size_t>(size)};
  std::string text(static_cast<std::size_t>(-size), '\0');
  (void)llama_token_to_piece(vocab_, id, text.data(), -size, 0, true);
  return text;
}

bool LlamaGrammar::is_stop(TokenId id) const { return std::ranges::find(stop_ids_, id) != stop_ids_.end(); }

// Returns whether `id` ends texts for the library, but not this request.
bool LlamaGrammar::is_foreign_end(TokenId id) const {
  return !stop_ids_.empty() && llama_vocab_is_eog(vocab_, id) && !is_stop(id);
}

// The library allows an end token exactly where the grammar may end.
bool LlamaGrammar::may_end() const {
  const TokenId end = end_token(vocab_);
  return end >= 0 && spells(end);
}

bool LlamaGrammar::spells(TokenId id) const {
  llama_token_data one{.id = id, .logit = 0, .p = 0};
  llama_token_data_array array{.data = &one, .size = 1, .selected = -1, .sorted = false};
  llama_sampler_apply(active_.get(), &array);
  return !std::isinf(one.logit);
}

// The ids that the library allows: all of them while there is no grammar, or while a lazy one waits.
std::vector<TokenId> LlamaGrammar::spelled(TokenId vocab_size) const {
  std::vector<llama_token_data> all(static_cast<std::size_t>(vocab_size));
  for (TokenId id = 0; id < vocab_size; ++id) all[static_cast<std::size_t>(id)] = {.id = id, .logit = 0, .p = 0};
  llama_token_data_array array{.data = all.data(), .size = all.size(), .selected = -1, .sorted = false};
  if (active_) llama_sampler_apply(active_.get(), &array);
  std::vector<TokenId> ids;
  for (const llama_token_data& one : std::span(array.data, array.size)) {
    if (!std::isinf(one.logit)) ids.push_back(one.id);
  }
  return ids;
}

std::vector<TokenId> LlamaGrammar::allowed(TokenId vocab_size) const {
  std::vector<TokenId> ids = spelled(vocab_size);
  if (!active_) return ids;
  std::erase_if(ids, [this](TokenId id) { return is_foreign_end(id); });
  if (may_end()) {
    for (const TokenId id : stop_ids_) {
      if (std::ranges::find(ids, id) == ids.end()) ids.push_back(id);
    }
  }
  return ids;
}

bool LlamaGrammar::begins_by_token(TokenId id) const {
  return std::any_of(grammar_.triggers.begin(), grammar_.triggers.end(), [&](const Grammar::Trigger& trigger) {
    return trigger.kind == Grammar::Trigger::Kind::kToken && trigger.token == id;
  });
}

// The library gets only the last ids, and finds the word again in their text.
void LlamaGrammar::look_for_words(TokenId id) {
  if (longest_word_ == 0) return;
  std::vector<Seen> seen_ids = tail_;
  seen_ids.push_back({id, text_of(id)});
  std::string text;
  for (const Seen& seen : seen_ids) text += seen.text;
  for (const Grammar::Trigger& trigger : grammar_.triggers) {
    if (trigger.kind != Grammar::Trigger::Kind::kWord || trigger.text.empty()) continue;
    if (text.find(trigger.text) == std::string::npos) continue;
    llama_sampler_ptr begun = lazy(std::array{pattern_of(trigger.text)});
    for (const Seen& seen : seen_ids) llama_sampler_accept(begun.get(), seen.id);
    active_ = std::move(begun);
    return;
  }
  std::size_t size = text.size();
  auto first = seen_ids.begin();
  while (first != seen_ids.end() && size - first->text.size() >= longest_word_) size -= (first++)->text.size();
  tail_.assign(first, seen_ids.end());
}

// The library does not report when a lazy grammar begins.  While it waits, every id is allowed, so it has begun as soon
// as some id is refused.
void LlamaGrammar::look_for_patterns(TokenId id) {
  if (!by_pattern_) return;
  text_bytes_ += text_of(id).size();
  if (text_bytes_ > kPatternBytes) {
    by_pattern_.reset();
    return;
  }
  llama_sampler_ptr next(llama_sampler_clone(by_pattern_.get()));
  llama_sampler_accept(next.get(), id);
  by_pattern_ = std::move(next);
  active_.reset(llama_sampler_clone(by_pattern_.get()));
  const TokenId vocab_size = llama_vocab_n_tokens(vocab_);
  if (spelled(vocab_size).size() == static_cast<std::size_t>(vocab_size)) active_.reset();
}

bool LlamaGrammar::accept(TokenId id) {
  const LlamaLog log;
  if (active_) {
    if (!spells(id) || is_foreign_end(id)) return is_stop(id) && may_end();
    llama_sampler_accept(active_.get(), id);
    return true;
  }
  try {
    if (begins_by_token(id)) {
      active_.reset(llama_sampler_init_grammar(vocab_, grammar_.text.c_str(), "root"));
      if (active_ && spells(id)) {
        llama_sampler_accept(active_.get(), id);
        return true;
      }
      active_.reset();
      return false;
    }
    look_for_words(id);
    if (!active_) look_for_patterns(id);
  } catch (const std::exception&) {  // the library throws if the grammar cannot begin with the text
    return false;
  }
  return true;
}

}  // namespace rondo::engine
