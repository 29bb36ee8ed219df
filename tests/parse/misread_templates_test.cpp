// Templates that were once misread: what is read of turns as they write them, and of ordinary answers.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "analysis/analyse.h"
#include "grammar/matcher.h"
#include "grammar/turn.h"
#include "json/parse.h"
#include "parse/parser.h"

namespace rondo {
namespace {

// Returns a template in which `turn` writes the turn of an assistant's message `m`.
std::string template_of(const std::string& turn) {
  return "{% for m in messages %}{% if m.role == 'assistant' %}<|a|>" + turn +
         "<|e|>{% else %}<|{{ m.role }}|>{{ m.content }}<|e|>{% endif %}{% endfor %}"
         "{% if add_generation_prompt %}<|a|>{% endif %}";
}

std::shared_ptr<const format::Format> format_of(const std::string& turn) {
  const auto compiled = jinja::Template::compile(template_of(turn), {}, "invented");
  REQUIRE_MESSAGE(compiled.ok(), compiled.error().to_string());
  return analysis::analyse(*compiled.value(), {}).value();
}

bool has_loss(const format::Format& format, const std::string& what) {
  return std::ranges::find(format.losses, what, &format::Loss::what) != format.losses.end();
}

json::Value tools() {
  return json::parse(R"([{"type": "function", "function": {"name": "search", "parameters": {"type": "object",
                         "properties": {"q": {"type": "string"}}}}}])")
      .value();
}

// Reads `text`, whole and in pieces, and returns "REASONING | CONTENT | NAME ARGUMENTS".
std::string read(const std::shared_ptr<const format::Format>& format, const std::string& text, bool with_tools) {
  parse::Options options;
  if (with_tools) options.tools = tools();
  const auto syntax = parse::compile(format, options);
  std::string out;
  for (const std::size_t step : {text.size(), std::size_t{1}}) {
    parse::Parser parser(syntax, "");
    for (std::size_t at = 0; at < text.size(); at += step) (void)parser.feed(text.substr(at, step));
    const chat::AssistantMessage message = parser.finish().value();
    std::string shown = message.reasoning.value_or("") + " | " + message.content + " |";
    for (const chat::ToolCall& call : message.tool_calls) shown += " " + call.name + " " + call.arguments;
    CHECK((out.empty() || out == shown));
    out = shown;
  }
  return out;
}

TEST_CASE("bug: a thought inside of a call's JSON disappeared") {
  const std::string args = "'tool': c.function.name, 'input': c.function.arguments";
  const std::string call = R"(<do>{"thought": "Hm.", "tool": "search", "input": {"q": "x"}}</do>)";
  for (const std::string& turn :
       {"{{ m.content or '' }}{% for c in m.tool_calls %}<do>{{ {'thought': m.reasoning_content or '', " + args +
            "} | tojson }}</do>{% endfor %}",
        std::string(
            "{{ m.content or '' }}{% for c in m.tool_calls %}<do>{\"thought\": {{ (m.reasoning_content or '') | "
            "tojson }}, \"tool\": \"{{ c.function.name }}\", \"input\": {{ c.function.arguments | tojson }}}"
            "</do>{% endfor %}")}) {
    const auto format = format_of(turn);
    CHECK(format->calls.roles.reasoning == std::vector<std::string>{"thought"});
    CHECK(has_loss(*format, "reasoning beside content"));
    for (const bool with_tools : {false, true}) {
      CHECK(read(format, call, with_tools) == R"(Hm. |  | search {"q": "x"})");
      CHECK(read(format, "Sure." + call + call, with_tools) == R"(Hm. | Sure. | search {"q": "x"} search {"q": "x"})");
    }
  }
  // Content in that place belongs to the call too.
  const auto format = format_of(
      "{% if not m.tool_calls %}{{ m.content }}{% endif %}{% for c in m.tool_calls %}<do>{{ "
      "{'thought': m.reasoning_content or m.content or '', " +
      args + "} | tojson }}</do>{% endfor %}");
  CHECK(read(format, call, true) == R"(Hm. |  | search {"q": "x"})");
  CHECK(has_loss(*format, "content beside calls"));
}

