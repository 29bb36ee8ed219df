#include "render/stop.h"

#include <algorithm>

#include "format/units.h"
#include "probe/messages.h"
#include "probe/words.h"

namespace rondo::render {
namespace {

// Templates differ in what calls they accept: arguments as an object or as JSON text, content null or "".
std::vector<json::Array> tool_turn_variants() {
  std::vector<json::Array> variants;
  const json::Value user = probe::plain_message("user", probe::kShortQuestion);
  const std::string id = probe::call_id(0);
  const json::Value result = json::Object{
      {"role", "tool"}, {"content", probe::kShortResult}, {"tool_call_id", id}, {"name", probe::kSmallTool}};
  for (const bool as_text : {false, true}) {
    const json::Value call = probe::tool_call(id, probe::kSmallTool, probe::small_arguments(as_text));
    for (const json::Value& content : {json::Value(""), json::Value()}) {
      const json::Value assistant =
          json::Object{{"role", "assistant"}, {"content", content}, {"tool_calls", json::Array{call}}};
      variants.push_back({user, assistant, result});
    }
  }
  return variants;
}

void add_close(const std::optional<TurnClose>& close, TurnProfile& profile) {
  if (!close) return;
  if (close->stop_id) {
    profile.stop_ids.push_back(*close->stop_id);
  } else if (!close->stop.empty()) {
    profile.stop_strings.push_back(close->stop);
  }
}

// The close of the plain turn between two user messages.
std::optional<TurnClose> plain_turn_close(const TurnContext& context, const PlainClose& plain) {
  const json::Array messages = {probe::plain_message("user", probe::kShortQuestion),
                                probe::plain_message("assistant", probe::kShortAnswer),
                                probe::plain_message("user", probe::kShortNextQuestion)};
  const Result<jinja::Rendered> full = render_messages(context, messages, true);
  if (!full.ok()) return std::nullopt;
  return find_turn_close(context, plain, full.value(), {1, false, tail_alone(context, messages, 1)});
}

// The close of a tool turn, if the template writes calls at all.
std::optional<TurnClose> tool_turn_close(const TurnContext& context, const PlainClose& plain) {
  chat::Conversation base = context.base;
  if (!base.tools) base.tools = json::Value(json::Array{probe::small_tool()});
  const TurnContext with_tools{context.chat_template, context.tokenizer, base, context.options};
  for (const json::Array& messages : tool_turn_variants()) {
    const Result<jinja::Rendered> full = render_messages(with_tools, messages, true);
    if (!full.ok()) continue;
    const auto close = find_turn_close(with_tools, plain, full.value(), {1, true, tail_alone(with_tools, messages, 1)});
    if (close) return close;
  }
  return std::nullopt;
}

// Returns the added token that `text` is, without the white space at its ends; nullptr if it is none.
const tokenizer::AddedToken* added_token(const tokenizer::Tokenizer& tokenizer, std::string_view text) {
  const auto& tokens = tokenizer.added_tokens();
  const auto token = std::ranges::find(tokens, format::trimmed(text), &tokenizer::AddedToken::content);
  return token != tokens.end() ? &*token : nullptr;
}

template <typename T>
void sort_unique(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

}  // namespace

bool TurnProfile::is_stop(tokenizer::TokenId id) const {
  return std::binary_search(stop_ids.begin(), stop_ids.end(), id);
}

TurnProfile probe_turns(const TurnContext& context) {
  TurnProfile profile;
  profile.plain = probe_plain_close(context);
  const auto ends = context.tokenizer.end_ids();
  profile.stop_ids.assign(ends.begin(), ends.end());
  if (profile.plain.marker) profile.stop_ids.push_back(profile.plain.marker->id);
  add_close(plain_turn_close(context, profile.plain), profile);
  add_close(tool_turn_close(context, profile.plain), profile);
  sort_unique(profile.stop_ids);
  sort_unique(profile.stop_strings);
  return profile;
}

TurnProfile probe_turns(const TurnContext& context, const format::Format& format) {
  TurnProfile profile = probe_turns(context);
  for (const std::string& stop : format.stops.tool) {
    if (const auto* token = added_token(context.tokenizer, stop)) profile.stop_ids.push_back(token->id);
  }
  sort_unique(profile.stop_ids);
  for (const std::string& stop : format.stops.content) {
    const bool is_text = format::is_plain(stop) && !format::is_blank(stop);
    if (is_text && added_token(context.tokenizer, stop) == nullptr) profile.stop_strings.push_back(stop);
  }
  // White space ends a turn only in front of the next one.  An engine that stops at it would end at the first line.
  const auto is_blank = [](const std::string& stop) { return format::is_blank(stop); };
  if (!std::ranges::all_of(profile.stop_strings, is_blank)) std::erase_if(profile.stop_strings, is_blank);
  sort_unique(profile.stop_strings);
  return profile;
}

}  // namespace rondo::render
