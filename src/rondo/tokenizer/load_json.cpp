// Builds a tokenizer from a tokenizer.json.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <unordered_set>

#include "tokenizer/bpe.h"
#include "tokenizer/state.h"

namespace rondo::tokenizer {
namespace {

constexpr TokenId kMaxId = 1 << 22;           // far above every vocabulary; keeps tables small
constexpr std::size_t kMaxAddedBytes = 4096;  // see the cost of AddedMatcher
constexpr std::size_t kMaxPoolBytes = std::size_t{1} << 30U;

Error damaged(std::string message) {
  Error error;
  error.code = ErrorCode::kTokenizer;
  error.message = std::move(message);
  return error;
}

bool flag(const json::Value& description, std::string_view key) {
  const json::Value* value = description.find(key);
  return value != nullptr && value->is_bool() && value->as_bool();
}

std::optional<TokenId> to_id(const json::Value* value) {
  const auto number = value == nullptr ? std::nullopt : value->to_int64();
  if (!number || *number < 0 || *number > kMaxId) return std::nullopt;
  return static_cast<TokenId>(*number);
}

// "a b" or ["a", "b"].
std::optional<std::pair<std::string_view, std::string_view>> merge_parts(const json::Value& merge) {
  if (merge.is_string()) {
    const std::string_view text = merge.as_string();
    const std::size_t space = text.find(' ');
    if (space == std::string_view::npos || text.find(' ', space + 1) != std::string_view::npos) return std::nullopt;
    return std::pair(text.substr(0, space), text.substr(space + 1));
  }
  if (!merge.is_array() || merge.as_array().size() != 2) return std::nullopt;
  const json::Array& parts = merge.as_array();
  if (!parts[0].is_string() || !parts[1].is_string()) return std::nullopt;
  return std::pair<std::string_view, std::string_view>(parts[0].as_string(), parts[1].as_string());
}

Status load_vocabulary(const json::Value& model, Vocabulary& vocabulary) {
  const json::Value* vocab = model.find("vocab");
  if (vocab == nullptr || !vocab->is_object()) return damaged("`model.vocab` is missing or no object");
  vocabulary.reserve(vocab->as_object().size(), vocab->as_object().size() * 8);
  std::size_t bytes = 0;
  for (const json::Member& member : vocab->as_object()) {
    const auto id = to_id(&member.value);
    if (!id) return damaged("`model.vocab` gives the token `" + member.key + "` no usable id");
    if (vocabulary.contains(*id)) return damaged("`model.vocab` gives the id " + std::to_string(*id) + " twice");
    bytes += member.key.size();
    if (bytes > kMaxPoolBytes) return damaged("`model.vocab` is too large");
    vocabulary.add(member.key, *id);
  }
  return Done{};
}

Status load_merges(const json::Value& model, const Vocabulary& vocabulary, Bpe& bpe) {
  const json::Value* merges = model.find("merges");
  if (merges == nullptr || !merges->is_array()) return damaged("`model.merges` is missing or no array");
  bpe.reserve(merges->as_array().size());
  std::uint32_t rank = 0;
  for (const json::Value& merge : merges->as_array()) {
    const auto parts = merge_parts(merge);
    if (!parts) return damaged("merge " + std::to_string(rank) + " is no pair of tokens");
    const auto left = vocabulary.find_text(parts->first);
    const auto right = vocabulary.find_text(parts->second);
    const auto whole = vocabulary.find_text(std::string(parts->first) + std::string(parts->second));
    if (!left || !right || !whole) {
      return damaged("merge " + std::to_string(rank) + " (`" + std::string(parts->first) + "`, `" +
                     std::string(parts->second) + "`) names a token that is not in the vocabulary");
    }
    bpe.add_merge(*left, *right, rank++, *whole, true);
  }
  return Done{};
}

Status load_model(const json::Value& model, Tokenizer::State& state) {
  for (const char* key : {"continuing_subword_prefix", "end_of_word_suffix"}) {
    if (const auto text = model.find_string(key); text && !text->empty()) {
      return damaged("BPE with `" + std::string(key) + "` is not supported");
    }
  }
  if (Status status = load_vocabulary(model, state.vocabulary); !status.ok()) return status;
  BpeOptions options;
  options.ignore_merges = flag(model, "ignore_merges");
  options.byte_fallback = flag(model, "byte_fallback");
  options.fuse_unknown = flag(model, "fuse_unk");
  if (const auto unknown = model.find_string("unk_token")) { options.unknown = state.vocabulary.find_text(*unknown); }
  auto bpe = std::make_unique<Bpe>(state.vocabulary, options);
  Status status = load_merges(model, state.vocabulary, *bpe);
  state.model = std::move(bpe);
  return status;
}

// Added tokens of tokenizer.json, then what tokenizer_config.json adds to them.
//
// The reference numbers them itself: by the vocabulary if they are in it, else upward from its size.
class AddedList {
 public:
  explicit AddedList(Tokenizer::State& state)
      : state_(state), vocabulary_size_(static_cast<TokenId>(state.vocabulary.count())) {}

