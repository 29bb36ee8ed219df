// Builds a tokenizer from a tokenizer.json.
#include <algorithm>

#include "base/files.h"
#include "json/print.h"
#include "json/reader.h"
#include "tokenizer/damaged.h"
#include "tokenizer/state.h"

namespace rondo::tokenizer {
namespace {

using StateResult = Result<std::unique_ptr<Tokenizer::State>>;

constexpr std::size_t kWorthCaching = std::size_t{1} << 18U;  // smaller files load within a millisecond or two

std::optional<TokenId> config_token(const json::Value* config, std::string_view key, const Tokenizer::State& state) {
  const json::Value* value = config == nullptr ? nullptr : config->find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return state.find(value->as_string());
  const auto content = value->find_string("content");
  return content ? state.find(*content) : std::nullopt;
}

// Notes parts that do not affect the ids here.
void note_ignored(const json::Object& root, Tokenizer::State& state) {
  for (const char* part : {"truncation", "padding"}) {
    const json::Value* value = root.find(part);
    if (value != nullptr && !value->is_null()) state.ignored.emplace_back(part);
  }
}

// Skips one value.
Bulk pass_over(json::Reader& in) {
  Bulk bulk;
  bulk.bracket = in.peek();
  bulk.at = in.at();
  std::string_view key;
  if (bulk.bracket == '{') {
    for (in.enter_object(); in.member(key); ++bulk.count) in.skip();
  } else if (bulk.bracket == '[') {
    for (in.enter_array(); in.element(); ++bulk.count) in.skip();
  } else {
    in.skip();
  }
  bulk.bytes = in.at() - bulk.at;
  return bulk;
}

void read_model(json::Reader& in, ModelText& model) {
  json::Object rest;
  std::string_view key;
  for (in.enter_object(); in.member(key);) {
    if (key == "vocab" || key == "merges") {
      (key == "vocab" ? model.vocab : model.merges) = pass_over(in);
      continue;
    }
    const std::string name(key);
    json::Value value;
    if (in.value(value)) rest.set(name, std::move(value));
  }
  model.rest = std::move(rest);
}

// A tokenizer.json: `root` without the member "model", which is kept apart.
struct Document {
  json::Object root;
  std::optional<ModelText> model;
};

// The document without the parts that a cached model has as tables.
std::string small_document(const Document& document) {
  json::Object root = document.root;
  json::Object model = document.model->rest.as_object();
  model.set("type", std::string(model_kind(*document.model)));
  root.set("model", std::move(model));
  return json::to_compact(root);
}

Result<Document> read_document(std::string_view text) {
  Document out;
  json::Reader in(text);
  std::string_view key;
  for (in.enter_object(); in.member(key);) {
    if (key == "model") {
      out.model.reset();
      if (in.peek() != '{') {
        in.skip();
        continue;
      }
      out.model.emplace();
      out.model->file = text;
      read_model(in, *out.model);
      continue;
    }
    const std::string name(key);
    json::Value value;
    if (in.value(value)) out.root.set(name, std::move(value));
  }
  if (!in.finish()) return in.error();
  return out;
}

}  // namespace

std::optional<TokenId> to_id(const json::Value* value) {
  const auto number = value == nullptr ? std::nullopt : value->to_int64();
  if (!number || *number < 0 || *number > kMaxId) return std::nullopt;
  return static_cast<TokenId>(*number);
}

std::vector<TokenId> generation_ends(const json::Value* generation_config) {
  std::vector<TokenId> ids;
  const json::Value* value = generation_config == nullptr ? nullptr : generation_config->find("eos_token_id");
  if (value == nullptr) return ids;
  if (const auto id = to_id(value)) ids.push_back(*id);
  if (!value->is_array()) return ids;
  for (const json::Value& entry : value->as_array()) {
    if (const auto id = to_id(&entry)) ids.push_back(*id);
  }
  return ids;
}

namespace {

// At most one of `cached` and `record` is set; see ModelText.
StateResult build(const model::TokenizerSource& source, std::string_view text, CachedModel* cached,
                  CachedModel* record) {
  Result<Document> document = read_document(text);
  if (!document.ok()) return document.error();
  const json::Object& root = document.value().root;
  std::optional<ModelText>& model = document.value().model;
  if (!model) return damaged("it has no object `model`");
  model->cached = cached;
  model->record = record;
  Result<PreTokenizer> pre_tokenizer = PreTokenizer::from_json(root.find("pre_tokenizer"));
  if (!pre_tokenizer.ok()) return pre_tokenizer.error();
  Result<Normalizer> normalizer = Normalizer::from_json(root.find("normalizer"));
  if (!normalizer.ok()) return normalizer.error();
  // If only the vocabulary sees the spelling, the bytes themselves replace it.
  const bool on_bytes = pre_tokenizer.value().can_leave_bytes() && can_work_on_bytes(*model);
  auto state = std::make_unique<Tokenizer::State>(on_bytes);
  if (on_bytes) pre_tokenizer.value().leave_bytes();
  state->pre_tokenizer = std::move(pre_tokenizer).value();
  state->normalizer = std::move(normalizer).value();
  Result<Decoder> decoder = Decoder::from_json(root.find("decoder"));
  if (!decoder.ok()) return decoder.error();
  state->decoder = std::move(decoder).value();
  if (cached != nullptr && cached->is_byte_level != on_bytes) return damaged("the cached model is of another kind");
  if (Status status = load_model(*model, *state); !status.ok()) return status.error();
  if (record != nullptr) {
    record->is_byte_level = on_bytes;
    record->document = small_document(document.value());
  }
  note_ignored(root, *state);
  if (Status status = load_added(root.find("added_tokens"), source.tokenizer_config.get(), *state); !status.ok())
    return status.error();
  if (Status status = load_processor(root.find("post_processor"), *state); !status.ok()) return status.error();
  state->finish();
  for (const std::vector<TokenId>* ids : {&state->edges.prefix, &state->edges.suffix}) {
    for (const TokenId id : *ids) {
      if (id >= state->vocab_size)
        return damaged("the post-processor adds the id " + std::to_string(id) + ", which is no token");
    }
  }
  const json::Value* config = source.tokenizer_config.get();
  state->edges.bos = config_token(config, "bos_token", *state);
  state->edges.eos = config_token(config, "eos_token", *state);
  state->edges.ends = generation_ends(source.generation_config.get());
  if (state->edges.eos) state->edges.ends.push_back(*state->edges.eos);
  return state;
}

// Loads from the cache, or from the text, and then writes to the cache.
StateResult load_cached(const model::TokenizerSource& source, const std::string& folder) {
  const std::string_view text = *source.tokenizer_json;
  const ContentKey key = content_key(text);
  const std::string path = files::join(folder, cache_name(key));
  if (Result<std::string> file = files::read(path); file.ok()) {
    std::optional<CachedModel> cached = from_file(file.value(), key);
    if (cached) {
      file = std::string();
      const std::string document = std::move(cached->document);
      StateResult state = build(source, document, &*cached, nullptr);
      if (state.ok()) return state;
    }
  }
  CachedModel record;
  StateResult state = build(source, text, nullptr, &record);
  if (!state.ok() || !state.value()->vocabulary.can_be_restored()) return state;
  record.pool = state.value()->vocabulary.pool();
  record.entries = state.value()->vocabulary.entries();
  // Without a cache it only takes longer.
  if (files::make_folder(folder).ok()) (void)files::write(path, to_file(record, key)).ok();
  return state;
}

}  // namespace

StateResult load_json(const model::TokenizerSource& source, const LoadOptions& options) {
  const bool is_worth_it = source.tokenizer_json->size() >= kWorthCaching;
  if (!options.cache_folder.empty() && is_worth_it) return load_cached(source, options.cache_folder);
  return build(source, *source.tokenizer_json, nullptr, nullptr);
}

}  // namespace rondo::tokenizer
