// The parser of sampled text, derived from a Format.  Text or tokens go in, events come out, and nothing is lost.
//
//   Parser parser(format, options);
//   for (...) use(parser.feed(piece));          // events as soon as they are certain; they live until the next call
//   use(parser.close());                        // what was held back
//   Result<chat::AssistantMessage> message = parser.finish();
//
// These laws hold.  The joined events do not depend on how the text was cut.  Each byte is in exactly one event.  No
// event is ever taken back.  A byte is held back only while it may still be part of a marker, of a call whose name is
// unknown, or of a value whose type is unknown.  The work per byte is constant.
//
// Not thread-safe.  Parsers may share a Format.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chat/conversation.h"
#include "format/format.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::parse {

// A token as the parser sees it.
struct Piece {
  std::int32_t id = -1;     // -1: plain text
  std::string_view bytes;   // may end inside a character
  bool is_special = false;  // an added token, which ordinary text cannot spell
};

struct Options {
  std::optional<json::Value> tools;  // an array of definitions, as a template gets them
  bool calls = true;                 // false: tool_choice "none"; no call is recognised
  bool parallel_calls = true;        // false: a second call is still reported, as a mistake
  bool must_call = false;            // true: tool_choice "required" or a named tool; a turn without a call is a mistake
  std::string only_tool;             // the named tool; a call of another tool is a mistake
  bool json_answer = false;  // the request has a schema for the answer: a single fenced block of JSON is that answer
  bool inline_reasoning = false;  // keep reasoning and its markers in the content
  bool partial = false;           // the text is cut off: drop what may be the beginning of a marker
  bool strict = false;            // finish() fails at the first malformed construct
  // The texts of the vocabulary's added tokens.  In input that is fed as pieces, a marker that contains such a token
  // then counts only if the token came as one piece: the same characters spelled with ordinary tokens are text.  Input
  // that is fed as text has no tokens and is not affected.
  std::vector<std::string> special_tokens;
  // The whole prompt, or its end.  It tells whether reasoning or content is already open.  If a message is continued,
  // the result includes the text that the prompt already has of it.
  std::string prompt_tail;
};

enum class EventKind : std::uint8_t {
  kMarker,  // syntax of the format; has no text
  kContent,
  kReasoning,
  kCallStart,  // a call whose name is known
  kCallId,     // the id of a call, if it comes after the name
  kArguments,  // the next part of a call's arguments
  kCallEnd,
};

struct Event {
  EventKind kind = EventKind::kMarker;
  std::size_t begin = 0;  // the range of sampled text that it stands for; empty for the prompt's tail
  std::size_t end = 0;
  std::string text;      // kContent, kReasoning, kArguments: the new text; kCallStart: the name; kCallId: the id
  std::size_t call = 0;  // for events of a call: its index
  std::optional<std::string> id;  // kCallStart: the id, if the model wrote one before the name
  bool of_reasoning = false;      // kMarker: it opens or closes reasoning, or is white space of such a marker
};

// The place that the next byte would belong to.
enum class Place : std::uint8_t { kReasoning, kContent, kCall, kEnded };

// What all parsers of one format and one list of tools share.  Immutable; any number of threads may use it.
class Syntax;
// Compiles a format, which takes longer than parsing a short text.  `options` apply to all its parsers, except
// prompt_tail.
//
// REQUIRES: format is not null, and its verify() returns nullopt.
[[nodiscard]] std::shared_ptr<const Syntax> compile(std::shared_ptr<const format::Format> format, Options options);

class Parser {
 public:
  // REQUIRES: as compile().
  Parser(std::shared_ptr<const format::Format> format, Options options);
  // Makes a parser without the set-up work.  `prompt_tail` is as in Options.  `begun` is the text after it of a
  // continued message; it becomes part of the result.
  //
  // REQUIRES: syntax is not null.
  Parser(std::shared_ptr<const Syntax> syntax, std::string_view prompt_tail, std::string_view begun = {});
  ~Parser();
  Parser(Parser&&) noexcept;
  Parser& operator=(Parser&&) noexcept;

  // Feeds input and returns the events that are now certain.  They belong to the parser and are valid until the next
  // call of feed, close or finish.  A token of plain text therefore needs no allocation.
  [[nodiscard]] std::span<const Event> feed(std::string_view text);
  [[nodiscard]] std::span<const Event> feed(std::span<const Piece> pieces);
  // Ends the text and returns the events that were held back.  Nothing may be fed afterwards.
  [[nodiscard]] std::span<const Event> close();

  // Returns the message so far.
  [[nodiscard]] const chat::AssistantMessage& message() const;
  // Calls close(), then returns the message.  With Options::strict, fails with kParse and the byte offset of the first
  // mistake.
  [[nodiscard]] Result<chat::AssistantMessage> finish();

  [[nodiscard]] Place place() const;
  // Returns true once a stop was seen.  Later bytes belong to no message.
  [[nodiscard]] bool ended() const;
  // Returns whether the token `stop` ends the turn as the template ends it.  `text` is all that was fed before it.
  // You may feed such a stop too.  Text that the template writes before it, such as a line end, is then not content.
  [[nodiscard]] bool ends_turn(std::string_view text, std::string_view stop) const;
  // Returns the text that the format writes to close everything that is open (a value, an argument, a call, the
  // reasoning), without the stop of the turn.
  [[nodiscard]] std::string closing_text() const;
  // Returns whether closing_text() continues from the last byte.  It does so inside a value of JSON, inside another
  // value that its own brackets and quotes end, and inside the opener of a call.  Elsewhere the text may end with the
  // beginning of a closing marker.
  [[nodiscard]] bool closes_from_end() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

// A way out of a state of the parser.
struct StateExit {
  std::string marker;  // without the white space around it, which may differ
  std::string next;
};
struct StateView {
  std::string name;
  std::vector<StateExit> exits;
};
// Returns, for people, what the parser looks for in each state.  "start" is where a turn begins, and where it continues
// after reasoning, content or calls.  In this state, text that is not a marker begins the content.
[[nodiscard]] std::vector<StateView> states(std::shared_ptr<const format::Format> format, Options options);

// Parses a whole text at once.
[[nodiscard]] Result<chat::AssistantMessage> parse(std::shared_ptr<const format::Format> format, Options options,
                                                   std::string_view text);

}  // namespace rondo::parse
