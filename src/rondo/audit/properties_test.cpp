// Invented templates: a clean one gives no finding; each fault put into it gives its own finding, at its line, and no
// other.
#include "audit/properties.h"
#include "audit/findings.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>

#include "analysis/analyse.h"
#include "audit/trials.h"
#include "tests/support/byte_tokenizer.h"

namespace rondo::audit {
namespace {

// Calls as JSON.
const std::string kClean = R"T({%- if tools %}
{{- '[[tools]]' + (tools | tojson) + '[[end]]' }}
{%- endif %}
{%- for m in messages %}
{%- if m.role == 'system' or m.role == 'developer' %}
{{- '[[system]]' + m.content + '[[end]]' }}
{%- elif m.role == 'user' %}
{{- '[[user]]' + m.content + '[[end]]' }}
{%- elif m.role == 'assistant' %}
{{- '[[bot]]' + (m.content or '') }}
{%- for call in m.tool_calls or [] %}
{{- '[[call]]{"name": ' + (call.function.name | tojson) + ', "arguments": ' + (call.function.arguments | tojson) + '}[[done]]' }}
{%- endfor %}
{{- '[[end]]' }}
{%- elif m.role == 'tool' %}
{{- '[[result]]' + (m.tool_call_id | string) + ' ' + m.content + '[[end]]' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '[[bot]]' }}
{%- endif %}
)T";

// A construct for each argument.
const std::string kTagged = R"T({%- if tools %}
{{- '[[tools]]' + (tools | tojson) + '[[end]]' }}
{%- endif %}
{%- for m in messages %}
{%- if m.role == 'assistant' %}
{{- '[[bot]]' + (m.content or '') }}
{%- for call in m.tool_calls or [] %}
{{- '[[call=' + call.function.name + ']]' }}
{%- for key, value in call.function.arguments.items() %}
{{- '[[key=' + key + ']]' }}
{{- value if value is string else value | tojson }}
{{- '[[/key]]' }}
{%- endfor %}
{{- '[[/call]]' }}
{%- endfor %}
{{- '[[end]]' }}
{%- elif m.role == 'tool' %}
{{- '[[result]]' + (m.tool_call_id | string) + ' ' + m.content + '[[end]]' }}
{%- elif m.role == 'user' %}
{{- '[[user]]' + m.content + '[[end]]' }}
{%- else %}
{{- '[[system]]' + m.content + '[[end]]' }}
{%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '[[bot]]' }}
{%- endif %}
)T";

std::string with(std::string source, const std::string& from, const std::string& to) {
  const std::size_t at = source.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return source.replace(at, from.size(), to);
}

// With a format that `change` has corrected, as a user may do.
report::Report audit_of(const std::string& source, const std::function<void(format::Format&)>& change = {},
                        report::Report report = {}) {
  auto compiled = jinja::Template::compile(source, {}, "test");
  REQUIRE_MESSAGE(compiled.ok(), compiled.error().to_string());
  const auto tokenizer =
      test::byte_tokenizer({"[[system]]", "[[user]]", "[[bot]]", "[[end]]", "[[result]]", "[[tools]]"}, "[[end]]");
  analysis::Options options;
  options.tokenizer = tokenizer.get();
  const auto inferred = analysis::analyse(*compiled.value(), options);
  REQUIRE(inferred.ok());
  const auto format = std::make_shared<format::Format>(*inferred.value());
  if (change) change(*format);
  const chat::Conversation base;
  const tmpl::ApplyOptions apply;
  const render::TurnProfile profile = render::probe_turns({*compiled.value(), *tokenizer, base, apply});
  find_properties({*compiled.value(), *tokenizer, true, format, profile, base, apply}, report);
  return report;
}

std::string told(const std::vector<report::Finding>& findings) {
  std::string out;
  for (const report::Finding& finding : findings)
    out += "\n" + finding.rule + " " + std::string(to_string(finding.level)) + " line " +
           std::to_string(finding.place.line) + " " + finding.path + ": " + finding.sentence + " | " + finding.proof;
  return out;
}

// The one finding that the template gives.
report::Finding only_finding(const std::string& source, const std::string& rule) {
  const report::Report report = audit_of(source);
  REQUIRE_MESSAGE(report.findings.size() == 1, told(report.findings));
  const report::Finding& finding = report.findings.front();
  CHECK_MESSAGE(finding.rule == rule, told(report.findings));
  CHECK_FALSE(finding.proof.empty());
  if (finding.place.line > 0) CHECK(source.find(finding.place.source) != std::string::npos);
  return finding;
}

