// Transcripts of invented templates: which way is taken, why, and that the text equals a render of all messages.
#include "render/transcript.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "json/parse.h"

namespace rondo::render {
namespace {

const std::string kPlain =
    "{%- for m in messages -%}<{{ m.role }}>{{ m.content }}"
    "{%- for c in m.tool_calls or [] -%}[{{ c.function.name }}]{%- endfor -%};{%- endfor -%}"
    "{%- if add_generation_prompt -%}<assistant>{%- endif -%}";

json::Array parsed_messages(const std::string& text) {
  auto parsed = json::parse(text);
  REQUIRE_MESSAGE(parsed.ok(), (parsed.ok() ? "" : parsed.error().to_string()));
  return std::move(parsed).value().as_array();
}

std::shared_ptr<const TranscriptModel> transcripts_of(const std::string& source, tmpl::MessageRules rules = {},
                                                      bool opens = true) {
  auto compiled = jinja::Template::compile(source, {}, "test");
  REQUIRE_MESSAGE(compiled.ok(), (compiled.ok() ? "" : compiled.error().to_string()));
  TranscriptModel::Parts parts;
  parts.chat_template = compiled.value();
  parts.base.add_generation_prompt = opens;
  parts.rules = std::move(rules);
  return TranscriptModel::make(std::move(parts));
}

// Two exchanges.
const char* const kTwo = R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "b"},
                             {"role": "user", "content": "c"}, {"role": "assistant", "content": "d"}])";

Transcript begun(const std::string& source, const char* messages = kTwo) {
  auto out = Transcript::start(transcripts_of(source), parsed_messages(messages));
  REQUIRE_MESSAGE(out.ok(), (out.ok() ? "" : out.error().to_string()));
  return std::move(out).value();
}

Grown added(Transcript& transcript, const char* messages) {
  auto out = transcript.append(parsed_messages(messages));
  REQUIRE_MESSAGE(out.ok(), (out.ok() ? "" : out.error().to_string()));
  return std::move(out).value();
}

const char* const kPuzzle = R"([{"role": "user", "content": "e"}])";

TEST_CASE("a message more is rendered in a window, and the rest of the text stays") {
  Transcript transcript = begun(kPlain);
  CHECK(transcript.text() == "<user>a;<assistant>b;<user>c;<assistant>d;<assistant>");
  const Grown grown = added(transcript, kPuzzle);
  CHECK(to_string(grown.way) == "incremental");
  CHECK(grown.why == "each new message was rendered in a window of at most 3 messages: nothing depends on the others");
  CHECK(transcript.text() == "<user>a;<assistant>b;<user>c;<assistant>d;<user>e;<assistant>");
  CHECK(transcript.text().substr(0, grown.kept) == "<user>a;<assistant>b;<user>c;<assistant>d;<");
  CHECK(transcript.messages().size() == 5);
  CHECK(transcript.always_full().empty());
}

TEST_CASE("several messages at once, with calls and their results") {
  Transcript transcript = begun(kPlain);
  const Grown grown = added(transcript, R"([{"role": "user", "content": "e"},
    {"role": "assistant", "content": "", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]},
    {"role": "tool", "content": "4"}, {"role": "assistant", "content": "four"}])");
  CHECK(to_string(grown.way) == "incremental");
  CHECK(transcript.text() ==
        "<user>a;<assistant>b;<user>c;<assistant>d;<user>e;<assistant>[f];<tool>4;<assistant>four;<assistant>");
}

// Why a transcript is rendered in full when a question comes.
std::string why_full(const std::string& source, const char* messages = kTwo) {
  Transcript transcript = begun(source, messages);
  const Grown grown = added(transcript, kPuzzle);
  CHECK(to_string(grown.way) == "full");
  json::Array all = parsed_messages(messages);
  all.push_back(parsed_messages(kPuzzle)[0]);
  CHECK(Transcript::start(transcripts_of(source), std::move(all)).value().text() == transcript.text());
  return grown.why;
}