TEST_CASE("bug: a call was malformed where the template writes members of its own into it") {
  const auto format = format_of(
      "{{ m.content or '' }}{% for c in m.tool_calls %}<do>{{ {'jsonrpc': '2.0', 'call': {'strict': true, 'method': "
      "c.function.name, 'params': c.function.arguments}, 'step': loop.index} | tojson }}</do>{% endfor %}");
  CHECK(format->calls.roles.constants ==
        std::vector<format::JsonConstant>{{{"jsonrpc"}, "\"2.0\""}, {{"call", "strict"}, "true"}, {{"step"}, ""}});
  const auto status_of = [&](const std::string& version, const std::string& step) {
    const std::string text = R"(<do>{"jsonrpc": )" + version + R"(, "call": {"strict": true, "method": "search", )" +
                             R"("params": {"q": "x"}}, "step": )" + step + "}</do>";
    CHECK(read(format, text, true) == R"( |  | search {"q": "x"})");
    return parse::parse(format, {.tools = tools()}, text).value().tool_calls.at(0).status;
  };
  CHECK(status_of("\"2.0\"", "7") == chat::CallStatus::kOk);
  CHECK(status_of("\"1.0\"", "7") == chat::CallStatus::kMalformed);  // the model's own
  CHECK(status_of("\"2.0\"", "[7]") == chat::CallStatus::kMalformed);
}

TEST_CASE("bug: a call that is alone was misread where only several calls are a list") {
  const std::string object = "{{ {'name': c.function.name, 'arguments': c.function.arguments} | tojson }}";
  const std::string list = "[{% for c in m.tool_calls %}" + object + "{{ ', ' if not loop.last }}{% endfor %}]";
  const std::string call = R"({"name": "search", "arguments": {"q": "x"}})";
  const std::string read_as = R"( search {"q": "x"})";
  struct Markers {
    std::string open, close, list_open, list_close;
  };
  for (const Markers& m : {Markers{"<do>", "</do>", "<many>", "</many>"}, Markers{"<do>", "</do>", "<do>", "</do>"}}) {
    const auto format = format_of(
        "{{ m.content or '' }}{% if m.tool_calls and m.tool_calls | length == 1 %}{% set c = m.tool_calls[0] %}" +
        m.open + object + m.close + "{% elif m.tool_calls %}" + m.list_open + list + m.list_close + "{% endif %}");
    CHECK(format->calls.lone_is_bare);
    CHECK(!format->calls.may_stay_open);
    CHECK(read(format, "Sure." + m.open + call + m.close, true) == " | Sure. |" + read_as);
    CHECK(read(format, m.list_open + "[" + call + ", " + call + "]" + m.list_close, true) ==
          " |  |" + read_as + read_as);
  }
}

TEST_CASE("bug: quotes and braces of turns in JSON vanished where no construct was recognised") {
  const auto calls_of = [](const std::string& keys) {
    return "{% if m.tool_calls %}{% set c = m.tool_calls[0] %}{{ {" + keys + "} | tojson }}{% else %}";
  };
  const auto bare = format_of("{% if m.reasoning_content %}Thought: {{ m.reasoning_content }}{{ '\\n' }}{% endif %}" +
                              calls_of("'action': c.function.name, 'input': c.function.arguments") +
                              "{{ {'action': 'Final', 'input': m.content} | tojson }}{% endif %}");
  CHECK_FALSE(bare->reasoning.present);
  const std::string call = R"({"action": "search", "input": {"q": "x"}})";
  for (const bool with_tools : {false, true}) {
    CHECK(read(bare, call, with_tools) == R"( |  | search {"q": "x"})");
    CHECK(read(bare, R"({"action": "Final", "input": "Yes."})", with_tools) == " | Yes. |");
    CHECK(read(bare, R"(So {"a": "b"}.)", with_tools) == R"( | So {"a": "b"}. |)");
  }
  CHECK(read(bare, "Thought: t\n" + call, true) == " | Thought: t\n | search {\"q\": \"x\"}");
  CHECK(read(bare, "Thought: t\n" + call, false) == " | Thought: t\n" + call + " |");

  const auto object =
      format_of(calls_of("'thought': m.reasoning_content or '', 'tool': c.function.name, 'input': "
                         "c.function.arguments") +
                "{{ {'thought': m.reasoning_content or '', 'answer': m.content} | tojson }}{% endif %}");
  const std::string answer = R"({"thought": "t", "answer": "Yes."})";
  for (const bool with_tools : {false, true}) {
    CHECK(read(object, R"({"thought": "t", "tool": "search", "input": {"q": "x"}})", with_tools) ==
          R"(t |  | search {"q": "x"})");
    CHECK(read(object, R"({"thought": "", "answer": "Yes."})", with_tools) == " | Yes. |");
    CHECK(read(object, answer, with_tools) == " | " + answer + " |");
  }
  CHECK(has_loss(*object, "reasoning beside content"));
}

