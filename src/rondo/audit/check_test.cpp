// Each cause, on a template that was made to have it and that differs in one place from one without any.
#include "audit/check.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "audit/scenarios.h"
#include "json/print.h"
#include "tests/support/byte_tokenizer.h"

namespace rondo::audit {
namespace {

// Nothing in its output depends on what follows, and it copies its input.
constexpr const char* kSound = R"JINJA({%- if tools %}{{- '[tools>' + (tools | tojson) + '[fin]' }}{%- endif %}
{%- for m in messages %}
{{- '[' + m.role + '>' }}
{%- if m.role == 'assistant' %}
{{- '(mull:' + (m.reasoning_content or '') + ':mull)' }}
{{- m.content if m.content is string else m.content | map(attribute='text') | join if m.content else '' }}
{%- for c in m.tool_calls or [] %}
{{- '{do:' + c.function.name + '|' }}
{%- if c.function.arguments is string %}
{{- c.function.arguments }}
{%- else %}
{{- c.function.arguments | tojson }}
{%- endif %}
{{- ':do}' }}
{%- endfor %}
{%- else %}
{{- m.content }}
{%- endif %}
{{- '[fin]' }}
{%- endfor %}
{%- if add_generation_prompt %}
{{- '[assistant>(mull:' }}
{%- endif %}
)JINJA";

std::string changed(const std::string& from, const std::string& to, std::string source = kSound) {
  const std::size_t at = source.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return source.replace(at, from.size(), to);
}

// Line and column of `needle`, the only one.
causes::TemplatePlace place(const std::string& source, const std::string& needle) {
  const std::size_t at = source.find(needle);
  REQUIRE_MESSAGE(at != std::string::npos, needle);
  REQUIRE(source.find(needle, at + 1) == std::string::npos);
  causes::TemplatePlace out;
  out.line =
      1 + static_cast<std::int32_t>(std::count(source.begin(), source.begin() + static_cast<std::ptrdiff_t>(at), '\n'));
  const std::size_t line_begin = at == 0 ? 0 : source.rfind('\n', at - 1) + 1;
  out.column = static_cast<std::int32_t>(at - line_begin) + 1;
  return out;
}

Result<report::Report> checked(const std::string& source, std::vector<std::string> scenarios = {}) {
  auto compiled = jinja::Template::compile(source, {}, "invented");
  REQUIRE_MESSAGE(compiled.ok(), compiled.error().to_string());
  Input input;
  input.chat_template = compiled.value();
  Options options;
  options.scenarios = std::move(scenarios);
  return check(input, options);
}

bool is_cause(const report::Finding& finding) {
  for (int kind = 0; kind <= static_cast<int>(causes::CauseKind::kCondition); ++kind) {
    if (finding.rule == to_string(static_cast<causes::CauseKind>(kind))) return true;
  }
  return false;
}

// The break of one scenario under the default.
report::Break break_of(const std::string& source, const std::string& scenario) {
  const auto report = checked(source, {scenario});
  REQUIRE_MESSAGE(report.ok(), report.error().to_string());
  REQUIRE_FALSE(report.value().cases.empty());
  const report::Case& played = report.value().cases.front();
  REQUIRE_MESSAGE(played.broken.has_value(), played.note);
  return *played.broken;
}

void check_cause(const report::Break& broken, causes::CauseKind kind, const causes::TemplatePlace& where) {
  INFO(broken.cause.sentence);
  INFO(broken.before, "|", broken.kept, "|", broken.rerendered);
  CHECK(to_string(broken.cause.kind) == to_string(kind));
  CHECK(broken.cause.place.line == where.line);
  CHECK(broken.cause.place.column == where.column);
}

bool has_verified(const report::Break& broken, report::Remedy::Kind kind) {
  return std::ranges::any_of(broken.remedies,
                             [&](const report::Remedy& remedy) { return remedy.kind == kind && remedy.is_verified; });
}

std::string remedies_of(const report::Break& broken) {
  std::string out;
  for (const report::Remedy& remedy : broken.remedies)
    out += remedy.sentence + (remedy.is_verified ? " (holds)\n" : "\n");
  return out;
}

TEST_CASE("bug: the remedies for content in parts threw the parts away") {
  const std::string joins =
      "m.content if m.content is string else m.content | map(attribute='text') | join if m.content else ''";
  const std::string bridge = "keep the ids of prompt and completion, and append what follows (rondo bridge) (holds)\n";
  // The list is printed, or not written at all.
  using Written = std::pair<std::string, std::string>;
  for (const auto& [writes, line] :
       {Written{"m.content or ''", "6"}, Written{"m.content if m.content is string else ''", "4"}}) {
    CAPTURE(writes);
    const std::string source = changed(joins, writes);
    CHECK(remedies_of(break_of(source, "content-parts")) ==
          "send content as text, not as parts (holds)\n"
          "let the template write the texts of content that is a list of parts at line " +
              line + "\n" + bridge);
  }
  // Content that is missing has other forms.
  const std::string source = changed(joins, "m.content");
  CHECK(remedies_of(break_of(source, "content-null")) ==
        "send `\"content\": \"\"` beside calls (holds)\nlet the template write content only where there is some at "
        "line 6\n" +
            bridge);
}

TEST_CASE("bug: the change to the template was that for another finding where a field has another form") {
  const auto has = [](const report::Break& broken, const std::string& sentence) {
    INFO(remedies_of(broken));
    CHECK(std::ranges::any_of(broken.remedies,
                              [&](const report::Remedy& remedy) { return remedy.sentence.starts_with(sentence); }));
  };
  // Reasoning under another name, which the template does not read.
  has(break_of(changed("m.reasoning_content", "m.reasoning"), "reasoning-other-name"),
      "let the template read reasoning under the name that was sent");
  // Arguments as a string, which the template writes otherwise than those that it wants.
  const std::string source = changed("{{- c.function.arguments }}", "{{- '<' + c.function.arguments + '>' }}");
  has(break_of(source, "arguments-text"), "let the template write arguments alike, given as a string and as an object");
}

TEST_CASE("000:136-137: check: a clean template has no finding about breaks, and every case holds") {
  const auto report = checked(kSound);
  REQUIRE_MESSAGE(report.ok(), report.error().to_string());
  for (const report::Finding& finding : report.value().findings) CHECK_MESSAGE(!is_cause(finding), finding.sentence);
  std::size_t held = 0;
  for (const report::Case& played : report.value().cases) {
    CAPTURE(played.scenario);
    CAPTURE(played.note);
    if (played.is_inherent) continue;
    if (played.string_prefix == report::Verdict::kSkipped) continue;
    CHECK(played.string_prefix == report::Verdict::kHolds);
    CHECK(played.bridge == report::Verdict::kHolds);
    CHECK(played.parse_of_render == report::Verdict::kHolds);
    CHECK(played.render_of_parse == report::Verdict::kHolds);
    CHECK(played.token_prefix == report::Verdict::kSkipped);
    ++held;
  }
  CHECK(held >= 20);
  CHECK_FALSE(report.value().has_tokenizer);
}

TEST_CASE("check: of a template without calls no turn about calls is played, and others lose theirs") {
  const auto report = checked(
      changed("m.tool_calls or []", "[]"),
      {"content", "reasoning-call", "content-call", "space-before-content-call", "space-before-call", "cut-in-call"});
  REQUIRE_MESSAGE(report.ok(), report.error().to_string());
  std::string played;
  for (const report::Case& one : report.value().cases)
    played += one.scenario + (one.string_prefix == report::Verdict::kSkipped ? ": " + one.note + "; " : " ");
  CHECK(played ==
        "content reasoning-call: the template writes no calls; content-call: the template writes no calls; "
        "space-before-content-call space-before-call: nothing marks where the call begins; "
        "cut-in-call: the template writes no calls; ");
}

TEST_CASE("check: a text that the template writes otherwise is not read back") {
  const auto report = checked(
      changed("{{- m.content if m.content is string", "{{- m.content | upper if m.content is string"), {"content"});
  REQUIRE_MESSAGE(report.ok(), report.error().to_string());
  REQUIRE_FALSE(report.value().cases.empty());
  CHECK(report.value().cases.front().parse_of_render == report::Verdict::kBreaks);
}

TEST_CASE("000:267-268: check: white space that is cut off content") {
  const std::string source = changed("m.content if m.content is string", "m.content | trim if m.content is string");
  const report::Break broken = break_of(source, "space-before-content");
  check_cause(broken, causes::CauseKind::kWhitespaceStripped, place(source, "trim if"));
  CHECK(broken.cause.path == "messages[1].content");
  CHECK(has_verified(broken, report::Remedy::Kind::kBridge));
}

TEST_CASE("check: white space is cut where the content is written, not where a condition looks at it") {
  const std::string source = changed("{{- m.content if m.content is string",
                                     "{%- if m.content | trim %}{{- '' }}{%- endif %}\n"
                                     "{{- m.content | trim if m.content is string");
  check_cause(break_of(source, "space-before-content"), causes::CauseKind::kWhitespaceStripped,
              place(source, "trim if"));
}

TEST_CASE("check: each variable that mends a break alone is a remedy, and none beside another that does") {
  const std::string source =
      changed("(m.reasoning_content or '')", "(m.reasoning_content if loop.last or keep_thoughts or keep_all else '')");
  const std::string remedies = remedies_of(break_of(source, "reasoning-content"));
  CHECK(
      remedies.starts_with("set {\"keep_all\":true} in chat_template_kwargs (holds)\n"
                           "set {\"keep_thoughts\":true} in chat_template_kwargs (holds)\n"));
  CHECK(remedies.find("keep_all", remedies.find("keep_all") + 1) == std::string::npos);
}

TEST_CASE("000:20-23: check: reasoning that goes once a user message follows, and a variable that keeps it") {
  const std::string source =
      changed("(m.reasoning_content or '')", "(m.reasoning_content if loop.last or keep_thoughts else '')");
  const report::Break broken = break_of(source, "reasoning-content");
  check_cause(broken, causes::CauseKind::kReasoningDropped, place(source, "loop.last or"));
  CHECK(broken.cause.path == "messages[1].reasoning_content");
  REQUIRE_FALSE(broken.remedies.empty());
  CHECK(broken.remedies.front().kind == report::Remedy::Kind::kVariable);
  CHECK(broken.remedies.front().is_verified);
  CHECK(broken.remedies.front().kwargs == json::Object{{"keep_thoughts", true}});
}

// Like the clean one, but reasoning is written only if there is some, and the model opens it itself.
std::string with_optional_reasoning() {
  std::string source =
      changed("{{- '(mull:' + (m.reasoning_content or '') + ':mull)' }}",
              "{%- if m.reasoning_content %}{{- '(mull:' + m.reasoning_content + ':mull)' }}{%- endif %}");
  return changed("[assistant>(mull:", "[assistant>", source);
}

TEST_CASE("check: reasoning markup that nobody sampled") {
  const std::string source = changed("{{- '(mull:' + m.reasoning_content + ':mull)' }}{%- endif %}",
                                     "{{- '(mull:' + m.reasoning_content + ':mull)' }}"
                                     "{%- elif not loop.last %}{{- '(mull::mull)' }}{%- endif %}",
                                     with_optional_reasoning());
  const report::Break broken = break_of(source, "content");
  check_cause(broken, causes::CauseKind::kReasoningAdded, place(source, "not loop.last"));
}

TEST_CASE("000:269-270: check: a generation prompt that history does not go on with") {
  std::string source = changed("{{- '(mull:' + (m.reasoning_content or '') + ':mull)' }}\n", "");
  source = changed("m.content if m.content is string", "m.content.split(':mull)')[-1] if m.content is string", source);
  const report::Break broken = break_of(source, "reasoning-content");
  check_cause(broken, causes::CauseKind::kGenerationPrompt, place(source, "'[assistant>(mull:'"));
  CHECK(broken.in_prompt);
}

TEST_CASE("check: white space that only the template writes") {
  const std::string source = changed("'{do:'", "'\\n{do:'");
  check_cause(break_of(source, "tight-before-call"), causes::CauseKind::kWhitespaceAdded, place(source, "'\\n{do:'"));
}

TEST_CASE("000:260-264: check: JSON that is serialised again") {
  const std::string source = changed("c.function.arguments is string", "false");
  const report::Break broken = break_of(source, "json-compact");
  check_cause(broken, causes::CauseKind::kJsonRespelled, place(source, "c.function.arguments | tojson"));
  CHECK(broken.cause.path.starts_with("messages[1].tool_calls[0].function.arguments"));
  const auto spaced = checked(source, {"json-spaced"});
  CHECK(spaced.value().cases.front().string_prefix == report::Verdict::kHolds);
}

TEST_CASE("check: arguments that were sent as a string are serialised once more") {
  const std::string source = changed("c.function.arguments is string", "false");
  const report::Break broken = break_of(source, "arguments-text");
  check_cause(broken, causes::CauseKind::kDoubleEncoded, place(source, "c.function.arguments | tojson"));
  CHECK(has_verified(broken, report::Remedy::Kind::kArguments));
}

TEST_CASE("check: JSON punctuation in the template") {
  std::string source = changed("{{- '{do:' + c.function.name + '|' }}",
                               "{{- '{do:{\"name\": \"' + c.function.name + '\", \"arguments\": ' }}");
  source = changed("':do}'", "'}:do}'", source);
  check_cause(break_of(source, "json-compact"), causes::CauseKind::kLiteralEnvelope,
              place(source, "'{do:{\"name\": \"'"));
}

TEST_CASE("check: a value that Python prints") {
  const std::string arguments =
      "{%- for k, v in c.function.arguments.items() %}{{- '(p ' + k + '=' }}{{- v }}{{- ' p)' }}{%- endfor %}";
  std::string source = changed("{{- c.function.arguments | tojson }}", arguments);
  source = changed("c.function.arguments is string", "false", source);
  const report::Break broken = break_of(source, "number-exponent");
  check_cause(broken, causes::CauseKind::kPythonValue, place(source, "v }}{{- ' p)'"));
}

TEST_CASE("check: a message that another loop writes once others follow") {
  const std::string source = R"JINJA({%- set ns = namespace(n=-1) %}
{%- for m in messages %}{%- if m.role == 'assistant' and not loop.last %}{%- set ns.n = loop.index0 %}{%- endif %}{%- endfor %}
{%- for m in messages[:ns.n + 1] %}
{{- '[' + m.role + '>' }}{%- if m.role == 'assistant' %}{{- '(mull::mull)' }}{%- endif %}
{{- m.content + '[fin]' }}
{%- endfor %}
{%- for m in messages[ns.n + 1:] %}
{{- '[' + m.role + '>' }}{%- if m.role == 'assistant' %}{{- '(mull:' + (m.reasoning_content or '') + ':mull)' }}{%- endif %}
{{- m.content + '[fin]' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '[assistant>(mull:' }}{%- endif %}
)JINJA";
  const report::Break broken = break_of(source, "reasoning-content");
  check_cause(broken, causes::CauseKind::kMovedMessage, place(source, "{%- for m in messages[:ns.n"));
}

