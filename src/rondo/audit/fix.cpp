#include "audit/fix.h"

#include <algorithm>
#include <set>
#include <utility>

#include "audit/candidates.h"
#include "audit/line_diff.h"
#include "audit/play.h"
#include "audit/scenarios.h"
#include "audit/spots.h"
#include "audit/subject.h"
#include "render/explain.h"

namespace rondo::audit {
namespace {

constexpr std::size_t kMostRounds = 16;  // each makes one change
constexpr std::size_t kMostTrials = 3000;
constexpr std::size_t kMostToggles = 24;  // conditions of one turn

// A scenario about the form in which clients send, or models spell, what may be said in several, or about what few templates
// take: it is mended where an edit does that, but a template that holds to one form is append-only all the same.
bool is_about_form(const Scenario& scenario) {
  if (scenario.arguments != ArgumentsForm::kWanted || scenario.content != ContentForm::kWanted ||
      scenario.reasoning != ReasoningForm::kWanted)
    return true;
  return std::ranges::any_of(scenario.turns, [](const ScenarioTurn& turn) {
    const bool is_late = std::ranges::any_of(
        turn.following, [](const std::string& what) { return what != "user" && what != "results"; });
    switch (turn.spelling) {
      case Spelling::kCanonical:
      case Spelling::kSpaceBeforeContent:
      case Spelling::kSpaceBehindContent:
      case Spelling::kBlankLineBehindReasoning:
      case Spelling::kNewlineEndsReasoning: return is_late;
      default: return true;
    }
  });
}

// Whether a setting turns switches: what else a variable may hold is not known well enough to mend a template for it.
bool is_switch(const Setting& setting) {
  return std::ranges::all_of(setting.kwargs, [](const json::Member& member) { return member.value.is_bool(); });
}

// A scenario under a setting, as something to be reached.
struct Goal {
  const Setting* setting = nullptr;
  const Scenario* scenario = nullptr;
  bool is_form = false;
};

// What became of a goal under one source.
struct Attempt {
  bool is_played = false;
  bool holds = false;
  std::size_t kept = 0;          // bytes of what the model has seen, up to where a next prompt differs from that
  std::vector<Sampled> samples;  // see Played
  std::vector<std::string> texts;
  std::size_t data_bytes = 0;
};

// Whether the mended template may take the place of the original in this case, and is not further from holding than what
// there is: as much is kept, and as much of the messages is shown.  What was written of a form that was not understood is free.
bool is_kept(bool is_form, const Attempt& original, const Attempt& current, const Attempt& mended) {
  if (!original.is_played) return true;
  if (original.holds) return mended.holds && mended.texts == original.texts;
  if (is_form) return true;
  if (!mended.is_played) return false;
  return mended.texts.front() == original.texts.front() && mended.kept >= current.kept &&
         mended.data_bytes >= current.data_bytes;
}

std::size_t common_bytes(const std::string& seen, const std::string& again) {
  return static_cast<std::size_t>(std::ranges::mismatch(seen, again).in1 - seen.begin());
}

Attempt attempt_of(const Played& played) {
  Attempt out;
  out.samples = played.samples;
  out.texts = played.texts;
  out.data_bytes = played.data_bytes;
  out.is_played = !out.texts.empty();
  out.holds = out.is_played && !played.broken && played.outcome.note.empty();
  for (std::size_t i = 0; i + 1 < out.texts.size(); i += 2) out.kept += common_bytes(out.texts[i], out.texts[i + 1]);
  return out;
}

std::string if_assistant(const std::string& text, const std::string& message) {
  return "(" + quote(text) + " if " + message + ".role == 'assistant' else '')";
}

// Whether a text holds something that the model says.
bool says(const Scenario& scenario, const std::string& text) {
  return std::ranges::any_of(scenario.turns, [&](const ScenarioTurn& turn) {
    const auto holds = [&](const std::string& said) { return !said.empty() && text.find(said) != std::string::npos; };
    return holds(turn.reasoning) || holds(turn.content) ||
           std::ranges::any_of(turn.calls, [&](const ScenarioCall& call) { return holds(call.name); });
  });
}

// Reasoning behind the expression `begin`, where there is some, and always.
void add_reasoning(const std::string& begin, const std::string& close, std::vector<Missing>& out) {
  const std::string end = " ~ " + quote(close);
  out.push_back({[=](const std::string& message) {
                   const std::string field = message + ".reasoning_content";
                   return "(" + begin + field + end + " if " + field + " else '')";
                 },
                 "reasoning is written where there is some"});
  out.push_back({[=](const std::string& message) {
                   return "(" + begin + "(" + message + ".reasoning_content or '')" + end + " if " + message +
                          ".role == 'assistant' else '')";
                 },
                 "reasoning is written"});
}

// What stands in `seen`, and lacks in front of `again`, in the ways in which it may be written.
std::vector<Missing> missing_at(const format::Format& format, const Scenario& scenario, std::string_view seen,
                                std::string_view again) {
  std::vector<Missing> out;
  // Behind what the model has seen, its text goes on as history does.
  constexpr std::size_t kMostMissing = 80;
  constexpr std::size_t kAlike = 12;
  for (std::size_t size = 1; size <= std::min(seen.size(), kMostMissing); ++size) {
    if (!seen.substr(size).starts_with(again.substr(0, kAlike))) continue;
    const std::string text(seen.substr(0, size));
    if (says(scenario, text)) break;
    out.push_back({[text](const std::string& message) { return if_assistant(text, message); },
                   "the turn begins as the generation prompt does"});
    break;
  }
  if (scenario.has_reasoning()) {
    add_reasoning(quote(format.reasoning.open) + " ~ ", format.reasoning.close, out);
    if (!format.reasoning.open.empty()) add_reasoning("", format.reasoning.close, out);
  }
  out.push_back({[](const std::string& message) { return "(" + message + ".content or '')"; }, "content is written"});
  return out;
}

// How far a source is: goals that hold, those about forms, and bytes that are kept of what breaks.
struct Score {
  std::size_t held = 0;
  std::size_t formed = 0;
  std::size_t kept = 0;