std::string looped(const std::string& inside, const std::string& behind = "") {
  return "{%- set ns = namespace(n=0, seen=false) -%}{%- for m in messages -%}" + inside +
         "<{{ m.role }}>{{ m.content }};{%- endfor -%}" + behind;
}

TEST_CASE("what looks back is rendered in full, and the result says why") {
  const std::string ends = "messages[4]: a window does not end as the conversation does";
  CHECK(why_full(looped("{{ loop.index }}")) == ends);
  CHECK(why_full(looped("{%- set ns.n = ns.n + 1 -%}", "{{ ns.n }}")) == ends);
  CHECK(why_full(looped("", "{{ messages | length }}")) == ends);
  CHECK(why_full(looped("", "{{ messages[0].content }}")) ==
        "messages[4]: the template changes what stands before the last message");
  CHECK(why_full(looped("{%- if loop.index0 > 1 -%}{{ messages[loop.index0 - 2].content }}{%- endif -%}")) ==
        "messages[4]: the new turns contain messages[0].content");
  CHECK(why_full(looped("{%- if loop.index > 7 -%}7{%- endif -%}")) == "the template counts to 7");
  CHECK(why_full(looped("{%- if loop.index0 < messages | length - 2 -%}old{%- endif -%}")) ==
        "messages[4]: the template changes what stands before the last message");
}

// The template does something with the message that no trial had triggered.  From then on nothing is known.
TEST_CASE("reasoning in the content of calls, which a later question drops, is rendered in full") {
  // Like a template of the corpus: it has no reasoning field, and rewrites the calls of older turns.
  const std::string source =
      "{%- set q = namespace(last=-1) -%}{%- for m in messages -%}{%- if m.role == 'user' -%}{%- set q.last = "
      "loop.index0 -%}{%- endif -%}{%- endfor -%}{%- for m in messages -%}<{{ m.role }}>"
      "{%- set text = m.content or '' -%}"
      "{%- if m.role == 'assistant' and '</think>' in text -%}"
      "{%- if m.tool_calls and loop.index0 > q.last -%}{{ text.split('</think>')[0] }}</think>{%- endif -%}"
      "{%- set text = text.split('</think>')[-1] -%}{%- endif -%}{{ text }}"
      "{%- for c in m.tool_calls or [] -%}[{{ c.function.name }}]{%- endfor -%};{%- endfor -%}";
  Transcript transcript = begun(source, R"([{"role": "user", "content": "a"},
    {"role": "assistant", "content": "<think>r</think>", "tool_calls": [{"function": {"name": "f", "arguments": {}}}]},
    {"role": "tool", "content": "4"}, {"role": "assistant", "content": "<think>s</think>four"}])");
  CHECK(transcript.text() == "<user>a;<assistant><think>r</think>[f];<tool>4;<assistant>four;");
  const Grown grown = added(transcript, kPuzzle);
  CHECK(to_string(grown.way) == "full");
  CHECK(transcript.text() == "<user>a;<assistant>[f];<tool>4;<assistant>four;<user>e;");
}

TEST_CASE("what no trial has seen makes all later messages be rendered in full") {
  const std::string source = looped("{%- if m.content | length > 9 -%}{%- set ns.seen = true -%}{%- endif -%}",
                                    "{%- if ns.seen -%}!{%- endif -%}");
  Transcript transcript = begun(source);
  CHECK(to_string(added(transcript, kPuzzle).way) == "incremental");
  const Grown grown = added(transcript, R"([{"role": "assistant", "content": "long enough"}])");
  CHECK(to_string(grown.way) == "full");
  CHECK(grown.why == "messages[5]: the condition on line 1 came out as it did in no trial");
  CHECK(transcript.always_full() == grown.why);
  CHECK(transcript.text().ends_with("<assistant>long enough;!"));
  CHECK(to_string(added(transcript, kPuzzle).way) == "full");
  CHECK(transcript.text().ends_with("<assistant>long enough;<user>e;!"));
}

