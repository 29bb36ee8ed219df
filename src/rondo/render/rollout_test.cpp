// Rollouts of an invented template: every id, its owner, and whether it was sampled.
#include "render/rollout.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "json/parse.h"
#include "tests/support/byte_tokenizer.h"

namespace rondo::render {
namespace {

using tokenizer::TokenId;

// Keeps everything; results are written under the name of the call that they answer.
const std::string kKeeping = R"JINJA(
{%- for m in messages -%}
{%- if m.role == 'tool' -%}
{{- '[[answer>>' + m.content + '~fin~' -}}
{%- else -%}
{{- '[[' + m.role + '>>' -}}
{%- if m.reasoning_content -%}{{- '(*mull ' + m.reasoning_content + ' mull*)' -}}{%- endif -%}
{%- if m.content is string -%}{{- m.content -}}
{%- else -%}{%- for part in m.content or [] -%}{{- part.text if part.type == 'text' else '{image}' -}}{%- endfor -%}
{%- endif -%}
{%- for c in m.tool_calls or [] -%}
{{- '{!do ' + c.function.name + ' with ' + (c.function.arguments | tojson) + ' do!}' -}}
{%- endfor -%}
{{- '~fin~' -}}
{%- endif -%}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '[[assistant>>' -}}{%- endif -%}
)JINJA";

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

// The same without the reasoning of turns before the last user message.
std::string forgetting() {
  return "{%- set ns = namespace(last=0) -%}{%- for m in messages -%}{%- if m.role == 'user' -%}"
         "{%- set ns.last = loop.index0 -%}{%- endif -%}{%- endfor -%}" +
         replaced(kKeeping, "{%- if m.reasoning_content -%}",
                  "{%- if m.reasoning_content and loop.index0 > ns.last -%}");
}

// User messages are numbered.
std::string numbered() {
  return replaced(kKeeping, "{{- '[[' + m.role",
                  "{{- '[[' + (loop.index | string if m.role == 'user' else '') + m.role");
}

std::shared_ptr<const format::Format> keeping_format() {
  auto format = std::make_shared<format::Format>();
  format->header = "[[assistant>>";
  format->generation_prompts = {{"default", "[[assistant>>"}};
  format->input.reasoning_field = "reasoning_content";
  format->reasoning = {true, "(*mull ", " mull*)", false};
  format->calls.present = true;
  format->calls.call_open = "{!do ";
  format->calls.call_close = " do!}";
  using Kind = format::CallPiece::Kind;
  format->calls.pieces = {{Kind::kName, ""}, {Kind::kLiteral, " with "}, {Kind::kArguments, ""}};
  format->stops.content = {"~fin~"};
  format->stops.tool = {"~fin~"};
  return format;
}

json::Array messages(const char* text) {
  const auto parsed = json::parse(text);
  REQUIRE_MESSAGE(parsed.ok(), (parsed.ok() ? "" : parsed.error().to_string()));
  return parsed.value().as_array();
}

std::shared_ptr<const RolloutModel> model_of(const std::string& source,
                                             std::shared_ptr<const format::Format> format = keeping_format()) {
  auto compiled = jinja::Template::compile(source, {}, "test");
  REQUIRE_MESSAGE(compiled.ok(), (compiled.ok() ? "" : compiled.error().to_string()));
  RolloutModel::Parts parts;
  parts.chat_template = compiled.value();
  parts.tokenizer = test::byte_tokenizer({"~fin~", "{!do ", " do!}", "(*mull ", " mull*)", "{image}"}, "~fin~");
  parts.format = std::move(format);
  return RolloutModel::make(std::move(parts));
}

std::string text_of(const RolloutModel& model, std::span<const TokenId> ids) {
  return model.parts().tokenizer->decode(ids, {}).value();
}

// The text in stretches of one owner ("-" for none); "*" marks what was sampled.
std::string shown(const Rollout& rollout) {
  const std::vector<std::int32_t> owners = rollout.message_indices();
  const std::vector<std::uint8_t> sampled = rollout.sampled_mask();
  const std::span<const TokenId> ids = rollout.ids();
  REQUIRE(owners.size() == ids.size());
  REQUIRE(sampled.size() == ids.size());
  std::string out;
  for (std::size_t begin = 0; begin < ids.size();) {
    std::size_t end = begin;
    while (end < ids.size() && owners[end] == owners[begin] && sampled[end] == sampled[begin]) ++end;
    out += (out.empty() ? "" : " | ") + (owners[begin] < 0 ? std::string("-") : std::to_string(owners[begin])) +
           (sampled[begin] != 0 ? "* " : " ") + text_of(rollout.model(), ids.subspan(begin, end - begin));
    begin = end;
  }
  return out;
}

