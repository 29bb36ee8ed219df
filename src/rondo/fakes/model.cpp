#include "fakes/model.h"

#include <algorithm>
#include <charconv>

#include "json/members.h"

namespace rondo::fakes {

struct Script {
  static constexpr bool kRefusesUnknown = true;
};

template <typename V>
void visit(V& v, Rule& rule) {
  v.always("suffix", rule.suffix);
  v.always("completion", rule.completion);
}

template <typename V>
void visit(V& v, ModelOptions& options) {
  v.field("vocabulary", options.vocabulary);
  v.field("first_plain", options.first_plain);
  v.field("end_ids", options.end_ids);
  v.field("end_after", options.end_after);
  v.field("rules", options.rules);
  v.field("opens", options.opens);
  v.field("turns", options.turns);
}

namespace {

Error bad_script(std::string what) { return {ErrorCode::kInvalidArgument, std::move(what)}; }

Status read_pieces(const json::Value& found, std::map<TokenId, std::string>& pieces) {
  if (!found.is_object()) return bad_script("script.pieces must be an object");
  for (const json::Member& member : found.as_object()) {
    TokenId id = 0;
    const auto [end, error] = std::from_chars(member.key.data(), member.key.data() + member.key.size(), id);
    if (error != std::errc() || end != member.key.data() + member.key.size() || !member.value.is_string()) {
      return bad_script("script.pieces: `" + member.key + "` must be an id, with a text");
    }
    pieces[id] = member.value.as_string();
  }
  return Done{};
}

// One step of SplitMix64: every input bit changes half of the output bits.
std::uint64_t mixed(std::uint64_t state) {
  state += 0x9E3779B97F4A7C15U;
  state = (state ^ (state >> 30U)) * 0xBF58476D1CE4E5B9U;
  state = (state ^ (state >> 27U)) * 0x94D049BB133111EBU;
  return state ^ (state >> 31U);
}

bool ends_with(std::span<const TokenId> ids, std::span<const TokenId> end) {
  return ids.size() >= end.size() &&
         std::equal(end.begin(), end.end(), ids.end() - static_cast<std::ptrdiff_t>(end.size()));
}

// Returns whether `id` may follow `ids`.
bool may_follow(std::span<const TokenId> ids, TokenId id, const Asked& asked) {
  if (!asked.allowed.empty() && std::ranges::find(asked.allowed, id) == asked.allowed.end()) return false;
  return std::ranges::none_of(asked.bad, [&](const Ids& row) {
    return row.back() == id && ends_with(ids, std::span(row).first(row.size() - 1));
  });
}

}  // namespace

Result<ModelOptions> read_model(const json::Value& value, ModelOptions defaults) {
  json::Value rest = value;
  if (rest.is_object()) {
    if (const json::Value* pieces = value.find("pieces")) {
      if (const Status status = read_pieces(*pieces, defaults.pieces); !status.ok()) return status.error();
      rest.as_object().erase("pieces");
    }
    if (value.find("end_ids") != nullptr) defaults.end_ids.clear();
  }
  std::string wrong;
  json::MemberReader<Script>::read(rest, "script", defaults, wrong);
  if (wrong.empty() && defaults.first_plain >= defaults.vocabulary) {
    wrong = "script.first_plain must be below script.vocabulary";
  }
  if (!wrong.empty()) return bad_script(std::move(wrong));
  return defaults;
}

bool Model::is_end(TokenId id) const {
  return std::find(options_.end_ids.begin(), options_.end_ids.end(), id) != options_.end_ids.end();
}

// The rest of a rule's completion after `prompt`, which may already contain a beginning of it.
std::span<const TokenId> Model::scripted(std::span<const TokenId> prompt) const {
  // `said` is how much of the completion the prompt already has, so a turn that was cut off continues where it ended.
  // Of several rules the one that explains most of the prompt's end counts.
  std::span<const TokenId> rest;
  std::size_t longest = 0;
  for (const Rule& rule : options_.rules) {
    for (std::size_t said = 0; said < rule.completion.size() && said <= prompt.size(); ++said) {
      const std::span<const TokenId> before = prompt.first(prompt.size() - said);
      const bool fits = ends_with(prompt, std::span(rule.completion).first(said)) && ends_with(before, rule.suffix);
      if (!fits || (!rest.empty() && rule.suffix.size() + said <= longest)) continue;
      rest = std::span(rule.completion).subspan(said);
      longest = rule.suffix.size() + said;
    }
  }
  return rest.empty() ? turn_behind(prompt) : rest;
}

// The rest of the turn that the prompt has opened.
std::span<const TokenId> Model::turn_behind(std::span<const TokenId> prompt) const {
  const Ids& opens = options_.opens;
  if (opens.empty() || options_.turns.empty()) return {};
  // Turns are counted, not compared, so that a script fits whatever a client makes of the turns in between.
  std::size_t count = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at + opens.size() <= prompt.size(); ++at) {
    if (!std::equal(opens.begin(), opens.end(), prompt.begin() + static_cast<std::ptrdiff_t>(at))) continue;
    ++count;
    begin = at + opens.size();
  }
  if (count == 0) return {};
  const Ids& turn = options_.turns[std::min(count, options_.turns.size()) - 1];
  const std::span<const TokenId> said = prompt.subspan(begin);
  const bool fits = said.size() <= turn.size() && std::equal(said.begin(), said.end(), turn.begin());
  return fits ? std::span(turn).subspan(said.size()) : std::span<const TokenId>();
}