TEST_CASE("check: tool declarations that follow the last question") {
  std::string source = changed("{%- if tools %}{{- '[tools>' + (tools | tojson) + '[fin]' }}{%- endif %}\n", "");
  const std::string condition =
      "tools and m.role == 'user' and m == (messages | selectattr('role', 'equalto', 'user') | list)[-1]";
  source = changed(
      "{{- '[' + m.role + '>' }}",
      "{%- if " + condition + " %}{{- '[tools>' + (tools | tojson) + '[fin]' }}{%- endif %}{{- '[' + m.role + '>' }}",
      source);
  const report::Break broken = break_of(source, "content-tools");
  check_cause(broken, causes::CauseKind::kMovedTools, place(source, condition));
}

TEST_CASE("check: a field that is not written") {
  const std::string source =
      changed("{{- m.content if m.content is string", "{{- '' if m.tool_calls else m.content if m.content is string");
  const report::Break broken = break_of(source, "content-call");
  check_cause(broken, causes::CauseKind::kDroppedField, place(source, "m.tool_calls else"));
  CHECK(broken.cause.path == "messages[1].content");
}

TEST_CASE("check: a turn that history closes otherwise") {
  const std::string source =
      changed("{{- '[fin]' }}\n{%- endfor %}\n{%- if add",
              "{{- '[stop]' if loop.last and not add_generation_prompt else '[fin]' }}\n{%- endfor %}\n{%- if add");
  const report::Break broken = break_of(source, "content");
  check_cause(broken, causes::CauseKind::kReplacedClose, place(source, "'[fin]' }}\n{%- endfor %}\n{%- if add"));
}

