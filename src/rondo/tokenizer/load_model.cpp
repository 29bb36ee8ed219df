// Builds the vocabulary and the model that the member "model" of a tokenizer.json describes.
#include <cmath>

#include "tokenizer/bpe.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/json_score.h"
#include "tokenizer/state.h"
#include "tokenizer/unigram.h"
#include "tokenizer/wordpiece.h"

namespace rondo::tokenizer {
namespace {

constexpr std::size_t kMaxPoolBytes = std::size_t{1} << 30U;

Error damaged(std::string message) {
  Error error;
  error.code = ErrorCode::kTokenizer;
  error.message = std::move(message);
  return error;
}

bool flag(const json::Value& description, std::string_view key) {
  const json::Value* value = description.find(key);
  return value != nullptr && value->is_bool() && value->as_bool();
}

// "a b" or ["a", "b"].
std::optional<std::pair<std::string_view, std::string_view>> merge_parts(const json::Value& merge) {
  if (merge.is_string()) {
    const std::string_view text = merge.as_string();
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos) return std::nullopt;
    return std::pair(text.substr(0, space), text.substr(space + 1));
  }
  if (!merge.is_array() || merge.as_array().size() != 2) return std::nullopt;
  const json::Array& parts = merge.as_array();
  if (!parts[0].is_string() || !parts[1].is_string()) return std::nullopt;
  return std::pair<std::string_view, std::string_view>(parts[0].as_string(), parts[1].as_string());
}

Status load_vocabulary(const json::Value& model, Vocabulary& vocabulary) {
  const json::Value* vocab = model.find("vocab");
  if (vocab == nullptr || !vocab->is_object()) return damaged("`model.vocab` is missing or no object");
  vocabulary.reserve(vocab->as_object().size(), vocab->as_object().size() * 8);
  std::size_t bytes = 0;
  for (const json::Member& member : vocab->as_object()) {
    const auto id = to_id(&member.value);
    if (!id) return damaged("`model.vocab` gives the token `" + member.key + "` no usable id");
    if (vocabulary.contains(*id)) return damaged("`model.vocab` gives the id " + std::to_string(*id) + " twice");
    bytes += member.key.size();
    if (bytes > kMaxPoolBytes) return damaged("`model.vocab` is too large");
    vocabulary.add(member.key, *id);
  }
  return Done{};
}

Status load_merges(const json::Value& model, std::string_view prefix, const Vocabulary& vocabulary, Bpe& bpe) {
  const json::Value* merges = model.find("merges");
  if (merges == nullptr || !merges->is_array()) return damaged("`model.merges` is missing or no array");
  bpe.reserve(merges->as_array().size());
  std::uint32_t rank = 0;
  for (const json::Value& merge : merges->as_array()) {
    // Old files keep the first line of a merges file.
    if (merge.is_string() && merge.as_string().starts_with("#version")) continue;
    const auto parts = merge_parts(merge);
    if (!parts) return damaged("merge " + std::to_string(rank) + " is no pair of tokens");
    const auto left = vocabulary.find_text(parts->first);
    const auto right = vocabulary.find_text(parts->second);
    // The right part's prefix is not spelled out inside the whole; the reference cuts as many bytes, whatever they are.
    const auto whole =
        parts->second.size() < prefix.size()
            ? std::nullopt
            : vocabulary.find_text(std::string(parts->first) + std::string(parts->second.substr(prefix.size())));
    if (!left || !right || !whole) {
      return damaged("merge " + std::to_string(rank) + " (`" + std::string(parts->first) + "`, `" +
                     std::string(parts->second) + "`) names a token that is not in the vocabulary");
    }
    bpe.add_merge(*left, *right, rank++, *whole, true);
  }
  return Done{};
}

Status load_bpe(const json::Value& model, Tokenizer::State& state) {
  if (Status status = load_vocabulary(model, state.vocabulary); !status.ok()) return status;
  BpeOptions options;
  options.ignore_merges = flag(model, "ignore_merges");
  options.byte_fallback = flag(model, "byte_fallback");
  options.fuse_unknown = flag(model, "fuse_unk");
  options.prefix = std::string(model.find_string("continuing_subword_prefix").value_or(""));
  options.suffix = std::string(model.find_string("end_of_word_suffix").value_or(""));
  if (const auto unknown = model.find_string("unk_token")) options.unknown = state.vocabulary.find_text(*unknown);
  const json::Value* dropout = model.find("dropout");
  if (dropout != nullptr && dropout->to_double().value_or(0) != 0) state.ignored.emplace_back("dropout");
  auto bpe = std::make_unique<Bpe>(state.vocabulary, options);
  Status status = load_merges(model, options.prefix, state.vocabulary, *bpe);
  state.model = std::move(bpe);
  return status;
}

// A list of [token, score]; ids are places.
Status load_scored(const json::Value& model, Vocabulary& vocabulary, std::vector<double>& scores) {
  const json::Value* vocab = model.find("vocab");
  if (vocab == nullptr || !vocab->is_array()) return damaged("`model.vocab` is missing or no array");
  const json::Array& list = vocab->as_array();
  if (list.size() > static_cast<std::size_t>(kMaxId)) return damaged("`model.vocab` is too large");
  vocabulary.reserve(list.size(), list.size() * 8);
  scores.assign(list.size(), 0.0);
  std::size_t bytes = 0;
  // From the back, since of equal tokens the last one counts.
  for (std::size_t place = list.size(); place-- > 0;) {
    const json::Value& entry = list[place];
    const bool is_pair = entry.is_array() && entry.as_array().size() == 2 && entry.as_array()[0].is_string();
    if (!is_pair || !entry.as_array()[1].is_number()) {
      return damaged("`model.vocab[" + std::to_string(place) + "]` is no pair of a token and a score");
    }
    const std::string& token = entry.as_array()[0].as_string();
    bytes += token.size();
    if (bytes > kMaxPoolBytes) return damaged("`model.vocab` is too large");
    vocabulary.add(token, static_cast<TokenId>(place));
    scores[place] = json_score(entry.as_array()[1].number());
    if (!std::isfinite(scores[place])) {
      return damaged("the score of `model.vocab[" + std::to_string(place) + "]` is out of range");
    }
  }
  return Done{};
}

Status load_unigram(const json::Value& model, Tokenizer::State& state) {
  std::vector<double> scores;
  if (Status status = load_scored(model, state.vocabulary, scores); !status.ok()) return status;
  UnigramOptions options;
  options.byte_fallback = flag(model, "byte_fallback");
  if (const json::Value* unknown = model.find("unk_id"); unknown != nullptr && !unknown->is_null()) {
    options.unknown = to_id(unknown);
    if (!options.unknown || *options.unknown >= state.vocabulary.size()) {
      return damaged("`model.unk_id` is no id of `model.vocab`");
    }
  }
  state.model = std::make_unique<Unigram>(state.vocabulary, std::move(scores), options);
  return Done{};
}

// The id of `model.unk_token`; kept in words where there is none.
std::optional<TokenId> unknown_word(const json::Value& model, const Vocabulary& vocabulary) {
  const auto text = model.find_string("unk_token");
  return text ? vocabulary.find_text(*text) : std::nullopt;
}

Status load_word_piece(const json::Value& model, Tokenizer::State& state) {
  if (Status status = load_vocabulary(model, state.vocabulary); !status.ok()) return status;
  WordPieceOptions options;
  const auto prefix = model.find_string("continuing_subword_prefix");
  const json::Value* longest = model.find("max_input_chars_per_word");
  const auto characters = longest == nullptr ? std::nullopt : longest->to_int64();
  if (!prefix) return damaged("`model.continuing_subword_prefix` is missing or no string");
  if (!characters || *characters < 0) return damaged("`model.max_input_chars_per_word` is missing or no number");
  options.prefix = std::string(*prefix);
  options.max_characters = static_cast<std::size_t>(*characters);
  options.unknown = unknown_word(model, state.vocabulary);
  state.model = std::make_unique<WordPiece>(state.vocabulary, std::move(options));
  return Done{};
}

Status load_word_level(const json::Value& model, Tokenizer::State& state) {
  if (Status status = load_vocabulary(model, state.vocabulary); !status.ok()) return status;
  state.model = std::make_unique<WordLevel>(state.vocabulary, unknown_word(model, state.vocabulary));
  return Done{};
}

// Old files do not name the kind; their members tell, in this order.
std::string_view kind_of(const json::Value& model) {
  if (const auto type = model.find_string("type")) return *type;
  if (model.find("merges") != nullptr) return "BPE";
  if (model.find("max_input_chars_per_word") != nullptr) return "WordPiece";
  const json::Value* vocab = model.find("vocab");
  if (vocab != nullptr && vocab->is_array()) return "Unigram";
  return model.find("unk_token") != nullptr ? "WordLevel" : "of no kind";
}

}  // namespace

