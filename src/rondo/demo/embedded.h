// A model that is ready to run in this process: its template, its tokenizer, and the embedded engine.
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
  // A .gguf file, or a folder with one .gguf and perhaps a tokenizer and template; "": the tiny model.
  std::string model;
  std::string chat_template;  // a template file that replaces the model's own; "" for none
  std::string cache_folder;   // where the tiny model is kept
  std::string fixtures;       // templates/, vocab/, ...; "": the newest fixtures-* in the cache folder
  std::uint32_t layers = 24;  // of the tiny model: enough that decoding a prompt takes a visible time
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

// Loads the model, or first makes the tiny random one (takes seconds, once).  `progress` takes notes for people.  Fails
// with kNotFound (no such model, or no fixtures to make one), or as its parts do.
[[nodiscard]] Result<EmbeddedModel> load_embedded(const EmbeddedOptions& options,
                                                  const std::function<void(std::string_view)>& progress);

// Returns the default number of threads for an engine: all cores but one, because threads that wait for a core keep it
// busy.
[[nodiscard]] int worker_threads();

// Returns the .gguf file of `model`: the file itself, or the only one in a folder.
[[nodiscard]] Result<std::string> weights_path(const std::string& model);

// Returns the file of the tiny random model.  Makes it if it is not in the cache.
[[nodiscard]] Result<std::string> tiny_model(const EmbeddedOptions& options,
                                             const std::function<void(std::string_view)>& progress);

// Returns the folder of unpacked fixtures: `given`, or the newest fixtures-* in `cache_folder`; "" if there is none.
[[nodiscard]] std::string fixtures_folder(const std::string& given, const std::string& cache_folder);

// Returns `source` with further control tokens after its vocabulary.  Those that it already has stay.
[[nodiscard]] model::TokenizerSource with_special_tokens(model::TokenizerSource source,
                                                         const std::vector<std::string>& tokens);

}  // namespace rondo::demo
