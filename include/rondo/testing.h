// Tests of a chat template, in one line each.
//
//   for (const std::string& failure : rondo::testing::check(model)
//            .messages(R"([{"role": "user", "content": "Weather in Oslo?"}])").tools(kTools)
//            .contains("Oslo")
//            .parses(R"({!do get_weather with {"location": "Oslo"} do!}~fin~)", R"({"tool_calls": [{"name": "get_weather"}]})")
//            .in_pieces().grammar_accepts().bridges(R"([{"role": "tool", "content": "18 degrees"}])")
//            .failures())
//     ADD_FAILURE() << failure;   // or what your tests do with one
//
// Each call checks its expectation at once.  Nothing is thrown: failures() collects a text for each failure, which shows what
// differs and the line of the template that wrote it.  docs/tester.md says what the expectations mean.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "rondo/model.h"

namespace rondo::testing {

// Not thread-safe; any number of them may share a model.
class Check {
 public:
  explicit Check(const Model& model);
  ~Check();
  Check(Check&&) noexcept;
  Check& operator=(Check&&) noexcept;

  // The input, of all expectations behind it.  JSON texts, as in rondo::Chat; `now` as there.
  Check& messages(const std::string& json) { return input("messages", json); }
  Check& tools(const std::string& json) { return input("tools", json); }
  Check& kwargs(const std::string& json) { return input("kwargs", json); }
  Check& now(const std::string& time);
  // Any other key of a case: "documents", "tool_choice", "response_schema", ...
  Check& input(const std::string& key, const std::string& json);

  Check& renders(const std::string& text);   // the prompt is this text
  Check& contains(const std::string& text);  // the prompt holds it
  Check& excludes(const std::string& text);  // the prompt does not
  Check& encodes(const std::vector<std::int32_t>& ids);
  Check& learns(const std::vector<std::string>& texts);  // the stretches of ids that are learned
  Check& fails(const std::string& message);              // the template fails with a message that holds this

  // What a model wrote behind the prompt: what follows is about that, else about the last message's turn.
  Check& writes(const std::string& text);
  // It is the message that `json` describes: content, reasoning, tool_calls, complete, place.
  Check& parses(const std::string& text, const std::string& json);
  Check& in_pieces();                               // it is read the same in any pieces
  Check& round_trips();                             // the last message is read from its own turn
  Check& bridges(const std::string& new_messages);  // what a bridge appends is what a re-render writes
  Check& grammar_accepts();                         // the grammar accepts what was written
  Check& grammar_accepts(const std::string& text);  // or this text
  Check& grammar_refuses(const std::string& text);  // or not
  Check& holds();                                   // the laws of any conversation, without what was written
  // Any expectation of a case by its key, as JSON.
  Check& expect(const std::string& key, const std::string& json);

  [[nodiscard]] bool passed() const;
  [[nodiscard]] std::vector<std::string> failures() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] inline Check check(const Model& model) { return Check(model); }

}  // namespace rondo::testing
