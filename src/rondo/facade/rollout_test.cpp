#include "rondo/rollout.h"

#include <algorithm>

#include "tests/support/facade_models.h"

namespace rondo {
namespace {

using testing::Ids;
using testing::tiny_model;
using testing::tokens;
using testing::user_chat;

// Shows reasoning of the last turn only.
constexpr const char* kTrimming = R"({%- for m in messages %}
{{- '[[' + m.role + ': ' }}
{%- if m.reasoning_content and loop.last %}{{- '(*mull ' + m.reasoning_content + ' mull*)' }}{% endif %}
{{- (m.content or '') + '~fin~' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '[[assistant: ' }}{% endif %})";

constexpr const char* kQuestion = R"([{"role": "user", "content": "Ok"}])";
constexpr const char* kResult = R"([{"role": "tool", "content": "4"}])";

Rollout rollout_of(const Model& model, const Chat& chat = user_chat()) {
  auto rollout = Rollout::start(model, chat);
  REQUIRE_MESSAGE(rollout.ok(), rollout.error().to_string());
  return std::move(rollout).value();
}

bool begins_with(const Ids& ids, const Ids& beginning) {
  return ids.size() >= beginning.size() && std::equal(beginning.begin(), beginning.end(), ids.begin());
}

TEST_CASE("a rollout starts with the prompt and never changes what it has") {
  const Model model = tiny_model();
  Rollout rollout = rollout_of(model);
  Ids ids = rollout.ids();
  CHECK(ids == model.encode(user_chat()).value().ids);
  for (const char* said : {"Yo~fin~", "(*mull hm mull*)And{!do add with {\"a\":1} do!}~fin~", "cut o"}) {
    const Ids sampled = tokens(model, said);
    REQUIRE(rollout.complete(sampled).ok());
    ids.insert(ids.end(), sampled.begin(), sampled.end());
    CHECK(rollout.ids() == ids);
    const auto extended = rollout.extend(kQuestion);
    REQUIRE_MESSAGE(extended.ok(), extended.error().to_string());
    CHECK(begins_with(rollout.ids(), ids));
    CHECK(extended.value().begin == ids.size());
    CHECK(extended.value().kept == ids.size());
    ids = rollout.ids();
  }
  CHECK(
      model.detokenize(ids).value() ==
      "<bos>[[user: Hi~fin~[[assistant: Yo~fin~[[user: Ok~fin~[[assistant: (*mull hm mull*)And{!do add with {\"a\":1} "
      "do!}~fin~[[user: Ok~fin~[[assistant: cut o~fin~[[user: Ok~fin~[[assistant: ");
}

TEST_CASE("a rollout tells what of its first messages was given otherwise than it was sent") {
  const Model model = tiny_model();
  Chat chat = user_chat();
  chat.messages = R"([{"role": "user", "content": "Hi"}, {"role": "assistant", "content": null, "tool_calls": [
      {"type": "function", "function": {"name": "add", "arguments": "{}"}}]}, {"role": "tool", "content": "4"}])";
  const Rollout rollout = rollout_of(model, chat);
  CHECK_FALSE(rollout.shaped().empty());
  CHECK(rollout.shaped() == model.encode(chat).value().shaped);
  CHECK(rollout.notes().empty());
}

TEST_CASE("a rollout says what was sampled, whose it is and what it said") {
  const Model model = tiny_model();
  Rollout rollout = rollout_of(model);
  const std::size_t prompt = rollout.ids().size();
  const Ids sampled = tokens(model, "{!do add with {\"a\":1} do!}~fin~");
  const auto said = rollout.complete(sampled);
  REQUIRE(said.ok());
  REQUIRE(said.value().tool_calls.size() == 1);
  CHECK(said.value().tool_calls.front().name == "add");
  CHECK(said.value().complete);
  REQUIRE(rollout.extend(kResult).ok());
  const std::size_t size = rollout.ids().size();
  const std::vector<std::uint8_t> mask = rollout.sampled_mask();
  const Ids owners = rollout.message_indices();
  REQUIRE(mask.size() == size);
  REQUIRE(owners.size() == size);
  for (std::size_t i = 0; i < size; ++i) {
    const bool is_sampled = i >= prompt && i < prompt + sampled.size();
    CHECK((mask[i] != 0) == is_sampled);
    if (is_sampled) CHECK(owners[i] == 1);
  }
  CHECK(owners[prompt + sampled.size()] == 2);
  const std::string messages = rollout.messages();
  CHECK(messages.starts_with(R"([{"role":"user","content":"Hi"},{"role":"assistant",)"));
  CHECK(messages.ends_with(R"({"role":"tool","content":"4"}])"));
}

