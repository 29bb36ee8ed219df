// The published table of which chat templates survive parse and re-render: five models, twelve rows.  Each row is played
// through the template as a client would (messages, rendered again) and as a bridge (ids, appended to).  The re-render gives
// the table's result in every row; the bridge keeps every id in all of them.
//
// The templates are those of the larger corpus under the same names; GLM-5.1's and Qwen3.6's are the models' own,
// DeepSeek V4's is the Jinja form of its encoder.  The small corpus has two of the five; kin of the other three and invented
// templates that behave as they do stand in for them, with results of their own that were read off their sources.
#include <doctest/doctest.h>

#include <algorithm>

#include "analysis/analyse.h"
#include "json/parse.h"
#include "render/bridge.h"
#include "render/join.h"
#include "tests/support/corpus_models.h"
#include "tests/support/corpus_templates.h"

namespace rondo {
namespace {

using tokenizer::TokenId;

struct Model {
  std::shared_ptr<const jinja::Template> chat_template;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  chat::Conversation base;
  tmpl::ApplyOptions options;
  std::shared_ptr<const format::Format> format;

  [[nodiscard]] render::TurnContext context() const { return {*chat_template, *tokenizer, base, options}; }
};

json::Value parse(const std::string& text) {
  auto parsed = json::parse(text);
  REQUIRE_MESSAGE(parsed.ok(), parsed.error().to_string());
  return std::move(parsed).value();
}

const char* const kTools =
    R"([{"type": "function", "function": {"name": "get_weather", "description": "d", "parameters":
  {"type": "object", "properties": {"location": {"type": "string", "description": "d"},
   "detailed": {"type": "boolean", "description": "d"}, "days": {"type": "integer", "description": "d"}},
   "required": ["location"]}}}])";

std::optional<Model> load(const test::Corpus& corpus, const std::string& id, const std::string& kwargs) {
  const test::CorpusRow* found = corpus.find(id);
  const auto loaded = found == nullptr ? std::nullopt : test::load_model(*found);
  if (!loaded) return std::nullopt;
  Model out;
  out.tokenizer = loaded->tokenizer;
  out.chat_template = loaded->chat_template;
  out.base.bos_token = found->bos_token;
  out.base.eos_token = found->eos_token;
  out.base.tools = parse(kTools);
  out.base.kwargs = parse(kwargs).as_object();
  out.options.now = test::kClock;
  analysis::Options analyse = test::analysis_options(*found);
  analyse.kwargs = out.base.kwargs;
  analyse.tokenizer = out.tokenizer.get();
  out.format = analysis::analyse(*out.chat_template, analyse).value();
  return out;
}

// A turn as it was sampled, and as the client has it in its messages.
struct Played {
  bool same_text = false;    // the re-render begins with prompt and sampled text
  bool same_tokens = false;  // ... with their tokens
  bool bridged = false;      // the bridge begins with their tokens, and ends as the template ends
  std::string appended;
};

std::vector<TokenId> ids_of(const Model& model, const jinja::Rendered& rendered) {
  std::vector<TokenId> ids;
  for (const auto& piece :
       render::encode_range(model.context(), rendered, 0, rendered.text.size(), render::ContentSpecials::kText))
    ids.push_back(piece.id);
  return ids;
}

std::vector<TokenId> ids_behind(const Model& model, const std::vector<TokenId>& prompt, const std::string& sampled) {
  std::vector<TokenId> ids;
  for (const auto& piece : render::encode_behind(*model.tokenizer, prompt, sampled, nullptr)) ids.push_back(piece.id);
  return ids;
}

bool begins_with(std::span<const TokenId> ids, std::span<const TokenId> first, std::span<const TokenId> second) {
  return ids.size() >= first.size() + second.size() && std::equal(first.begin(), first.end(), ids.begin()) &&
         std::equal(second.begin(), second.end(), ids.begin() + static_cast<std::ptrdiff_t>(first.size()));
}

