// Builds a tokenizer from a tokenizer.json.
#include <algorithm>

#include "json/reader.h"
#include "tokenizer/state.h"

namespace rondo::tokenizer {
namespace {

Error damaged(std::string message) {
  Error error;
  error.code = ErrorCode::kTokenizer;
  error.message = std::move(message);
  return error;
}

std::optional<TokenId> config_token(const json::Value* config, std::string_view key, const Tokenizer::State& state) {
  const json::Value* value = config == nullptr ? nullptr : config->find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return state.find(value->as_string());
  const auto content = value->find_string("content");
  return content ? state.find(*content) : std::nullopt;
}

// Parts that the ids do not depend on here.
void note_ignored(const json::Object& root, Tokenizer::State& state) {
  for (const char* part : {"truncation", "padding"}) {
    const json::Value* value = root.find(part);
    if (value != nullptr && !value->is_null()) state.ignored.emplace_back(part);
  }
}

// Passes over one value.
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

// A tokenizer.json: `root` without the member "model", which stands for itself.
struct Document {
  json::Object root;
  std::optional<ModelText> model;
};

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

Result<std::unique_ptr<Tokenizer::State>> load_json(const model::TokenizerSource& source) {
  Result<Document> document = read_document(*source.tokenizer_json);
  if (!document.ok()) return document.error();
  const json::Object& root = document.value().root;
  const std::optional<ModelText>& model = document.value().model;
  if (!model) return damaged("it has no object `model`");
  Result<PreTokenizer> pre_tokenizer = PreTokenizer::from_json(root.find("pre_tokenizer"));
  if (!pre_tokenizer.ok()) return pre_tokenizer.error();
  Result<Normalizer> normalizer = Normalizer::from_json(root.find("normalizer"));
  if (!normalizer.ok()) return normalizer.error();
  // The bytes themselves take the place of their spelling where nothing but the vocabulary sees it.
  const bool on_bytes = pre_tokenizer.value().can_leave_bytes() && can_work_on_bytes(*model);
  auto state = std::make_unique<Tokenizer::State>(on_bytes);
  if (on_bytes) pre_tokenizer.value().leave_bytes();
  state->pre_tokenizer = std::move(pre_tokenizer).value();
  state->normalizer = std::move(normalizer).value();
  Result<Decoder> decoder = Decoder::from_json(root.find("decoder"));
  if (!decoder.ok()) return decoder.error();
  state->decoder = std::move(decoder).value();
  if (Status status = load_model(*model, *state); !status.ok()) return status.error();
  note_ignored(root, *state);
  if (Status status = load_added(root.find("added_tokens"), source.tokenizer_config.get(), *state); !status.ok())
    return status.error();
  if (Status status = load_processor(root.find("post_processor"), *state); !status.ok()) return status.error();
  state->finish();
  for (const std::vector<TokenId>* ids : {&state->prefix, &state->suffix}) {
    for (const TokenId id : *ids) {
      if (id >= state->vocab_size)
        return damaged("the post-processor adds the id " + std::to_string(id) + ", which is no token");
    }
  }
  const json::Value* config = source.tokenizer_config.get();
  state->bos = config_token(config, "bos_token", *state);
  state->eos = config_token(config, "eos_token", *state);
  state->end_ids = generation_ends(source.generation_config.get());
  if (state->eos) state->end_ids.push_back(*state->eos);
  return state;
}

}  // namespace rondo::tokenizer
