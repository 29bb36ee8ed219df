// Format: how a template writes an assistant turn, as plain data.
//
//   header  [reasoning.open R reasoning.close] [content.open C content.close]
//           [section_open call separator call ... section_close] stop
//
// A Format is inferred once per template (analysis/) or written by hand, stored as JSON, and read by the parser
// (parse/) and the grammar (grammar/).  It knows no template and no tokenizer.  Blocks may come in any order and may
// repeat.  Every marker is text of the template, with the white space that the template writes around it.  In a marker
// of calls U+001A (kCounter in format/units.h) stands for a number that the template counts.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "rondo/result.h"

namespace rondo::format {

// What the template needs in `content` if there is no content.
enum class NoContent : std::uint8_t { kEmpty, kNull, kAbsent };

// The shape in which the template shows all of an assistant message.
struct InputShape {
  bool arguments_as_text = false;  // arguments are a string of JSON instead of an object
  NoContent no_content = NoContent::kEmpty;
  std::string reasoning_field;  // "reasoning_content", ...; "" if the template shows no reasoning
  std::string reasoning_part;   // the type of a content part that carries reasoning; "" if there is none
  bool single_call = false;     // the template refuses or drops all calls but the first
};

// What the template writes with add_generation_prompt, for each thinking switch ("default", "on", "off").
struct GenerationPrompt {
  std::string name;
  std::string text;
};

// One or more characters that the template writes as `written`.
struct Escape {
  std::string text;
  std::string written;
  bool operator==(const Escape&) const = default;
};

struct Reasoning {
  bool present = false;
  std::string open;
  std::string close;
  bool in_content = false;  // there is no field for it: history keeps it, if at all, as part of the content
  // Only the prompt writes `open`: it is the first words of the reasoning, and history includes them.
  bool begins_text = false;
  bool behind_content = false;  // the template writes a message's reasoning after its content
  std::string absent = {};      // what the template writes before the content of a message without reasoning
  std::vector<Escape> escapes = {};
};

// The markers around content; most templates have none.
struct Content {
  std::string open;
  std::string close;
  // Around content that calls follow, if the template then writes other markers.
  std::string preamble_open = {};
  std::string preamble_close = {};
  std::string absent = {};           // what the template writes in place of content that a message with calls lacks
  std::string open_with_tools = {};  // before content that no calls follow, only if the request has tools
  std::vector<Escape> escapes = {};  // in content after `open`, or in all content if `open` is empty
};

enum class Envelope : std::uint8_t {
  kTags,        // literals, name and arguments in sequence
  kJsonObject,  // each call is a JSON object that holds name and arguments
  kJsonArray,   // all calls are the elements of one JSON array
};

enum class ArgumentStyle : std::uint8_t {
  kJson,        // one JSON object, serialised by the template
  kJsonText,    // the string in the message, copied
  kParameters,  // one construct per parameter
};

// One element of a call in tags, in the order of writing.  A call in JSON has elements if an id is beside its object.
struct CallPiece {
  // kNameInId: an id that contains the name (`functions.NAME:0`).  kObject: the object of a call in JSON.
  enum class Kind : std::uint8_t { kLiteral, kName, kId, kNameInId, kIndex, kArguments, kObject };
  Kind kind = Kind::kLiteral;
  std::string text;        // of a literal; of kNameInId: the text before the counter, if it is not a colon
  std::string front = {};  // of kNameInId: what the template itself writes before the name
  bool operator==(const CallPiece&) const = default;

