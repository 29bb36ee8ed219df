// Builds a tokenizer from a rank file and the files beside it.
#include <filesystem>

#include "tokenizer/companions.h"
#include "tokenizer/known_ranks.h"
#include "tokenizer/rank_model.h"

namespace rondo::tokenizer {
namespace {

void add_known_tokens(const KnownRanks& known, Tokenizer::State& state) {
  for (const KnownToken& tokens : known.special) {
    for (std::int32_t i = 0; i < tokens.count; ++i) {
      AddedToken token;
      token.id = tokens.id + i;
      token.content = tokens.prefix;
      if (tokens.count > 1) token.content += std::to_string(tokens.first_number + i);
      token.content += tokens.suffix;
      token.special = true;
      state.added.push_back(std::move(token));
    }
  }
}

std::optional<std::string> configured_pattern(const json::Value* config) {
  if (config == nullptr) return std::nullopt;
  for (const char* key : {"pat_str", "pattern"}) {
    if (const auto text = config->find_string(key)) return std::string(*text);
  }
  return std::nullopt;
}

}  // namespace

Result<std::unique_ptr<Tokenizer::State>> load_tiktoken(const model::TokenizerSource& source) {
  const model::RankFile& file = *source.ranks;
  const KnownRanks* known =
      find_known_ranks(std::filesystem::path(source.path).filename().string(), file.tokens.size());
  // The closest source to the model wins: its configuration, then its code, then what is known about the file.
  std::optional<std::string> pattern = configured_pattern(source.tokenizer_config.get());
  const bool is_own = pattern.has_value();
  if (!pattern) pattern = source.code.pattern;
  if (pattern && !is_own && known != nullptr) known = known->pattern == *pattern ? known : nullptr;
  if (!pattern) pattern = known != nullptr ? known->pattern : default_rank_pattern();

  auto state = std::make_unique<Tokenizer::State>(true);
  if (source.code.nfc || (known != nullptr && known->nfc)) state->normalizer.add(Normalizer::Unicode{});
  if (Status status = load_ranks(file.tokens, 0, *pattern, *state); !status.ok()) return status.error();
  if (known != nullptr) add_known_tokens(*known, *state);
  if (Status status = add_config_tokens(source, true, *state); !status.ok()) return status.error();
  state->finish();
  if (known != nullptr) {
    state->edges.bos = state->find(known->bos);
    state->edges.eos = state->find(known->eos);
  }
  set_ends(source, false, *state);
  return state;
}

}  // namespace rondo::tokenizer