Played play(const Model& model, const json::Array& history, const std::string& sampled, const json::Value& kept,
            const json::Array& following) {
  const render::TurnContext context = model.context();
  const auto prompt = render::render_messages(context, history, true);
  REQUIRE(prompt.ok());
  const std::vector<TokenId> prompt_ids = ids_of(model, prompt.value());
  const std::vector<TokenId> completion_ids = ids_behind(model, prompt_ids, sampled);
  json::Array all = history;
  all.push_back(kept);
  all.insert(all.end(), following.begin(), following.end());
  const auto again = render::render_messages(context, all, true);
  REQUIRE_MESSAGE(again.ok(), again.error().to_string());
  Played out;
  out.same_text = again.value().text.bytes().starts_with(prompt.value().text.bytes() + sampled);
  out.same_tokens = begins_with(ids_of(model, again.value()), prompt_ids, completion_ids);

  const render::TurnProfile profile = render::probe_turns(context);
  const auto said =
      render::interpret(model.format, *model.tokenizer, profile, model.base.tools, prompt_ids, completion_ids);
  REQUIRE(said.ok());
  render::BridgeRequest request;
  request.prompt_ids = prompt_ids;
  request.completion_ids = completion_ids;
  request.completion = &said.value();
  request.messages = history;
  request.new_messages = following;
  const auto bridged = render::bridge(context, profile, request);
  REQUIRE_MESSAGE(bridged.ok(), bridged.error().to_string());
  const std::string& text = bridged.value().appended_text;
  out.appended = text;
  out.bridged = begins_with(bridged.value().ids, prompt_ids, completion_ids) &&
                again.value().text.bytes().ends_with(text.substr(text.size() - std::min<std::size_t>(text.size(), 20)));
  if (out.same_tokens) CHECK(bridged.value().ids == ids_of(model, again.value()));
  return out;
}

// What the model would have written for `message`, by the template itself.
std::string canonical(const Model& model, const json::Array& history, const json::Value& message) {
  const render::TurnContext context = model.context();
  json::Array all = history;
  all.push_back(message);
  const auto prompt = render::render_messages(context, history, true);
  const auto form = render::render_messages(context, all, false);
  REQUIRE(prompt.ok());
  REQUIRE_MESSAGE(form.ok(), form.error().to_string());
  const auto extents = render::sampled_extents(context, form.value(), all);
  REQUIRE_FALSE(extents.empty());
  const std::string& text = form.value().text.bytes();
  const std::size_t begin =
      text.starts_with(prompt.value().text.bytes()) ? prompt.value().text.size() : extents.back().begin;
  return text.substr(begin, extents.back().end - begin);
}

