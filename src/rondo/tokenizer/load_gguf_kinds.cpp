// Loads the GGUF vocabularies that are not byte-pair encodings.
#include <algorithm>
#include <limits>

#include "base/hex.h"
#include "base/utf8.h"
#include "json/parse.h"
#include "tokenizer/backward_unigram.h"
#include "tokenizer/damaged.h"
#include "tokenizer/gguf_fields.h"
#include "tokenizer/longest_match.h"
#include "tokenizer/unigram.h"
#include "tokenizer/wordpiece.h"

namespace rondo::tokenizer {
namespace {

constexpr std::string_view kContinues = "##";

bool is_searchable(GgufToken type) {
  return type == GgufToken::kNormal || type == GgufToken::kUserDefined || type == GgufToken::kByte;
}

// The converter put a mark before tokens that start a word and removed the prefix from those that continue one, except
// for tokens in brackets.  This restores the spelling that the model came with.
std::string original_word_piece(const std::string& text) {
  if (text.size() > 1 && text.starts_with('[') && text.ends_with(']')) return text;
  return text.starts_with(kSpaceMark) ? text.substr(kSpaceMark.size()) : std::string(kContinues) + text;
}

// Tokens are bytes, written with the escapes \t \n \r \xHH.  A backslash before anything else is literal.
std::optional<std::string> unescape(std::string_view text) {
  std::string bytes;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '\\' || at + 1 == text.size()) {
      bytes.push_back(text[at]);
      continue;
    }
    const char kind = text[++at];
    if (kind != 'x') {
      bytes.push_back(kind == 't' ? '\t' : kind == 'n' ? '\n' : kind == 'r' ? '\r' : kind);
      continue;
    }
    const std::optional<char> byte = hex::byte(text, at + 1);
    if (!byte) return std::nullopt;
    bytes.push_back(*byte);
    at += 2;
  }
  return bytes;
}

Result<Charsmap> read_charsmap(const GgufFields& fields) {
  const auto* numbers = fields.gguf->find_ints("tokenizer.ggml.precompiled_charsmap");
  if (numbers == nullptr || numbers->empty()) return Charsmap();
  std::string blob;
  blob.reserve(numbers->size());
  for (const std::int64_t number : *numbers) blob.push_back(static_cast<char>(number & 0xFF));
  return Charsmap::parse(blob);
}

}  // namespace

Status load_gguf_word_piece(const GgufFields& fields, Tokenizer::State& state) {
  const std::vector<std::string>& tokens = *fields.tokens;
  state.vocabulary.reserve(tokens.size(), tokens.size() * 8);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string text = original_word_piece(utf8::to_valid(tokens[i]));
    const auto id = static_cast<TokenId>(i);
    state.vocabulary.add(text, id, is_searchable(fields.type(i)) && !text.empty());
    add_gguf_token(fields.type(i), id, text, state);
  }
  const bool lowercase = fields.flag("normalizer.lowercase", true);
  const bool strip_accents = fields.flag("normalizer.strip_accents", lowercase);
  json::Object normalizer{{"type", std::string("BertNormalizer")},
                          {"clean_text", true},
                          {"handle_chinese_chars", true},
                          {"strip_accents", strip_accents},
                          {"lowercase", lowercase}};
  const json::Value description(std::move(normalizer));
  Result<Normalizer> made = Normalizer::from_json(&description);
  if (!made.ok()) return made.error();
  state.normalizer = std::move(made).value();
  state.pre_tokenizer.add(PreTokenizer::SplitClass{PreTokenizer::Class::kWhiteSpace, Behavior::kRemoved});
  state.pre_tokenizer.add(PreTokenizer::SplitClass{PreTokenizer::Class::kPunctuation, Behavior::kIsolated});
  const json::Value decoding(
      json::Object{{"type", std::string("WordPiece")}, {"prefix", std::string(kContinues)}, {"cleanup", false}});
  Result<Decoder> decoder = Decoder::from_json(&decoding);
  if (!decoder.ok()) return decoder.error();
  state.decoder = std::move(decoder).value();
  WordPieceOptions options;
  options.prefix = kContinues;
  options.unknown = fields.special("unknown", 100);
  state.model = std::make_unique<WordPiece>(state.vocabulary, options);
  state.edges.bos = fields.special("bos", fields.special("cls", 101));
  if (state.edges.bos) state.edges.prefix.push_back(*state.edges.bos);
  if (const auto end = fields.special("seperator", 102)) state.edges.suffix.push_back(*end);
  return Done{};
}

