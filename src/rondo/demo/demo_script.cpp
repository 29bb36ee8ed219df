#include "demo/demo_script.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "render/encode.h"

namespace rondo::demo {
namespace {

using engine::TokenId;

// Stands in for text `index` in a render: letters and digits only, so that no serialiser or filter changes it.
std::string leaf_name(std::size_t index) { return "zqleaf" + std::to_string(index) + "zq"; }

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

// Applies `change` to every string under `value`.
template <typename Change>
void change_strings(json::Value& value, const Change& change) {
  if (value.is_string()) {
    value = change(value.as_string());
  } else if (value.is_array()) {
    for (json::Value& item : value.as_array()) change_strings(item, change);
  } else if (value.is_object()) {
    std::vector<std::string> keys;
    for (const json::Member& member : value.as_object()) keys.push_back(member.key);
    for (const std::string& key : keys) change_strings(*value.as_object().find(key), change);
  }
}

// The texts that a model makes up: content, reasoning, and the strings in arguments.
template <typename Change>
void change_texts(json::Value& message, const Change& change) {
  for (const char* field : {"content", "reasoning_content"}) {
    json::Value* text = message.as_object().find(field);
    if (text != nullptr && text->is_string() && !text->as_string().empty()) change_strings(*text, change);
  }
  if (json::Value* calls = message.as_object().find("tool_calls")) {
    for (json::Value& call : calls->as_array()) {
      change_strings(*call.as_object().find("function")->as_object().find("arguments"), change);
    }
  }
}

bool is_word(std::string_view bytes) {
  return !bytes.empty() && std::all_of(bytes.begin(), bytes.end(),
                                       [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); });
}

}  // namespace

struct Script::Builder {
  Script& script;
  const render::TurnContext& context;
  const DemoStep& step;
  std::vector<std::string> texts;  // the text for each leaf

  // The message with leaves instead of texts.
  json::Value with_leaves() {
    json::Value message = step.message;
    change_texts(message, [&](const std::string& text) {
      texts.push_back(text);
      return leaf_name(texts.size() - 1);
    });
    return message;
  }

  // Text that will be tokenized as one, as a model would most likely write it.
  std::string chunk;
  std::vector<std::pair<std::size_t, std::int32_t>> owners;  // from this byte of the chunk on: the owner of the text

  void add_text(std::string_view text, std::int32_t leaf) {
    if (text.empty()) return;
    owners.emplace_back(chunk.size(), leaf);
    chunk += text;
  }

  // The leaf that the byte at `at` of the chunk belongs to.
  std::int32_t leaf_at(std::size_t at) const {
    std::int32_t leaf = kTemplate;
    for (const auto& [from, owner] : owners) {
      if (from <= at) leaf = owner;
    }
    return leaf;
  }

  void encode(std::size_t begin, std::size_t end, bool as_template) {
    tokenizer::EncodeOptions options;
    std::vector<tokenizer::ByteRange> allowed;
    for (std::size_t i = 0; i < owners.size(); ++i) {
      const std::size_t from = std::max(begin, owners[i].first);
      const std::size_t to = std::min(end, i + 1 < owners.size() ? owners[i + 1].first : chunk.size());
      if (as_template && from < to && owners[i].second == kTemplate) allowed.push_back({from - begin, to - begin});
    }
    options.allowed = &allowed;
    for (const tokenizer::Piece& piece :
         context.tokenizer.encode(std::string_view(chunk).substr(begin, end - begin), options)) {
      script.plan_.push_back({piece.id, false, false, leaf_at(begin + piece.begin)});
    }
  }

  void flush() {
    if (step.style == "resplit") {  // texts in tokens that a tokenizer would not choose
      for (std::size_t i = 0; i < owners.size(); ++i) {
        const std::size_t end = i + 1 < owners.size() ? owners[i + 1].first : chunk.size();
        const bool own = owners[i].second == kTemplate;
        const std::size_t step_size = own ? end - owners[i].first : 2;
        for (std::size_t at = owners[i].first; at < end; at += step_size)
          encode(at, std::min(at + step_size, end), own);
      }
    } else {
      encode(0, chunk.size(), true);
    }
    chunk.clear();
    owners.clear();
  }

