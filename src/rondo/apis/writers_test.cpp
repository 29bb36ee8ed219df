// Replies and streams of the three APIs.  Law: the deltas of a stream add up to the body of the same turn.
#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "apis/custom_input.h"
#include "apis/listings.h"
#include "apis/stored_responses.h"
#include "apis/writer.h"
#include "json/print.h"
#include "tests/support/golden.h"
#include "tests/support/json.h"

namespace rondo::apis {
namespace {

using parse::EventKind;
using testing::parsed;

struct Random {
  std::uint64_t state;
  std::size_t below(std::size_t end) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<std::size_t>(state >> 33U) % end;
  }
};

// What a parser says of one choice, as pieces of its text.
struct Said {
  EventKind kind = EventKind::kContent;
  std::string text;
};

Naming naming() {
  const auto number = [](std::size_t choice, std::size_t part) {
    return std::to_string(choice) + "_" + std::to_string(part);
  };
  return {[number](PartKind kind, std::size_t choice, std::size_t part) {
            const char* names[] = {"rs_", "msg_", "msg_", "fc_"};
            return names[static_cast<std::size_t>(kind)] + number(choice, part);
          },
          [number](std::size_t choice, std::size_t call, const std::optional<std::string>& written) {
            return written ? *written : "call_" + number(choice, call);
          },
          [number](std::size_t choice, std::size_t part) { return "key_" + number(choice, part); }};
}

// The events of a choice, its texts cut at random places.
std::vector<TurnEvent> events_of(const std::vector<Said>& said, std::size_t choice, Finish finish, Random& random,
                                 TurnBuilder::Empty empty = TurnBuilder::Empty::kNothing,
                                 TurnBuilder::Calls calls = TurnBuilder::Calls::kAny) {
  TurnBuilder builder(choice, naming(), empty, TurnBuilder::Inputs::kAny, calls);
  std::vector<TurnEvent> out;
  std::int32_t id = 0;
  const auto feed = [&](parse::Event event) {
    Tokens tokens{{id++}, {}};
    if (event.kind == EventKind::kContent) tokens.logprobs = {{event.text, -0.5, {{event.text, -0.5}}}};
    for (TurnEvent& turn : builder.feed({&event, 1}, std::move(tokens))) out.push_back(std::move(turn));
  };
  for (const Said& one : said) {
    parse::Event event;
    event.kind = one.kind;
    const bool is_cut = one.kind != EventKind::kCallStart && one.text.size() > 1;
    for (std::size_t at = 0; at < one.text.size() || at == 0;) {
      const std::size_t size = is_cut ? 1 + random.below(4) : one.text.size();
      event.text = one.text.substr(at, size);
      feed(event);
      at += std::max<std::size_t>(size, 1);
    }
  }
  for (TurnEvent& turn : builder.finish(finish, finish == Finish::kStopText ? "STOP" : ""))
    out.push_back(std::move(turn));
  return out;
}

std::vector<Said> random_turn(Random& random) {
  const std::string texts[] = {"Hello", "caf\xC3\xA9 \xF0\x9F\x98\x80", "\n", "{\"a\": 1}", "x\"y\\z"};
  const std::string arguments[] = {R"({"city": "Oslo", "n": [1, {"k": "v"}]})", "{}",
                                   R"({"input": "a\nb\u00e9\ud83d\ude00\"q"})", R"({"input":""})"};
  std::vector<Said> out;
  if (random.below(2) == 0) out.push_back({EventKind::kReasoning, texts[random.below(5)]});
  for (std::size_t i = random.below(4); i > 0; --i) {
    if (random.below(2) == 0) {
      out.push_back({EventKind::kContent, texts[random.below(5)]});
    } else {
      const bool is_custom = random.below(2) == 0;
      out.push_back({EventKind::kCallStart, is_custom ? "patch" : "files__read"});
      out.push_back({EventKind::kArguments, arguments[is_custom ? 2 + random.below(2) : random.below(2)]});
      out.push_back({EventKind::kCallEnd, ""});
    }
  }
  return out;
}

constexpr std::string_view kChatBody =
    R"({"model": "m", "n": 2, "stream": true, "stream_options": {"include_usage": true}, "logprobs": true,
    "top_logprobs": 1, "return_token_ids": true, "messages": [{"role": "user", "content": "Hi"}],
    "tools": [{"type": "function", "function": {"name": "files__read"}}, {"type": "custom", "custom": {"name": "patch"}}]})";