TEST_CASE("bug: where the names of tools are tags, ordinary markup became a call") {
  const auto format = format_of(
      "{{ m.content or '' }}{% for c in m.tool_calls %}<{{ c.function.name }}>{% for k, v in c.function.arguments | "
      "items %}<{{ k }}>{{ v }}</{{ k }}>{% endfor %}</{{ c.function.name }}>{% endfor %}");
  for (const std::string text : {"<b>bold</b> text", "<ul><li>a</li></ul>", "a <b>c</b>", "<br/>", "<p></p>"}) {
    CHECK(read(format, text, false) == " | " + text + " |");
    CHECK(read(format, text, true) == " | " + text + " |");
  }
  CHECK(read(format, "<search><q>x</q></search>", true) == R"( |  | search {"q":"x"})");
  CHECK(read(format, "So: <search><q>x</q></search>", true) == R"( | So:  | search {"q":"x"})");
  CHECK(
      std::ranges::any_of(format->notes, [](const std::string& note) { return note.starts_with("a call is a tag"); }));
}

TEST_CASE("bug: reasoning in light punctuation took Markdown and words in brackets for itself") {
  const auto in = [](const std::string& open, const std::string& close) {
    return format_of("{% if m.reasoning_content %}" + open + "{{ m.reasoning_content }}" + close +
                     "{% endif %}{{ m.content or '' }}");
  };
  const auto italic = in("*", "*{{ '\n\n' }}");
  const auto aside = in("(", "){{ '\n' }}");
  for (const std::string text : {"* one\n* two", "* **Bold**\n\nand", "*so* it is", "**Bold**\n\nText", "*", "* one"})
    CHECK(read(italic, text, false) == " | " + text + " |");
  for (const std::string text : {"(a) one\n(b) two", "(see (a) b)\nc", "(", "(1 + 2"})
    CHECK(read(aside, text, false) == " | " + text + " |");
  CHECK(read(italic, "*Hm, so.*\n\n* one\n* two", false) == "Hm, so. | * one\n* two |");
  CHECK(read(italic, "*Hm, so.*", false) == "Hm, so. |  |");
  CHECK(read(aside, "(Hm, so.)\n(a) one", true) == "Hm, so. | (a) one |");
}

TEST_CASE("bug: a full stop behind the last call ended turns, and ordinary answers lost theirs") {
  const auto format = format_of(
      "{{ m.content or '' }}{% set words = ['First', 'Second', 'Third'] %}{% for c in m.tool_calls %}{{ '\\n' }}{{ "
      "words[loop.index0] }} call: {{ c.function.name }} with {{ c.function.arguments | tojson }}.{% endfor %}");
  CHECK(format->stops.tool == std::vector<std::string>{"<|e|>"});
  CHECK(read(format, "All is well.<|e|>", false) == " | All is well. |");
  CHECK(read(format, "Ok.\nFirst call: search with {\"q\": \"x\"}.<|e|>", true) == R"( | Ok. | search {"q": "x"})");
}

TEST_CASE("bug: a template that always asks for an answer closed its reasoning unseen") {
  const std::string source =
      "{% for m in messages %}{{ '<|' + m.role + '|>' + m.content + '<|e|>' }}{% endfor %}"
      "{% if enable_thinking is defined and not enable_thinking %}{{ '<muse>\\n\\n</muse>\\n' }}{% endif %}";
  const auto format = analysis::analyse(*jinja::Template::compile(source, {}, "invented").value(), {}).value();
  CHECK(format->reasoning.open == "<muse>");
  CHECK(format->reasoning.close == "</muse>");
  CHECK(read(format, "<muse>Hm.</muse>Yes.<|e|>", false) == "Hm. | Yes. |");
}

