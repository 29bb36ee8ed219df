// The state of each construct that the machine may be in, one struct per kind.  Entering a construct starts with a
// fresh struct.  Offsets "in the whole input" count the bytes that the machine was fed, including those of the prompt.
// Internal to parse/.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "chat/conversation.h"
#include "format/format.h"
#include "json/value.h"
#include "parse/fences.h"
#include "parse/marker.h"
#include "parse/markup.h"
#include "parse/parser.h"
#include "parse/values.h"

namespace rondo::parse {

// What the prompt's tail already wrote of the turn, before the first sampled byte.
struct PromptStart {
  std::size_t bytes = 0;       // bytes fed from the tail and from a continued message
  std::size_t generated = 0;   // bytes fed from the tail alone
  std::string open_reasoning;  // the end of the tail, if it opens the reasoning
  std::string inline_open;     // the same if reasoning is part of the content; cleared once it is reported
  bool is_generated = false;   // the tail ends with the template's own text for an answer
  bool lacks_header = false;   // the tail opens no turn: the text itself begins with the header
  bool is_foreign = false;     // the tail is an earlier turn, or text that belongs to no message
};

// White space that the template writes after the last marker, as far as it may still follow.
struct Trail {
  std::string text;
  bool of_reasoning = false;
};

// The place outside reasoning and calls.
struct Top {
  bool is_blank = true;          // only white space came since the last marker
  bool is_layout = false;        // ... and that white space is layout even if nothing follows
  bool is_wrapped = false;       // inside content that an opening marker began
  bool is_preamble = false;      // that was the marker of content before calls
  bool has_header = false;       // in a format with headings: the header was read, the heading was not
  std::size_t answer_begin = 0;  // where the content of a fenced answer begins; offset in the whole input
};

// The place around calls.
struct Section {
  bool is_open = false;
  bool was_open = false;      // whether it was open before the attempt
  bool expects_call = false;  // a separator came last
};

// Reasoning that is open.
struct Thoughts {
  bool are_fresh = false;  // only white space came so far
  bool have_call = false;  // they contain an attempt or a call
  bool is_layout = false;  // after that call there was only white space
  // Their opener is punctuation.  The place of the text that may close it shows whether the opener opens reasoning.
  bool are_doubtful = false;
  const Marker* open = nullptr;
  std::size_t searched = 0;  // offset in the whole input before which that text is not
};

// What opened a call: a whole marker, the last part of a marker, a bracket at the start of the text, or a bracket
// inside the text.
enum class Opening : std::uint8_t { kMarker, kHalf, kBare, kInText };

// Text that may be a call, as long as its name is unknown.
struct Attempt {
  bool is_open = false;
  std::size_t begin = 0;  // offset in the sampled text
  Opening opening = Opening::kMarker;
  bool is_reserved = false;  // its opener has the shape of a control token, which nobody writes by chance
  bool is_prose = false;     // its opener is words and punctuation, which answers may well contain
  bool was_wrapped = false;  // it began inside content that an opening marker began
};

struct Call {
  std::size_t piece = 0;  // index in the format's pieces
  std::string name;
  bool has_name = false;
  std::optional<std::string> id;
  bool is_reported = false;
  bool is_fenced = false;      // its JSON is in a fence
  bool has_arguments = false;  // the arguments have begun
  bool is_string = false;      // the arguments are in a string
  std::size_t parameters = 0;  // how many parameters were read
  std::string open_list;       // a parameter whose values are the items of a list that is still open; "" if none is
  bool takes_item = false;     // the value that is read is an item of a list
  std::string wrapper_close;   // closes a tag around the arguments that the format does not have; "" if none is open
  std::vector<chat::CallProblem> problems;
  std::vector<std::pair<std::string, std::string>> swallowed;  // a parameter, and a name in a tag inside its value
};

// A call that is a JSON object.
struct JsonCall {
  enum class Capture : std::uint8_t { kNone, kName, kId, kArguments, kReasoning, kStray };