TEST_CASE("what does not fit leaves a rollout as it was") {
  const Model model = tiny_model();
  Rollout rollout = rollout_of(model);
  const auto unchanged = [&](const Ids& ids, const std::string& messages) {
    CHECK(rollout.ids() == ids);
    CHECK(rollout.messages() == messages);
  };
  Ids ids = rollout.ids();
  std::string messages = rollout.messages();
  CHECK(rollout.extend(kQuestion).error().code == ErrorCode::kInvalidArgument);  // nobody has spoken
  CHECK(rollout.complete({3, 99999}).error().code == ErrorCode::kTokenizer);
  CHECK(rollout.complete({-1}).error().code == ErrorCode::kTokenizer);
  unchanged(ids, messages);
  REQUIRE(rollout.complete(tokens(model, "Yo~fin~")).ok());
  CHECK(rollout.complete(tokens(model, "Yo~fin~")).error().code == ErrorCode::kInvalidArgument);
  ids = rollout.ids();
  messages = rollout.messages();
  CHECK(rollout.extend("[{").error().code == ErrorCode::kJson);
  CHECK(rollout.extend("[{").error().source == "new_messages");
  CHECK(rollout.extend("").error().message == "the field `new_messages` is missing");
  CHECK(rollout.extend("{}").error().message == "new_messages must be an array of objects, found an object");
  CHECK(rollout.extend(R"([{"content": "x"}])").error().message == "new_messages[0] has no `role`");
  CHECK(rollout.extend(R"([{"role": "assistant", "content": "x"}])").error().code == ErrorCode::kInvalidArgument);
  CHECK(rollout.extend(R"([{"role": "wizard", "content": "x"}])").error().code == ErrorCode::kTemplateRaised);
  unchanged(ids, messages);
  REQUIRE(rollout.extend(kQuestion).ok());
  CHECK(begins_with(rollout.ids(), ids));
}

TEST_CASE("a turn that was cut off is closed, and that is noted") {
  const Model model = tiny_model();
  Rollout rollout = rollout_of(model);
  REQUIRE(rollout.complete(tokens(model, "(*mull hm")).ok());
  const auto extended = rollout.extend(kQuestion);
  REQUIRE(extended.ok());
  CHECK_FALSE(extended.value().notes.empty());
  CHECK(model.detokenize(rollout.ids()).value().find("(*mull hm mull*)~fin~[[user: Ok") != std::string::npos);
}

// The text after a turn with reasoning and a question.
std::string after_question(Retention retention, std::size_t& kept, std::size_t& old_size) {
  const Model model = testing::model_with(kTrimming);
  Rollout rollout = rollout_of(model);
  REQUIRE(rollout.complete(tokens(model, "(*mull hm mull*)Yo~fin~")).ok());
  old_size = rollout.ids().size();
  const auto extended = rollout.extend(kQuestion, retention);
  REQUIRE_MESSAGE(extended.ok(), extended.error().to_string());
  kept = extended.value().kept;
  return model.detokenize(rollout.ids()).value();
}

TEST_CASE("retention says what of earlier reasoning stays") {
  const std::string all = "[[user: Hi~fin~[[assistant: (*mull hm mull*)Yo~fin~[[user: Ok~fin~[[assistant: ";
  const std::string cut = "[[user: Hi~fin~[[assistant: Yo~fin~[[user: Ok~fin~[[assistant: ";
  std::size_t kept = 0;
  std::size_t old_size = 0;
  for (const Retention retention : {Retention::kAll, Retention::kAllThinking}) {
    CHECK(after_question(retention, kept, old_size) == all);
    CHECK(kept == old_size);
  }
  for (const Retention retention :
       {Retention::kTemplate, Retention::kToolCycle, Retention::kThinkingBetweenToolCalls}) {
    CHECK(after_question(retention, kept, old_size) == cut);
    CHECK(kept < old_size);
  }
}

TEST_CASE("inside a tool cycle reasoning stays, where the retention says so") {
  const Model model = testing::model_with(kTrimming);
  const auto text_after_result = [&](Retention retention) {
    Rollout rollout = rollout_of(model);
    REQUIRE(rollout.complete(tokens(model, "(*mull hm mull*)Yo~fin~")).ok());
    REQUIRE(rollout.extend(kResult, retention).ok());
    return model.detokenize(rollout.ids()).value();
  };
  for (const Retention retention :
       {Retention::kAll, Retention::kToolCycle, Retention::kThinkingBetweenToolCalls, Retention::kAllThinking})
    CHECK(text_after_result(retention).find("(*mull hm mull*)") != std::string::npos);
  CHECK(text_after_result(Retention::kTemplate).find("(*mull") == std::string::npos);
}

TEST_CASE("a chat that does not fit starts no rollout") {
  const Model model = tiny_model();
  Chat chat = user_chat();
  chat.messages = "";
  CHECK(Rollout::start(model, chat).error().message == "the field `messages` is missing");
  chat.messages = R"([{"role": "wizard"}])";
  CHECK(Rollout::start(model, chat).error().code == ErrorCode::kTemplateRaised);
}

TEST_CASE("rollouts of one model know nothing of each other") {
  const Model model = tiny_model();
  Rollout one = rollout_of(model);
  Rollout other = rollout_of(model, user_chat("Ho"));
  REQUIRE(one.complete(tokens(model, "Yo~fin~")).ok());
  CHECK(other.ids() == model.encode(user_chat("Ho")).value().ids);
  Rollout moved = std::move(one);
  REQUIRE(moved.extend(kQuestion).ok());
  CHECK(moved.ids().size() > other.ids().size());
}

}  // namespace
}  // namespace rondo