TEST_CASE("check: a condition about what follows") {
  const std::string marked = changed("{{- m.content if m.content is string",
                                     "{%- if loop.nextitem is defined %}{{- '(old)' }}{%- endif %}"
                                     "{{- m.content if m.content is string");
  check_cause(break_of(marked, "content"), causes::CauseKind::kCondition, place(marked, "loop.nextitem"));
}

TEST_CASE("check: a template that breaks down on the next prompt") {
  const std::string source =
      changed("{%- for m in messages %}\n",
              "{%- for m in messages %}\n{%- if m.role == 'tool' %}{{- m.content.nothing.at_all }}{%- endif %}\n");
  const report::Break broken = break_of(source, "call");
  CHECK(to_string(broken.cause.kind) == to_string(causes::CauseKind::kRefused));
  CHECK(broken.cause.place.line == place(source, "m.content.nothing").line);
}

TEST_CASE("check: a template that breaks down on another form of a message is not played in that form") {
  const auto note_of = [](const std::string& source, const std::string& scenario) {
    const auto report = checked(source, {scenario});
    REQUIRE_MESSAGE(report.ok(), report.error().to_string());
    const report::Case& played = report.value().cases.front();
    CHECK(played.string_prefix == report::Verdict::kSkipped);
    CHECK_FALSE(played.broken.has_value());
    return played.note;
  };
  const std::string refusal = "the template refuses the next prompt: ";
  CHECK(note_of(changed("{{- c.function.arguments }}", "{{- c.function.arguments.nothing.at_all }}"), "arguments-text")
            .starts_with(refusal));
  CHECK(note_of(changed("m.content if m.content is string else m.content | map(attribute='text') | join if m.content",
                        "m.content if m.content is string else m.content.nothing.at_all if m.content"),
                "content-parts")
            .starts_with(refusal));
}

