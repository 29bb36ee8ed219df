// Each cause, on a template that was made to have it, with what a model wrote and what the next prompt makes of it.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "causes/find.h"
#include "causes/finder.h"
#include "json/parse.h"
#include "probe/messages.h"

namespace rondo::causes {
namespace {

// Nothing in its output depends on what follows, and it copies its input.
constexpr const char* kClean = R"JINJA({%- if tools %}{{- '[tools>' + (tools | tojson) + '[fin]' }}{%- endif %}
{%- for m in messages %}
{{- '[' + m.role + '>' }}
{%- if m.role == 'assistant' %}
{%- if m.reasoning_content %}{{- '(mull:' + m.reasoning_content + ':mull)' }}{%- endif %}
{{- m.content }}
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
{{- '[assistant>' }}
{%- endif %}
)JINJA";

constexpr const char* kFormat = R"JSON({
  "input": {"no_content": "empty", "reasoning_field": "reasoning_content"}, "header": "[assistant>",
  "reasoning": {"present": true, "open": "(mull:", "close": ":mull)"},
  "calls": {"present": true, "call_open": "{do:", "call_close": ":do}", "envelope": "tags",
    "pieces": [{"kind": "name"}, {"kind": "literal", "text": "|"}, {"kind": "arguments"}], "arguments": "json"},
  "stops": {"content": ["[fin]"], "tool": ["[fin]"]}})JSON";

std::string changed(const std::string& from, const std::string& to, std::string source = kClean) {
  const std::size_t at = source.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  return source.replace(at, from.size(), to);
}

const json::Value kQuestion = probe::plain_message("user", "ask");
const json::Value kMore = probe::plain_message("user", "more");

std::shared_ptr<const format::Format> the_format() {
  return std::make_shared<const format::Format>(format::from_json(json::parse(kFormat).value()).value());
}

// The cause if a model wrote `completion` after a question, the client keeps `kept`, and `following` comes next.
Found found(const std::string& source, const std::string& completion, const std::string& kept,
            json::Array following = {kMore}, json::Array before = {kQuestion},
            std::optional<probe::Extent> parted = std::nullopt,
            std::shared_ptr<const format::Format> format = the_format()) {
  const auto chat_template = jinja::Template::compile(source, {}, "invented").value();
  const chat::Conversation base;
  const tmpl::ApplyOptions options;
  json::Array after = before;
  after.push_back(json::parse(kept).value());
  after.insert(after.end(), following.begin(), following.end());
  tmpl::ReadyConversation all(base, after);
  const auto again = all.render(*chat_template, true, options);
  REQUIRE_MESSAGE(again.ok(), again.error().to_string());
  auto out = find_cause(Exchange{.chat_template = *chat_template,
                                 .base = base,
                                 .options = options,
                                 .format = std::move(format),
                                 .before = before,
                                 .completion = completion,
                                 .stop_size = 0,
                                 .after = after,
                                 .again = again.value(),
                                 .parted_tokens = parted});
  REQUIRE(out.ok());
  return out.value();
}

// "kind line path"
std::string told(const Found& found) {
  std::string out = std::string(to_string(found.cause.kind)) + " " + std::to_string(found.cause.place.line);
  return found.cause.path.empty() ? out : out + " " + found.cause.path;
}

const std::string kAnswer = R"({"role": "assistant", "content": "Yes"})";
const std::string kThought = R"({"role": "assistant", "content": "Yes", "reasoning_content": "Hm"})";
const std::string kCall = R"({"role": "assistant", "content": "", "tool_calls":
  [{"type": "function", "function": {"name": "f", "arguments": {"a": 1, "b": true}}}]})";

TEST_CASE("every cause has a name of its own") {
  for (const auto& [kind, name] : kCauseNames) CHECK(to_string(kind) == name);
}

TEST_CASE("reasoning that a condition leaves out once messages follow") {
  const std::string source = changed("{%- if m.reasoning_content %}", "{%- if m.reasoning_content and loop.last %}");
  const Found out = found(source, "(mull:Hm:mull)Yes[fin]", kThought);
  CHECK(told(out) == "reasoning-dropped 5 messages[1].reasoning_content");
  CHECK(out.cause.sentence.ends_with("was true, now false"));
  CHECK_FALSE(out.in_prompt);
  CHECK(out.cause.message == 1);
  CHECK(std::string("[user>ask[fin][assistant>").size() == out.at);
  // There is no condition: nothing writes it at all.
  const std::string never = changed("{%- if m.reasoning_content %}", "{%- if false %}");
  CHECK(told(found(never, "(mull:Hm:mull)Yes[fin]", kThought)) == "reasoning-dropped 6 messages[1].reasoning_content");
}

