// Explains breaks inside the completion, where the turn is written differently from what was sampled.
#include <algorithm>
#include <utility>

#include "causes/finder.h"
#include "format/units.h"
#include "probe/places.h"

namespace rondo::causes {
namespace {

using text::RunKind;

constexpr std::string_view kJsonPunctuation = "{}[]:,\" \n";

bool is_space(char c) { return format::is_space(c); }

std::string_view without_space(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

// Whether one begins with the other.
bool are_alike(std::string_view a, std::string_view b) {
  constexpr std::size_t kEnough = 12;
  const std::size_t size = std::min({a.size(), b.size(), kEnough});
  return size > 0 && a.substr(0, size) == b.substr(0, size);
}

bool contains_step(const text::Origins& origins, const text::Run& run, std::string_view step) {
  return origins.chains.to_string(run.chain).find(step) != std::string::npos;
}

}  // namespace

Cause Finder::of_turn() const {
  if (auto cause = of_reasoning()) return *std::move(cause);
  if (auto cause = of_stop()) return *std::move(cause);
  if (auto cause = of_what_follows()) return *std::move(cause);
  if (auto cause = of_call()) return *std::move(cause);
  if (auto cause = of_missing_part()) return *std::move(cause);
  const probe::Spot now = probe::spot_at(*again_, at_);
  if (now.run != nullptr && again_->origins.paths.message(now.run->path()) == index_ &&
      (contains_step(again_->origins, *now.run, "py") || contains_step(again_->origins, *now.run, "json")))
    return of_value(*now.run);
  if (auto cause = of_space()) return *std::move(cause);
  return of_the_rest();
}

// Reasoning that is missing, or that the model never wrote.
std::optional<Cause> Finder::of_reasoning() const {
  if (held_alone() && is_rewritten()) return std::nullopt;
  const std::optional<probe::Extent>& sampled = event_.sampled.regions.reasoning;
  const std::optional<probe::Extent> shown = shown_regions().reasoning;
  if (sampled && !shown && in_turn() <= sampled->end) {
    const std::string what = "the reasoning is gone";
    if (held_alone())
      return of_context(CauseKind::kReasoningDropped, *event_.alone, index_, what, reasoning_path(index_));
    return make(CauseKind::kReasoningDropped, here(), what + ": history has " + quoted_start(again_rest()) + " instead",
                reasoning_path(index_));
  }
  const std::string_view open = format::trimmed(format_.reasoning.open);
  if (!shown && is_at_mark(seen_, at_, open) && held_alone()) {
    return of_context(CauseKind::kReasoningDropped, *event_.alone, index_, "the empty reasoning is gone",
                      reasoning_path(index_));
  }
  const bool is_open = is_at_mark(again_->text.bytes(), at_, open);
  if (sampled || !is_open) return std::nullopt;
  const std::string what = "history has reasoning markup that was not sampled";
  if (held_alone()) return of_context(CauseKind::kReasoningAdded, *event_.alone, index_, what, "");
  return make(CauseKind::kReasoningAdded, here(), what + ": " + words_here() + " writes " + quoted_start(again_rest()));
}

// History ends the turn with another token.
std::optional<Cause> Finder::of_stop() const {
  if (event_.sampled.is_cut || in_turn() < event_.sampled.stop_begin) return std::nullopt;
  const probe::Spot now = probe::spot_at(*again_, at_);
  if (now.run != nullptr && now.run->path() != text::PathId::kNone) return std::nullopt;
  const std::string_view stop = std::string_view(event_.sampled.text).substr(event_.sampled.stop_begin);
  const std::string_view written = std::string_view(again_->text.bytes()).substr(event_.prompt.text.size());
  const std::string_view in_place = written.substr(std::min(event_.sampled.stop_begin, written.size()));
  if (is_space(again_rest().empty() ? 'x' : again_rest().front())) return std::nullopt;
  return make(CauseKind::kReplacedClose, here(),
              "the turn ended with " + text::quoted(stop) + ", history has " + quoted_start(in_place) +
                  " in its place: " + words_here());
}

// The turn was written as sampled only while it was the last one.
std::optional<Cause> Finder::of_what_follows() const {
  if (!held_alone()) return std::nullopt;
  const std::vector<text::Literal> places = {written_at(template_, *event_.alone, at_), here()};
  const std::string what = "the turn is written otherwise once messages follow";
  if (const jinja::Decision* flip = flip_around(outline_, *event_.alone, *again_, index_, places))
    return of_flip(CauseKind::kCondition, *flip, what, message_path(""));
  return of_context(CauseKind::kCondition, *event_.alone, index_, what, message_path(""));
}

// The closest condition for which `takes` holds and which decided what is written at the break.
template <typename Takes>
std::optional<text::Literal> Finder::closest(const Takes& takes) const {
  std::optional<text::Literal> best;
  std::size_t least = static_cast<std::size_t>(-1);
  for (const jinja::Decision& decision : again_->decisions) {
    const text::Literal place{decision.line, decision.column};
    if (again_->origins.contexts.at(decision.context).message != index_ || !outline_.decides(place, here())) continue;
    const std::size_t distance = outline_.distance(place, here());
    if (distance >= least || !takes(decision)) continue;
    least = distance;
    best = place;
  }
  return best;
}

// A value of a call, or the JSON around it.
std::optional<Cause> Finder::of_call() const {
  const std::size_t first = calls_begin();
  if (first == std::string::npos) return std::nullopt;
  const probe::Spot now = probe::spot_at(*again_, at_);
  const text::PathTable& paths = again_->origins.paths;
  const bool is_of_call = now.run != nullptr && paths.message(now.run->path()) == index_ &&
                          probe::message_field(paths, now.run->path()) == "tool_calls";
  const bool is_in_call = in_turn() >= first || is_of_call;
  const bool is_json = format_.calls.envelope != format::Envelope::kTags;
  if (!kept_calls() && in_turn() + 1 >= first) {
    return make(event_.sampled.is_cut ? CauseKind::kForcedClose : CauseKind::kLostMarkup, here(),
                "the call was not understood, and its markup is no part of a message");
  }
  if (now.run == nullptr) return std::nullopt;
  if (is_of_call) return of_value(*now.run);
  if (event_.sampled.is_cut && is_in_call)
    return make(CauseKind::kForcedClose, here(), "the call was cut off, and " + words_here() + " closes it");
  // Punctuation of JSON that is a literal of the template.
  const char written = again_rest().front();
  const char sampled = seen_rest().front();
  const bool is_punctuation = kJsonPunctuation.find(written) != std::string_view::npos ||
                              kJsonPunctuation.find(sampled) != std::string_view::npos;
  if (is_json && has_begun_json() && is_punctuation && now.run->kind == RunKind::kLiteral) {
    return make(CauseKind::kLiteralEnvelope, here(),
                words_here() + " writes JSON as " + quoted_start(again_rest()) + ", the model wrote " +
                    quoted_start(seen_rest()));
  }
  if (!is_in_call) return std::nullopt;
  if (const auto place = argument_form()) {
    return make(CauseKind::kCondition, *place,
                "arguments in another form are written otherwise: " + in_words(place_of(template_, *place)));
  }
  return std::nullopt;
}

// The closest condition on the arguments that decided what is written at the break, if the client sent them in a form
// that the template does not ask for.
std::optional<text::Literal> Finder::argument_form() const {
  const json::Value* calls = kept_calls();
  if (calls == nullptr) return std::nullopt;
  const bool is_other = std::ranges::any_of(calls->as_array(), [&](const json::Value& call) {
    const json::Value* function = call.find("function");
    const json::Value* arguments = function == nullptr ? nullptr : function->find("arguments");
    return arguments != nullptr && arguments->is_string() != format_.input.arguments_as_text;
  });
  if (!is_other) return std::nullopt;
  const text::PathTable& paths = again_->origins.paths;
  return closest([&](const jinja::Decision& decision) {
    return std::ranges::any_of(again_->reads_of(decision),
                               [&](text::PathId path) { return paths.step_name(path) == "arguments"; });
  });
}

// Whether the break is between the beginning of the first call and the end of the last.
bool Finder::is_in_calls() const {
  const std::vector<probe::Extent>& calls = event_.sampled.regions.calls;
  return !calls.empty() && in_turn() >= calls_begin() && in_turn() <= calls.back().end;
}

// Whether the JSON of the calls has begun before the break.
bool Finder::has_begun_json() const {
  const Regions& regions = event_.sampled.regions;
  std::size_t from = 0;
  for (const auto& part : {regions.reasoning, regions.content}) {
    if (part && part->end <= calls_begin()) from = std::max(from, part->end);
  }
  const std::string_view before = std::string_view(event_.sampled.text).substr(0, in_turn());
  return before.find_first_of("{[", from) != std::string_view::npos;
}

// What happened to a value of the call.
Cause Finder::of_value(const text::Run& run) const {
  const text::Origins& origins = again_->origins;
  const std::string path = origins.paths.to_string(run.path());
  const std::string_view last = origins.paths.step_name(run.path());
  const bool is_key = origins.paths.step_kind(run.path()) == text::PathTable::StepKind::kKey;
  // The filter that made the value may be in an earlier assignment.
  const bool is_made = run.chain != text::ChainId::kNone;
  const text::Literal where = is_made ? outline_.filtered_before(here()).value_or(here()) : here();
  const std::string writes = in_words(place_of(template_, where)) + " writes " + quoted_start(again_rest()) +
                             ", the model wrote " + quoted_start(seen_rest());
  if (last == "id" || run.kind == RunKind::kComputed)
    return make(CauseKind::kRewrittenId, here(), "the call's id is made anew: " + writes, path);
  if (contains_step(origins, run, "py"))
    return make(CauseKind::kPythonValue, where, "the value is printed as Python prints it: " + writes, path);
  const bool is_text = last == "arguments" && !is_key;
  const json::Value* calls = kept_calls();
  const json::Value* function = is_text && calls != nullptr ? calls->as_array()[0].find("function") : nullptr;
  const json::Value* arguments = function != nullptr ? function->find("arguments") : nullptr;
  const bool is_string = arguments != nullptr && arguments->is_string();
  if (contains_step(origins, run, "json")) {
    if (is_string && is_text)
      return make(CauseKind::kDoubleEncoded, where, "a string of JSON is serialised once more: " + writes, path);
    return make(CauseKind::kJsonRespelled, where, "the value is serialised again: " + writes, path);
  }
  if (is_key) return make(CauseKind::kReordered, here(), "arguments stand in another order: " + writes, path);
  return make(CauseKind::kJsonRespelled, where, "the value is spelled otherwise: " + writes, path);
}

// A part of the turn that is missing, or written somewhere else.
std::optional<Cause> Finder::of_missing_part() const {
  const Regions shown = shown_regions();
  const Regions& sampled = event_.sampled.regions;
  const bool keeps_content = !format::is_blank(chat::content_text(event_.kept));
  if (sampled.content && !shown.content && keeps_content && in_turn() <= sampled.content->end) {
    return make(CauseKind::kDroppedField, lost_at("content", "tool_calls"),
                "the content is gone: history has " + quoted_start(again_rest()) + " instead", message_path("content"));
  }
  if (!sampled.calls.empty() && kept_calls() && shown.calls.empty()) {
    return make(CauseKind::kDroppedField, lost_at("tool_calls", "content"),
                "the calls are gone: history has " + quoted_start(again_rest()), message_path("tool_calls"));
  }
  if (sampled.content && shown.content && !sampled.calls.empty() && !shown.calls.empty()) {
    const bool was_first = sampled.content->begin < sampled.calls.front().begin;
    const bool is_first = shown.content->begin < shown.calls.front().begin;
    if (was_first != is_first)
      return make(CauseKind::kReordered, here(), "content and calls stand in another order", message_path("content"));
  }
  return std::nullopt;
}

// The closest condition that decided what is written at the break; the break itself if there is none.
text::Literal Finder::decided_at() const {
  return closest([](const jinja::Decision&) { return true; }).value_or(here());
}

// The condition on `because`, another field of the message, that decides whether `field` is written; decided_at() if
// there is none.
text::Literal Finder::lost_at(std::string_view field, std::string_view because) const {
  const text::PathTable& paths = again_->origins.paths;
  for (const jinja::Decision& decision : again_->decisions) {
    const text::Literal place{decision.line, decision.column};
    if (again_->origins.contexts.at(decision.context).message != index_ || !outline_.names(place, field)) continue;
    const auto reads = again_->reads_of(decision);
    const bool is_about = std::ranges::any_of(reads, [&](text::PathId path) {
      return paths.message(path) == index_ && paths.step_name(paths.prefix(path, 3)) == because;
    });
    if (is_about || outline_.tag_names(place, because)) return place;
  }
  return decided_at();
}

// Only white space differs.
std::optional<Cause> Finder::of_space() const {
  const std::string_view seen = seen_rest();
  const std::string_view again = again_rest();
  if (seen.empty() || again.empty()) return std::nullopt;
  const bool was_space = is_space(seen.front());
  const bool now_space = is_space(again.front());
  if (!was_space && !now_space) return std::nullopt;
  if (!are_alike(without_space(seen), without_space(again))) return std::nullopt;
  if (!now_space) return of_lost_space();
  const probe::Spot now = probe::spot_at(*again_, at_);
  if (now.run != nullptr && now.run->kind == RunKind::kLiteral) {
    return make(CauseKind::kWhitespaceAdded, here(),
                words_here() + " writes " + quoted_start(again) + ", the model wrote " + quoted_start(seen));
  }
  if (is_in_calls()) return make(CauseKind::kJsonRespelled, here(), "the call is serialised again: " + words_here());
  return make(CauseKind::kLostMarkup, here(), "white space of the turn became part of a field");
}

// Sampled white space that is missing: it was trimmed from a field, or was never part of one.
Cause Finder::of_lost_space() const {
  const probe::Spot behind = probe::input_from(*again_, at_, 64);
  const jinja::Strip* best = nullptr;
  int best_rank = -1;
  for (const jinja::Strip& strip : again_->strips) {
    if (again_->origins.paths.message(strip.path) != index_) continue;
    const bool is_field = behind.run != nullptr && behind.run->path() == strip.path;
    // A condition may strip the field only to test it.
    const bool is_written = !outline_.is_condition({strip.line, strip.column});
    const int rank = (is_field ? 2 : 0) + (is_written ? 1 : 0);
    if (rank <= best_rank) continue;
    best = &strip;
    best_rank = rank;
  }
  if (best != nullptr) {
    const std::string path = again_->origins.paths.to_string(best->path);
    const text::Literal literal{best->line, best->column};
    return make(CauseKind::kWhitespaceStripped, literal,
                in_words(place_of(template_, literal)) + " cuts white space off " + path, path);
  }
  return make(CauseKind::kLostMarkup, here(),
              "white space between the parts of the turn is no part of a message: the model wrote " +
                  quoted_start(seen_rest()) + ", " + words_here() + " has " + quoted_start(again_rest()));
}

Cause Finder::of_the_rest() const {
  if (event_.sampled.is_cut)
    return make(CauseKind::kForcedClose, here(), "the turn was cut off, and " + words_here() + " closes it");
  const std::string differing =
      "the model wrote " + quoted_start(seen_rest()) + ", " + words_here() + " writes " + quoted_start(again_rest());
  const probe::Spot now = probe::spot_at(*again_, at_);
  const bool is_field = now.run != nullptr && now.run->path() != text::PathId::kNone;
  const std::string path = is_field ? again_->origins.paths.to_string(now.run->path()) : "";
  return make(CauseKind::kLostMarkup, here(), differing, path);
}

}  // namespace rondo::causes