Rollout started(const std::shared_ptr<const RolloutModel>& model, const char* first) {
  auto rollout = Rollout::start(model, messages(first));
  REQUIRE_MESSAGE(rollout.ok(), (rollout.ok() ? "" : rollout.error().to_string()));
  return std::move(rollout).value();
}

const ParsedCompletion& completed(Rollout& rollout, const std::string& sampled) {
  const auto said = rollout.complete(rollout.model().parts().tokenizer->encode_ids(sampled, {}));
  REQUIRE_MESSAGE(said.ok(), (said.ok() ? "" : said.error().to_string()));
  return *said.value();
}

Extension extended(Rollout& rollout, const char* next, Retention retention = Retention::kAll) {
  auto extension = rollout.extend(messages(next), retention);
  REQUIRE_MESSAGE(extension.ok(), (extension.ok() ? "" : extension.error().to_string()));
  return std::move(extension).value();
}

std::string joined(const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += line + "\n";
  return out;
}

// What the template writes for all messages so far, and for the next turn.
std::vector<TokenId> rendered_again(const Rollout& rollout) {
  const RolloutModel& model = rollout.model();
  chat::Conversation conversation;
  conversation.messages = rollout.messages();
  conversation.add_generation_prompt = true;
  const auto encoded =
      encode(*model.parts().chat_template, *model.parts().tokenizer, conversation, {}, ContentSpecials::kText);
  REQUIRE(encoded.ok());
  return encoded.value().ids;
}

bool is_as_rendered(const Rollout& rollout) {
  const std::vector<TokenId> ids = rendered_again(rollout);
  return std::ranges::equal(ids, rollout.ids());
}

const char* const kQuestion = R"([{"role": "system", "content": "Be kind"}, {"role": "user", "content": "Hi"}])";
const char* const kResult = R"([{"role": "tool", "tool_call_id": "c1", "name": "f", "content": "20"}])";
const char* const kThanks = R"([{"role": "user", "content": "Thanks"}])";

}  // namespace

TEST_CASE("000:33: each id of a rollout is its message's, and what was sampled is known") {
  const auto model = model_of(kKeeping);
  Rollout rollout = started(model, kQuestion);
  CHECK(shown(rollout) == "0 [[system>>Be kind~fin~ | 1 [[user>>Hi~fin~ | - [[assistant>>");
  CHECK_FALSE(rollout.has_spoken());

  const ParsedCompletion& said = completed(rollout, R"((*mull Hm mull*)Look.{!do f with {"a": 1} do!}~fin~)");
  CHECK(said.message.reasoning == "Hm");
  CHECK(said.message.content == "Look.");
  REQUIRE(said.message.tool_calls.size() == 1);
  CHECK(said.message.tool_calls[0].arguments == R"({"a": 1})");
  CHECK(rollout.has_spoken());
  CHECK(rollout.messages().size() == 2);
  REQUIRE(rollout.turns().size() == 1);
  CHECK(rollout.turns()[0].message == 2);
  CHECK(rollout.turns()[0].end == rollout.ids().size());

  const Extension called = extended(rollout, kResult);
  CHECK(called.kept == called.begin);
  CHECK(called.begin == rollout.turns()[0].end);
  CHECK(called.cuts.empty());
  CHECK(called.notes.empty());
  CHECK(called.lossy.empty());
  CHECK(rollout.messages().size() == 4);
  CHECK(shown(rollout) ==
        R"(0 [[system>>Be kind~fin~ | 1 [[user>>Hi~fin~ | - [[assistant>> | )"
        R"(2* (*mull Hm mull*)Look.{!do f with {"a": 1} do!}~fin~ | 3 [[answer>>20~fin~ | - [[assistant>>)");
  CHECK(is_as_rendered(rollout));

  completed(rollout, "It is 20~fin~");
  extended(rollout, R"([{"role": "user", "content": "Thanks"}, {"role": "user", "content": "Bye"}])");
  CHECK(
      shown(rollout).ends_with("| - [[assistant>> | 4* It is 20~fin~ | 5 [[user>>Thanks~fin~ | 6 [[user>>Bye~fin~ | "
                               "- [[assistant>>"));
  CHECK(is_as_rendered(rollout));
  completed(rollout, "Bye~fin~");
  CHECK(shown(rollout).ends_with("- [[assistant>> | 7* Bye~fin~"));
  REQUIRE(rollout.turns().size() == 3);
  CHECK(rollout.turns()[2].message == 7);
}

