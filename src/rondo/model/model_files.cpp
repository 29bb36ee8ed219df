#include "model/model_files.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/files.h"
#include "json/parse.h"
#include "json/reader.h"

namespace rondo::model {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDefaultName = "default";
constexpr std::size_t kCodeBytes = std::size_t{1} << 20U;  // of a Python file; real ones have some 20 KB

constexpr const char* kTokens = "vocab.json";
constexpr const char* kMerges = "merges.txt";
constexpr const char* kWords = "vocab.txt";

struct Wanted {
  bool tokenizer = true;
  bool templates = true;
};

using SharedJson = std::shared_ptr<const json::Value>;

Result<SharedJson> parse_json(const std::string& path, std::string_view text) {
  Result<json::Value> value = json::parse(text);
  if (!value.ok()) {
    Error error = value.error();
    error.source = path;
    return error;
  }
  return SharedJson(std::make_shared<const json::Value>(std::move(value).value()));
}

// What a clone without Git LFS has in place of a large file.
bool is_pointer(std::string_view text) {
  return text.starts_with("version ") && text.substr(0, text.find('\n')).find("git-lfs") != std::string_view::npos;
}

Error pointer_error(const std::string& path) {
  return {ErrorCode::kNotFound, "is a Git LFS pointer in place of the file: fetch it with `git lfs pull`", path};
}

Result<std::string> read_text(const std::string& path, std::size_t max_bytes = limits::kTextFileBytes) {
  Result<std::string> text = files::read(path, max_bytes);
  if (text.ok() && is_pointer(text.value())) return pointer_error(path);
  return text;
}

Result<SharedJson> read_json(const std::string& path) {
  Result<std::string> text = read_text(path);
  return text.ok() ? parse_json(path, text.value()) : text.error();
}

// A null pointer if there is no such file.
Result<SharedJson> read_optional_json(const std::string& path) {
  if (!files::exists(path)) return SharedJson();
  return read_json(path);
}

// A token is given as a string or as {"content": ...}.
std::optional<std::string> token_text(const json::Value* value) {
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return value->as_string();
  if (const auto content = value->find_string("content")) return std::string(*content);
  return std::nullopt;
}

void take_special_tokens(const json::Value& config, ModelFiles& found) {
  if (!found.bos_token) found.bos_token = token_text(config.find("bos_token"));
  if (!found.eos_token) found.eos_token = token_text(config.find("eos_token"));
}

void put_default_first(std::vector<TemplateSource>& templates) {
  std::stable_partition(templates.begin(), templates.end(),
                        [](const TemplateSource& source) { return source.name == kDefaultName; });
}

// The member "chat_template": one text, or a list of {"name", "template"}.
Status take_config_templates(const json::Value& config, const std::string& path, ModelFiles& found) {
  const json::Value* member = config.find("chat_template");
  if (member == nullptr || member->is_null()) return Done{};
  if (member->is_string()) {
    found.templates.push_back({path, std::string(kDefaultName), member->as_string()});
    return Done{};
  }
  if (!member->is_array()) {
    return Error(
        ErrorCode::kJson,
        "`chat_template` is " + std::string(json::describe(member->kind())) + ", expected a string or an array", path);
  }
  for (const json::Value& entry : member->as_array()) {
    const auto name = entry.find_string("name");
    const auto text = entry.find_string("template");
    if (!name || !text) {
      return Error(ErrorCode::kJson, "an entry of `chat_template` lacks the string `name` or `template`", path);
    }
    found.templates.push_back({path, std::string(*name), std::string(*text)});
  }
  put_default_first(found.templates);
  return Done{};
}

Status take_template_file(const std::string& path, std::string name, ModelFiles& found) {
  Result<std::string> text = read_text(path);
  if (!text.ok()) return text.error();
  found.templates.push_back({path, std::move(name), std::move(text).value()});
  return Done{};
}

// Reads a model's only template, which is in another language than Jinja.
Status take_other_template(const std::string& path, TemplateSource::Kind kind, ModelFiles& found) {
  Result<std::string> text = kind == TemplateSource::Kind::kEncoder ? read_text(path, kCodeBytes) : read_text(path);
  if (!text.ok()) return text.error();
  found.templates.push_back({path, std::string(kDefaultName), std::move(text).value(), kind});
  return Done{};
}

// Reads chat_template.jinja and additional_chat_templates/NAME.jinja, which together replace the templates in JSON
// files.
Status take_template_files(const std::string& folder, ModelFiles& found) {
  const std::string main = files::join(folder, "chat_template.jinja");
  if (files::exists(main)) {
    if (Status status = take_template_file(main, std::string(kDefaultName), found); !status.ok()) return status;
  }
  const std::string more = files::join(folder, "additional_chat_templates");
  if (!files::is_folder(more)) return Done{};
  std::vector<fs::path> paths;
  std::error_code ec;
  for (fs::directory_iterator it(more, ec), end; !ec && it != end; it.increment(ec)) {
    if (it->path().extension() == ".jinja") paths.push_back(it->path());
  }
  if (ec) return Error(ErrorCode::kIo, "cannot be listed", more);
  std::sort(paths.begin(), paths.end());
  for (const fs::path& path : paths) {
    if (Status status = take_template_file(path.string(), path.stem().string(), found); !status.ok()) return status;
  }
  return Done{};
}

std::string file_name(const std::string& path) { return fs::path(path).filename().string(); }

// The paths of the files of `folder` whose names `wanted` accepts, sorted.
template <typename Wanted>
std::vector<std::string> list(const std::string& folder, Wanted wanted) {
  std::vector<std::string> found;
  std::error_code ec;
  for (fs::directory_iterator it(folder.empty() ? "." : folder, ec), end; !ec && it != end; it.increment(ec)) {
    if (wanted(it->path().filename().string())) found.push_back(it->path().string());
  }
  std::sort(found.begin(), found.end());
  return found;
}

// The encoder of a model without templates, or "": encoding/encoding*.py, or a file with such a name in the folder
// itself.
std::string find_encoder(const std::string& folder) {
  const auto is_encoder = [](std::string_view name) { return name.starts_with("encoding") && name.ends_with(".py"); };
  std::vector<std::string> paths = list(files::join(folder, "encoding"), is_encoder);
  if (paths.empty()) paths = list(folder, is_encoder);
  return paths.empty() ? "" : paths.front();
}

Status take_templates(const std::string& folder, const SharedJson& config, ModelFiles& found) {
  if (Status status = take_template_files(folder, found); !status.ok()) return status;
  if (found.templates.empty() && config != nullptr) {
    const std::string path = files::join(folder, "tokenizer_config.json");
    if (Status status = take_config_templates(*config, path, found); !status.ok()) return status;
  }
  if (!found.templates.empty()) return Done{};
  const std::string path = files::join(folder, "chat_template.json");
  Result<SharedJson> legacy = read_optional_json(path);
  if (!legacy.ok()) return legacy.error();
  if (legacy.value() != nullptr) {
    if (Status status = take_config_templates(*legacy.value(), path, found); !status.ok()) return status;
  }
  const std::string edge = files::join(folder, kEdgeTemplateFile);
  if (!found.templates.empty()) return Done{};
  if (files::exists(edge)) return take_other_template(edge, TemplateSource::Kind::kEdgeJson, found);
  const std::string encoder = find_encoder(folder);
  return encoder.empty() ? Done{} : take_other_template(encoder, TemplateSource::Kind::kEncoder, found);
}

// Reads the files of a folder that accompany any tokenizer.
Status take_companions(const std::string& folder, const SharedJson& config, TokenizerSource& source) {
  source.tokenizer_config = config;
  const std::pair<const char*, SharedJson*> files[] = {{"generation_config.json", &source.generation_config},
                                                       {"special_tokens_map.json", &source.special_tokens},
                                                       {"added_tokens.json", &source.added_tokens}};
  for (const auto& [name, to] : files) {
    Result<SharedJson> value = read_optional_json(files::join(folder, name));
    if (!value.ok()) return value.error();
    *to = value.value();
  }
  return Done{};
}

// The first tokenization_*.py with a pattern.
TokenizerCode find_code(const std::string& folder) {
  const auto is_code = [](std::string_view name) { return name.starts_with("token") && name.ends_with(".py"); };
  for (const std::string& path : list(folder, is_code)) {
    const Result<std::string> python = read_text(path, kCodeBytes);
    if (!python.ok()) continue;
    if (TokenizerCode code = read_tokenizer_code(python.value()); code.pattern) return code;
  }
  return {};
}

// A tokenizer.json has an object `model`.  It is usually the last member, so that nothing large is read.
bool has_model(std::string_view text) {
  json::Reader in(text);
  std::string_view key;
  for (in.enter_object(); in.member(key);) {
    if (key == "model" && in.peek() == '{') return true;
    in.skip();
  }
  return false;
}

// A tekken.json has a pattern and a list of tokens.
bool is_tekken(const json::Value& value) {
  const json::Value* config = value.find("config");
  const json::Value* vocab = value.find("vocab");
  return config != nullptr && config->find("pattern") != nullptr && vocab != nullptr && vocab->is_array();
}

// Reads a SentencePiece model or a rank file; nothing if `bytes` is neither.
Result<std::optional<TokenizerSource>> parse_vocabulary(const std::string& path, std::string_view bytes) {
  const auto with_path = [&path](Error error) {
    error.source = path;
    return error;
  };
  TokenizerSource source;
  if (is_rank_file(bytes)) {
    Result<RankFile> ranks = parse_rank_file(bytes);
    if (!ranks.ok()) return with_path(ranks.error());
    source.ranks = std::make_shared<const RankFile>(std::move(ranks).value());
  } else if (is_sentence_piece(bytes)) {
    Result<SentencePieceFile> pieces = parse_sentence_piece(bytes);
    if (!pieces.ok()) return with_path(pieces.error());
    source.sentence_piece = std::make_shared<const SentencePieceFile>(std::move(pieces).value());
  } else {
    return std::optional<TokenizerSource>();
  }
  return std::optional<TokenizerSource>(std::move(source));
}

Status take_tokenizer(const std::string& path, const SharedJson& config, ModelFiles& found) {
  TokenizerSource source;
  const std::string folder = fs::path(path).parent_path().string();
  if (path.ends_with(".json")) {
    Result<std::string> text = read_text(path);
    if (!text.ok()) return text.error();
    if (!has_model(text.value())) {
      Result<SharedJson> tekken = parse_json(path, text.value());
      if (!tekken.ok()) return tekken.error();
      if (is_tekken(*tekken.value())) source.tekken_json = tekken.value();
    }
    if (source.tekken_json == nullptr) {
      source.tokenizer_json = std::make_shared<const std::string>(std::move(text).value());
    }
  } else {
    Result<std::string> bytes = read_text(path);
    if (!bytes.ok()) return bytes.error();
    Result<std::optional<TokenizerSource>> parsed = parse_vocabulary(path, bytes.value());
    if (!parsed.ok()) return parsed.error();
    if (!parsed.value()) {
      return Error(ErrorCode::kTokenizer, "is neither a SentencePiece model nor a rank file", path);
    }
    source = *std::move(parsed).value();
    if (source.ranks != nullptr) source.code = find_code(folder);
  }
  source.path = path;
  if (Status status = take_companions(folder, config, source); !status.ok()) return status;
  found.tokenizer = std::move(source);
  return Done{};
}

// Reads vocab.json with merges.txt, vocab.txt, or all three.  The class decides which of them count.
Status take_vocabulary_files(const std::string& path, const SharedJson& config, ModelFiles& found) {
  const std::string folder = fs::path(path).parent_path().string();
  VocabularyFiles vocabulary;
  const auto take = [&folder](const char* name, auto& to) -> Status {
    Result<std::string> text = read_text(files::join(folder, name));
    if (!text.ok()) return text.error();
    to = std::move(text).value();
    return Done{};
  };
  if (files::exists(files::join(folder, kMerges))) {
    if (Status status = take(kTokens, vocabulary.tokens); !status.ok()) return status;
    if (Status status = take(kMerges, vocabulary.merges); !status.ok()) return status;
  }
  if (files::exists(files::join(folder, kWords))) {
    if (Status status = take(kWords, vocabulary.words); !status.ok()) return status;
  }
  TokenizerSource source;
  source.path = path;
  source.vocabulary = std::make_shared<const VocabularyFiles>(std::move(vocabulary));
  if (Status status = take_companions(folder, config, source); !status.ok()) return status;
  found.tokenizer = std::move(source);
  return Done{};
}

// The first of the vocabulary files of a folder, or "".
std::string find_vocabulary(const std::string& folder) {
  std::string tokens = files::join(folder, kTokens);
  if (files::exists(tokens) && files::exists(files::join(folder, kMerges))) return tokens;
  const std::string words = files::join(folder, kWords);
  return files::exists(words) ? words : "";
}

// The tokenizer file of a folder, or "".  If there are several, it is the one that transformers chooses.
std::string find_tokenizer(const std::string& folder) {
  for (const char* name : {"tokenizer.json", "tekken.json", "tokenizer.model", "tiktoken.model"}) {
    if (std::string path = files::join(folder, name); files::exists(path)) return path;
  }
  const auto is_model = [](std::string_view name) {
    return name.ends_with(".model") || name.find(".model.v") != std::string_view::npos;
  };
  const auto is_ranks = [](std::string_view name) { return name.ends_with(".tiktoken"); };
  std::vector<std::string> paths = list(folder, is_model);
  if (paths.empty()) paths = list(folder, is_ranks);
  return paths.empty() ? "" : paths.front();
}

Result<ModelFiles> load_gguf(const std::string& path) {
  Result<Gguf> read = read_gguf(path);
  if (!read.ok()) {
    constexpr std::size_t kPointerBytes = 1024;
    const Result<std::string> text = read_text(path, kPointerBytes);
    return !text.ok() && text.error().code == ErrorCode::kNotFound ? text.error() : read.error();
  }
  const auto gguf = std::make_shared<const Gguf>(std::move(read).value());
  ModelFiles found;
  found.path = path;
  if (gguf->metadata.contains("tokenizer.ggml.model")) {
    TokenizerSource source;
    source.path = path;
    source.gguf = gguf;
    found.tokenizer = std::move(source);
  }
  constexpr std::string_view kKey = "tokenizer.chat_template";
  for (const auto& [key, value] : gguf->metadata) {
    const auto* text = std::get_if<std::string>(&value);
    if (text == nullptr || !std::string_view(key).starts_with(kKey)) continue;
    if (key.size() == kKey.size()) found.templates.push_back({path, std::string(kDefaultName), *text});
    if (key.size() > kKey.size() + 1 && key[kKey.size()] == '.') {
      found.templates.push_back({path, key.substr(kKey.size() + 1), *text});
    }
  }
  put_default_first(found.templates);
  const auto token = [&gguf](std::string_view key) -> std::optional<std::string> {
    const auto id = gguf->find_int(key);
    const auto* tokens = gguf->find_strings("tokenizer.ggml.tokens");
    if (!id || tokens == nullptr || *id < 0 || static_cast<std::uint64_t>(*id) >= tokens->size()) return std::nullopt;
    return (*tokens)[static_cast<std::size_t>(*id)];
  };
  found.bos_token = token("tokenizer.ggml.bos_token_id");
  found.eos_token = token("tokenizer.ggml.eos_token_id");
  return found;
}

// The one .gguf file of a folder, or "" if there is none or more than one.
std::string only_gguf(const std::string& folder) {
  std::string found;
  std::error_code ec;
  for (fs::directory_iterator it(folder, ec), end; !ec && it != end; it.increment(ec)) {
    if (it->path().extension() != ".gguf") continue;
    if (!found.empty()) return "";
    found = it->path().string();
  }
  return found;
}

Result<ModelFiles> load_folder(const std::string& folder, Wanted wanted) {
  ModelFiles found;
  found.path = folder;
  const std::string config_path = files::join(folder, "tokenizer_config.json");
  Result<SharedJson> config = read_optional_json(config_path);
  if (!config.ok()) return config.error();
  if (config.value() != nullptr) take_special_tokens(*config.value(), found);
  Result<SharedJson> special = read_optional_json(files::join(folder, "special_tokens_map.json"));
  if (!special.ok()) return special.error();
  if (special.value() != nullptr) take_special_tokens(*special.value(), found);
  const std::string tokenizer_path = find_tokenizer(folder);
  const std::string vocabulary_path = tokenizer_path.empty() ? find_vocabulary(folder) : "";
  const bool has_tokenizer = !tokenizer_path.empty() || !vocabulary_path.empty();
  if (has_tokenizer && wanted.tokenizer) {
    const Status status = vocabulary_path.empty() ? take_tokenizer(tokenizer_path, config.value(), found)
                                                  : take_vocabulary_files(vocabulary_path, config.value(), found);
    if (!status.ok()) return status.error();
  }
  if (wanted.templates) {
    if (Status status = take_templates(folder, config.value(), found); !status.ok()) return status.error();
  }
  if (!has_tokenizer && found.templates.empty()) {
    if (const std::string gguf = only_gguf(folder); !gguf.empty()) return load_gguf(gguf);
    if (wanted.templates) {
      return Error(ErrorCode::kNotFound, "the folder has neither a tokenizer nor a chat template", folder);
    }
  }
  return found;
}

Result<ModelFiles> load_other_template(const std::string& path, TemplateSource::Kind kind) {
  ModelFiles found;
  found.path = path;
  if (Status status = take_other_template(path, kind, found); !status.ok()) return status.error();
  return found;
}

// A JSON file may be a tokenizer.json, a configuration with a chat template, or a template itself.
Result<ModelFiles> load_json_file(const std::string& path, Wanted wanted) {
  if (file_name(path) == kEdgeTemplateFile) return load_other_template(path, TemplateSource::Kind::kEdgeJson);
  Result<std::string> text = read_text(path);
  if (!text.ok()) return text.error();
  const bool is_tokenizer = has_model(text.value());
  // A tokenizer.json is too large to become a value.  Damage shows when it is loaded.
  Result<SharedJson> value = is_tokenizer ? SharedJson() : parse_json(path, text.value());
  if (!value.ok()) return value.error();
  ModelFiles found;
  found.path = path;
  if (is_tokenizer || is_tekken(*value.value())) {
    const std::string folder = fs::path(path).parent_path().string();
    Result<SharedJson> config = read_optional_json(files::join(folder, "tokenizer_config.json"));
    if (!config.ok()) return config.error();
    if (config.value() != nullptr) take_special_tokens(*config.value(), found);
    if (!wanted.tokenizer) return found;
    if (Status status = take_tokenizer(path, config.value(), found); !status.ok()) return status.error();
    return found;
  }
  if (value.value()->find("roles") != nullptr && value.value()->find("chat_template") == nullptr)
    return load_other_template(path, TemplateSource::Kind::kEdgeJson);
  take_special_tokens(*value.value(), found);
  if (Status status = take_config_templates(*value.value(), path, found); !status.ok()) return status.error();
  if (found.templates.empty()) {
    return Error(ErrorCode::kNotFound, "is neither a tokenizer nor a file with a `chat_template`", path);
  }
  return found;
}

Result<ModelFiles> load_wanted(const std::string& path, Wanted wanted) {
  if (path.empty() || !files::exists(path)) return Error(ErrorCode::kNotFound, "no such file or folder", path);
  if (files::is_folder(path)) return load_folder(path, wanted);
  const std::string extension = fs::path(path).extension().string();
  if (extension == ".gguf") return load_gguf(path);
  if (extension == ".json") return load_json_file(path, wanted);
  if (extension == ".py") return load_other_template(path, TemplateSource::Kind::kEncoder);
  ModelFiles found;
  found.path = path;
  // Their names differ (tokenizer.model.v3, o200k_base.tiktoken), but never look like those of templates.
  const bool is_model = extension == ".tiktoken" || file_name(path).find(".model") != std::string::npos;
  if (is_model) {
    Result<SharedJson> config =
        read_optional_json(files::join(fs::path(path).parent_path().string(), "tokenizer_config.json"));
    if (!config.ok()) return config.error();
    if (config.value() != nullptr) take_special_tokens(*config.value(), found);
    if (Status status = take_tokenizer(path, config.value(), found); !status.ok()) return status.error();
    return found;
  }
  if (Status status = take_template_file(path, std::string(kDefaultName), found); !status.ok()) return status.error();
  // A GGUF file with another name would be nonsense as a template.
  if (std::string_view(found.templates[0].text).starts_with("GGUF")) return load_gguf(path);
  return found;
}

}  // namespace

Result<ModelFiles> load(const std::string& path) { return load_wanted(path, {}); }

Result<TokenizerSource> load_tokenizer_source(const std::string& path) {
  Result<ModelFiles> found = load_wanted(path, {.tokenizer = true, .templates = false});
  if (!found.ok()) return found.error();
  if (!found.value().tokenizer) {
    const bool folder = files::is_folder(path);
    return Error(ErrorCode::kNotFound, folder ? "the folder has no tokenizer" : "holds no tokenizer", path);
  }
  return std::move(*std::move(found).value().tokenizer);
}

Result<ModelFiles> load_template_source(const std::string& path) {
  Result<ModelFiles> found = load_wanted(path, {.tokenizer = false, .templates = true});
  if (!found.ok()) return found.error();
  if (found.value().templates.empty()) {
    const bool folder = files::is_folder(path);
    return Error(ErrorCode::kNotFound,
                 folder ? "the folder has no chat template (chat_template.jinja, `chat_template` in "
                          "tokenizer_config.json or chat_template.json, processed_chat_template.json, "
                          "encoding/encoding*.py)"
                        : "holds no chat template",
                 path);
  }
  return found;
}

}  // namespace rondo::model
