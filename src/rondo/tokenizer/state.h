// The parts of a loaded tokenizer, and the functions that load one.  Only for the files of this folder.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "tokenizer/added_tokens.h"
#include "tokenizer/cached_model.h"
#include "tokenizer/decoder.h"
#include "tokenizer/normalizer.h"
#include "tokenizer/piece_cache.h"
#include "tokenizer/pre_tokenizer.h"
#include "tokenizer/token_model.h"
#include "tokenizer/tokenizer.h"
#include "tokenizer/vocabulary.h"

namespace rondo::tokenizer {

// What an added token decodes to: its normalised text if it is searched for in normalised text, as in the reference.
struct AddedText {
  std::string text;
  bool is_hidden = false;  // skip_special hides it: the text is the content of a special token
};

// The ids that mean the beginning and end of texts and turns.
struct EdgeIds {
  std::vector<TokenId> prefix;  // what add_special puts before the text
  std::vector<TokenId> suffix;
  std::optional<TokenId> bos;
  std::optional<TokenId> eos;
  std::vector<TokenId> ends;  // that end generation; sorted
};

// Finds added tokens in a text.
struct AddedSearch {
  AddedMatcher raw;                  // tokens searched for in the original text
  AddedMatcher normalized;           // tokens searched for in normalised text
  bool patterns_as_written = false;  // those tokens are not normalised themselves
};

struct Tokenizer::State {
  explicit State(bool byte_level) : vocabulary(byte_level) {}

  std::string path;
  Vocabulary vocabulary;
  std::unique_ptr<TokenModel> model;  // refers to `vocabulary`
  Normalizer normalizer;
  PreTokenizer pre_tokenizer;
  Decoder decoder;

  std::vector<TokenId> once_normalized;   // added tokens whose last entry, unlike an earlier one, lacks `normalized`
  std::vector<AddedToken> added;          // sorted by content
  std::vector<std::int32_t> added_index;  // by id: place in `added` or -1
  std::vector<AddedText> added_texts;     // in the order of `added`
  AddedSearch search;
  bool takes_bytes = false;  // the normalizer does what ill-formed UTF-8 needs

  // For vocabularies that are not byte-level: the texts that tokens stand for inside a text.  Token i is
  // inner[inner_begin[i]..inner_begin[i + 1]).
  std::string inner;
  std::vector<std::uint32_t> inner_begin;
  TokenId vocab_size = 0;
  EdgeIds edges;
  std::vector<std::string> ignored;  // parts of the file that have no effect here, such as "truncation"

  // Text may be cut before U+2581, unless one of these characters precedes it (TokenModel::joined_before).  Then words
  // can be cached.
  std::optional<std::set<char32_t>> joined_before_mark;

  // Some ordinary text can become a control token, by merging or by being one in the vocabulary.
  bool text_can_be_control = false;

  mutable Workbenches benches;

  // The vocabulary keeps what the decoder's first step would make of a token's spelling.
  [[nodiscard]] bool has_bytes() const { return vocabulary.is_byte_level() && decoder.starts_with_bytes(); }
  // Fills everything that follows from `vocabulary`, `added` and `decoder`.
  void finish();
  [[nodiscard]] const AddedToken* find_added(TokenId id) const;
  [[nodiscard]] const AddedToken* find_content(std::string_view content) const;
  [[nodiscard]] std::optional<TokenId> find(std::string_view content) const;
};

// All of these fail with kTokenizer.
//
// REQUIRES: `source` holds the kind of file in the function's name.
[[nodiscard]] Result<std::unique_ptr<Tokenizer::State>> load_json(const model::TokenizerSource& source,
                                                                  const LoadOptions& options);
[[nodiscard]] Result<std::unique_ptr<Tokenizer::State>> load_vocabulary_files(const model::TokenizerSource& source,
                                                                              const LoadOptions& options);
[[nodiscard]] Result<std::unique_ptr<Tokenizer::State>> load_gguf(const model::TokenizerSource& source);
[[nodiscard]] Result<std::unique_ptr<Tokenizer::State>> load_tiktoken(const model::TokenizerSource& source);
[[nodiscard]] Result<std::unique_ptr<Tokenizer::State>> load_tekken(const model::TokenizerSource& source);
[[nodiscard]] Result<std::unique_ptr<Tokenizer::State>> load_sentence_piece(const model::TokenizerSource& source);

constexpr TokenId kMaxId = 1 << 22;  // far above every vocabulary; keeps tables small

// A member of `model` that is too large to become a value: its place in the file and its size.
struct Bulk {
  std::size_t at = 0;     // byte offset in the text
  char bracket = 0;       // its first byte
  std::size_t count = 0;  // how many members or elements
  std::size_t bytes = 0;  // how many bytes it takes in the file
};

// The member "model" of a tokenizer.json.
struct ModelText {
  std::string_view file;
  json::Value rest;  // an object of all members except the following
  std::optional<Bulk> vocab;
  std::optional<Bulk> merges;
  CachedModel* cached = nullptr;  // replaces both; its content is moved out
  CachedModel* record = nullptr;  // where the finished tables are kept
};

// Fills vocabulary and model.  Fails with kTokenizer.
[[nodiscard]] Status load_model(const ModelText& model, Tokenizer::State& state);
// Returns the kind in the member "type"; for old files, the kind that their members show.
[[nodiscard]] std::string_view model_kind(const ModelText& model);
// Fills `added` from the members "added_tokens" of a tokenizer.json and "added_tokens_decoder" of a
// tokenizer_config.json, either of which may be null.  Fails with kTokenizer.
//
// REQUIRES: the vocabulary is complete.
[[nodiscard]] Status load_added(const json::Value* list, const json::Value* config, Tokenizer::State& state);
// Fills `prefix` and `suffix` from the member "post_processor" of a tokenizer.json, which may be null.  Fails with
// kTokenizer.
[[nodiscard]] Status load_processor(const json::Value* processor, Tokenizer::State& state);
// Returns whether a vocabulary in the byte-level alphabet may be kept as bytes: nothing in the model can tell the
// difference.
[[nodiscard]] bool can_work_on_bytes(const ModelText& model);
// Returns a number that can be an id, otherwise nullopt; nullptr is allowed.
[[nodiscard]] std::optional<TokenId> to_id(const json::Value* value);
// Returns the ids in "eos_token_id" of a generation_config.json, which is an integer or a list.
[[nodiscard]] std::vector<TokenId> generation_ends(const json::Value* generation_config);

}  // namespace rondo::tokenizer