std::vector<report::Finding> notes_of(const report::Report& report, const std::string& rule) {
  std::vector<report::Finding> out;
  std::copy_if(report.notes.begin(), report.notes.end(), std::back_inserter(out),
               [&rule](const report::Finding& finding) { return finding.rule == rule; });
  return out;
}

bool has_note(const report::Report& report, const std::string& rule) { return !notes_of(report, rule).empty(); }

// About front ends that wrap text into parts.
bool has_wrapping_note(const report::Report& report) {
  return std::ranges::any_of(notes_of(report, "engine-parity"), [](const report::Finding& note) {
    return note.sentence.find("wraps text") != std::string::npos;
  });
}

TEST_CASE("clean templates have no finding") {
  for (const std::string& source : {kClean, kTagged}) {
    const report::Report report = audit_of(source);
    CHECK_MESSAGE(report.findings.empty(), told(report.findings));
    for (const char* rule : {"strict-differs", "results-reordered", "glued-token", "unclosed-turn", "clock"})
      CHECK_MESSAGE(!has_note(report, rule), told(report.notes));
    CHECK_FALSE(has_wrapping_note(report));
  }
}

// ---- Refusals and fields that are left out

TEST_CASE("a template that fails on one user message says so, and nothing else") {
  const report::Finding finding = only_finding("{{ messages[1].content }}\n", "refused");
  CHECK(finding.level == report::Level::kError);
  CHECK(finding.place.line == 1);
  const report::Finding raised =
      only_finding("{%- if true %}\n{{- raise_exception('never') }}\n{%- endif %}", "refused");
  CHECK(raised.place.line == 2);
  CHECK(raised.proof == R"(the error is "never")");
}

TEST_CASE("a template that exceeds its limits again and again gives that one finding") {
  const report::Finding finding = only_finding(
      with(kClean, "{%- for m in messages %}",
           "{%- if messages[0].role == 'system' %}{%- for i in range(99999) %}{%- for j in range(99999) %}{% endfor %}"
           "{% endfor %}{% endif %}{%- for m in messages %}"),
      "refused");
  CHECK(finding.sentence == "the template exceeds the limits of a render on a small conversation");
}

TEST_CASE("failing on what every client sends is an error, on purpose or in rare conversations a note or warning") {
  const report::Finding system =
      only_finding(with(kClean, "'[[system]]' + m.content", "'[[system]]' + m.contents"), "refused");
  CHECK(system.level == report::Level::kError);
  CHECK(system.place.line == 6);
  CHECK(system.sentence.find("a system message") != std::string::npos);

  const std::string raises = with(kClean, "{%- elif m.role == 'user' %}",
                                  "{%- elif m.role == 'user' %}\n"
                                  "{%- if loop.previtem is defined and loop.previtem.role == 'user' %}\n"
                                  "{{- raise_exception('roles must alternate') }}\n{%- endif %}");
  const report::Report report = audit_of(raises);
  CHECK_MESSAGE(report.findings.empty(), told(report.findings));
  const std::vector<report::Finding> notes = notes_of(report, "refused");
  const auto alternate = std::ranges::find_if(
      notes, [](const report::Finding& note) { return note.proof == R"(it raises "roles must alternate")"; });
  REQUIRE_MESSAGE(alternate != notes.end(), told(report.notes));
  CHECK(alternate->place.line == 9);
  CHECK(alternate->sentence == "the template refuses on purpose: two user messages in a row");
}

TEST_CASE("content null beside calls") {
  const report::Finding refused = only_finding(with(kClean, "(m.content or '')", "m.content"), "refused");
  CHECK(refused.level == report::Level::kError);
  CHECK(refused.place.line == 10);
  CHECK(refused.remedies.front().is_verified);
  const report::Finding printed =
      only_finding(with(kClean, "(m.content or '')", "(m.content | string)"), "python-value");
  CHECK(printed.place.line == 10);
  CHECK(printed.path == "messages[1].content");
}

