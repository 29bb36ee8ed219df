#include "render/raw_turns.h"

#include <doctest/doctest.h>

#include "json/parse.h"
#include "render/rollout.h"
#include "tests/support/byte_tokenizer.h"

namespace rondo::render {
namespace {

using tokenizer::TokenId;

// A template that keeps nothing as sampled: it trims content, rewrites arguments, and drops reasoning from history.
const char* const kRewriting =
    "{% for m in messages %}~turn~{{ m.role }}\n"
    "{% if m.role == 'assistant' %}"
    "{% if m.reasoning and loop.last %}~muse~{{ m.reasoning }}~mused~{% endif %}"
    "{{ (m.content or '') | trim }}"
    "{% for c in m.tool_calls or [] %}~call~{{ c.function.name }} {{ c.function.arguments | tojson }}~called~{% endfor "
    "%}"
    "{% else %}{{ m.content }}{% endif %}~end~\n{% endfor %}"
    "{% if add_generation_prompt %}~turn~assistant\n{% endif %}";

std::shared_ptr<const format::Format> test_format() {
  auto format = std::make_shared<format::Format>();
  format->header = "~turn~assistant\n";
  format->generation_prompts = {{"default", "~turn~assistant\n"}};
  format->input.reasoning_field = "reasoning";
  format->reasoning = {true, "~muse~", "~mused~", false};
  format->calls.present = true;
  using Kind = format::CallPiece::Kind;
  format->calls.call_open = "~call~";
  format->calls.call_close = "~called~";
  format->calls.pieces = {{Kind::kName, ""}, {Kind::kLiteral, " "}, {Kind::kArguments, ""}};
  format->stops.content = {"~end~"};
  format->stops.tool = {"~end~"};
  return format;
}

struct RawTurns {
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer =
      test::byte_tokenizer({"~turn~", "~end~", "~muse~", "~mused~", "~call~", "~called~"}, "~end~");
  std::shared_ptr<const jinja::Template> chat_template = jinja::Template::compile(kRewriting, {}, "test").value();
  chat::Conversation conversation;
  tmpl::ApplyOptions options;
  std::vector<std::string> notes;  // of kept()

  [[nodiscard]] std::vector<TokenId> ids(std::string_view text) const { return tokenizer->encode_ids(text, {}); }
  [[nodiscard]] std::string text(std::span<const TokenId> ids) const { return tokenizer->decode(ids, {}).value(); }

  static json::Value raw_message(std::string_view content, const std::vector<TokenId>& sampled) {
    json::Array raw;
    for (const TokenId id : sampled) raw.emplace_back(static_cast<std::int64_t>(id));
    return json::Object{{"role", "assistant"}, {"content", content}, {"raw_ids", std::move(raw)}};
  }
  void add(std::string_view messages) {
    const json::Value parsed = json::parse(messages).value();
    for (const json::Value& message : parsed.as_array()) conversation.messages.push_back(message);
  }

  [[nodiscard]] Result<Encoded> tried() {
    auto turns = take_raw_turns(conversation.messages);
    if (!turns.ok()) return turns.error();
    const TurnContext context{*chat_template, *tokenizer, conversation, options};
    const TurnProfile profile = probe_turns(context);
    const CompletionReader reader(test_format(), *tokenizer, conversation.tools);
    return encode_raw(context, {profile, reader}, turns.value(), ContentSpecials::kText);
  }
  // The prompt with the reasoning that the policy keeps.
  [[nodiscard]] Encoded kept(Retention retention) {
    drop_reasoning(conversation.messages, retention, "reasoning");
    const TurnContext context{*chat_template, *tokenizer, conversation, options};
    auto turns = kept_turns(context, *test_format(), retention);
    REQUIRE(turns.ok());
    notes = turns.value().notes;
    if (turns.value().turns.empty()) return encode(*chat_template, *tokenizer, conversation, options, {}).value();
    const TurnProfile profile = probe_turns(context);
    const CompletionReader reader(test_format(), *tokenizer, conversation.tools);
    auto out = encode_raw(context, {profile, reader}, turns.value().turns, ContentSpecials::kText);
    if (!out.ok()) FAIL(out.error().to_string());
    check_shape(out.value());
    return std::move(out).value();
  }
  [[nodiscard]] Encoded encoded() {
    auto out = tried();
    if (!out.ok()) FAIL(out.error().to_string());
    check_shape(out.value());
    return out.value();
  }