json::Value call_message(const std::string& reasoning, const std::string& arguments, const std::string& content = "") {
  return parse(R"({"role": "assistant", "content": ")" + content + R"(", "reasoning_content": ")" + reasoning +
               R"(", "tool_calls": [{"id": "functions.get_weather:0", "type": "function", "function":
               {"name": "get_weather", "arguments": )" +
               arguments + "}}]}");
}

const char* const kDict = R"({"location": "Beijing"})";
const char* const kText = R"("{\"location\": \"Beijing\"}")";

json::Array user(const char* text) { return {json::Object{{"role", "user"}, {"content", text}}}; }
json::Array result() {
  return {json::Object{
      {"role", "tool"}, {"tool_call_id", "functions.get_weather:0"}, {"name", "get_weather"}, {"content", "sunny"}}};
}

struct Row {
  const char* model;
  const char* scenario;
  const char* kwargs;
  json::Value kept;       // the client's message
  json::Value canonical;  // the message whose canonical form was sampled
  const char* from = "";  // replaced in it by
  const char* to = "";    // this: what models write and templates do not
  json::Array following;
  bool text = false;  // the table's results
  bool tokens = false;
};

std::vector<Row> table() {
  const json::Value call = call_message("need it", kDict);
  const json::Value many = call_message("need it", R"({"location": "Beijing", "detailed": true, "days": 3})");
  const json::Value answer =
      parse(R"({"role": "assistant", "content": "It is sunny.", "reasoning_content": "I know"})");
  const json::Value thoughtful = call_message("need it", kDict, "Let me look.");
  json::Value as_text = call_message("need it", kText);
  return {
      {"qwen3.6", "tool call + reasoning", "{}", call, call, "", "", result(), true, true},
      {"qwen3.6", "multi-param tool call", "{}", many, many, "", "", result(), true, true},
      {"qwen3.6", "reasoning dropped (default)", "{}", answer, answer, "", "", user("And now?"), false, false},
      {"qwen3.6", "reasoning preserved", R"({"preserve_thinking": true})", answer, answer, "", "", user("And now?"),
       true, true},
      {"glm5.1", "tool call + reasoning", "{}", thoughtful, thoughtful, "</think>", "</think>\n", result(), false,
       false},
      {"glm5.1", "reasoning dropped", "{}", answer, answer, "</think>", "</think>\n", user("And now?"), false, false},
      {"kimi-k2.6", "tool call + reasoning", "{}", call, call, "", "", result(), true, true},
      {"kimi-k2.6", "reasoning dropped: the suffix keeps tool turns", "{}", many, many, "", "", result(), true, true},
      {"deepseek-v4", "tool call + reasoning", R"({"thinking": true})", call, call, "", "", result(), true, true},
      {"deepseek-v4", "forced drop_thinking", R"({"thinking": true, "drop_thinking": true})", call, call, "", "",
       result(), true, true},
      {"gpt-oss", "tool call (string args)", "{}", as_text, call, "", "", result(), false, false},
      {"gpt-oss", "tool call (dict args)", "{}", call, call, "", "", result(), true, true},
  };
}

// Rows like those of the table, of templates that the small corpus has.
std::vector<Row> stand_ins() {
  const json::Value call = call_message("need it", kDict);
  const json::Value many = call_message("need it", R"({"location": "Beijing", "detailed": true, "days": 3})");
  const json::Value answer =
      parse(R"({"role": "assistant", "content": "It is sunny.", "reasoning_content": "I know"})");
  const json::Value thoughtful = call_message("need it", kDict, "Let me look.");
  json::Value as_text = call_message("need it", kText);
  return {
      {"qwen3.5", "tool call + reasoning", "{}", call, call, "", "", result(), true, true},
      {"qwen3.5", "reasoning dropped (default)", "{}", answer, answer, "", "", user("And now?"), false, false},
      {"glm4.7", "tool call + reasoning", "{}", thoughtful, thoughtful, "</think>", "</think>\n", result(), false,
       false},
      {"glm4.7", "reasoning dropped", "{}", answer, answer, "</think>", "</think>\n", user("And now?"), false, false},
      {"kimi-k2-thinking", "tool call + reasoning", "{}", call, call, "", "", result(), true, true},
      {"own-forgetful", "tool call + reasoning", "{}", call, call, "", "", result(), true, true},
      {"own-forgetful", "multi-param tool call", "{}", many, many, "", "", result(), true, true},
      {"own-forgetful", "reasoning dropped (default)", "{}", answer, answer, "", "", user("And now?"), false, false},
      {"own-forgetful", "reasoning preserved", R"({"keep_thoughts": true})", answer, answer, "", "", user("And now?"),
       true, true},
      {"own-stripping", "tool call + reasoning", "{}", thoughtful, thoughtful, "</mull>", "</mull>\n", result(), false,
       false},
      {"own-stripping", "reasoning stays", "{}", answer, answer, "", "", user("And now?"), true, true},
      {"own-numbered", "tool call + reasoning", "{}", call, call, "", "", result(), true, true},
      {"own-numbered", "reasoning emptied", "{}", answer, answer, "</inner>", "I know</inner>", user("And now?"), false,
       false},
      {"own-respelling", "tool call (string args)", "{}", as_text, call, "", "", result(), false, false},
      {"own-respelling", "tool call (dict args)", "{}", call, call, "", "", result(), true, true},
  };
}

// Whether the row's model is there, and then its results are checked.
bool check_row(const test::Corpus& corpus, const Row& row) {
  CAPTURE(std::string(row.model));
  CAPTURE(std::string(row.scenario));
  const auto model = load(corpus, row.model, row.kwargs);
  if (!model) return false;
  std::string sampled = canonical(*model, user("Weather?"), row.canonical);
  if (*row.from != '\0') {
    const std::size_t at = sampled.find(row.from);
    REQUIRE(at != std::string::npos);
    sampled.replace(at, std::string(row.from).size(), row.to);
  }
  const Played played = play(*model, user("Weather?"), sampled, row.kept, row.following);
  CAPTURE(sampled);
  CHECK(played.same_text == row.text);
  CHECK(played.same_tokens == row.tokens);
  CHECK_MESSAGE(played.bridged, played.appended);
  return true;
}

TEST_CASE("000:18-19, 000:27-31, 000:138-151: the table: re-render as published, bridge in all twelve rows") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  const auto check = [&corpus](const Row& row) { return check_row(*corpus, row); };
  const std::vector<Row> published = table();
  const std::vector<Row> others = stand_ins();
  CHECK(std::ranges::count_if(published, check) == (test::is_small_corpus() ? 4 : 12));
  CHECK(std::ranges::count_if(others, check) == (test::is_small_corpus() ? 15 : 5));
}