TEST_CASE("one refusal that several conversations show is one finding, as bad as the worst") {
  report::Report report;
  report::Finding first;
  first.rule = "refused";
  first.level = report::Level::kWarning;
  first.proof = "the error is \"no content\"";
  first.place = {10, 1, "x"};
  first.remedies.push_back({.sentence = "one", .kwargs = {}});
  report::Finding second = first;
  second.level = report::Level::kError;
  second.sentence = "with null";
  second.proof = "the template fails with \"no content\"";
  second.remedies = {{.sentence = "two", .kwargs = {}}};
  report::Finding other = first;
  other.proof = "the error is \"something else\"";
  add_finding(report, first);
  add_finding(report, second);
  add_finding(report, first);
  add_finding(report, other);
  REQUIRE(report.findings.size() == 2);
  CHECK(report.findings.front().level == report::Level::kError);
  CHECK(report.findings.front().sentence == "with null");
  CHECK(report.findings.front().remedies.size() == 3);
}

TEST_CASE("a message that is not written, and the condition that decides") {
  const report::Finding late = only_finding(with(kClean, "{%- if m.role == 'system' or m.role == 'developer' %}",
                                                 "{%- if m.role == 'system' and loop.first %}"),
                                            "dropped-field");
  CHECK(late.level == report::Level::kWarning);
  CHECK(late.path == "messages[2].content");
  const report::Finding moved =
      only_finding(with(kClean, "{{- '[[system]]' + m.content + '[[end]]' }}",
                        "{%- if messages | length < 4 %}\n{{- '[[system]]' + m.content + '[[end]]' }}\n{%- endif %}"),
                   "dropped-field");
  CHECK(moved.level == report::Level::kError);
  CHECK(moved.place.line == 6);
}

// ---- Parts

const char* const kParts =
    "{%- if m.content is string %}\n{{- m.content }}\n{%- else %}\n{%- for part in m.content %}\n{{- part.text }}\n"
    "{%- endfor %}\n{%- endif %}\n{{- '[[end]]' }}";

TEST_CASE("text parts that are read in some roles only, joined, or cut") {
  const std::string one =
      with(kClean, "{{- '[[user]]' + m.content + '[[end]]' }}", std::string("{{- '[[user]]' }}\n") + kParts);
  const report::Report report = audit_of(one);
  REQUIRE(report.findings.size() == 3);
  for (const report::Finding& finding : report.findings) {
    CHECK(finding.rule == "parts-differ");
    CHECK(finding.level == report::Level::kWarning);
    CHECK(finding.sentence.find("reads text parts of `user` messages") != std::string::npos);
  }
  CHECK(report.findings[0].place.line == 6);
  CHECK(report.findings[0].proof.starts_with("one text part: "));
  CHECK(has_wrapping_note(report));

  std::string all =
      with(one, "{{- '[[system]]' + m.content + '[[end]]' }}", std::string("{{- '[[system]]' }}\n") + kParts);
  all =
      with(all, "{{- '[[bot]]' + (m.content or '') }}",
           "{{- '[[bot]]' }}\n{%- if m.content is string %}\n{{- m.content }}\n{%- else %}\n{%- for part in m.content "
           "or [] %}\n{{- part.text }}\n{%- endfor %}\n{%- endif %}");
  all = with(all, "{{- '[[result]]' + (m.tool_call_id | string) + ' ' + m.content + '[[end]]' }}",
             std::string("{{- '[[result]]' + (m.tool_call_id | string) + ' ' }}\n") + kParts);
  const report::Report clean = audit_of(all);
  CHECK_MESSAGE(clean.findings.empty(), told(clean.findings));
  CHECK_FALSE(has_wrapping_note(clean));
  CHECK_FALSE(has_note(clean, "parts-differ"));

  const report::Finding cut =
      only_finding(with(all, "{%- for part in m.content %}", "{%- for part in m.content[:1] %}"), "parts-differ");
  CHECK(cut.level == report::Level::kError);
  const report::Report joined = audit_of(with(all, "{{- part.text }}", "{{- part.text + '\\n' }}"));
  CHECK(joined.findings.size() == 1);  // even one part is no longer the text
}