constexpr std::string_view kResponsesBody = R"({"model": "m", "input": "Hi", "include": ["reasoning.encrypted_content"],
    "tools": [{"type": "namespace", "name": "files", "description": "d", "tools": [{"type": "function", "name": "read"}]},
              {"type": "custom", "name": "patch"}]})";
constexpr std::string_view kMessagesBody = R"({"model": "m", "max_tokens": 9, "thinking": {"type": "enabled"},
    "messages": [{"role": "user", "content": "Hi"}],
    "tools": [{"name": "files__read", "input_schema": {}}, {"name": "patch", "input_schema": {}}]})";

GenerateRequest request_of(chat::Api api) {
  const std::string_view bodies[] = {kChatBody, kMessagesBody, kResponsesBody};
  Outcome<GenerateRequest> out = read(api, parsed(bodies[static_cast<std::size_t>(api)]));
  REQUIRE(out.ok());
  return std::move(out.value());
}

ReplyMeta meta_of(chat::Api api) {
  const char* ids[] = {"chatcmpl-1", "msg_1", "resp_1"};
  ReplyMeta meta;
  meta.id = ids[static_cast<std::size_t>(api)];
  meta.model = "m";
  meta.created_s = 1'700'000'000;
  meta.prompt_ids = {1, 2, 3};
  meta.prompt_tokens = 3;
  return meta;
}

TurnEnd end_of() {
  TurnEnd end;
  end.usage = {3, 2, 5, 1};
  end.time_s = 1'700'000'001;
  return end;
}

struct Reply {
  std::vector<StreamEvent> stream;
  json::Value body;
  std::string text() const {
    std::string out;
    for (const StreamEvent& event : stream) out += event.text();
    return out;
  }
};

Reply write(const GenerateRequest& request, const ReplyMeta& meta, const std::vector<TurnEvent>& events,
            const TurnEnd& end = end_of()) {
  Reply out;
  const std::unique_ptr<TurnWriter> writer = make_writer(request, meta);
  TurnCollector collector(request.choices);
  const auto take = [&](std::vector<StreamEvent> more) {
    for (StreamEvent& event : more) out.stream.push_back(std::move(event));
  };
  take(writer->start());
  for (const TurnEvent& event : events) {
    collector.add(event);
    take(writer->add(event));
  }
  take(writer->finish(end));
  out.body = reply_body(request, meta, collector.choices(), end);
  return out;
}

std::string text_at(const json::Value& object, std::string_view key) {
  return std::string(object.find_string(key).value_or(""));
}

void append(json::Object& object, std::string_view key, std::string_view more) {
  const json::Value* old = object.find(key);
  object.set(key, (old == nullptr || !old->is_string() ? "" : old->as_string()) + std::string(more));
}

// The messages of the choices, from the deltas alone.
json::Value join_chat(const std::vector<StreamEvent>& stream) {
  std::vector<json::Object> messages;
  for (const StreamEvent& event : stream) {
    if (event.data == "[DONE]") continue;
    const json::Value chunk = parsed(event.data);
    for (const json::Value& choice : chunk.find("choices")->as_array()) {
      const auto index = static_cast<std::size_t>(choice.find("index")->to_int64().value());
      if (messages.size() <= index) messages.resize(index + 1);
      json::Object& message = messages[index];
      for (const json::Member& member : choice.find("delta")->as_object()) {
        if (member.key == "role") message.set("role", member.value);
        if (member.value.is_string() && member.key != "role") append(message, member.key, member.value.as_string());
        if (member.key == "function_call") {
          if (message.find("function_call") == nullptr) message.set("function_call", json::Object());
          for (const json::Member& inner : member.value.as_object())
            append(message.find("function_call")->as_object(), inner.key, inner.value.as_string());
        }
        if (member.key != "tool_calls") continue;
        if (message.find("tool_calls") == nullptr) message.set("tool_calls", json::Array());
        json::Array& calls = message.find("tool_calls")->as_array();
        for (const json::Value& piece : member.value.as_array()) {
          const auto at = static_cast<std::size_t>(piece.find("index")->to_int64().value());
          if (calls.size() <= at) calls.emplace_back(json::Object());
          json::Object& call = calls[at].as_object();
          for (const json::Member& part : piece.as_object()) {
            if (part.value.is_string()) call.set(part.key, part.value);
            if (!part.value.is_object()) continue;
            if (call.find(part.key) == nullptr) call.set(part.key, json::Object());
            for (const json::Member& inner : part.value.as_object())
              append(call.find(part.key)->as_object(), inner.key, inner.value.as_string());
          }
        }
      }
      if (!choice.find("finish_reason")->is_null()) message.set("finish", *choice.find("finish_reason"));
    }
  }
  json::Array out;
  for (json::Object& message : messages) {
    const bool has_calls = message.find("tool_calls") != nullptr || message.find("function_call") != nullptr;
    if (message.find("content")->as_string().empty() && has_calls) message.set("content", nullptr);
    out.emplace_back(std::move(message));
  }
  return out;
}