  // One entry per id, and offsets that cover the text.
  static void check_shape(const Encoded& encoded) {
    const std::size_t size = encoded.ids.size();
    CHECK(encoded.begins.size() == size);
    CHECK(encoded.ends.size() == size);
    CHECK(encoded.message_indices.size() == size);
    CHECK(encoded.content_mask.size() == size);
    CHECK(encoded.straddles.size() == size);
    CHECK(encoded.sampled_mask.size() == size);
    CHECK(encoded.samplers.size() == size);
    CHECK(encoded.generation_mask.size() == size);
    CHECK(encoded.origins.size() == size);
    std::uint32_t at = 0;
    for (std::size_t i = 0; i < size; ++i) {
      CHECK(encoded.begins[i] == at);
      at = encoded.ends[i];
    }
    CHECK(at == encoded.text.size());
  }

  // The text of the ids that belong to a message.
  [[nodiscard]] std::string message_text(const Encoded& encoded, std::int32_t message) const {
    std::string out;
    for (std::size_t i = 0; i < encoded.ids.size(); ++i) {
      if (encoded.message_indices[i] == message) out += text(std::span(encoded.ids).subspan(i, 1));
    }
    return out;
  }

  // The text of the ids for which `mask` is 1, `|` between two parts.
  [[nodiscard]] std::string masked(const Encoded& encoded, const std::vector<std::uint8_t>& mask) const {
    std::string out;
    for (std::size_t i = 0; i < mask.size(); ++i) {
      if (mask[i] == 0) continue;
      if (i > 0 && mask[i - 1] == 0 && !out.empty()) out += "|";
      out += text(std::span(encoded.ids).subspan(i, 1));
    }
    return out;
  }
};

TEST_CASE_FIXTURE(RawTurns, "004:144-149: a raw turn stands as it was sampled, what follows as a bridge appends it") {
  const std::string sampled = "~muse~hm~mused~ Let me see. ~call~look {\"at\":1}~called~~end~";
  add(R"([{"role": "user", "content": "Go"}])");
  json::Value message = raw_message("Let me see.", ids(sampled));
  message.as_object().set(
      "tool_calls", json::parse(R"([{"id": "c", "function": {"name": "look", "arguments": "{\"at\": 1}"}}])").value());
  conversation.messages.push_back(message);
  add(R"([{"role": "tool", "content": "nothing"}])");
  conversation.add_generation_prompt = true;
  const Encoded out = encoded();
  const std::string begin = "~turn~user\nGo~end~\n~turn~assistant\n";
  CHECK(out.text == begin + sampled + "\n~turn~tool\nnothing~end~\n~turn~assistant\n");
  CHECK(text(out.ids) == out.text);
  CHECK(masked(out, out.sampled_mask) == sampled);
  CHECK(masked(out, out.content_mask) == "Go|hm| Let me see. |look|{\"at\":1}|nothing");
  CHECK(out.notes.empty());
  CHECK(message_text(out, 1) == "~turn~assistant\n" + sampled + "\n");
  const auto field = std::ranges::find(out.fields, "messages[1].raw_ids", &FieldSpan::path);
  REQUIRE(field != out.fields.end());
  CHECK(field->ids == IdSpan{begin.size() - 14, begin.size() - 14 + ids(sampled).size()});
}

TEST_CASE_FIXTURE(RawTurns, "every later raw turn continues the prompt of the one before") {
  add(R"([{"role": "user", "content": "a"}])");
  conversation.messages.push_back(raw_message("one", ids(" one ~end~")));
  add(R"([{"role": "user", "content": "b"}])");
  const Encoded first = [&] {
    const json::Array messages = conversation.messages;
    conversation.add_generation_prompt = true;
    Encoded out = encoded();
    conversation.messages = messages;
    return out;
  }();
  conversation.messages.push_back(raw_message("two", ids("two ")));
  add(R"([{"role": "user", "content": "c"}])");
  const Encoded second = encoded();
  std::vector<TokenId> continued = first.ids;
  for (const TokenId id : ids("two ")) continued.push_back(id);
  REQUIRE(second.ids.size() > continued.size());
  CHECK(std::equal(continued.begin(), continued.end(), second.ids.begin()));
  CHECK(second.text.ends_with("two ~end~\n~turn~user\nc~end~\n~turn~assistant\n"));
  REQUIRE(second.notes.size() == 1);
  CHECK(second.notes[0] == "messages[3]: the completion has no stop token; \"~end~\" was added");
  CHECK(masked(second, second.sampled_mask) == " one ~end~|two ");
}

TEST_CASE_FIXTURE(RawTurns, "turns without a completion of their own are written by the template") {
  add(R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": " first "}, {"role": "user", "content": "b"}])");
  conversation.messages.push_back(raw_message("two", ids(" two ~end~")));
  add(R"([{"role": "user", "content": "c"}, {"role": "assistant", "content": " three "}, {"role": "user", "content": "d"}])");
  const Encoded out = encoded();
  CHECK(out.text ==
        "~turn~user\na~end~\n~turn~assistant\nfirst~end~\n~turn~user\nb~end~\n~turn~assistant\n two ~end~\n"
        "~turn~user\nc~end~\n~turn~assistant\nthree~end~\n~turn~user\nd~end~\n");
  CHECK(masked(out, out.sampled_mask) == "first~end~| two ~end~|three~end~");
}

TEST_CASE_FIXTURE(RawTurns, "raw text is read with its control tokens") {
  add(R"([{"role": "user", "content": "~end~"}, {"role": "assistant", "content": "ok", "raw": " ok~end~"}])");
  const Encoded out = encoded();
  CHECK(out.ids.back() == ids("~end~").front());
  CHECK(std::ranges::count(out.ids, ids("~end~").front()) == 2);  // the user's text is only text
  CHECK(masked(out, out.sampled_mask) == " ok~end~");
}

TEST_CASE_FIXTURE(RawTurns, "the last raw turn is left as it was sampled") {
  add(R"([{"role": "user", "content": "a"}])");
  conversation.messages.push_back(raw_message("b", ids("b")));
  CHECK(encoded().text == "~turn~user\na~end~\n~turn~assistant\nb");
}

TEST_CASE_FIXTURE(RawTurns, "a message that says something else than its completion is noted") {
  add(R"([{"role": "user", "content": "a"}])");
  conversation.messages.push_back(raw_message("edited", ids("sampled~end~")));
  const Encoded out = encoded();
  CHECK(out.text.ends_with("sampled~end~"));
  REQUIRE(out.notes.size() == 1);
  CHECK(out.notes[0] == "messages[1].content is not what the turn's completion says; the completion stands");
}

const char* const kThoughtful = R"([{"role": "user", "content": "a"},
  {"role": "assistant", "content": "one", "reasoning": "A"}, {"role": "user", "content": "b"},
  {"role": "assistant", "content": "", "reasoning": "B", "tool_calls": [{"id": "c", "function": {"name": "look",
    "arguments": {"at": "~end~"}}}]}, {"role": "tool", "content": "nothing"}])";

