// The state of each construct that the machine may be in: one struct per kind.  A new construct starts with a fresh
// struct.  Internal to parse/.
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
#include "parse/marker.h"
#include "parse/parser.h"
#include "parse/values.h"

namespace rondo::parse {

// The prompt's tail, which began the turn before the first sampled byte.
struct PromptStart {
  std::size_t bytes = 0;       // bytes fed from the tail and from a continued message
  std::size_t generated = 0;   // bytes fed from the tail alone
  std::string open_reasoning;  // the end of the tail, if it opens the reasoning
  std::string inline_open;     // the same for reasoning that is part of the content, until it is reported
  bool is_generated = false;   // whether the tail ends with the template's own text for an answer
  bool is_foreign = false;     // whether the tail is an earlier turn, or text of no message
};

// White space of the last marker that may still follow.
struct Trail {
  std::string text;
  bool of_reasoning = false;
};

// The place outside reasoning and calls.
struct Top {
  bool is_blank = true;          // only white space came since the last marker
  bool is_layout = false;        // ... and it is layout even if nothing follows
  bool is_wrapped = false;       // inside content that an opening marker began
  bool has_header = false;       // where blocks have headings: the block's header was read, its heading not yet
  std::size_t answer_begin = 0;  // where the content of an answer's fence begins; offset in the whole text
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
};

// What opened a call: a marker, the last part of a marker, a bracket at the start of the text, or a bracket in the
// text.
enum class Opening : std::uint8_t { kMarker, kHalf, kBare, kInText };

// Text that may be a call, until its name is known.
struct Attempt {
  bool is_open = false;
  std::size_t begin = 0;  // offset in the whole text
  Opening opening = Opening::kMarker;
  bool is_reserved = false;  // a token of its own opened it, which nobody writes by chance
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
  std::vector<chat::CallProblem> problems;
  std::vector<std::pair<std::string, std::string>> swallowed;  // a parameter, and the name in a tag inside its value
};

// A call that is a JSON object.
struct JsonCall {
  enum class Capture : std::uint8_t { kNone, kName, kId, kArguments, kStray };

  std::size_t depth = 0;  // frame of the call's object; 0: none is open
  Capture capture = Capture::kNone;
  std::size_t capture_depth = 0;
  bool captures_scalar = false;
  // Where the value begins; an offset in the whole text, so that dropping bytes does not move it.
  std::size_t capture_begin = 0;
  // Arguments that were complete before the name was known.
  std::optional<std::pair<std::size_t, std::size_t>> early_arguments;
  bool early_is_loose = false;
  std::string stray_key;
  std::vector<json::Member> strays;  // members of the call's object that have no meaning there
};

// The brackets and quotes of a value that no markers surround.
struct Nesting {
  int depth = 0;
  char quote = 0;  // of the open string
  bool is_escaped = false;
  bool may_quote = true;    // whether a quote may begin at the next byte
  bool has_closed = false;  // whether a string, list or object has just ended

  // Returns true if `byte` belongs to an open string.
  bool take_quoted(char byte);
  // Returns true if `byte` begins a string.
  bool begin_quoted(char byte);
  // Takes any other byte.
  void take(char byte);
};

// A parameter's value in the format's own markup: whether it may be one, what else ends in the same way, and the offset
// in the whole text up to which that was counted.
struct Markup {
  bool is_possible = false;
  std::size_t depth = 0;
  std::size_t seen = 0;
};

struct Parameter {
  std::string key;
  std::size_t value_begin = 0;  // offset in the call's arguments
  std::vector<const format::ValueForm*> forms;
  std::vector<std::unique_ptr<Marker>> closers;  // closers that contain the key
  MarkerSet closer_set;
  std::span<const format::Escape> escapes;  // for strings
  std::size_t next_unit = 0;  // offset in the whole text of the first unit that is_in_escape() has not seen
  bool is_streaming = false;
  bool is_json = false;      // read as JSON, whose strings may contain what ends a value
  bool is_doubtful = false;  // ... and a string of it contains a line end: a quote may have been forgotten
  std::optional<TypeSet> types;
  SchemaPlace schema;
  Markup markup;
  Nesting nesting;
};

// A call in open reasoning: the state before it, and the events since then, which are not reported yet.
struct Held {
  std::size_t begin = 0;  // where the call's opener begins; offset in the whole text
  chat::AssistantMessage before;
  std::optional<Error> mistake;
  std::vector<Event> events;
};

}  // namespace rondo::parse
