#include "core/prompt.h"

#include "tests/support/core_models.h"

namespace rondo::core {
namespace {

using testing::call_of;

// The tail of the prompt of `call` under `chat_template`.
Result<std::string> tail_of(const char* chat_template, Call call) {
  const auto model = testing::made(Model::from_memory(testing::memory(chat_template), {}));
  const auto use = model->prepare(call, TokenizerUse::kOptional);
  REQUIRE(use.ok());
  const auto format = model->format(call);
  REQUIRE(format.ok());
  auto tail = prompt_tail(use.value(), call.conversation, call.has_messages, format.value());
  if (!tail.ok()) return tail.error();
  return tail.value().text + tail.value().begun;
}

TEST_CASE("the tail of a prompt begins behind the data of the messages") {
  CHECK(tail_of(testing::kTemplate, testing::user_call()).value() == "~fin~[[assistant>>");
  Call without = testing::user_call();
  without.conversation.messages.clear();
  without.has_messages = false;
  CHECK(tail_of(testing::kTemplate, without).value() == "~fin~[[assistant>>");
  Call tools = testing::user_call();
  tools.conversation.tools = testing::tools();
  CHECK(tail_of("{{ messages[0].content }}|{{ tools | tojson }}[[assistant>>", tools).value() == "[[assistant>>");
}

TEST_CASE("the tail of a continued message has its text") {
  Call call = call_of(R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Well, I"}])");
  call.conversation.add_generation_prompt = false;
  call.conversation.continue_final_message = "content";
  CHECK(tail_of(testing::kTemplate, call).value() == "~fin~[[assistant>>Well, I");
  call.conversation.continue_final_message = "reasoning";
  CHECK_FALSE(tail_of(testing::kTemplate, call).ok());
}

TEST_CASE("a template that refuses the conversation still has its usual prompt") {
  constexpr const char* kPicky = R"({%- for m in messages %}
{%- if m.content == 'refuse' %}{{ raise_exception('no') }}{% endif %}{{- '[[' + m.role + '>>' + m.content + '~fin~' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '[[assistant>>' }}{% if enable_thinking is defined and enable_thinking %}{{ '(*mull ' }}{% endif %}{% endif %})";
  Call call = call_of(R"([{"role": "user", "content": "refuse"}])");
  CHECK(tail_of(kPicky, call).value() == "[[assistant>>");
  call.conversation.kwargs.set("enable_thinking", true);
  CHECK(tail_of(kPicky, call).value() == "[[assistant>>(*mull ");
  call.conversation.kwargs.set("enable_thinking", false);
  CHECK(tail_of(kPicky, call).value() == "[[assistant>>");
}

TEST_CASE("a template that runs out of its limits still has its usual prompt") {
  constexpr const char* kEndless = R"({%- if messages[0].content == 'endless' %}
{%- for a in range(99999) %}{% for b in range(99999) %}{% endfor %}{% endfor %}{% endif %}
{{- messages[0].content }}{% if add_generation_prompt %}{{ '[[assistant>>' }}{% endif %})";
  CHECK(tail_of(kEndless, call_of(R"([{"role": "user", "content": "endless"}])")).value() == "[[assistant>>");
}

TEST_CASE("a turn is parsed with tools whose types the template recurses on without end") {
  // Some templates do this for a type that they do not know.
  constexpr const char* kRecurses = R"({%- macro type_of(schema) %}
{%- if schema.type in ['string', 'object'] %}{{ schema.type }}{% else %}{{ type_of(schema) }}{% endif %}{% endmacro %}
{%- for tool in tools or [] %}{{ type_of(tool.function.parameters) }}{% endfor %}
{%- for m in messages %}{{- '[[' + m.role + '>>' + (m.content or '') }}
{%- for c in m.tool_calls or [] %}{{- '{!do ' + c.function.name + ' with ' + (c.function.arguments | tojson) + ' do!}' }}
{%- endfor %}{{- '~fin~' }}{% endfor %}{% if add_generation_prompt %}{{ '[[assistant>>' }}{% endif %})";
  const auto model = testing::made(Model::from_memory(testing::memory(kRecurses), {}));
  Call call = testing::user_call();
  call.conversation.tools =
      json::parse(
          R"([{"type": "function", "function": {"name": "add", "parameters": {"type": "obj", "properties": {}}}}])")
          .value();
  const auto parsed = model->parse_ids(call, {}, model->tokenize("Hm.{!do add with {} do!}~fin~", true).value());
  REQUIRE_MESSAGE(parsed.ok(), parsed.error().to_string());
  CHECK(parsed.value().message.content == "Hm.");
  REQUIRE(parsed.value().message.tool_calls.size() == 1);
  CHECK(parsed.value().message.tool_calls[0].name == "add");
}