// The same of a body.
json::Value chat_messages(const json::Value& body) {
  json::Array out;
  for (const json::Value& choice : body.find("choices")->as_array()) {
    json::Object message = choice.find("message")->as_object();
    message.erase("refusal");
    message.set("finish", *choice.find("finish_reason"));
    out.emplace_back(std::move(message));
  }
  return out;
}

// Members sorted by name, because their order of arrival says nothing.
std::string sorted(const json::Value& value) { return json::to_python(value, {.sort_keys = true}); }

TEST_CASE("the deltas of a Chat stream add up to the reply, for random turns") {
  GenerateRequest request = request_of(chat::Api::kChat);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    request.older_calls = seed % 2 == 0;
    const auto calls = request.older_calls ? TurnBuilder::Calls::kOne : TurnBuilder::Calls::kAny;
    Random random{seed};
    std::vector<TurnEvent> events;
    std::vector<std::vector<TurnEvent>> rows;
    for (std::size_t choice = 0; choice < 2; ++choice)
      rows.push_back(events_of(random_turn(random), choice, random.below(2) == 0 ? Finish::kStop : Finish::kLength,
                               random, TurnBuilder::Empty::kNothing, calls));
    // The choices come interleaved.
    for (std::size_t i = 0; i < std::max(rows[0].size(), rows[1].size()); ++i) {
      for (const auto& row : rows) {
        if (i < row.size()) events.push_back(row[i]);
      }
    }
    const Reply reply = write(request, meta_of(chat::Api::kChat), events);
    REQUIRE(sorted(join_chat(reply.stream)) == sorted(chat_messages(reply.body)));
    std::map<std::int64_t, json::Array> ids;
    for (const StreamEvent& event : reply.stream) {
      if (event.data == "[DONE]") continue;
      const json::Value chunk = parsed(event.data);
      for (const json::Value& choice : chunk.find("choices")->as_array()) {
        for (const json::Value& id : choice.find("token_ids")->as_array())
          ids[choice.find("index")->to_int64().value()].push_back(id);
      }
    }
    for (const json::Value& choice : reply.body.find("choices")->as_array())
      REQUIRE(json::Value(ids[choice.find("index")->to_int64().value()]) == *choice.find("token_ids"));
  }
}

