// Format: how a template writes an assistant turn, as plain data.
//
//   header  [reasoning.open R reasoning.close] [content.open C content.close] [section_open call separator call ... section_close] stop
//
// A Format is inferred once per template (analysis/) or written by hand, stored as JSON, and read by the parser
// (parse/) and the grammar (grammar/).  It knows no template and no tokenizer.  Blocks may come in any order and more
// than once; every marker is the template's own text, with the white space the template writes next to it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"
#include "rondo/result.h"

namespace rondo::format {

// What the template wants in place of `content` when there is none.
enum class NoContent : std::uint8_t { kEmpty, kNull, kAbsent };

// How an assistant message must look so that the template shows all of it.
struct InputShape {
  bool arguments_as_text = false;  // arguments as a string of JSON, not as an object
  NoContent no_content = NoContent::kEmpty;
  std::string reasoning_field;  // "reasoning_content", ...; "" if the template shows no reasoning
  std::string reasoning_part;   // type of a content part that carries reasoning; "" if none does
  bool single_call = false;     // the template refuses or drops further calls
};

// What the template writes with add_generation_prompt, per thinking switch ("default", "on", "off").
struct GenerationPrompt {
  std::string name;
  std::string text;
};

struct Reasoning {
  bool present = false;
  std::string open;
  std::string close;
  bool in_content = false;   // no field of its own: history keeps it, if at all, as part of the content
  bool begins_text = false;  // only the prompt writes `open`: words of the reasoning itself, with which history has it
};

// Markers around content; most templates have none.
struct Content {
  std::string open;
  std::string close;
};

enum class Envelope : std::uint8_t {
  kTags,        // literals, name and arguments one after the other
  kJsonObject,  // each call is a JSON object that holds name and arguments
  kJsonArray,   // all calls are the elements of one JSON array
};

enum class ArgumentStyle : std::uint8_t {
  kJson,        // one JSON object, serialised by the template
  kJsonText,    // the string that the message carries, copied
  kParameters,  // one construct per parameter
};

// One element of a call in tags, in order of writing.
struct CallPiece {
  // kNameInId: the id, which carries the name (`functions.NAME:0`).
  enum class Kind : std::uint8_t { kLiteral, kName, kId, kNameInId, kIndex, kArguments };
  Kind kind = Kind::kLiteral;
  std::string text;        // of a literal; of kNameInId: what stands before the counter, where that is no colon
  std::string front = {};  // of kNameInId: what the template itself writes before the name
  bool operator==(const CallPiece&) const = default;
};

// Where a JSON envelope holds what; paths from the call's object down.  An empty path: not there.
struct JsonRoles {
  std::vector<std::string> name;
  std::vector<std::string> arguments;
  std::vector<std::string> id;
  bool name_is_key = false;  // {"NAME": ARGUMENTS}
};

enum class ValueType : std::uint8_t { kString, kInteger, kFloat, kTrue, kFalse, kNull, kObject, kArray };

enum class ValueStyle : std::uint8_t {
  kRaw,  // the string's own characters
  kJson,
  kPython,    // True, None, {'a': 1}
  kConstant,  // a literal of the template stands for the value
  kNested,    // objects and arrays in the format's own syntax, strings inside them in the string's quotes
};

// A character (or more) that stands in values as `written`.
struct Escape {
  std::string text;
  std::string written;
  bool operator==(const Escape&) const = default;
};

// How values of one type are written.  Several entries of one type are alternatives.
struct ValueForm {
  ValueType type = ValueType::kString;
  ValueStyle style = ValueStyle::kRaw;
  std::string open;      // behind Parameters::key_close, for this type only
  std::string close;     // before Parameters::close
  std::string constant;  // of kConstant
  std::vector<Escape> escapes =
      {};  // of kRaw: what is not copied; of the others: in the text that JSON or Python gives
};

// open KEY key_close VALUE close, with `separator` between two of them.
struct Parameters {
  std::string open;
  std::string key_close;
  std::string close;  // with key_in_close: what follows the repeated key
  std::string separator;
  std::string key_in_close;  // not empty: the closing repeats the key behind this text (`</` KEY `>`)
  std::string item_open;     // around the elements of an array, where that has a syntax of its own
  std::string item_close;
  std::vector<Escape> key_escapes;
  std::vector<ValueForm> forms;
};

struct Calls {
  bool present = false;
  std::string section_open;
  std::string section_close;
  std::string call_open;  // before the first piece, or before the JSON
  std::string call_close;
  std::string separator;
  Envelope envelope = Envelope::kTags;
  std::vector<CallPiece> pieces;  // of kTags
  // Where reasoning, content and calls are blocks with a heading each, what ends every heading.  Models write the words
  // of a heading in any order, and more of them: call_open with the name may stand behind other words, up to here.
  std::string heading_close;
  bool content_behind = false;       // the template writes a message's content behind its calls
  bool may_stay_open = false;        // the template does not always write section_close
  JsonRoles roles;                   // of the JSON envelopes
  std::vector<Escape> name_escapes;  // in names of tools, behind what JSON itself escapes
  ArgumentStyle arguments = ArgumentStyle::kJson;
  std::vector<Escape> argument_escapes;  // of kJson and kJsonText: in the text that JSON gives, single characters
  Parameters parameters;                 // of kParameters
};

struct Stops {
  std::vector<std::string> content;        // ends a turn without calls
  std::vector<std::string> tool;           // ends a turn with calls
  std::vector<std::string> history_close;  // what history has in their place, where that differs
};

// White space that the template drops from what it copies: the text of history is then not what was sampled.
struct Trims {
  bool content_begin = false;
  bool content_end = false;
  bool reasoning_begin = false;
  bool reasoning_end = false;
};

// Messages that the template writes alike, or not at all: what parse(render(message)) cannot find again.
struct Loss {
  std::string what;       // of docs/format.md: "null arguments", "content beside calls", ...
  std::string meaning;    // a sentence
  std::int32_t line = 0;  // of the template; 0: no single one
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
  // Constants of the template, or tokens, whose brackets do not pair (`]~b]`): no marker may be cut inside one.
  std::vector<std::string> atoms;
  std::vector<Loss> losses;
  std::vector<std::string> notes;  // sentences for people: what could not be inferred, what collides

  [[nodiscard]] const GenerationPrompt* generation_prompt(std::string_view name) const;

  // Several lines for people and goldens: one per fact, markers as JSON strings.
  [[nodiscard]] std::string to_string() const;
  // Nothing if the parts fit each other; else a sentence that names the first that does not.
  [[nodiscard]] std::optional<std::string> verify() const;
};

[[nodiscard]] json::Value to_json(const Format& format);
// Fails with kInvalidArgument on a wrong type, an unknown name or key, and where verify() objects.
[[nodiscard]] Result<Format> from_json(const json::Value& value);

[[nodiscard]] std::string_view to_string(Envelope envelope);
[[nodiscard]] std::string_view to_string(ArgumentStyle style);
[[nodiscard]] std::string_view to_string(ValueType type);
[[nodiscard]] std::string_view to_string(ValueStyle style);
[[nodiscard]] std::string_view to_string(NoContent no_content);

}  // namespace rondo::format