// --- Continued messages ----------------------------------------------------------------------------------------------

// Trims what it copies, shows reasoning in the first messages only, and refuses an empty answer.
constexpr const char* kTrims = R"({%- for m in messages %}
{{- '[[' + m.role + '>>' }}
{%- if m.role == 'assistant' and not (m.content or m.tool_calls) %}{{ raise_exception('an empty answer') }}{% endif %}
{%- if m.reasoning_content and loop.index0 < 3 %}{{- '(*mull\n' + m.reasoning_content | trim + '\nmull*)\n' }}{% endif %}
{{- (m.content or '') | trim }}
{%- for c in m.tool_calls or [] %}
{{- '{!do ' + c.function.name + ' with ' + (c.function.arguments | tojson) + ' do!}' }}
{%- endfor %}
{{- '~fin~' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '[[assistant>>' }}{% if mulls is defined %}{{ '(*mull\n' if mulls else '(*mull\n\nmull*)\n' }}{% endif %}{% endif %})";

struct Continued {
  std::string text;
  std::vector<std::string> notes;
};

Call continued_call(const char* message, const char* field, const char* kwargs) {
  Call call = call_of((R"([{"role": "user", "content": "Hi"}, )" + std::string(message) + "]").c_str());
  call.conversation.add_generation_prompt = false;
  call.conversation.continue_final_message = field;
  call.conversation.kwargs = testing::object(kwargs);
  return call;
}

Continued continued(const char* chat_template, const char* message, const char* field, const char* kwargs = "{}",
                    bool strict = false) {
  const auto model = testing::made(Model::from_memory(testing::memory(chat_template), {.strict = strict}));
  Call call = continued_call(message, field, kwargs);
  const auto use = model->prepare(call, TokenizerUse::kOptional);
  REQUIRE(use.ok());
  const auto prompt = model->prompt(use.value(), call.conversation, use.value().options);
  if (!prompt.ok()) return {"error: " + prompt.error().message, {}};
  const jinja::Rendered& rendered = prompt.value().rendered;
  CHECK(rendered.text.verify(rendered.origins).value_or("") == "");
  return {rendered.text.bytes(), prompt.value().notes};
}

TEST_CASE("a continued text that the template trims is given as it is, and a note says so") {
  const Continued out = continued(kTrims, R"({"role": "assistant", "content": "  Well, \n"})", "content");
  CHECK(out.text == "[[user>>Hi~fin~[[assistant>>  Well, \n");
  CHECK(out.notes == std::vector<std::string>{
                         "messages[1].content is continued as the format writes it: the template trims content"});
  CHECK(continued(kTrims, R"({"role": "assistant", "content": "  Well, \n"})", "content", "{}", true).text ==
        "[[user>>Hi~fin~[[assistant>>Well,");
  const Continued plain = continued(kTrims, R"({"role": "assistant", "content": "Well,"})", "content");
  CHECK(plain.text == "[[user>>Hi~fin~[[assistant>>Well,");
  CHECK(plain.notes.empty());
}