TEST_CASE("content that must be a list of parts") {
  const std::string source =
      "{%- for m in messages %}\n{{- '[[user]]' if m.role == 'user' else '[[bot]]' }}\n"
      "{%- for part in m.content %}\n{{- part.text }}\n{%- endfor %}\n{{- '[[end]]' }}\n{%- endfor %}\n"
      "{%- if add_generation_prompt %}{{- '[[bot]]' }}{% endif %}";
  const report::Report report = audit_of(source);
  const auto found = std::ranges::find(report.findings, "parts-differ", &report::Finding::rule);
  REQUIRE_MESSAGE(found != report.findings.end(), told(report.findings));
  CHECK(found->level == report::Level::kError);
  CHECK(found->sentence == "content that is text is not written; only lists of parts are");
  CHECK(found->place.line == 4);
  CHECK(found->path == "messages[0].content");
  REQUIRE(found->remedies.size() == 1);
  CHECK(found->remedies.front().sentence == "send content as a list of text parts");
  CHECK(found->remedies.front().is_verified);
}

// ---- Arguments

TEST_CASE("arguments that are null are left out") {
  const report::Finding finding =
      only_finding(with(kTagged, "{%- for key, value in call.function.arguments.items() %}",
                        "{%- for key, value in call.function.arguments.items() if value is not none %}"),
                   "argument-fidelity");
  CHECK(finding.level == report::Level::kError);
  CHECK(finding.sentence == "arguments that are null are left out");
  CHECK(finding.proof.find(R"({"k":null} is written as)") != std::string::npos);
}

TEST_CASE("values that are printed as Python prints them") {
  const report::Finding finding = only_finding(
      with(kTagged, "{{- value if value is string else value | tojson }}", "{{- value }}"), "python-value");
  CHECK(finding.place.line == 11);
  CHECK(finding.sentence.find("booleans") != std::string::npos);
  CHECK(finding.proof.find("True") != std::string::npos);
}

TEST_CASE("what a break tells already is not told again") {
  report::Report report;
  report::Finding& known = report.findings.emplace_back();
  known.rule = "python-value";
  known.sentence = "the value is printed as Python prints it";
  known.place.line = 10;
  known.path = "messages[1].tool_calls[0].function.arguments.hot";
  known.scenarios = {"call-many-arguments / default"};
  const report::Report more =
      audit_of(with(kTagged, "{{- value if value is string else value | tojson }}", "{{- value }}"), {}, report);
  REQUIRE_MESSAGE(more.findings.size() == 1, told(more.findings));
  CHECK(more.findings[0].sentence.find("printed as Python prints it; this happens to booleans, null") !=
        std::string::npos);
}

TEST_CASE("strings without quotes need the schema: a note") {
  const report::Report report = audit_of(kTagged);
  const std::vector<report::Finding> notes = notes_of(report, "argument-fidelity");
  REQUIRE_MESSAGE(notes.size() == 1, told(report.notes));
  CHECK(notes[0].sentence.find("strings that read like numbers") != std::string::npos);
  CHECK(notes_of(audit_of(kClean), "argument-fidelity").empty());
}

TEST_CASE("arguments that are sorted, content that is left out beside calls") {
  const report::Report sorted =
      audit_of(with(kTagged, "call.function.arguments.items()", "call.function.arguments | dictsort"));
  CHECK_MESSAGE(sorted.findings.empty(), told(sorted.findings));
  const std::vector<report::Finding> notes = notes_of(sorted, "argument-fidelity");
  CHECK(std::ranges::any_of(
      notes, [](const report::Finding& note) { return note.sentence == "arguments are sorted by name"; }));

  // One of them is not written, so that they have no order.
  const report::Report one =
      audit_of(with(kTagged, "call.function.arguments.items()", "call.function.arguments.items() if key != 'z'"));
  for (const report::Finding& note : notes_of(one, "argument-fidelity"))
    CHECK(note.sentence != "arguments are sorted by name");

  const report::Report alike = audit_of(with(kClean, "(m.content or '')", "('' if m.tool_calls else m.content or '')"));
  const std::vector<report::Finding> collisions = notes_of(alike, "collision");
  REQUIRE_MESSAGE(collisions.size() == 1, told(alike.notes));
  CHECK(collisions[0].sentence == "a message with content and calls is written without its content");
  CHECK(collisions[0].proof.find("as the message without it is") != std::string::npos);
  CHECK_FALSE(has_note(audit_of(kTagged), "collision"));
}