TEST_CASE(
    "check: arguments are sent as text where the template copies them, although it refuses to ask behind a turn") {
  const std::string source =
      changed("{%- if add_generation_prompt %}\n",
              "{%- if add_generation_prompt %}\n"
              "{%- if messages[-1].role == 'assistant' %}{{- raise_exception('nobody asked') }}{%- endif %}\n");
  const auto report = checked(source, {"json-compact", "number-exponent"});
  REQUIRE_MESSAGE(report.ok(), report.error().to_string());
  for (const report::Case& played : report.value().cases) {
    CAPTURE(played.scenario);
    CHECK(played.string_prefix == report::Verdict::kHolds);
  }
}

TEST_CASE("check: a turn that was cut off is no fault of the template's") {
  const auto report = checked(kSound, {"cut-in-call", "broken-call"});
  REQUIRE(report.ok());
  for (const report::Finding& finding : report.value().findings) CHECK_MESSAGE(!is_cause(finding), finding.sentence);
  for (const report::Case& played : report.value().cases) {
    CAPTURE(played.scenario);
    CHECK(played.is_inherent);
    CHECK(played.bridge == report::Verdict::kHolds);
  }
}

// The lines of kSound that write a call's arguments, in another form.
std::string with_arguments(const std::string& lines) {
  const std::string source = kSound;
  const std::size_t begin = source.find("{%- if c.function.arguments is string %}");
  const std::size_t end = source.find("{{- ':do}' }}");
  return source.substr(0, begin) + lines + source.substr(end);
}

