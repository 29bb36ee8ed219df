#include "render/training.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "json/parse.h"
#include "tests/support/byte_tokenizer.h"

namespace rondo::render {
namespace {

// A header of the prompt and a stop token per turn; the generation block takes the header's newline too.
const char* const kMarked =
    "{% for m in messages %}[{{ m.role }}]"
    "{% if m.role == 'assistant' %}{% generation %}{{ '\\n' }}{{ m.content }}"
    "{% if not loop.last or stop %}~end~{% endif %}{% endgeneration %}"
    "{% else %}{{ '\\n' }}{{ m.content }}~end~{% endif %}{{ '\\n' }}{% endfor %}"
    "{% if add_generation_prompt %}[assistant]{{ '\\n' }}{% endif %}";

struct Training {
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer = test::byte_tokenizer({"~end~"}, "~end~");
  json::Array messages = json::parse(R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Yes"},
    {"role": "user", "content": "No"}, {"role": "assistant", "content": "Ok"}])")
                             .value()
                             .as_array();

  [[nodiscard]] Encoded encoded(bool has_final_stop, const char* source = kMarked) const {
    const auto chat_template = jinja::Template::compile(source, {}, "test");
    if (!chat_template.ok()) FAIL(chat_template.error().to_string());
    chat::Conversation conversation;
    conversation.messages = messages;
    conversation.kwargs = json::Object{{"stop", has_final_stop}};
    auto out = encode(*chat_template.value(), *tokenizer, conversation, {}, ContentSpecials::kText);
    if (!out.ok()) FAIL(out.error().to_string());
    return out.value();
  }

  [[nodiscard]] std::string text(const std::vector<tokenizer::TokenId>& ids) const {
    return tokenizer->decode(ids, {}).value();
  }

  // The ids of the mask as text, `|` between two parts.
  [[nodiscard]] std::string masked(const std::vector<tokenizer::TokenId>& ids,
                                   const std::vector<std::uint8_t>& mask) const {
    std::string out;
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (mask[i] == 0) continue;
      if (i > 0 && mask[i - 1] == 0 && !out.empty()) out += "|";
      out += text({ids[i]});
    }
    return out;
  }

  [[nodiscard]] std::string masked(const Encoded& encoded, const MaskOptions& options) const {
    const auto mask = loss_mask(encoded, messages, options);
    if (!mask.ok()) return mask.error().message;
    return masked(encoded.ids, mask.value());
  }
};

TEST_CASE_FIXTURE(Training,
                  "a role that the template puts between marks is part of a marker, the words of a message never are") {
  tokenizer = test::byte_tokenizer({"<|user|>", "<|wizard|>", "~end~"}, "~end~");
  const char* const glues = "{% for m in messages %}{{ '<|' + m.role + '|>' + m.content + '~end~' }}{% endfor %}";
  const char* const compares =
      "{% for m in messages %}{% if m.role == 'wizard' %}{% endif %}{{ '<|' + m.role + '|>' + m.content + '~end~' }}"
      "{% endfor %}";
  const auto count = [&](const char* source, const std::string& role, const std::string& content) {
    messages = {json::Object{{"role", role}, {"content", content}}};
    const Encoded out = encoded(false, source);
    CHECK(text(out.ids) == "<|" + role + "|>" + content + "~end~");
    return std::to_string(std::ranges::count(out.ids, 256)) + " " + std::to_string(std::ranges::count(out.ids, 257));
  };
  CHECK(count(glues, "user", "Hi") == "1 0");
  CHECK(count(glues, "user", "<|user|><|wizard|>") == "1 0");
  CHECK(count(glues, "wizard", "Hi") == "0 0");  // nobody knows this role
  CHECK(count(compares, "wizard", "<|user|>") == "0 1");
}