TEST_CASE("calls that are written, but are no part of the turn's own that could be read") {
  // The whole turn is one object, with content and calls as its members.
  const char* const kObject =
      "{{- '[[bot]]' + ({'say': m.content, 'calls': m.tool_calls} | tojson if m.tool_calls else "
      "{'say': m.content} | tojson) }}";
  const std::string calls = kClean.substr(kClean.find("{%- for call in"), kClean.find("{%- endfor %}\n{{- '[[end]]'") -
                                                                              kClean.find("{%- for call in") + 14);
  const report::Report report =
      audit_of(with(with(kClean, calls, ""), "{{- '[[bot]]' + (m.content or '') }}", kObject));
  const auto unread = std::ranges::find_if(report.findings, [](const report::Finding& finding) {
    return finding.rule == "unreadable-turn" && finding.path == "messages[1].tool_calls";
  });
  REQUIRE_MESSAGE(unread != report.findings.end(), told(report.findings));
  CHECK(unread->level == report::Level::kError);
  CHECK(unread->place.line == 10);
  CHECK(unread->proof.find("koala-one") != std::string::npos);
  // A template that leaves calls out has another fault.
  const report::Report none = audit_of(with(kClean, calls, ""));
  CHECK(std::ranges::none_of(none.findings,
                             [](const report::Finding& finding) { return finding.rule == "unreadable-turn"; }));
}

// ---- Turns

TEST_CASE("a turn with calls that nothing ends, and one that is closed twice") {
  const report::Finding open =
      only_finding(with(kClean, "{{- '[[end]]' }}", "{{- '' if m.tool_calls else '[[end]]' }}"), "unclosed-turn");
  CHECK(open.level == report::Level::kError);
  CHECK(open.proof.find("[[result]]") != std::string::npos);
  const report::Finding twice =
      only_finding(with(kClean, "{{- '[[end]]' }}", "{{- '[[end]]' }}\n{{- '[[end]]' }}"), "double-close");
  CHECK(twice.place.line == 15);
  CHECK(twice.level == report::Level::kWarning);
  const report::Report last = audit_of(with(kClean, "{{- '[[end]]' }}", "{{- '' if loop.last else '[[end]]' }}"));
  CHECK(has_note(last, "unclosed-turn"));
}

TEST_CASE("a turn may end with plain text, or with a token that stands only where nothing follows") {
  const auto endings = [](const std::string& source) {
    const report::Report report = audit_of(source);
    std::string out;
    for (const auto* list : {&report.findings, &report.notes}) {
      for (const report::Finding& finding : *list) {
        if (finding.rule == "unclosed-turn" || finding.rule == "double-close") out += finding.sentence + "\n";
      }
    }
    return out;
  };
  const auto closed_by = [](const std::string& close) { return with(kClean, "{{- '[[end]]' }}", close); };
  CHECK(endings(closed_by("{{- '<over>' }}")) == "");
  CHECK(endings(closed_by("{{- '<over>' if loop.last else ' / ' }}")) == "");
  CHECK(endings(closed_by("{{- '[[end]]' if loop.last else ' / ' }}")) == "");
  CHECK(endings(closed_by("{{- '\n' }}")) ==
        "no stop token stands behind the last turn of a conversation: training data needs one added\n");
}

// ---- Tools and results

TEST_CASE("tools that are not written, or only in part") {
  const report::Finding none =
      only_finding(with(kClean, "{{- '[[tools]]' + (tools | tojson) + '[[end]]' }}", ""), "tools-not-written");
  CHECK(none.level == report::Level::kError);
  CHECK(none.place.line == 1);
  const report::Finding names = only_finding(
      with(kClean, "(tools | tojson)", "(tools | map(attribute='function.name') | join(', '))"), "tools-not-written");
  CHECK(names.level == report::Level::kWarning);
  CHECK(names.place.line == 2);
  CHECK(names.sentence.find("the description, the parameters, descriptions of parameters") != std::string::npos);
  const report::Finding beside = only_finding(
      with(kClean, "{%- if tools %}", "{%- if tools and messages[0].role != 'system' %}"), "tools-not-written");
  CHECK(beside.sentence == "tools of the request are not written where there is a system message");
  const report::Report unread =
      audit_of(with(kClean, "{%- if tools %}\n{{- '[[tools]]' + (tools | tojson) + '[[end]]' }}\n{%- endif %}", ""));
  CHECK(unread.findings.empty());
  CHECK(has_note(unread, "tools-not-written"));
}