TEST_CASE("reasoning is continued behind the prompt's opener, or one of its own") {
  constexpr const char* kThought = R"({"role": "assistant", "reasoning_content": "I see"})";
  CHECK(continued(kTrims, kThought, "reasoning_content").text == "[[user>>Hi~fin~[[assistant>>(*mull\nI see");
  CHECK(continued(kTrims, kThought, "reasoning_content", R"({"mulls": true})").text ==
        "[[user>>Hi~fin~[[assistant>>(*mull\nI see");
  CHECK(continued(kTrims, kThought, "reasoning_content", R"({"mulls": false})").text ==
        "[[user>>Hi~fin~[[assistant>>(*mull\nI see");
  CHECK(continued(kTrims, kThought, "reasoning_content", "{}", true).text == "error: an empty answer");
  const Continued beside =
      continued(kTrims, R"({"role": "assistant", "content": "Yes", "reasoning": "I see"})", "reasoning");
  CHECK(beside.text == "[[user>>Hi~fin~[[assistant>>(*mull\nI see");
  CHECK(beside.notes ==
        std::vector<std::string>{
            "messages[1].content is not in the prompt: it would stand behind the reasoning that is continued"});
}

TEST_CASE("reasoning beside a continued content stays") {
  const Continued out = continued(kTrims, R"({"role": "assistant", "content": "a"}, {"role": "user", "content": "b"},
                 {"role": "assistant", "content": "Well", "reasoning_content": "I see"})",
                                  "content");
  CHECK(out.text == "[[user>>Hi~fin~[[assistant>>a~fin~[[user>>b~fin~[[assistant>>(*mull\nI see\nmull*)\nWell");
  CHECK(out.notes ==
        std::vector<std::string>{
            "messages[3].content is continued as the format writes it: the template leaves out reasoning_content"});
}

TEST_CASE("an answer is continued behind reasoning that the prompt has opened") {
  CHECK(continued(kTrims, R"({"role": "assistant", "content": " Well"})", "content", R"({"mulls": true})").text ==
        "[[user>>Hi~fin~[[assistant>>(*mull\n\nmull*)\n Well");
}

TEST_CASE("a call is continued in its arguments") {
  const auto call_with = [](const std::string& arguments) {
    const std::string message = R"({"role": "assistant", "content": "", "tool_calls": [{"type": "function",)"
                                R"( "function": {"name": "add", "arguments": )" +
                                json::to_compact(json::Value(arguments)) + "}}]}";
    return continued(kTrims, message.c_str(), "tool_calls").text;
  };
  const std::string begin = "[[user>>Hi~fin~[[assistant>>{!do add with ";
  for (const char* part : {"{", R"({"a)", R"({"a": 1)", R"({"a": 1, "b": "x )", R"({"a":1,"b":[1,{"c)", R"({"a": 1})"})
    CHECK(call_with(part) == begin + part);
  CHECK(continued(kTrims, R"({"role": "assistant", "content": "Yes", "tool_calls": []})", "tool_calls").text ==
        "error: messages[1].tool_calls cannot be continued: it has no text part; there are no tool_calls to continue");
}

constexpr const char* kTags = R"({%- for m in messages %}
{{- '[[' + m.role + '>>' + (m.content or '') }}
{%- for c in m.tool_calls or [] %}
{{- '{!do ' + c.function.name + '\n' }}
{%- for key, value in c.function.arguments.items() %}
{{- '<arg ' + key + '>\n' }}{{ value if value is string else value | tojson }}{{ '\n</arg>\n' }}
{%- endfor %}
{{- 'do!}' }}
{%- endfor %}
{{- '~fin~' }}
{%- endfor %}
{%- if add_generation_prompt %}{{- '[[assistant>>' }}{% endif %})";

TEST_CASE("a call in tags is continued in its last parameter") {
  const auto behind = [](const std::string& arguments) {
    const std::string message = R"({"role": "assistant", "content": "", "tool_calls": [{"type": "function",)"
                                R"( "function": {"name": "add", "arguments": )" +
                                json::to_compact(json::Value(arguments)) + "}}]}";
    const std::string text = continued(kTags, message.c_str(), "tool_calls").text;
    const std::string begin = "[[user>>Hi~fin~[[assistant>>{!do add";
    return text.starts_with(begin) ? text.substr(begin.size()) : text;
  };
  CHECK(behind("") == "");
  CHECK(behind("{") == "");
  CHECK(behind(R"({"a)") == "\n<arg a");
  CHECK(behind(R"({"a": "x\n y)") == "\n<arg a>\nx\n y");
  CHECK(behind(R"({"a": 1, "b": tr)") == "\n<arg a>\n1\n</arg>\n<arg b>\ntr");
  CHECK(behind(R"({"a": 1, "b": [1, {)") == "\n<arg a>\n1\n</arg>\n<arg b>\n[1, {");
  CHECK(behind(R"({"a": 1})") == "\n<arg a>\n1\n</arg>");
}

TEST_CASE("what a parser reads behind a continued message is the message whole") {
  const auto read = [](const char* chat_template, const char* message, const char* field, std::string_view more) {
    const auto model = testing::made(Model::from_memory(testing::memory(chat_template), {}));
    Call call = continued_call(message, field, "{}");
    auto parser = model->parser(call, {.by_spelling = true});
    REQUIRE_MESSAGE(parser.ok(), parser.error().to_string());
    static_cast<void>(parser.value().feed(more));
    return parser.value().finish().value();
  };
  const auto answer =
      read(kTrims, R"({"role": "assistant", "content": " Well", "reasoning": "I see"})", "content", ", yes~fin~");
  CHECK(answer.content == " Well, yes");
  CHECK(answer.reasoning == "I see");
  const auto thought = read(kTrims, R"({"role": "assistant", "reasoning": "I see"})", "reasoning", ".\nmull*)\nYes");
  CHECK(thought.content == "Yes");
  CHECK(thought.reasoning == "I see.");
  constexpr const char* kCall = R"({"role": "assistant", "content": "Now", "tool_calls": [{"type": "function",
      "function": {"name": "add", "arguments": "{\"a\": \"x"}}]})";
  struct Rest {
    const char* chat_template;
    const char* text;
    const char* arguments;
  };
  for (const auto& [chat_template, more, arguments] :
       {Rest{kTrims, "y\"} do!}~fin~", R"({"a": "xy"})"}, Rest{kTags, "y\n</arg>\ndo!}~fin~", R"({"a":"xy"})"}}) {
    const auto called = read(chat_template, kCall, "tool_calls", more);
    CHECK(called.content == "Now");
    REQUIRE(called.tool_calls.size() == 1);
    CHECK(called.tool_calls[0].name == "add");
    CHECK(called.tool_calls[0].arguments == arguments);
    CHECK(called.tool_calls[0].status == chat::CallStatus::kOk);
  }
}

