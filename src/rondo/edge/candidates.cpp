#include "edge/candidates.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "edge/kind.h"
#include "probe/messages.h"
#include "probe/places.h"
#include "probe/turns.h"
#include "probe/variables.h"
#include "probe/words.h"

namespace rondo::edge {
namespace {

constexpr std::string_view kThinkingVariable = "enable_thinking";

// The words of a probe's messages.  No two are alike, and none is part of another.
constexpr std::array<std::string_view, 6> kWords = {probe::kSystemWord,       probe::kQuestionWord,
                                                    probe::kAnswerWord,       probe::kSecondQuestionWord,
                                                    probe::kSecondAnswerWord, probe::kResultWord};

struct Turn {
  std::string before;   // between the previous message's text and this one's
  std::size_t own = 0;  // where the message's own text begins in `before`
};

// What a probe shows: the text before each message, and after the last one.
struct Reading {
  std::vector<Turn> turns;
  std::string behind;
  std::size_t own = 0;  // where the last message's own text ends in `behind`

  [[nodiscard]] std::string prefix(std::size_t i) const { return turns[i].before.substr(turns[i].own); }
  [[nodiscard]] std::string suffix(std::size_t i) const {
    return i + 1 < turns.size() ? turns[i + 1].before.substr(0, turns[i + 1].own) : behind.substr(0, own);
  }
};

json::Array conversation(std::string_view roles) {
  json::Array out;
  std::size_t word = roles.starts_with('s') ? 0 : 1;
  for (const char role : roles) out.push_back(plain_message_of(role, kWords[word++ % kWords.size()]));
  return out;
}

// nullopt if the template refuses the messages, or does not write each text exactly once, unchanged and in order.
std::optional<Reading> read(const Renders& renders, std::string_view roles, const Setting& setting) {
  const auto rendered = renders.traced(conversation(roles), setting);
  if (!rendered.ok()) return std::nullopt;
  const std::vector<probe::TurnExtent> turns = probe::turn_extents(rendered.value(), roles.size());
  Reading out;
  std::size_t at = 0;     // after the text of the previous message
  std::size_t owned = 0;  // after all of it
  std::size_t word = roles.starts_with('s') ? 0 : 1;
  for (const probe::TurnExtent& turn : turns) {
    if (!turn.data || turn.data->begin < at) return std::nullopt;
    const auto [begin, end] = *turn.data;
    if (probe::slice(rendered.value(), begin, end) != kWords[word++ % kWords.size()]) return std::nullopt;
    out.turns.push_back(
        {std::string(probe::slice(rendered.value(), at, begin)), std::min(std::max(owned, at), begin) - at});
    at = end;
    owned = turn.tail_end;
  }
  out.behind = probe::slice(rendered.value(), at, rendered.value().text.size());
  out.own = owned - at;
  return out;
}

// Where a candidate's turns are read.
struct Places {
  std::string roles;          // of the probe
  std::size_t user = 0;       // whose prefix and suffix are used for all users
  std::size_t assistant = 0;  // 0 for none
};

class Finder {
 public:
  explicit Finder(const Renders& renders)
      : renders_(renders), has_system_(read(renders, "su", {.generation_prompt = true}).has_value()) {}

  std::vector<EdgeTemplate> find() {
    const std::string s = has_system_ ? "s" : "";
    const std::size_t first = s.size();
    for (const bool by_end : {false, true}) {
      add({s + "uauau", first + 2, first + 3}, by_end);
      add({s + "uau", first, first + 1}, by_end);
    }
    add({s + "u", first, 0}, false);
    if (has_system_) {
      add({"uauau", 2, 3}, false);
      add({"u", 0, 0}, false);
    }
    return std::move(found_);
  }

