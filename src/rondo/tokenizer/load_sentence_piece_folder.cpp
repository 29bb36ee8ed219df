// Builds a tokenizer from a SentencePiece model whose folder names a class of transformers.  That library converts the
// model to its own parts, which do not always encode as SentencePiece does.
#include <algorithm>

#include "tokenizer/bpe.h"
#include "tokenizer/companions.h"
#include "tokenizer/json_steps.h"
#include "tokenizer/sentence_styles.h"
#include "tokenizer/unigram.h"

namespace rondo::tokenizer {
namespace {

using File = model::SentencePieceFile;
using Type = File::Type;

void load_unscored_pieces(const File& file, Tokenizer::State& state) {
  state.vocabulary.reserve(file.pieces.size(), file.pieces.size() * 8);
  for (std::size_t i = 0; i < file.pieces.size(); ++i) {
    const File::Piece& piece = file.pieces[i];
    const auto id = static_cast<TokenId>(i);
    state.vocabulary.add(piece.text, id, piece.type != Type::kControl && piece.type != Type::kUnknown);
    if (piece.type != Type::kControl && piece.type != Type::kUnknown && piece.type != Type::kUserDefined) continue;
    AddedToken token;
    token.id = id;
    token.content = piece.text;
    token.special = piece.type != Type::kUserDefined;
    state.added.push_back(std::move(token));
  }
}

// Every way to build a piece from two others is a merge: ordered by the id of the piece, then by the characters of the
// first part.
void add_merges(const File& file, const Vocabulary& vocabulary, Bpe& bpe) {
  std::uint32_t rank = 0;
  for (std::size_t i = 0; i < file.pieces.size(); ++i) {
    const std::string_view text = file.pieces[i].text;
    for (std::size_t cut = 1; cut < text.size(); ++cut) {
      const auto left = vocabulary.find(text.substr(0, cut));
      const auto right = left ? vocabulary.find(text.substr(cut)) : std::nullopt;
      if (right) bpe.add_merge(*left, *right, rank++, static_cast<TokenId>(i), true);
    }
  }
}

void load_model(const File& file, const SentenceStyle& style, Tokenizer::State& state) {
  if (file.kind == File::Kind::kUnigram) {
    UnigramOptions options;
    options.byte_fallback = file.byte_fallback;
    options.unknown = unknown_of(file);
    state.model = std::make_unique<Unigram>(state.vocabulary, scores_of(file), options);
    return;
  }
  BpeOptions options;
  options.byte_fallback = style.always_in_bytes || file.byte_fallback;
  options.fuse_unknown = true;
  if (style.has_unknown) options.unknown = unknown_of(file);
  auto bpe = std::make_unique<Bpe>(state.vocabulary, options);
  add_merges(file, state.vocabulary, *bpe);
  state.model = std::move(bpe);
}

Status load_steps(const File& file, const SentenceStyle& style, const json::Value* config, Tokenizer::State& state) {
  using Prepend = PreTokenizer::Metaspace::Prepend;
  const auto flag = [config](std::string_view key, bool otherwise) {
    return config == nullptr ? otherwise : step_flag(*config, key, otherwise);
  };
  const bool prefix = style.has_prefix && flag("add_prefix_space", true);
  if (style.has_prefix) {
    const bool always = flag("legacy", false);
    PreTokenizer::Metaspace step;
    step.replacement = kSpaceMark;
    step.prepend = !prefix ? Prepend::kNever : always ? Prepend::kAlways : Prepend::kFirst;
    step.split = false;
    state.pre_tokenizer.add(std::move(step));
  } else {
    if (!file.normalizer.charsmap.empty()) {
      Result<Charsmap> charsmap = Charsmap::parse(file.normalizer.charsmap);
      if (!charsmap.ok()) return charsmap.error();
      state.normalizer.add(Normalizer::MapCharacters{std::make_shared<const Charsmap>(std::move(charsmap).value())});
    }
    state.normalizer.add(Normalizer::ReplaceText{" ", std::string(kSpaceMark)});
  }
  state.decoder.add_marks(true, prefix);
  return Done{};
}

}  // namespace

Result<std::unique_ptr<Tokenizer::State>> load_sentence_piece_folder(const model::TokenizerSource& source,
                                                                     const SentenceStyle& style) {
  const File& file = *source.sentence_piece;
  auto state = std::make_unique<Tokenizer::State>(false);
  load_unscored_pieces(file, *state);
  load_model(file, style, *state);
  Status status = load_steps(file, style, source.tokenizer_config.get(), *state);
  if (!status.ok()) return status.error();
  if (Status added = add_config_tokens(source, false, *state); !added.ok()) return added.error();
  state->finish();
  state->edges.bos = state->find(file.bos_piece);
  state->edges.eos = state->find(file.eos_piece);
  set_ends(source, false, *state);
  return state;
}

}  // namespace rondo::tokenizer
