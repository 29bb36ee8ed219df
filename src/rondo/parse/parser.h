// The parser of sampled text, derived from a Format: text or tokens in, events out, nothing lost.
//
//   Parser parser(format, options);
//   for (...) use(parser.feed(piece));          // events as soon as they are certain; they live until the next call
//   use(parser.close());                        // what was held back
//   Result<chat::AssistantMessage> message = parser.finish();
//
// Laws: the events of any chunking, joined, are the same; every byte lies in exactly one event; nothing that was
// reported is taken back; a byte is held back only while it may still be part of a marker, of a call whose name is
// not known yet, or of a value whose type is not.  Work per byte is constant.  Not thread-safe; the Format is shared.
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
  std::string_view bytes;   // may be part of a character
  bool is_special = false;  // an added token, which no text can spell
};

struct Options {
  std::optional<json::Value> tools;  // an array of definitions, as for a template
  bool calls = true;                 // false: tool_choice "none", no call is recognised
  bool parallel_calls = true;        // false: a second call is still reported as one, and is a mistake
  bool must_call = false;            // true: tool_choice "required", or a named tool; no call at all is a mistake
  std::string only_tool;             // the named tool; a call of another one is a mistake
  bool json_answer = false;          // an answer was asked for by a schema: one block of JSON in a fence is that JSON
  bool inline_reasoning = false;     // reasoning with its markers stays in the content
  bool partial = false;              // the text is cut off: what may be a marker's beginning is left out
  bool strict = false;               // finish() fails on the first malformed construct
  // The texts of the vocabulary's added tokens.  What is fed as pieces is then a marker only where its part that is such
  // a token came as one: the same characters spelled by ordinary tokens are text.  Text that is fed as such has no tokens
  // and is not affected.
  std::vector<std::string> special_tokens;
  // The end of the prompt, or all of it: says whether reasoning or content is already open.  What a continued message
  // already has of its text is part of the result.
  std::string prompt_tail;
};

enum class EventKind : std::uint8_t {
  kMarker,  // syntax of the format; no text
  kContent,
  kReasoning,
  kCallStart,  // a call whose name is known
  kCallId,     // the id of a call, where it comes after the name
  kArguments,  // the next part of a call's arguments
  kCallEnd,
};

struct Event {
  EventKind kind = EventKind::kMarker;
  std::size_t begin = 0;  // bytes of the sampled text that it stands for; the prompt's tail has none
  std::size_t end = 0;
  std::string text;               // kContent, kReasoning, kArguments: the delta; kCallStart: the name; kCallId: the id
  std::size_t call = 0;           // index, for the call events
  std::optional<std::string> id;  // kCallStart, if the model wrote one before
  bool of_reasoning = false;  // kMarker: it opens or closes reasoning, or is white space that belongs to such a marker
};

// Where the next byte would belong.
enum class Place : std::uint8_t { kReasoning, kContent, kCall, kEnded };

// What all parsers of one format and one list of tools share.  Immutable, for any number of threads.
class Syntax;
// Making it takes longer than parsing a short text.  `options` hold for all its parsers, but for prompt_tail.
// REQUIRES: format is not null and verify() has no objection.
[[nodiscard]] std::shared_ptr<const Syntax> compile(std::shared_ptr<const format::Format> format, Options options);

class Parser {
 public:
  // REQUIRES: as compile().
  Parser(std::shared_ptr<const format::Format> format, Options options);
  // The same without its set-up; `prompt_tail` as in Options.  `begun` is what stands behind it of a message that is
  // continued, and is part of the result.  REQUIRES: syntax is not null.
  Parser(std::shared_ptr<const Syntax> syntax, std::string_view prompt_tail, std::string_view begun = {});
  ~Parser();
  Parser(Parser&&) noexcept;
  Parser& operator=(Parser&&) noexcept;

  // The events that are certain now.  They belong to the parser and are valid until its next call of feed, close or
  // finish: a token of plain text costs no allocation.
  [[nodiscard]] std::span<const Event> feed(std::string_view text);
  [[nodiscard]] std::span<const Event> feed(std::span<const Piece> pieces);
  // The text ends here: reports what was held back.  Nothing may be fed afterwards.
  [[nodiscard]] std::span<const Event> close();

  // The message so far.
  [[nodiscard]] const chat::AssistantMessage& message() const;
  // close(), then the message.  With Options::strict fails with kParse and the byte offset of the first mistake.
  [[nodiscard]] Result<chat::AssistantMessage> finish();

  [[nodiscard]] Place place() const;
  // True once a stop was seen; later bytes belong to nobody.
  [[nodiscard]] bool ended() const;
  // What the format writes to close everything that is open here (a value, an argument, a call, the reasoning), without
  // the stop of the turn.
  [[nodiscard]] std::string closing_text() const;
  // True inside of a JSON value: closing_text() goes on from the last byte there.  Elsewhere the text may end with the beginning
  // of what closes it.
  [[nodiscard]] bool is_inside_json() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

// What leads out of a state of the parser, and where to.
struct StateExit {
  std::string marker;  // without the white space around it, which may be any
  std::string next;
};
struct StateView {
  std::string name;
  std::vector<StateExit> exits;
};
// What is looked for where, for people.  "start" is where a turn begins and where it goes on behind reasoning, content and
// calls; text that is no marker there begins the content.
[[nodiscard]] std::vector<StateView> states(std::shared_ptr<const format::Format> format, Options options);

// All of `text` at once.
[[nodiscard]] Result<chat::AssistantMessage> parse(std::shared_ptr<const format::Format> format, Options options,
                                                   std::string_view text);

}  // namespace rondo::parse
