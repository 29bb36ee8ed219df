#include "core/loader.h"

#include <algorithm>
#include <utility>

#include "base/files.h"
#include "base/utf8.h"
#include "core/encoders.h"
#include "core/families.h"
#include "edge/edge_template.h"
#include "edge/to_jinja.h"

namespace rondo::core {
namespace {

std::string options_key(const jinja::CompileOptions& options) {
  std::string key;
  key += options.trim_blocks ? 't' : '-';
  key += options.lstrip_blocks ? 'l' : '-';
  key += options.keep_trailing_newline ? 'k' : '-';
  return key;
}

std::optional<Error> invalid_utf8(std::string_view source, const std::string& name) {
  const std::size_t at = utf8::first_invalid(source);
  if (at == source.size()) return std::nullopt;
  const std::string_view before = source.substr(0, at);
  const std::size_t newline = before.rfind('\n');
  const std::size_t line_begin = newline == std::string_view::npos ? 0 : newline + 1;
  const auto line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  return Error(ErrorCode::kTemplateSyntax, "the template is not valid UTF-8", name)
      .at(line, static_cast<int>(at - line_begin) + 1,
          utf8::to_valid(source.substr(line_begin, source.find('\n', line_begin) - line_begin)));
}

Result<std::shared_ptr<const jinja::Template>> compile(const std::string& source, const std::string& name,
                                                       const jinja::CompileOptions& options) {
  if (std::optional<Error> error = invalid_utf8(source, name)) return *error;
  return jinja::Template::compile(source, options, name);
}

// The template itself, or a template that writes the same as the file.
Result<std::string> jinja_text(const model::TemplateSource& source) {
  using Kind = model::TemplateSource::Kind;
  if (source.kind == Kind::kJinja) return source.text;
  if (source.kind == Kind::kEncoder) return encoder_template(source.text, source.path);
  const auto edge_template = edge::parse(source.text, source.path);
  if (!edge_template.ok()) {
    Error error = edge_template.error();
    if (error.code != ErrorCode::kLimit) error.code = ErrorCode::kTemplateSyntax;
    return error;
  }
  return edge::to_jinja(edge_template.value());
}

Result<std::shared_ptr<const jinja::Template>> compile_source(const model::TemplateSource& source,
                                                              const jinja::CompileOptions& options) {
  auto text = jinja_text(source);
  if (!text.ok()) return text.error();
  const bool is_ours = source.kind != model::TemplateSource::Kind::kJinja;
  // A template that we generated needs the options that it was generated for.
  return compile(text.value(), source.path, is_ours ? jinja::CompileOptions() : options);
}

// The template of that name serves all conversations; without a name, the first one, and `tool_use` those with tools.
TemplateResult compile_files(const model::ModelFiles& files, const jinja::CompileOptions& options,
                             std::optional<std::string_view> name = {}) {
  auto loaded = std::make_shared<LoadedTemplate>();
  loaded->tokens = {files.bos_token, files.eos_token};
  for (const model::TemplateSource& source : files.templates) {
    const bool is_first = loaded->plain == nullptr && (!name || source.name == *name);
    if (!is_first && (name || source.name != "tool_use")) continue;
    loaded->is_encoder = source.kind == model::TemplateSource::Kind::kEncoder;
    auto compiled = compile_source(source, options);
    if (!compiled.ok()) return compiled.error();
    (is_first ? loaded->plain : loaded->tool_use) = compiled.value();
  }
  if (loaded->plain == nullptr) return Error(ErrorCode::kNotFound, "there is no chat template", files.path);
  return std::shared_ptr<const LoadedTemplate>(std::move(loaded));
}

// A damaged JSON file is the file's fault, not the request's.
Error as(ErrorCode code, Error error) {
  if (error.code == ErrorCode::kJson) error.code = code;
  return error;
}

// A folder may simply have no tokenizer.  A file that was named as a tokenizer is of a kind that nothing here reads.
Error no_tokenizer(const std::string& path) {
  if (files::is_folder(path)) return {ErrorCode::kNotFound, "the folder has no tokenizer", path};
  return {ErrorCode::kTokenizer, "not a tokenizer of a supported kind", path};
}

std::optional<std::string> token_text(const json::Value& config, std::string_view field) {
  const json::Value* found = config.find(field);
  if (found == nullptr) return std::nullopt;
  if (found->is_string()) return found->as_string();
  if (const auto content = found->find_string("content")) return std::string(*content);
  return std::nullopt;
}

}  // namespace

TemplateResult template_from_memory(const MemoryModel& memory) {
  auto loaded = std::make_shared<LoadedTemplate>();
  auto plain = jinja::Template::compile(*memory.chat_template, {}, "chat_template");
  if (!plain.ok()) return plain.error();
  loaded->plain = plain.value();
  if (memory.tool_template) {
    auto tools = jinja::Template::compile(*memory.tool_template, {}, "chat_template (tool_use)");
    if (!tools.ok()) return tools.error();
    loaded->tool_use = tools.value();
  }
  return std::shared_ptr<const LoadedTemplate>(std::move(loaded));
}

TokenizerResult tokenizer_from_memory(const MemoryModel& memory, const std::string& cache_folder) {
  model::TokenizerSource source;
  source.path = memory.name;
  source.tokenizer_json = std::make_shared<const std::string>(memory.tokenizer_json);
  auto loaded = std::make_shared<LoadedTokenizer>();
  if (memory.config) {
    source.tokenizer_config = std::make_shared<const json::Value>(*memory.config);
    loaded->tokens = {token_text(*memory.config, "bos_token"), token_text(*memory.config, "eos_token")};
  }
  if (memory.generation) source.generation_config = std::make_shared<const json::Value>(*memory.generation);
  auto made = tokenizer::Tokenizer::load(source, {.cache_folder = cache_folder});
  if (!made.ok()) {
    Error error = made.error();
    if (error.code == ErrorCode::kJson) error.code = ErrorCode::kTokenizer;
    return error;
  }
  loaded->tokenizer = made.value();
  return std::shared_ptr<const LoadedTokenizer>(std::move(loaded));
}

TemplateResult Loader::template_from_text(const std::string& source, const jinja::CompileOptions& options) {
  return templates_.get("text " + options_key(options) + source, [&]() -> TemplateResult {
    auto compiled = compile(source, "template", options);
    if (!compiled.ok()) return compiled.error();
    auto loaded = std::make_shared<LoadedTemplate>();
    loaded->plain = compiled.value();
    return std::shared_ptr<const LoadedTemplate>(std::move(loaded));
  });
}

TemplateResult Loader::template_from_file(const std::string& path, const jinja::CompileOptions& options) {
  return templates_.get("file " + options_key(options) + path, [&]() -> TemplateResult {
    auto files = model::load_template_source(path);
    if (!files.ok()) return as(ErrorCode::kNotFound, files.error());
    return compile_files(files.value(), options);
  });
}

TemplateResult Loader::template_named(const std::string& name, const std::string& path,
                                      const jinja::CompileOptions& options) {
  std::string known(kAutomatic);
  const auto note = [&](const std::string& one) { known += ", " + one; };
  std::optional<Family> found;
  if (name == kAutomatic) {
    const auto vocabulary = tokenizer(path);
    found = family_for(vocabulary.ok() ? vocabulary.value()->tokenizer.get() : nullptr, architecture_of(path));
  } else {
    if (const auto files = model::load_template_source(path); files.ok()) {
      if (std::ranges::count(files.value().templates, name, &model::TemplateSource::name) != 0) {
        return templates_.get("named " + options_key(options) + name + "\n" + path,
                              [&] { return compile_files(files.value(), options, name); });
      }
      for (const model::TemplateSource& source : files.value().templates) note(source.name);
    }
    found = family_named(name);
  }
  if (!found) {
    std::ranges::for_each(family_names(), note);
    return Error(ErrorCode::kNotFound, "no such file or folder, nor a template of that name, which are: " + known,
                 name);
  }
  auto compiled = compile(std::string(found->source), "template " + found->name, {});
  if (!compiled.ok()) return compiled.error();
  auto loaded = std::make_shared<LoadedTemplate>();
  loaded->plain = compiled.value();
  loaded->reason = "the template is rondo's own `" + found->name + "`: " + found->reason;
  return std::shared_ptr<const LoadedTemplate>(std::move(loaded));
}

TokenizerResult Loader::tokenizer(const std::string& path) {
  return tokenizers_.get(path, [&]() -> TokenizerResult {
    auto files = model::load(path);
    if (!files.ok()) return as(ErrorCode::kTokenizer, files.error());
    if (!files.value().tokenizer) return no_tokenizer(path);
    auto made = tokenizer::Tokenizer::load(*files.value().tokenizer, {.cache_folder = folder_});
    if (!made.ok()) return as(ErrorCode::kTokenizer, made.error());
    auto loaded = std::make_shared<LoadedTokenizer>();
    loaded->tokenizer = made.value();
    loaded->tokens = {files.value().bos_token, files.value().eos_token};
    return std::shared_ptr<const LoadedTokenizer>(std::move(loaded));
  });
}

}  // namespace rondo::core