TEST_CASE("reasoning markup that nobody sampled") {
  const std::string source = changed("{{- m.content }}", "{{- '(mull::mull)' + m.content }}");
  CHECK(told(found(source, "Yes[fin]", kAnswer)) == "reasoning-added 6");
}

TEST_CASE("white space that is cut off a field, or written where there was none") {
  const std::string cut = changed("{{- m.content }}", "{{- m.content | trim }}");
  CHECK(told(found(cut, "\nYes[fin]", R"({"role": "assistant", "content": "\nYes"})")) ==
        "whitespace-stripped 6 messages[1].content");
  const std::string more = changed("{{- '{do:'", "{{- '\\n{do:'");
  CHECK(told(found(more, R"({do:f|{"a": 1, "b": true}:do}[fin])", kCall)) == "whitespace-added 8");
  CHECK(told(found(kClean, "\n{do:f|{\"a\": 1, \"b\": true}:do}[fin]", kCall)) == "lost-markup 8");
}

TEST_CASE("values of a call that go through a serialiser") {
  const std::string path = " messages[1].tool_calls[0].function.arguments";
  CHECK(told(found(kClean, R"({do:f|{"a":1,"b":true}:do}[fin])", kCall)) == "json-respelled 12" + path);
  const std::string python = changed("c.function.arguments | tojson", "c.function.arguments | string");
  CHECK(told(found(python, R"({do:f|{"a": 1, "b": true}:do}[fin])", kCall)) == "python-value 12" + path + ".#a");
  const std::string twice = changed("{{- c.function.arguments }}", "{{- c.function.arguments | tojson }}");
  std::string text = kCall;
  text.replace(text.find("{\"a\": 1, \"b\": true}"), 19, R"("{\"a\": 1}")");
  CHECK(told(found(twice, R"({do:f|{"a": 1}:do}[fin])", text)) == "double-encoded 10" + path);
  const std::string other = changed("{{- c.function.arguments }}", "{{- 'text' }}");
  CHECK(told(found(other, R"({do:f|{"a": 1}:do}[fin])", text)) == "condition 9");
}

TEST_CASE("ids of calls that are made anew") {
  const std::string source =
      changed("'{do:' + c.function.name + '|'", "'{do:' + c.function.name + '#' + c.id[1:] + '|'");
  std::string kept = kCall;
  kept.insert(kept.find("{\"type\""), "");
  kept.replace(kept.find("\"type\""), 6, "\"id\": \"x7\", \"type\"");
  CHECK(told(found(source, R"({do:f#x7|{"a": 1, "b": true}:do}[fin])", kept)) ==
        "rewritten-id 8 messages[1].tool_calls[0].id");
}

TEST_CASE("a call that comes back without its arguments") {
  const std::string bare = changed("c.function.arguments | tojson", "(c.function.arguments or {}) | tojson");
  CHECK(told(found(bare, R"({do:f|{"a": 1}:do}[fin])", R"({"role": "assistant", "content": "", "tool_calls":
    [{"type": "function", "function": {"name": "f"}}]})")) == "lost-markup 12");
}

TEST_CASE("parts that are gone, or stand in another order") {
  const std::string both = R"({"role": "assistant", "content": "See", "tool_calls":
    [{"type": "function", "function": {"name": "f", "arguments": {}}}]})";
  const std::string silent = changed("{{- m.content }}", "{%- if not m.tool_calls %}{{- m.content }}{%- endif %}");
  CHECK(told(found(silent, "See{do:f|{}:do}[fin]", both)) == "dropped-field 6 messages[1].content");
  const std::string callless = changed("m.tool_calls or []", "[]");
  CHECK(told(found(callless, "See{do:f|{}:do}[fin]", both)) == "dropped-field 19 messages[1].tool_calls");
  std::string late = changed("{{- m.content }}\n", "");
  late = changed("{%- endfor %}\n{%- else %}", "{%- endfor %}\n{{- m.content }}\n{%- else %}", late);
  CHECK(told(found(late, "See{do:f|{}:do}[fin]", both)) == "reordered 7 messages[1].content");
}