// The models that the groups below are played with; nothing if the corpus is not there.
std::vector<std::pair<std::string, Model>> all_models() {
  std::vector<std::pair<std::string, Model>> out;
  const auto corpus = test::Corpus::open_with_models();
  if (!corpus) return out;
  for (const std::string id : {"qwen3.6", "glm5.1", "kimi-k2.6", "deepseek-v4", "gpt-oss", "qwen3.5", "glm4.7",
                               "own-forgetful", "own-stripping", "own-numbered", "own-respelling"}) {
    const std::string kwargs = id == "deepseek-v4" ? R"({"thinking": true})" : "{}";
    if (auto model = load(*corpus, id, kwargs)) out.emplace_back(id, *std::move(model));
  }
  REQUIRE(out.size() >= 5);
  return out;
}

// The first of these that is there; one of them is.
Model one_model(const test::Corpus& corpus, std::initializer_list<const char*> ids) {
  std::optional<Model> out;
  for (const char* id : ids) {
    if (!out) out = load(corpus, id, "{}");
  }
  REQUIRE(out);
  return *std::move(out);
}

TEST_CASE("thinking that was cut off: the bridge closes it, and the ids stay") {
  for (const auto& [name, model] : all_models()) {
    CAPTURE(name);
    const json::Value whole = call_message("need it for sure", kDict);
    const std::string canonical_text = canonical(model, user("Weather?"), whole);
    const std::string sampled = canonical_text.substr(0, canonical_text.find(" for sure"));
    const json::Value kept = parse(R"({"role": "assistant", "content": "", "reasoning_content": "need it"})");
    const Played played = play(model, user("Weather?"), sampled, kept, user("Go on"));
    CHECK_MESSAGE(played.bridged, played.appended);
    // What closes reasoning in the canonical turn stands in the appended text before the user's.
    const std::string close = model.format->reasoning.close;
    const std::size_t first = close.find_first_not_of(" \n");
    REQUIRE(first != std::string::npos);
    const std::string core = close.substr(first, close.find_last_not_of(" \n") + 1 - first);
    CHECK_MESSAGE(played.appended.find(core) < played.appended.find("Go on"), played.appended);
  }
}

TEST_CASE("a call that cannot be parsed: the turn stays as it was sampled") {
  for (const auto& [name, model] : all_models()) {
    CAPTURE(name);
    const std::string whole = canonical(model, user("Weather?"), call_message("need it", kDict));
    const std::string sampled = whole.substr(0, whole.rfind("Beijing") + 3);
    // The engine gives such text back as content, and the client's next request has no call.
    const json::Value kept = json::Object{{"role", "assistant"}, {"content", "get_weather Bei"}};
    const Played played = play(model, user("Weather?"), sampled, kept, user("Go on"));
    CHECK_FALSE(played.same_text);
    CHECK_MESSAGE(played.bridged, played.appended);
  }
}

