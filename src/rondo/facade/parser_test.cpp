#include "rondo/parser.h"

#include <algorithm>
#include <memory>

#include "rondo/partial_value.h"
#include "tests/support/facade_models.h"

namespace rondo {
namespace {

using Kind = ParseEvent::Kind;
using testing::Ids;
using testing::tiny_model;
using testing::tokens;
using testing::user_chat;

constexpr const char* kSaid =
    "(*mull h\u00E9m mull*)yes \U0001F600{!do add with {\"a\": 1, \"city\": \"Paris\"} do!}{!do sub with {} do!}~fin~";

Parser started(const Model& model, const Chat& chat = user_chat()) {
  auto parser = Parser::start(model, chat);
  REQUIRE_MESSAGE(parser.ok(), parser.error().to_string());
  return std::move(parser).value();
}

std::string shown(const Parsed& said) {
  std::string out = said.content + " | " + said.reasoning.value_or("-") + " | " + (said.complete ? "complete" : "open");
  for (const ParsedCall& call : said.tool_calls) out += " | " + call.name + call.arguments + call.status;
  return out;
}

// The texts of the events by kind, joined.
struct Joined {
  std::string content;
  std::string reasoning;
  std::vector<std::string> names;
  std::vector<std::string> arguments;
  std::size_t ends = 0;

