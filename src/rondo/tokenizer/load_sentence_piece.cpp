// Builds a tokenizer from a SentencePiece model that encodes like SentencePiece itself.
#include <algorithm>
#include <limits>

#include "tokenizer/bpe.h"
#include "tokenizer/companions.h"
#include "tokenizer/rank_model.h"
#include "tokenizer/sentence_normalizer.h"
#include "tokenizer/sentence_styles.h"
#include "tokenizer/sentence_words.h"
#include "tokenizer/unigram.h"

namespace rondo::tokenizer {
namespace {

using File = model::SentencePieceFile;
using Type = File::Type;

constexpr double kUserDefinedBonus = 0.1;  // for each byte after the first

// Whether user-defined pieces are found before anything else happens to a text.  In the other kinds of model they are
// pieces with a score that almost always wins.
bool takes_whole(const File& file) { return file.kind == File::Kind::kBpe || file.kind == File::Kind::kChar; }

void load_pieces(const File& file, Tokenizer::State& state) {
  state.vocabulary.reserve(file.pieces.size(), file.pieces.size() * 8);
  for (std::size_t i = 0; i < file.pieces.size(); ++i) {
    const File::Piece& piece = file.pieces[i];
    const auto id = static_cast<TokenId>(i);
    const bool is_ordinary = piece.type == Type::kUserDefined && !takes_whole(file);
    state.vocabulary.add(piece.text, id, piece.type == Type::kNormal || is_ordinary);
    if (piece.type != Type::kControl && piece.type != Type::kUnknown && piece.type != Type::kUserDefined) continue;
    if (is_ordinary) continue;
    AddedToken token;
    token.id = id;
    token.content = piece.text;
    token.special = piece.type != Type::kUserDefined;
    token.normalized = !token.special;
    state.added.push_back(std::move(token));
  }
}

Status check_work(const File& file) {
  SplitWork work;
  for (const File::Piece& piece : file.pieces) {
    if (file.kind != File::Kind::kBpe) break;
    if (Status status = work.add(piece.text.size()); !status.ok()) return status;
  }
  return Done{};
}

std::unique_ptr<TokenModel> make_unigram(const File& file, const Tokenizer::State& state) {
  float lowest = std::numeric_limits<float>::max();
  for (const File::Piece& piece : file.pieces) {
    if (piece.type != Type::kNormal) continue;
    lowest = std::min(lowest, piece.score);
  }
  std::vector<double> scores = scores_of(file);
  for (std::size_t i = 0; i < scores.size(); ++i) {
    if (file.pieces[i].type != Type::kUserDefined) continue;
    const double behind_first = static_cast<double>(file.pieces[i].text.size()) - 1;
    scores[i] = static_cast<double>(static_cast<float>(kUserDefinedBonus * behind_first));
  }
  UnigramOptions options;
  options.byte_fallback = file.byte_fallback;
  options.single_precision = true;
  options.unknown = unknown_of(file);
  options.unknown_score = static_cast<double>(lowest - kUnknownPenalty);
  return std::make_unique<Unigram>(state.vocabulary, std::move(scores), options);
}

std::unique_ptr<TokenModel> make_bpe(const File& file, const Tokenizer::State& state) {
  BpeOptions options;
  options.byte_fallback = file.byte_fallback;
  options.fuse_unknown = true;
  options.unknown = unknown_of(file);
  auto bpe = std::make_unique<Bpe>(state.vocabulary, options);
  // Without merges every character stays on its own.
  if (file.kind == File::Kind::kBpe) bpe->add_merges_by_score(scores_of(file));
  return bpe;
}

std::unique_ptr<TokenModel> make_words(const File& file, const Tokenizer::State& state) {
  SentenceWordsOptions options;
  options.byte_fallback = file.byte_fallback;
  options.unknown = unknown_of(file);
  return std::make_unique<SentenceWords>(state.vocabulary, options);
}

Status load_normalizer(const File& file, Tokenizer::State& state) {
  const File::Normalizer& spec = file.normalizer;
  Charsmap charsmap;
  if (!spec.charsmap.empty()) {
    Result<Charsmap> parsed = Charsmap::parse(spec.charsmap);
    if (!parsed.ok()) return parsed.error();
    charsmap = std::move(parsed).value();
  }
  SentenceNormalizerOptions options;
  options.add_prefix = spec.add_dummy_prefix;
  options.at_end = file.treat_whitespace_as_suffix;
  options.remove_extra_spaces = spec.remove_extra_whitespaces;
  options.escape_spaces = spec.escape_whitespaces;
  std::vector<std::pair<std::string_view, TokenId>> verbatim;
  for (std::size_t i = 0; i < file.pieces.size(); ++i) {
    if (file.pieces[i].type == Type::kUserDefined) verbatim.emplace_back(file.pieces[i].text, static_cast<TokenId>(i));
  }
  state.normalizer.add(Normalizer::Sentence{
      std::make_shared<const SentenceNormalizer>(options, std::move(charsmap), std::move(verbatim))});
  state.search.patterns_as_written = true;
  state.takes_bytes = true;
  return Done{};
}

void load_decoder(const File& file, Tokenizer::State& state) {
  const File::Normalizer& spec = file.normalizer;
  const bool strips = spec.add_dummy_prefix || spec.remove_extra_whitespaces;
  state.decoder.add_marks(file.byte_fallback, strips && !file.treat_whitespace_as_suffix);
}

}  // namespace

std::optional<TokenId> unknown_of(const File& file) {
  for (std::size_t i = 0; i < file.pieces.size(); ++i) {
    if (file.pieces[i].type == Type::kUnknown) return static_cast<TokenId>(i);
  }
  return std::nullopt;
}

std::vector<double> scores_of(const File& file) {
  std::vector<double> scores;
  scores.reserve(file.pieces.size());
  for (const File::Piece& piece : file.pieces) scores.push_back(static_cast<double>(piece.score));
  return scores;
}

Result<std::unique_ptr<Tokenizer::State>> load_sentence_piece(const model::TokenizerSource& source) {
  const File& file = *source.sentence_piece;
  const json::Value* config = source.tokenizer_config.get();
  const auto named = config == nullptr ? std::nullopt : config->find_string("tokenizer_class");
  const bool is_pieces = file.kind == File::Kind::kUnigram || file.kind == File::Kind::kBpe;
  if (Status status = check_work(file); !status.ok()) return status.error();
  const SentenceStyle* style = named && is_pieces ? find_sentence_style(*named) : nullptr;
  if (style != nullptr) return load_sentence_piece_folder(source, *style);
  auto state = std::make_unique<Tokenizer::State>(false);
  load_pieces(file, *state);
  if (Status status = load_normalizer(file, *state); !status.ok()) return status.error();
  switch (file.kind) {
    case File::Kind::kUnigram: state->model = make_unigram(file, *state); break;
    case File::Kind::kBpe:
    case File::Kind::kChar: state->model = make_bpe(file, *state); break;
    case File::Kind::kWord: state->model = make_words(file, *state); break;
  }
  load_decoder(file, *state);
  if (Status status = add_config_tokens(source, false, *state); !status.ok()) return status.error();
  state->finish();
  const auto control = [&](std::string_view text) -> std::optional<TokenId> {
    const auto id = state->find(text);
    if (!id || static_cast<std::size_t>(*id) >= file.pieces.size()) return std::nullopt;
    return file.pieces[static_cast<std::size_t>(*id)].type == Type::kControl ? id : std::nullopt;
  };
  state->edges.bos = control(file.bos_piece);
  state->edges.eos = control(file.eos_piece);
  set_ends(source, false, *state);
  return state;
}

}  // namespace rondo::tokenizer