TEST_CASE("a turn that was cut off is closed by nobody's ids") {
  const auto model = model_of(kKeeping);
  Rollout rollout = started(model, kQuestion);
  completed(rollout, "(*mull Hm");
  const Extension next = extended(rollout, kThanks);
  CHECK(
      shown(rollout).ends_with("- [[assistant>> | 2* (*mull Hm | -  mull*)~fin~ | 3 [[user>>Thanks~fin~ | "
                               "- [[assistant>>"));
  CHECK(joined(next.notes) ==
        "the completion was cut off; \" mull*)\" closes what it left open\nthe completion has no stop token; \"~fin~\" "
        "was added\n");
  CHECK(rollout.messages()[2].find_string("reasoning_content") == "Hm");
  // The appended text is closed: the next turn is read from its own beginning.
  CHECK(completed(rollout, "Well~fin~").message.content == "Well");
}

TEST_CASE("where history shows nothing of a turn, its close is written once") {
  const auto model = model_of(R"JINJA(
{%- for m in messages -%}
{%- if m.role != 'assistant' -%}{{- '[[' + m.role + '>>' + (m.content or '') -}}{%- endif -%}
{{- '~fin~' -}}
{%- endfor -%}
{%- if add_generation_prompt -%}{{- '[[assistant>>' -}}{%- endif -%}
)JINJA");
  Rollout rollout = started(model, kQuestion);
  completed(rollout, "Yo~fin~");
  extended(rollout, kThanks);
  CHECK(text_of(*model, rollout.ids()) ==
        "[[system>>Be kind~fin~[[user>>Hi~fin~[[assistant>>Yo~fin~[[user>>Thanks~fin~[[assistant>>");
}

// The text that further messages append to `sampled`, up to `header`, which opens the first of them.
std::string closed_before(const std::shared_ptr<const RolloutModel>& model, const char* sampled, const char* further,
                          const char* header) {
  Rollout rollout = started(model, kQuestion);
  completed(rollout, sampled);
  const Extension next = extended(rollout, further);
  const std::string text = text_of(*model, rollout.ids().subspan(next.begin));
  return text.substr(0, text.find(header));
}

TEST_CASE("of what closes a turn only what is missing is written, whatever white space stands in it") {
  const auto model = model_of(
      replaced(kKeeping, "{{- '~fin~' -}}\n{%- endif -%}",
               "{%- if m.role == 'assistant' -%}{{- '</a>\\n</b>' -}}{%- endif -%}{{- '~fin~' -}}\n{%- endif -%}"));
  const auto appended = [&](const char* sampled) { return closed_before(model, sampled, kThanks, "[[user>>"); };
  CHECK(appended("Yo</a>\n</b>~fin~") == "");
  CHECK(appended("Yo</a>\n</b>") == "~fin~");
  CHECK(appended("Yo") == "</a>\n</b>~fin~");
  CHECK(appended("Yo</a>") == "\n</b>~fin~");
  CHECK(appended("Yo</a> ") == "\n</b>~fin~");
  CHECK(appended("Yo</a>  </") == "b>~fin~");
  CHECK(appended("Yo</a> </b>") == "~fin~");
  CHECK(appended("Yo</") == "a>\n</b>~fin~");
}

TEST_CASE("where no token ends a turn, what was sampled of its end is not written again") {
  std::string source = kKeeping;
  for (std::size_t at = 0; (at = source.find("~fin~", at)) != std::string::npos;) source.replace(at, 5, "#end\\n");
  const auto model = model_of(source);
  const auto appended = [&](const char* sampled) { return closed_before(model, sampled, kThanks, "[[user>>"); };
  CHECK(appended("Yo") == "#end\n");
  CHECK(appended("Yo#e") == "nd\n");
  CHECK(appended("Yo#end") == "\n");
  CHECK(appended("Yo#end\n") == "");
}

