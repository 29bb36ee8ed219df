#include "demo/embedded.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <thread>

#include "base/digest.h"
#include "base/files.h"
#include "core/loader.h"
#include "engine/tiny_model.h"
#include "json/parse.h"
#include "json/print.h"
#include "model/gguf.h"

namespace rondo::demo {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kTinyVersion = "2";  // raise it if the same options make a different file
constexpr std::uint32_t kTinyWidth = 128;
constexpr std::int64_t kControlToken = 3;  // GGUF token types
constexpr std::int64_t kNormalToken = 1;

Result<std::shared_ptr<const jinja::Template>> compiled(const model::TemplateSource& source, const std::string& name) {
  if (source.kind == model::TemplateSource::Kind::kJinja) return jinja::Template::compile(source.text, {}, name);
  const auto loaded = core::Loader().template_from_file(source.path, {});
  if (!loaded.ok()) return loaded.error();
  return loaded.value()->plain;
}

Status load_template(const EmbeddedOptions& options, const model::ModelFiles& files, EmbeddedModel& out) {
  model::TemplateSource source;
  if (!options.chat_template.empty()) {
    Result<model::ModelFiles> given = model::load_template_source(options.chat_template);
    if (!given.ok()) return given.error();
    source = given.value().templates.front();
    out.template_name = options.chat_template;
  } else if (!files.templates.empty()) {
    source = files.templates.front();
    out.template_name = files.templates.front().path;
  } else if (options.needs_template) {
    return Error(ErrorCode::kNotFound, "the model has no chat template: name one with --template", out.path);
  } else {
    return Done{};
  }
  Result<std::shared_ptr<const jinja::Template>> made = compiled(source, out.template_name);
  if (!made.ok()) return made.error();
  out.chat_template = std::move(made).value();
  return Done{};
}

}  // namespace

int worker_threads() { return std::max(1, static_cast<int>(std::thread::hardware_concurrency()) - 1); }

Result<std::string> weights_path(const std::string& model) {
  if (!files::is_folder(model)) return model;
  std::vector<std::string> found;
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(model, failed)) {
    if (entry.path().extension() == ".gguf") found.push_back(entry.path().string());
  }
  if (found.size() == 1) return found.front();
  return Error(
      ErrorCode::kNotFound,
      found.empty() ? "the folder has no .gguf file to run" : "the folder has several .gguf files: name one of them",
      model);
}

Result<std::string> tiny_model(const EmbeddedOptions& options, const std::function<void(std::string_view)>& progress) {
  const Result<DemoData> data = demo_data();
  if (!data.ok()) return data.error();
  const std::string fixtures = fixtures_folder(options.fixtures, options.cache_folder);
  if (fixtures.empty()) {
    return Error(ErrorCode::kNotFound,
                 "the small random model needs the test data of a checkout: run ./dev setup there, or name a model "
                 "with --model");
  }
  const DemoModel& plan = data.value().model;
  engine::TinyModel model;
  model.width = kTinyWidth;
  model.layers = options.layers;
  model.vocabulary = files::join(fixtures, plan.vocabulary);
  const Result<std::string> chat_template = files::read(files::join(fixtures, plan.chat_template));
  if (!chat_template.ok()) return chat_template.error();
  const Result<std::string> vocabulary = files::read(model.vocabulary);
  if (!vocabulary.ok()) return vocabulary.error();
  model.chat_template = chat_template.value();
  std::string tokens;
  for (const std::string& token : plan.special_tokens) model.extra_tokens.push_back({token, true});
  for (const std::string& token : plan.added_tokens) model.extra_tokens.push_back({token, false});
  for (const engine::ExtraToken& token : model.extra_tokens) tokens += token.content + (token.special ? "!" : "?");

  const std::string path =
      files::join(options.cache_folder, "tiny-" +
                                            hex_digest({kTinyVersion, chat_template.value(), vocabulary.value(), tokens,
                                                        std::to_string(kTinyWidth), std::to_string(options.layers)}) +
                                            ".gguf");
  if (files::exists(path)) return path;
  progress("making a small model with random weights: " + path + "\n");
  if (const Result<model::Gguf> checked = model::read_gguf(model.vocabulary); !checked.ok()) return checked.error();
  std::error_code ignored;
  fs::create_directories(options.cache_folder, ignored);
  if (const Status written = engine::write_tiny_model(model, path); !written.ok()) return written.error();
  return path;
}

std::string fixtures_folder(const std::string& given, const std::string& cache_folder) {
  if (!given.empty()) return given;
  std::string best;
  fs::file_time_type newest{};
  std::error_code failed;
  for (const fs::directory_entry& entry : fs::directory_iterator(cache_folder, failed)) {
    if (!entry.path().filename().string().starts_with("fixtures-")) continue;
    const fs::file_time_type time = entry.last_write_time(failed);
    if (best.empty() || time > newest) {
      best = entry.path().string();
      newest = time;
    }
  }
  return best;
}

