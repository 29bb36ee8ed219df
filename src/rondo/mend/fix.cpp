#include "mend/fix.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "audit/line_diff.h"
#include "audit/marks.h"
#include "audit/play.h"
#include "audit/scenarios.h"
#include "audit/subject.h"
#include "causes/places.h"
#include "mend/candidates.h"
#include "mend/fix_goals.h"
#include "mend/splice_candidates.h"
#include "mend/splices.h"
#include "probe/places.h"

namespace rondo::mend {
namespace {

constexpr std::size_t kMostRounds = 24;      // each makes one change
constexpr std::size_t kMostIdleRounds = 3;   // consecutive rounds without a gain
constexpr std::size_t kMostTrials = 1500;    // of an edit on all goals
constexpr std::size_t kMostTries = 12'000;   // of an edit on the goal that asked for it
constexpr std::size_t kMostToggles = 24;     // conditions of one turn
constexpr std::size_t kSameBreakBytes = 24;  // two breaks are the same if this many bytes agree

// Whether a setting only turns switches.  What other variables may hold is not known well enough to mend a template for
// it.
bool is_switch(const Setting& setting) {
  return std::ranges::all_of(setting.kwargs, [](const json::Member& member) { return member.value.is_bool(); });
}

// A source, the result of each goal under it, and the edits that made it.
struct State {
  Source source;
  std::vector<Attempt> attempts;
  std::vector<std::string> edits;
};

// The best edit of a round so far.
struct Choice {
  Score score;
  std::optional<std::vector<Attempt>> attempts;
  Candidate candidate;
};

// A goal that breaks under the current template, and how.
struct Broken {
  std::size_t goal = 0;
  std::unique_ptr<const Stage> stage;
  Played played;
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
      for (const Scenario& scenario : audit::scenarios()) {
        const bool is_wanted = !scenario.is_inherent && (&setting == &settings_.front() || scenario.is_core);
        if (is_wanted && stages_.back() != nullptr) goals_.push_back({&setting, &scenario, is_about_form(scenario)});
      }
    }
  }