// A model whose calls have parameters, and whose turns end with `end`, a text that is no token.  Strings have quotes and a
// sign of their own.
std::shared_ptr<const RolloutModel> model_with_parameters(const std::string& end, const std::string& stop) {
  std::string source = kKeeping;
  for (std::size_t at = 0; (at = source.find("~fin~", at)) != std::string::npos; at += end.size())
    source.replace(at, 5, end);
  source = replaced(source, " with ' + (c.function.arguments | tojson) + ' do!}' -}}",
                    "\\n' -}}{%- for k, v in c.function.arguments.items() -%}{{- '%p%' + k + '=' + (v | tojson) -}}"
                    "{{- ('%s%' if v is string else '') + '%/p%' -}}{%- endfor -%}{{- ' do!}' -}}");
  auto format = std::make_shared<format::Format>(*keeping_format());
  format->calls.pieces = {{format::CallPiece::Kind::kName, ""}, {format::CallPiece::Kind::kArguments, ""}};
  format->calls.arguments = format::ArgumentStyle::kParameters;
  format->calls.parameters = {.open = "%p%", .key_close = "=", .close = "%/p%"};
  format->calls.parameters.forms = {{format::ValueType::kString, format::ValueStyle::kJson, "", "%s%", "", {}},
                                    {format::ValueType::kInteger, format::ValueStyle::kJson, "", "", "", {}}};
  format->stops.content = format->stops.tool = {stop};
  return model_of(source, format);
}

// The text that a tool's result appends to `sampled`, up to that result.
std::string closed_before_result(const std::shared_ptr<const RolloutModel>& model, const char* sampled) {
  return closed_before(model, sampled, R"([{"role": "tool", "content": "4"}])", "[[answer>>");
}

TEST_CASE("where no token ends a turn, whole calls are closed whatever arguments they have") {
  const auto model = model_with_parameters("", "[[user>>");
  CHECK(closed_before_result(model, "{!do find\n do!}") == "");
  CHECK(closed_before_result(model, "{!do find\n%p%q=\"x\"%s%%/p% do!}") == "");
  CHECK(closed_before_result(model, "{!do find\n%p%q=\"x") == "\"%s%%/p% do!}");
  CHECK(closed_before_result(model, "{!do find\n") == " do!}");
}

TEST_CASE("bug: a stop that was cut off as text behind a call with a number was written behind a string's end") {
  const auto model = model_with_parameters("#end\\n", "#end\n");
  CHECK(closed_before_result(model, "{!do find\n%p%n=1%/p% do!}") == "#end\n");
  CHECK(closed_before_result(model, "{!do find\n%p%n=1%/p% do!}#e") == "nd\n");
  CHECK(closed_before_result(model, "{!do find\n%p%q=\"x\"%s%%/p% do!}#e") == "nd\n");
}

TEST_CASE("a rollout takes turns, and is as it was where something does not fit") {
  const auto model = model_of(kKeeping);
  Rollout rollout = started(model, kQuestion);
  CHECK(rollout.extend(messages(kThanks)).error().message ==
        "the model has not spoken yet: nothing can be added behind its turn");
  CHECK(rollout.complete(std::vector<TokenId>{-1}).error().code == ErrorCode::kTokenizer);
  completed(rollout, "Yo~fin~");
  CHECK(rollout.complete(std::vector<TokenId>{1}).error().message ==
        "the model has spoken: add messages before its next turn");
  const std::string before = shown(rollout);
  CHECK_FALSE(rollout.extend(messages(R"([{"role": "assistant", "content": "No"}])")).ok());
  CHECK(shown(rollout) == before);
  CHECK(rollout.messages().size() == 2);
  extended(rollout, kThanks);
  CHECK(is_as_rendered(rollout));
  CHECK_FALSE(Rollout::start(model_of("{{ raise_exception('no') }}"), messages(kQuestion)).ok());
}