TEST_CASE_FIXTURE(Training, "loss masks by part, role and message") {
  const Encoded all = encoded(true);
  CHECK(masked(all, {}) == "Yes~end~|Ok~end~");
  CHECK(masked(all, {.part = MaskPart::kContent}) == "Yes|Ok");
  CHECK(masked(all, {.part = MaskPart::kContent, .roles = {}}) == "Hi|Yes|No|Ok");
  CHECK(masked(all, {.part = MaskPart::kTurn, .roles = {"user"}}) == "[user]\nHi~end~\n|[user]\nNo~end~\n");
  CHECK(masked(all, {.part = MaskPart::kGeneration}) == "\nYes~end~|\nOk~end~");
  CHECK(masked(all, {.messages = {1, 0, 1, 1}}) == "Ok~end~");
  CHECK(masked(all, {.messages = {1}}) == "the mask of messages has 1 entries, there are 4 messages");
  const Encoded plain = encoded(true, "{% for m in messages %}[{{ m.role }}]{{ m.content }}~end~{% endfor %}");
  CHECK(masked(plain, {.part = MaskPart::kGeneration}).starts_with("the template marks nothing"));
}

TEST_CASE_FIXTURE(Training, "where generation blocks cover what is not sampled") {
  const Encoded all = encoded(true);
  const auto findings = generation_findings(all);
  REQUIRE(findings.size() == 2);
  CHECK(findings[0].is_covered);
  CHECK(findings[0].message == 1);
  CHECK(text({all.ids[findings[0].ids.begin]}) == "\n");
  CHECK(findings[1].message == 3);
}

TEST_CASE_FIXTURE(Training, "history leaves the generation prompt between two markers, not inside one") {
  // The prompt opens with `<muse>`, but history writes `<call>` instead: the bracket is the model's.
  const char* const source =
      "{% for m in messages %}[{{ m.role }}]{% if m.call %}<call>{% endif %}{{ m.content }}~end~{% endfor %}"
      "{% if add_generation_prompt %}[assistant]<muse>{% endif %}";
  messages[1].as_object().set("call", true);
  CHECK(masked(encoded(true, source), {}) == "<call>Yes~end~|Ok~end~");
}

TEST_CASE_FIXTURE(
    Training, "the model begins behind the whole generation prompt, also where a word ends it and a marker follows") {
  // History writes `assistant<` without a gap, and the marker is not a token of the vocabulary.
  const char* const source =
      "{% for m in messages %}<from>{{ m.role }}<says>{{ m.content }}~end~{% endfor %}"
      "{% if add_generation_prompt %}<from>assistant{% endif %}";
  CHECK(masked(encoded(true, source), {}) == "<says>Yes~end~|<says>Ok~end~");
}

TEST_CASE_FIXTURE(Training,
                  "where the next turn's opener is the stop, it is that of plain turns or of calls, and the model's") {
  const char* const source =
      "{% for m in messages %}{% if m.role == 'assistant' %}~say~{{ m.content }}"
      "{% for c in m.tool_calls or [] %}~call~{{ c.name }}~called~{% endfor %}"
      "{% else %}{{ '~see~' if m.role == 'tool' else '~ask~' }}{{ m.content }}{% endif %}{% endfor %}"
      "{% if add_generation_prompt %}~say~{% endif %}";
  tokenizer = test::byte_tokenizer({"~ask~", "~say~", "~see~", "~call~", "~called~"}, "");
  messages = json::parse(R"([{"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "", "tool_calls": [{"name": "add"}, {"name": "sum"}]},
    {"role": "tool", "content": "4"}, {"role": "assistant", "content": "Yes"}, {"role": "user", "content": "No"},
    {"role": "assistant", "content": "So", "tool_calls": [{"name": "add"}]}])")
                 .value()
                 .as_array();
  const Encoded all = encoded(true, source);
  CHECK(masked(all, {}) == "~call~add~called~~call~sum~called~~see~|Yes~ask~|So~call~add~called~");
  CHECK(masked(all, {.messages = {1, 1, 1, 0, 1, 0}}) == "~call~add~called~~call~sum~called~~see~");
  // The text that opens the model's own next turn is not a stop.
  messages.push_back(json::parse(R"({"role": "assistant", "content": "Ok"})").value());
  CHECK(masked(encoded(true, source), {.messages = {0, 0, 0, 0, 0, 1, 1}}) == "So~call~add~called~|Ok");
}

