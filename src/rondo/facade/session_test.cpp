#include "rondo/session.h"

#include "rondo/parser.h"
#include "tests/support/facade_models.h"
#include "tests/support/small_model.h"

namespace rondo {
namespace {

// A valid file that contains nothing.
std::string empty_gguf() {
  std::string out = "GGUF";
  out += std::string("\x03\0\0\0", 4);
  return out + std::string(16, '\0');
}

TEST_CASE("a session needs a model file") {
  const auto refused = [](const std::string& path) {
    const auto session = Session::start(path, testing::user_chat(), {});
    REQUIRE_FALSE(session.ok());
    return session.error().code;
  };
  CHECK(refused("/no/such.gguf") == ErrorCode::kNotFound);
  const testing::OwnFolder folder;
  CHECK(refused(folder.file("text.gguf", "no model")) == ErrorCode::kTokenizer);
  CHECK(refused(folder.file("cut.gguf", empty_gguf().substr(0, 12))) == ErrorCode::kTokenizer);
}

TEST_CASE("a session needs a chat, a tokenizer and a template") {
  const testing::OwnFolder folder;
  const std::string path = folder.file("empty.gguf", empty_gguf());
  const auto refused = [&](const Chat& chat, const SessionOptions& options) {
    const auto session = Session::start(path, chat, options);
    REQUIRE_FALSE(session.ok());
    return session.error();
  };
  Chat chat;
  chat.messages = "";
  CHECK(refused(chat, {}).message == "the field `messages` is missing");
  chat.messages = "[";
  CHECK(refused(chat, {}).source == "messages");
  CHECK(refused(testing::user_chat(), {}).code == ErrorCode::kTokenizer);
}

// A session on the small model, which answers with nonsense.
class Small {
 public:
  [[nodiscard]] Result<Session> start(const Chat& chat, const SessionOptions& options = {}) const {
    return Session::start(path_, chat, options);
  }
  [[nodiscard]] Session started(const Chat& chat, const SessionOptions& options = {}) const {
    auto session = start(chat, options);
    REQUIRE_MESSAGE(session.ok(), session.error().to_string());
    return std::move(session).value();
  }
  [[nodiscard]] const testing::OwnFolder& folder() const { return folder_; }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  testing::OwnFolder folder_{"session-test"};
  std::string path_ = testing::small_model(folder_, "small.gguf", testing::small_template());
};

const char* const kNext = R"([{"role": "user", "content": "hello world"}])";

StepOptions at_most(std::size_t tokens) {
  StepOptions options;
  options.max_tokens = tokens;
  return options;
}

Turn turn_of(Session& session, const StepOptions& options) {
  auto turn = session.step(options);
  REQUIRE_MESSAGE(turn.ok(), turn.error().to_string());
  return std::move(turn).value();
}

TEST_CASE("a session keeps every id, and decodes only what is new") {
  if (!testing::has_engine()) return;
  const Small small;
  Session session = small.started(testing::user_chat("hello"));
  const Model model = testing::tiny_model();
  const testing::Ids prompt = testing::tokens(model, "<bos>[[user: hello~fin~[[assistant: ");
  CHECK(session.ids() == prompt);
  const Turn first = turn_of(session, at_most(4));
  CHECK(first.prompt_tokens == prompt.size());
  CHECK(first.reused_tokens == 0);
  CHECK(first.prefilled_tokens == prompt.size());
  REQUIRE_FALSE(first.ids.empty());
  CHECK(first.ids.size() <= 4);
  CHECK(first.stop == (first.ids.back() == 283 ? "stop" : "length"));
  testing::Ids all = prompt;
  all.insert(all.end(), first.ids.begin(), first.ids.end());
  CHECK(session.ids() == all);

  REQUIRE(session.add(kNext).ok());
  const testing::Ids next = session.ids();
  REQUIRE(next.size() > all.size());
  CHECK(std::equal(all.begin(), all.end(), next.begin()));
  const testing::Ids turn = testing::tokens(model, "[[user: hello world~fin~[[assistant: ");
  REQUIRE(next.size() >= turn.size());
  CHECK(std::equal(turn.rbegin(), turn.rend(), next.rbegin()));
  const Turn second = turn_of(session, at_most(4));
  CHECK(second.prompt_tokens == next.size());
  CHECK(second.reused_tokens + 1 == all.size());  // the last sampled id is not decoded before the next prompt
  CHECK(second.prefilled_tokens + second.reused_tokens == second.prompt_tokens);
}

TEST_CASE("a turn's message is what its ids say") {
  if (!testing::has_engine()) return;
  const Small small;
  Session session = small.started(testing::user_chat("hello"));
  const Turn turn = turn_of(session, at_most(8));
  auto parser = Parser::start(testing::tiny_model(), testing::user_chat("hello"));
  REQUIRE(parser.ok());
  REQUIRE(parser.value().feed(turn.ids).ok());
  const Parsed parsed = parser.value().finish();
  CHECK(turn.message.content == parsed.content);
  CHECK(turn.message.reasoning == parsed.reasoning);
  CHECK(turn.message.tool_calls.size() == parsed.tool_calls.size());
}

TEST_CASE("a session samples as it is asked to") {
  if (!testing::has_engine()) return;
  const Small small;
  const auto drawn = [&](const StepOptions& options) {
    Session session = small.started(testing::user_chat("hello"));
    return turn_of(session, options).ids;
  };
  StepOptions options = at_most(12);
  const testing::Ids greedy = drawn(options);
  options.seed = 7;
  CHECK(drawn(options) == greedy);
  options.temperature = 3.0F;
  const testing::Ids warm = drawn(options);
  CHECK(drawn(options) == warm);
  options.seed = 8;
  CHECK(drawn(options) != warm);
  options.top_k = 1;
  CHECK(drawn(options) == greedy);
  options.top_k = 0;
  options.top_p = 1e-6F;
  CHECK(drawn(options) == greedy);
  CHECK(drawn(at_most(1)).size() == 1);
}

TEST_CASE("a session's turns alternate, and what does not fit leaves it as it is") {
  if (!testing::has_engine()) return;
  const Small small;
  Session session = small.started(testing::user_chat("hello"));
  turn_of(session, at_most(4));
  const testing::Ids before = session.ids();
  const auto again = session.step({});
  REQUIRE_FALSE(again.ok());
  CHECK(again.error().code == ErrorCode::kInvalidArgument);
  const auto refused = [&](const char* messages) {
    const Status added = session.add(messages);
    REQUIRE_FALSE(added.ok());
    return added.error();
  };
  CHECK(refused("[").source == "new_messages");
  CHECK(refused("[{\"content\": \"x\"}]").message == "new_messages[0] has no `role`");
  CHECK(refused(R"([{"role": "assistant", "content": "x"}])").code == ErrorCode::kInvalidArgument);
  CHECK(refused(R"([{"role": "wizard", "content": "x"}])").message == "no such role: wizard");
  CHECK(session.ids() == before);
  Session moved = std::move(session);
  CHECK(moved.ids() == before);
  REQUIRE(moved.add(kNext).ok());
  CHECK(moved.step(at_most(2)).ok());
}

TEST_CASE("a session has the template that is named, the tools of its chat, and the room that is asked for") {
  if (!testing::has_engine()) return;
  const Small small;
  SessionOptions options;
  options.template_path = small.folder().file("own.jinja", "{% for m in messages %}<{{ m.content }}>{% endfor %}");
  const Model model = testing::tiny_model();
  CHECK(small.started(testing::user_chat("hello"), options).ids() == testing::tokens(model, "<hello>"));
  options.template_path = small.folder().path("nowhere.jinja");
  CHECK(small.start(testing::user_chat(), options).error().code == ErrorCode::kNotFound);

  Chat chat = testing::user_chat("hello");
  chat.tools = R"([{"name": "f"}])";
  CHECK(small.started(chat).ids() ==
        testing::tokens(model, "<bos>[[tool {\"name\": \"f\"}~fin~[[user: hello~fin~[[assistant: "));
  chat.messages = R"([{"role": "wizard", "content": "x"}])";
  CHECK(small.start(chat).error().message == "no such role: wizard");

  options = {};
  options.threads = 0;
  CHECK(small.start(testing::user_chat(), options).error().code == ErrorCode::kInvalidArgument);
  options.threads = 1;
  options.context_tokens = 256;
  Session narrow = small.started(testing::user_chat(std::string(300, 'x')), options);
  CHECK(narrow.step({}).error().code == ErrorCode::kLimit);
  Session full = small.started(testing::user_chat(std::string(220, 'x')), options);
  StepOptions step = at_most(500);
  step.temperature = 1.0F;
  const Turn turn = turn_of(full, step);
  CHECK(turn.ids.size() < 30);
  CHECK((turn.stop == "context_full" || turn.stop == "stop"));
}

}  // namespace
}  // namespace rondo