TEST_CASE("a rollout that was begun elsewhere knows its turns") {
  const auto model = model_of(forgetting());
  Rollout rollout = started(model, kQuestion);
  completed(rollout, R"((*mull Hm mull*){!do f with {} do!}~fin~)");
  extended(rollout, kResult);
  const std::vector<TokenId> ids(rollout.ids().begin(), rollout.ids().end());
  const auto resumed = [&](std::vector<std::pair<std::size_t, std::size_t>> ranges) {
    return Rollout::resume(model, ids, rollout.messages(), ranges);
  };
  const Rollout::Turn turn = rollout.turns()[0];
  auto again = resumed({{turn.begin, turn.end}});
  REQUIRE(again.ok());
  CHECK(again.value().sampled_mask() == rollout.sampled_mask());
  REQUIRE(again.value().turns().size() == 1);
  CHECK(again.value().turns()[0].message == 2);
  CHECK(again.value().message_indices()[turn.begin - 1] == -1);
  CHECK(again.value().message_indices()[turn.begin] == 2);
  CHECK(again.value().message_indices()[turn.end] == -1);
  for (Rollout* one : {&rollout, &again.value()}) {
    completed(*one, "20~fin~");
    const Extension next = extended(*one, kThanks, Retention::kTemplate);
    REQUIRE(next.cuts.size() == 1);
    CHECK(next.cuts[0].message == 2);
  }
  CHECK(std::ranges::equal(again.value().ids(), rollout.ids()));

  const auto refused = [&](std::vector<std::pair<std::size_t, std::size_t>> ranges) {
    const auto other = resumed(std::move(ranges));
    return other.ok() ? "" : other.error().message;
  };
  const std::string size = std::to_string(ids.size());
  CHECK(refused({{3, 2}}) == "the sampled range [3, 2) does not lie in order inside the " + size + " prompt ids");
  CHECK(refused({{0, ids.size() + 1}}).starts_with("the sampled range [0, "));
  CHECK(refused({{0, ids.size()}}) == "");
  CHECK(refused({{0, 0}}) == "");
  CHECK(refused({{0, 1}, {1, 2}, {2, 3}}) == "there are more sampled ranges than assistant messages");
}

TEST_CASE("ranges of sampled turns must be in order") {
  const auto model = model_of(kKeeping);
  Rollout rollout = started(model, kQuestion);
  for (int i = 0; i < 2; ++i) {
    completed(rollout, "Yo~fin~");
    extended(rollout, kThanks);
  }
  const std::vector<TokenId> ids(rollout.ids().begin(), rollout.ids().end());
  const auto fits = [&](std::vector<std::pair<std::size_t, std::size_t>> ranges) {
    return Rollout::resume(model, ids, rollout.messages(), ranges).ok();
  };
  CHECK(fits({{2, 4}, {4, 5}}));
  CHECK_FALSE(fits({{2, 4}, {3, 5}}));
}

namespace {

// A rollout of two turns with reasoning, the first one after a call, and then a user's message.
struct TwoTurns {
  std::string text;
  Extension last;
};

TwoTurns two_turns(const std::shared_ptr<const RolloutModel>& model, Retention retention,
                   const std::string& open = "(*mull ") {
  Rollout rollout = started(model, R"([{"role": "user", "content": "Hi"}])");
  completed(rollout, open + R"(A mull*){!do f with {} do!}~fin~)");
  extended(rollout, kResult, retention);
  completed(rollout, open + "B mull*)Yo~fin~");
  const Extension last = extended(rollout, kThanks, retention);
  CHECK(last.kept == (last.cuts.empty() ? last.begin : last.cuts.front().begin));
  CHECK(rollout.message_indices().size() == rollout.ids().size());
  for (const Rollout::Turn& turn : rollout.turns()) {
    const std::string said = text_of(*model, rollout.ids().subspan(turn.begin, turn.end - turn.begin));
    CHECK(said.ends_with("~fin~"));
  }
  return {shown(rollout), last};
}

}  // namespace