  Fix run() {
    original_ = *attempts(subject_, false);
    for (std::size_t i = 0; i < goals_.size(); ++i) {
      const bool is_spelled = goals_[i].scenario->turns.front().spelling != audit::Spelling::kCanonical;
      if (is_spelled && original_[i].loses_space) goals_[i].is_form = true;
    }
    current_ = original_;
    Fix out;
    // An edit that only moves a break further is a step towards one that mends it.  Without that final edit the steps
    // are undone.
    State reached{source_, current_, {}};
    std::size_t idle = 0;
    for (std::size_t round = 0; round < kMostRounds && idle < kMostIdleRounds && improve(out); ++round) {
      ++idle;
      if (!score(current_).wins(score(reached.attempts))) continue;
      reached = {source_, current_, out.edits};
      idle = 0;
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

  // Plays every goal under the template of `subject`.  If `compare` is given, stops with nullopt at the first goal that
  // is not kept.
  [[nodiscard]] std::optional<std::vector<Attempt>> attempts(const Subject& subject, bool compare) const {
    std::vector<Attempt> out;
    const Setting* setting = nullptr;
    std::unique_ptr<const Stage> stage;
    for (std::size_t i = 0; i < goals_.size(); ++i) {
      if (goals_[i].setting != setting) stage = stage_of(goals_[i]).with(subject);
      setting = goals_[i].setting;
      out.push_back(attempt_of(compare ? played(*stage, i) : play(*stage, *goals_[i].scenario, {})));
      if (compare && !is_kept(goals_[i], original_[i], current_[i], out.back())) return std::nullopt;
    }
    return out;
  }

  [[nodiscard]] Score score(const std::vector<Attempt>& attempts) const {
    Score out;
    for (std::size_t i = 0; i < attempts.size(); ++i) {
      if (!original_[i].is_played) continue;
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

  // Makes an edit that helps; false if none does.  The edits for one break are tried before those for the next, so the
  // first break that can be mended gets the best edit for it.  If no edit mends any, this makes the one that keeps
  // most.
  bool improve(Fix& out) {
    const Score now = score(current_);
    Choice best{now, std::nullopt, {}};
    std::unordered_set<std::string> seen = {source_.text()};
    const std::optional<Subject> subject = subject_with(source_.text());
    if (!subject) return false;
    const std::vector<Broken> broken = broken_goals(*subject);
    const auto try_all = [&](std::vector<Candidate> candidates, std::optional<std::size_t> goal) {
      for (Candidate& candidate : candidates) try_one(std::move(candidate), goal, now, seen, best);
      return best.score.wins(now);
    };
    const auto find = [&] {
      for (const Broken& goal : broken) {
        if (try_all(likely_for(goal, *subject), goal.goal)) return;
      }
      if (try_all(verbatim_candidates(source_), std::nullopt)) return;
      for (const Broken& goal : broken) {
        if (try_all(toggles_for(*goal.played.broken), goal.goal)) return;
      }
    };
    find();
    if (!best.attempts) return false;
    current_ = *std::move(best.attempts);
    source_ = Source(source_.apply(best.candidate.edits));
    out.edits.push_back(std::move(best.candidate.sentence));
    return true;
  }

  // `goal`: the goal that asked for the edit and must gain by it.
  void try_one(Candidate candidate, std::optional<std::size_t> goal, const Score& now,
               std::unordered_set<std::string>& seen, Choice& best) {
    if (tries_ >= kMostTries || trials_ >= kMostTrials) return;
    const std::string edited = source_.apply(candidate.edits);
    if (!seen.insert(edited).second) return;
    if (++tries_ % 16 == 0 && options_.on_progress) options_.on_progress(tries_);
    const std::optional<Subject> subject = subject_with(edited);
    if (!subject || (goal && !gains(*goal, *subject))) return;
    ++trials_;
    auto tried = attempts(*subject, true);
    if (!tried) return;
    Score reached = score(*tried);
    if (!candidate.is_copying) reached.formed = std::min(reached.formed, now.formed);
    if (!reached.is_better_than(best.score, now)) return;
    best = {reached, std::move(tried), std::move(candidate)};
  }

  // Plays with the completions that the model wrote under the original template.
  [[nodiscard]] Played played(const Stage& stage, std::size_t goal) const {
    audit::Sending sending;
    sending.samples = &original_[goal].samples;
    return play(stage, *goals_[goal].scenario, sending);
  }

  [[nodiscard]] bool gains(std::size_t goal, const Subject& subject) const {
    const Attempt reached = attempt_of(played(*stage_of(goals_[goal]).with(subject), goal));
    if (!is_kept(goals_[goal], original_[goal], current_[goal], reached)) return false;
    return reached.holds || reached.kept > current_[goal].kept;
  }

  // Goals that break, one for each way of breaking.  Those that an append-only template would keep come first, and
  // among them those with reasoning, which show more of a turn.
  [[nodiscard]] std::vector<Broken> broken_goals(const Subject& subject) const {
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < goals_.size(); ++i) {
      if (original_[i].is_played && !current_[i].holds) order.push_back(i);
    }
    std::ranges::stable_sort(order, {}, [&](std::size_t i) {
      const bool is_spelled = goals_[i].scenario->turns.front().spelling != audit::Spelling::kCanonical;
      return std::tuple(goals_[i].is_form, is_spelled, !goals_[i].scenario->has_reasoning());
    });
    std::vector<Broken> out;
    std::set<std::string> ways;
    for (const std::size_t i : order) {
      Broken made{i, stage_of(goals_[i]).with(subject), {}};
      made.played = played(*made.stage, i);
      if (!made.played.broken || !made.played.broken->again) continue;
      if (ways.insert(way_of(*made.played.broken)).second) out.push_back(std::move(made));
    }
    return out;
  }

  // The texts around a difference, and what wrote the one to be mended.
  [[nodiscard]] static std::string way_of(const Step& step) {
    const std::string seen = step.seen();
    const std::string& again = step.again->text.bytes();
    const std::size_t at = common_bytes(seen, again);
    const probe::Spot spot = probe::spot_at(*step.again, at);
    std::string out =
        seen.substr(at, kSameBreakBytes) + '\0' + again.substr(std::min(at, again.size()), kSameBreakBytes) + '\0';
    if (spot.run != nullptr) out += std::to_string(spot.run->origin) + " " + std::to_string(spot.run->expression);
    return out;
  }

  // Edits that may mend a break, the most likely first.
  [[nodiscard]] std::vector<Candidate> likely_for(const Broken& broken, const Subject& subject) const {
    const Step& step = *broken.played.broken;
    std::vector<Candidate> out;
    add_flips(step, out);
    add_strips(step, out);
    const SourceBlocks blocks(source_);
    const std::size_t at = common_bytes(step.seen(), step.again->text.bytes());
    if (at < step.prompt.text.size()) add_around(subject, blocks, step.prompt, at, true, out);
    if (step.alone && at < step.alone->text.size()) add_around(subject, blocks, *step.alone, at, true, out);
    add_around(subject, blocks, *step.again, at, false, out);
    const SpliceContext context{source_, blocks, *subject.chat_template, broken.stage->format(), subject.base, step};
    for (const Splice& splice : splices_of(step, broken.stage->format())) add(out, splice_candidates(context, splice));
    return out;
  }

  static void add(std::vector<Candidate>& out, std::vector<Candidate> more) {
    out.insert(out.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  }

  void add_flips(const Step& step, std::vector<Candidate>& out) const {
    std::vector<const jinja::Decision*> flipped = causes::flips(step.prompt, *step.again);
    if (step.alone) {
      const auto more = causes::flips(*step.alone, *step.again);
      flipped.insert(flipped.begin(), more.begin(), more.end());
    }
    // A condition on the turn itself is the more likely cause.
    const auto index = static_cast<std::int32_t>(step.history.size());
    std::ranges::stable_partition(flipped, [&](const jinja::Decision* decision) {
      return step.again->origins.contexts.at(decision->context).owner() == index;
    });
    for (const jinja::Decision* decision : flipped)
      add(out, condition_candidates(source_, decision->line, decision->column, !decision->outcome));
  }

  // Adds the conditions of the if statements around what is written at a byte, so that they keep writing it or stop
  // writing it.
  void add_around(const Subject& subject, const SourceBlocks& blocks, const jinja::Rendered& rendered, std::size_t at,
                  bool written, std::vector<Candidate>& out) const {
    const text::Literal place = causes::written_at(*subject.chat_template, rendered, at);
    const auto token = source_.token_at(place.line, place.column);
    if (!token) return;
    const std::size_t byte = source_.tokens()[*token].begin;
    for (const audit::SourceBlock* block : blocks.around(byte)) {
      if (block->word != "if") continue;
      const std::size_t branch = blocks.branch_of(*block, byte);
      for (std::size_t i = 0; i <= branch && i + 1 < block->tags.size(); ++i) {
        if (source_.is_name(block->tags[i].begin, "else")) continue;
        add(out, condition_candidates(source_, block->tags[i].begin + 1, (i == branch) == written));
      }
    }
  }

  void add_strips(const Step& step, std::vector<Candidate>& out) const {
    std::set<std::int32_t> lines;
    for (const jinja::Strip& strip : step.again->strips) {
      if (lines.insert(strip.line).second) add(out, strip_candidates(source_, strip.line));
    }
  }

  // The conditions that were evaluated for the turn, inverted.
  [[nodiscard]] std::vector<Candidate> toggles_for(const Step& step) const {
    std::vector<Candidate> out;
    const auto index = static_cast<std::int32_t>(step.history.size());
    std::set<std::uint32_t> nodes;
    for (const jinja::Decision& decision : step.again->decisions) {
      if (step.again->origins.contexts.at(decision.context).owner() != index) continue;
      if (nodes.size() >= kMostToggles || !nodes.insert(decision.node).second) continue;
      add(out, condition_candidates(source_, decision.line, decision.column, !decision.outcome));
    }
    return out;
  }

  void tell(Fix& out) const {
    out.source = source_.text();
    if (auto marked = mend_marks(*stages_.front(), out.source, options_.may_add_marks)) {
      out.source = std::move(marked->source);
      out.marks = std::move(marked->sentence);
    }
    const std::string& name = subject_.chat_template->name();
    out.diff = audit::unified_diff(subject_.chat_template->source(), out.source, name.substr(name.rfind('/') + 1));
    out.was_append_only = true;
    for (std::size_t i = 0; i < goals_.size(); ++i) {
      if (!original_[i].is_played) continue;
      const FixedCase told{goals_[i].scenario->name, goals_[i].setting->name, original_[i].holds, current_[i].holds};
      if (!told.held && !goals_[i].is_form) out.was_append_only = false;
      if (told.holds && !told.held) out.changed.push_back(told);
      if (told.held && !told.holds) out.lost.push_back(told);
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
  std::vector<std::unique_ptr<const Stage>> stages_;  // of the original template, by setting
  std::vector<Goal> goals_;
  std::vector<Attempt> original_;
  std::vector<Attempt> current_;
  std::size_t tries_ = 0;
  std::size_t trials_ = 0;
};

json::Array cases_to_json(const std::vector<FixedCase>& cases) {
  json::Array out;
  for (const FixedCase& entry : cases)
    out.emplace_back(json::Object{{"scenario", entry.scenario}, {"setting", entry.setting}});
  return out;
}

}  // namespace

Result<Fix> fix(const audit::Input& input, const FixOptions& options) {
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
                   {"lost", cases_to_json(fix.lost)},
                   {"broken", cases_to_json(fix.broken)},
                   {"other_forms", cases_to_json(fix.other_forms)},
                   {"template", fix.source}};
  if (!fix.marks.empty()) out.set("marks", fix.marks);
  if (!fix.refusal.empty()) out.set("refusal", fix.refusal);
  return out;
}

}  // namespace rondo::mend