  // More goals hold.
  [[nodiscard]] bool wins(const Score& other) const {
    return std::pair(held, formed) > std::pair(other.held, other.formed);
  }
  // Bytes count only where no goal is won: an edit that stands first is the likelier one.
  [[nodiscard]] bool is_better_than(const Score& best, const Score& now) const {
    if (wins(best) || best.wins(*this)) return wins(best);
    return !wins(now) && kept > best.kept;
  }
};

// A source, what became of the goals under it, and the edits that made it.
struct State {
  Source source;
  std::vector<Attempt> attempts;
  std::vector<std::string> edits;
};

class Fixer {
 public:
  // `first`: the stage of the first setting.
  Fixer(const Subject& subject, std::unique_ptr<const Stage> first, const FixOptions& options)
      : subject_(subject),
        settings_(settings_of(subject, *first).list),
        options_(options),
        source_(subject.chat_template->source()) {
    for (const Setting& setting : settings_) {
      stages_.push_back(first != nullptr ? std::move(first) : stage_under(setting));
      for (const Scenario& scenario : scenarios()) {
        const bool is_wanted = !scenario.is_inherent && (&setting == &settings_.front() || scenario.is_core);
        if (is_wanted && stages_.back() != nullptr) goals_.push_back({&setting, &scenario, is_about_form(scenario)});
      }
    }
  }

  Fix run() {
    original_ = *attempts(subject_, false);
    current_ = original_;
    Fix out;
    // Edits that only bring a break further are steps on the way to one that mends it; without that one they go again.
    State reached{source_, current_, {}};
    for (std::size_t round = 0; round < kMostRounds && improve(out); ++round) {
      if (score(current_).wins(score(reached.attempts))) reached = {source_, current_, out.edits};
    }
    source_ = std::move(reached.source);
    current_ = std::move(reached.attempts);
    out.edits = std::move(reached.edits);
    tell(out);
    return out;
  }

 private:
  // nullptr if it is not played.
  [[nodiscard]] std::unique_ptr<const Stage> stage_under(const Setting& setting) const {
    if (!is_switch(setting)) return nullptr;
    auto made = Stage::make(subject_, setting);
    return made.ok() ? std::move(made).value() : nullptr;
  }

  [[nodiscard]] const Stage& stage_of(const Goal& goal) const {
    return *stages_[static_cast<std::size_t>(goal.setting - settings_.data())];
  }