TEST_CASE("retention: what of the reasoning stays, and that nothing else goes") {
  const std::string all =
      "0 [[user>>Hi~fin~ | - [[assistant>> | 1* (*mull A mull*){!do f with {} do!}~fin~ | 2 [[answer>>20~fin~ | "
      "- [[assistant>> | 3* (*mull B mull*)Yo~fin~ | 4 [[user>>Thanks~fin~ | - [[assistant>>";
  const std::string none =
      "0 [[user>>Hi~fin~ | - [[assistant>> | 1* {!do f with {} do!}~fin~ | 2 [[answer>>20~fin~ | "
      "- [[assistant>> | 3* Yo~fin~ | 4 [[user>>Thanks~fin~ | - [[assistant>>";
  for (const Retention retention : {Retention::kAll, Retention::kAllThinking}) {
    CHECK(two_turns(model_of(forgetting()), retention).text == all);
    CHECK(two_turns(model_of(forgetting()), retention).last.cuts.empty());
  }
  for (const Retention retention :
       {Retention::kTemplate, Retention::kToolCycle, Retention::kThinkingBetweenToolCalls}) {
    const TwoTurns cut = two_turns(model_of(forgetting()), retention);
    CHECK(cut.text == none);
    REQUIRE(cut.last.cuts.size() == 2);
    CHECK(cut.last.cuts[0].message == 1);
    CHECK(cut.last.cuts[1].message == 3);
  }
  CHECK(two_turns(model_of(kKeeping), Retention::kTemplate).text == all);
  CHECK(two_turns(model_of(kKeeping), Retention::kToolCycle).text == all);
  CHECK(two_turns(model_of(kKeeping), Retention::kThinkingBetweenToolCalls).text == none);
}

TEST_CASE("retention: reasoning goes within a cycle only where the template drops it there") {
  const std::string never = replaced(kKeeping, "{%- if m.reasoning_content -%}", "{%- if false -%}");
  const auto first_cuts = [](const std::string& source, Retention retention) {
    Rollout rollout = started(model_of(source), R"([{"role": "user", "content": "Hi"}])");
    completed(rollout, R"((*mull A mull*){!do f with {} do!}~fin~)");
    return extended(rollout, kResult, retention).cuts.size();
  };
  CHECK(first_cuts(never, Retention::kTemplate) == 1);
  CHECK(first_cuts(never, Retention::kToolCycle) == 0);
  CHECK(first_cuts(never, Retention::kThinkingBetweenToolCalls) == 0);
  CHECK(first_cuts(forgetting(), Retention::kTemplate) == 0);
}

TEST_CASE("retention: an empty block stays where the template writes one, and an opened one goes with its opening") {
  const std::string empty =
      replaced(forgetting(), "{%- if m.content is string -%}",
               "{%- if m.role == 'assistant' and not loop.index0 > ns.last -%}{{- '(*mull  mull*)' -}}{%- endif -%}"
               "{%- if m.content is string -%}");
  CHECK(two_turns(model_of(empty), Retention::kTemplate).text ==
        "0 [[user>>Hi~fin~ | - [[assistant>> | 1* (*mull  mull*){!do f with {} do!}~fin~ | 2 [[answer>>20~fin~ | "
        "- [[assistant>> | 3* (*mull  mull*)Yo~fin~ | 4 [[user>>Thanks~fin~ | - [[assistant>>");
  const std::string opened =
      replaced(forgetting(), "{{- '[[assistant>>' -}}{%- endif -%}\n", "{{- '[[assistant>>(*mull ' -}}{%- endif -%}\n");
  auto format = std::make_shared<format::Format>(*keeping_format());
  format->generation_prompts = {{"default", "[[assistant>>(*mull "}};
  CHECK(two_turns(model_of(opened, format), Retention::kAll, "").text ==
        "0 [[user>>Hi~fin~ | - [[assistant>>(*mull  | 1* A mull*){!do f with {} do!}~fin~ | 2 [[answer>>20~fin~ | "
        "- [[assistant>>(*mull  | 3* B mull*)Yo~fin~ | 4 [[user>>Thanks~fin~ | - [[assistant>>(*mull ");
  CHECK(two_turns(model_of(opened, format), Retention::kTemplate, "").text ==
        "0 [[user>>Hi~fin~ | - [[assistant>> | 1* {!do f with {} do!}~fin~ | 2 [[answer>>20~fin~ | "
        "- [[assistant>> | 3* Yo~fin~ | 4 [[user>>Thanks~fin~ | - [[assistant>>(*mull ");
}

