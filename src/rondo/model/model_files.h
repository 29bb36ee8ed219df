// Reads what a model brings: its tokenizer description, its chat template and a few facts.  No behaviour.
//
// Accepted: a folder in Hugging Face style (tokenizer.json, tokenizer_config.json, chat_template.jinja or .json,
// generation_config.json; older ones with vocab.json and merges.txt, or vocab.txt), a .gguf file, a tokenizer.json, a tekken.json, a SentencePiece model, a rank file (.tiktoken), a
// .jinja or .txt template, a tokenizer_config.json, a processed_chat_template.json or the Python code of an encoder (both
// also in a folder that has no other template; encoders as encoding*.py, there or in its folder `encoding`).
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

// Files that are a vocabulary and nothing more; how text is split depends on the class that the folder names.
struct VocabularyFiles {
  std::optional<std::string> tokens;  // the text of vocab.json: token to id
  std::string merges;                 // of merges.txt beside it
  std::optional<std::string> words;   // of vocab.txt: a token per line
};

// Where a tokenizer comes from; exactly one of the first six pointers is set.  What stands beside the file may add to it.
struct TokenizerSource {
  std::string path;                                         // for messages
  std::shared_ptr<const std::string> tokenizer_json;        // the text of a tokenizer.json
  std::shared_ptr<const Gguf> gguf;                         // metadata of a GGUF file
  std::shared_ptr<const json::Value> tekken_json;           // the parsed tekken.json
  std::shared_ptr<const SentencePieceFile> sentence_piece;  // a SentencePiece model
  std::shared_ptr<const RankFile> ranks;                    // a rank file
  std::shared_ptr<const VocabularyFiles> vocabulary;        // a folder with no more than that
  TokenizerCode code;                                       // beside a rank file
  std::shared_ptr<const json::Value> tokenizer_config;      // tokenizer_config.json, if there is one
  std::shared_ptr<const json::Value> special_tokens;        // special_tokens_map.json, likewise
  std::shared_ptr<const json::Value> added_tokens;          // added_tokens.json, likewise
  std::shared_ptr<const json::Value> generation_config;     // generation_config.json, likewise
};

// The name under which an engine's JSON template is found.
inline constexpr std::string_view kEdgeTemplateFile = "processed_chat_template.json";

struct TemplateSource {
  // kEdgeJson: a processed_chat_template.json; kEncoder: Python code that writes prompts.
  enum class Kind : std::uint8_t { kJinja, kEdgeJson, kEncoder };
  std::string path;  // of the file it was found in
  std::string name;  // "default", "tool_use", ... for files with several templates
  std::string text;
  Kind kind = Kind::kJinja;
};

struct ModelFiles {
  std::string path;
  std::optional<TokenizerSource> tokenizer;
  std::vector<TemplateSource> templates;  // the default one first; empty if the model brings none
  std::optional<std::string> bos_token;   // template variables of these names
  std::optional<std::string> eos_token;
};

// Everything found at `path`.  Fails with kNotFound (nothing there, or a folder with neither tokenizer nor template),
// kJson (a JSON file is damaged; a tokenizer.json may turn out to be when it is loaded) or kTokenizer (a GGUF file is damaged).
[[nodiscard]] Result<ModelFiles> load(const std::string& path);

// Only what a tokenizer needs / only the chat template.  Fail with kNotFound when `path` has none.
[[nodiscard]] Result<TokenizerSource> load_tokenizer_source(const std::string& path);
[[nodiscard]] Result<ModelFiles> load_template_source(const std::string& path);

}  // namespace rondo::model