  void take(const std::vector<ParseEvent>& events) {
    for (const ParseEvent& event : events) {
      switch (event.kind) {
        case Kind::kContent: content += event.text; break;
        case Kind::kReasoning: reasoning += event.text; break;
        case Kind::kCallStart:
          CHECK(event.call == names.size());
          names.push_back(event.text);
          arguments.emplace_back();
          break;
        case Kind::kCallId: break;
        case Kind::kArguments: arguments.at(event.call) += event.text; break;
        case Kind::kCallEnd: ++ends; break;
      }
    }
  }
  void matches(const Parsed& said) const {
    CHECK(content == said.content);
    CHECK(reasoning == said.reasoning.value_or(""));
    REQUIRE(names.size() == said.tool_calls.size());
    for (std::size_t i = 0; i < names.size(); ++i) {
      CHECK(names[i] == said.tool_calls[i].name);
      CHECK(arguments[i] == said.tool_calls[i].arguments);
    }
  }
};

TEST_CASE("text in any chunks gives the same message, and the events are the message") {
  const Model model = tiny_model();
  const std::string text = kSaid;
  const std::string expected = shown(model.parse(user_chat(), text).value());
  for (std::size_t size = 1; size <= text.size(); size += size < 8 ? 1 : 13) {
    CAPTURE(size);
    Parser parser = started(model);
    Joined joined;
    for (std::size_t at = 0; at < text.size(); at += size)
      joined.take(parser.feed(std::string_view(text).substr(at, size)).value());
    joined.take(parser.close());
    CHECK(shown(parser.message()) == expected);
    joined.matches(parser.message());
    CHECK(joined.ends == 2);
  }
}

TEST_CASE("ids in any chunks give the same message, and the events are the message") {
  const Model model = tiny_model();
  const Ids ids = tokens(model, kSaid);
  const std::string expected = shown(model.parse(user_chat(), ids).value());
  for (const std::size_t size : {std::size_t{1}, std::size_t{2}, std::size_t{7}, ids.size()}) {
    CAPTURE(size);
    Parser parser = started(model);
    Joined joined;
    for (std::size_t at = 0; at < ids.size(); at += size) {
      const std::size_t end = std::min(at + size, ids.size());
      joined.take(
          parser
              .feed(Ids(ids.begin() + static_cast<std::ptrdiff_t>(at), ids.begin() + static_cast<std::ptrdiff_t>(end)))
              .value());
    }
    joined.take(parser.close());
    CHECK(shown(parser.finish()) == expected);
    joined.matches(parser.message());
  }
}

TEST_CASE("ids and text may be mixed") {
  const Model model = tiny_model();
  Parser parser = started(model);
  Joined joined;
  joined.take(parser.feed(tokens(model, "(*mull")).value());
  joined.take(parser.feed(" hm mull*)yes").value());
  joined.take(parser.feed(tokens(model, "{!do add with {")).value());
  joined.take(parser.feed("} do!}~fin~").value());
  CHECK(shown(parser.finish()) == "yes | hm | complete | add{}ok");
  joined.matches(parser.message());
}

TEST_CASE("any text can be looked at while it comes") {
  PartialValue value;
  CHECK(value.json() == "null");
  value.feed(R"({"city": "Par)");
  CHECK(value.json() == R"({"city":"Par"})");
  CHECK(value.open_path() == "/city");
  PartialValue moved = std::move(value);
  moved.feed(R"(is", "n": 3)");
  CHECK(moved.json() == R"({"city":"Paris"})");
  moved.feed("}");
  CHECK((moved.is_complete() && moved.is_valid() && !moved.open_path()));
  CHECK(moved.json() == R"({"city":"Paris","n":3})");
  PartialValue number;
  number.feed("12");
  CHECK_FALSE(number.is_complete());
  number.close();
  CHECK(number.is_complete());
  number.feed("x");
  CHECK_FALSE(number.is_valid());
}

TEST_CASE("what is the matter with a call's arguments is said") {
  Chat chat = user_chat();
  chat.tools =
      R"([{"type": "function", "function": {"name": "add", "parameters": {"properties": {"a": {"type": "integer"}}}}}])";
  Parser parser = started(tiny_model(), chat);
  static_cast<void>(parser.feed(R"({!do add with {"a": "one"} do!}~fin~)"));
  const Parsed said = parser.finish();
  REQUIRE(said.tool_calls.size() == 1);
  CHECK(said.tool_calls[0].status == "malformed");
  REQUIRE(said.tool_calls[0].problems.size() == 1);
  CHECK(said.tool_calls[0].problems[0].kind == "wrong_type");
  CHECK(said.tool_calls[0].problems[0].parameter == "a");
  CHECK(said.tool_calls[0].problems[0].sentence == "`a` is a string, and the tool's schema wants an integer");
}

TEST_CASE("arguments can be looked at while they come") {
  const Model model = tiny_model();
  Parser parser = started(model);
  CHECK(parser.partial_arguments(0) == "null");
  static_cast<void>(parser.feed("{!do add with "));
  CHECK(parser.partial_arguments(0) == "null");
  static_cast<void>(parser.feed("{\"a\": 1, \"city\": \"Par"));
  CHECK(parser.partial_arguments(0) == R"({"a":1,"city":"Par"})");
  CHECK(parser.open_argument(0) == "/city");
  static_cast<void>(parser.feed("is\"} do!}{!do add with {\"a\": ["));
  CHECK(parser.partial_arguments(0) == R"({"a":1,"city":"Paris"})");
  CHECK(parser.partial_arguments(1) == R"({"a":[]})");
  CHECK(parser.open_argument(0) == std::nullopt);
  CHECK(parser.open_argument(1) == "/a");
  CHECK(parser.open_argument(2) == std::nullopt);
  CHECK(parser.partial_arguments(2) == "null");
  const Parsed cut = parser.finish();
  CHECK_FALSE(cut.complete);
  REQUIRE(cut.tool_calls.size() == 2);
  CHECK(cut.tool_calls[1].status != "ok");
  CHECK(parser.partial_arguments(1) == R"({"a":[]})");
}

TEST_CASE("a parser is closed once") {
  const Model model = tiny_model();
  Parser parser = started(model);
  static_cast<void>(parser.feed("yes ~fi"));  // may still become a marker
  CHECK(parser.message().content == "yes ");
  Joined joined;
  joined.take(parser.close());
  CHECK(joined.content == "~fi");
  CHECK(parser.message().content == "yes ~fi");
  CHECK(parser.close().empty());
  CHECK(shown(parser.finish()) == shown(parser.message()));
  for (const Error& error : {parser.feed("x").error(), parser.feed(Ids{3}).error()}) {
    CHECK(error.code == ErrorCode::kInvalidArgument);
    CHECK(error.message == "the parser is closed");
  }
}

// The events before the id were lost, and with them the call that later arguments belong to.
TEST_CASE("ids out of range feed nothing, and the parser goes on") {
  const Model model = tiny_model();
  Parser parser = started(model);
  Ids ids = tokens(model, "{!do add with {\"a\"");
  ids.push_back(-1);
  const auto refused = parser.feed(ids);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kTokenizer);
  CHECK(parser.message().tool_calls.empty());
  ids.pop_back();
  Joined joined;
  joined.take(parser.feed(ids).value());
  joined.take(parser.feed(tokens(model, ": 2} do!}~fin~")).value());
  CHECK(parser.partial_arguments(0) == R"({"a":2})");
  CHECK(shown(parser.finish()) == " | - | complete | add{\"a\": 2}ok");
  joined.matches(parser.message());
}

TEST_CASE("the prompt of the chat says what is open") {
  const Model model = tiny_model();
  Chat chat;
  chat.messages = R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Well, "}])";
  chat.continue_field = "content";
  Parser parser = started(model, chat);
  static_cast<void>(parser.feed("yes~fin~"));
  CHECK(parser.finish().content == "Well, yes");
}

TEST_CASE("a chat that does not fit starts no parser") {
  const Model model = tiny_model();
  Chat chat = user_chat();
  chat.tools = "{}";
  CHECK(Parser::start(model, chat).error().message == "tools must be an array of objects, found an object");
  chat.tools = "[";
  CHECK(Parser::start(model, chat).error().code == ErrorCode::kJson);
}

TEST_CASE("a parser may be moved, and outlives the model it was started with") {
  auto model = std::make_unique<Model>(tiny_model());
  Parser parser = started(*model);
  const Ids ids = tokens(*model, "yes~fin~");
  model.reset();
  static_cast<void>(parser.feed("oh "));
  Parser moved = std::move(parser);
  static_cast<void>(moved.feed(ids));
  parser = std::move(moved);
  CHECK(parser.finish().content == "oh yes");
}

}  // namespace
}  // namespace rondo