TEST_CASE("the end of a turn: another close, markup that no message holds") {
  const std::string closes = changed("{{- '[fin]' }}", "{{- '[over]' }}");
  CHECK(told(found(closes, "Yes[fin]", kAnswer)) == "replaced-close 19");
  const std::string own = changed("{{- '[fin]' }}", "{{- '[over]' if m.role == 'assistant' else '[fin]' }}");
  CHECK(told(found(own, "Yes[fin]", kAnswer)) == "replaced-close 19");
  CHECK(told(found(kClean, "Yes<x>[fin]", kAnswer)) == "lost-markup 19");
}

TEST_CASE("the whole turn is written otherwise once messages follow") {
  const std::string source = changed("{{- m.content }}", "{{- m.content if loop.last else m.content | upper }}");
  const Found out = found(source, "Yes[fin]", kAnswer);
  CHECK(told(out) == "condition 6 messages[1]");
  CHECK(out.cause.sentence.starts_with("the turn is written otherwise once messages follow"));
}

TEST_CASE("bug: a constant that a tag writes otherwise was laid on another condition") {
  const std::string writes = "(open + m.role + '>')";
  const std::string source =
      "{%- set open = 'x[' %}\n" +
      changed("{{- '[' + m.role + '>' }}", "{%- if loop.last %}{%- set seen = 1 %}{%- endif %}\n{{- " + writes +
                                               " if loop.last else " + writes + " | upper }}");
  CHECK(told(found(source, "Yes[fin]", kAnswer)) == "condition 5");
}

TEST_CASE("bug: an empty block of reasoning that is spelled otherwise counted as gone") {
  const std::string block = "('(mull:' + (m.reasoning_content or '') + ':mull)')";
  const std::string source =
      changed("{%- if m.reasoning_content %}{{- '(mull:' + m.reasoning_content + ':mull)' }}{%- endif %}",
              "{{- " + block + " if loop.last else " + block + " | upper }}");
  CHECK(told(found(source, "(mull::mull)Yes[fin]", kAnswer)) == "condition 5 messages[1]");
}

TEST_CASE("breaks in front of the turn") {
  const std::string opens = changed("{{- '[assistant>' }}", "{{- '[assistant>(mull:' }}");
  const Found opened = found(opens, "Hm:mull)Yes[fin]", kAnswer);
  CHECK(told(opened) == "generation-prompt 22");
  CHECK(opened.in_prompt);
  const std::string first =
      changed("{{- m.content }}\n{%- endif %}", "{{- m.content + ('!' if loop.last else '') }}\n{%- endif %}");
  const Found earlier = found(first, "Yes[fin]", kAnswer);
  CHECK(told(earlier) == "condition 17");
  CHECK(earlier.cause.message == 0);
  const std::string head = "{{- 'last: ' + messages[-1].content }}" + std::string(kClean);
  CHECK(told(found(head, "Yes[fin]", kAnswer)) == "moved-tools 1 messages[2].content");
}

TEST_CASE("a system text that stands elsewhere once messages follow") {
  const json::Array before = {probe::plain_message("system", "rule"), kQuestion};
  const std::string source = changed(
      "{{- '[' + m.role + '>' }}",
      "{%- if m.role == 'system' and messages | length > 2 %}{%- continue %}{%- endif %}{{- '[' }}"
      "{{- 'sys' if m.role == 'system' else m.role }}{{- '>' }}"
      "{%- if loop.last and messages[0].role == 'system' and not loop.first %}{{- messages[0].content + '~' }}{%- "
      "endif %}");
  const Found out = found(source, "Yes[fin]", kAnswer, {kMore}, before);
  CHECK(told(out) == "moved-tools 3 messages[0].content");
  CHECK(out.cause.sentence.starts_with("the system text stands elsewhere"));
}

