// Explains breaks before the completion, where the prompt itself is written differently than before.
#include <algorithm>
#include <iterator>
#include <span>
#include <utility>

#include "causes/finder.h"
#include "format/units.h"
#include "jinja/reading/outline.h"
#include "probe/places.h"

namespace rondo::causes {
namespace {

constexpr std::size_t kReach = 400;  // bytes of markup between a break and its data

// Where the text that no message owns begins at the end of a prompt: a generation prompt that the template writes even
// if it is not asked for one.
std::size_t unowned_end(const jinja::Rendered& prompt) {
  std::size_t at = prompt.text.size();
  const auto runs = prompt.text.runs();
  for (std::size_t i = runs.size(); i-- > 0;) {
    const bool is_owned = probe::owner(runs[i], prompt.origins) != text::kNoMessage;
    if (is_owned || runs[i].path() != text::PathId::kNone) break;
    at -= runs[i].size;
  }
  return at;
}

std::string_view role_of(std::span<const json::Value> messages, std::int32_t index) {
  if (index < 0 || static_cast<std::size_t>(index) >= messages.size()) return {};
  return messages[static_cast<std::size_t>(index)].find_string("role").value_or("");
}

}  // namespace

Cause Finder::of_prompt() const {
  const auto bare = event_.render_bare();
  const std::string& text = event_.prompt.text.bytes();
  std::size_t begin = bare.ok() && text.starts_with(bare.value().text.bytes()) ? bare.value().text.size() : text.size();
  if (begin == text.size()) begin = unowned_end(event_.prompt);
  const probe::Spot then = probe::spot_at(event_.prompt, at_);
  const bool is_marked = then.run != nullptr && event_.prompt.origins.contexts.at(then.run->context).generation_prompt;
  if (is_marked || at_ >= begin) return of_generation_prompt(std::min(begin, at_));
  const probe::Spot input_then = probe::input_from(event_.prompt, at_, kReach);
  const probe::Spot input_now = probe::input_from(*again_, at_, kReach);
  if (auto cause = of_new_message(input_now)) return *std::move(cause);
  if (is_moved_head(input_then, input_now)) {
    const bool is_tools =
        (input_then.run != nullptr && event_.prompt.origins.paths.root(input_then.run->path()) == "tools") ||
        (input_now.run != nullptr && again_->origins.paths.root(input_now.run->path()) == "tools");
    return of_context(CauseKind::kMovedTools, event_.prompt, text::kNoMessage,
                      is_tools ? "the tool declarations stand elsewhere" : "the system text stands elsewhere",
                      is_tools ? "tools" : "messages[0].content");
  }
  return of_earlier_turn();
}

// New text is written before old text, or the text that ended the prompt now follows the turn.
std::optional<Cause> Finder::of_new_message(const probe::Spot& now) const {
  const std::int32_t message = now.run == nullptr ? text::kNoMessage : again_->origins.paths.message(now.run->path());
  if (message > index_) {
    const std::string path = again_->origins.paths.to_string(now.run->path());
    return make(CauseKind::kMovedTools, written_at(template_, *again_, std::max(at_, now.begin)),
                "text of a new message is written before the turns that were there", path);
  }
  const probe::Spot then = probe::spot_at(event_.prompt, at_);
  const probe::Spot here_now = probe::spot_at(*again_, at_);
  if (then.run == nullptr || here_now.run == nullptr) return std::nullopt;
  if (probe::owner(*then.run, event_.prompt.origins) != text::kNoMessage) return std::nullopt;
  if (probe::owner(*here_now.run, again_->origins) < index_) return std::nullopt;
  const text::Literal literal = written_at(template_, event_.prompt, at_);
  return make(CauseKind::kMovedTools, literal,
              "text that stood at the end of the prompt stands behind the turn now: " +
                  in_words(place_of(template_, literal)) + " wrote " + quoted_start(seen_rest()));
}

bool Finder::is_moved_head(const probe::Spot& then, const probe::Spot& now) const {
  const auto is_head = [&](const jinja::Rendered& rendered, const probe::Spot& spot) {
    if (spot.run == nullptr) return false;
    if (rendered.origins.paths.root(spot.run->path()) == "tools") return true;
    const std::int32_t message = rendered.origins.paths.message(spot.run->path());
    return role_of(event_.history, message) == "system" &&
           probe::message_field(rendered.origins.paths, spot.run->path()) == "content";
  };
  const bool was = is_head(event_.prompt, then);
  const bool is = is_head(*again_, now);
  if (was != is) return true;
  return was &&
         event_.prompt.origins.paths.to_string(then.run->path()) != again_->origins.paths.to_string(now.run->path());
}

// For a constant that has a name, the use of it that most likely wrote the end of the prompt: the one that the prompt's
// last condition decided.  For everything else, the place itself.
text::Literal Finder::use_of(const text::Literal& constant) const {
  const std::vector<text::Literal> uses = outline_.uses(constant);
  if (uses.empty()) return constant;
  const std::vector<jinja::Decision>& decisions = event_.prompt.decisions;
  for (auto decision = decisions.rbegin(); decision != decisions.rend(); ++decision) {
    const text::Literal condition{decision->line, decision->column};
    std::vector<text::Literal> decided;
    std::ranges::copy_if(uses, std::back_inserter(decided),
                         [&](const text::Literal& use) { return outline_.decides(condition, use); });
    if (!decided.empty()) return decision->outcome ? decided.front() : decided.back();
  }
  return uses.back();
}

// The turn begins differently from what the generation prompt announced.
Cause Finder::of_generation_prompt(std::size_t begin) const {
  const std::string_view opened = std::string_view(event_.prompt.text.bytes()).substr(begin);
  const std::string_view open = format::trimmed(format_.reasoning.open);
  const bool opens_reasoning = !open.empty() && opened.find(open) != std::string_view::npos;
  if (held_alone()) {
    // History begins the same way until something else follows.
    const bool is_reasoning = opens_reasoning && at_ >= begin + opened.rfind(open);
    if (is_reasoning && !is_rewritten()) {
      return of_context(CauseKind::kReasoningDropped, *event_.alone, index_,
                        "the reasoning that the prompt opened is gone", reasoning_path(index_));
    }
    return of_context(CauseKind::kCondition, *event_.alone, index_, "the turn begins otherwise once messages follow",
                      "");
  }
  // The text may be a named constant.  Then the fault is where the constant is written, not where it is defined.
  const text::Literal literal = use_of(written_at(template_, event_.prompt, at_));
  return make(CauseKind::kGenerationPrompt, literal,
              in_words(place_of(template_, literal)) + " opens the turn with " +
                  quoted_start(std::string_view(event_.prompt.text.bytes()).substr(at_)) + ", where history has " +
                  quoted_start(again_rest()));
}

// A turn before the last prompt is written differently.
Cause Finder::of_earlier_turn() const {
  const probe::Spot then = probe::spot_at(event_.prompt, at_);
  const probe::Spot now = probe::spot_at(*again_, at_);
  std::int32_t message = text::kNoMessage;
  if (then.run != nullptr) message = probe::owner(*then.run, event_.prompt.origins);
  if (message == text::kNoMessage && now.run != nullptr) message = probe::owner(*now.run, again_->origins);
  const std::string_view open = format::trimmed(format_.reasoning.open);
  const bool was_opened = is_at_mark(seen_, at_, open);
  const bool is_opened = is_at_mark(again_->text.bytes(), at_, open);
  const bool is_turn = message != text::kNoMessage;
  const std::string& field = format_.input.reasoning_field;
  const bool was_shown =
      is_turn && (probe::shows_reasoning(event_.prompt, message, field) || (was_opened && !is_opened));
  const bool is_shown = is_turn && (probe::shows_reasoning(*again_, message, field) || (is_opened && !was_opened));
  Cause cause;
  if (was_shown && !is_shown) {
    cause = of_context(CauseKind::kReasoningDropped, event_.prompt, message, "the reasoning of an earlier turn is gone",
                       reasoning_path(message));
  } else if (!was_shown && is_shown) {
    cause = of_context(CauseKind::kReasoningAdded, event_.prompt, message, "the reasoning of an earlier turn is back",
                       reasoning_path(message));
  } else {
    cause = of_context(CauseKind::kCondition, event_.prompt, message, "an earlier turn is written otherwise", "");
  }
  cause.message = message;
  return cause;
}

// What stands at `places` may be a constant, or a text that was put together before it is written: then the condition
// may be one about the tag that writes it.
const jinja::Decision* Finder::flip_of_use(const jinja::Rendered& earlier, std::int32_t message,
                                           const std::vector<text::Literal>& places) const {
  std::vector<text::Literal> uses;
  for (const text::Literal& place : places) {
    if (place.line > 0) std::ranges::copy(outline_.uses(place), std::back_inserter(uses));
  }
  const jinja::Decision* flip = flip_around(outline_, earlier, *again_, message, uses);
  return flip != nullptr && again_->origins.contexts.at(flip->context).message == message ? flip : nullptr;
}

// Something is written differently than in `earlier` because other messages follow: a condition went the other way, or
// another loop wrote it.
Cause Finder::of_context(CauseKind kind, const jinja::Rendered& earlier, std::int32_t message, const std::string& what,
                         std::string path) const {
  const text::Literal then = written_at(template_, earlier, at_);
  const text::Literal now = here();
  if (const jinja::Decision* flip = flip_around(outline_, earlier, *again_, message, {then, now}))
    return of_flip(kind, *flip, what, std::move(path));
  const std::vector<text::Literal> loops_then = outline_.loops(then);
  const std::vector<text::Literal> loops_now = outline_.loops(now);
  const auto is_same = [](const text::Literal& a, const text::Literal& b) {
    return a.line == b.line && a.column == b.column;
  };
  const auto differing = std::ranges::mismatch(loops_then, loops_now, is_same);
  if (kind != CauseKind::kMovedTools && differing.in1 != loops_then.end() && differing.in2 != loops_now.end()) {
    return make(CauseKind::kMovedMessage, *differing.in2,
                what + ": the message is written by " + in_words(place_of(template_, *differing.in2)) +
                    ", and was by " + in_words(place_of(template_, *differing.in1)),
                std::move(path));
  }
  if (const jinja::Decision* flip = flip_of_use(earlier, message, {then, now}))
    return of_flip(kind, *flip, what, std::move(path));
  if (const jinja::Decision* flip = first_flip(earlier, *again_, message))
    return of_flip(kind, *flip, what, std::move(path));
  const text::Literal& literal = now.line > 0 ? now : then;
  return make(kind, literal, what + ", at " + in_words(place_of(template_, literal)), std::move(path));
}

}  // namespace rondo::causes