  // Every goal under the template of `subject`; with `compare` nullopt as soon as one is not kept.
  [[nodiscard]] std::optional<std::vector<Attempt>> attempts(const Subject& subject, bool compare) const {
    std::vector<Attempt> out;
    const Setting* setting = nullptr;
    std::unique_ptr<const Stage> stage;
    for (std::size_t i = 0; i < goals_.size(); ++i) {
      if (goals_[i].setting != setting) stage = stage_of(goals_[i]).with(subject);
      setting = goals_[i].setting;
      Sending sending;
      if (compare) sending.samples = &original_[i].samples;
      out.push_back(attempt_of(play(*stage, *goals_[i].scenario, sending)));
      if (compare && !is_kept(goals_[i].is_form, original_[i], current_[i], out.back())) return std::nullopt;
    }
    return out;
  }

  [[nodiscard]] Score score(const std::vector<Attempt>& attempts) const {
    Score out;
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      (goals_[i].is_form ? out.formed : out.held) += attempts[i].holds ? 1 : 0;
      out.kept += attempts[i].kept;
    }
    return out;
  }

  [[nodiscard]] std::optional<Subject> subject_with(const std::string& source) const {
    auto compiled = jinja::Template::compile(source, {}, subject_.chat_template->name());
    if (!compiled.ok()) return std::nullopt;
    Subject out = subject_;
    out.chat_template = std::move(compiled).value();
    return out;
  }

  // Makes the best of all edits that help; false if none does.
  bool improve(Fix& out) {
    const Score now = score(current_);
    Score best = now;
    std::optional<std::vector<Attempt>> best_attempts;
    Candidate chosen;
    std::set<std::string> seen = {source_.text()};
    for (const Candidate& candidate : candidates()) {
      std::string edited = source_.apply(candidate.edits);
      if (!seen.insert(edited).second) continue;
      if (trials_ >= kMostTrials) break;
      ++trials_;
      if (options_.on_progress) options_.on_progress(trials_);
      const std::optional<Subject> subject = subject_with(edited);
      if (!subject) continue;
      auto tried = attempts(*subject, true);
      if (!tried) continue;
      Score reached = score(*tried);
      if (!candidate.is_copying) reached.formed = std::min(reached.formed, now.formed);
      if (!reached.is_better_than(best, now)) continue;
      best = reached;
      best_attempts = std::move(tried);
      chosen = candidate;
    }
    if (!best_attempts) return false;
    current_ = *std::move(best_attempts);
    source_ = Source(source_.apply(chosen.edits));
    out.edits.push_back(std::move(chosen.sentence));
    return true;
  }

  // Edits that may help the goals that do not hold, the most likely ones first.
  [[nodiscard]] std::vector<Candidate> candidates() const {
    std::vector<Candidate> likely;
    std::vector<Candidate> others;
    const std::optional<Subject> subject = subject_with(source_.text());
    for (std::size_t i = 0; subject && i < goals_.size(); ++i) {
      if (current_[i].holds || !current_[i].is_played) continue;
      const std::unique_ptr<const Stage> stage = stage_of(goals_[i]).with(*subject);
      Sending sending;
      sending.samples = &original_[i].samples;
      const Played played = play(*stage, *goals_[i].scenario, sending);
      if (!played.broken || !played.broken->again) continue;
      add_flips(*played.broken, likely);
      add_strips(*played.broken, likely);
      add_insertions(*stage, *goals_[i].scenario, *played.broken, likely);
      add_toggles(*played.broken, others);
    }
    for (Candidate& candidate : verbatim_candidates(source_)) likely.push_back(std::move(candidate));
    likely.insert(likely.end(), std::make_move_iterator(others.begin()), std::make_move_iterator(others.end()));
    return likely;
  }