  // Returns the text as a marker has it: a literal's own, and the counter (format/units.h) for an index.
  [[nodiscard]] std::string marker() const;
};

// A member that the template itself writes in each call in JSON.
struct JsonConstant {
  std::vector<std::string> path;  // from the call's object down
  std::string value;              // as JSON; "" if it differs from call to call
  bool operator==(const JsonConstant&) const = default;
};

// The paths of the parts of a call in JSON, from the call's object down.  An empty path means that the part is missing.
struct JsonRoles {
  std::vector<std::string> name;
  std::vector<std::string> arguments;
  std::vector<std::string> id;
  bool name_is_key = false;                  // {"NAME": ARGUMENTS}
  bool shares_object = false;                // with name_is_key: all calls are the members of one object
  std::vector<std::string> reasoning = {};   // of the message, which the template writes in its calls
  std::vector<JsonConstant> constants = {};  // members beside these, which say nothing about the call
  bool operator==(const JsonRoles&) const = default;
};

enum class ValueType : std::uint8_t { kString, kInteger, kFloat, kTrue, kFalse, kNull, kObject, kArray };

enum class ValueStyle : std::uint8_t {
  kRaw,  // the string's own characters
  kJson,
  kPython,    // True, None, {'a': 1}
  kConstant,  // a literal of the template stands for the value
  kNested,    // objects and arrays in the format's own syntax; strings inside them are quoted as kRaw strings are
};

// How values of one type are written.  Several entries for one type are alternatives.
struct ValueForm {
  ValueType type = ValueType::kString;
  ValueStyle style = ValueStyle::kRaw;
  std::string open;      // after Parameters::key_close, for this type only
  std::string close;     // before Parameters::close
  std::string constant;  // for kConstant
  std::vector<Escape> escapes =
      {};  // for kRaw: what is not copied; for other forms: replacements in the text that JSON or Python gives
  std::string key_open =
      {};  // before the key, in place of Parameters::open, for this type only; "": nothing of its own
  bool operator==(const ValueForm&) const = default;
};

// open KEY key_close VALUE close, with `separator` between two of them.
struct Parameters {
  std::string open;
  std::string key_close;
  std::string close;  // with key_in_close: the text after the repeated key
  std::string separator;
  std::string key_in_close;  // not empty: the closing tag repeats the key after this text (`</` KEY `>`)
  std::string item_open;     // around the elements of an array, if arrays have a syntax of their own
  std::string item_close;
  std::string member_open;  // around the members of an object inside a value, if they are not written as parameters are
  std::string member_key_close;
  std::string member_close;
  bool repeats_items = false;  // an array is written as its parameter once for each item
  std::vector<Escape> key_escapes;
  std::vector<ValueForm> forms;
  bool operator==(const Parameters&) const = default;
};

struct Calls {
  bool present = false;
  std::string section_open;
  std::string section_close;
  std::string call_open;  // before the first piece, or before the JSON
  std::string call_close;
  std::string separator;
  Envelope envelope = Envelope::kTags;
  // Of kJsonArray: a single call is written as an object, not as a list.  The object is between call_open and
  // call_close, or between the section's markers if these two are empty.
  bool lone_is_bare = false;
  // For kTags.  Of kJsonObject: an id beside the object, with the text between the two; empty if there is none.
  std::vector<CallPiece> pieces;
  // The text that ends every heading, if reasoning, content and calls are blocks with headings.  Models write the words
  // of a heading in any order and add others: call_open with the name may come after other words, up to this text.
  std::string heading_close;
  bool content_behind = false;       // the template writes a message's content after its calls
  bool may_stay_open = false;        // the template does not always write section_close
  bool omits_arguments = false;      // the template writes no arguments for a call that has none
  std::string bare_close;            // of kTags: what then comes between name and id and the end of the call
  JsonRoles roles;                   // of the JSON envelopes
  std::vector<Escape> name_escapes;  // in names of tools, in addition to what JSON itself escapes
  ArgumentStyle arguments = ArgumentStyle::kJson;
  std::vector<Escape> argument_escapes;  // of kJson and kJsonText: in the text that JSON gives, single characters
  Parameters parameters;                 // of kParameters
  bool operator==(const Calls&) const = default;

  // Returns whether all calls are parts of one JSON value, an array or an object.
  [[nodiscard]] bool is_one_value() const { return envelope == Envelope::kJsonArray || roles.shares_object; }
  // Returns whether the calls are one JSON object each, with an id beside it.
  [[nodiscard]] bool has_id_beside() const { return envelope == Envelope::kJsonObject && !pieces.empty(); }
  // Returns the index of the object among the pieces; their number if no piece is one.
  [[nodiscard]] std::size_t object_piece() const;
  // Returns the piece after the last name and after any ids between that name and the arguments.  Returns the first
  // piece if no piece is a name.
  [[nodiscard]] std::vector<CallPiece>::const_iterator behind_name() const;
  // Returns whether calls are written with their ids, so that the model sees them.
  [[nodiscard]] bool writes_ids() const;
};

struct Stops {
  std::vector<std::string> content;        // ends a turn without calls
  std::vector<std::string> tool;           // ends a turn with calls
  std::vector<std::string> history_close;  // what history has instead of each, if it differs
};

// White space that the template removes from what it copies: the text in history then differs from what was sampled.
struct Trims {
  bool content_begin = false;
  bool content_end = false;
  bool reasoning_begin = false;
  bool reasoning_end = false;
};

// Different messages that the template writes in the same way, or does not write at all: parse(render(message)) cannot
// recover them.
struct Loss {
  std::string what;       // a name from docs/format.md: "null arguments", "content beside calls", ...
  std::string meaning;    // a sentence
  std::int32_t line = 0;  // of the template; 0: no single line
};

struct Format {
  InputShape input;
  std::vector<GenerationPrompt> generation_prompts;
  std::string header;  // opens the turn; every generation prompt starts with it
  Reasoning reasoning;
  Content content;
  Calls calls;
  Stops stops;
  Trims trims;
  // Constants of the template, or tokens, whose brackets do not pair (`]~b]`).  A marker must not be cut inside one.
  std::vector<std::string> atoms;
  std::vector<Loss> losses;
  std::vector<std::string> notes;  // sentences: what could not be inferred, and what collides

  [[nodiscard]] const GenerationPrompt* generation_prompt(std::string_view name) const;

  // Returns lines for people and goldens: one per fact, with markers as JSON strings.
  [[nodiscard]] std::string to_string() const;
  // Returns nullopt if the parts fit each other; otherwise a sentence about the first one that does not.
  [[nodiscard]] std::optional<std::string> verify() const;
};

[[nodiscard]] json::Value to_json(const Format& format);
// Reads a format.  Fails with kInvalidArgument on a wrong type, an unknown name or key, or if verify() reports a fault.
[[nodiscard]] Result<Format> from_json(const json::Value& value);

[[nodiscard]] std::string_view to_string(Envelope envelope);
[[nodiscard]] std::string_view to_string(ArgumentStyle style);
[[nodiscard]] std::string_view to_string(ValueType type);
[[nodiscard]] std::string_view to_string(ValueStyle style);
[[nodiscard]] std::string_view to_string(NoContent no_content);

}  // namespace rondo::format