Completion Model::complete(std::span<const TokenId> prompt, const Asked& asked) const {
  Completion completion;
  const std::span<const TokenId> script = scripted(prompt);
  // The state is a hash of the seed and of all ids so far, prompt and sampled alike.  So a completion does not depend
  // on how it was split into requests.
  std::uint64_t state = mixed(asked.seed.value_or(0));
  for (const TokenId id : prompt) state = mixed(state ^ static_cast<std::uint64_t>(id));
  const auto plain = static_cast<std::uint64_t>(options_.vocabulary - options_.first_plain);
  std::string text;
  while (completion.ids.size() < asked.max_tokens) {
    const std::size_t at = completion.ids.size();
    // The upper half of the state decides about the end, and all of it about the id: so the two are nearly independent.
    const bool ends = !options_.end_ids.empty() && (state >> 32U) % std::max<std::size_t>(1, options_.end_after) == 0;
    TokenId id = static_cast<TokenId>(state % plain) + options_.first_plain;
    if (ends && !asked.ignore_end) id = options_.end_ids.front();
    if (at < script.size()) id = script[at];
    // One round at most: a request may exclude every id, and then the last one is taken nevertheless.
    for (TokenId tried = 0; tried < options_.vocabulary && !may_follow(completion.ids, id, asked); ++tried)
      id = (id + 1) % options_.vocabulary;
    completion.ids.push_back(id);
    state = mixed(state ^ static_cast<std::uint64_t>(id));
    const bool is_stop = std::find(asked.stop_ids.begin(), asked.stop_ids.end(), id) != asked.stop_ids.end();
    if (is_stop || (is_end(id) && !asked.ignore_end)) {
      completion.stop = is_stop && !is_end(id) ? Stop::kStopId : Stop::kEnd;
      return completion;
    }
    text += text_of(id);
    for (const std::string& stop : asked.stops) {
      if (stop.empty() || text.find(stop) == std::string::npos) continue;
      completion.stop = Stop::kStopText;
      completion.stop_text = stop;
      return completion;
    }
  }
  return completion;
}

std::string Model::text_of(TokenId id) const {
  constexpr TokenId kBytes = 256;
  if (is_end(id)) return "";
  if (const auto found = options_.pieces.find(id); found != options_.pieces.end()) return found->second;
  if (id >= 0 && id < kBytes) return {static_cast<char>(id)};
  return " " + std::to_string(id);
}

std::string Model::text_of(std::span<const TokenId> ids) const {
  std::string text;
  for (const TokenId id : ids) text += text_of(id);
  return text;
}

Ids Model::ids_of(std::string_view text) {
  Ids ids;
  for (const char byte : text) ids.push_back(static_cast<unsigned char>(byte));
  return ids;
}

double Model::logprob_of(TokenId id) {
  constexpr TokenId kSteps = 8;
  return -0.125 * (1 + id % kSteps);
}

Ids Model::best(TokenId sampled, std::size_t count) const {
  Ids ids;
  for (std::size_t i = 0; i < count; ++i) {
    ids.push_back(
        static_cast<TokenId>((static_cast<std::size_t>(sampled) + i) % static_cast<std::size_t>(options_.vocabulary)));
  }
  return ids;
}

}  // namespace rondo::fakes
