// Random chat templates: a description that can be made simpler piece by piece, and the Jinja text of it.
//
//   const TemplateShape shape = random_shape(seed);
//   jinja::Template::compile(template_text(shape), {}, "generated");
//
// Every template that is described here writes all of a message, so that parse(render(message)) can be the message; what is
// left out because nobody could tell two messages apart is said where it is left out.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}
  [[nodiscard]] std::size_t below(std::size_t limit) { return static_cast<std::size_t>(engine_() % limit); }
  [[nodiscard]] bool one_in(std::size_t n) { return below(n) == 0; }
  template <typename List>
  [[nodiscard]] auto& pick(List& list) {
    return list[below(std::size(list))];
  }

 private:
  std::mt19937_64 engine_;
};

// Texts before and behind something.
struct Brackets {
  std::string open;
  std::string close;
  bool operator==(const Brackets&) const = default;
};

enum class ReasoningPlace : std::uint8_t {
  kNone,
  kWhereThere,  // no block in messages without reasoning
  kAlways,      // an empty block there
  kByPrompt,    // the same, and the generation prompt opens it
  kOpened,      // as kWhereThere, and the generation prompt opens it: every message that follows one has reasoning
};

enum class CallForm : std::uint8_t { kJsonObject, kJsonArray, kTags };

// Of calls in tags: one JSON value, or one construct per parameter.
enum class ArgumentForm : std::uint8_t { kJson, kParameters };

// What the message's `arguments` must be.
enum class ArgumentType : std::uint8_t {
  kObject,
  kText,     // copied
  kEither,   // text is copied
  kEscaped,  // text, written as a string of JSON
};

enum class IdPlace : std::uint8_t {
  kNone,
  kShown,   // a member of the JSON; in tags behind the name
  kBefore,  // in tags before the name; in JSON as kShown
  kBehind,  // in tags behind the arguments; in JSON as kShown
  kInName,  // in tags in the name's place: functions.NAME:0
  kCount,   // in tags a counter behind the name
};

enum class JsonStyle : std::uint8_t { kPlain, kCompact, kIndented };

// A construct per parameter: open KEY key_close VALUE close, or open KEY key_close VALUE again KEY close.
struct ParameterShape {
  std::string open;
  std::string key_close;
  std::string close;
  std::string again;  // not empty: the closer repeats the key behind it
  std::string separator;
  bool raw_strings = true;
  std::string filters = {};     // on raw values: characters that are written in another way
  std::string typed_open = {};  // not empty: what opens the parameters whose values are no strings
  bool operator==(const ParameterShape&) const = default;
};

struct TemplateShape {
  Brackets header{"<|", "|>"};  // around the role
  std::string assistant = "assistant";
  std::string tool = "tool";
  std::string stop = "<|end|>";  // "": the next turn's header
  std::string call_stop;         // of turns with calls; "": as the others
  std::string gap;               // white space behind it

  ReasoningPlace reasoning = ReasoningPlace::kNone;
  std::string reasoning_field = "reasoning_content";
  Brackets thought{"<think>", "</think>"};
  bool has_switch = false;        // enable_thinking = false: the generation prompt has an empty block
  bool forgets_thoughts = false;  // before the last question
  bool trims_reasoning = false;
  bool reasoning_behind = false;  // the content
  std::string reasoning_filter;   // characters of the reasoning that are written in another way

  Brackets content;
  bool trims_content = false;
  bool content_behind = false;  // the calls
  std::string content_filter;   // as reasoning_filter

  bool has_calls = true;
  Brackets section;
  Brackets call{"<call>", "</call>"};
  std::string separator;
  CallForm form = CallForm::kJsonObject;
  ArgumentType arguments = ArgumentType::kObject;
  JsonStyle json_style = JsonStyle::kPlain;  // of what tojson writes
  std::string name_filter;                   // on names: characters that are written in another way
  std::string argument_filter;               // the same on arguments that are one text of JSON
  IdPlace id = IdPlace::kNone;
  Brackets id_marks;  // in tags

  std::array<std::string, 3> keys{"name", "arguments", "id"};  // members of the JSON
  std::array<std::uint8_t, 3> order{0, 1, 2};                  // of them
  std::string wrapper;                                         // not empty: the member that holds name and arguments
  bool name_is_key = false;                                    // {NAME: ARGUMENTS}
  std::string constant;                                        // a further member, such as `"jsonrpc": "2.0"`
  bool is_dumped = false;                                      // one tojson of a dict; else literals around the parts

  Brackets name{"", "\n"};  // in tags
  ArgumentForm argument_form = ArgumentForm::kJson;
  Brackets argument_marks;  // in tags, around all of them
  ParameterShape parameter{"<p=", ">", "</p>", "", "", true};

  bool result_has_id = false;  // a tool's turn begins with the id
  Brackets result_id{"(", ")"};

  bool operator==(const TemplateShape&) const = default;

  // Nothing stands around calls that says where they begin.
  [[nodiscard]] bool has_bare_calls() const;
  // Whether the text of a call shows its id.
  [[nodiscard]] bool writes_ids() const;
  // Whether strings stand as they are, without quotes.
  [[nodiscard]] bool has_raw_values() const {
    return form == CallForm::kTags && argument_form == ArgumentForm::kParameters && parameter.raw_strings;
  }
  // The visible text that opens the first call; "" if its name does.
  [[nodiscard]] std::string calls_begin() const;
  // What ends a turn.
  [[nodiscard]] const std::string& end_of(bool with_calls) const {
    return with_calls && !call_stop.empty() ? call_stop : stop;
  }
};

[[nodiscard]] TemplateShape random_shape(std::uint64_t seed);

// The template.
[[nodiscard]] std::string template_text(const TemplateShape& shape);

// One line for each field that is not as in a default TemplateShape.
[[nodiscard]] std::string to_string(const TemplateShape& shape);

// A way to make a shape simpler; it may leave it as it is.
struct Simplification {
  std::string name;
  std::function<void(TemplateShape&)> apply;
};
[[nodiscard]] std::vector<Simplification> simplifications(const TemplateShape& shape);

// Puts the defaults in place of what the template does not use.
void tidy(TemplateShape& shape);

// False where a simplification made something that is ambiguous by itself.
[[nodiscard]] bool is_sound(const TemplateShape& shape);

// Every text of the shape that stands around something.
[[nodiscard]] std::vector<std::string*> marks_of(TemplateShape& shape);

}  // namespace rondo::test