TEST_CASE("white space that the template has before a continued message is none of its own") {
  const auto model = testing::made(
      Model::from_memory(testing::memory("{% for m in messages %}{{ m.role | upper }}: {{ m.content }}~fin~{% endfor %}"
                                         "{% if add_generation_prompt %}ASSISTANT:\n{% endif %}"),
                         {}));
  Call call = continued_call(R"({"role": "assistant", "content": "Well"})", "content", "{}");
  auto parser = model->parser(call, {.by_spelling = true});
  REQUIRE(parser.ok());
  CHECK(parser.value().finish().value().content == "Well");
}

// What a parser reads of a continued message and of `more` behind it: "reasoning | content".
std::string read_on(const std::string& chat_template, const char* message, const char* field, std::string_view more) {
  const auto model = testing::made(Model::from_memory(testing::memory(chat_template.c_str()), {}));
  Call call = continued_call(message, field, "{}");
  auto parser = model->parser(call, {.by_spelling = true});
  REQUIRE_MESSAGE(parser.ok(), parser.error().to_string());
  static_cast<void>(parser.value().feed(more));
  const chat::AssistantMessage said = parser.value().finish().value();
  return said.reasoning.value_or("-") + " | " + said.content;
}

// A template that writes the text of a turn as `turn`, and after the header of an answer `prompt`.
std::string with_prompt(const std::string& turn, const std::string& prompt) {
  return "{%- for m in messages %}{{- '[[' + m.role + '>>' }}" + turn +
         "{{- '~fin~' }}{%- endfor %}{%- if add_generation_prompt %}{{- '[[assistant>>" + prompt + "' }}{%- endif %}";
}

constexpr const char* kThoughtAndAnswer = R"({"role": "assistant", "content": "Well, ", "reasoning_content": "I see"})";

