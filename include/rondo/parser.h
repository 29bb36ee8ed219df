// Reads what a model writes, while it writes.
//
//   auto parser = rondo::Parser::start(model, chat);
//   for (...) for (const rondo::ParseEvent& event : parser.value().feed(ids).value()) show(event);
//   rondo::Parsed said = parser.value().finish();
//
// Nothing is lost: the texts of all events, joined, make up the message.  The parser never takes back an event.  Not
// thread-safe; different parsers may be used in different threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/model.h"
#include "rondo/result.h"

namespace rondo {

struct ParseEvent {
  enum class Kind : std::uint8_t {
    kContent,
    kReasoning,
    kCallStart,  // `text` is the call's name
    kCallId,     // `text` is the call's id, if the model wrote it after the name
    kArguments,  // `text` is the next part of the call's arguments
    kCallEnd,
  };
  Kind kind = Kind::kContent;
  std::string text;
  std::size_t call = 0;           // for events of a call: the call's index
  std::optional<std::string> id;  // for kCallStart: the id, if the model wrote one before the name
};

class Parser {
 public:
  // Makes a parser for what the model writes after the prompt of `chat`.  Fails as Model::parse() does.
  [[nodiscard]] static Result<Parser> start(const Model& model, const Chat& chat);
  ~Parser();
  Parser(Parser&&) noexcept;
  Parser& operator=(Parser&&) noexcept;

  // Feeds the next ids or the next text, and returns the events that are now certain.  A character may be split between
  // two calls.  Ids and text may be mixed, but text ends a character that earlier ids left incomplete.  Both fail with
  // kInvalidArgument after close().  Feeding ids fails with kTokenizer if one of them is out of range.  A call that
  // fails feeds nothing.
  [[nodiscard]] Result<std::vector<ParseEvent>> feed(const std::vector<std::int32_t>& ids);
  [[nodiscard]] Result<std::vector<ParseEvent>> feed(std::string_view text);
  // Ends the text and returns the events that were held back.  Nothing may be fed afterwards.
  [[nodiscard]] std::vector<ParseEvent> close();

  // Returns the message so far.
  [[nodiscard]] Parsed message() const;
  // Returns the arguments of call `index` so far as JSON text, with everything closed that is still open:
  // {"city":"Par"}.  Returns "null" before they begin.
  //
  // REQUIRES: index < message().tool_calls.size().
  [[nodiscard]] std::string partial_arguments(std::size_t index) const;
  // Returns a JSON pointer to the innermost argument value that the model is still writing, such as "/city".  All other
  // values are complete.  Returns nullopt if every value is complete.  rondo/partial_value.h does the same for any JSON
  // text.
  [[nodiscard]] std::optional<std::string> open_argument(std::size_t index) const;
  // Calls close(), then returns the message.
  [[nodiscard]] Parsed finish();

 private:
  struct State;
  explicit Parser(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rondo
