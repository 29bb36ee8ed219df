// Finds which tokens the post-processors of a tokenizer.json put around a text.
#include <algorithm>

#include "tokenizer/json_steps.h"
#include "tokenizer/state.h"

namespace rondo::tokenizer {
namespace {

constexpr TokenId kText = -1;  // marks the place of the text's own tokens
constexpr std::size_t kMaxTokens = 4096;

// Processors pass on a list of encodings that are joined at the end.  Like the reference, those that distinguish a
// single text from a pair treat any list of two as a pair.
using Encodings = std::vector<std::vector<TokenId>>;

Status append_special(const json::Value& special, const json::Value* tokens, Encodings& to) {
  const auto name = special.find_string("id");
  const json::Value* entry = name && tokens != nullptr ? tokens->find(*name) : nullptr;
  const json::Value* ids = entry == nullptr ? nullptr : entry->find("ids");
  if (ids == nullptr || !ids->is_array()) return damaged("`TemplateProcessing` names an unknown special token");
  to.emplace_back();
  for (const json::Value& id : ids->as_array()) {
    const auto number = to_id(&id);
    if (!number) return damaged("`TemplateProcessing` has a special token without a usable id");
    to.back().push_back(*number);
  }
  return Done{};
}

Status apply_template(const json::Value& processor, Encodings& encodings) {
  if (encodings.empty() || encodings.size() > 2) {
    return damaged("`TemplateProcessing` behind processors that make " + std::to_string(encodings.size()) + " parts");
  }
  const char* key = encodings.size() == 1 ? "single" : "pair";
  const json::Value* pieces = processor.find(key);
  if (pieces == nullptr || !pieces->is_array()) {
    return damaged("`TemplateProcessing` has no list `" + std::string(key) + "`");
  }
  Encodings made;
  std::size_t size = 0;
  for (const json::Value& piece : pieces->as_array()) {
    if (const json::Value* special = piece.find("SpecialToken")) {
      if (Status status = append_special(*special, processor.find("special_tokens"), made); !status.ok()) return status;
    } else if (const json::Value* sequence = piece.find("Sequence")) {
      const std::size_t place = sequence->find_string("id") == "B" ? 1 : 0;
      if (place >= encodings.size()) return damaged("`TemplateProcessing` names a second text in `single`");
      made.push_back(encodings[place]);
    } else {
      return damaged("`TemplateProcessing` has a part that is neither `SpecialToken` nor `Sequence`");
    }
    size += made.back().size();
    if (size > kMaxTokens) return damaged("`TemplateProcessing` makes too many tokens");
  }
  encodings = std::move(made);
  return Done{};
}

// "sep" and "cls" of Bert and Roberta processors: ["text", id].
Result<TokenId> pair_id(const json::Value& processor, std::string_view key) {
  const json::Value* pair = processor.find(key);
  const bool is_pair = pair != nullptr && pair->is_array() && pair->as_array().size() == 2;
  const auto id = is_pair ? to_id(&pair->as_array()[1]) : std::nullopt;
  if (!id) return damaged("`" + std::string(key) + "` is no pair of a text and an id");
  return *id;
}

Status apply_bert(const json::Value& processor, bool roberta, Encodings& encodings) {
  const Result<TokenId> separator = pair_id(processor, "sep");
  if (!separator.ok()) return separator.error();
  const Result<TokenId> start = pair_id(processor, "cls");
  if (!start.ok()) return start.error();
  for (std::size_t i = 0; i < encodings.size(); ++i) {
    std::vector<TokenId>& ids = encodings[i];
    if (i == 0) {
      ids.insert(ids.begin(), start.value());
    } else if (roberta) {
      ids.insert(ids.begin(), separator.value());
    }
    ids.push_back(separator.value());
  }
  return Done{};
}

Status apply_step(std::string_view type, const json::Value& processor, Encodings& encodings) {
  if (type == "TemplateProcessing") return apply_template(processor, encodings);
  if (type == "BertProcessing") return apply_bert(processor, false, encodings);
  if (type == "RobertaProcessing") return apply_bert(processor, true, encodings);
  // It trims offsets, but ours cover the text.
  if (type == "ByteLevel") return Done{};
  return damaged("the post-processor `" + std::string(type) + "` is not known");
}

}  // namespace

Status load_processor(const json::Value* processor, Tokenizer::State& state) {
  if (processor == nullptr || processor->is_null()) return Done{};
  Encodings encodings = {{kText}};
  const auto apply = [&](std::string_view type, const json::Value& step) { return apply_step(type, step, encodings); };
  if (Status status = for_each_step(*processor, "post_processor", "processors", apply); !status.ok()) return status;
  std::vector<TokenId> all;
  for (const std::vector<TokenId>& ids : encodings) all.insert(all.end(), ids.begin(), ids.end());
  const auto text = std::find(all.begin(), all.end(), kText);
  if (std::count(all.begin(), all.end(), kText) != 1) {
    return located_error(damaged("the text does not stand in the result once"), "post_processor");
  }
  state.edges.prefix.assign(all.begin(), text);
  state.edges.suffix.assign(text + 1, all.end());
  return Done{};
}

}  // namespace rondo::tokenizer
