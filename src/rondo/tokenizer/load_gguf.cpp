// Builds a tokenizer from the metadata of a GGUF file.
#include <algorithm>
#include <cmath>

#include "base/utf8.h"
#include "tokenizer/bpe.h"
#include "tokenizer/damaged.h"
#include "tokenizer/gguf_fields.h"
#include "tokenizer/pre_types.h"
#include "tokenizer/rank_model.h"

namespace rondo::tokenizer {
namespace {

void load_tokens(const GgufFields& fields, Tokenizer::State& state) {
  const std::vector<std::string>& tokens = *fields.tokens;
  state.vocabulary.reserve(tokens.size(), tokens.size() * 8);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const GgufToken type = fields.type(i);
    const auto id = static_cast<TokenId>(i);
    const std::string text = utf8::to_valid(tokens[i]);
    const bool searchable = type != GgufToken::kControl && type != GgufToken::kUnknown && type != GgufToken::kUnused;
    state.vocabulary.add(text, id, searchable && !text.empty());
    add_gguf_token(type, id, text, state);
  }
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

Status load_byte_pair(const GgufFields& fields, const PreType& type, Tokenizer::State& state) {
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
    state.normalizer.add(Normalizer::ReplaceText{" ", std::string(kSpaceMark)});
    state.decoder.add_marks(true, false);
  }
  const std::vector<std::string>* merges = fields.gguf->find_strings("tokenizer.ggml.merges");
  if (merges == nullptr) return damaged("`tokenizer.ggml.merges` is missing");
  auto bpe = std::make_unique<Bpe>(state.vocabulary, options);
  load_bpe_merges(*merges, *bpe);
  state.model = std::move(bpe);
  return Done{};
}

Status load_sentence_piece(const GgufFields& fields, Tokenizer::State& state) {
  SplitWork work;
  for (const std::string& token : *fields.tokens) {
    if (Status status = work.add(token.size()); !status.ok()) return status;
  }
  const bool add_space = fields.flag("add_space_prefix", true);
  if (add_space) state.normalizer.add(Normalizer::Prepend{" "});
  state.normalizer.add(Normalizer::ReplaceText{" ", std::string(kSpaceMark)});
  state.decoder.add_marks(true, add_space);
  BpeOptions options;
  options.byte_fallback = true;
  options.fuse_unknown = true;
  options.unknown = fields.special("unknown", 0);
  auto bpe = std::make_unique<Bpe>(state.vocabulary, options);
  bpe->add_merges_by_score(fields.scores);
  state.model = std::move(bpe);
  return Done{};
}

// White space ends words and is lost.
Status load_white_space(const GgufFields& fields, Tokenizer::State& state) {
  if (fields.flag("normalizer.lowercase", false)) state.normalizer.add(Normalizer::Lowercase{});
  state.pre_tokenizer.add(PreTokenizer::SplitClass{PreTokenizer::Class::kWhiteSpace, Behavior::kRemoved});
  state.decoder.add(Decoder::Fuse{});
  const std::vector<std::string>* merges = fields.gguf->find_strings("tokenizer.ggml.merges");
  if (merges == nullptr) return damaged("`tokenizer.ggml.merges` is missing");
  BpeOptions options;
  options.byte_fallback = true;
  auto bpe = std::make_unique<Bpe>(state.vocabulary, options);
  load_bpe_merges(*merges, *bpe);
  state.model = std::move(bpe);
  return Done{};
}

// The tokens around a text, unless the file says otherwise.
struct Ends {
  std::optional<TokenId> bos = std::nullopt;
  std::optional<TokenId> eos = std::nullopt;
  bool add_bos = false;
  bool always_add_bos = false;
};

void set_ends(const GgufFields& fields, const Ends& ends, Tokenizer::State& state) {
  state.edges.bos = fields.special("bos", ends.bos);
  state.edges.eos = fields.special("eos", ends.eos);
  const bool add_bos = ends.always_add_bos || fields.flag("add_bos_token", ends.add_bos);
  if (add_bos && state.edges.bos) state.edges.prefix.push_back(*state.edges.bos);
  if (fields.flag("add_eos_token", false) && state.edges.eos) state.edges.suffix.push_back(*state.edges.eos);
}

bool concerns(const StripRule& rule, const model::Gguf& gguf) {
  const std::string* value = gguf.find_string(rule.key);
  if (value == nullptr) return false;
  std::string lower = *value;
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return std::any_of(rule.parts.begin(), rule.parts.end(), [&lower](std::string_view part) {
    return !part.empty() && lower.find(part) != std::string::npos;
  });
}

void apply_strip_rules(const model::Gguf& gguf, Tokenizer::State& state) {
  for (const StripRule& rule : strip_rules()) {
    if (!concerns(rule, gguf)) continue;
    for (AddedToken& token : state.added) {
      if (!rule.token.empty() && rule.token != token.content) continue;
      if (std::find(rule.not_these.begin(), rule.not_these.end(), token.content) != rule.not_these.end()) continue;
      token.lstrip = token.lstrip || rule.left;
      token.rstrip = token.rstrip || rule.right;
    }
  }
}

using StateResult = Result<std::unique_ptr<Tokenizer::State>>;

StateResult load_pairs(const GgufFields& fields, std::string_view pre) {
  const PreType* type = find_pre_type(pre);
  if (type == nullptr) return damaged("the pre-tokenizer `" + std::string(pre) + "` is not known");
  auto state = std::make_unique<Tokenizer::State>(type->byte_level);
  load_tokens(fields, *state);
  if (Status status = load_byte_pair(fields, *type, *state); !status.ok()) return status.error();
  set_ends(fields, {.add_bos = type->add_bos, .always_add_bos = type->always_add_bos}, *state);
  return state;
}

StateResult load_with_marks(const GgufFields& fields) {
  auto state = std::make_unique<Tokenizer::State>(false);
  load_tokens(fields, *state);
  if (Status status = load_sentence_piece(fields, *state); !status.ok()) return status.error();
  set_ends(fields, {.bos = 1, .eos = 2, .add_bos = true}, *state);
  return state;
}

StateResult load_words(const GgufFields& fields) {
  auto state = std::make_unique<Tokenizer::State>(false);
  load_tokens(fields, *state);
  if (Status status = load_white_space(fields, *state); !status.ok()) return status.error();
  set_ends(fields, {}, *state);
  return state;
}

template <Status (*load)(const GgufFields&, Tokenizer::State&)>
StateResult load_kind(const GgufFields& fields, bool byte_level) {
  auto state = std::make_unique<Tokenizer::State>(byte_level);
  if (Status status = load(fields, *state); !status.ok()) return status.error();
  return state;
}

StateResult load_by_kind(const GgufFields& fields, std::string_view kind) {
  const std::string* named = fields.gguf->find_string("tokenizer.ggml.pre");
  if (kind == "gpt2") return load_pairs(fields, named == nullptr ? std::string_view() : std::string_view(*named));
  if (kind == "gemma4") return load_pairs(fields, kind);
  if (kind == "llama") return load_with_marks(fields);
  if (kind == "whitespace") return load_words(fields);
  if (kind == "bert") return load_kind<load_gguf_word_piece>(fields, false);
  if (kind == "t5") return load_kind<load_gguf_unigram>(fields, false);
  if (kind == "rwkv") return load_kind<load_gguf_longest_match>(fields, true);
  if (kind == "plamo2") return load_kind<load_gguf_backward_unigram>(fields, false);
  return damaged("the tokenizer model `" + std::string(kind) + "` is not known");
}

}  // namespace