  static void add(std::vector<Candidate>& out, std::vector<Candidate> more) {
    out.insert(out.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }

  void add_flips(const Step& step, std::vector<Candidate>& out) const {
    std::vector<const jinja::Decision*> flipped = render::flips(step.prompt, *step.again);
    if (step.alone) {
      const auto more = render::flips(*step.alone, *step.again);
      flipped.insert(flipped.begin(), more.begin(), more.end());
    }
    // What was asked about the turn itself is the likelier cause.
    const auto index = static_cast<std::int32_t>(step.history.size());
    std::ranges::stable_partition(flipped, [&](const jinja::Decision* decision) {
      return step.again->origins.contexts.at(decision->context).owner() == index;
    });
    for (const jinja::Decision* decision : flipped)
      add(out, condition_candidates(source_, decision->line, decision->column, !decision->outcome));
  }

  void add_strips(const Step& step, std::vector<Candidate>& out) const {
    std::set<std::int32_t> lines;
    for (const jinja::Strip& strip : step.again->strips) {
      if (lines.insert(strip.line).second) add(out, strip_candidates(source_, strip.line));
    }
  }

  // What the model has seen at the place where history goes on with something else, written there.
  void add_insertions(const Stage& stage, const Scenario& scenario, const Step& step,
                      std::vector<Candidate>& out) const {
    const std::string seen = step.seen();
    const std::string& again = step.again->text.bytes();
    const std::size_t at = common_bytes(seen, again);
    const Spot spot = spot_at(*step.again, at);
    if (spot.run == nullptr) return;
    text::Literal place;
    std::optional<std::size_t> offset;
    if (spot.run->kind == text::RunKind::kLiteral) {
      place = step.again->origins.literals[spot.run->origin];
      offset = spot.run->source_offset + (at - spot.begin);
    } else {
      place = written_at(*stage.subject().chat_template, *step.again, at);
    }
    for (const Missing& missing :
         missing_at(stage.format(), scenario, std::string_view(seen).substr(at), std::string_view(again).substr(at)))
      add(out, insertion_candidates(source_, place, offset, missing));
  }

  // Conditions that were evaluated for the turn, the other way.
  void add_toggles(const Step& step, std::vector<Candidate>& out) const {
    const auto index = static_cast<std::int32_t>(step.history.size());
    std::set<std::uint32_t> nodes;
    for (const jinja::Decision& decision : step.again->decisions) {
      if (step.again->origins.contexts.at(decision.context).owner() != index) continue;
      if (nodes.size() >= kMostToggles || !nodes.insert(decision.node).second) continue;
      add(out, condition_candidates(source_, decision.line, decision.column, !decision.outcome));
    }
  }

  void tell(Fix& out) const {
    out.source = source_.text();
    const std::string& name = subject_.chat_template->name();
    out.diff = unified_diff(subject_.chat_template->source(), out.source, name.substr(name.rfind('/') + 1));
    out.was_append_only = true;
    for (std::size_t i = 0; i < goals_.size(); ++i) {
      if (!original_[i].is_played) continue;
      const FixedCase told{goals_[i].scenario->name, goals_[i].setting->name, original_[i].holds, current_[i].holds};
      if (!told.held && !goals_[i].is_form) out.was_append_only = false;
      if (told.holds && !told.held) out.changed.push_back(told);
      if (!told.holds) (goals_[i].is_form ? out.other_forms : out.broken).push_back(told);
    }
    out.is_append_only = out.broken.empty();
    if (out.edits.empty() && !out.was_append_only)
      out.refusal = "no edit was found that mends a break and keeps the text of the conversations that hold";
  }

  const Subject& subject_;
  std::vector<Setting> settings_;
  const FixOptions& options_;
  Source source_;
  std::vector<std::unique_ptr<const Stage>> stages_;  // of the original, by setting
  std::vector<Goal> goals_;
  std::vector<Attempt> original_;
  std::vector<Attempt> current_;
  std::size_t trials_ = 0;
};

json::Array cases_to_json(const std::vector<FixedCase>& cases) {
  json::Array out;
  for (const FixedCase& entry : cases)
    out.emplace_back(json::Object{{"scenario", entry.scenario}, {"setting", entry.setting}});
  return out;
}

}  // namespace

Result<Fix> fix(const Input& input, const FixOptions& options) {
  auto subject = make_subject(input);
  if (!subject.ok()) return subject.error();
  auto first = Stage::make(subject.value(), {"default", subject.value().base.kwargs});
  if (!first.ok()) return first.error();
  return Fixer(subject.value(), std::move(first).value(), options).run();
}

json::Value to_json(const Fix& fix) {
  json::Array edits;
  for (const std::string& edit : fix.edits) edits.emplace_back(edit);
  json::Object out{{"was_append_only", fix.was_append_only},
                   {"is_append_only", fix.is_append_only},
                   {"edits", std::move(edits)},
                   {"diff", fix.diff},
                   {"changed", cases_to_json(fix.changed)},
                   {"broken", cases_to_json(fix.broken)},
                   {"other_forms", cases_to_json(fix.other_forms)},
                   {"template", fix.source}};
  if (!fix.refusal.empty()) out.set("refusal", fix.refusal);
  return out;
}

}  // namespace rondo::audit
