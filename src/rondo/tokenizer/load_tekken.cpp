// Builds a tokenizer from a tekken.json: ranks, a pattern, and special tokens whose ids come before the others.
#include <set>
#include <unordered_set>

#include "base/base64.h"
#include "tokenizer/companions.h"
#include "tokenizer/damaged.h"
#include "tokenizer/rank_model.h"

namespace rondo::tokenizer {
namespace {

constexpr std::int64_t kMaxSpecial = 1 << 20;

// The special tokens of files up to version 7, which do not list them; mistral-common has them in its code.
constexpr std::string_view kUnlisted[] = {"<unk>",
                                          "<s>",
                                          "</s>",
                                          "[INST]",
                                          "[/INST]",
                                          "[AVAILABLE_TOOLS]",
                                          "[/AVAILABLE_TOOLS]",
                                          "[TOOL_RESULTS]",
                                          "[/TOOL_RESULTS]",
                                          "[TOOL_CALLS]",
                                          "[IMG]",
                                          "<pad>",
                                          "[IMG_BREAK]",
                                          "[IMG_END]",
                                          "[PREFIX]",
                                          "[MIDDLE]",
                                          "[SUFFIX]",
                                          "[SYSTEM_PROMPT]",
                                          "[/SYSTEM_PROMPT]",
                                          "[TOOL_CONTENT]"};

std::optional<std::int64_t> count_of(const json::Value& config, std::string_view key) {
  const json::Value* value = config.find(key);
  return value == nullptr ? std::nullopt : value->to_int64();
}

// Reads them by rank, with fillers for ranks that the file reserves without naming a token.
Result<std::vector<std::string>> read_special(const json::Value& root, std::int64_t count) {
  std::vector<std::string> contents(static_cast<std::size_t>(count));
  const json::Value* list = root.find("special_tokens");
  if (list == nullptr || list->is_null()) {
    for (std::size_t i = 0; i < std::size(kUnlisted) && i < contents.size(); ++i) contents[i] = kUnlisted[i];
  } else if (!list->is_array()) {
    return damaged("`special_tokens` is no array");
  } else {
    for (std::size_t i = 0; i < list->as_array().size(); ++i) {
      const json::Value& entry = list->as_array()[i];
      const std::string where = "`special_tokens[" + std::to_string(i) + "]`";
      const auto rank = count_of(entry, "rank");
      const auto content = entry.find_string("token_str");
      if (!rank || *rank < 0 || *rank >= count) return damaged(where + " has no usable rank");
      if (!content || content->empty()) return damaged(where + " has no `token_str`");
      std::string& place = contents[static_cast<std::size_t>(*rank)];
      if (!place.empty()) return damaged(where + " has the rank of an earlier one");
      place = *content;
    }
  }
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    if (contents[i].empty()) contents[i] = "<SPECIAL_" + std::to_string(i) + ">";
    if (!seen.insert(contents[i]).second) return damaged("the special token `" + contents[i] + "` occurs twice");
  }
  return contents;
}

Result<std::vector<model::RankedToken>> read_ranks(const json::Value& vocab, std::size_t count) {
  std::vector<model::RankedToken> tokens;
  tokens.reserve(count);  // so that the views below stay valid
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < count; ++i) {
    const json::Value& entry = vocab.as_array()[i];
    const std::string where = "`vocab[" + std::to_string(i) + "]`";
    const auto spelled = entry.find_string("token_bytes");
    auto bytes = spelled ? base64::decode(*spelled) : std::nullopt;
    if (!bytes || bytes->empty()) return damaged(where + " has no `token_bytes` in base64");
    if (count_of(entry, "rank") != static_cast<std::int64_t>(i))
      return damaged(where + " is not of rank " + std::to_string(i));
    tokens.push_back({std::move(*bytes), static_cast<std::int32_t>(i)});
    if (!seen.insert(tokens.back().bytes).second) return damaged(where + " has the bytes of an earlier token");
  }
  return tokens;
}

}  // namespace

Result<std::unique_ptr<Tokenizer::State>> load_tekken(const model::TokenizerSource& source) {
  const json::Value& root = *source.tekken_json;
  const json::Value* config = root.find("config");
  const json::Value* vocab = root.find("vocab");
  if (config == nullptr || vocab == nullptr || !vocab->is_array()) return damaged("`config` or `vocab` is missing");
  const auto pattern = config->find_string("pattern");
  if (!pattern) return damaged("`config.pattern` is missing or no string");
  const auto listed = static_cast<std::int64_t>(vocab->as_array().size());
  const std::int64_t special = count_of(*config, "default_num_special_tokens").value_or(0);
  const std::int64_t size = count_of(*config, "default_vocab_size").value_or(special + listed);
  if (special < 0 || special > kMaxSpecial) return damaged("`config.default_num_special_tokens` is out of range");
  if (size < special || size - special > listed || size > model::kMaxTokenId) {
    return damaged("`config.default_vocab_size` is " + std::to_string(size) + ", but there are " +
                   std::to_string(special) + " special and " + std::to_string(listed) + " other tokens");
  }
  Result<std::vector<model::RankedToken>> tokens = read_ranks(*vocab, static_cast<std::size_t>(size - special));
  if (!tokens.ok()) return tokens.error();
  Result<std::vector<std::string>> contents = read_special(root, special);
  if (!contents.ok()) return contents.error();

  auto state = std::make_unique<Tokenizer::State>(true);
  Status status = load_ranks(tokens.value(), static_cast<TokenId>(special), *pattern, *state);
  if (!status.ok()) return status.error();
  for (std::size_t i = 0; i < contents.value().size(); ++i) {
    AddedToken token;
    token.id = static_cast<TokenId>(i);
    token.content = std::move(contents.value()[i]);
    token.special = true;
    state->added.push_back(std::move(token));
  }
  state->finish();
  state->edges.bos = state->find("<s>");
  state->edges.eos = state->find("</s>");
  set_ends(source, true, *state);
  return state;
}

}  // namespace rondo::tokenizer