// The items, from the deltas alone.
json::Array join_responses(const std::vector<StreamEvent>& stream, std::int64_t& sequence) {
  json::Array items;
  for (const StreamEvent& event : stream) {
    if (event.data == "[DONE]") continue;
    const json::Value value = parsed(event.data);
    CHECK(event.name == text_at(value, "type"));
    REQUIRE(value.find("sequence_number")->to_int64() == sequence++);
    const json::Value* index = value.find("output_index");
    if (index == nullptr) continue;
    const auto at = static_cast<std::size_t>(index->to_int64().value());
    if (event.name == "response.output_item.added") {
      REQUIRE(at == items.size());
      items.push_back(*value.find("item"));
    }
    json::Object& item = items.at(at).as_object();
    if (const auto id = value.find_string("item_id")) REQUIRE(*id == text_at(items[at], "id"));
    const bool is_part = event.name.ends_with("_part.added");
    const char* list = event.name.starts_with("response.reasoning_summary") ? "summary" : "content";
    if (is_part) {
      if (item.find(list) == nullptr) item.set(list, json::Array());
      item.find(list)->as_array().push_back(*value.find("part"));
    }
    if (event.name.ends_with("arguments.delta")) append(item, "arguments", text_at(value, "delta"));
    if (event.name.ends_with("input.delta")) append(item, "input", text_at(value, "delta"));
    if (event.name.ends_with("text.delta") || event.name == "response.reasoning.delta")
      append(item.find(list)->as_array().back().as_object(), "text", text_at(value, "delta"));
    if (event.name == "response.output_text.delta") {
      json::Array& rows = item.find(list)->as_array().back().as_object().find("logprobs")->as_array();
      for (const json::Value& row : value.find("logprobs")->as_array()) rows.push_back(row);
    }
    if (event.name.ends_with("arguments.done")) REQUIRE(text_at(value, "arguments") == text_at(items[at], "arguments"));
    if (event.name.ends_with("input.done")) REQUIRE(text_at(value, "input") == text_at(items[at], "input"));
    if (event.name == "response.output_item.done") {
      // Known only at the end.
      for (const char* key : {"status", "encrypted_content"}) {
        if (const json::Value* known = value.find("item")->find(key)) item.set(key, *known);
      }
      REQUIRE(sorted(*value.find("item")) == sorted(items[at]));
    }
  }
  return items;
}

// The events without their deltas and numbers.
std::string all_but_deltas(const std::vector<StreamEvent>& stream) {
  std::string out;
  for (const StreamEvent& event : stream) {
    if (event.name.ends_with(".delta") || event.name.empty()) continue;
    json::Value value = parsed(event.data);
    value.as_object().erase("sequence_number");
    out += json::to_compact(value) + "\n";
  }
  return out;
}

TEST_CASE("the deltas of a Responses stream add up to the reply, for random turns and all forms of reasoning") {
  GenerateRequest request = request_of(chat::Api::kResponses);
  ReplyMeta meta = meta_of(chat::Api::kResponses);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Random random{seed};
    meta.reasoning_events = static_cast<ReasoningEvents>(random.below(3));
    request.logprobs = seed % 2 == 0;
    request.top_logprobs = request.logprobs ? 1 : 0;
    const Finish finish = static_cast<Finish>(random.below(3));
    const Reply reply = write(request, meta, events_of(random_turn(random), 0, finish, random));
    std::int64_t sequence = 0;
    const json::Array items = join_responses(reply.stream, sequence);
    REQUIRE(sorted(json::Value(items)) == sorted(*reply.body.find("output")));
    REQUIRE(reply.stream.back().data == "[DONE]");
    const json::Value last = parsed(reply.stream[reply.stream.size() - 2].data);
    REQUIRE(*last.find("response") == reply.body);
    CHECK(text_at(last, "type") == (finish == Finish::kLength ? "response.incomplete" : "response.completed"));
    // Replayed from the body alone, it is the same except where the deltas are cut.
    const auto again = replayed(reply.body, meta.reasoning_events == ReasoningEvents::kOpenResponses);
    REQUIRE(all_but_deltas(again) == all_but_deltas(reply.stream));
    sequence = 0;
    REQUIRE(sorted(json::Value(join_responses(again, sequence))) == sorted(*reply.body.find("output")));
  }
}

// The content, from the deltas alone.
json::Array join_messages(const std::vector<StreamEvent>& stream) {
  json::Array blocks;
  std::string input;
  for (const StreamEvent& event : stream) {
    const json::Value value = parsed(event.data);
    REQUIRE(event.name == text_at(value, "type"));
    if (event.name == "content_block_start") {
      REQUIRE(value.find("index")->to_int64() == static_cast<std::int64_t>(blocks.size()));
      blocks.push_back(*value.find("content_block"));
      input.clear();
    } else if (event.name == "content_block_delta") {
      for (const json::Member& member : value.find("delta")->as_object()) {
        if (member.key == "partial_json") input += member.value.as_string();
        if (member.key == "text" || member.key == "thinking" || member.key == "signature")
          append(blocks.back().as_object(), member.key, member.value.as_string());
      }
    } else if (event.name == "content_block_stop" && !input.empty()) {
      blocks.back().as_object().set("input", parsed(input));
    }
  }
  return blocks;
}

