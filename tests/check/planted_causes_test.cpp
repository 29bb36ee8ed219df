// Faults planted into real templates, one at a time: what is wrong, and at which line, is known because it was put there.
//
// Each fault changes the one expression that writes a field of a message.  The conversation held before; where it breaks now,
// the cause must be the fault.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>

#include "audit/play.h"
#include "audit/scenarios.h"
#include "audit/subject.h"
#include "base/files.h"
#include "causes/places.h"
#include "probe/messages.h"
#include "probe/places.h"
#include "tests/support/agreement.h"
#include "tests/support/audits.h"
#include "tests/support/corpus.h"

namespace rondo::audit {
namespace {

constexpr std::size_t kSample = 12;  // without RONDO_TEST_FULL every so many'th template of the larger corpus

// An output tag of a template: `{{- inner -}}`, with or without its dashes.
struct Tag {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string left;  // "-" or ""
  std::string inner;
  std::string right;
  std::int32_t line = 0;
  bool is_whole_turn = false;  // whether the turn begins with what it writes, and has its content of it

  [[nodiscard]] std::string with(const std::string& expression) const {
    return "{{" + left + " " + expression + " " + right + "}}";
  }
};

struct Fault {
  std::string what;
  std::size_t message;  // of the probe
  std::string field;
  std::function<std::string(const Tag&)> planted;  // what stands in the place of the whole tag
  std::string scenario;
  causes::CauseKind kind;
};

std::string otherwise_later(const Tag& tag, const std::string& change) {
  return tag.with("(" + tag.inner + ") if loop.last else (" + tag.inner + ") | " + change);
}

std::string for_the_last_turn(const Tag& tag) {
  return "{%" + tag.left + " if loop.last -%}{{- " + tag.inner + " -}}{%- endif " + tag.right + "%}";
}

const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults = {
      {"the answer is trimmed", 1, "content", [](const Tag& tag) { return tag.with("(" + tag.inner + ") | trim"); },
       "space-before-content", causes::CauseKind::kWhitespaceStripped},
      {"the answer changes once messages follow", 1, "content",
       [](const Tag& tag) { return otherwise_later(tag, "upper"); }, "content", causes::CauseKind::kCondition},
      {"the question changes once messages follow", 0, "content",
       [](const Tag& tag) { return otherwise_later(tag, "upper"); }, "content", causes::CauseKind::kCondition},
      {"the reasoning is shown for the last turn alone", 1, "reasoning_content", for_the_last_turn, "reasoning-content",
       causes::CauseKind::kReasoningDropped},
      {"the arguments change once messages follow", 1, "tool_calls",
       [](const Tag& tag) { return otherwise_later(tag, "replace('P', 'p')"); }, "call", causes::CauseKind::kCondition},
  };
  return kFaults;
}

// The fault that it is in this place: where the tag of the reasoning writes the whole turn, all of that goes with it.
causes::CauseKind kind_of(const Fault& fault, const Tag& tag) {
  const bool hides_turn = fault.kind == causes::CauseKind::kReasoningDropped && tag.is_whole_turn;
  return hides_turn ? causes::CauseKind::kCondition : fault.kind;
}

std::size_t offset_of(std::string_view source, std::int32_t line, std::int32_t column) {
  std::size_t at = 0;
  for (std::int32_t i = 1; i < line; ++i) at = source.find('\n', at) + 1;
  return at + static_cast<std::size_t>(column) - 1;
}

// The tag that wrote the field in a render of a short conversation; nullopt where none did alone.
std::optional<Tag> writer_of(const Stage& stage, const Fault& fault) {
  const AuditContext context = stage.context(true);
  json::Object call_function{{"name", "get_weather"}, {"arguments", json::Object{{"location", "Paris"}}}};
  json::Object answer{{"role", "assistant"}, {"content", "word"}, {"reasoning_content", "mull"}};
  if (fault.field == "tool_calls") {
    answer.set("tool_calls", json::Array{json::Object{{"type", "function"}, {"function", std::move(call_function)}}});
  }
  const auto rendered =
      render::render_messages(context.turn(), {probe::plain_message("user", "ask"), json::Value(answer)}, false);
  if (!rendered.ok()) return std::nullopt;
  const jinja::Template& chat_template = context.chat_template;
  const text::PathTable& paths = rendered.value().origins.paths;
  for (const text::Run& run : rendered.value().text.runs()) {
    if (run.path() == text::PathId::kNone || paths.message(run.path()) != static_cast<std::int32_t>(fault.message))
      continue;
    if (probe::message_field(paths, run.path()) != fault.field || run.expression == 0) continue;
    if (fault.field == "tool_calls" && paths.to_string(run.path()).find("arguments") == std::string::npos) continue;
    const text::Literal place = chat_template.expressions()[run.expression - 1];
    const std::string& source = chat_template.source();
    const std::size_t begin = source.rfind("{{", offset_of(source, place.line, place.column) + 1);
    const std::size_t end = begin == std::string::npos ? begin : source.find("}}", begin);
    if (end == std::string::npos) return std::nullopt;
    Tag tag{.begin = begin, .end = end + 2, .inner = source.substr(begin + 2, end - begin - 2)};
    if (tag.inner.starts_with('-')) tag.left = "-";
    if (tag.inner.ends_with('-')) tag.right = "-";
    tag.inner = tag.inner.substr(tag.left.size(), tag.inner.size() - tag.left.size() - tag.right.size());
    const bool is_plain = tag.inner.find('\n') == std::string::npos && tag.inner.find("if ") == std::string::npos;
    if (!is_plain) return std::nullopt;
    tag.line = static_cast<std::int32_t>(
        std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(begin), '\n') + 1);
    const auto first = std::ranges::find_if(rendered.value().text.runs(), [&](const text::Run& each) {
      return probe::owner(each, rendered.value().origins) == static_cast<std::int32_t>(fault.message);
    });
    const text::Literal opens = causes::writer_of(chat_template, rendered.value(), *first);
    const std::size_t opens_at = offset_of(source, opens.line, opens.column);
    const bool has_content = std::ranges::any_of(rendered.value().text.runs(), [&](const text::Run& each) {
      return each.expression == run.expression && paths.message(each.path()) == paths.message(run.path()) &&
             probe::message_field(paths, each.path()) == "content";
    });
    tag.is_whole_turn = has_content && opens_at >= begin && opens_at < end;
    return tag;
  }
  return std::nullopt;
}