TEST_CASE_FIXTURE(Training, "bug: the header counted as sampled where the template writes the prompt in any case") {
  // The opening of reasoning, which history lacks, stands behind the last question without being asked for.
  const char* const source =
      "{% for m in messages %}{% if m.role == 'user' %}[user]{{ m.content }}~end~"
      "{% if loop.last %}[assistant]<muse>{% endif %}{% else %}[assistant]<say>{{ m.content }}</say>~end~{% endif %}{% "
      "endfor %}";
  CHECK(masked(encoded(true, source), {}) == "<say>Yes</say>~end~|<say>Ok</say>~end~");
}

TEST_CASE_FIXTURE(Training, "bug: an opening that the prompt writes counted as sampled where the content repeats it") {
  const char* const source =
      "{% for m in messages %}[{{ m.role }}]{{ m.content }}~end~{% endfor %}"
      "{% if add_generation_prompt %}[assistant]<muse>{% endif %}";
  messages[1].as_object().set("content", "<muse>Hm</muse>Yes");
  CHECK(masked(encoded(true, source), {}) == "Hm</muse>Yes~end~|Ok~end~");
}

TEST_CASE_FIXTURE(Training,
                  "bug: the token behind calls was not sampled once the result followed, which begins with it") {
  const char* const source =
      "{% for m in messages %}{% if m.role == 'tool' %}~see~{{ m.content }}~seen~"
      "{% elif m.role == 'user' %}[user]{{ m.content }}~end~"
      "{% else %}{% if loop.index0 == 0 or messages[loop.index0 - 1].role != 'tool' %}[assistant]{% endif %}"
      "{{ m.content }}{% for c in m.tool_calls or [] %}~call~{{ c.name }}~called~{% endfor %}"
      "{% if not m.tool_calls %}~end~{% elif loop.last %}~see~{% endif %}{% endif %}{% endfor %}"
      "{% if add_generation_prompt and messages[-1].role != 'tool' %}[assistant]{% endif %}";
  tokenizer = test::byte_tokenizer({"~end~", "~see~", "~seen~", "~call~", "~called~"}, "~end~");
  const auto said = [&](const char* json) {
    messages = json::parse(json).value().as_array();
    return masked(encoded(true, source), {});
  };
  CHECK(said(R"([{"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "", "tool_calls": [{"name": "add"}]}])") == "~call~add~called~~see~");
  CHECK(said(R"([{"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "", "tool_calls": [{"name": "add"}]}, {"role": "tool", "content": "4"},
    {"role": "assistant", "content": "", "tool_calls": [{"name": "sum"}]}, {"role": "tool", "content": "5"},
    {"role": "assistant", "content": "Yes"}])") == "~call~add~called~~see~|~call~sum~called~~see~|Yes~end~");
}

TEST_CASE_FIXTURE(Training, "turns without a header begin where the prompt ended") {
  const char* const source =
      "{% for m in messages %}{% if m.role == 'user' %}(ask) {{ m.content }}(answer)"
      "{% else %} {{ m.content }}~end~{% endif %}{% endfor %}";
  CHECK(masked(encoded(true, source), {}) == " Yes~end~| Ok~end~");
}

TEST_CASE_FIXTURE(Training, "without a token at the end of turns, nothing of the next message is learned") {
  const char* const source =
      "{% for m in messages %}{{ 'User: ' if m.role == 'user' else 'Bot: ' }}{{ m.content }}{% if not loop.last %}"
      "{{ '\\n' }}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '\\nBot:' }}{% endif %}";
  CHECK(masked(encoded(true, source), {}) == " Yes\n| Ok");
}

TEST_CASE_FIXTURE(Training, "an opener that ends the turn before it is learned, but not behind the last turn") {
  tokenizer = test::byte_tokenizer({"~user~", "~bot~"}, "~user~");
  const char* const source =
      "{% for m in messages %}{{ '~user~' if m.role == 'user' else '~bot~' }}{{ m.content }}{% endfor %}"
      "{% if add_generation_prompt %}~bot~{% endif %}";
  CHECK(masked(encoded(true, source), {}) == "Yes~user~|Ok");
}

TEST_CASE_FIXTURE(Training, "bug: a conversation in which no generation block was written was refused") {
  messages = {json::Object{{"role", "user"}, {"content", "Hi"}}};
  CHECK(masked(encoded(true), {.part = MaskPart::kGeneration}) == "");
}

