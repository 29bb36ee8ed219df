#include "render/growth.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/utf8.h"
#include "chat/reasoning_fields.h"
#include "jinja/reading/carried.h"
#include "json/print.h"
#include "probe/messages.h"
#include "probe/turns.h"
#include "probe/words.h"
#include "render/bridge.h"
#include "render/histories.h"

namespace rondo::render {
namespace {

// A template that counts further than this may treat more messages differently than any trial has shown.
constexpr std::int64_t kMostCounted = 2;
constexpr std::size_t kTriedConstants = 8;
constexpr std::size_t kMostConstants = 64;

bool is_said_by(const json::Value& message, std::string_view role) { return message.find_string("role") == role; }
bool is_system_message(const json::Value& message) {
  return is_said_by(message, "system") || is_said_by(message, "developer");
}

std::size_t count_calls(const json::Value& message) {
  const json::Value* calls = message.find("tool_calls");
  return calls != nullptr && calls->is_array() ? calls->as_array().size() : 0;
}

std::string_view name_of(MessageKind kind) {
  switch (kind) {
    case MessageKind::kSystem: return "a system message";
    case MessageKind::kUser: return "a user message";
    case MessageKind::kText: return "an answer";
    case MessageKind::kCall: return "a call";
    case MessageKind::kCalls: return "several calls";
    case MessageKind::kResult: return "a result";
    case MessageKind::kResults: return "a result of several calls";
    case MessageKind::kOther: break;
  }
  return "a message of another kind";
}

// --- Windows

struct Window {
  json::Array messages;
  std::size_t first = 0;       // 1 if the first message is the conversation's system message
  std::size_t tail = 0;        // from here to the end they are the end of the conversation
  std::size_t tail_there = 0;  // the same index in the conversation
};

// nullopt if nothing would be left out.
std::optional<Window> window_of(std::span<const json::Value> messages) {
  if (messages.empty()) return std::nullopt;
  const std::size_t first = is_system_message(messages.front()) ? 1 : 0;
  std::size_t tail = messages.size() - 1;
  while (tail > first && !is_said_by(messages[tail], "assistant")) --tail;
  if (!is_said_by(messages[tail], "assistant")) return std::nullopt;
  std::size_t user = tail;
  while (user > first && !is_said_by(messages[user], "user")) --user;
  Window out;
  out.first = first;
  if (first == 1) out.messages.push_back(messages.front());
  if (is_said_by(messages[user], "user")) out.messages.push_back(messages[user]);
  out.tail = out.messages.size();
  out.tail_there = tail;
  const auto rest = messages.subspan(tail);
  out.messages.insert(out.messages.end(), rest.begin(), rest.end());
  return out.messages.size() < messages.size() ? std::optional(std::move(out)) : std::nullopt;
}

// Whether a place belongs to the messages [first, tail).  The role of the first message is known, so it does not count.
auto is_between(const text::PathTable& paths, std::size_t first, std::size_t tail) {
  return [&paths, first, tail](text::PathId path) {
    const std::int32_t message = paths.message(path);
    if (message < static_cast<std::int32_t>(first) || message >= static_cast<std::int32_t>(tail)) return false;
    return message != 0 || paths.step_name(path) != "role";
  };
}

// Where the turns of the messages before `message` end.  Nothing after this byte belongs to them.
std::size_t end_of_turns(const jinja::Rendered& rendered, std::int32_t message) {
  std::size_t at = 0;
  std::size_t end = 0;
  for (const text::Run& run : rendered.text.runs()) {
    at += run.size;
    const std::int32_t owner = probe::owner(run, rendered.origins);
    if (owner != text::kNoMessage && owner < message) end = at;
  }
  return end;
}

// What a window shows about one step.
struct Splice {
  enum class Outcome : std::uint8_t { kGood, kUseless, kRewrites, kDepends };  // kUseless: it shows nothing
  GrowthStep step;
  Outcome outcome = Outcome::kGood;
  std::size_t last_turn = 0;  // in the text so far; not set if the splice is useless
};

Splice faulty(std::string fault, Splice::Outcome outcome = Splice::Outcome::kUseless) {
  Splice out;
  out.step.fault = std::move(fault);
  out.outcome = outcome;
  return out;
}

// What the message changes, judged by the window alone.  `rendered` receives the render with the message.
Splice splice(const Setting& setting, std::span<const json::Value> messages, std::string_view text,
              const json::Value& message, jinja::Rendered* rendered) {
  std::optional<Window> window = window_of(messages);
  if (!window) return faulty("a window would leave out nothing");
  tmpl::ApplyOptions plain = setting.options;
  plain.origins = false;
  const bool opens = setting.base.add_generation_prompt;
  const auto before = tmpl::apply(setting.chat_template, setting.base, window->messages, opens, plain);
  if (!before.ok()) return faulty("the template refuses a window: " + before.error().message);
  const std::size_t count = window->messages.size();
  window->messages.push_back(message);
  auto after = tmpl::apply(setting.chat_template, setting.base, window->messages, opens, setting.options);
  if (!after.ok()) return faulty("the template refuses a window: " + after.error().message);
  *rendered = std::move(after).value();

  const std::string& old_bytes = before.value().text.bytes();
  const std::string& new_bytes = rendered->text.bytes();
  const auto differs = std::ranges::mismatch(old_bytes, new_bytes);
  const auto common = utf8::boundary(new_bytes, static_cast<std::size_t>(differs.in2 - new_bytes.begin()));
  const std::size_t last_turn = end_of_turns(*rendered, static_cast<std::int32_t>(count) - 1);
  if (common < last_turn) {
    Splice out = faulty("the template changes what stands before the last message", Splice::Outcome::kRewrites);
    out.last_turn = text.size() - std::min(text.size(), old_bytes.size() - std::min(old_bytes.size(), last_turn));
    return out;
  }
  if (!text.ends_with(std::string_view(old_bytes).substr(last_turn)))
    return faulty("a window does not end as the conversation does", Splice::Outcome::kDepends);
  const text::PathTable& paths = rendered->origins.paths;
  std::string reason =
      dependence(*rendered, {common, static_cast<std::int32_t>(count), is_between(paths, window->first, window->tail)});
  if (!reason.empty()) return faulty(std::move(reason), Splice::Outcome::kDepends);
  Splice result;
  GrowthStep& out = result.step;
  out.kept = text.size() - (old_bytes.size() - common);
  out.added = new_bytes.substr(common);
  out.window = count;
  return result;
}

// --- Trials

// Two turns with cycles of several calls, which trial_histories() do not have, and a question.
struct LongCycles {
  bool has_system = false;
  bool calls_think = false;
  bool answers_think = false;
  std::size_t calls = 1;      // at once; 0: one, then two, then one
  std::string constant = {};  // in every text, and as words beside two of three calls
};

json::Array long_cycles(const format::InputShape& input, const LongCycles& wanted) {
  const auto with_constant = [&](json::Value message) {
    const auto content = message.find_string("content");
    if (!wanted.constant.empty() && content && !content->empty())
      message.as_object().set("content", std::string(*content) + wanted.constant + "x");
    return message;
  };
  json::Array out;
  if (wanted.has_system) out.push_back(probe::plain_message("system", probe::kOlderSystem));
  for (std::size_t turn = 0; turn < 2; ++turn) {
    out.push_back(with_constant(probe::plain_message("user", probe::kOlderQuestion)));
    for (std::size_t cycle = 0; cycle < 3; ++cycle) {
      // The second turn has thoughts in some cycles only.
      const bool thinks = wanted.calls_think && (turn == 0 || cycle == 1);
      const std::size_t calls = wanted.calls == 0 ? 1 + cycle % 2 : wanted.calls;
      const json::Array results = trial_results(calls);
      ParsedCompletion completion = trial_completion(input, calls, thinks);
      if (!wanted.constant.empty() && cycle != 1) completion.message.content = probe::kOlderAnswer;
      out.push_back(with_constant(history_message(completion, results)));
      for (const json::Value& result : results) out.push_back(with_constant(result));
    }
    out.push_back(with_constant(history_message(trial_completion(input, 0, wanted.answers_think), {})));
  }
  out.push_back(probe::plain_message("user", probe::kOlderQuestion));
  return out;
}

std::vector<json::Array> all_long_cycles(const format::InputShape& input, const std::vector<std::string>& constants) {
  std::vector<json::Array> out;
  for (const bool has_system : {false, true}) {
    for (const std::size_t calls : {std::size_t{0}, std::size_t{1}, std::size_t{2}}) {
      if (has_system && calls != 0) continue;
      out.push_back(long_cycles(input, {has_system, false, false, calls}));
      if (input.reasoning_field.empty()) continue;
      out.push_back(long_cycles(input, {has_system, true, true, calls}));
      out.push_back(long_cycles(input, {has_system, false, true, calls}));
      out.push_back(long_cycles(input, {has_system, true, false, calls}));
    }
    for (const std::string& constant : constants)
      out.push_back(long_cycles(input, {has_system, false, false, 1, constant}));
  }
  return out;
}

bool any_text(const json::Value& value, const auto& matches) {
  if (value.is_string()) return matches(value.as_string());
  if (value.is_array())
    return std::ranges::any_of(value.as_array(), [&](const auto& item) { return any_text(item, matches); });
  if (!value.is_object()) return false;
  return std::ranges::any_of(value.as_object(), [&](const json::Member& member) {
    return member.key != "role" && any_text(member.value, matches);
  });
}

bool has_one_of(const json::Value& message, const std::vector<std::string>& constants) {
  return !constants.empty() && any_text(message, [&](const std::string& text) {
    return std::ranges::any_of(constants,
                               [&](const std::string& constant) { return text.find(constant) != std::string::npos; });
  });
}

}  // namespace

MessageKind kind_of(std::span<const json::Value> before, const json::Value& message) {
  if (is_system_message(message)) return MessageKind::kSystem;
  if (is_said_by(message, "user")) return MessageKind::kUser;
  if (is_said_by(message, "assistant")) {
    const std::size_t calls = count_calls(message);
    return calls == 0 ? MessageKind::kText : calls == 1 ? MessageKind::kCall : MessageKind::kCalls;
  }
  if (!is_said_by(message, "tool")) return MessageKind::kOther;
  for (std::size_t i = before.size(); i > 0; --i) {
    if (!is_said_by(before[i - 1], "assistant")) continue;
    const std::size_t calls = count_calls(before[i - 1]);
    return calls == 0 ? MessageKind::kOther : calls == 1 ? MessageKind::kResult : MessageKind::kResults;
  }
  return MessageKind::kOther;
}

// Plays the conversations of the trials, message by message.
struct Growth::Trials {
  const Setting& setting;
  Growth& out;
  std::map<std::string, std::optional<std::string>> texts = {};  // of beginnings of conversations, by their JSON
  std::set<std::string> done = {};
  std::array<std::size_t, kKinds * kKinds * 2> compared = {};

