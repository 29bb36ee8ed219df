// The bridge against the re-render, on real templates with real tokenizers: wherever a template keeps the earlier text
// as it was, old ids + appended ids are exactly the ids of the whole re-render; elsewhere the difference is reported.
#include <doctest/doctest.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "render/bridge.h"
#include "tests/support/corpus_models.h"

namespace rondo {
namespace {

using tokenizer::TokenId;

// What a parser would have read out of `sampled`: what the template did not write was never there.
chat::AssistantMessage assistant_message(const json::Value& message, const std::string& sampled) {
  chat::AssistantMessage out;
  out.content = std::string(message.find_string("content").value_or(""));
  for (const char* field : {"reasoning_content", "thinking", "reasoning"}) {
    const auto text = message.find_string(field);
    if (!text || out.reasoning) continue;
    const std::size_t first = text->find_first_not_of(" \n");
    const std::size_t last = text->find_last_not_of(" \n");
    if (first == std::string_view::npos || sampled.find(text->substr(first, last + 1 - first)) != std::string::npos)
      out.reasoning = std::string(*text);
  }
  const json::Value* calls = message.find("tool_calls");
  if (calls == nullptr || !calls->is_array()) return out;
  for (const json::Value& call : calls->as_array()) {
    const json::Value* function = call.find("function");
    chat::ToolCall made;
    if (const auto id = call.find_string("id")) made.id = std::string(*id);
    made.name = std::string((function != nullptr ? *function : call).find_string("name").value_or(""));
    made.arguments = "{}";
    if (sampled.find(made.name) != std::string::npos) out.tool_calls.push_back(made);
  }
  return out;
}

struct Tally {
  int stable = 0;    // the re-render starts with the old ids
  int equal = 0;     // ... and the bridge gave the same ids
  int split = 0;     // the same text, but a whole re-render cuts it into other tokens
  int unstable = 0;  // the template rewrites earlier text
  int reported = 0;  // ... and the bridge said so
  int refused = 0;   // no bridge
};

// One assistant turn with messages behind it.
struct Turn {
  json::Array history;
  json::Value assistant;
  json::Array following;
};

std::vector<Turn> turns_of(const json::Array& messages) {
  std::vector<Turn> turns;
  for (std::size_t i = 1; i + 1 < messages.size(); ++i) {
    if (messages[i].find_string("role") != "assistant" || messages[i + 1].find_string("role") == "assistant") continue;
    Turn turn;
    turn.history.assign(messages.begin(), messages.begin() + static_cast<std::ptrdiff_t>(i));
    turn.assistant = messages[i];
    for (std::size_t j = i + 1; j < messages.size() && messages[j].find_string("role") != "assistant"; ++j)
      turn.following.push_back(messages[j]);
    turns.push_back(std::move(turn));
  }
  return turns;
}

// True if there is a letter or digit outside markers.
bool has_text(const std::string& text) {
  bool in_marker = false;
  for (const char c : text) {
    if (c == '<') in_marker = true;
    if (c == '>') in_marker = false;
    if (!in_marker && std::isalnum(static_cast<unsigned char>(c)) != 0) return true;
  }
  return false;
}

// What the model sampled: the history form behind the prompt, up to its last stop token; nullopt if the history form
// does not continue the prompt.
std::optional<std::string> sampled_text(const std::string& prompt, const std::string& history_form,
                                        const std::vector<std::string>& stops) {
  if (!history_form.starts_with(prompt)) return std::nullopt;
  std::string sampled = history_form.substr(prompt.size());
  std::size_t end = 0;
  for (const std::string& stop : stops) {
    const std::size_t at = sampled.rfind(stop);
    if (at != std::string::npos) end = std::max(end, at + stop.size());
  }
  if (end > 0) sampled.resize(end);
  return sampled;
}

std::vector<TokenId> ids_of(const render::TurnContext& context, const jinja::Rendered& rendered, std::size_t end) {
  std::vector<TokenId> ids;
  for (const auto& piece : render::encode_range(context, rendered, 0, end, render::ContentSpecials::kText))
    ids.push_back(piece.id);
  return ids;
}

// The ids of `sampled` as they follow the prompt: some tokenizers write the beginning of a text differently.
std::vector<TokenId> completion_of(const render::TurnContext& context, const jinja::Rendered& form, std::size_t end,
                                   const std::vector<TokenId>& prompt_ids, const std::string& sampled) {
  std::vector<TokenId> ids = ids_of(context, form, end);
  if (ids.size() < prompt_ids.size() || !std::equal(prompt_ids.begin(), prompt_ids.end(), ids.begin()))
    return context.tokenizer.encode_ids(sampled, {});
  ids.erase(ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(prompt_ids.size()));
  return ids;
}

void check_turn(const render::TurnContext& context, const render::TurnProfile& profile, const Turn& turn,
                const std::vector<std::string>& stops, const std::string& name, Tally& tally) {
  json::Array until = turn.history;
  const auto prompt = render::render_messages(context, until, true);
  until.push_back(turn.assistant);
  const auto form = render::render_messages(context, until, false);
  until.insert(until.end(), turn.following.begin(), turn.following.end());
  const auto full = render::render_messages(context, until, true);
  if (!prompt.ok() || !form.ok() || !full.ok()) return;
  const auto sampled = sampled_text(prompt.value().text.bytes(), form.value().text.bytes(), stops);
  if (!sampled || sampled->empty()) return;

  // A template may join two assistant messages into one; what follows the prompt is then not this message.
  const std::string content(turn.assistant.find_string("content").value_or(""));
  if (!has_text(*sampled) && has_text(content)) return;

  const std::vector<TokenId> prompt_ids = ids_of(context, prompt.value(), prompt.value().text.size());
  const std::vector<TokenId> completion_ids =
      completion_of(context, form.value(), prompt.value().text.size() + sampled->size(), prompt_ids, *sampled);
  const std::vector<TokenId> full_ids = ids_of(context, full.value(), full.value().text.size());
  std::vector<TokenId> old_ids = prompt_ids;
  old_ids.insert(old_ids.end(), completion_ids.begin(), completion_ids.end());
  const bool stable = full_ids.size() >= old_ids.size() && std::equal(old_ids.begin(), old_ids.end(), full_ids.begin());

  render::ParsedCompletion parsed;
  parsed.message = assistant_message(turn.assistant, *sampled);
  render::BridgeRequest request;
  request.prompt_ids = prompt_ids;
  request.completion_ids = completion_ids;
  request.completion = &parsed;
  request.messages = turn.history;
  request.new_messages = turn.following;
  const auto bridged = render::bridge(context, profile, request);
  const bool rewritten = !full.value().text.bytes().starts_with(prompt.value().text.bytes() + *sampled);
  (stable ? tally.stable : rewritten ? tally.unstable : tally.split)++;
  if (!bridged.ok()) {
    ++tally.refused;
    MESSAGE(name << ": no bridge: " << bridged.error().to_string());
    return;
  }
  CHECK(std::equal(old_ids.begin(), old_ids.end(), bridged.value().ids.begin()));
  if (!stable && rewritten) {
    tally.reported += bridged.value().lossy.empty() ? 0 : 1;
    const std::string old_text = prompt.value().text.bytes() + *sampled;
    const std::size_t same =
        static_cast<std::size_t>(std::mismatch(old_text.begin(), old_text.end(), full.value().text.bytes().begin(),
                                               full.value().text.bytes().end())
                                     .first -
                                 old_text.begin());
    const std::size_t from = same < 30 ? 0 : same - 30;
    if (bridged.value().lossy.empty()) {
      MESSAGE(name << ": rewritten, not reported: " << text::quoted(old_text.substr(from, 80)) << " becomes "
                   << text::quoted(full.value().text.bytes().substr(from, 80)));
    }
  } else if (!stable) {
    CHECK_MESSAGE(bridged.value().lossy.empty(), name << ": reported, but only the split differs");
  } else if (bridged.value().ids == full_ids) {
    ++tally.equal;
  } else {
    MESSAGE(name << ": bridge differs: behind " << text::quoted(*sampled) << " appended "
                 << text::quoted(bridged.value().appended_text) << ", re-render ends with "
                 << text::quoted(full.value().text.bytes().substr(
                        full.value().text.size() -
                        std::min<std::size_t>(full.value().text.size(), bridged.value().appended_text.size() + 20))));
  }
}

TEST_CASE("corpus: bridge = re-render wherever the template allows it") {
  const auto corpus = test::Corpus::open_with_models();
  if (!corpus) return;
  Tally total;
  for (const test::CorpusRow& row : corpus->rows_with_tokenizer()) {
    const auto model = test::load_model(row);
    if (!model) continue;
    Tally tally;
    for (const test::CorpusConversation& item : corpus->conversations()) {
      if (item.has_tag("injection")) continue;
      chat::Conversation base = corpus->conversation(row, item);
      tmpl::ApplyOptions options;
      options.now = test::kClock;
      const render::TurnContext context{*model->chat_template, *model->tokenizer, base, options};
      const std::vector<Turn> turns = turns_of(item.messages);
      if (turns.empty()) continue;
      const render::TurnProfile profile = render::probe_turns(context);
      for (const Turn& turn : turns) check_turn(context, profile, turn, row.stop_tokens, row.id + "/" + item.id, tally);
    }
    CHECK_MESSAGE(tally.equal == tally.stable,
                  row.id << ": " << tally.equal << " of " << tally.stable << " stable turns equal");
    MESSAGE(row.id << ": stable " << tally.stable << ", equal " << tally.equal << ", other split " << tally.split
                   << ", unstable " << tally.unstable << ", reported " << tally.reported << ", refused "
                   << tally.refused);
    total.stable += tally.stable;
    total.equal += tally.equal;
    total.split += tally.split;
    total.unstable += tally.unstable;
    total.reported += tally.reported;
    total.refused += tally.refused;
  }
  MESSAGE("all: stable " << total.stable << ", equal " << total.equal << ", other split " << total.split
                         << ", unstable " << total.unstable << ", reported " << total.reported << ", refused "
                         << total.refused);
  CHECK(total.stable > 100);
  CHECK(total.unstable > 10);
  CHECK(total.reported == total.unstable);
}

}  // namespace
}  // namespace rondo