TEST_CASE_FIXTURE(Training, "bug: results that the template writes inside the turn of their calls were learned") {
  const char* const source =
      "{% for m in messages %}{% if m.role == 'user' %}[user]{{ m.content }}~end~"
      "{% elif m.role == 'assistant' %}[assistant]{% for c in m.tool_calls or [] %}<call>{{ c.name }}</call>{% endfor "
      "%}"
      "{% if m.tool_calls %}{% for t in messages[loop.index:] if t.role == 'tool' %}<see>{{ t.content }}</see>"
      "{% endfor %}{% endif %}{{ m.content }}~end~{% endif %}{% endfor %}"
      "{% if add_generation_prompt %}[assistant]{% endif %}";
  messages = json::parse(R"([{"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Hm", "tool_calls": [{"name": "add"}]}, {"role": "tool", "content": "4"}])")
                 .value()
                 .as_array();
  const Encoded all = encoded(true, source);
  CHECK(masked(all, {}) == "<call>add</call>|Hm~end~");
  CHECK(masked(all, {.part = MaskPart::kContent}) == "add|Hm");
  CHECK(masked(all, {.part = MaskPart::kTurn}) == "[assistant]<call>add</call>|Hm~end~");
  CHECK(masked(all, {.part = MaskPart::kContent, .roles = {"tool"}}) == "4");
}

TEST_CASE_FIXTURE(Training, "bug: turns that a template merges once it meets the next message were not learned") {
  const char* const source =
      "{% set ns = namespace(out=[], role=none, group=[]) %}{% for m in messages + [{'role': 'end'}] %}"
      "{% if m.role != ns.role %}{% if ns.group %}{% set p = namespace(t=[]) %}"
      "{% for g in ns.group %}{% set p.t = p.t + [g.content] %}{% endfor %}"
      "{% set ns.out = ns.out + [{'role': ns.role, 'content': p.t | join('--')}] %}{% endif %}"
      "{% set ns.group = [m] %}{% set ns.role = m.role %}{% else %}{% set ns.group = ns.group + [m] %}{% endif %}"
      "{% endfor %}{% for m in ns.out %}{% if m.role == 'user' %}[user]{{ m.content }}[/user]"
      "{% else %}{{ m.content }}~end~{% endif %}{% endfor %}";
  messages = json::parse(R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "one"},
    {"role": "assistant", "content": "two"}, {"role": "user", "content": "No"},
    {"role": "assistant", "content": "three"}])")
                 .value()
                 .as_array();
  const Encoded all = encoded(true, source);
  CHECK(masked(all, {}) == "one--two~end~|three~end~");
  CHECK(masked(all, {.part = MaskPart::kContent}) == "one|two|three");
  CHECK(masked(all, {.part = MaskPart::kTurn, .messages = {1, 0, 1, 1, 0}}).starts_with("--two"));
}

TEST_CASE_FIXTURE(Training, "bug: what follows the first stop token of a turn was sampled") {
  const char* const source =
      "{% for m in messages %}[{{ m.role }}]{{ m.content }}~end~{% if m.role == 'assistant' %} ~end~{% endif %}"
      "{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}";
  CHECK(masked(encoded(true, source), {}) == "Yes~end~|Ok~end~");
}

TEST_CASE_FIXTURE(Training, "bug: content was that of the turn in which it stands, not of its own message") {
  const char* const source =
      "{% for m in messages %}{% if m.role == 'user' %}[user]{% if loop.index0 == 1 %}{{ messages[0].content }} "
      "{% endif %}{{ m.content }}~end~{% endif %}{% endfor %}";
  messages =
      json::parse(R"([{"role": "system", "content": "Brief"}, {"role": "user", "content": "Hi"}])").value().as_array();
  const Encoded all = encoded(true, source);
  CHECK(masked(all, {.part = MaskPart::kContent, .roles = {"user"}}) == "Hi");
  CHECK(masked(all, {.part = MaskPart::kContent, .roles = {"system"}}) == "Brief");
  CHECK(masked(all, {.part = MaskPart::kTurn, .roles = {"user"}}) == "[user]Brief Hi~end~");
}

