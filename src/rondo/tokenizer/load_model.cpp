// Builds the vocabulary and the model that the member "model" of a tokenizer.json describes.
#include <array>
#include <cmath>
#include <set>

#include "json/reader.h"
#include "tokenizer/bpe.h"
#include "tokenizer/byte_level.h"
#include "tokenizer/damaged.h"
#include "tokenizer/json_score.h"
#include "tokenizer/json_steps.h"
#include "tokenizer/state.h"
#include "tokenizer/unigram.h"
#include "tokenizer/wordpiece.h"

namespace rondo::tokenizer {
namespace {

constexpr std::size_t kMaxPoolBytes = std::size_t{1} << 30U;

Status restore(CachedModel& cached, Vocabulary& vocabulary) {
  vocabulary.restore(std::move(cached.pool), std::move(cached.entries));
  return vocabulary.can_be_restored() ? Status(Done{}) : damaged("the cached vocabulary has equal tokens");
}

// A damaged document was reported earlier, so the reader only complains about a value of another kind.
Status load_vocabulary(const ModelText& model, Vocabulary& vocabulary) {
  if (model.cached != nullptr) return restore(*model.cached, vocabulary);
  if (!model.vocab || model.vocab->bracket != '{') return damaged("`model.vocab` is missing or no object");
  if (model.vocab->bytes > kMaxPoolBytes) return damaged("`model.vocab` is too large");
  vocabulary.let_last_count();
  vocabulary.begin_bulk(model.vocab->count, model.vocab->bytes);
  json::Reader in(model.file, model.vocab->at, json::Reader::Checked());
  std::string_view token;
  for (in.enter_object(); in.member(token);) {
    std::int64_t id = -1;
    if (!in.integer(id) || id < 0 || id > kMaxId) {
      return damaged("`model.vocab` gives the token `" + std::string(token) + "` no usable id");
    }
    const auto known = static_cast<TokenId>(id);
    if (vocabulary.contains(known)) return damaged("`model.vocab` gives the id " + std::to_string(id) + " twice");
    vocabulary.add(token, known);
  }
  vocabulary.end_bulk();
  return Done{};
}

// Merges on their way into the model, a few dozen at a time.
class MergeBatch {
 public:
  // `prefix` is what the second part of a merge begins with and the result leaves out.
  MergeBatch(const Vocabulary& vocabulary, std::string_view prefix, Bpe& bpe, CachedModel* record)
      : vocabulary_(vocabulary), prefix_(prefix), bpe_(bpe), record_(record) {}

  // Reads "a b" or ["a", "b"]; false for anything else.
  [[nodiscard]] bool read(json::Reader& in) {
    std::string_view text;
    if (in.peek() == '"') {
      if (!in.string(text)) return false;
      const std::size_t space = text.find(' ');
      if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos) return false;
      const Text left = keep(text.substr(0, space));
      merges_.push_back({left, keep(text.substr(space + 1))});
      return true;
    }
    if (!in.enter_array() || !in.element() || !in.string(text)) return false;
    const Text left = keep(text);
    if (!in.element() || !in.string(text)) return false;
    const Text right = keep(text);
    if (in.element() || in.failed()) return false;
    merges_.push_back({left, right});
    return true;
  }

  [[nodiscard]] bool is_full() const { return merges_.size() >= kTogether; }

  [[nodiscard]] Status flush() {
    wanted_.clear();
    for (const Merge& merge : merges_) {
      const std::string_view left = view(merge.left);
      const std::string_view right = view(merge.right);
      wanted_.insert(wanted_.end(), {left, right, std::string_view(left.data(), left.size() + right.size())});
    }
    ids_.resize(wanted_.size());
    vocabulary_.find_many(wanted_, ids_);
    found_.clear();
    for (std::size_t i = 0; i < merges_.size(); ++i) {
      const bool is_spelled = merges_[i].left.is_spelled || merges_[i].right.is_spelled || !prefix_.empty();
      const TokenId* ids = is_spelled ? find_spelled(merges_[i], &ids_[3 * i]) : &ids_[3 * i];
      if (ids[0] < 0 || ids[1] < 0 || ids[2] < 0) return unknown(i);
      found_.push_back({ids[0], ids[1], ids[2]});
    }
    bpe_.add_merges(found_, rank_);
    rank_ += static_cast<std::uint32_t>(found_.size());
    if (record_ != nullptr) record_->merges.insert(record_->merges.end(), found_.begin(), found_.end());
    merges_.clear();
    texts_.clear();
    return Done{};
  }

  [[nodiscard]] std::size_t count() const { return rank_ + merges_.size(); }

 private:
  static constexpr std::size_t kTogether = 64;

