// What the machine remembers of the construct that it is in: a value for each kind.  A new construct begins with a fresh
// value.  Internal to parse/.
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

// The prompt's tail, where the turn has begun before the first sampled byte.
struct PromptStart {
  std::size_t bytes = 0;       // fed from it, and from a message that is continued
  std::size_t generated = 0;   // fed from it alone
  std::string open_reasoning;  // its end, if it opens the reasoning
  std::string inline_open;     // the same, of reasoning that is content, until it is told
  bool is_generated = false;   // it ends with the template's own text for an answer
  bool is_foreign = false;     // it is an earlier turn, or text that is nobody's
};

// The last marker's own white space that may still come.
struct Trail {
  std::string text;
  bool of_reasoning = false;
};

// Outside of reasoning and calls.
struct Top {
  bool is_blank = true;          // only white space since the last marker
  bool is_layout = false;        // ... and it is layout even if nothing follows
  bool is_wrapped = false;       // inside content that an opening marker began
  bool has_header = false;       // where blocks have headings: a block's header stands, and no heading yet
  std::size_t answer_begin = 0;  // of what an answer's fence holds, offset in all text
};

// Around calls.
struct Section {
  bool is_open = false;
  bool was_open = false;      // before the attempt
  bool expects_call = false;  // behind a separator
};

// Reasoning that is open.
struct Thoughts {
  bool are_fresh = false;  // nothing but white space yet
  bool have_call = false;  // an attempt or call stands in them
  bool is_layout = false;  // behind such a call there was only white space
};

// What opened a call: a marker, the last part of one, a bracket at the begin of the text, a bracket in the text.
enum class Opening : std::uint8_t { kMarker, kHalf, kBare, kInText };

// What may be a call, until its name is known.
struct Attempt {
  bool is_open = false;
  std::size_t begin = 0;  // offset in all text
  Opening opening = Opening::kMarker;
  bool is_reserved = false;  // a token of its own opened it, which nobody writes by chance
};

struct Call {
  std::size_t piece = 0;  // of the format's pieces
  std::string name;
  bool has_name = false;
  std::optional<std::string> id;
  bool is_reported = false;
  bool is_fenced = false;      // its JSON stands in a fence
  bool has_arguments = false;  // they have begun
  bool is_string = false;      // they stand in a string
  std::size_t parameters = 0;  // that were read
  std::vector<chat::CallProblem> problems;
  std::vector<std::pair<std::string, std::string>>
      swallowed;  // a parameter, and the name in a tag that its value holds
};

// A call that is a JSON object.
struct JsonCall {
  enum class Capture : std::uint8_t { kNone, kName, kId, kArguments, kStray };

  std::size_t depth = 0;  // frame of the call's object, 0: none open
  Capture capture = Capture::kNone;
  std::size_t capture_depth = 0;
  bool captures_scalar = false;
  std::size_t capture_begin = 0;  // offset of the value in all text, so that dropping bytes does not move it
  std::optional<std::pair<std::size_t, std::size_t>> early_arguments;  // complete before the name was known
  bool early_is_loose = false;
  std::string stray_key;
  std::vector<json::Member> strays;  // members of its object that have no meaning there
};

// Brackets and quotes of a value without markers around it.
struct Nesting {
  int depth = 0;
  char quote = 0;  // of the string that is open
  bool is_escaped = false;
  bool may_quote = true;    // a quote may begin here
  bool has_closed = false;  // a string, list or object has just ended

  // True if `byte` belongs to a string that is open.
  bool take_quoted(char byte);
  // True if `byte` begins one.
  bool begin_quoted(char byte);
  // Any other byte.
  void take(char byte);
};

// A parameter's value in the format's own markup: whether it may be one, what else ends like it, and up to where that was
// counted, an offset in all text.
struct Markup {
  bool is_possible = false;
  std::size_t depth = 0;
  std::size_t seen = 0;
};

struct Parameter {
  std::string key;
  std::size_t value_begin = 0;  // in the call's arguments
  std::vector<const format::ValueForm*> forms;
  std::vector<std::unique_ptr<Marker>> closers;  // those that hold the key
  MarkerSet closer_set;
  std::span<const format::Escape> escapes;  // of strings
  std::size_t next_unit = 0;                // the first that is_in_escape() has not seen, offset in all text
  bool is_streaming = false;
  bool is_json = false;  // it is read as JSON, whose strings may hold what ends a value
  std::optional<TypeSet> types;
  SchemaPlace schema;
  Markup markup;
  Nesting nesting;
};

// From a call in open reasoning on: what was there before it, and the events that are not reported yet.
struct Held {
  std::size_t begin = 0;  // of the call's opener, offset in all text
  chat::AssistantMessage before;
  std::optional<Error> mistake;
  std::vector<Event> events;
};

}  // namespace rondo::parse