TEST_CASE("check: arguments that are written in another order") {
  const std::string source = with_arguments(
      "{{- '{' }}\n{%- for k, v in c.function.arguments | dictsort %}\n"
      "{{- '\"' + k + '\": ' }}{{- v | tojson }}{{- '' if loop.last else ', ' }}\n{%- endfor %}\n{{- '}' }}\n");
  const report::Break broken = break_of(source, "key-order");
  check_cause(broken, causes::CauseKind::kReordered, {11, 5, ""});
  CHECK(broken.cause.sentence.find("another order") != std::string::npos);
}

TEST_CASE("check: a call that was cut off is closed") {
  const std::string source = with_arguments(
      "{%- for k, v in c.function.arguments.items() %}\n{{- '<' + k + '=' + (v | string) + '>' }}\n{%- endfor %}\n");
  check_cause(break_of(source, "cut-in-call"), causes::CauseKind::kForcedClose, place(source, "':do}'"));
}

TEST_CASE("check: the rest of a call that was closed badly is content, which history writes first") {
  const report::Break broken = break_of(kSound, "broken-call");
  check_cause(broken, causes::CauseKind::kReordered, place(kSound, "m.content if m.content is string"));
}

TEST_CASE("check: ids of calls that are cut") {
  const std::string source =
      changed("'{do:' + c.function.name + '|'", "'{do:' + c.function.name + '#' + c.id[1:] + '|'");
  const report::Break broken = break_of(source, "call");
  check_cause(broken, causes::CauseKind::kRewrittenId, place(source, "'{do:' + c.function.name"));
  CHECK(broken.cause.path == "messages[1].tool_calls[0].id");
}