TEST_CASE("white space that templates do not keep") {
  const auto corpus = test::Corpus::open_with_models();
  if (!corpus) return;
  const auto glm = one_model(*corpus, {"glm5.1", "glm4.7"});
  const auto qwen = one_model(*corpus, {"qwen3.6", "qwen3.5"});
  // Behind the reasoning.
  const json::Value answer = parse(R"({"role": "assistant", "content": "It is sunny.", "reasoning_content": "I know",
    "tool_calls": [{"id": "x", "type": "function", "function": {"name": "get_weather", "arguments": {"location": "Oslo"}}}]})");
  std::string sampled = canonical(glm, user("Weather?"), answer);
  sampled.replace(sampled.find("</think>"), 8, "</think>\n\n");
  Played played = play(glm, user("Weather?"), sampled, answer, result());
  CHECK_FALSE(played.same_text);
  CHECK(played.bridged);
  // At the end of the reasoning, which parsers strip.
  sampled = canonical(qwen, user("Weather?"), answer);
  sampled.replace(sampled.find("I know"), 6, "I know \n\n");
  played = play(qwen, user("Weather?"), sampled, answer, result());
  CHECK_FALSE(played.same_text);
  CHECK(played.bridged);
  // Before a call.
  sampled = canonical(qwen, user("Weather?"), answer);
  sampled.replace(sampled.find("\n\n<tool_call>"), 2, "\n");
  played = play(qwen, user("Weather?"), sampled, answer, result());
  CHECK_FALSE(played.same_text);
  CHECK(played.bridged);
  // In a value.
  const json::Value code = call_message("need it", R"({"location": "a\\n\\nb"})");
  sampled = canonical(qwen, user("Weather?"), code);
  played = play(qwen, user("Weather?"), sampled, code, result());
  CHECK(played.bridged);
}

TEST_CASE("000:194-196: ids of calls, and results out of order or missing") {
  const auto corpus = test::Corpus::open_with_models();
  if (!corpus) return;
  const auto kimi = one_model(*corpus, {"kimi-k2.6", "own-numbered"});
  const json::Value sampled_call = call_message("need it", kDict);
  json::Value kept = sampled_call;
  kept.as_object().find("tool_calls")->as_array()[0].as_object().set("id", "call_8f3a91");
  const std::string sampled = canonical(kimi, user("Weather?"), sampled_call);
  const Played played = play(kimi, user("Weather?"), sampled, kept, result());
  CHECK_FALSE(played.same_text);  // the engine's id is not the model's
  CHECK(played.bridged);

  render::ParsedCompletion said;
  for (const char* id : {"a", "b", "c"}) {
    chat::ToolCall call;
    call.id = id;
    call.name = "get_weather";
    said.message.tool_calls.push_back(call);
  }
  render::BridgeRequest request;
  request.completion = &said;
  request.new_messages = parse(R"([{"role": "tool", "tool_call_id": "b", "content": "2"},
    {"role": "tool", "tool_call_id": "b", "content": "again"}, {"role": "tool", "tool_call_id": "z", "content": "?"},
    {"role": "tool", "tool_call_id": "a", "content": "1"}])")
                             .as_array();
  const auto bridged = render::bridge(kimi.context(), render::probe_turns(kimi.context()), request);
  REQUIRE(bridged.ok());
  std::string notes;
  for (const std::string& note : bridged.value().notes) notes += note + "\n";
  CHECK_MESSAGE(notes.find("\"b\" comes out of order") != std::string::npos, notes);
  CHECK_MESSAGE(notes.find("\"b\" has more than one result") != std::string::npos, notes);
  CHECK_MESSAGE(notes.find("no call of the turn has the id \"z\"") != std::string::npos, notes);
  request.new_messages.resize(1);
  const auto partial = render::bridge(kimi.context(), render::probe_turns(kimi.context()), request);
  REQUIRE(partial.ok());
  CHECK(std::ranges::any_of(partial.value().notes,
                            [](const std::string& note) { return note.starts_with("2 of the turn's 3 calls"); }));
}