TEST_CASE_FIXTURE(RawTurns, "results behind a raw turn stand where a rollout puts them, whose calls have no ids") {
  const std::string call = "~call~look {}~called~";
  const json::Value calls = json::parse(R"([{"id": "a", "function": {"name": "look", "arguments": "{}"}},
    {"id": "b", "function": {"name": "look", "arguments": "{}"}}])")
                                .value();
  const auto answered = [&](const std::vector<const char*>& results) {
    conversation.messages.clear();
    add(R"([{"role": "user", "content": "Go"}])");
    json::Value message = raw_message("", ids(call + call + "~end~"));
    message.as_object().set("tool_calls", calls);
    conversation.messages.push_back(message);
    for (const char* id : results)
      conversation.messages.push_back(json::Object{{"role", "tool"}, {"content", id}, {"tool_call_id", id}});
    return encoded();
  };
  const auto behind = [&](const Encoded& out) { return out.text.substr(out.text.find("~turn~tool")); };
  CHECK(behind(answered({"a", "b"})) == "~turn~tool\na~end~\n~turn~tool\nb~end~\n");
  CHECK(behind(answered({"b", "a"})) == "~turn~tool\nb~end~\n~turn~tool\na~end~\n");
}

TEST_CASE_FIXTURE(RawTurns, "004:317: reasoning that the template drops stays in the prompt of messages") {
  add(kThoughtful);
  conversation.add_generation_prompt = true;
  const Encoded out = kept(Retention::kAllThinking);
  const std::string call = "~muse~B~mused~~call~look {\"at\": \"~end~\"}~called~~end~";
  CHECK(out.text ==
        "~turn~user\na~end~\n~turn~assistant\n~muse~A~mused~one~end~\n~turn~user\nb~end~\n"
        "~turn~assistant\n" +
            call + "\n~turn~tool\nnothing~end~\n~turn~assistant\n");
  CHECK(text(out.ids) == out.text);
  CHECK(masked(out, out.sampled_mask) == "~muse~A~mused~one~end~|" + call);
  CHECK(masked(out, out.content_mask) == "a|A|one|b|B|look|{\"at\": \"~end~\"}|nothing");
  CHECK(std::ranges::count(out.ids, ids("~end~").front()) == 5);  // the text in the arguments is only text
  CHECK(message_text(out, 1) == "~turn~assistant\n~muse~A~mused~one~end~\n");
  CHECK(std::ranges::find(out.fields, "messages[1].reasoning", &FieldSpan::path) != out.fields.end());
  CHECK(notes.empty());
}