TEST_CASE("the deltas of a Messages stream add up to the reply, for random turns") {
  const GenerateRequest request = request_of(chat::Api::kMessages);
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Random random{seed};
    const Reply reply =
        write(request, meta_of(chat::Api::kMessages), events_of(random_turn(random), 0, Finish::kStop, random));
    REQUIRE(sorted(json::Value(join_messages(reply.stream))) == sorted(*reply.body.find("content")));
  }
}

std::string passed_input(const std::string& arguments, json::Value& whole) {
  Random random{7};
  const std::vector<Said> said = {{EventKind::kCallStart, "f"}, {EventKind::kArguments, arguments}};
  const Reply reply = write(request_of(chat::Api::kMessages), meta_of(chat::Api::kMessages),
                            events_of(said, 0, Finish::kLength, random));
  std::string out;
  for (const StreamEvent& event : reply.stream) {
    const json::Value value = parsed(event.data);
    if (event.name == "content_block_delta") out += text_at(*value.find("delta"), "partial_json");
  }
  whole = *reply.body.find("content")->as_array()[0].find("input");
  return out;
}

TEST_CASE("a call of Messages that is cut off, or no JSON, shows what of its input was complete") {
  json::Value whole;
  CHECK(passed_input(R"({"a": 1, "city": "Par)", whole) == R"({"a": 1, "city": "Par)");
  CHECK(json::to_compact(whole) == R"({"a":1})");
  CHECK(passed_input(R"({"a": {"b": ["x", "y)", whole) == R"({"a": {"b": ["x", "y)");
  CHECK(json::to_compact(whole) == R"({"a":{"b":["x"]}})");
  CHECK(passed_input(R"({"a": 1, oops})", whole) == R"({"a": 1, )");
  CHECK(json::to_compact(whole) == R"({"a":1})");
  // A number or word that breaks off is not a member yet; everything before it is complete.
  CHECK(passed_input(R"({"exact": tr)", whole) == R"({"exact": tr)");
  CHECK(json::to_compact(whole) == "{}");
  CHECK(passed_input(R"({"a": "x", "b": 1)", whole) == R"({"a": "x", "b": 1)");
  CHECK(json::to_compact(whole) == R"({"a":"x"})");
  CHECK(passed_input(R"({"c": ["x", 1)", whole) == R"({"c": ["x", 1)");
  CHECK(json::to_compact(whole) == R"({"c":["x"]})");
  CHECK(passed_input(R"({"a": "x", "b": 1, "a": "y)", whole) == R"({"a": "x", "b": 1, "a": "y)");
  CHECK(json::to_compact(whole) == R"({"b":1})");
  CHECK(passed_input(R"({"a/~": "y)", whole) == R"({"a/~": "y)");
  CHECK(json::to_compact(whole) == "{}");
  CHECK(passed_input("{\"a\":\n\"x\ny\\\"\t\"}", whole) == "{\"a\":\n\"x\\u000ay\\\"\\u0009\"}");
  CHECK(json::to_compact(whole) == R"({"a":"x\ny\"\t"})");
  CHECK(passed_input("[1]", whole).empty());
  CHECK(json::to_compact(whole) == "{}");
}

TEST_CASE("the text of a custom tool's call, in any pieces") {
  const std::pair<std::string, std::string> rows[] = {
      {R"({"input": "a\nb"})", "a\nb"},
      {R"( { "input" : "\ud83d\ude00\u00e9" } )", "\xF0\x9F\x98\x80\xC3\xA9"},
      {R"({"input": "\ud83dx"})", "\xEF\xBF\xBDx"},
      {R"({"other": "x"})", R"({"other": "x"})"},
      {"plain", "plain"},
      {R"({"inp)", ""},
      {R"({"input": )", ""},
      {"{}", ""},
      {R"({"inp"})", R"({"inp"})"},
      {R"({"input": "cut)", "cut"},
      {"", ""},
  };
  for (const auto& [arguments, text] : rows) {
    CAPTURE(arguments);
    CHECK(custom_input(arguments) == text);
    CustomInput input;
    std::string joined;
    for (const char byte : arguments) joined += input.feed({&byte, 1});
    CHECK(joined + input.close() == text);
  }
}

TEST_CASE("reasoning that the client does not want is left out, or signed alone") {
  Random random{1};
  const std::vector<TurnEvent> events =
      events_of({{EventKind::kReasoning, "think"}, {EventKind::kContent, "say"}}, 0, Finish::kStop, random);
  GenerateRequest request = request_of(chat::Api::kMessages);
  request.reasoning.is_shown = false;
  const Reply signed_alone = write(request, meta_of(chat::Api::kMessages), events);
  CHECK(sorted(json::Value(join_messages(signed_alone.stream))) == sorted(*signed_alone.body.find("content")));
  CHECK(text_at(signed_alone.body.find("content")->as_array()[0], "thinking").empty());
  CHECK(text_at(signed_alone.body.find("content")->as_array()[0], "signature") == "key_0_0");
  request.reasoning.is_signed = false;
  const Reply hidden = write(request, meta_of(chat::Api::kMessages), events);
  CHECK(sorted(json::Value(join_messages(hidden.stream))) == sorted(*hidden.body.find("content")));
  CHECK(hidden.body.find("content")->as_array().size() == 1);
}

TEST_CASE("the builder: whole characters, ids that the model wrote, calls without arguments, calls that break off") {
  TurnBuilder builder(0, naming());
  std::vector<TurnEvent> out;
  const auto feed = [&](EventKind kind, std::string text, std::optional<std::string> id = std::nullopt) {
    parse::Event event;
    event.kind = kind;
    event.text = std::move(text);
    event.id = std::move(id);
    for (TurnEvent& turn : builder.feed({&event, 1}, {{1}, {}})) out.push_back(std::move(turn));
  };
  feed(EventKind::kContent, "\xC3");
  feed(EventKind::kContent, "\xA9");
  feed(EventKind::kMarker, "");
  feed(EventKind::kCallStart, "f", "written");
  feed(EventKind::kCallId, "late");
  feed(EventKind::kCallEnd, "");
  feed(EventKind::kCallStart, "g");
  feed(EventKind::kArguments, "{");
  for (TurnEvent& turn : builder.finish(Finish::kLength)) out.push_back(std::move(turn));
  TurnCollector collector(1);
  std::string deltas;
  for (const TurnEvent& event : out) {
    collector.add(event);
    if (event.kind == TurnEvent::Kind::kDelta) deltas += event.text + "|";
  }
  CHECK(deltas == "\xC3\xA9|{}|{|");
  const Choice& choice = collector.choices()[0];
  REQUIRE(choice.parts.size() == 3);
  CHECK(choice.parts[1].call_id == "written");
  CHECK(choice.parts[1].is_complete);
  CHECK(choice.parts[2].call == 1);
  CHECK_FALSE(choice.parts[2].is_complete);
  CHECK(choice.tokens.ids.size() == 8);
}

TEST_CASE("a stream that fails ends with the API's error") {
  const Fault fault{FaultKind::kEngine, "the engine went away", "", ""};
  for (const chat::Api api : {chat::Api::kChat, chat::Api::kMessages, chat::Api::kResponses}) {
    const GenerateRequest request = request_of(api);
    const std::unique_ptr<TurnWriter> writer = make_writer(request, meta_of(api));
    (void)writer->start();
    std::string out;
    for (const StreamEvent& event : writer->fail(fault)) out += event.name + " ";
    CHECK(out == (api == chat::Api::kChat ? "  " : api == chat::Api::kMessages ? "error " : "error response.failed  "));
  }
}

TEST_CASE("`rondo` is in the body, and in the last object of a stream") {
  Random random{1};
  TurnEnd end = end_of();
  end.rondo = json::Object{{"how", "bridge"}};
  for (const chat::Api api : {chat::Api::kChat, chat::Api::kMessages, chat::Api::kResponses}) {
    const GenerateRequest request = request_of(api);
    std::vector<TurnEvent> events = events_of({{EventKind::kContent, "say"}}, 0, Finish::kStop, random);
    for (TurnEvent& event : events_of({}, 1, Finish::kStop, random)) {
      if (api == chat::Api::kChat) events.push_back(event);
    }
    const Reply reply = write(request, meta_of(api), events, end);
    CHECK(json::to_compact(*reply.body.find("rondo")) == R"({"how":"bridge"})");
    const std::size_t last = reply.stream.size() - (api == chat::Api::kMessages ? 1 : 2);
    CHECK(reply.stream[last].data.find(R"("rondo":{"how":"bridge"})") != std::string::npos);
  }
}

// tests/golden/apis: replies and streams that the official clients read in tests/apis.  RONDO_UPDATE=1 rewrites them.
TEST_CASE("replies and streams as they are recorded for the official clients") {
  const std::vector<Said> full = {{EventKind::kReasoning, "Look it up."},
                                  {EventKind::kContent, "One moment."},
                                  {EventKind::kCallStart, "files__read"},
                                  {EventKind::kArguments, R"({"path": "a/b"})"},
                                  {EventKind::kCallEnd, ""}};
  std::vector<Said> custom = {
      {EventKind::kCallStart, "patch"}, {EventKind::kArguments, R"({"input": "a\nb"})"}, {EventKind::kCallEnd, ""}};
  const std::pair<std::string, std::vector<Said>> turns[] = {
      {"full", full}, {"custom", custom}, {"cut", {{EventKind::kContent, "Once upon"}}}, {"empty", {}}};
  for (const chat::Api api : {chat::Api::kChat, chat::Api::kMessages, chat::Api::kResponses}) {
    GenerateRequest request = request_of(api);
    request.choices = 1;
    request.return_token_ids = false;
    for (const auto& [name, said] : turns) {
      Random random{5};
      const Finish finish = name == "cut" ? Finish::kLength : Finish::kStop;
      for (std::size_t shape = 0; shape < (api == chat::Api::kResponses && name == "full" ? 3 : 1); ++shape) {
        ReplyMeta meta = meta_of(api);
        meta.reasoning_events = static_cast<ReasoningEvents>(shape);
        const auto empty = api == chat::Api::kResponses ? TurnBuilder::Empty::kMessage : TurnBuilder::Empty::kNothing;
        const Reply reply = write(request, meta, events_of(said, 0, finish, random, empty));
        const std::string file = std::string(to_string(api)) + "_" + name + (shape == 0 ? "" : std::to_string(shape));
        test::check_golden("apis/" + file + ".json", json::to_pretty(reply.body) + "\n");
        test::check_golden("apis/" + file + ".sse", reply.text());
      }
    }
  }
}

TEST_CASE("a reply in the form of Open Responses is recorded") {
  const HeaderLookup headers = [](std::string_view name) {
    return std::string(name == "openresponses-version" ? "1" : "");
  };
  Outcome<GenerateRequest> request = read(chat::Api::kResponses, parsed(R"({"model": "m", "input": "Hi",
      "tools": [{"type": "function", "name": "read", "parameters": {"type": "object"}}]})"),
                                          headers);
  REQUIRE(request.ok());
  Random random{5};
  const std::vector<Said> said = {{EventKind::kReasoning, "Look it up."},
                                  {EventKind::kContent, "One moment."},
                                  {EventKind::kCallStart, "read"},
                                  {EventKind::kArguments, "{}"},
                                  {EventKind::kCallEnd, ""}};
  const Reply reply = write(request.value(), meta_of(chat::Api::kResponses), events_of(said, 0, Finish::kStop, random));
  test::check_golden("apis/open_full.json", json::to_pretty(reply.body) + "\n");
  test::check_golden("apis/open_full.sse", reply.text());
}

TEST_CASE("errors, models and counts are recorded") {
  for (const chat::Api api : {chat::Api::kChat, chat::Api::kMessages, chat::Api::kResponses}) {
    const std::string name(to_string(api));
    const GenerateRequest request = request_of(api);
    const std::unique_ptr<TurnWriter> writer = make_writer(request, meta_of(api));
    std::string failed;
    for (const StreamEvent& event : writer->start()) failed += event.text();
    for (const StreamEvent& event : writer->fail({FaultKind::kEngine, "the engine went away", "", ""}))
      failed += event.text();
    test::check_golden("apis/" + name + "_failed.sse", failed);
    test::check_golden("apis/" + name + "_error.json",
                       json::to_pretty(error_body(api, context_too_long(api, 20, 10))) + "\n");
    if (api != chat::Api::kChat)
      test::check_golden("apis/" + name + "_count.json", json::to_pretty(count_body(api, 7)) + "\n");
  }
  const ModelEntry model{"m", 1'767'225'600, 4096};
  test::check_golden("apis/models.json", json::to_pretty(models_body({&model, 1})) + "\n");
}

}  // namespace
}  // namespace rondo::apis