struct Bench {
  std::optional<Subject> subject;
  std::unique_ptr<const Stage> stage;

  static std::optional<Bench> make(const test::CorpusRow& row, const std::string& source) {
    const auto input = test::input_of(row, source);
    if (!input.ok()) return std::nullopt;
    auto subject = make_subject(input.value());
    if (!subject.ok()) return std::nullopt;
    Bench out;
    out.subject = std::move(subject).value();
    return out;
  }
  bool open() {
    auto made = Stage::make(*subject, {"default", subject->base.kwargs});
    if (made.ok()) stage = std::move(made).value();
    return stage != nullptr;
  }
};

TEST_CASE("000:126: a fault that was planted is the cause that is named, in at least 98 of 100") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  test::AgreementCounts counts;
  std::size_t right = 0;
  const bool is_full = std::getenv("RONDO_TEST_FULL") != nullptr || test::is_small_corpus();
  for (std::size_t i = 0; i < corpus->rows().size(); i += is_full ? 1 : kSample) {
    const test::CorpusRow& row = corpus->rows()[i];
    const std::string source = files::read(row.template_path).value();
    auto whole = Bench::make(row, source);
    if (!whole || !whole->open()) continue;
    for (const Fault& fault : faults()) {
      const auto tag = writer_of(*whole->stage, fault);
      if (!tag) continue;
      const auto scenario = std::ranges::find(scenarios(), fault.scenario, &Scenario::name);
      const Played before = play(*whole->stage, *scenario);
      if (before.outcome.string_prefix != report::Verdict::kHolds) continue;
      std::string planted = whole->subject->chat_template->source();
      planted.replace(tag->begin, tag->end - tag->begin, fault.planted(*tag));
      auto faulty = Bench::make(row, planted);
      if (!faulty || !faulty->open()) continue;
      const Played played = play(*faulty->stage, *scenario);
      if (!test::is_event(played)) continue;
      const causes::Cause cause = test::compare_tellers(*faulty->subject, *faulty->stage, played, fault.what, counts);
      const bool is_right = cause.kind == kind_of(fault, *tag) && cause.place.line == tag->line;
      right += is_right ? 1 : 0;
      if (!is_right)
        MESSAGE(row.id << ", " << fault.what << " at line " << tag->line << ": " << to_string(cause.kind) << ", "
                       << cause.sentence);
    }
  }
  MESSAGE(right << " of " << counts.events << " are right, " << counts.compared << " comparisons, " << counts.differing
                << " differ, " << counts.told_by_all << " events told by all four");
  CHECK(counts.events > 20);
  CHECK(right * 100 >= counts.events * 98);
  CHECK(counts.differing == 0);
}

}  // namespace
}  // namespace rondo::audit