Status load_gguf_unigram(const GgufFields& fields, Tokenizer::State& state) {
  const std::vector<std::string>& tokens = *fields.tokens;
  state.vocabulary.reserve(tokens.size(), tokens.size() * 8);
  std::vector<std::pair<std::string_view, TokenId>> verbatim;
  std::vector<double> scores(tokens.size());
  float lowest = std::numeric_limits<float>::max();
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const GgufToken type = fields.type(i);
    const std::string text = utf8::to_valid(tokens[i]);
    const auto id = static_cast<TokenId>(i);
    const bool takes_part = type == GgufToken::kNormal || type == GgufToken::kUserDefined || type == GgufToken::kUnused;
    state.vocabulary.add(text, id, takes_part && !text.empty());
    add_gguf_token(type, id, text, state);
    const auto score = static_cast<float>(fields.scores[i]);
    if (type == GgufToken::kNormal) lowest = std::min(lowest, score);
    if (type != GgufToken::kUserDefined) scores[i] = static_cast<double>(score);
    if (type == GgufToken::kUserDefined) verbatim.emplace_back(tokens[i], id);
  }
  Result<Charsmap> charsmap = read_charsmap(fields);
  if (!charsmap.ok()) return charsmap.error();
  SentenceNormalizerOptions options;
  options.add_prefix = fields.flag("add_space_prefix", false);
  options.remove_extra_spaces = fields.flag("remove_extra_whitespaces", false);
  options.late_prefix = true;
  state.decoder.add_marks(true, options.add_prefix);
  state.normalizer.add(Normalizer::Sentence{
      std::make_shared<const SentenceNormalizer>(options, std::move(charsmap).value(), std::move(verbatim))});
  state.takes_bytes = true;
  UnigramOptions unigram;
  unigram.unknown = fields.special("unknown", 2);
  unigram.unknown_score = static_cast<double>(lowest - kUnknownPenalty);
  state.model = std::make_unique<Unigram>(state.vocabulary, std::move(scores), unigram);
  state.edges.bos = fields.special("bos");
  state.edges.eos = fields.special("eos", 1);
  if (fields.flag("add_bos_token", false) && state.edges.bos) state.edges.prefix.push_back(*state.edges.bos);
  if (fields.flag("add_eos_token", true) && state.edges.eos) state.edges.suffix.push_back(*state.edges.eos);
  return Done{};
}

Status load_gguf_longest_match(const GgufFields& fields, Tokenizer::State& state) {
  const std::vector<std::string>& tokens = *fields.tokens;
  state.vocabulary.reserve(tokens.size(), tokens.size() * 8);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto bytes = unescape(tokens[i]);
    if (!bytes) return damaged("the token with id " + std::to_string(i) + " ends inside an escape");
    const auto id = static_cast<TokenId>(i);
    state.vocabulary.add_bytes(*bytes, id, is_searchable(fields.type(i)) && !bytes->empty());
    add_gguf_token(fields.type(i), id, utf8::to_valid(*bytes), state);
  }
  state.takes_bytes = true;
  state.decoder.add(Decoder::Bytes{});
  state.model = std::make_unique<LongestMatch>(state.vocabulary, fields.special("unknown"));
  state.edges.bos = fields.special("bos");
  state.edges.eos = fields.special("eos");
  return Done{};
}

Status load_gguf_backward_unigram(const GgufFields& fields, Tokenizer::State& state) {
  const std::vector<std::string>& tokens = *fields.tokens;
  state.vocabulary.reserve(tokens.size(), tokens.size() * 8);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string text = utf8::to_valid(tokens[i]);
    const auto id = static_cast<TokenId>(i);
    const GgufToken type = fields.type(i);
    state.vocabulary.add(text, id, is_searchable(type) && type != GgufToken::kByte && !text.empty());
    add_gguf_token(type, id, text, state);
  }
  const std::array<TokenId, 256> bytes = fallback_tokens(state.vocabulary);
  const auto missing = std::find(bytes.begin(), bytes.end(), -1);
  if (missing != bytes.end()) return damaged("the byte " + std::to_string(missing - bytes.begin()) + " has no token");
  // A byte order mark at the start is skipped.
  Result<Regex> mark = Regex::compile("\\A\\x{FEFF}");
  if (!mark.ok()) return mark.error();
  state.normalizer.add(Normalizer::ReplaceRegex{std::move(mark).value(), ""});
  state.decoder.add(Decoder::ByteFallback{});
  state.decoder.add(Decoder::Fuse{});
  state.model = std::make_unique<BackwardUnigram>(state.vocabulary, fields.scores, bytes);
  state.edges.bos = fields.special("bos", 1);
  state.edges.eos = fields.special("eos", 2);
  return Done{};
}

}  // namespace rondo::tokenizer