model::TokenizerSource with_special_tokens(model::TokenizerSource source, const std::vector<std::string>& tokens) {
  if (source.gguf != nullptr) {
    auto gguf = std::make_shared<model::Gguf>(*source.gguf);
    const std::vector<std::string>* known = gguf->find_strings("tokenizer.ggml.tokens");
    std::vector<std::string> list = known != nullptr ? *known : std::vector<std::string>{};
    const std::vector<std::int64_t>* kinds = gguf->find_ints("tokenizer.ggml.token_type");
    std::vector<std::int64_t> types = kinds != nullptr ? *kinds : std::vector<std::int64_t>(list.size(), kNormalToken);
    types.resize(list.size(), kNormalToken);
    for (const std::string& token : tokens) {
      const auto found = std::find(list.begin(), list.end(), token);
      if (found != list.end()) {
        types[static_cast<std::size_t>(found - list.begin())] = kControlToken;
      } else {
        list.push_back(token);
        types.push_back(kControlToken);
      }
    }
    gguf->metadata.insert_or_assign("tokenizer.ggml.tokens", model::GgufArray(std::move(list)));
    gguf->metadata.insert_or_assign("tokenizer.ggml.token_type", model::GgufArray(std::move(types)));
    source.gguf = std::move(gguf);
    return source;
  }
  Result<json::Value> parsed = json::parse(*source.tokenizer_json);
  if (!parsed.ok() || !parsed.value().is_object()) return source;  // loading it reports the error
  json::Value document = std::move(parsed).value();
  json::Value* added = document.as_object().find("added_tokens");
  if (added == nullptr || !added->is_array()) added = &document.as_object().set("added_tokens", json::Array{});
  std::int64_t next = 0;
  if (const json::Value* model = document.find("model");
      model != nullptr && model->find("vocab") != nullptr && model->find("vocab")->is_object()) {
    for (const json::Member& entry : model->find("vocab")->as_object())
      next = std::max(next, entry.value.to_int64().value_or(0) + 1);
  }
  for (const json::Value& token : added->as_array()) {
    if (const json::Value* id = token.find("id")) next = std::max(next, id->to_int64().value_or(0) + 1);
  }
  for (const std::string& content : tokens) {
    const auto same = [&](const json::Value& token) { return token.find_string("content") == content; };
    if (std::any_of(added->as_array().begin(), added->as_array().end(), same)) continue;
    added->as_array().emplace_back(json::Object{{"id", next++},
                                                {"content", content},
                                                {"special", true},
                                                {"lstrip", false},
                                                {"rstrip", false},
                                                {"single_word", false},
                                                {"normalized", false}});
  }
  source.tokenizer_json = std::make_shared<const std::string>(json::to_compact(document));
  return source;
}

Result<EmbeddedModel> load_embedded(const EmbeddedOptions& options,
                                    const std::function<void(std::string_view)>& progress) {
  EmbeddedModel out;
  Result<std::string> path = options.model.empty() ? tiny_model(options, progress) : weights_path(options.model);
  if (!path.ok()) return path.error();
  out.path = std::move(path).value();

  // The engine asserts on some damaged files, so every file is checked before it gets there.
  const Result<model::Gguf> checked = model::read_gguf(out.path);
  if (!checked.ok()) return checked.error();
  Result<model::ModelFiles> files = model::load(options.model.empty() ? out.path : options.model);
  if (!files.ok()) return files.error();
  if (!files.value().tokenizer) {
    Result<model::ModelFiles> own =
        model::load(out.path);  // for a folder without tokenizer files, the tokenizer in the weights
    if (!own.ok()) return own.error();
    files.value().tokenizer = std::move(own.value().tokenizer);
    if (!files.value().tokenizer) return Error(ErrorCode::kNotFound, "the model has no tokenizer", out.path);
  }
  if (const Status loaded = load_template(options, files.value(), out); !loaded.ok()) return loaded.error();
  out.bos_token = files.value().bos_token;
  out.eos_token = files.value().eos_token;
  Result<std::shared_ptr<const tokenizer::Tokenizer>> tokenizer = tokenizer::Tokenizer::load(*files.value().tokenizer);
  if (!tokenizer.ok()) return tokenizer.error();
  out.tokenizer = std::move(tokenizer).value();

  engine::LlamaCppOptions engine_options;
  engine_options.threads = worker_threads();
  Result<std::unique_ptr<engine::LlamaCpp>> engine = engine::LlamaCpp::load(out.path, engine_options);
  if (!engine.ok()) return engine.error();
  out.engine = std::move(engine).value();
  if (out.engine->describe().vocab_size < out.tokenizer->vocab_size()) {
    return Error(ErrorCode::kInvalidArgument, "the tokenizer has more ids than the model: they do not belong together",
                 out.path);
  }
  return out;
}

}  // namespace rondo::demo