  std::size_t depth = 0;  // frame of the call's object; 0: none is open
  Capture capture = Capture::kNone;
  std::size_t capture_depth = 0;
  bool captures_scalar = false;
  // Where the captured value begins: an offset in the whole input, so dropping bytes from the buffer does not move it.
  std::size_t capture_begin = 0;
  // Arguments that were complete before the name was known.
  std::optional<std::pair<std::size_t, std::size_t>> early_arguments;
  bool early_is_loose = false;
  bool may_define = false;  // it may be the definition of a tool: it has a description, or parameters for arguments
  std::string thought;      // reasoning in the call's object that is not yet reported
  std::string stray_key;
  const format::JsonConstant* constant = nullptr;  // the format's constant at the place of the stray member
  std::vector<json::Member> strays;                // members of the call's object that have no meaning there
};

// Tracks the brackets and quotes of a value that no markers surround.
struct Nesting {
  int depth = 0;
  std::string closers = {};     // of the open brackets, the innermost last
  char quote = 0;               // the quote that began the open string; 0: none is open
  bool is_text = false;         // whether the value is a plain text, in which neither brackets nor quotes count
  bool is_python = true;        // whether all strings have quotes, so they may be written as in Python
  std::size_t quote_size = 1;   // how many quotes began it, and close it
  std::size_t quotes_seen = 0;  // how many of these have come
  bool is_escaped = false;
  bool may_quote = true;          // whether a quote may begin at the next byte
  bool has_closed = false;        // whether a string, list or object has just ended
  bool is_behind_string = false;  // whether a string in usual quotes has just ended, at any depth
  bool is_quoted = false;    // whether a string in quotes of the format's own came since the last bracket or separator
  std::size_t searched = 0;  // bytes after an open quote of the format's own that were searched for the closing one

  // Returns true if `byte` belongs to an open string.
  bool take_quoted(char byte);
  // A string begins with `quotes` times `byte`.
  void begin_string(char byte, std::size_t quotes);
  // A string has just ended.
  void ends_string();
  // Takes a byte outside strings that begins no string.
  void take(char byte);
};

struct Parameter {
  std::string key;
  std::string key_open;         // of the forms that the value may have; "" if Parameters::open came before the key
  std::size_t value_begin = 0;  // offset in the call's arguments
  std::vector<const format::ValueForm*> forms;
  std::vector<std::unique_ptr<Marker>> closers;  // closers that contain the key
  MarkerSet closer_set;
  std::span<const format::Escape> escapes;  // those of raw strings
  std::size_t next_unit = 0;     // offset in the whole input of the first unit that is_in_escape() has not seen
  std::size_t edges_from = 0;    // offset in the whole input from which value_unclosed() looks
  std::size_t quoted_calls = 0;  // how many calls the value has begun to quote
  bool is_streaming = false;
  bool is_unmarked = false;  // what the format writes around values is missing
  bool is_begun = false;     // the first sign of a value without markers has been seen
  bool is_json = false;      // read as JSON, because a string in it may contain the text that ends a value
  bool is_doubtful = false;  // ... and a string in it contains a line end: its quote may have been forgotten
  std::optional<TypeSet> types;
  SchemaPlace schema;
  std::optional<json::Value> joined;  // the schema, if it is made of several
  Markup markup;
  Nesting nesting;
};

// Calls in another syntax than the format's, while they are read.
struct Foreign {
  std::shared_ptr<const Syntax> own_syntax;  // the format's own; nullptr if no such call is read
  std::vector<std::string> closes;           // what closes the wrappers around these calls, innermost last
  // Syntaxes of such calls that were made for this text, the latest last: making one takes longer than reading a call.
  std::vector<std::shared_ptr<const Syntax>> made = {};
  Quoting quoting = {};  // what is before a place where such a call may begin
};

// How the text ended.
struct Ending {
  bool is_closed = false;  // close() was called
  bool is_open = false;    // something was still open when the text ended
  bool has_stop = false;   // a stop ends the text
};

// The events that were reported.
struct Reported {
  std::vector<Event> events;
  bool are_old = false;  // the next forget_events() clears them
};

// A call in reasoning that is still open: the state before the call, and the events since then, not yet reported.
struct Held {
  std::size_t begin = 0;  // where the call's opener begins; offset in the whole input
  chat::AssistantMessage before;
  std::optional<Error> mistake;
  std::vector<Event> events;
};

}  // namespace rondo::parse
