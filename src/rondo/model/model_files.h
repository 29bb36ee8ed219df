// Reads the files of a model: its tokenizer description, its chat template and a few facts.  No behaviour.
//
// Accepts
//   a folder in Hugging Face style (tokenizer.json, tokenizer_config.json, chat_template.jinja or .json,
//       generation_config.json; older ones with vocab.json and merges.txt, or vocab.txt),
//   a .gguf file, a tokenizer.json, a tekken.json, a SentencePiece model, a rank file (.tiktoken),
//   a .jinja or .txt template, a tokenizer_config.json, a processed_chat_template.json,
//   or the Python code of an encoder.
// The last two are also found in a folder that has no other template; an encoder is named encoding*.py there, or is in
// its folder `encoding`.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "model/gguf.h"
#include "model/rank_file.h"
#include "model/sentence_piece_file.h"
#include "model/tokenizer_code.h"
#include "rondo/result.h"

namespace rondo::model {

// A vocabulary without further description.  The class that the folder names tells how text is split.
struct VocabularyFiles {
  std::optional<std::string> tokens;  // the text of vocab.json: token to id
  std::string merges;                 // of merges.txt beside it
  std::optional<std::string> words;   // of vocab.txt: a token per line
};

// The source of a tokenizer.  Exactly one of the first six pointers is set.  Files beside it may add information.
struct TokenizerSource {
  std::string path;                                         // for error messages
  std::shared_ptr<const std::string> tokenizer_json;        // the text of a tokenizer.json
  std::shared_ptr<const Gguf> gguf;                         // metadata of a GGUF file
  std::shared_ptr<const json::Value> tekken_json;           // the parsed tekken.json
  std::shared_ptr<const SentencePieceFile> sentence_piece;  // a SentencePiece model
  std::shared_ptr<const RankFile> ranks;                    // a rank file
  std::shared_ptr<const VocabularyFiles> vocabulary;        // a folder with only a vocabulary
  TokenizerCode code;                                       // beside a rank file
  std::shared_ptr<const json::Value> tokenizer_config;      // tokenizer_config.json, if there is one
  std::shared_ptr<const json::Value> special_tokens;        // special_tokens_map.json, likewise
  std::shared_ptr<const json::Value> added_tokens;          // added_tokens.json, likewise
  std::shared_ptr<const json::Value> generation_config;     // generation_config.json, likewise
};

// The file name of an engine's JSON template.
inline constexpr std::string_view kEdgeTemplateFile = "processed_chat_template.json";

struct TemplateSource {
  // kEdgeJson: a processed_chat_template.json.  kEncoder: Python code that writes prompts.
  enum class Kind : std::uint8_t { kJinja, kEdgeJson, kEncoder };
  std::string path;  // the file that contains it
  std::string name;  // "default", "tool_use", ... for files with several templates
  std::string text;
  Kind kind = Kind::kJinja;
};

struct ModelFiles {
  std::string path;
  std::optional<TokenizerSource> tokenizer;
  std::vector<TemplateSource> templates;  // the default one first; empty if the model has none
  std::optional<std::string> bos_token;   // the template variables of these names
  std::optional<std::string> eos_token;
};

// Reads everything at `path`.  Fails with kNotFound (nothing there, or a folder with neither tokenizer nor template),
// kJson (a JSON file is damaged) or kTokenizer (a GGUF file is damaged).  Damage in a tokenizer.json may only show when
// the tokenizer is loaded.
[[nodiscard]] Result<ModelFiles> load(const std::string& path);

// Read only what a tokenizer needs, or only the chat template.  Both fail with kNotFound if `path` has none.
[[nodiscard]] Result<TokenizerSource> load_tokenizer_source(const std::string& path);
[[nodiscard]] Result<ModelFiles> load_template_source(const std::string& path);

}  // namespace rondo::model
