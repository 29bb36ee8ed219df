// A model ready to run in this process: its template, its tokenizer, the embedded engine.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demo/demo_data.h"
#include "engine/llama_cpp.h"
#include "jinja/template.h"
#include "model/model_files.h"
#include "rondo/result.h"
#include "tokenizer/tokenizer.h"

namespace rondo::demo {

struct EmbeddedOptions {
  std::string model;  // a .gguf file, or a folder with one .gguf and perhaps a tokenizer and template; "": the tiny one
  std::string chat_template;  // a template file that replaces the model's own; "" for none
  std::string cache_folder;   // where the tiny model is kept
  std::string fixtures;       // templates/, vocab/, ...; "": the newest fixtures-* in the cache folder
  std::uint32_t layers = 24;  // of the tiny model: so many that decoding a prompt takes time that one can see
  bool needs_template = true;
};

struct EmbeddedModel {
  std::string path;  // of the .gguf file
  std::string template_name;
  std::shared_ptr<const jinja::Template> chat_template;  // null only without needs_template
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  std::optional<std::string> bos_token;
  std::optional<std::string> eos_token;
  std::unique_ptr<engine::LlamaCpp> engine;
};

// Loads the model, or makes the tiny random one first (seconds, once).  `progress` takes notes for people.  Fails with
// kNotFound (no such model, no fixtures to make one from), or as its parts do.
[[nodiscard]] Result<EmbeddedModel> load_embedded(const EmbeddedOptions& options,
                                                  const std::function<void(std::string_view)>& progress);

// How many threads an engine gets that nobody chose them for: all cores but one, since threads that wait for a core spin.
[[nodiscard]] int worker_threads();

// The .gguf file that `model` means: itself, or the only one in a folder.
[[nodiscard]] Result<std::string> weights_path(const std::string& model);

// The file of the tiny random model, made if it is not in the cache yet.
[[nodiscard]] Result<std::string> tiny_model(const EmbeddedOptions& options,
                                             const std::function<void(std::string_view)>& progress);

// The folder of unpacked fixtures: `given`, else the newest fixtures-* in `cache_folder`; "" if there is none.
[[nodiscard]] std::string fixtures_folder(const std::string& given, const std::string& cache_folder);

// `source` with further control tokens behind its vocabulary; those it has already stay.
[[nodiscard]] model::TokenizerSource with_special_tokens(model::TokenizerSource source,
                                                         const std::vector<std::string>& tokens);

}  // namespace rondo::demo