TEST_CASE_FIXTURE(Training, "a message may say that it is not learned") {
  const auto without = [&](const char* name, const json::Value& value) {
    messages[1].as_object().set(name, value);
    const std::string learned = masked(encoded(true), {});
    messages[1].as_object().erase(name);
    return learned;
  };
  CHECK(without("weight", 0) == "Ok~end~");
  CHECK(without("weight", 0.0) == "Ok~end~");
  CHECK(without("weight", 1) == "Yes~end~|Ok~end~");
  CHECK(without("weight", false) == "Yes~end~|Ok~end~");
  CHECK(without("training", false) == "Ok~end~");
  CHECK(without("train", false) == "Ok~end~");
  CHECK(without("train", true) == "Yes~end~|Ok~end~");
}

TEST_CASE_FIXTURE(Training, "the extents of all turns are those of each") {
  // Results search for the name of the call that they answer.  One message is written at the top, whatever its place.
  const char* const source =
      "{% for m in messages %}{% if m.role == 'system' %}[system]{{ m.content }}~end~{% endif %}{% endfor %}"
      "{% for m in messages %}{% if m.role == 'tool' %}[tool]"
      "{% for other in messages %}{% for c in other.tool_calls or [] %}{% if c.id == m.id %}{{ c.name }}{% endif %}"
      "{% endfor %}{% endfor %}: {{ m.content }}~end~"
      "{% elif m.role != 'system' %}[{{ m.role }}]{% for c in m.tool_calls or [] %}{{ c.name }};{% endfor %}"
      "{{ m.content }}~end~{% endif %}{% endfor %}";
  const json::Array conversation = json::parse(R"([{"role": "user", "content": "Hi"},
    {"role": "assistant", "content": "Yes", "tool_calls": [{"id": "a", "name": "add"}, {"id": "b", "name": "sum"}]},
    {"role": "tool", "id": "b", "content": "3"}, {"role": "tool", "id": "a", "content": "4"},
    {"role": "system", "content": "Be brief"}, {"role": "assistant", "content": ""}])")
                                       .value()
                                       .as_array();
  const auto chat_template = jinja::Template::compile(source, {}, "test").value();
  const chat::Conversation base;
  const tmpl::ApplyOptions options;
  const TurnContext context{*chat_template, *tokenizer, base, options};
  const auto rendered = render_messages(context, conversation, true);
  REQUIRE(rendered.ok());
  const std::string& bytes = rendered.value().text.bytes();
  const auto all = probe::turn_extents(rendered.value(), conversation.size());
  REQUIRE(all.size() == conversation.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    CAPTURE(i);
    const auto index = static_cast<std::int32_t>(i);
    CHECK(all[i].begin == turn_begin(rendered.value(), index));
    const auto data = data_extent(rendered.value(), index);
    REQUIRE(all[i].data.has_value() == data.has_value());
    if (data) CHECK(all[i].data->begin == data->begin);
    if (data) CHECK(all[i].data->end == data->end);
    CHECK(all[i].tail_end == tail_end(rendered.value(), index, data ? data->end : *all[i].begin));
  }
  CHECK(bytes.substr(all[1].data->begin, all[1].data->end - all[1].data->begin) == "add;sum;Yes");
  CHECK(bytes.substr(*all[2].begin, all[2].tail_end - *all[2].begin).starts_with("[tool]"));
}

TEST_CASE_FIXTURE(Training, "the spans of fields") {
  const Encoded all = encoded(true);
  const auto at = [&](std::size_t i) { return all.ids.begin() + static_cast<std::ptrdiff_t>(i); };
  REQUIRE(all.fields.size() == 8);
  CHECK(all.fields[1].path == "messages[0].content");
  CHECK(all.fields[1].message == 0);
  CHECK(text({at(all.fields[1].ids.begin), at(all.fields[1].ids.end)}) == "Hi");
  CHECK(all.origins[all.fields[1].ids.begin] == OriginKind::kMessage);
  CHECK(all.origins[0] == OriginKind::kTemplate);
}

}  // namespace
}  // namespace rondo::render