bool can_work_on_bytes(const json::Value& model) {
  const std::string_view kind = kind_of(model);
  if (kind == "WordLevel") return true;
  // Prefixes and suffixes are text beside the spelling.
  if (kind == "WordPiece") return false;
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!model.find_string(key).value_or("").empty()) return false;
  }
  if (!flag(model, "byte_fallback")) return true;
  // What falls back are the bytes of the spelling, unless every byte has a token anyway.
  const json::Value* vocab = model.find("vocab");
  if (vocab == nullptr || !vocab->is_object()) return false;
  std::size_t found = 0;
  for (const json::Member& member : vocab->as_object()) {
    const bool may_be_byte = member.key.size() <= 2 && !member.key.empty();
    if (may_be_byte && byte_level::to_bytes(member.key).value_or("").size() == 1) ++found;
  }
  return found == 256;
}

Status load_model(const json::Value& model, Tokenizer::State& state) {
  const std::string_view kind = kind_of(model);
  if (kind == "BPE") return load_bpe(model, state);
  if (kind == "Unigram") return load_unigram(model, state);
  if (kind == "WordPiece") return load_word_piece(model, state);
  if (kind == "WordLevel") return load_word_level(model, state);
  return damaged("the tokenizer model `" + std::string(kind) + "` is not known");
}

}  // namespace rondo::tokenizer