TEST_CASE("white space that a client put in front of the content, beside a call") {
  CHECK(told(found(kClean, "Yes{do:f|{}:do}[fin]", R"({"role": "assistant", "content": " Yes", "tool_calls":
    [{"type": "function", "function": {"name": "f", "arguments": {}}}]})")) == "lost-markup 6");
}

// Calls are JSON that the template's own literals write.
TEST_CASE("JSON around a call that a literal spells") {
  const std::string source = R"JINJA({%- for m in messages %}{{- '[' + m.role + '>' + m.content }}
{%- for c in m.tool_calls or [] %}
{{- '<do>{"name": "' + c.function.name + '", "arguments": ' }}{{- c.function.arguments | tojson }}{{- '}</do>' }}
{%- endfor %}{{- '[fin]' }}{%- endfor %}
{%- if add_generation_prompt %}{{- '[assistant>' }}{%- endif %})JINJA";
  const json::Value written = json::parse(R"JSON({
    "input": {"no_content": "empty"}, "header": "[assistant>",
    "calls": {"present": true, "call_open": "<do>", "call_close": "</do>", "envelope": "json_object",
      "roles": {"name": ["name"], "arguments": ["arguments"]}, "arguments": "json"},
    "stops": {"content": ["[fin]"], "tool": ["[fin]"]}})JSON")
                                  .value();
  const auto format = std::make_shared<const format::Format>(format::from_json(written).value());
  const std::string kept = R"({"role": "assistant", "content": "", "tool_calls":
    [{"type": "function", "function": {"name": "f", "arguments": {}}}]})";
  const auto cause = [&](const std::string& completion) {
    return told(found(source, completion, kept, {kMore}, {kQuestion}, std::nullopt, format));
  };
  CHECK(cause(R"(<do>{"name":"f", "arguments": {}}</do>[fin])") == "literal-envelope 3");
  CHECK(cause(R"(<do>{'name': 'f', 'arguments': {}}</do>[fin])") == "literal-envelope 3");
  CHECK(cause("<do>\n{\"name\": \"f\", \"arguments\": {}}</do>[fin]") == "lost-markup 3");
}

TEST_CASE("reasoning of an earlier turn that is gone, or back") {
  const json::Array before = {kQuestion, json::parse(kThought).value(), kMore};
  const std::string gone =
      changed("{%- if m.reasoning_content %}", "{%- if m.reasoning_content and loop.index0 + 3 > messages | length %}");
  CHECK(told(found(gone, "Yes[fin]", kAnswer, {kMore}, before)) == "reasoning-dropped 5 messages[1].reasoning_content");
  // The heading before the mark already differs.
  const std::string heading = changed(
      "'>' }}\n{%- if m.role",
      "(' mulls>' if m.reasoning_content and loop.index0 + 3 > messages | length else '>') }}\n{%- if m.role", gone);
  CHECK(told(found(heading, "Yes[fin]", kAnswer, {kMore}, before)).starts_with("reasoning-dropped "));
  const std::string back =
      changed("{%- if m.reasoning_content %}", "{%- if m.reasoning_content and messages | length > 3 %}");
  CHECK(told(found(back, "Yes[fin]", kAnswer, {kMore}, before)) == "reasoning-added 5 messages[1].reasoning_content");
}

TEST_CASE("a message that another loop writes") {
  const std::string source = R"JINJA({%- for m in messages %}{%- if loop.last %}
{%- for x in [m] %}{{- '[' + x.role + '>' + x.content + '[fin]' }}{%- endfor %}
{%- else %}{{- '<' + m.role + '>' + m.content + '[fin]' }}{%- endif %}{%- endfor %}
{%- if add_generation_prompt %}{{- '[assistant>' }}{%- endif %})JINJA";
  const Found out = found(source, "Yes[fin]", kAnswer);
  CHECK(out.in_prompt);
  CHECK(out.cause.place.line == 1);
}

TEST_CASE("the same text in other tokens") {
  const Found out = found(kClean, "Yes[fin]", kAnswer, {kMore}, {kQuestion}, probe::Extent{3, 7});
  CHECK(told(out) == "retokenized 3");
  CHECK(out.at == 3);
}

TEST_CASE("a next prompt that is refused") {
  const auto chat_template = jinja::Template::compile(kClean, {}, "invented").value();
  const jinja::Rendered none;
  const Sampled sampled;
  const json::Value kept;
  const Error refusal = Error(ErrorCode::kTemplateRaised, "no").at(4, 2);
  const Found out = find_cause(Event{.chat_template = *chat_template,
                                     .format = *the_format(),
                                     .history = {},
                                     .prompt = none,
                                     .render_bare = {},
                                     .sampled = sampled,
                                     .kept = kept,
                                     .alone = nullptr,
                                     .again = nullptr,
                                     .refusal = &refusal,
                                     .parted_tokens = {}});
  CHECK(told(out) == "refused 4");
  CHECK(out.cause.sentence == "the template refuses the next prompt: no");
  CHECK(out.cause.message == 0);
}