TEST_CASE("bug: reasoning that a call ends kept the line end of the template") {
  const auto format = format_of(
      "{% if m.reasoning_content %}Thought: {{ m.reasoning_content }}{{ '\\n' }}{% endif %}{% for c in m.tool_calls %}"
      "Action: {{ c.function.name }}\nAction Input: {{ c.function.arguments | tojson }}{% else %}Final Answer: "
      "{{ m.content }}{% endfor %}");
  const std::string call = "Action: search\nAction Input: {\"q\": \"x\"}";
  CHECK(read(format, "Thought: t\n" + call, true) == R"(t |  | search {"q": "x"})");
  CHECK(read(format, "Thought: t\nFinal Answer: Yes.", true) == "t | Yes. |");
  CHECK(read(format, call, true) == R"( |  | search {"q": "x"})");
}

TEST_CASE("bug: arguments that are serialised twice were taken for an object") {
  const auto format = format_of(
      "{{ m.content or '' }}{% for c in m.tool_calls %}<do>{\"name\": \"{{ c.function.name }}\", "
      "\"arguments\": {{ c.function.arguments | tojson | tojson }}}</do>{% endfor %}");
  CHECK(format->calls.arguments == format::ArgumentStyle::kJsonText);
  CHECK(read(format, R"(<do>{"name": "search", "arguments": "{\"q\": \"x\"}"}</do>)", true) ==
        R"( |  | search {"q": "x"})");
}

TEST_CASE("bug: texts that a template changes were no loss") {
  const std::string calls =
      "{% for c in m.tool_calls %}<do>{{ c.function.name | upper }} {{ c.function.arguments | tojson }}</do>{% endfor "
      "%}";
  const auto lower = format_of(
      "{% if m.reasoning_content %}<muse>{{ m.reasoning_content | lower }}</muse>{% endif %}"
      "{{ (m.content or '') | lower }}" +
      calls);
  for (const char* what : {"changed contents", "changed thoughts", "changed names of tools"})
    CHECK_MESSAGE(has_loss(*lower, what), what);
  CHECK(has_loss(*format_of("{{ m.content[:60] }}"), "changed contents"));
  CHECK(format_of("{{ m.content }}")->losses.empty());
}

TEST_CASE("bug: content that another block of the turn follows kept what closes it") {
  const auto format = format_of(
      "{% if m.reasoning_content %}<to:self>{{ m.reasoning_content }}<next><|a|>{% endif %}"
      "{% if m.content %}<to:user>{{ m.content }}{{ '<next><|a|>' if m.tool_calls }}{% endif %}"
      "{% for c in m.tool_calls %}<to:{{ c.function.name }}>{{ c.function.arguments | tojson }}"
      "{{ '<next><|a|>' if not loop.last }}{% endfor %}");
  CHECK(format->content.preamble_open == format->content.open);
  CHECK(format->content.preamble_close == "<next>");
  const std::string call = R"(<to:search>{"q": "x"})";
  const std::string read_as = R"( search {"q": "x"})";
  for (const bool with_tools : {false, true}) {
    CHECK(read(format, "<to:user>Sure.<next><|a|>" + call + "<|e|>", with_tools) == " | Sure. |" + read_as);
    CHECK(read(format, "<to:self>Hm.<next><|a|><to:user>Sure.<next><|a|>" + call + "<next><|a|>" + call, with_tools) ==
          "Hm. | Sure. |" + read_as + read_as);
    CHECK(read(format, "<to:user>A <next> is a tag.<|e|>", with_tools) == " | A <next> is a tag. |");
  }
}

TEST_CASE("bug: calls needed the close of reasoning before them where content may stand in its place") {
  const auto format = format_of(
      "{% if m.tool_calls %}{% if m.reasoning_content or m.content %}<|muse|>{{ m.reasoning_content or m.content }}"
      "<|/muse|>{% endif %}<|act|>[{% for c in m.tool_calls %}{{ {'name': c.function.name, 'args': "
      "c.function.arguments} | tojson }}{{ ', ' if not loop.last }}{% endfor %}]<|/act|>{% else %}"
      "{% if m.reasoning_content %}<|muse|>{{ m.reasoning_content }}<|/muse|>{% endif %}<|say|>{{ m.content }}<|/say|>"
      "{% endif %}");
  CHECK(format->calls.section_open == "<|act|>");
  CHECK(read(format, R"(<|act|>[{"name": "search", "args": {"q": "x"}}]<|/act|><|e|>)", true) ==
        R"( |  | search {"q": "x"})");
}

