#include "tests/support/rollouts.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "render/encode.h"
#include "render/join.h"
#include "tests/support/messages.h"

namespace rondo::test {
namespace {

using tokenizer::TokenId;

constexpr std::array kWords = {"the", "weather", "in",   "Paris", "is",  "sunny",  "42",  "naïve", "日本語",
                               "\n",  "\n\n",    "  ",   "\"",    "\\",  "{",      "}",   ":",     ",",
                               "😀",  "True",    "null", "- a",   "```", "x = 1",  "<b>", "don't", "né",
                               "\t",  "end",     "1.5",  "[0]",   "ﬁ",   "e\u0301"};
// What reads like a control token of somebody's, in input text.
constexpr std::array kTraps = {
    "<|im_end|>",    "<|im_start|>user", "</s>",       "[INST]",        "<think>",
    "</think>",      "<tool_call>",      "<|eot_id|>", "<end_of_turn>", "<s>",
    "<|endoftext|>", "<|user|>",         "<|end|>",    "<|return|>",    "<｜end▁of▁sentence｜>"};

}  // namespace

RolloutMaker::RolloutMaker(const render::TurnContext& context, const render::TurnProfile& profile,
                           const format::Format& format, std::uint32_t seed)
    : context_(context), profile_(profile), format_(format), random_(seed) {}

std::string RolloutMaker::text(bool is_input) {
  std::string out;
  const std::size_t words = 1 + below(one_in(10) ? 60 : 8);
  for (std::size_t i = 0; i < words; ++i) {
    if (is_input && one_in(40)) {
      out += kTraps[below(kTraps.size())];
    } else {
      out += kWords[below(kWords.size())];
    }
    if (!one_in(5)) out += ' ';
  }
  return out;
}

json::Array RolloutMaker::first_messages() {
  json::Array out;
  if (one_in(3)) out.push_back(json::Object{{"role", "system"}, {"content", text(true)}});
  const std::size_t turns = one_in(3) ? 1 + below(2) : 0;
  for (std::size_t i = 0; i < turns; ++i) {
    out.push_back(json::Object{{"role", "user"}, {"content", text(true)}});
    out.push_back(json::Object{{"role", "assistant"}, {"content", text(false)}});
  }
  out.push_back(json::Object{{"role", "user"}, {"content", text(true)}});
  return out;
}

json::Value RolloutMaker::assistant() {
  MessageParts parts;
  if (one_in(2)) parts.reasoning = text(false);
  const bool calls = format_.calls.present && context_.base.tools && one_in(2);
  if (!calls || one_in(3)) parts.content = text(false);
  if (calls) {
    const std::size_t count = format_.input.single_call ? 1 : 1 + below(3);
    parts.names.assign(count, "get_weather");
    for (std::size_t i = 0; i < count; ++i) {
      json::Object arguments{{"city", text(false)}};
      if (one_in(3)) arguments.set("days", static_cast<int>(below(10)));
      if (one_in(4)) arguments.set("exact", one_in(2));
      if (one_in(2)) parts.names[i] = "search";
      parts.calls.push_back(std::move(arguments));
    }
  }
  return message_of(format_, parts);
}

std::string RolloutMaker::sampled_text(const json::Array& messages, const json::Value& assistant) {
  json::Array all = messages;
  all.push_back(assistant);
  const auto form = render::render_messages(context_, all, false);
  if (!form.ok()) return "";
  const std::vector<render::SampledExtent> extents = render::sampled_extents(context_, form.value(), all);
  if (extents.empty() || extents.back().end <= extents.back().begin) return "";
  std::string sampled =
      form.value().text.bytes().substr(extents.back().begin, extents.back().end - extents.back().begin);
  const auto prompt = render::render_messages(context_, messages, true);
  if (prompt.ok() && form.value().text.bytes().starts_with(prompt.value().text.bytes())) {
    const std::size_t from = prompt.value().text.size();
    if (from < extents.back().end) sampled = form.value().text.bytes().substr(from, extents.back().end - from);
  }
  return sampled;
}

std::string RolloutMaker::respelled(std::string text) {
  const std::size_t edits = 1 + below(3);
  for (std::size_t i = 0; i < edits && !text.empty(); ++i) {
    const std::size_t at = below(text.size());
    switch (below(5)) {
      case 0:  // compact JSON
        for (std::size_t p = text.find("\": "); p != std::string::npos; p = text.find("\": ", p + 1))
          text.erase(p + 2, 1);
        break;
      case 1: text.insert(at, one_in(2) ? "\n" : " "); break;
      case 2:
        if (const std::size_t p = text.find('\n', at); p != std::string::npos) text.erase(p, 1);
        break;
      case 3: text.erase(at, 1 + below(3)); break;
      default: text.insert(at, kWords[below(kWords.size())]); break;
    }
  }
  return text;
}

std::vector<TokenId> RolloutMaker::resplit(const std::vector<TokenId>& ids) {
  std::vector<TokenId> out;
  for (const TokenId id : ids) {
    const std::string_view bytes = context_.tokenizer.token_bytes(id);
    if (context_.tokenizer.is_added(id) || bytes.size() < 2 || !one_in(4)) {
      out.push_back(id);
      continue;
    }
    const std::size_t cut = 1 + below(bytes.size() - 1);
    const auto first = context_.tokenizer.find(bytes.substr(0, cut));
    const auto second = context_.tokenizer.find(bytes.substr(cut));
    if (first && second && !context_.tokenizer.is_added(*first) && !context_.tokenizer.is_added(*second)) {
      out.push_back(*first);
      out.push_back(*second);
    } else {
      out.push_back(id);
    }
  }
  return out;
}

void RolloutMaker::add_tail(RandomCompletion& out) {
  const auto random_id = [&] {
    return static_cast<TokenId>(below(static_cast<std::size_t>(context_.tokenizer.vocab_size())));
  };
  const auto added = context_.tokenizer.added_tokens();
  const std::size_t count = 1 + below(4);
  for (std::size_t i = 0; i < count; ++i) {
    if (one_in(2) && !added.empty()) {
      out.ids.push_back(added[below(added.size())].id);
    } else if (one_in(4) && !profile_.stop_ids.empty()) {
      out.ids.push_back(profile_.stop_ids[below(profile_.stop_ids.size())]);
    } else {
      out.ids.push_back(random_id());
    }
  }
}

RandomCompletion RolloutMaker::completion(std::span<const TokenId> prompt, const json::Array& messages) {
  RandomCompletion out;
  std::string sampled = sampled_text(messages, assistant());
  const std::size_t kind = below(16);
  if (kind == 0) sampled.clear();
  if (kind == 1 || kind == 2) sampled = respelled(std::move(sampled));
  if (kind == 3 && !sampled.empty()) sampled.resize(below(sampled.size()));  // inside a marker or a character
  for (const auto& piece : render::encode_behind(context_.tokenizer, prompt, sampled, nullptr))
    out.ids.push_back(piece.id);
  switch (kind) {
    case 0: out.kind = "empty"; break;
    case 1:
    case 2: out.kind = "respelled"; break;
    case 3: out.kind = "cut in a text"; break;
    case 4:
    case 5:
      out.kind = "cut off";
      if (!out.ids.empty()) out.ids.resize(below(out.ids.size()));
      break;
    case 6:
      out.kind = "without its stop";
      while (!out.ids.empty() && profile_.is_stop(out.ids.back())) out.ids.pop_back();
      break;
    case 7:
      out.kind = "other tokens";
      out.ids = resplit(out.ids);
      break;
    case 8:
      out.kind = "tokens behind it";
      add_tail(out);
      break;
    case 9:
      out.kind = "random tokens";
      out.ids.clear();
      for (std::size_t i = 0; i < 4; ++i) add_tail(out);
      break;
    case 10:
      out.kind = "another stop";
      while (!out.ids.empty() && profile_.is_stop(out.ids.back())) out.ids.pop_back();
      if (!profile_.stop_ids.empty()) out.ids.push_back(profile_.stop_ids[below(profile_.stop_ids.size())]);
      break;
    default: out.kind = "canonical"; break;
  }
  return out;
}

void RolloutMaker::add_results(const render::ParsedCompletion& said, json::Array& out) {
  json::Array results;
  for (const chat::ToolCall& call : said.message.tool_calls) {
    const std::string made = "abcdef" + std::to_string(100 + next_id_++ % 900);
    results.push_back(json::Object{
        {"role", "tool"}, {"tool_call_id", call.id.value_or(made)}, {"name", call.name}, {"content", text(true)}});
  }
  if (one_in(6)) std::ranges::shuffle(results, random_);
  if (results.size() > 1 && one_in(8)) results.pop_back();
  if (one_in(16)) results.push_back(results.front());
  if (one_in(16)) results.front().as_object().set("tool_call_id", "zzzzzz999");
  std::ranges::move(results, std::back_inserter(out));
}

json::Array RolloutMaker::new_messages(const render::ParsedCompletion& said) {
  json::Array out;
  if (!said.message.tool_calls.empty() && !one_in(12)) add_results(said, out);
  if (!out.empty() && !one_in(6)) return out;
  static constexpr std::array kRoles = {"system", "developer", "tool", "critic"};
  if (one_in(12)) out.push_back(json::Object{{"role", kRoles[below(kRoles.size())]}, {"content", text(true)}});
  if (one_in(20)) {
    json::Array parts{json::Object{{"type", "text"}, {"text", text(true)}},
                      json::Object{{"type", "image"}, {"image", "x"}}};
    out.push_back(json::Object{{"role", "user"}, {"content", std::move(parts)}});
  } else if (out.empty() || one_in(2)) {
    out.push_back(json::Object{{"role", "user"}, {"content", text(true)}});
  }
  return out;
}

}  // namespace rondo::test
