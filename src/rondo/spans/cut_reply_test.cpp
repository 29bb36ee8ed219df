#include "spans/cut_reply.h"

#include <doctest/doctest.h>

#include <string>

#include "tests/support/json.h"
#include "tests/support/span_gateway.h"

namespace rondo::spans {
namespace {

using testing::parsed;

const std::string kQuestion = R"({"role": "user", "content": "Hi"})";

// A conversation whose client left, and shows `shown` of the reply.
struct Left : testing::SpanGateway {
  Left(const std::string& text, const std::string& message, Finish finish, const std::string& shown) {
    broken = finish;
    messages = {parsed(kQuestion)};
    reply = keep(plan(), text, message, true);
    messages.push_back(parsed(shown));
    messages.push_back(parsed(R"({"role": "user", "content": "More"})"));
  }
  TurnKey reply;
};

const std::string kText = "(*mull hm mull*)Once upon a time";
const std::string kMessage = R"({"role": "assistant", "content": "Once upon a time", "reasoning_content": "hm"})";

std::string shown(const std::string& content) { return R"({"role": "assistant", "content": ")" + content + R"("})"; }

}  // namespace

TEST_CASE("bug: a reply whose client had left was written anew, because more was sent than the client got") {
  for (const Finish finish : {Finish::kCancelled, Finish::kFailed}) {
    for (const std::string content : {"Once up", "Once upon", "Once upon ", "O", ""}) {
      CAPTURE(content);
      Left left(kText, kMessage, finish, shown(content));
      const Plan plan = left.plan();
      CHECK(plan.how == How::kBridge);
      const std::string said =
          content == "Once upon" ? "Once upon " : content;  // white space at the end does not count
      CHECK(left.text(plan) ==
            "<bos>[[user>>Hi~fin~[[assistant>>(*mull hm mull*)" + said + "~fin~[[user>>More~fin~[[assistant>>");
      CHECK(plan.rendered == 0);
      CHECK(plan.reattached_reasoning == 1);
      CHECK(plan.notes.front() == "a reply that was cut off ends where the text ends that its client has of it");
      CHECK(!plan.cause);
      REQUIRE(plan.parent != nullptr);
      CHECK(plan.parent->key == left.reply);
      CHECK(plan.expected == plan.parent->ids().size());

      // The next turn holds what the client shows, also after a restart.
      const TurnKey next = left.keep(plan, "Well~fin~", shown("Well"));
      left.messages.push_back(parsed(shown("Well")));
      left.messages.push_back(parsed(kQuestion));
      Spans again(left.store, {1, 2, 3});
      const auto kept = again.turn(left.scope, next).value();
      REQUIRE(kept != nullptr);
      CHECK(parsed(kept->messages[1].get()) == parsed(shown(content)));
      CHECK(kept->reasoned == std::vector<std::size_t>{1});
      const Plan third = left.plan();
      CHECK(third.how == How::kBridge);
      CHECK(std::equal(plan.ids.begin(), plan.ids.end(), third.ids.begin()));
      // The whole reply is still there, for whoever shows it.
      left.messages[1] = parsed(kMessage);
      CHECK(left.text(left.plan()).find("Once upon a time~fin~[[user>>More") != std::string::npos);
    }
  }
}

TEST_CASE("what was not sampled so, or is no beginning, is not known") {
  const auto how = [](const std::string& text, const std::string& message, Finish finish, const std::string& seen) {
    return Left(text, message, finish, seen).plan().how;
  };
  CHECK(how(kText, kMessage, Finish::kLength, shown("Once up")) == How::kRender);  // the client had all of it
  CHECK(how(kText + "~fin~", kMessage, Finish::kCancelled, shown("Once up")) == How::kRender);
  CHECK(how(kText, kMessage, Finish::kCancelled, shown("Twice")) == How::kRender);
  CHECK(how(kText, kMessage, Finish::kCancelled, shown("Once upon a time, and")) == How::kRender);
  CHECK(how(kText, kMessage, Finish::kCancelled,
            R"({"role": "assistant", "content": "Once", "reasoning_content": "other"})") == How::kRender);
  CHECK(how(kText, kMessage, Finish::kCancelled,
            R"({"role": "assistant", "content": "Once", "tool_calls": [{"function": {"name": "f"}}]})") ==
        How::kRender);
}

TEST_CASE("a call that the client has not got is not in the prompt either") {
  Left left("Fine. {!do add with {\"a\": 1} do!}",
            R"({"role": "assistant", "content": "Fine.", "tool_calls":
      [{"id": "c1", "type": "function", "function": {"name": "add", "arguments": "{\"a\": 1}"}}]})",
            Finish::kCancelled, shown("Fi"));
  const Plan plan = left.plan();
  CHECK(plan.how == How::kBridge);
  CHECK(left.text(plan).find("[[assistant>>Fi~fin~[[user>>More") != std::string::npos);
}

}  // namespace rondo::spans