TEST_CASE("four things that a re-render cannot help") {
  const auto corpus = test::Corpus::open_with_models();
  if (!corpus) return;
  const auto python = one_model(*corpus, {"qwen3.5"});
  const auto qwen = one_model(*corpus, {"qwen3.6", "qwen3.5"});
  // 1. Python prints a boolean in its own way.
  const json::Value call = call_message("need it", R"({"location": "Beijing", "detailed": true})");
  std::string sampled = canonical(python, user("Weather?"), call);
  const std::size_t printed = sampled.find("True");
  REQUIRE(printed != std::string::npos);
  sampled.replace(printed, 4, "true");
  Played played = play(python, user("Weather?"), sampled, call, result());
  CHECK_FALSE(played.same_text);
  CHECK(played.bridged);

  // 2. The same text in other tokens: bytes one by one where the tokenizer would merge them.
  const render::TurnContext context = qwen.context();
  const auto prompt = render::render_messages(context, user("Weather?"), true);
  const std::vector<TokenId> prompt_ids = ids_of(qwen, prompt.value());
  const std::string text = canonical(qwen, user("Weather?"), call);
  std::vector<TokenId> split;
  for (const TokenId id : ids_behind(qwen, prompt_ids, text)) {
    const std::string_view bytes = qwen.tokenizer->token_bytes(id);
    const auto first = bytes.size() > 1 ? qwen.tokenizer->find(bytes.substr(0, 1)) : std::nullopt;
    const auto rest = bytes.size() > 1 ? qwen.tokenizer->find(bytes.substr(1)) : std::nullopt;
    if (qwen.tokenizer->is_added(id) || !first || !rest) {
      split.push_back(id);
    } else {
      split.insert(split.end(), {*first, *rest});
    }
  }
  REQUIRE(split != ids_behind(qwen, prompt_ids, text));
  json::Array all = user("Weather?");
  all.push_back(call);
  all.push_back(result()[0]);
  const auto again = render::render_messages(context, all, true);
  CHECK(again.value().text.bytes().starts_with(prompt.value().text.bytes() + text));
  CHECK_FALSE(begins_with(ids_of(qwen, again.value()), prompt_ids, split));
  const render::TurnProfile profile = render::probe_turns(context);
  const auto said = render::interpret(qwen.format, *qwen.tokenizer, profile, qwen.base.tools, prompt_ids, split);
  render::BridgeRequest request;
  request.prompt_ids = prompt_ids;
  request.completion_ids = split;
  request.completion = &said.value();
  const json::Array history = user("Weather?");
  request.messages = history;
  request.new_messages = result();
  const auto bridged = render::bridge(context, profile, request);
  REQUIRE(bridged.ok());
  CHECK(begins_with(bridged.value().ids, prompt_ids, split));
  CHECK(bridged.value().lossy.empty());

  // 3. The engine took the stop token away: the bridge puts it back.
  std::vector<TokenId> stopless = ids_behind(qwen, prompt_ids, text);
  REQUIRE(profile.is_stop(stopless.back()));
  stopless.pop_back();
  request.completion_ids = stopless;
  const auto restored = render::bridge(context, profile, request);
  REQUIRE(restored.ok());
  CHECK(restored.value().ids == ids_of(qwen, again.value()));

  // 4. Templates take messages, not tokens: a prompt that no messages render to goes on all the same.
  const std::vector<TokenId> strange = {11, 22, 33, 44, 55};
  request.prompt_ids = strange;
  request.messages.reset();
  const auto appended = render::append_turn(context, profile, request);
  REQUIRE(appended.ok());
  CHECK(appended.value().text.find("sunny") != std::string::npos);
}

}  // namespace
}  // namespace rondo