  struct Text {
    std::size_t begin = 0;
    std::size_t end = 0;
    bool is_spelled = false;  // byte-level vocabulary, and no bytes that the text could spell
  };
  struct Merge {
    Text left;
    Text right;
  };

  Text keep(std::string_view text) {
    Text kept;
    kept.begin = texts_.size();
    if (!vocabulary_.is_byte_level() || !byte_level::append_bytes(text, texts_)) {
      texts_ += text;
      kept.is_spelled = vocabulary_.is_byte_level();
    }
    kept.end = texts_.size();
    return kept;
  }

  [[nodiscard]] std::string_view view(Text text) const {
    return std::string_view(texts_).substr(text.begin, text.end - text.begin);
  }
  [[nodiscard]] std::string spelling(Text text) const {
    return vocabulary_.is_byte_level() && !text.is_spelled ? byte_level::to_text(view(text)) : std::string(view(text));
  }

  const TokenId* find_spelled(const Merge& merge, TokenId* ids) const {
    const std::string left = spelling(merge.left);
    const std::string right = spelling(merge.right);
    ids[0] = vocabulary_.find_text(left).value_or(-1);
    ids[1] = vocabulary_.find_text(right).value_or(-1);
    // The reference cuts as many bytes as the prefix has, whatever they are.
    ids[2] =
        right.size() < prefix_.size() ? -1 : vocabulary_.find_text(left + right.substr(prefix_.size())).value_or(-1);
    return ids;
  }

  [[nodiscard]] Error unknown(std::size_t place) const {
    const Merge& merge = merges_[place];
    return damaged("`model.merges[" + std::to_string(rank_ + place) + "]` (`" + spelling(merge.left) + "`, `" +
                   spelling(merge.right) + "`) names a token that is not in the vocabulary");
  }

