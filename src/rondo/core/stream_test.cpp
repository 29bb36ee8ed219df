#include "core/stream.h"

#include "tests/support/core_models.h"

namespace rondo::core {
namespace {

using testing::memory_model;
using testing::user_call;

// A stream of what follows the prompt of one user message, and what it has reported.
struct Fixture {
  std::shared_ptr<const Model> model = memory_model();
  ParserStream stream;
  std::string content;

  Fixture() : stream(begun(model)) {}

  static ParserStream begun(const std::shared_ptr<const Model>& model) {
    Call call = user_call();
    return {model, model->parser(call, {}).value()};
  }

  void take(const ParserStream::Events& events) {
    for (const parse::Event& event : events) {
      if (event.kind == parse::EventKind::kContent) content += event.text;
    }
  }
  void ids(const std::vector<TokenId>& ids) {
    const auto events = stream.feed(ids);
    REQUIRE(events.ok());
    take(events.value());
  }
  void text(std::string_view text) { take(stream.feed(text)); }
  void close() { take(stream.close()); }
};

TEST_CASE_FIXTURE(Fixture, "ids and text may be mixed") {
  ids(model->tokenize("one ", true).value());
  text("two ");
  ids(model->tokenize("three", true).value());
  close();
  CHECK(content == "one two three");
  CHECK(stream.text() == "one two three");
  CHECK(stream.parser().message().content == "one two three");
}

TEST_CASE_FIXTURE(Fixture, "a character may be cut anywhere among ids, and among text") {
  const std::string characters = "é€😀";
  const std::vector<TokenId> bytes = model->tokenize(characters, true).value();
  for (const TokenId id : bytes) ids({id});
  for (const char& byte : characters) text(std::string_view(&byte, 1));
  close();
  CHECK(content == "é€😀é€😀");
}

TEST_CASE_FIXTURE(Fixture, "text stands behind what ids began of a character") {
  ids({0xC3});
  text("");  // not one
  ids({0xA9, 0xC3});
  text("x");
  close();
  CHECK(content == "é\uFFFDx");
  CHECK(stream.text() == "é\uFFFDx");
}

TEST_CASE_FIXTURE(Fixture, "the end gives what was held back, once") {
  ids({'a', 0xE2, 0x82});
  CHECK(content == "a");
  CHECK_FALSE(stream.is_closed());
  close();
  CHECK(content == "a\uFFFD");
  CHECK(stream.is_closed());
  CHECK(stream.close().empty());
  CHECK(stream.text() == "a\uFFFD");
}

TEST_CASE_FIXTURE(Fixture, "ids out of range feed nothing") {
  const TokenId size = model->tokenizer()->vocab_size();
  for (const TokenId bad : {-1, size}) {
    const auto refused = stream.feed(std::vector<TokenId>{'a', 'b', bad});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::kTokenizer);
    CHECK(refused.error().source == "ids[2]");
  }
  CHECK(stream.text().empty());
  ids({'c'});
  close();
  CHECK(content == "c");
}

TEST_CASE_FIXTURE(Fixture, "a marker is one as a token or as text, but not spelled by ordinary ids") {
  ids({'~', 'f', 'i', 'n', '~'});
  CHECK_FALSE(stream.parser().ended());
  text("~fin~");
  CHECK(stream.parser().ended());
  close();
  CHECK(content == "~fin~");
  CHECK(stream.parser().message().complete);
}

TEST_CASE("without a tokenizer a stream takes text alone") {
  const auto model = testing::made(Model::load({.path = std::string(testing::kFolder) + "/chat_template.jinja"}));
  Call call = user_call();
  ParserStream stream(model, model->parser(call, {}).value());
  CHECK_FALSE(stream.takes_ids());
  static_cast<void>(stream.feed("hel"));
  static_cast<void>(stream.feed("lo~fin~"));
  static_cast<void>(stream.close());
  CHECK(stream.parser().message().content == "hello");
  CHECK(stream.text() == "hello~fin~");
}

}  // namespace
}  // namespace rondo::core