  void add_leaf(std::size_t index) {
    const std::string& text = texts[index];
    const auto leaf = static_cast<std::int32_t>(index);
    const bool spaced = step.style == "newlines" && is_message_text(index);
    if (spaced) add_text("\n", leaf);
    std::size_t count = 0;
    const char* end = text.data() + text.size();
    if (text.starts_with('*') && std::from_chars(text.data() + 1, end, count).ptr == end) {
      flush();
      for (std::size_t i = 0; i < count; ++i) script.plan_.push_back({0, true, i == 0, leaf});
    } else {
      add_text(text, leaf);
    }
    if (spaced) add_text("\n\n", leaf);
  }

  bool is_message_text(std::size_t index) const {
    return script.message_.find_string("content") == leaf_name(index) ||
           script.message_.find_string("reasoning_content") == leaf_name(index);
  }

  // `text` is the model's part of the turn.  It contains leaves in any order.
  void add_turn(std::string_view text) {
    while (!text.empty()) {
      std::size_t at = std::string_view::npos;
      std::size_t which = 0;
      for (std::size_t i = 0; i < texts.size(); ++i) {
        const std::size_t found = text.find(leaf_name(i));
        if (found < at) {
          at = found;
          which = i;
        }
      }
      std::string literal(text.substr(0, at));
      if (step.style == "compact") {
        replace_all(literal, "\": ", "\":");
        replace_all(literal, ", \"", ",\"");
      }
      add_text(literal, kTemplate);
      if (at == std::string_view::npos) break;
      add_leaf(which);
      text.remove_prefix(at + leaf_name(which).size());
    }
    flush();
  }
};

Result<Script> Script::make(const render::TurnContext& context, const json::Array& history, const DemoStep& step) {
  Script script;
  Builder builder{script, context, step, {}, {}, {}};
  script.message_ = builder.with_leaves();
  json::Array messages = history;
  messages.push_back(script.message_);
  Result<jinja::Rendered> rendered = render::render_messages(context, messages, false);
  if (!rendered.ok()) {  // some templates have no place for text beside a call
    script.message_.as_object().set("content", "");
    messages.back() = script.message_;
    rendered = render::render_messages(context, messages, false);
  }
  if (!rendered.ok()) return rendered.error();
  const std::vector<render::SampledExtent> extents = render::sampled_extents(context, rendered.value(), messages);
  if (extents.empty() || extents.back().end <= extents.back().begin)
    return Error(ErrorCode::kCannotBridge, "the template shows nothing of the scripted turn");
  const render::Extent& turn = extents.back();
  builder.add_turn(std::string_view(rendered.value().text.bytes()).substr(turn.begin, turn.end - turn.begin));
  script.limit_ = script.plan_.size();
  if (step.style == "truncated") {  // inside the last text
    std::size_t cut = script.plan_.size();
    while (cut > 0 && script.plan_[cut - 1].leaf == kTemplate) --cut;
    script.limit_ = cut > 4 ? cut - 3 : cut;
  }

  const auto vocabulary = static_cast<std::size_t>(context.tokenizer.vocab_size());
  script.words_.assign((vocabulary + 63) / 64, 0);
  script.first_words_ = script.words_;
  for (std::size_t id = 0; id < vocabulary; ++id) {
    const auto token = static_cast<TokenId>(id);
    if (context.tokenizer.is_added(token)) continue;
    std::string_view bytes = context.tokenizer.token_bytes(token);
    if (is_word(bytes)) script.first_words_[id / 64] |= std::uint64_t{1} << (id % 64);
    if (bytes.starts_with(' ')) bytes.remove_prefix(1);
    if (is_word(bytes)) script.words_[id / 64] |= std::uint64_t{1} << (id % 64);
  }
  return script;
}

engine::Allowed Script::next(std::span<const TokenId> sampled) {
  engine::Allowed allowed;
  if (sampled.size() >= plan_.size()) {
    allowed.kind = engine::Allowed::Kind::kDone;
  } else if (const Place& place = plan_[sampled.size()]; place.free) {
    allowed.kind = engine::Allowed::Kind::kMask;
    allowed.mask = place.first ? first_words_ : words_;
  } else {
    allowed.kind = engine::Allowed::Kind::kOnly;
    allowed.ids = {&place.id, 1};
  }
  return allowed;
}

std::vector<TokenId> Script::ids() const {
  std::vector<TokenId> out;
  for (std::size_t i = 0; i < limit_; ++i) out.push_back(plan_[i].id);
  return out;
}

}  // namespace rondo::demo