TEST_CASE("tools that are printed as Python prints them are a note") {
  const report::Report report = audit_of(with(kClean, "(tools | tojson)", "(tools | string)"));
  CHECK_MESSAGE(report.findings.empty(), told(report.findings));
  const std::vector<report::Finding> notes = notes_of(report, "python-value");
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].place.line == 2);
}

TEST_CASE("results that are put into the order of their calls, or that nothing ties to them") {
  const std::string sorted =
      with(with(kClean, "{{- '[[result]]' + (m.tool_call_id | string) + ' ' + m.content + '[[end]]' }}", ""),
           "{{- '[[end]]' }}\n",
           "{{- '[[end]]' }}\n{%- for call in m.tool_calls or [] %}\n{%- for r in messages if r.role == 'tool' and "
           "r.tool_call_id == call.id %}\n{{- '[[result]]' + r.content + '[[end]]' }}\n{%- endfor %}\n{%- endfor %}\n");
  CHECK(has_note(audit_of(sorted), "results-reordered"));
  const report::Report blind = audit_of(with(kClean, "(m.tool_call_id | string) + ' ' + ", ""));
  const std::vector<report::Finding> notes = notes_of(blind, "collision");
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].sentence.find("told apart by their order alone") != std::string::npos);
  CHECK(notes[0].place.line == 16);
}

// ---- The rest

TEST_CASE("a date in the prompt, and the variable that takes its place") {
  const report::Finding plain =
      only_finding(with(kClean, "'[[bot]]' }}", "'[[bot]]' }}{{- strftime_now('%d %b %Y') }}"), "clock");
  CHECK(plain.proof.find("14 Mar 2026") != std::string::npos);
  CHECK(plain.place.line == 20);
  const report::Finding variable = only_finding(
      with(kClean, "{{- '[[bot]]' }}", "{{- today if today is defined else strftime_now('%H:%M') }}{{- '[[bot]]' }}"),
      "clock");
  REQUIRE(variable.remedies.size() == 2);
  CHECK(variable.remedies[0].kind == report::Remedy::Kind::kVariable);
  CHECK(variable.remedies[0].is_verified);
  CHECK(variable.remedies[0].kwargs.find("today") != nullptr);
}

TEST_CASE("{% generation %} blocks beside what is sampled") {
  const std::string good = with(
      with(kClean, "{{- '[[bot]]' + (m.content or '') }}", "{{- '[[bot]]' }}{% generation %}{{- (m.content or '') }}"),
      "{{- '[[end]]' }}", "{{- '[[end]]' }}{% endgeneration %}");
  const report::Report clean = audit_of(good);
  CHECK_MESSAGE(clean.findings.empty(), told(clean.findings));
  const report::Finding header = only_finding(
      with(good, "{{- '[[bot]]' }}{% generation %}", "{% generation %}{{- '[[bot]]' }}"), "generation-block");
  CHECK(header.level == report::Level::kWarning);
  CHECK(header.place.line == 10);
  CHECK(header.sentence == "a {% generation %} block covers what no model samples");
  const report::Finding stop = only_finding(
      with(good, "{{- '[[end]]' }}{% endgeneration %}", "{% endgeneration %}{{- '[[end]]' }}"), "generation-block");
  CHECK(stop.sentence == "a {% generation %} block leaves out what the model samples");
}

TEST_CASE("texts between quotes that are not escaped") {
  const report::Finding tool =
      only_finding(with(kClean, "(tools | tojson)",
                        "'{\"name\": \"' + tools[0].function.name + '\", \"description\": \"' + "
                        "tools[0].function.description + '\"}' + "
                        "(tools | tojson)"),
                   "unescaped-quotes");
  CHECK(tool.place.line == 2);
  CHECK(tool.path == "tools[0].function.description");
  CHECK(tool.proof.find(R"(\"say \"hi\" to\")") != std::string::npos);
  const std::string argument = with(kTagged, "{{- value if value is string else value | tojson }}",
                                    "{{- '\"' + value + '\"' if value is string else value | tojson }}");
  CHECK(only_finding(argument, "unescaped-quotes").place.line == 11);
  CHECK(audit_of(with(argument, "'\"' + value + '\"'", "value | tojson")).findings.empty());
}