std::optional<TokenId> GgufFields::special(std::string_view name, std::optional<TokenId> otherwise) const {
  const auto count = static_cast<std::int64_t>(tokens->size());
  const auto id = gguf->find_int("tokenizer.ggml." + std::string(name) + "_token_id");
  if (id && *id >= 0 && *id < count) return static_cast<TokenId>(*id);
  return otherwise && *otherwise < count ? otherwise : std::nullopt;
}

bool GgufFields::flag(std::string_view name, bool otherwise) const {
  return gguf->find_bool("tokenizer.ggml." + std::string(name)).value_or(otherwise);
}

Result<GgufFields> read_gguf_fields(const model::Gguf& gguf) {
  GgufFields fields;
  fields.gguf = &gguf;
  fields.tokens = gguf.find_strings("tokenizer.ggml.tokens");
  if (fields.tokens == nullptr || fields.tokens->empty()) return damaged("`tokenizer.ggml.tokens` is missing or empty");
  if (fields.tokens->size() > static_cast<std::size_t>(model::kMaxTokenId)) return damaged("there are too many tokens");
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
  fields.scores.resize(fields.tokens->size());
  return fields;
}

void add_gguf_token(GgufToken type, TokenId id, std::string content, Tokenizer::State& state) {
  if (type != GgufToken::kControl && type != GgufToken::kUnknown && type != GgufToken::kUserDefined) return;
  if (content.empty()) return;
  AddedToken token;
  token.id = id;
  token.content = std::move(content);
  token.special = type != GgufToken::kUserDefined;
  state.added.push_back(std::move(token));
}

Result<std::unique_ptr<Tokenizer::State>> load_gguf(const model::TokenizerSource& source) {
  const model::Gguf& gguf = *source.gguf;
  const std::string* kind = gguf.find_string("tokenizer.ggml.model");
  if (kind == nullptr) return damaged("`tokenizer.ggml.model` is missing");
  if (*kind == "none" || *kind == "no_vocab") return damaged("the file says that it has no vocabulary");
  Result<GgufFields> fields = read_gguf_fields(gguf);
  if (!fields.ok()) return fields.error();
  StateResult state = load_by_kind(fields.value(), *kind);
  if (!state.ok()) return state;
  apply_strip_rules(gguf, *state.value());
  state.value()->finish();
  for (const char* name : {"eos", "eot", "eom"}) {
    if (const auto id = fields.value().special(name)) state.value()->edges.ends.push_back(*id);
  }
  if (state.value()->edges.eos) state.value()->edges.ends.push_back(*state.value()->edges.eos);
  return state;
}

}  // namespace rondo::tokenizer