TEST_CASE("names of retentions") {
  for (const Retention retention : {Retention::kAll, Retention::kTemplate, Retention::kToolCycle,
                                    Retention::kThinkingBetweenToolCalls, Retention::kAllThinking})
    CHECK(retention_of(to_string(retention)) == retention);
  CHECK(to_string(Retention::kToolCycle) == "tool_cycle");
  CHECK_FALSE(retention_of("some").has_value());
}

TEST_CASE("parts that are no text are found where the template writes them") {
  const auto model = model_of(kKeeping);
  Rollout rollout = started(model, kQuestion);
  completed(rollout, "Show me");
  const Extension next =
      extended(rollout, R"([{"role": "user", "content": "Two:"}, {"role": "user", "content": [{"type": "image"},
                   {"type": "text", "text": "and"}, {"type": "video"}]}, {"role": "user", "content": [{"type": "text", "text": ""}, {"type": "x"}]}])");
  REQUIRE(next.media.size() == 3);
  const auto spans = [&](std::size_t i) {
    const MediaSpan& span = next.media[i];
    return std::to_string(span.message) + "/" + std::to_string(span.part) + " " + span.type + " " +
           text_of(*model, rollout.ids().subspan(span.begin, span.end - span.begin));
  };
  CHECK(spans(0) == "1/0 image {image}");
  CHECK(spans(1) == "1/2 video {image}");
  CHECK(spans(2) == "2/1 x {image}");
  CHECK(text_of(*model, rollout.ids().subspan(next.begin)) ==
        "~fin~[[user>>Two:~fin~[[user>>{image}and{image}~fin~[[user>>{image}~fin~[[assistant>>");
}