TEST_CASE("a sampled text is read by the format's parser") {
  const Sampled all = read_sampled(the_format(), "[assistant>", "(mull:Hm:mull)See{do:f|{}:do}{do:g|{}:do}[fin]", 0);
  CHECK(all.stop_begin == all.text.size() - 5);
  CHECK_FALSE(all.is_cut);
  REQUIRE(all.regions.reasoning.has_value());
  CHECK(all.text.substr(all.regions.reasoning->begin, all.regions.reasoning->end - all.regions.reasoning->begin) ==
        "Hm");
  REQUIRE(all.regions.content.has_value());
  CHECK(all.text.substr(all.regions.content->begin, all.regions.content->end - all.regions.content->begin) == "See");
  REQUIRE(all.regions.calls.size() == 2);
  CHECK(all.regions.calls[0].end <= all.regions.calls[1].begin);
  CHECK(read_sampled(the_format(), "[assistant>", "Yes", 0).is_cut);
  const Sampled other = read_sampled(the_format(), "[assistant>", "Yes~", 1);
  CHECK(other.stop_begin == 3);
  CHECK_FALSE(other.is_cut);
}

TEST_CASE("places: each character of text between tags, and an expression for what it prints") {
  const std::string source =
      "{%- for m in messages %}\nturn {{ m.role }}>\n  says\n{{ m.content }}</turn>{{ '[fin]' }}\n{%- endfor %}";
  const auto chat_template = jinja::Template::compile(source, {}, "t").value();
  const json::Array messages{kQuestion, kMore};
  const chat::Conversation base;
  tmpl::ReadyConversation all(base, messages);
  const auto rendered = all.render(*chat_template, false, {});
  REQUIRE(rendered.ok());
  const std::string& text = rendered.value().text.bytes();
  REQUIRE(text == "turn user>\n  says\nask</turn>[fin]turn user>\n  says\nmore</turn>[fin]");
  const auto place = [&](std::size_t at) {
    const text::Literal written = written_at(*chat_template, rendered.value(), at);
    return std::to_string(written.line) + ":" + std::to_string(written.column);
  };
  for (const std::size_t turn : {std::size_t{0}, text.rfind("turn user")}) {
    CHECK(place(turn) == "2:1");
    CHECK(place(text.find("user", turn) + 1) == "2:9");
    CHECK(place(text.find("says", turn) + 1) == "3:4");
    CHECK(place(text.find("</turn", turn) + 2) == "4:18");
    CHECK(place(text.find("[fin]", turn) + 1) == "4:26");
    const TemplatePlace says = place_at(*chat_template, rendered.value(), text.find("says", turn) + 1);
    CHECK(says.line == 3);
    CHECK(says.column == 4);
    CHECK(says.source == "says");
  }
  CHECK(place_at(*chat_template, rendered.value(), text.size() + 9).line == 4);
}

TEST_CASE("places: marks, lines and quotes") {
  CHECK(is_at_mark("ab(mull:x", 2, "(mull:"));
  CHECK(is_at_mark("ab(mull:x", 7, "(mull:"));
  CHECK_FALSE(is_at_mark("ab(mull:x", 8, "(mull:"));
  CHECK(is_at_mark("a \n(mull:", 1, "(mull:"));
  CHECK_FALSE(is_at_mark("a", 1, "(mull:"));
  CHECK_FALSE(is_at_mark("a", 0, ""));
  CHECK(in_words({3, 1, "{{ x }}"}) == "line 3 `{{ x }}`");
  CHECK(in_words({}) == "the template");
  const auto chat_template = jinja::Template::compile("a\n  {{ x }} \nb", {}, "t").value();
  CHECK(source_line(*chat_template, 2) == "{{ x }}");
  CHECK(source_line(*chat_template, 9).empty());
  CHECK(place_of(*chat_template, text::Literal{2, 3}).source == "{{ x }}");
  CHECK(place_of(*chat_template, text::Literal{}).line == 0);
  CHECK(quoted_start(std::string(40, 'a')) == "\"" + std::string(32, 'a') + "\"");
  CHECK(quoted_start(std::string(31, 'a') + "\u00fc!") == "\"" + std::string(31, 'a') + "\"");
}

}  // namespace
}  // namespace rondo::causes