TEST_CASE("bug: reasoning whose opening only the prompt writes was read as content where content was continued") {
  const std::string turn =
      "{%- if m.reasoning_content %}{{- m.reasoning_content + '\\n</mull>\\n' }}{%- endif %}"
      "{{- m.content or '' }}";
  for (const char* prompt : {"<mull>\\n", "Let me think:\\n"}) {
    const std::string source = with_prompt(turn, prompt);
    CHECK(read_on(source, kThoughtAndAnswer, "content", "yes~fin~") == "I see | Well, yes");
    CHECK(read_on(source, R"({"role": "assistant", "content": "Well, "})", "content", "yes~fin~") == "- | Well, yes");
  }
  const char* thought = R"({"role": "assistant", "content": "", "reasoning_content": "I see"})";
  CHECK(read_on(with_prompt(turn, "<mull>\\n"), thought, "reasoning_content", ".\n</mull>\nYes~fin~") ==
        "I see. | Yes");
  // Words with which the prompt begins the reasoning are a part of it, once.
  for (const char* words : {R"({"role": "assistant", "content": "", "reasoning_content": "I see"})",
                            R"({"role": "assistant", "content": "", "reasoning_content": "Let me think:\nI see"})"})
    CHECK(read_on(with_prompt(turn, "Let me think:\\n"), words, "reasoning_content", ".\n</mull>\nYes~fin~") ==
          "Let me think:\nI see. | Yes");
}

// Keeps no reasoning, and opens it for the last answer too, as if the answer were still to come.
constexpr const char* kReopens = R"({%- set ns = namespace(last='') %}{%- for m in messages %}
{%- if m.role == 'assistant' and loop.last %}{%- set ns.last = m.content %}
{%- else %}{{- '[[' + m.role + '>>' + (m.content.split('</mull>') | last) + '~fin~' }}{%- endif %}{%- endfor %}
{%- if add_generation_prompt or ns.last %}{{- '[[assistant>><mull>\n' + ns.last }}{%- endif %})";

TEST_CASE("bug: a continued content stood inside reasoning that the template opens for it") {
  const char* answer = R"({"role": "assistant", "content": "Well, y"})";
  const Continued out = continued(kReopens, answer, "content");
  CHECK(out.text == "[[user>>Hi~fin~[[assistant>><mull>\n</mull>Well, y");
  CHECK(out.notes == std::vector<std::string>{"messages[1].content is continued as the format writes it: the template "
                                              "writes it where it reads as something else"});
  CHECK(read_on(kReopens, answer, "content", "es") == "- | Well, yes");
}

TEST_CASE("bug: the parts of a continued content were printed by a template that knows no parts") {
  CHECK(read_on("{% for m in messages %}{{ '[[' + m.role + '>>' }}{{ m.content }}~fin~{% endfor %}"
                "{% if add_generation_prompt %}[[assistant>>{% endif %}",
                R"({"role": "assistant", "content": [{"type": "text", "text": "Well, "}]})", "content",
                "yes~fin~") == "- | Well, yes");
}

TEST_CASE("bug: a continued text was trimmed if the message had reasoning that the template never writes") {
  const std::string source = with_prompt("{{- m.content | trim }}", "");
  const Continued out = continued(source.c_str(), kThoughtAndAnswer, "content");
  CHECK(out.text == "[[user>>Hi~fin~[[assistant>>Well, ");
  CHECK(out.notes == std::vector<std::string>{
                         "messages[1].content is continued as the format writes it: the template trims content",
                         "messages[1].reasoning_content is not in the prompt: the template never writes reasoning"});
}

TEST_CASE("bug: the space before an answer stood behind the reasoning too") {
  const std::string turn =
      "{{- ' ' }}{%- if m.reasoning_content and enable_thinking is defined and enable_thinking %}"
      "{{- '<mull>\\n' + m.reasoning_content + '\\n</mull>\\n' }}{%- endif %}{{- m.content or '' }}";
  const std::string source = with_prompt(turn, "");
  CHECK(read_on(source, kThoughtAndAnswer, "content", "yes~fin~") == "I see | Well, yes");
  CHECK(read_on(source, R"({"role": "assistant", "content": "Well, "})", "content", "yes~fin~") == "- | Well, yes");
}

}  // namespace
}  // namespace rondo::core