 private:
  // `by_end`: a turn ends where the prompt that ends with it does.  Otherwise it ends where the template's loop
  // continues.
  void add(const Places& places, bool by_end) {
    const auto reading = read(renders_, places.roles, {.generation_prompt = false});
    const auto prompted = read(renders_, places.roles, {.generation_prompt = true});
    const std::optional<Reading>& turns = prompted ? prompted : reading;
    if (!turns) return;
    EdgeTemplate out;
    const bool has_system = places.roles.starts_with('s');
    Role system{std::string(kSystem), "", ""};
    if (has_system) system = {std::string(kSystem), turns->prefix(0), turns->suffix(0)};
    // Text before the first message belongs to that message.
    if (has_system) system.prefix = turns->turns[0].before;
    Role user{std::string(kUser), turns->prefix(places.user), turns->suffix(places.user)};
    Role assistant{std::string(kAssistant), "", ""};
    if (places.assistant != 0)
      assistant = {std::string(kAssistant), turns->prefix(places.assistant), turns->suffix(places.assistant)};
    if (by_end && !cut_by_ends(places, *turns, user, assistant)) return;
    if (!set_generation_prompts(places, user, out)) return;
    if (places.assistant == 0) assistant.prefix = out.generation_prompt;
    out.roles = {std::move(system), std::move(user), std::move(assistant)};
    add_with_default(std::move(out));
  }

  // Suffixes are the text after the last message; prefixes are the rest.
  bool cut_by_ends(const Places& places, const Reading& turns, Role& user, Role& assistant) const {
    const std::string lead = places.roles.starts_with('s') ? "s" : "";
    const auto asked = read(renders_, lead + "u", {.generation_prompt = false});
    const auto answered = read(renders_, lead + "ua", {.generation_prompt = false});
    if (!asked || !answered) return false;
    user.suffix = asked->behind;
    assistant.suffix = answered->behind;
    const auto cut = [&](std::size_t i, const std::string& suffix, std::string& prefix) {
      const std::string& before = turns.turns[i].before;
      if (!before.starts_with(suffix)) return false;
      prefix = before.substr(suffix.size());
      return true;
    };
    const bool is_first = places.user == lead.size();
    return cut(places.assistant, user.suffix, assistant.prefix) &&
           (is_first || cut(places.user, assistant.suffix, user.prefix));
  }

  bool set_generation_prompts(const Places& places, const Role& user, EdgeTemplate& out) const {
    const auto prompt = [&](bool thinking) -> std::optional<std::string> {
      const auto reading = read(renders_, places.roles, {.generation_prompt = true, .thinking = thinking});
      if (!reading || !reading->behind.starts_with(user.suffix)) return std::nullopt;
      return reading->behind.substr(user.suffix.size());
    };
    auto plain = prompt(false);
    if (!plain) return false;
    out.generation_prompt = *std::move(plain);
    if (renders_.thinking_variable().empty()) return true;
    // An empty prompt means none.
    if (auto thinking = prompt(true); thinking && *thinking != out.generation_prompt && !thinking->empty())
      out.generation_prompt_thinking = std::move(thinking);
    return true;
  }

  void push(const EdgeTemplate& candidate) {
    const json::Value value = to_json(candidate);
    if (std::ranges::none_of(found_, [&](const EdgeTemplate& other) { return to_json(other) == value; }))
      found_.push_back(candidate);
  }

  // Text before a first user message is a default system prompt between the marks of a system message.  If it is not,
  // it may be kept as it is, at the cost of those messages.
  void add_with_default(EdgeTemplate candidate) {
    const auto alone = read(renders_, "u", {.generation_prompt = true});
    const std::string& prefix = candidate.roles[1].prefix;
    if (!alone || !alone->turns[0].before.ends_with(prefix)) return push(candidate);
    const std::string& all = alone->turns[0].before;
    const std::string lead = all.substr(0, all.size() - prefix.size());
    const Role& system = candidate.roles[0];
    const std::size_t marks = system.prefix.size() + system.suffix.size();
    if (lead.empty()) return push(candidate);
    if (lead.size() > marks && lead.starts_with(system.prefix) && lead.ends_with(system.suffix)) {
      candidate.default_system_prompt = lead.substr(system.prefix.size(), lead.size() - marks);
      return push(candidate);
    }
    push(candidate);
    candidate.roles[0].prefix.clear();
    candidate.roles[0].suffix.clear();
    candidate.default_system_prompt = lead;
    push(candidate);
  }