  // The text that the template writes for the messages; nullptr if it refuses them.
  const std::string* text_of(const json::Array& messages) {
    const std::string key = json::to_compact(json::Value(messages));
    auto known = texts.find(key);
    if (known == texts.end()) {
      const auto rendered = tmpl::apply(setting.chat_template, setting.base, messages,
                                        setting.base.add_generation_prompt, setting.options);
      known = texts.emplace(key, std::nullopt).first;
      if (rendered.ok()) {
        out.outcomes_.note(rendered.value());
        known->second = rendered.value().text.bytes();
      }
    }
    return known->second ? &*known->second : nullptr;
  }

  // How the text from byte `kept` on depends on the messages that a window leaves out.
  std::string dependence_in(json::Array messages, const json::Value& next, std::size_t kept) const {
    const std::optional<Window> window = window_of(messages);
    const auto count = static_cast<std::int32_t>(messages.size());
    messages.push_back(next);
    const auto full =
        tmpl::apply(setting.chat_template, setting.base, messages, setting.base.add_generation_prompt, setting.options);
    if (!full.ok() || !window) return "";
    const auto is_older = is_between(full.value().origins.paths, window->first, window->tail_there);
    return dependence(full.value(), {kept, count, is_older});
  }

  void step(const json::Array& messages, const json::Value& next, std::size_t at, const std::string& full) {
    const std::string* text = text_of(messages);
    std::string& reason = out.reasons_[at];
    if (text == nullptr || (compared[at] > 0 && !reason.empty())) return;
    jinja::Rendered rendered;
    const Splice tried = splice(setting, messages, *text, next, &rendered);
    const GrowthStep& step = tried.step;
    // The window must change the earlier text if and only if the whole conversation does.
    const bool rewrites = tried.outcome == Splice::Outcome::kRewrites;
    const bool is_right = rewrites && !full.starts_with(std::string_view(*text).substr(0, tried.last_turn));
    if (tried.outcome == Splice::Outcome::kUseless || is_right) {
      if (compared[at] == 0) reason = step.fault;
      return;
    }
    if (!step.fault.empty()) {
      ++compared[at];
      reason = step.fault;
      return;
    }
    if (compared[at]++ == 0) reason.clear();
    if (text->substr(0, step.kept) + step.added != full) {
      reason =
          "the template writes " + std::string(name_of(kind_of(messages, next))) + " otherwise behind other messages";
    } else {
      reason = dependence_in(messages, next, step.kept);
    }
  }