TEST_CASE("a conversation that began with what no trial has seen is always rendered in full") {
  const char* const image = R"([{"role": "user", "content": [{"type": "image"}]}, {"role": "assistant", "content": "b"},
                                {"role": "user", "content": "c"}, {"role": "assistant", "content": "d"}])";
  CHECK(
      why_full("{%- for m in messages -%}<{{ m.role }}>{{ m.content if m.content is string else '*' }};{%- endfor -%}",
               image) == "messages[0]: it has a part of the type `image`");
}

TEST_CASE("a refused message leaves the transcript as it was") {
  const std::string source = looped("{%- if m.content == 'no' -%}{{ raise_exception('refused') }}{%- endif -%}");
  Transcript transcript = begun(source);
  const std::string before = transcript.text();
  const auto refused = transcript.append(
      parsed_messages(R"([{"role": "user", "content": "e"}, {"role": "assistant", "content": "no"}])"));
  CHECK(refused.error().message == "refused");
  CHECK(transcript.text() == before);
  CHECK(transcript.messages().size() == 4);
  added(transcript, kPuzzle);
  CHECK(transcript.text() == before + "<user>e;");
}

TEST_CASE("a result that has to stand before an earlier one is put there") {
  tmpl::MessageRules rules;
  rules.orders_results = true;
  auto started = Transcript::start(transcripts_of(kPlain, rules), parsed_messages(R"([{"role": "user", "content": "a"},
    {"role": "assistant", "content": "", "tool_calls": [
      {"id": "1", "function": {"name": "f", "arguments": {}}}, {"id": "2", "function": {"name": "g", "arguments": {}}}]},
    {"role": "tool", "tool_call_id": "2", "content": "second"}])"));
  Transcript transcript = std::move(started).value();
  const Grown grown = added(transcript, R"([{"role": "tool", "tool_call_id": "1", "content": "first"}])");
  CHECK(grown.why == "the new messages change the form of earlier ones");
  CHECK(transcript.text() == "<user>a;<assistant>[f][g];<tool>first;<tool>second;<assistant>");
  CHECK(added(transcript, R"([{"role": "assistant", "content": "done"}])").why ==
        "messages[4]: a window would leave out nothing");
  CHECK(transcript.text() == "<user>a;<assistant>[f][g];<tool>first;<tool>second;<assistant>done;<assistant>");
}

TEST_CASE("a transcript may begin with nothing") {
  auto started = Transcript::start(transcripts_of(kPlain, {}, false), {});
  Transcript transcript = std::move(started).value();
  CHECK(transcript.text().empty());
  const Grown grown = added(transcript, kTwo);
  CHECK(grown.why == "messages[0]: there was no message before it");
  CHECK(transcript.text() == "<user>a;<assistant>b;<user>c;<assistant>d;");
  CHECK(added(transcript, "[]").kept == transcript.text().size());
}

// First renders the prefix, and then the whole.
TEST_CASE("004:350-358: what a message adds is the whole text behind that of the messages before it") {
  Transcript transcript = Transcript::start(transcripts_of(kPlain, {}, false), parsed_messages(kTwo)).value();
  const std::string prefix = transcript.text();
  const Grown grown = added(transcript, kPuzzle);
  json::Array all = parsed_messages(kTwo);
  all.push_back(parsed_messages(kPuzzle)[0]);
  const std::string whole = Transcript::start(transcripts_of(kPlain, {}, false), std::move(all)).value().text();
  CHECK(transcript.text() == whole);
  CHECK(whole.substr(prefix.size()) == "<user>e;");
  CHECK(grown.kept == prefix.size());
}

TEST_CASE(
    "004:360-365: what comes in order is rendered without the rest, and all of it where the conversation has changed") {
  Transcript transcript = begun(kPlain);
  CHECK(to_string(added(transcript, kPuzzle).way) == "incremental");
  CHECK(to_string(added(transcript, R"([{"role": "assistant", "content": "f"}])").way) == "incremental");
  // Another conversation is another transcript of the same model.
  const Transcript other = Transcript::start(transcripts_of(kPlain), parsed_messages(kPuzzle)).value();
  CHECK(other.text() == "<user>e;<assistant>");
  CHECK(transcript.text().ends_with("<user>e;<assistant>f;<assistant>"));
}

}  // namespace
}  // namespace rondo::render