  [[nodiscard]] Status add(const json::Value& entry) {
    const auto content = entry.find_string("content");
    if (!content) return damaged("an added token has no content");
    if (content->size() > kMaxAddedBytes) {
      return damaged("an added token is longer than " + std::to_string(kMaxAddedBytes) + " bytes");
    }
    if (content->empty() || !seen_.insert(std::string(*content)).second) return Done{};
    AddedToken token;
    token.content = std::string(*content);
    token.special = flag(entry, "special");
    token.lstrip = flag(entry, "lstrip");
    token.rstrip = flag(entry, "rstrip");
    token.single_word = flag(entry, "single_word");
    token.normalized = entry.find("normalized") == nullptr ? !token.special : flag(entry, "normalized");
    const TokenId next = highest_ >= vocabulary_size_ ? highest_ + 1 : vocabulary_size_;
    token.id = state_.vocabulary.find_text(*content).value_or(next);
    highest_ = std::max(highest_, token.id);
    state_.added.push_back(std::move(token));
    return Done{};
  }

 private:
  Tokenizer::State& state_;
  TokenId vocabulary_size_;
  TokenId highest_ = -1;
  std::unordered_set<std::string> seen_;
};

Status load_added(const json::Value* list, const json::Value* config, Tokenizer::State& state) {
  AddedList added(state);
  if (list != nullptr && !list->is_null()) {
    if (!list->is_array()) return damaged("`added_tokens` is no array");
    for (const json::Value& entry : list->as_array()) {
      if (Status status = added.add(entry); !status.ok()) return status;
    }
  }
  const json::Value* more = config == nullptr ? nullptr : config->find("added_tokens_decoder");
  if (more == nullptr || !more->is_object()) return Done{};
  std::map<long, const json::Value*> by_id;
  for (const json::Member& member : more->as_object()) {
    by_id.emplace(std::strtol(member.key.c_str(), nullptr, 10), &member.value);
  }
  for (const auto& [id, entry] : by_id) {
    if (Status status = added.add(*entry); !status.ok()) return status;
  }
  return Done{};
}

// Special tokens around a text: the ids of "SpecialToken" entries before and behind the sequence.
Status load_template(const json::Value& processor, Tokenizer::State& state) {
  const json::Value* single = processor.find("single");
  const json::Value* tokens = processor.find("special_tokens");
  if (single == nullptr || !single->is_array()) return damaged("`TemplateProcessing` has no list `single`");
  bool before = true;
  for (const json::Value& item : single->as_array()) {
    if (item.find("Sequence") != nullptr) before = false;
    const json::Value* special = item.find("SpecialToken");
    if (special == nullptr) continue;
    const auto name = special->find_string("id");
    const json::Value* entry = name && tokens != nullptr ? tokens->find(*name) : nullptr;
    const json::Value* ids = entry == nullptr ? nullptr : entry->find("ids");
    if (ids == nullptr || !ids->is_array()) return damaged("`TemplateProcessing` names an unknown special token");
    for (const json::Value& id : ids->as_array()) {
      const auto number = to_id(&id);
      if (!number) return damaged("`TemplateProcessing` has a special token without a usable id");
      (before ? state.prefix : state.suffix).push_back(*number);
    }
  }
  return Done{};
}

// "sep" and "cls" of Bert and Roberta processors: ["text", id].
void load_pair(const json::Value& processor, std::string_view key, std::vector<TokenId>& to) {
  const json::Value* pair = processor.find(key);
  if (pair == nullptr || !pair->is_array() || pair->as_array().size() != 2) return;
  if (const auto id = to_id(&pair->as_array()[1])) to.push_back(*id);
}

Status load_processor(const json::Value* processor, int depth, Tokenizer::State& state) {
  if (processor == nullptr || processor->is_null()) return Done{};
  const auto type = processor->find_string("type");
  if (!type || depth > 32) return damaged("a post-processor has no type");
  if (*type == "TemplateProcessing") return load_template(*processor, state);
  if (*type == "ByteLevel") return Done{};
  if (*type == "Sequence") {
    const json::Value* members = processor->find("processors");
    if (members == nullptr || !members->is_array()) return damaged("the post-processor `Sequence` has no list");
    for (const json::Value& member : members->as_array()) {
      if (Status status = load_processor(&member, depth + 1, state); !status.ok()) return status;
    }
    return Done{};
  }
  if (*type == "BertProcessing" || *type == "RobertaProcessing") {
    load_pair(*processor, "cls", state.prefix);
    load_pair(*processor, "sep", state.suffix);
    return Done{};
  }
  return damaged("the post-processor `" + std::string(*type) + "` is not supported");
}

std::optional<TokenId> config_token(const json::Value* config, std::string_view key, const Tokenizer::State& state) {
  const json::Value* value = config == nullptr ? nullptr : config->find(key);
  if (value == nullptr) return std::nullopt;
  if (value->is_string()) return state.find(value->as_string());
  const auto content = value->find_string("content");
  return content ? state.find(*content) : std::nullopt;
}

Result<bool> is_byte_level(const json::Value& root, const PreTokenizer& pre_tokenizer) {
  // A normaliser may spell the bytes as well; the reference then splits the spelled text, which is not done here.
  const json::Value* normalizer = root.find("normalizer");
  if (normalizer != nullptr && normalizer->find_string("type") == "ByteLevel") {
    return damaged("the normalizer `ByteLevel` is not supported");
  }
  return pre_tokenizer.is_byte_level();
}

}  // namespace

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
  const json::Value& root = *source.tokenizer_json;
  const json::Value* model = root.find("model");
  if (model == nullptr || !model->is_object()) return damaged("it has no object `model`");
  // Old files do not name the kind; merges are what makes byte-pair encoding.
  const std::string kind(model->find_string("type").value_or(model->find("merges") != nullptr ? "BPE" : "of no kind"));
  if (kind != "BPE") return damaged("the tokenizer model `" + kind + "` is not supported yet, only BPE is");
  Result<PreTokenizer> pre_tokenizer = PreTokenizer::from_json(root.find("pre_tokenizer"));
  if (!pre_tokenizer.ok()) return pre_tokenizer.error();
  Result<bool> byte_level = is_byte_level(root, pre_tokenizer.value());
  if (!byte_level.ok()) return byte_level.error();
  auto state = std::make_unique<Tokenizer::State>(byte_level.value());
  state->pre_tokenizer = std::move(pre_tokenizer).value();
  Result<Normalizer> normalizer = Normalizer::from_json(root.find("normalizer"));
  if (!normalizer.ok()) return normalizer.error();
  state->normalizer = std::move(normalizer).value();
  Result<Decoder> decoder = Decoder::from_json(root.find("decoder"));
  if (!decoder.ok()) return decoder.error();
  state->decoder = std::move(decoder).value();
  if (Status status = load_model(*model, *state); !status.ok()) return status.error();
  if (Status status = load_added(root.find("added_tokens"), source.tokenizer_config.get(), *state); !status.ok())
    return status.error();
  if (Status status = load_processor(root.find("post_processor"), 0, *state); !status.ok()) return status.error();
  state->finish();
  for (const TokenId id : state->prefix) {
    if (id >= state->vocab_size)
      return damaged("the post-processor adds the id " + std::to_string(id) + ", which is no token");
  }
  for (const TokenId id : state->suffix) {
    if (id >= state->vocab_size)
      return damaged("the post-processor adds the id " + std::to_string(id) + ", which is no token");
  }
  const json::Value* config = source.tokenizer_config.get();
  state->bos = config_token(config, "bos_token", *state);
  state->eos = config_token(config, "eos_token", *state);
  state->end_ids = generation_ends(source.generation_config.get());
  if (state->eos) state->end_ids.push_back(*state->eos);
  return state;
}

}  // namespace rondo::tokenizer