  const Renders& renders_;
  bool has_system_;
  std::vector<EdgeTemplate> found_;
};

// The text between the data of two parts of message 0, or before the first; nullopt if the parts are not written like
// that.
std::optional<std::string> between(const Renders& renders, json::Array parts) {
  const json::Array messages{probe::plain_message(kUser, json::Value(std::move(parts)))};
  const auto rendered = renders.traced(messages, {.generation_prompt = false});
  if (!rendered.ok()) return std::nullopt;
  std::optional<std::size_t> begin;
  std::size_t at = 0;
  for (const text::Run& run : rendered.value().text.runs()) {
    const std::string_view written = probe::slice(rendered.value(), at, at + run.size);
    if (begin && written == probe::kSecondQuestionWord) return std::string(probe::slice(rendered.value(), *begin, at));
    // Text about the path of an image is not a format.
    if (begin && run.path() != text::PathId::kNone && run.kind != text::RunKind::kComputed) return std::nullopt;
    at += run.size;
    if (!begin && run.kind == text::RunKind::kData && written == probe::kQuestionWord) begin = at;
  }
  return std::nullopt;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// What `first` and `second` have in common after a number in which they differ.
std::string behind_count(const std::string& first, const std::string& second) {
  std::size_t same = 0;
  while (same < first.size() && same < second.size() &&
         first[first.size() - 1 - same] == second[second.size() - 1 - same])
    ++same;
  std::string out = first.substr(first.size() - same);
  std::size_t at = 0;
  while (at < out.size() && is_digit(out[at])) ++at;
  if (at < out.size() && out[at] == ':') ++at;
  while (at < out.size() && (out[at] == ' ' || out[at] == '\n')) ++at;
  return out.substr(at);
}

}  // namespace

json::Value plain_message_of(char role, std::string_view text) { return probe::plain_message(role_name(role), text); }

json::Value media_part(std::string_view part_type) {
  json::Object out{{"type", part_type}};
  if (part_type == "image_url") {
    out.set("image_url", json::Object{{"url", "a.png"}});
  } else {
    out.set(part_type, "a.png");
  }
  return out;
}

std::vector<EdgeTemplate> find_candidates(const Renders& renders) { return Finder(renders).find(); }

FoundFormat find_format(const Renders& renders, std::string_view type) {
  const auto text = [](std::string_view word) { return json::Value(chat::text_part(word)); };
  const auto plain = between(renders, {text(probe::kQuestionWord), text(probe::kSecondQuestionWord)});
  std::vector<std::string_view> part_types = {type};
  if (type == kImage) part_types.emplace_back("image_url");
  for (const std::string_view part_type : part_types) {
    const json::Value part = media_part(part_type);
    const auto one = between(renders, {text(probe::kQuestionWord), part, text(probe::kSecondQuestionWord)});
    if (!one || (plain && one == plain)) continue;
    const auto two = between(renders, {part, text(probe::kQuestionWord), part, text(probe::kSecondQuestionWord)});
    FoundFormat out{*one, false, std::string(part_type)};
    if (two && *two != *one) {
      out.counts = true;
      out.format = behind_count(*one, *two);
    }
    if (!out.format.empty()) return out;
  }
  return {};
}

std::string find_thinking_variable(Renders& renders) {
  const jinja::Template& chat_template = renders.source().chat_template;
  std::vector<std::string> names = probe::own_variables(chat_template);
  std::ranges::stable_partition(names, [](const std::string& name) { return name == kThinkingVariable; });
  constexpr std::size_t kMostVariables = 24;
  if (names.size() > kMostVariables) names.resize(kMostVariables);
  for (const std::string& name : names) {
    if (renders.source().base.kwargs.find(name) != nullptr) continue;  // it is already reported
    renders.set_thinking_variable(name);
    const auto on = renders.text(conversation("u"), {.generation_prompt = true, .thinking = true});
    const auto off = renders.text(conversation("u"), {.generation_prompt = true, .thinking = false});
    const bool differs = on.ok() && off.ok() && on.value() != off.value();
    if (!differs) continue;
    if (name == kThinkingVariable) return name;
    const auto history_on = renders.text(conversation("u"), {.generation_prompt = false, .thinking = true});
    const auto history_off = renders.text(conversation("u"), {.generation_prompt = false, .thinking = false});
    if (history_on.ok() && history_off.ok() && history_on.value() == history_off.value()) return name;
  }
  renders.set_thinking_variable("");
  return "";
}

}  // namespace rondo::edge