TEST_CASE("000:26: check: texts that become other tokens where they meet") {
  // The prompt ends with a colon, and the model's text begins with a letter: together they are one token.
  json::Value file = test::byte_tokenizer_json({"[fin]"});
  json::Object& model = file.as_object().find("model")->as_object();
  model.find("vocab")->as_object().set(":T", 256);
  file.as_object().find("added_tokens")->as_array().front().as_object().set("id", 257);
  model.set("merges", json::Array{json::Value(json::Array{":", "T"})});
  model::TokenizerSource from;
  from.path = "bytes and one merge";
  from.tokenizer_json = std::make_shared<const std::string>(json::to_compact(file));
  auto loaded = tokenizer::Tokenizer::load(from);
  REQUIRE_MESSAGE(loaded.ok(), loaded.error().to_string());
  Input input;
  input.chat_template = jinja::Template::compile(kSound, {}, "invented").value();
  input.tokenizer = std::move(loaded).value();
  const auto report = check(input, {.on_progress = {}, .scenarios = {"reasoning-content"}});
  REQUIRE_MESSAGE(report.ok(), report.error().to_string());
  const report::Case& played = report.value().cases.front();
  CHECK(played.string_prefix == report::Verdict::kHolds);
  REQUIRE(played.broken.has_value());
  CHECK(to_string(played.broken->cause.kind) == "retokenized");
  CHECK(played.broken->cause.sentence.find("other tokens") != std::string::npos);
}

TEST_CASE("check: values that the template compares its variables with are settings") {
  const std::string source =
      changed("[assistant>(mull:' }}", "[assistant>(mull:' + ('quick ' if effort == 'low' else '') }}");
  const auto report = checked(source, {"content"});
  REQUIRE(report.ok());
  REQUIRE(report.value().knobs.size() == 1);
  CHECK(report.value().knobs.front().name == "effort");
  CHECK(report.value().knobs.front().values == std::vector<json::Value>{"low"});
  CHECK(report.value().cases.size() == 2);
  CHECK(report.value().cases.back().setting == "effort=low");
}

TEST_CASE("check: hostile templates end in an error or in skipped cases") {
  const auto always = checked("{{ raise_exception('never') }}");
  REQUIRE_MESSAGE(always.ok(), always.error().to_string());
  for (const report::Case& played : always.value().cases) CHECK(played.string_prefix == report::Verdict::kSkipped);
  CHECK_FALSE(checked("{% for a in range(99999) %}{% for b in range(99999) %}x{% endfor %}{% endfor %}").ok());
  CHECK_FALSE(checked("{% for a in range(99999) %}{{ 'x' * 9999 }}{% endfor %}").ok());
  CHECK(checked("").ok());
  CHECK(checked("x").ok());
  CHECK(checked("{{ messages }}").ok());
  CHECK(checked("{{ messages | tojson }}{{ tools }}").ok());
}

TEST_CASE("check: a scenario that there is not") {
  const auto report = checked(kSound, {"nothing"});
  REQUIRE_FALSE(report.ok());
  CHECK(report.error().code == ErrorCode::kInvalidArgument);
  CHECK(report.error().message.find("reasoning-call") != std::string::npos);
}

TEST_CASE("a turn whose reasoning stands behind its calls is skipped where the model would begin with the reasoning") {
  const auto report = checked(
      "{%- for m in messages %}\n"
      "{%- for c in m.tool_calls or [] %}{{ '%call% ' ~ c.function.name ~ ' %with% ' ~ c.function.arguments ~ ' "
      "%/call%' }}"
      "{% endfor %}"
      "{%- if m.content %}{{ '%text% ' ~ m.content ~ ' %/text%' }}{% endif %}"
      "{%- if m.reasoning_content %}{{ '%note% ' ~ m.reasoning_content ~ ' %/note%' }}{% endif %}\n"
      "{{- '{{/' ~ m.role ~ '}}\\n' }}{%- endfor %}{% if add_generation_prompt %}{{ '{{assistant}}' }}{% endif %}");
  REQUIRE(report.ok());
  CHECK(std::ranges::any_of(report.value().cases, [](const report::Case& played) {
    return played.note.find("the template does not write the calls") != std::string::npos;
  }));
}

}  // namespace
}  // namespace rondo::audit