namespace {

std::string lossy_of(const std::string& source, const std::string& sampled, const char* next) {
  Rollout rollout = started(model_of(source), R"([{"role": "user", "content": "Hi"}])");
  completed(rollout, sampled);
  std::string out;
  for (const LossyFinding& finding : rollout.find_lossy(messages(next))) {
    out += "message " + std::to_string(finding.message) + ", line " + std::to_string(finding.line) + ", column " +
           std::to_string(finding.column) + ", " + finding.place + ": " + finding.what + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("what the template would change in the old turns is told with its place") {
  CHECK(lossy_of(kKeeping, "(*mull Hm mull*)Yo~fin~", kThanks) == "");
  CHECK(
      lossy_of(forgetting(), "(*mull Hm mull*)Yo~fin~", kThanks) ==
      R"(message 1, line 7, column 8, messages[1].reasoning_content: the assistant's turn changes: "(*mull Hm mull*)Yo" )"
      R"(becomes "Yo~fin~[[user>>Thanks~fin~[[assistant>>"; the reasoning is gone: )"
      R"(line 7 `{%- if m.reasoning_content and loop.index0 > ns.last -%})"
      R"({{- '(*mull ' + m.reasoning_content + ' mull*)' -}}{%- endif -%}` was true, now false)"
      "\n");
  const std::string last =
      replaced(kKeeping, "{{- '[[' + m.role + '>>' -}}", "{{- '[[' + m.role + ('!' if loop.last else '') + '>>' -}}");
  CHECK(
      lossy_of(last, "Yo~fin~", kThanks) ==
      R"(message 0, line 6, column 29, template line 6: the earlier prompt changes: "!>>Hi~fin~[[assistant>>" becomes )"
      R"(">>Hi~fin~[[assistant>>Yo~fin~[[user!>>Th"; an earlier turn is written otherwise: )"
      R"(line 6 `{{- '[[' + m.role + ('!' if loop.last else '') + '>>' -}}` was true, now false)"
      "\n");
  const std::string silent = replaced(kKeeping, "{%- if m.content is string -%}",
                                      "{%- if m.role == 'assistant' -%}{%- elif m.content is string -%}");
  CHECK(lossy_of(silent, "Yo~fin~", kThanks) ==
        "message 1, line 3, column 8, messages[1].content: the template does not write the turn's content any more\n");
  const std::string without = replaced(kKeeping, "{%- if m.reasoning_content -%}", "{%- if false -%}");
  CHECK(lossy_of(without, "(*mull Hm mull*)Yo~fin~", kThanks) ==
        "message 1, line 8, column 35, messages[1].reasoning_content: the template does not write the turn's "
        "reasoning_content any more\n");
  const std::string callless = replaced(kKeeping, "m.tool_calls or []", "[]");
  CHECK(lossy_of(callless, "{!do f with {} do!}~fin~", kResult) ==
        "message 1, line 3, column 8, messages[1].tool_calls: the template does not write the turn's tool_calls any "
        "more\n");
}

TEST_CASE("a turn is rendered in a window where nothing older is looked at, and says why not where it is") {
  const auto reasons = [](const std::string& source) {
    const auto model = model_of(source);
    return model->locality().reason(Step::kUserAfterText) + " / " + model->locality().reason(Step::kResultsAfterCalls);
  };
  CHECK(reasons(kKeeping) == " / ");
  CHECK(reasons(forgetting()) == " / ");
  CHECK(reasons(numbered()) == "the template writes the new turns differently behind another history / ");
  CHECK(reasons(replaced(kKeeping, "{{- '[[assistant>>' -}}", "{{- '[[' + messages[1].content + '>>' -}}")) ==
        "the new turns contain messages[1].content / the new turns contain messages[1].content");
  CHECK(reasons(replaced(kKeeping, "{%- if add_generation_prompt -%}",
                         "{%- if add_generation_prompt and messages[1].content != 'x' -%}")) ==
        "line 17 reads messages[1] / line 17 reads messages[1]");
  CHECK(Locality().reason(Step::kUserAfterText) == "not examined");
  CHECK_FALSE(Locality().is_local(Step::kOther));

  const auto step = [](std::size_t calls, const char* next) {
    ParsedCompletion said;
    said.message.tool_calls.resize(calls);
    return step_of(said, messages(next));
  };
  CHECK(step(0, kThanks) == Step::kUserAfterText);
  CHECK(step(1, kResult) == Step::kResultsAfterCalls);
  CHECK(step(1, kThanks) == Step::kOther);
  CHECK(step(0, kResult) == Step::kOther);
  CHECK(step(2, kResult) == Step::kOther);
  CHECK(step(0, "[]") == Step::kOther);
  CHECK(step(0, R"([{"role": "user", "content": "a"}, {"role": "user", "content": "b"}])") == Step::kOther);
  CHECK(step(0, R"([{"role": "user", "content": [{"type": "text", "text": "a"}]}])") == Step::kOther);
  CHECK(step(0, R"([{"role": "user"}])") == Step::kOther);
}

TEST_CASE("a window and the whole history give the same, also where turns are numbered") {
  for (const std::string& source : {kKeeping, forgetting(), numbered()}) {
    Rollout rollout = started(model_of(source), kQuestion);
    for (int i = 0; i < 3; ++i) {
      completed(rollout, R"({!do f with {"a": 1} do!}~fin~)");
      extended(rollout, kResult);
      CHECK(is_as_rendered(rollout));
      completed(rollout, "Yo~fin~");
      extended(rollout, kThanks);
      CHECK(is_as_rendered(rollout));
    }
  }
}

// The results came in another order than the calls, and each call got the id of the other's result.
TEST_CASE("ids of parallel calls are never swapped") {
  auto parts = model_of(kKeeping)->parts();
  parts.rules.orders_results = true;
  const auto model = RolloutModel::make(std::move(parts));
  Rollout rollout = started(model, R"([{"role": "user", "content": "Hi"}])");
  completed(rollout, R"({!do f with {"a": 1} do!}{!do f with {"a": 2} do!}~fin~)");
  const auto next = rollout.extend(messages(R"([{"role": "tool", "tool_call_id": "call_1", "content": "two"},
                                               {"role": "tool", "tool_call_id": "call_0", "content": "one"}])"));
  REQUIRE(next.ok());
  CHECK(text_of(*model, rollout.ids()).ends_with("[[answer>>one~fin~[[answer>>two~fin~[[assistant>>"));
  CHECK(next.value().shaped.size() == 2);
  const json::Array& calls = rollout.messages()[1].find("tool_calls")->as_array();
  CHECK(calls[0].find_string("id") == "call_0");
  CHECK(calls[1].find_string("id") == "call_1");
  CHECK(rollout.messages()[2].find_string("tool_call_id") == "call_0");
}

}  // namespace rondo::render