  void play(const json::Array& history) {
    json::Array messages;
    bool is_marked = false;
    std::vector<std::size_t> pairs;
    for (const json::Value& next : history) {
      is_marked = is_marked || out.marks(next);
      json::Array grown = messages;
      grown.push_back(next);
      const std::string* full = text_of(grown);
      if (!messages.empty()) {
        const auto before = std::span(messages).first(messages.size() - 1);
        pairs.push_back(index_of(kind_of(before, messages.back()), kind_of(messages, next), is_marked));
      }
      if (full != nullptr && !messages.empty()) {
        for (const std::size_t pair : pairs) out.are_tried_[pair] = true;
        if (done.insert(json::to_compact(json::Value(grown))).second) step(messages, next, pairs.back(), *full);
      }
      messages = std::move(grown);
    }
  }
};

Growth Growth::prove(const Setting& setting, const format::InputShape& input) {
  Growth out;
  for (std::size_t last = 0; last < kKinds; ++last) {
    for (std::size_t next = 0; next < kKinds; ++next) {
      const std::string reason = "no trial had " + std::string(name_of(static_cast<MessageKind>(next))) + " behind " +
                                 std::string(name_of(static_cast<MessageKind>(last)));
      for (const bool is_marked : {false, true})
        out.reasons_[index_of(static_cast<MessageKind>(last), static_cast<MessageKind>(next), is_marked)] = reason;
    }
  }
  const jinja::Carried carried = jinja::find_carried(setting.chat_template.source());
  out.general_ = carried.counts_to > kMostCounted ? "the template counts to " + std::to_string(carried.counts_to)
                 : setting.base.kwargs.find("messages") != nullptr ? "the variables replace the messages"
                                                                   : "";
  if (!out.general_.empty()) return out;
  out.outcomes_ = Outcomes(setting.chat_template);
  out.reasoning_field_ = input.reasoning_field;
  out.constants_ = searched_constants(setting.chat_template, setting.base, setting.options, kMostConstants);
  std::erase(out.constants_, "");
  if (out.constants_.size() > kTriedConstants) {
    out.others_.assign(out.constants_.begin() + kTriedConstants, out.constants_.end());
    out.constants_.resize(kTriedConstants);
  }
  Trials trials{setting, out};
  for (const json::Array& history : trial_histories(input, out.constants_)) trials.play(history);
  for (const json::Array& history : all_long_cycles(input, out.constants_)) trials.play(history);
  return out;
}

bool Growth::marks(const json::Value& message) const {
  const auto has = [&](std::string_view field) {
    const json::Value* value = field.empty() ? nullptr : message.find(field);
    return value != nullptr && !value->is_null();
  };
  return has(reasoning_field_) || std::ranges::any_of(chat::kReasoningFields, has) || has_one_of(message, constants_);
}

std::string Growth::unknown_in(std::span<const json::Value> before, const json::Value& message, bool is_marked) const {
  if (!before.empty()) {
    const MessageKind last = kind_of(before.first(before.size() - 1), before.back());
    const MessageKind next = kind_of(before, message);
    if (!are_tried_[index_of(last, next, is_marked)])
      return "no trial had " + std::string(name_of(next)) + " behind " + std::string(name_of(last));
  }
  if (has_one_of(message, others_)) return "it has a text that the template searches and no trial had";
  const json::Value* content = message.find("content");
  if (content == nullptr || !content->is_array()) return "";
  for (const json::Value& part : content->as_array()) {
    const auto type = part.find_string("type");
    if (type != "text") return "it has a part of the type `" + std::string(type.value_or("")) + "`";
  }
  return "";
}

GrowthStep step_in_window(const Setting& setting, const Growth& growth, std::span<const json::Value> messages,
                          std::string_view text, const json::Value& message, bool is_marked) {
  const MessageKind last = kind_of(messages.first(messages.size() - 1), messages.back());
  const MessageKind next = kind_of(messages, message);
  if (const std::string& reason = growth.reason(last, next, is_marked); !reason.empty()) return faulty(reason).step;
  jinja::Rendered rendered;
  GrowthStep out = splice(setting, messages, text, message, &rendered).step;
  if (!out.fault.empty()) return out;
  out.fault = growth.unknown_in(rendered);
  out.is_unknown = !out.fault.empty();
  return out;
}

}  // namespace rondo::render