TEST_CASE_FIXTURE(RawTurns, "bug: kept reasoning stood behind an empty block of the generation prompt") {
  std::string source = kRewriting;
  source.replace(source.rfind("{% endif %}"), 0, "~muse~\n\n~mused~\n\n");
  const std::string shown = "~muse~{{ m.reasoning }}~mused~";
  source.replace(source.find(shown), shown.size(), "~muse~\n{{ m.reasoning }}\n~mused~\n\n");
  chat_template = jinja::Template::compile(source, {}, "test").value();
  add(kThoughtful);
  conversation.add_generation_prompt = true;
  const Encoded out = kept(Retention::kAllThinking);
  const std::string call = "~call~look {\"at\": \"~end~\"}~called~~end~";
  CHECK(out.text ==
        "~turn~user\na~end~\n~turn~assistant\n~muse~\nA\n~mused~\n\none~end~\n~turn~user\nb~end~\n"
        "~turn~assistant\n~muse~\nB\n~mused~\n\n" +
            call + "\n~turn~tool\nnothing~end~\n~turn~assistant\n~muse~\n\n~mused~\n\n");
  CHECK(text(out.ids) == out.text);
  CHECK(masked(out, out.sampled_mask) == "A\n~mused~\n\none~end~|B\n~mused~\n\n" + call);
  CHECK(masked(out, out.content_mask) == "a|A|one|b|B|look|{\"at\": \"~end~\"}|nothing");
  CHECK(message_text(out, 1) == "~turn~assistant\n~muse~\nA\n~mused~\n\none~end~\n");
  CHECK(message_text(out, 3) == "~turn~assistant\n~muse~\nB\n~mused~\n\n" + call + "\n");
}