TEST_CASE("bug: what stands before content with and without reasoning opened reasoning") {
  const std::string source =
      "{% for m in messages %}{% if m.role == 'assistant' %}{% if m.content or not m.tool_calls %}<|bot|to=user|>"
      "{% if m.reasoning_content %}<muse>{{ m.reasoning_content }}</muse>{% endif %}{{ m.content }}<|e|>{% endif %}"
      "{% for c in m.tool_calls %}<|bot|to={{ c.function.name }}|>{{ c.function.arguments | tojson }}<|e|>{% endfor %}"
      "{% else %}<|{{ m.role }}|to=bot|>{{ m.content }}<|e|>{% endif %}{% endfor %}"
      "{% if add_generation_prompt %}<|bot|to={% endif %}";
  const auto format = analysis::analyse(*jinja::Template::compile(source, {}, "invented").value(), {}).value();
  CHECK(format->reasoning.absent == "<|bot|to=user|>");
  parse::Options options{.tools = tools()};
  options.prompt_tail = "<|bot|to=";
  const auto message = [&](const std::string& text) { return parse::parse(format, options, text).value(); };
  CHECK(message("user|>Yes.<|e|>").content == "Yes.");
  CHECK(!message("user|>Yes.<|e|>").reasoning);
  CHECK(message("user|><muse>Hm.</muse>Yes.<|e|>").reasoning == "Hm.");
  CHECK(message(R"(search|>{"q": "x"}<|e|>)").tool_calls.at(0).name == "search");
  grammar::TurnOptions asked;
  asked.tools = tools();
  asked.prompt_tail = options.prompt_tail;
  asked.laziness = grammar::Laziness::kNever;
  const auto made = grammar::turn_grammar(*format, asked).value();
  for (const char* text : {"user|>Yes.<|e|>", "user|><muse>Hm.</muse>Yes.<|e|>", R"(search|>{"q": "x"}<|e|>)"})
    CHECK_MESSAGE(grammar::accepts(made.grammar, text), text);
  CHECK(!grammar::accepts(made.grammar, "\nuser|><muse>Hm.</muse>Yes.<|e|>"));
}

