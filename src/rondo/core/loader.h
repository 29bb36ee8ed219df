// Templates and tokenizers from files and from memory.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/memo.h"
#include "jinja/template.h"
#include "json/value.h"
#include "model/model_files.h"
#include "rondo/result.h"
#include "tokenizer/tokenizer.h"

namespace rondo::core {

// The special tokens that a file names.
struct SpecialTokens {
  std::optional<std::string> bos;
  std::optional<std::string> eos;
};

// A chat template as a model brings it.
struct LoadedTemplate {
  std::shared_ptr<const jinja::Template> plain;
  std::shared_ptr<const jinja::Template> tool_use;  // for conversations with tools, where the model has one; else null
  SpecialTokens tokens;
  bool is_encoder = false;  // made of an encoder: it needs the lenient language, and no reference has another
  std::string reason = {};  // why it is a template of ours; "" if it is none

  [[nodiscard]] const std::shared_ptr<const jinja::Template>& with_tools(bool tools) const {
    return tools && tool_use != nullptr ? tool_use : plain;
  }
};

struct LoadedTokenizer {
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  SpecialTokens tokens;
};

using TemplateResult = Result<std::shared_ptr<const LoadedTemplate>>;
using TokenizerResult = Result<std::shared_ptr<const LoadedTokenizer>>;

// A tokenizer, and perhaps a template, that are in memory already.
struct MemoryModel {
  std::string name;                          // for messages
  std::string tokenizer_json;                // the text of a tokenizer.json
  std::optional<json::Value> config;         // as tokenizer_config.json; gives bos_token and eos_token
  std::optional<json::Value> generation;     // as generation_config.json
  std::optional<std::string> chat_template;  // text
  std::optional<std::string> tool_template;  // text, for conversations with tools, if there is one of its own
};
// REQUIRES: `memory` has a chat template.  Fails with kTemplateSyntax.
[[nodiscard]] TemplateResult template_from_memory(const MemoryModel& memory);
// `cache_folder` as of Loader.  Fails with kTokenizer.
[[nodiscard]] TokenizerResult tokenizer_from_memory(const MemoryModel& memory, const std::string& cache_folder);

// Loads each once.  Thread-safe.
class Loader {
 public:
  // `cache_folder`: where large tokenizers are kept in a form that loads at once (tokenizer::LoadOptions); "": nowhere.
  explicit Loader(std::string cache_folder = "") : folder_(std::move(cache_folder)) {}

  // From the template's own text.  Fails with kTemplateSyntax.
  [[nodiscard]] TemplateResult template_from_text(const std::string& source, const jinja::CompileOptions& options);
  // From a file or model folder (docs/batch.md section 3).  Also fails with kNotFound.
  [[nodiscard]] TemplateResult template_from_file(const std::string& path, const jinja::CompileOptions& options);
  // A template of ours (core/families.h): of that name, or for `kAutomatic` the one that fits the model at `path`.  kNotFound: there
  // is no such name.
  static constexpr std::string_view kAutomatic = "auto";
  [[nodiscard]] TemplateResult family(std::string_view name, const std::string& path);
  // From a file or model folder.  Fails with kNotFound or kTokenizer.
  [[nodiscard]] TokenizerResult tokenizer(const std::string& path);

 private:
  // Large enough to hold whatever one process uses; small enough that hostile input cannot fill the memory.
  std::string folder_;
  Memo<LoadedTemplate> templates_{4096};
  Memo<LoadedTokenizer> tokenizers_{64};
};

}  // namespace rondo::core
