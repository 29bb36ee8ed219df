// Reads added tokens as tokenizer.json lists them, and then those of tokenizer_config.json.
#include <cstdlib>
#include <map>
#include <unordered_map>

#include "tokenizer/damaged.h"
#include "tokenizer/state.h"

namespace rondo::tokenizer {
namespace {

// The reference ignores the ids of entries.  A token has the id of its text in the vocabulary, else the next one:
// counted up from the vocabulary's size, or from the highest id that an earlier call added.
class AddedList {
 public:
  explicit AddedList(Tokenizer::State& state)
      : state_(state), vocabulary_size_(static_cast<TokenId>(state.vocabulary.count())), next_(vocabulary_size_) {}

  // The following entries are added by another call.
  void begin_call() { next_ = highest_ >= vocabulary_size_ ? highest_ + 1 : vocabulary_size_; }

  // `place` names the entry in messages.
  [[nodiscard]] Status add(const json::Value& entry, const std::string& place) {
    const auto content = entry.find_string("content");
    if (!content) return damaged("`" + place + "` has no string `content`");
    if (content->empty()) return Done{};
    AddedToken token;
    token.content = std::string(*content);
    for (const auto& [name, flag] :
         {std::pair{"special", &token.special}, std::pair{"lstrip", &token.lstrip}, std::pair{"rstrip", &token.rstrip},
          std::pair{"single_word", &token.single_word}, std::pair{"normalized", &token.normalized}}) {
      const json::Value* value = entry.find(name);
      // Only special tokens are searched for in the original text, unless the entry says otherwise.
      *flag = value == nullptr ? flag == &token.normalized && !token.special : value->is_bool() && value->as_bool();
      if (value != nullptr && !value->is_bool()) return damaged("`" + place + "." + name + "` is no boolean");
    }
    put(std::move(token));
    return Done{};
  }

  void finish() {
    std::erase_if(state_.added, [](const AddedToken& token) { return token.content.empty(); });
  }

 private:
  void put(AddedToken token) {
    const auto known = by_content_.find(token.content);
    if (known != by_content_.end()) {
      // The last entry with a content counts, but a token that was special once stays special.
      AddedToken& old = state_.added[known->second];
      token.id = old.id;
      token.special = token.special || old.special;
      if (old.normalized && !token.normalized) state_.once_normalized.push_back(token.id);
      if (!old.content.empty()) old = std::move(token);
      return;
    }
    const auto found = state_.vocabulary.find_text(token.content);
    token.id = found ? *found : next_++;
    highest_ = std::max(highest_, token.id);
    const std::size_t place = state_.added.size();
    by_content_.emplace(token.content, place);
    // In a vocabulary with holes, the next id may already be in use.  The later token takes it over.
    const auto [used, is_new] = by_id_.emplace(token.id, place);
    if (!is_new) {
      state_.added[used->second].content.clear();
      used->second = place;
    }
    state_.added.push_back(std::move(token));
  }

  Tokenizer::State& state_;
  TokenId vocabulary_size_;
  TokenId next_;
  TokenId highest_ = -1;
  std::unordered_map<std::string, std::size_t> by_content_;
  std::unordered_map<TokenId, std::size_t> by_id_;
};

}  // namespace

Status load_added(const json::Value* list, const json::Value* config, Tokenizer::State& state) {
  AddedList added(state);
  if (list != nullptr && !list->is_null()) {
    if (!list->is_array()) return damaged("`added_tokens` is no array");
    for (std::size_t i = 0; i < list->as_array().size(); ++i) {
      if (Status status = added.add(list->as_array()[i], "added_tokens[" + std::to_string(i) + "]"); !status.ok())
        return status;
    }
  }
  const json::Value* more = config == nullptr ? nullptr : config->find("added_tokens_decoder");
  if (more != nullptr && more->is_object()) {
    std::map<long, const json::Member*> by_id;
    for (const json::Member& member : more->as_object()) {
      by_id.emplace(std::strtol(member.key.c_str(), nullptr, 10), &member);
    }
    added.begin_call();
    for (const auto& [id, member] : by_id) {
      if (Status status = added.add(member->value, "added_tokens_decoder." + member->key); !status.ok()) return status;
    }
  }
  added.finish();
  return Done{};
}

}  // namespace rondo::tokenizer
