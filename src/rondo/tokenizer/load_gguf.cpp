// Builds a tokenizer from the metadata of a GGUF file.
#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "tokenizer/bpe.h"
#include "tokenizer/pre_types.h"
#include "tokenizer/state.h"

namespace rondo::tokenizer {
namespace {

constexpr std::string_view kMark = "\u2581";  // a space inside character vocabularies

// Values of tokenizer.ggml.token_type.
enum class TokenType : std::int64_t {
  kNormal = 1,
  kUnknown = 2,
  kControl = 3,
  kUserDefined = 4,
  kUnused = 5,
  kByte = 6
};

Error damaged(std::string message) {
  Error error;
  error.code = ErrorCode::kTokenizer;
  error.message = std::move(message);
  return error;
}

struct Fields {
  const std::vector<std::string>* tokens = nullptr;
  const std::vector<std::int64_t>* types = nullptr;
  std::vector<double> scores;

  [[nodiscard]] TokenType type(std::size_t id) const {
    return types == nullptr ? TokenType::kNormal : static_cast<TokenType>((*types)[id]);
  }
};

Result<Fields> read_fields(const model::Gguf& gguf) {
  Fields fields;
  fields.tokens = gguf.find_strings("tokenizer.ggml.tokens");
  if (fields.tokens == nullptr || fields.tokens->empty()) return damaged("`tokenizer.ggml.tokens` is missing or empty");
  fields.types = gguf.find_ints("tokenizer.ggml.token_type");
  if (fields.types != nullptr && fields.types->size() < fields.tokens->size()) {
    return damaged("`tokenizer.ggml.token_type` is shorter than `tokenizer.ggml.tokens`");
  }
  if (const auto* scores = gguf.find_floats("tokenizer.ggml.scores")) fields.scores = *scores;
  if (const auto* scores = gguf.find_ints("tokenizer.ggml.scores"))
    fields.scores.assign(scores->begin(), scores->end());
  if (!fields.scores.empty() && fields.scores.size() < fields.tokens->size()) {
    return damaged("`tokenizer.ggml.scores` is shorter than `tokenizer.ggml.tokens`");
  }
  if (std::any_of(fields.scores.begin(), fields.scores.end(), [](double score) { return std::isnan(score); })) {
    return damaged("`tokenizer.ggml.scores` holds a value that is no number");
  }
  return fields;
}

void load_tokens(const Fields& fields, Tokenizer::State& state) {
  const std::vector<std::string>& tokens = *fields.tokens;
  state.vocabulary.reserve(tokens.size(), tokens.size() * 8);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const TokenType type = fields.type(i);
    const auto id = static_cast<TokenId>(i);
    const std::string text = utf8::to_valid(tokens[i]);
    const bool searchable = type != TokenType::kControl && type != TokenType::kUnknown && type != TokenType::kUnused;
    state.vocabulary.add(text, id, searchable && !text.empty());
    // Control tokens and the like are found in text before it is cut, as added tokens are.
    if (type != TokenType::kControl && type != TokenType::kUnknown && type != TokenType::kUserDefined) continue;
    if (text.empty()) continue;
    AddedToken token;
    token.id = id;
    token.content = text;
    token.special = type != TokenType::kUserDefined;
    state.added.push_back(std::move(token));
  }
}

std::optional<TokenId> token_field(const model::Gguf& gguf, const std::string& name, const Tokenizer::State& state) {
  const auto id = gguf.find_int("tokenizer.ggml." + name + "_token_id");
  if (!id || *id < 0 || *id >= state.vocabulary.size()) return std::nullopt;
  return static_cast<TokenId>(*id);
}

void load_bpe_merges(const std::vector<std::string>& merges, Bpe& bpe) {
  bpe.reserve(merges.size());
  std::uint32_t rank = 0;
  for (const std::string& merge : merges) {
    const std::size_t space = merge.find(' ', 1);
    if (space != std::string::npos) {
      bpe.add_merge_texts(std::string_view(merge).substr(0, space), std::string_view(merge).substr(space + 1), rank);
    }
    ++rank;
  }
}

Status load_byte_pair(const model::Gguf& gguf, const PreType& type, Tokenizer::State& state) {
  for (const std::string_view pattern : type.patterns) {
    if (pattern.empty()) break;
    if (Status status = state.pre_tokenizer.add_regex(pattern, Behavior::kIsolated, false); !status.ok()) return status;
  }
  BpeOptions options;
  options.ignore_merges = type.ignore_merges;
  if (type.byte_level) {
    state.decoder.add(Decoder::Bytes{});
  } else {
    options.whole_newlines = true;
    options.byte_fallback = true;
    state.normalizer.add(Normalizer::ReplaceText{" ", std::string(kMark)});
    state.decoder.add(Decoder::Replace{std::string(kMark), " "});
    state.decoder.add(Decoder::ByteFallback{});
    state.decoder.add(Decoder::Fuse{});
  }
  const std::vector<std::string>* merges = gguf.find_strings("tokenizer.ggml.merges");
  if (merges == nullptr) return damaged("`tokenizer.ggml.merges` is missing");
  auto bpe = std::make_unique<Bpe>(state.vocabulary, options);
  load_bpe_merges(*merges, *bpe);
  state.model = std::move(bpe);
  return Done{};
}

Status load_sentence_piece(const model::Gguf& gguf, const Fields& fields, Tokenizer::State& state) {
  const bool add_space = gguf.find_bool("tokenizer.ggml.add_space_prefix").value_or(true);
  if (add_space) state.normalizer.add(Normalizer::Prepend{" "});
  state.normalizer.add(Normalizer::ReplaceText{" ", std::string(kMark)});
  state.decoder.add(Decoder::Replace{std::string(kMark), " "});
  state.decoder.add(Decoder::ByteFallback{});
  state.decoder.add(Decoder::Fuse{});
  if (add_space) state.decoder.add(Decoder::Strip{" ", 1, 0});
  BpeOptions options;
  options.byte_fallback = true;
  options.fuse_unknown = true;
  options.unknown = token_field(gguf, "unknown", state);
  auto bpe = std::make_unique<Bpe>(state.vocabulary, options);
  std::vector<double> scores = fields.scores;
  scores.resize(fields.tokens->size(), 0.0);
  bpe->add_merges_by_score(scores);
  state.model = std::move(bpe);
  return Done{};
}

void load_ends(const model::Gguf& gguf, bool add_bos, Tokenizer::State& state) {
  state.bos = token_field(gguf, "bos", state);
  state.eos = token_field(gguf, "eos", state);
  for (const char* name : {"eos", "eot", "eom"}) {
    if (const auto id = token_field(gguf, name, state)) state.end_ids.push_back(*id);
  }
  if (gguf.find_bool("tokenizer.ggml.add_bos_token").value_or(add_bos) && state.bos) state.prefix.push_back(*state.bos);
  if (gguf.find_bool("tokenizer.ggml.add_eos_token").value_or(false) && state.eos) state.suffix.push_back(*state.eos);
}

}  // namespace

