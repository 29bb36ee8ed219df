#include "rondo/transcript.h"

#include "tests/support/facade_models.h"

namespace rondo {
namespace {

using testing::tiny_model;
using testing::user_chat;

TEST_CASE("a transcript grows as rendering all messages does, and says how") {
  const Model model = tiny_model();
  Chat chat = user_chat();
  auto started = Transcript::start(model, chat);
  REQUIRE_MESSAGE(started.ok(), started.error().to_string());
  Transcript transcript = std::move(started).value();
  CHECK(transcript.text() == model.render(chat).value());
  for (const char* role : {"assistant", "user", "assistant", "user", "assistant"}) {
    const std::string message = std::string(R"({"role":")") + role + R"(","content":"And"})";
    const std::string before = transcript.text();
    const auto grown = transcript.append("[" + message + "]");
    REQUIRE_MESSAGE(grown.ok(), grown.error().to_string());
    CHECK((grown.value().way == "incremental" || grown.value().way == "full"));
    CHECK(!grown.value().why.empty());
    CHECK(transcript.text().substr(0, grown.value().kept) == before.substr(0, grown.value().kept));
    chat.messages = transcript.messages();
    CHECK(transcript.text() == model.render(chat).value());
  }
  CHECK(transcript.append(R"([{"role": "user", "content": "last"}])").value().way == "incremental");
}

TEST_CASE("what is no list of messages is refused, and nothing changes") {
  Transcript transcript = Transcript::start(tiny_model(), user_chat()).value();
  const std::string before = transcript.text();
  CHECK(transcript.append("[{").error().code == ErrorCode::kJson);
  CHECK(!transcript.append(R"([{"content": "no role"}])").ok());
  CHECK(transcript.text() == before);
}

TEST_CASE("a transcript continues no message") {
  Chat chat = user_chat();
  chat.messages = R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Y"}])";
  chat.add_generation_prompt = false;
  chat.continue_field = "content";
  CHECK(Transcript::start(tiny_model(), chat).error().message ==
        "a transcript cannot be continued in its last message: add whole messages");
}

}  // namespace
}  // namespace rondo