TEST_CASE("bug: a value that nothing closes ended behind no stop if a bracket in it was open") {
  const auto format = format_of(
      "{{ m.content or '' }}{% for c in m.tool_calls %}<|c|>{{ c.function.name }}{% for k, v in c.function.arguments | "
      "items %}<|k|>{{ k }}<|v|>{{ v if v is string else v | tojson }}{% endfor %}{% endfor %}");
  CHECK(read(format, "<|c|>search<|k|>q<|v|>no :(<|e|>", false) == R"( |  | search {"q":"no :("})");
  CHECK(read(format, "<|c|>search<|k|>q<|v|>[1, 2]<|e|>", false) == R"( |  | search {"q":[1,2]})");
}

TEST_CASE("bug: escapes in content stayed as they were where the stop is what closes content") {
  const std::string source =
      "{% for m in messages %}<|{{ m.role }}|>{% if m.role == 'assistant' %}{% if m.content %}<say>{{ m.content | e }}"
      "</say>{% endif %}{% else %}{{ m.content }}{% endif %}{% endfor %}"
      "{% if add_generation_prompt %}<|assistant|>{% endif %}";
  const auto format = analysis::analyse(*jinja::Template::compile(source, {}, "invented").value(), {}).value();
  CHECK(format->content.close.empty());
  CHECK(read(format, "<say>a &#34;b&#34; &lt; c</say>", false) == " | a \"b\" < c |");
}

TEST_CASE("bug: JSON that a template writes piece by piece was read only with the template's own spaces") {
  const auto format = format_of(
      "{% for c in m.tool_calls %}<|to|>{{ c.function.name }}<|json|>{{ '{\"name\":\"' ~ c.function.name ~ "
      "'\",\"args\":' ~ (c.function.arguments | tojson) ~ '}' }}<|/to|>{% endfor %}");
  const std::string call = R"( |  | search {"q": "x"})";
  const std::string open = "<|to|>search<|json|>";
  CHECK(read(format, open + R"({"name":"search","args":{"q": "x"}}<|/to|><|e|>)", true) == call);
  CHECK(read(format, open + R"({ "name" : "search" , "args" : {"q": "x"} }<|/to|><|e|>)", true) == call);
  CHECK(read(format, open + "{\n  \"name\": \"search\",\n  \"args\": {\"q\": \"x\"}\n}\n<|/to|><|e|>", true) == call);
  // Of a close that is missing, the bracket is no content.
  CHECK(read(format, open + R"({"name":"search","args":{"q": "x"}}<|e|>)", true) == call);
  CHECK(read(format, open + R"({"name":"search","args":{"q": "x"}})", true) == call);
}

TEST_CASE("bug: a line end before the close of content was content if the close of reasoning matched both") {
  const auto format = format_of(
      "{% if m.reasoning_content %}<|say|>muse<|s|>{{ m.reasoning_content | tojson }}<|/say|>{% endif %}"
      "{% if m.content %}<|say|>answer<|s|>{{ m.content }}{{ '\\n' }}<|/say|>{% endif %}");
  CHECK(format->reasoning.close == "\"<|/say|>");
  CHECK(read(format, "<|say|>answer<|s|>a \"b\"\n<|/say|><|e|>", false) == " | a \"b\" |");
  CHECK(read(format, "<|say|>answer<|s|>a \"b\"<|/say|><|e|>", false) == " | a \"b\" |");
}

TEST_CASE("bug: of a name in an id, the signs before it that contain a colon were a part of the name") {
  // The message's own id stands in the result, so the call must have it too: it is the text with the counter.
  const auto format_with = [](const std::string& call) {
    return analysis::analyse(
               *jinja::Template::compile(
                    "{% for m in messages %}<|{{ m.role }}|>{% if m.role == 'tool' %}({{ m.tool_call_id }})"
                    "{% endif %}{{ m.content }}{% for c in m.tool_calls or [] %}" +
                        call + "{% endfor %}<|e|>{% endfor %}{% if add_generation_prompt %}<|assistant|>{% endif %}",
                    {}, "invented")
                    .value(),
               {})
        .value();
  };
  const std::string id = "::do::{{ c.function.name }}#{{ loop.index0 }}";
  const auto marked = format_with("<call>" + id + "::/do::{{ c.function.arguments | tojson }}</call>");
  CHECK(read(marked, R"(<call>::do::search#0::/do::{"q": "x"}</call><|e|>)", true) == R"( |  | search {"q": "x"})");
  CHECK(read(marked, R"(<call>::do::search#0::/do::{"q": "x"}</call><|e|>)", false) == R"( |  | search {"q": "x"})");
  // Where nothing else marks the call, the signs do, and white space before them does not change that.
  for (const char* space : {"", " "}) {
    const auto bare = format_with(space + id + "{{ c.function.arguments | tojson }}::/do::");
    CHECK(bare->calls.call_open == space + std::string("::do::"));
    CHECK(read(bare, space + std::string(R"(::do::search#0{"q": "x"}::/do::<|e|>)"), true) ==
          R"( |  | search {"q": "x"})");
  }
}

TEST_CASE("bug: the first word of an answer vanished behind a prompt without a header") {
  const std::string source =
      "{% for m in messages %}{{ m.role + '\\n' + m.content + '<|e|>\\n' }}{% endfor %}"
      "{% if add_generation_prompt %}{{ 'assistant\\n' }}{% endif %}";
  const auto format = analysis::analyse(*jinja::Template::compile(source, {}, "invented").value(), {}).value();
  const auto content = [&](const std::string& text) {
    return parse::parse(format, {.prompt_tail = "user\nHi.<|e|>\n"}, text).value().content;
  };
  CHECK(content("assistant is a word<|e|>") == "assistant is a word");
  CHECK(content("assistant\nHello.<|e|>") == "Hello.");
}

}  // namespace
}  // namespace rondo