TEST_CASE_FIXTURE(RawTurns, "a prompt of messages that keeps all reasoning is the prompt of their rollout") {
  add(kThoughtful);
  conversation.add_generation_prompt = true;
  const Encoded out = kept(Retention::kAll);
  chat::Conversation base = conversation;
  base.messages.clear();
  const auto model = RolloutModel::make({.chat_template = chat_template,
                                         .tokenizer = tokenizer,
                                         .format = test_format(),
                                         .base = base,
                                         .apply = options,
                                         .prove_locality = false});
  const json::Array& all = conversation.messages;
  auto rollout = Rollout::start(model, {all[0]});
  REQUIRE(rollout.ok());
  REQUIRE(rollout.value().complete(ids("~muse~A~mused~one~end~")).ok());
  REQUIRE(rollout.value().extend({all[2]}).ok());
  std::vector<TokenId> sampled = ids("~muse~B~mused~~call~look {\"at\": \"");
  for (const char byte : std::string("~end~")) sampled.push_back(ids(std::string(1, byte)).front());
  for (const TokenId id : ids("\"}~called~~end~")) sampled.push_back(id);
  REQUIRE(rollout.value().complete(sampled).ok());
  REQUIRE(rollout.value().extend({all[4]}).ok());
  CHECK(std::ranges::equal(out.ids, rollout.value().ids()));
  CHECK(out.sampled_mask == rollout.value().sampled_mask());
}

TEST_CASE_FIXTURE(RawTurns, "what of earlier reasoning stays is the policy's to say") {
  const auto reasoning = [&](Retention retention) {
    conversation.messages.clear();
    add(kThoughtful);
    const std::string& text = kept(retention).text;
    return std::string(text.find("~muse~A") != std::string::npos ? "A" : "") +
           (text.find("~muse~B") != std::string::npos ? "B" : "");
  };
  CHECK(reasoning(Retention::kTemplate).empty());
  CHECK(reasoning(Retention::kAllThinking) == "AB");
  CHECK(reasoning(Retention::kThinkingBetweenToolCalls) == "B");
  CHECK(reasoning(Retention::kToolCycle) == "B");
  // A template that would keep all of it.
  chat_template =
      jinja::Template::compile(
          "{% for m in messages %}~turn~{{ m.role }}\n{% if m.reasoning %}~muse~{{ m.reasoning }}~mused~{% endif %}"
          "{{ m.content }}~end~\n{% endfor %}{% if add_generation_prompt %}~turn~assistant\n{% endif %}",
          {}, "test")
          .value();
  CHECK(reasoning(Retention::kTemplate) == "AB");
  CHECK(reasoning(Retention::kThinkingBetweenToolCalls) == "B");
  // A template that never shows any.
  chat_template = jinja::Template::compile(
                      "{% for m in messages %}~turn~{{ m.role }}\n{{ m.content }}~end~\n{% endfor %}", {}, "test")
                      .value();
  CHECK(reasoning(Retention::kAllThinking).empty());
  CHECK(notes == std::vector<std::string>{"messages[1]: the template never writes its reasoning",
                                          "messages[3]: the template never writes its reasoning"});
}

TEST_CASE_FIXTURE(RawTurns, "raw turns that are none are refused with their place") {
  const auto refusal = [&](std::string_view messages) {
    conversation.messages.clear();
    add(messages);
    const auto out = tried();
    return out.ok() ? "" : out.error().message;
  };
  CHECK(refusal(R"([{"role": "assistant", "raw": 3}])") == "messages[0].raw must be a text, found an integer");
  CHECK(refusal(R"([{"role": "assistant", "raw_ids": "x"}])") ==
        "messages[0].raw_ids must be an array of token ids, found a string");
  CHECK(refusal(R"([{"role": "assistant", "raw_ids": [1, -2]}])") == "messages[0].raw_ids[1] is no token id");
  CHECK(refusal(R"([{"role": "user", "content": "a"}, {"role": "assistant", "raw_ids": [100000]}])")
            .find("out of range") != std::string::npos);
  conversation.continue_final_message = "content";
  CHECK(refusal(R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "", "raw": "x"},
                    {"role": "user", "content": "b"}])") ==
        "a conversation with raw turns can be continued only where its last message is one of them");
  CHECK(refusal(R"([{"role": "user", "content": "a"}, {"role": "assistant", "content": "", "raw": "x"}])").empty());
}

}  // namespace
}  // namespace rondo::render
