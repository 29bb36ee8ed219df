#include "tokenizer/companions.h"

#include <charconv>
#include <map>
#include <set>
#include <unordered_map>

#include "tokenizer/damaged.h"
#include "tokenizer/json_steps.h"
#include "tokenizer/known_ranks.h"

namespace rondo::tokenizer {
namespace {

constexpr std::size_t kMaxAddedBytes = 4096;
constexpr TokenId kMaxFilled = 1 << 16;  // more reserved ids than any vocabulary has

std::optional<std::string> content_of(const json::Value* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return std::string(value->as_string());
  if (const auto content = value->find_string("content")) return std::string(*content);
  return std::nullopt;
}

const json::Value* token_list(const model::TokenizerSource& source) {
  const json::Value* config = source.tokenizer_config.get();
  const json::Value* list = config == nullptr ? nullptr : config->find("added_tokens_decoder");
  return list != nullptr && list->is_object() ? list : nullptr;
}

// The tokens that the files name: "bos_token" and so on, and the lists of others.
std::set<std::string> special_contents(const model::TokenizerSource& source) {
  std::set<std::string> found;
  for (const json::Value* file : {source.tokenizer_config.get(), source.special_tokens.get()}) {
    if (file == nullptr || !file->is_object()) continue;
    for (const json::Member& member : file->as_object()) {
      if (std::string_view(member.key).ends_with("_token")) {
        if (const auto content = content_of(&member.value)) found.insert(*content);
      }
      if (!std::string_view(member.key).ends_with("_special_tokens") || !member.value.is_array()) continue;
      for (const json::Value& entry : member.value.as_array()) {
        if (const auto content = content_of(&entry)) found.insert(*content);
      }
    }
  }
  return found;
}

Result<TokenId> parse_id(std::string_view text) {
  std::int64_t id = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), id);
  if (error != std::errc() || end != text.data() + text.size() || id < 0 || id > model::kMaxTokenId) {
    return damaged("an added token has the id `" + std::string(text.substr(0, 40)) + "`, which is none");
  }
  return static_cast<TokenId>(id);
}

using ById = std::map<TokenId, AddedToken>;

Status read_decoder(const json::Value& list, ById& tokens) {
  for (const json::Member& member : list.as_object()) {
    Result<TokenId> id = parse_id(member.key);
    if (!id.ok()) return id.error();
    const auto content = content_of(&member.value);
    if (!content) return damaged("`added_tokens_decoder` gives the id " + member.key + " no content");
    AddedToken token;
    token.id = id.value();
    token.content = *content;
    token.special = step_flag(member.value, "special", false);
    token.lstrip = step_flag(member.value, "lstrip", false);
    token.rstrip = step_flag(member.value, "rstrip", false);
    token.single_word = step_flag(member.value, "single_word", false);
    token.normalized = step_flag(member.value, "normalized", !token.special);
    tokens.insert_or_assign(token.id, std::move(token));
  }
  return Done{};
}

// added_tokens.json: content to id.
Status read_legacy(const json::Value& file, const std::set<std::string>& specials, ById& tokens) {
  if (!file.is_object()) return damaged("added_tokens.json is no object");
  for (const json::Member& member : file.as_object()) {
    const auto number = member.value.to_int64();
    if (!number || *number < 0 || *number > model::kMaxTokenId) {
      return damaged("added_tokens.json gives the token `" + member.key + "` no usable id");
    }
    AddedToken token;
    token.id = static_cast<TokenId>(*number);
    token.content = member.key;
    token.special = specials.contains(token.content);
    token.normalized = !token.special;
    tokens.insert_or_assign(token.id, std::move(token));
  }
  return Done{};
}

}  // namespace

std::optional<std::string> named_token(const model::TokenizerSource& source, std::string_view name) {
  const json::Value* config = source.tokenizer_config.get();
  const json::Value* map = source.special_tokens.get();
  if (map != nullptr && token_list(source) == nullptr) {
    if (auto content = content_of(map->find(name))) return content;
  }
  return config == nullptr ? std::nullopt : content_of(config->find(name));
}

Status add_config_tokens(const model::TokenizerSource& source, bool fill, Tokenizer::State& state) {
  ById tokens;
  Status status = Done{};
  if (const json::Value* list = token_list(source)) {
    status = read_decoder(*list, tokens);
  } else if (source.added_tokens != nullptr) {
    status = read_legacy(*source.added_tokens, special_contents(source), tokens);
  }
  if (!status.ok() || tokens.empty()) return status;
  const TokenId first = state.vocabulary.size();
  const TokenId last = tokens.rbegin()->first;
  std::unordered_map<std::string, std::size_t> by_content;
  std::unordered_map<TokenId, std::size_t> by_id;
  for (std::size_t i = 0; i < state.added.size(); ++i) {
    by_content.emplace(state.added[i].content, i);
    by_id.emplace(state.added[i].id, i);
  }
  for (TokenId id = first; fill && id < last && id < first + kMaxFilled; ++id) {
    if (tokens.contains(id) || by_id.contains(id)) continue;
    AddedToken token;
    token.id = id;
    token.content = reserved_token(id);
    token.special = true;
    tokens.emplace(id, std::move(token));
  }
  // The folder's list decides a token's flags and, for an id that the vocabulary reserves, its content.
  std::vector<bool> replaced(state.added.size());
  for (auto& [id, token] : tokens) {
    if (token.content.empty()) continue;
    if (token.content.size() > kMaxAddedBytes) {
      return damaged("an added token is longer than " + std::to_string(kMaxAddedBytes) + " bytes");
    }
    if (const auto old = by_id.find(id); old != by_id.end()) replaced[old->second] = true;
    if (const auto old = by_content.find(token.content); old != by_content.end()) replaced[old->second] = true;
    by_content.insert_or_assign(token.content, state.added.size());
    state.added.push_back(std::move(token));
    replaced.push_back(false);
  }
  std::size_t place = 0;
  std::erase_if(state.added, [&](const AddedToken&) { return replaced[place++]; });
  return Done{};
}

void set_ends(const model::TokenizerSource& source, bool add_bos, Tokenizer::State& state) {
  const auto find = [&](std::string_view name) -> std::optional<TokenId> {
    const auto content = named_token(source, name);
    return content ? state.find(*content) : std::nullopt;
  };
  if (const auto id = find("bos_token")) state.edges.bos = id;
  if (const auto id = find("eos_token")) state.edges.eos = id;
  const json::Value* config = source.tokenizer_config.get();
  if (config != nullptr) add_bos = step_flag(*config, "add_bos_token", add_bos);
  const bool add_eos = config != nullptr && step_flag(*config, "add_eos_token", false);
  if (add_bos && state.edges.bos) state.edges.prefix.push_back(*state.edges.bos);
  if (add_eos && state.edges.eos) state.edges.suffix.push_back(*state.edges.eos);
  state.edges.ends = generation_ends(source.generation_config.get());
  if (state.edges.eos) state.edges.ends.push_back(*state.edges.eos);
}

}  // namespace rondo::tokenizer