Result<std::unique_ptr<Tokenizer::State>> load_gguf(const model::TokenizerSource& source) {
  const model::Gguf& gguf = *source.gguf;
  const std::string* kind = gguf.find_string("tokenizer.ggml.model");
  if (kind == nullptr) return damaged("`tokenizer.ggml.model` is missing");
  Result<Fields> fields = read_fields(gguf);
  if (!fields.ok()) return fields.error();
  const bool sentence_piece = *kind == "llama";
  if (!sentence_piece && *kind != "gpt2" && *kind != "gemma4") {
    return damaged("the tokenizer model `" + *kind + "` is not supported yet, only byte-pair encoding (`gpt2`) and " +
                   "SentencePiece (`llama`) are");
  }
  const std::string* named = gguf.find_string("tokenizer.ggml.pre");
  const std::string_view pre = *kind == "gpt2" ? (named == nullptr ? std::string_view() : *named) : *kind;
  const PreType* type = sentence_piece ? nullptr : find_pre_type(pre);
  if (!sentence_piece && type == nullptr) return damaged("the pre-tokenizer `" + std::string(pre) + "` is not known");

  auto state = std::make_unique<Tokenizer::State>(type != nullptr && type->byte_level);
  load_tokens(fields.value(), *state);
  Status status =
      sentence_piece ? load_sentence_piece(gguf, fields.value(), *state) : load_byte_pair(gguf, *type, *state);
  if (!status.ok()) return status.error();
  state->finish();
  load_ends(gguf, sentence_piece || type->add_bos, *state);
  return state;
}

}  // namespace rondo::tokenizer
