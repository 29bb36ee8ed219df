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

#include "audit/blame.h"
#include "audit/play.h"
#include "audit/scenarios.h"
#include "audit/subject.h"
#include "base/files.h"
#include "probe/messages.h"
#include "probe/places.h"
#include "tests/support/audits.h"
#include "tests/support/corpus.h"

namespace rondo::audit {
namespace {

constexpr std::size_t kSample = 12;  // without RONDO_TEST_FULL every so many'th template of the larger corpus

// An output tag of a template: `{{- inner -}}`.
struct Tag {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string inner;
  std::int32_t line = 0;
};

struct Fault {
  std::string what;
  std::size_t message;  // of the probe
  std::string field;
  std::function<std::string(const std::string&)> planted;  // what stands in the place of the whole tag
  std::string scenario;
  causes::CauseKind kind;
};

std::string otherwise_later(const std::string& inner, const std::string& change) {
  return "{{- (" + inner + ") if loop.last else (" + inner + ") | " + change + " -}}";
}

const std::vector<Fault>& faults() {
  static const std::vector<Fault> kFaults = {
      {"the answer is trimmed", 1, "content", [](const std::string& inner) { return "{{- (" + inner + ") | trim -}}"; },
       "space-before-content", causes::CauseKind::kWhitespaceStripped},
      {"the answer changes once messages follow", 1, "content",
       [](const std::string& inner) { return otherwise_later(inner, "upper"); }, "content",
       causes::CauseKind::kCondition},
      {"the question changes once messages follow", 0, "content",
       [](const std::string& inner) { return otherwise_later(inner, "upper"); }, "content",
       causes::CauseKind::kCondition},
      {"the reasoning is shown for the last turn alone", 1, "reasoning_content",
       [](const std::string& inner) { return "{%- if loop.last -%}{{- " + inner + " -}}{%- endif -%}"; },
       "reasoning-content", causes::CauseKind::kReasoningDropped},
      {"the arguments change once messages follow", 1, "tool_calls",
       [](const std::string& inner) { return otherwise_later(inner, "replace('P', 'p')"); }, "call",
       causes::CauseKind::kCondition},
  };
  return kFaults;
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
    std::string inner = source.substr(begin + 2, end - begin - 2);
    if (inner.starts_with('-')) inner.erase(0, 1);
    if (inner.ends_with('-')) inner.pop_back();
    const bool is_plain = inner.find('\n') == std::string::npos && inner.find("if ") == std::string::npos;
    if (!is_plain) return std::nullopt;
    const auto line = static_cast<std::int32_t>(
        std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(begin), '\n') + 1);
    return Tag{begin, end + 2, inner, line};
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

bool breaks(const Played& played) { return played.broken && played.broken->again; }

TEST_CASE("000:126: a fault that was planted is the cause that is named, in at least 97 of 100") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  std::size_t events = 0;
  std::size_t right = 0;
  const bool is_full = std::getenv("RONDO_TEST_FULL") != nullptr || test::is_small_corpus();
  for (std::size_t i = 0; i < corpus->rows().size(); i += is_full ? 1 : kSample) {
    const test::CorpusRow& row = corpus->rows()[i];
    const std::string source = files::read(row.template_path).value();
    auto whole = Bench::make(row, source);
    if (!whole || !whole->open()) continue;
    for (const Fault& fault : faults()) {
      const auto scenario = std::ranges::find(scenarios(), fault.scenario, &Scenario::name);
      const Played before = play(*whole->stage, *scenario);
      if (before.outcome.string_prefix != report::Verdict::kHolds) continue;
      const auto tag = writer_of(*whole->stage, fault);
      if (!tag) continue;
      std::string planted = whole->subject->chat_template->source();
      planted.replace(tag->begin, tag->end - tag->begin, fault.planted(tag->inner));
      auto faulty = Bench::make(row, planted);
      if (!faulty || !faulty->open()) continue;
      const Played played = play(*faulty->stage, *scenario);
      if (!breaks(played)) continue;
      ++events;
      const causes::Cause cause = find_break(*faulty->stage, played).cause;
      const bool is_right = cause.kind == fault.kind && cause.place.line == tag->line;
      right += is_right ? 1 : 0;
      if (!is_right)
        MESSAGE(row.id << ", " << fault.what << " at line " << tag->line << ": " << to_string(cause.kind) << ", "
                       << cause.sentence);
    }
  }
  MESSAGE(right << " of " << events << " are right");
  CHECK(events > 20);
  CHECK(right * 100 >= events * 97);
}

}  // namespace
}  // namespace rondo::audit