TEST_CASE("a turn that the grammar of its format refuses") {
  const std::string behind = with(with(kClean, "(m.content or '') }}", "'' }}"), "{{- '[[end]]' }}\n",
                                  "{{- (m.content or '') + '[[end]]' }}\n");
  const report::Report clean = audit_of(behind);
  CHECK_MESSAGE(clean.findings.empty(), told(clean.findings));
  const report::Report report = audit_of(behind, [](format::Format& format) { format.calls.content_behind = false; });
  REQUIRE_MESSAGE(report.findings.size() == 1, told(report.findings));
  CHECK(report.findings[0].rule == "grammar-gap");
  CHECK(report.findings[0].level == report::Level::kError);
  CHECK(report.findings[0].sentence.find("text and a call") != std::string::npos);
}

TEST_CASE("what strict mode refuses") {
  const report::Report report = audit_of("{%- set seen = [] %}\n{%- set _ = seen.append(1) %}\n" + kClean);
  CHECK_MESSAGE(report.findings.empty(), told(report.findings));
  const std::vector<report::Finding> notes = notes_of(report, "strict-differs");
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].place.line == 2);
}

TEST_CASE("what other engines print otherwise, also in the generation prompt") {
  const auto printing = [](const std::string& source) {
    std::string out;
    for (const report::Finding& note : notes_of(audit_of(source), "engine-parity"))
      out += std::to_string(note.place.line) + " " + note.sentence + "\n";
    return out;
  };
  const std::string lists = "minijinja 2 prints lists and dictionaries as JSON, where Python has its own form\n";
  const std::string markup = "the `tojson` of minijinja itself, where a server does not replace it, escapes markup\n";
  CHECK(printing(kClean) == "2 " + markup);
  // Values of the request.  A list of the template's own is text to rondo.
  CHECK(printing(with(kClean, "{{- '[[bot]]' }}", "{{- tools[0].function.parameters if tools }}{{- '[[bot]]' }}")) ==
        "20 " + lists + "2 " + markup);
}

TEST_CASE("fields that can write control tokens are listed") {
  const report::Report report = audit_of(kClean);
  const std::vector<report::Finding> notes = notes_of(report, "control-text");
  REQUIRE(notes.size() == 1);
  for (const char* field : {"system content", "user content", "tool call name", "tool result", "tool description"})
    CHECK_MESSAGE(notes[0].sentence.find(field) != std::string::npos, field);
  const report::Report mended =
      audit_of(with(kClean, "'[[user]]' + m.content", "'[[user]]' + (m.content | replace('[[', '[ ['))"));
  REQUIRE(notes_of(mended, "control-text").size() == 1);
  CHECK(notes_of(mended, "control-text")[0].sentence.find("user content") == std::string::npos);
}

TEST_CASE("a field inside a control token") {
  const std::string source =
      "{%- for m in messages %}\n{{- '[[' + m.role + ']]' + m.content + '[[end]]' }}\n{%- endfor %}\n"
      "{%- if add_generation_prompt %}{{- '[[assistant]]' }}{% endif %}";
  const std::vector<report::Finding> notes = notes_of(audit_of(source), "glued-token");
  REQUIRE(notes.size() == 1);
  CHECK(notes[0].place.line == 2);
  CHECK(notes[0].path == "messages[].role");
  const std::string checked = with(source, "'[[' + m.role + ']]'",
                                   "'[[' + {'user': 'user', 'assistant': 'assistant'}.get(m.role, 'system') + ']]'");
  CHECK_FALSE(has_note(audit_of(checked), "glued-token"));
  // The name of a call is anything.
  const report::Report named =
      audit_of(with(checked, " + m.content + '[[end]]' }}",
                    " + (m.content or '') }}\n{%- for c in m.tool_calls or [] %}{{- '[[' + c.function.name + ']]' + "
                    "(c.function.arguments | tojson) }}{%- endfor %}{{- '[[end]]' }}"));
  const auto glued = std::ranges::find(named.findings, "glued-token", &report::Finding::rule);
  REQUIRE_MESSAGE(glued != named.findings.end(), told(named.findings));
  CHECK(glued->level == report::Level::kWarning);
  CHECK(glued->place.line == 3);
  CHECK(glued->path == "messages[].tool_calls[].function.name");
}

}  // namespace
}  // namespace rondo::audit
