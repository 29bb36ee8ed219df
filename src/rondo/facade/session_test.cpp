#include "rondo/session.h"

#include "facade/testing.h"

namespace rondo {
namespace {

// A file that is in order and holds nothing.
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
  const testing::File text(".gguf", "no model");
  CHECK(refused(text.path()) == ErrorCode::kTokenizer);
  const testing::File cut("_cut.gguf", empty_gguf().substr(0, 12));
  CHECK(refused(cut.path()) == ErrorCode::kTokenizer);
}

TEST_CASE("a session needs a chat, a tokenizer and a template") {
  const testing::File file(".gguf", empty_gguf());
  const auto refused = [&](const Chat& chat, const SessionOptions& options) {
    const auto session = Session::start(file.path(), chat, options);
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

}  // namespace
}  // namespace rondo
