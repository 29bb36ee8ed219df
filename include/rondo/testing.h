// Tests of a chat template, in one line each.
//
//   for (const std::string& failure : rondo::testing::check(model)
//            .messages(R"([{"role": "user", "content": "Weather in Oslo?"}])").tools(kTools)
//            .contains("Oslo")
//            .parses(R"({!do get_weather with {"location": "Oslo"} do!}~fin~)",
//                    R"({"tool_calls": [{"name": "get_weather"}]})")
//            .in_pieces().grammar_accepts().bridges(R"([{"role": "tool", "content": "18 degrees"}])")
//            .failures())
//     ADD_FAILURE() << failure;   // or what your tests do with one
//
// Each call checks its expectation at once.  Nothing throws: failures() returns one text per failure, which shows the
// difference and the template line that wrote it.  docs/tester.md defines the expectations.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rondo/model.h"

namespace rondo::testing {

// Not thread-safe.  Any number of Check objects may share a model.
class Check {
 public:
  explicit Check(const Model& model);
  ~Check();
  Check(Check&&) noexcept;
  Check& operator=(Check&&) noexcept;

  // Sets the input for all expectations that follow.  The texts are JSON as in rondo::Chat, and so is `now`.
  Check& messages(const std::string& json) { return input("messages", json); }
  Check& tools(const std::string& json) { return input("tools", json); }
  Check& kwargs(const std::string& json) { return input("kwargs", json); }
  Check& now(const std::string& time);
  // Sets any other key of a test case: "documents", "tool_choice", "response_schema", ...
  Check& input(const std::string& key, const std::string& json);

  Check& renders(const std::string& text);   // the prompt is this text
  Check& contains(const std::string& text);  // the prompt contains it
  Check& excludes(const std::string& text);  // the prompt does not contain it
  Check& encodes(const std::vector<std::int32_t>& ids);
  Check& learns(const std::vector<std::string>& texts);  // the id ranges with these texts are exactly the learned ones
  Check& fails(const std::string& message);              // the template fails, and its message contains this

  // Sets what a model wrote after the prompt.  The expectations that follow are about this text; without it, they are
  // about the last message's turn.
  Check& writes(const std::string& text);
  // Expects that `text` reads as the message that `json` describes: content, reasoning, tool_calls, complete, place.
  Check& parses(const std::string& text, const std::string& json);
  Check& in_pieces();                               // the text reads the same however it is cut into pieces
  Check& round_trips();                             // the last message reads back from its own turn
  Check& bridges(const std::string& new_messages);  // a bridge appends what a full render would write
  Check& grammar_accepts();                         // the grammar accepts the written text
  Check& grammar_accepts(const std::string& text);  // the grammar accepts this text
  Check& grammar_refuses(const std::string& text);  // the grammar refuses this text
  Check& holds();  // the laws that every conversation must keep; ignores the written text
  // Checks any expectation of a test case by its key, with its value as JSON.
  Check& expect(const std::string& key, const std::string& json);

  [[nodiscard]] bool passed() const;
  [[nodiscard]] std::vector<std::string> failures() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] inline Check check(const Model& model) { return Check(model); }

}  // namespace rondo::testing
