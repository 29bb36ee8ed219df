// Reads what a model writes, while it writes.
//
//   auto parser = rondo::Parser::start(model, chat);
//   for (...) for (const rondo::ParseEvent& event : parser.value().feed(ids).value()) show(event);
//   rondo::Parsed said = parser.value().finish().value();
//
// Nothing is lost: the texts of the events, joined, are the message.  The parser never takes back what it reported.
// Not thread-safe; different parsers may live in different threads.
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
    kCallId,     // `text` is the call's id, where it comes behind the name
    kArguments,  // `text` is the next part of the call's arguments
    kCallEnd,
  };
  Kind kind = Kind::kContent;
  std::string text;
  std::size_t call = 0;           // of the call's events: its index
  std::optional<std::string> id;  // of kCallStart, if the model wrote one before the name
};

class Parser {
 public:
  // The parser of what the model writes behind the prompt of `chat`.  Fails as Model::parse().
  [[nodiscard]] static Result<Parser> start(const Model& model, const Chat& chat);
  ~Parser();
  Parser(Parser&&) noexcept;
  Parser& operator=(Parser&&) noexcept;

  // What is certain now.  A character may be cut anywhere.  Ids and text may be mixed; text ends what ids before it began
  // of a character.  Fail with kInvalidArgument once the parser is closed, and ids with kTokenizer if one is out of range;
  // nothing was fed then.
  [[nodiscard]] Result<std::vector<ParseEvent>> feed(const std::vector<std::int32_t>& ids);
  [[nodiscard]] Result<std::vector<ParseEvent>> feed(std::string_view text);
  // The end: what was held back.  Nothing may be fed afterwards.
  [[nodiscard]] std::vector<ParseEvent> close();

  // The message so far.
  [[nodiscard]] Parsed message() const;
  // The arguments of call `index` so far, as JSON text that is closed where it breaks off: {"city":"Par"}.  "null" before
  // they have begun.  REQUIRES: index < message().tool_calls.size().
  [[nodiscard]] std::string partial_arguments(std::size_t index) const;
  // A JSON pointer to the innermost of these values that the model is still writing: "/city".  All others are complete.
  // nullopt if all are.  rondo/partial_value.h reads other text so.
  [[nodiscard]] std::optional<std::string> open_argument(std::size_t index) const;
  // close(), then the message.
  [[nodiscard]] Parsed finish();

 private:
  struct State;
  explicit Parser(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rondo
