#include "report/junit.h"

#include <string_view>

#include "base/utf8.h"
#include "report/summary.h"
#include "text/text.h"

namespace rondo::report {
namespace {

// Escapes `text` for an element or a quoted attribute.  White space other than the space becomes a reference, because
// XML readers normalise it in attributes.
std::string xml(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded unit = utf8::decode(text, at);
    switch (unit.code_point) {
      case U'&': out += "&amp;"; break;
      case U'<': out += "&lt;"; break;
      case U'>': out += "&gt;"; break;
      case U'"': out += "&quot;"; break;
      case U'\t': out += "&#9;"; break;
      case U'\n': out += "&#10;"; break;
      case U'\r': out += "&#13;"; break;
      case 0xFFFE:
      case 0xFFFF: utf8::append(out, utf8::kReplacement); break;
      default:
        // The pictures of the other controls have the same order.
        utf8::append(out, unit.code_point < 0x20 ? 0x2400 + unit.code_point : unit.code_point);
    }
    at += unit.size;
  }
  return out;
}

std::string attribute(std::string_view name, std::string_view value) {
  return " " + std::string(name) + "=\"" + xml(value) + "\"";
}

struct Totals {
  std::size_t tests = 0;
  std::size_t failures = 0;
  std::size_t errors = 0;
  std::size_t skipped = 0;

  void add(const Totals& other) {
    tests += other.tests;
    failures += other.failures;
    errors += other.errors;
    skipped += other.skipped;
  }
  [[nodiscard]] std::string attributes() const {
    return attribute("tests", std::to_string(tests)) + attribute("failures", std::to_string(failures)) +
           attribute("errors", std::to_string(errors)) + attribute("skipped", std::to_string(skipped));
  }
};

// One <testcase> element.  It counts as passed unless it is failed or skipped.
class TestCase {
 public:
  TestCase(std::string_view model, std::string_view name) {
    head_ = "    <testcase" + attribute("classname", model) + attribute("name", name);
  }
  void set_place(const Report& report, const causes::TemplatePlace& place) {
    if (place.line < 1 || !report.is_own_file || report.template_file.empty()) return;
    head_ += attribute("file", report.template_file) + attribute("line", std::to_string(place.line));
  }
  void fail(std::string_view type, std::string_view message, const std::string& text, Totals& totals) {
    ++totals.failures;
    body_ =
        "      <failure" + attribute("type", type) + attribute("message", message) + ">" + xml(text) + "</failure>\n";
  }
  void stop(std::string_view message, Totals& totals) {
    ++totals.errors;
    body_ = "      <error" + attribute("message", message) + "/>\n";
  }
  void skip(std::string_view message, Totals& totals) {
    ++totals.skipped;
    body_ = "      <skipped" + attribute("message", message) + "/>\n";
  }
  void say(const std::string& text) { body_ = "      <system-out>" + xml(text) + "</system-out>\n"; }

  [[nodiscard]] std::string str() const {
    return body_.empty() ? head_ + "/>\n" : head_ + ">\n" + body_ + "    </testcase>\n";
  }

 private:
  std::string head_;
  std::string body_;
};

std::string place_words(const causes::TemplatePlace& place) {
  return place.line < 1 ? "" : "line " + std::to_string(place.line) + ": " + place.source + "\n";
}

std::string remedy_words(const std::vector<Remedy>& remedies) {
  std::string out;
  for (const std::string& line : lines_of(remedies)) out += line + "\n";
  return out;
}

std::string break_words(const Break& broken) {
  return place_words(broken.cause.place) + "kept " + std::to_string(broken.kept_tokens) + " tokens, lost " +
         std::to_string(broken.lost_tokens) + "\nbefore:      " + text::quoted(broken.before) +
         "\nseen:        " + text::quoted(broken.kept) + "\nwritten now: " + text::quoted(broken.rerendered) + "\n" +
         remedy_words(broken.remedies);
}

// "token prefix, bridge": the checks that break.
std::string broken_checks(const Case& played) {
  std::string out;
  for (const Check& check : kChecks) {
    if (played.*check.verdict != Verdict::kBreaks) continue;
    out += (out.empty() ? "" : ", ") + std::string(check.name);
  }
  return out;
}

std::string case_element(const Report& report, const Case& played, std::optional<Level> fail_on, Totals& totals) {
  ++totals.tests;
  TestCase element(report.model, name_of(played));
  const Verdict verdict = verdict_of(played);
  if (verdict == Verdict::kSkipped) {
    element.skip(played.note, totals);
  } else if (verdict == Verdict::kBreaks) {
    const std::string checks = broken_checks(played);
    const std::string cause = played.broken ? played.broken->cause.sentence : played.note;
    const std::string message = checks + (cause.empty() ? "" : ": " + cause);
    const std::string text = played.broken ? break_words(*played.broken) : "";
    if (played.broken) element.set_place(report, played.broken->cause.place);
    if (played.is_inherent) {
      element.skip("breaks under any template that renders again; " + message, totals);
    } else if (fail_on && level_of(report, played) >= *fail_on) {
      element.fail(played.broken ? to_string(played.broken->cause.kind) : checks, message, text, totals);
    } else {
      element.say(message + "\n" + text);
    }
  }
  return element.str();
}

std::string finding_element(const Report& report, const Finding& finding, std::optional<Level> fail_on,
                            Totals& totals) {
  ++totals.tests;
  std::string name = finding.rule;
  if (finding.place.line > 0) name += " at line " + std::to_string(finding.place.line);
  if (!finding.path.empty()) name += ", " + finding.path;
  TestCase element(report.model, name);
  element.set_place(report, finding.place);
  std::string text = place_words(finding.place);
  if (!finding.proof.empty()) text += finding.proof + "\n";
  text += remedy_words(finding.remedies);
  for (const std::string& scenario : finding.scenarios) text += "seen in " + scenario + "\n";
  if (fail_on && finding.level >= *fail_on) {
    element.fail(to_string(finding.level), finding.sentence, text, totals);
  } else {
    element.say(finding.sentence + "\n" + text);
  }
  return element.str();
}

std::string suite(const std::string& model, const Totals& totals, const std::string& cases) {
  return "  <testsuite" + attribute("name", model) + totals.attributes() + ">\n" + cases + "  </testsuite>\n";
}

}  // namespace

std::string to_junit(std::span<const Report> reports, std::span<const Unchecked> unchecked,
                     std::optional<Level> fail_on) {
  Totals all;
  std::string suites;
  for (const Report& report : reports) {
    Totals totals;
    std::string cases;
    for (const Case& played : report.cases) cases += case_element(report, played, fail_on, totals);
    for (const auto* list : {&report.findings, &report.notes}) {
      for (const Finding& finding : *list) cases += finding_element(report, finding, fail_on, totals);
    }
    suites += suite(report.model, totals, cases);
    all.add(totals);
  }
  for (const Unchecked& model : unchecked) {
    Totals totals;
    totals.tests = 1;
    TestCase element(model.model, "check");
    element.stop(model.reason, totals);
    suites += suite(model.model, totals, element.str());
    all.add(totals);
  }
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites" + attribute("name", "rondo check") +
         all.attributes() + ">\n" + suites + "</testsuites>\n";
}

}  // namespace rondo::report