  const Vocabulary& vocabulary_;
  std::string_view prefix_;
  Bpe& bpe_;
  CachedModel* record_;
  std::uint32_t rank_ = 0;
  std::string texts_;  // for `merges_`: left and right parts next to each other
  std::vector<Merge> merges_;
  std::vector<std::string_view> wanted_;
  std::vector<TokenId> ids_;
  std::vector<std::array<TokenId, 3>> found_;
};

Status load_merges(const ModelText& model, std::string_view prefix, const Vocabulary& vocabulary, Bpe& bpe) {
  if (model.cached != nullptr) {
    bpe.add_merges(model.cached->merges, 0);
    return Done{};
  }
  if (!model.merges || model.merges->bracket != '[') return damaged("`model.merges` is missing or no array");
  bpe.reserve(model.merges->count);
  json::Reader in(model.file, model.merges->at, json::Reader::Checked());
  MergeBatch batch(vocabulary, prefix, bpe, model.record);
  if (model.record != nullptr) model.record->merges.reserve(model.merges->count);
  for (in.enter_array(); in.element();) {
    // Old files still contain the first line of a merges file.
    if (in.peek() == '"' && model.file.substr(in.at()).starts_with("\"#version")) {
      in.skip();
      continue;
    }
    if (!batch.read(in)) {
      return damaged("`model.merges[" + std::to_string(batch.count()) + "]` is no pair of tokens");
    }
    if (!batch.is_full()) continue;
    if (Status status = batch.flush(); !status.ok()) return status;
  }
  return batch.flush();
}

Status load_bpe(const ModelText& source, Tokenizer::State& state) {
  const json::Value& model = source.rest;
  if (Status status = load_vocabulary(source, state.vocabulary); !status.ok()) return status;
  BpeOptions options;
  options.ignore_merges = step_flag(model, "ignore_merges", false);
  options.byte_fallback = step_flag(model, "byte_fallback", false);
  options.fuse_unknown = step_flag(model, "fuse_unk", false);
  options.prefix = std::string(model.find_string("continuing_subword_prefix").value_or(""));
  options.suffix = std::string(model.find_string("end_of_word_suffix").value_or(""));
  if (const auto unknown = model.find_string("unk_token")) options.unknown = state.vocabulary.find_text(*unknown);
  const json::Value* dropout = model.find("dropout");
  if (dropout != nullptr && dropout->to_double().value_or(0) != 0) state.ignored.emplace_back("dropout");
  auto bpe = std::make_unique<Bpe>(state.vocabulary, options);
  Status status = load_merges(source, options.prefix, state.vocabulary, *bpe);
  state.model = std::move(bpe);
  return status;
}

// A list of [token, score]; the index is the id.
Status load_scored(const ModelText& model, Vocabulary& vocabulary, std::vector<double>& scores) {
  if (model.cached != nullptr) {
    scores = std::move(model.cached->scores);
    if (scores.size() != model.cached->entries.size()) return damaged("the cached model has no scores");
    return restore(*model.cached, vocabulary);
  }
  if (!model.vocab || model.vocab->bracket != '[') return damaged("`model.vocab` is missing or no array");
  if (model.vocab->count > static_cast<std::size_t>(kMaxId) || model.vocab->bytes > kMaxPoolBytes) {
    return damaged("`model.vocab` is too large");
  }
  vocabulary.let_last_count();
  vocabulary.begin_bulk(model.vocab->count, model.vocab->bytes);
  scores.reserve(model.vocab->count);
  json::Reader in(model.file, model.vocab->at, json::Reader::Checked());
  for (in.enter_array(); in.element();) {
    std::string_view token;
    std::string_view score;
    const auto place = static_cast<TokenId>(scores.size());
    bool is_pair = in.enter_array() && in.element() && in.string(token);
    if (is_pair) vocabulary.add(token, place);
    is_pair = is_pair && in.element() && in.number(score) && !in.element() && !in.failed();
    if (!is_pair) return damaged("`model.vocab[" + std::to_string(place) + "]` is no pair of a token and a score");
    scores.push_back(json_score(score));
    if (!std::isfinite(scores.back())) {
      return damaged("the score of `model.vocab[" + std::to_string(place) + "]` is out of range");
    }
  }
  vocabulary.end_bulk();
  return Done{};
}

Status load_unigram(const ModelText& source, Tokenizer::State& state) {
  const json::Value& model = source.rest;
  std::vector<double> scores;
  if (Status status = load_scored(source, state.vocabulary, scores); !status.ok()) return status;
  if (source.record != nullptr) source.record->scores = scores;
  UnigramOptions options;
  options.byte_fallback = step_flag(model, "byte_fallback", false);
  if (const json::Value* unknown = model.find("unk_id"); unknown != nullptr && !unknown->is_null()) {
    options.unknown = to_id(unknown);
    if (!options.unknown || *options.unknown >= state.vocabulary.size()) {
      return damaged("`model.unk_id` is no id of `model.vocab`");
    }
  }
  state.model = std::make_unique<Unigram>(state.vocabulary, std::move(scores), options);
  return Done{};
}

// The id of `model.unk_token`; the word itself is kept if it has no id.
std::optional<TokenId> unknown_word(const json::Value& model, const Vocabulary& vocabulary) {
  const auto text = model.find_string("unk_token");
  return text ? vocabulary.find_text(*text) : std::nullopt;
}

Status load_word_piece(const ModelText& source, Tokenizer::State& state) {
  const json::Value& model = source.rest;
  if (Status status = load_vocabulary(source, state.vocabulary); !status.ok()) return status;
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

Status load_word_level(const ModelText& source, Tokenizer::State& state) {
  const json::Value& model = source.rest;
  if (Status status = load_vocabulary(source, state.vocabulary); !status.ok()) return status;
  state.model = std::make_unique<WordLevel>(state.vocabulary, unknown_word(model, state.vocabulary));
  return Done{};
}

}  // namespace

// Old files do not name the kind.  Their members show it, checked in this order.
std::string_view model_kind(const ModelText& model) {
  if (const auto type = model.rest.find_string("type")) return *type;
  if (model.merges) return "BPE";
  if (model.rest.find("max_input_chars_per_word") != nullptr) return "WordPiece";
  if (model.vocab && model.vocab->bracket == '[') return "Unigram";
  return model.rest.find("unk_token") != nullptr ? "WordLevel" : "of no kind";
}

bool can_work_on_bytes(const ModelText& model) {
  if (model.cached != nullptr) return model.cached->is_byte_level;
  const std::string_view kind = model_kind(model);
  if (kind == "WordLevel") return true;
  // Prefixes and suffixes are text outside the spelling.
  if (kind == "WordPiece") return false;
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (!model.rest.find_string(key).value_or("").empty()) return false;
  }
  if (!step_flag(model.rest, "byte_fallback", false)) return true;
  // The bytes of the spelling fall back, unless every byte has a token anyway.
  if (!model.vocab || model.vocab->bracket != '{') return false;
  std::set<std::string> found;
  json::Reader in(model.file, model.vocab->at, json::Reader::Checked());
  std::string_view token;
  for (in.enter_object(); in.member(token);) {
    std::string bytes;
    if (token.size() <= 2 && byte_level::append_bytes(token, bytes) && bytes.size() == 1) found.insert(bytes);
    in.skip();
  }
  return found.size() == 256;
}

Status load_model(const ModelText& model, Tokenizer::State& state) {
  const std::string_view kind = model_kind(model);
  if (kind == "BPE") return load_bpe(model, state);
  if (kind == "Unigram") return load_unigram(model, state);
  if (kind == "WordPiece") return load_word_piece(model, state);
  if (kind == "WordLevel") return load_word_level(model, state);
  return damaged("the tokenizer model `" + std::string(kind) + "` is not known");
}

}  // namespace rondo::tokenizer
