// Loads templates and tokenizers from files and from memory.
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

// The special tokens that a model's files name.
struct SpecialTokens {
  std::optional<std::string> bos;
  std::optional<std::string> eos;
};

// A chat template as the model provides it.
struct LoadedTemplate {
  std::shared_ptr<const jinja::Template> plain;
  // For conversations with tools; null if the model has no separate template for them.
  std::shared_ptr<const jinja::Template> tool_use;
  SpecialTokens tokens;
  // The template was made from an encoder's Python file.  It always runs in lenient mode, because no reference runs it.
  bool is_encoder = false;
  std::string reason = {};  // a sentence: why one of rondo's own templates is used; "" if the model's own is

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

// A tokenizer, and perhaps a template, given in memory.
struct MemoryModel {
  std::string name;                          // for error messages
  std::string tokenizer_json;                // the text of a tokenizer.json
  std::optional<json::Value> config;         // as tokenizer_config.json; gives bos_token and eos_token
  std::optional<json::Value> generation;     // as generation_config.json
  std::optional<std::string> chat_template;  // text
  std::optional<std::string> tool_template;  // text; only if there is a separate one for conversations with tools
};
// Compiles the templates of `memory`.  Fails with kTemplateSyntax.
//
// REQUIRES: `memory` has a chat template.
[[nodiscard]] TemplateResult template_from_memory(const MemoryModel& memory);
// Makes the tokenizer of `memory`.  `cache_folder` is as in Loader.  Fails with kTokenizer.
[[nodiscard]] TokenizerResult tokenizer_from_memory(const MemoryModel& memory, const std::string& cache_folder);

// Loads each template and tokenizer once.  Thread-safe.
class Loader {
 public:
  // `cache_folder` is where large tokenizers are cached in a form that loads fast (tokenizer::LoadOptions); "" means no
  // cache.
  explicit Loader(std::string cache_folder = "") : folder_(std::move(cache_folder)) {}

  // Compiles the text of a template.  Fails with kTemplateSyntax.
  [[nodiscard]] TemplateResult template_from_text(const std::string& source, const jinja::CompileOptions& options);
  // Loads a template from a file or model folder (docs/batch.md section 3).  Also fails with kNotFound.
  [[nodiscard]] TemplateResult template_from_file(const std::string& path, const jinja::CompileOptions& options);
  // Returns the template named `name`, for conversations with and without tools.  It is one of several that the model
  // at `path` brings; otherwise one of rondo's own (core/families.h).  For `kAutomatic` it is the one of rondo's own
  // that fits the model.  Fails with kNotFound if there is no such name.
  static constexpr std::string_view kAutomatic = "auto";
  [[nodiscard]] TemplateResult template_named(const std::string& name, const std::string& path,
                                              const jinja::CompileOptions& options);
  // Loads a tokenizer from a file or model folder.  Fails with kNotFound or kTokenizer.
  [[nodiscard]] TokenizerResult tokenizer(const std::string& path);

 private:
  // Large enough for everything that one process uses; small enough that hostile input cannot fill the memory.
  std::string folder_;
  Memo<LoadedTemplate> templates_{4096};
  Memo<LoadedTokenizer> tokenizers_{64};
};

}  // namespace rondo::core
