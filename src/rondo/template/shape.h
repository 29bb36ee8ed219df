// Shapes messages into the form that a template needs.
//
// The chat APIs allow several forms of the same message: arguments as text or an object, content as text, parts or
// null, reasoning under one of three names.  Most templates understand only some forms, and raise or print `None` for
// the others.  MessageRules say what a template needs (analysis/message_rules.h finds them).  shape() applies the rules
// and reports what it changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/results.h"
#include "format/format.h"
#include "json/value.h"
#include "template/tool_shape.h"

namespace rondo::tmpl {

// What the messages of one role need.
struct RoleRules {
  enum class Content : std::uint8_t { kAny, kText, kParts };
  enum class Empty : std::uint8_t { kAny, kText, kList, kPart };
  Content content = Content::kAny;  // a text or a list of text parts, if only one of them is understood
  Empty empty = Empty::kAny;        // no content as "", as [] or as a part with the text "", if not all are understood
  bool dumps_values = false;        // a content that is an object is given as JSON text
  bool dumps_lists = false;         // ... a list of data, whose elements are not parts
  bool dumps_scalars = false;       // ... a number, `true` or `false`
};

// What a template needs.  The default is nothing: it understands every form, or is not known to.
struct MessageRules {
  enum class Arguments : std::uint8_t { kAny, kObject, kText };
  enum class Ids : std::uint8_t { kAny, kNeeded, kNineLetters };
  RoleRules system;
  RoleRules user;
  RoleRules assistant;
  RoleRules tool;
  std::string
      part_separator;  // between parts that are given as one text; empty, as templates that know parts write them
  Arguments arguments = Arguments::kAny;
  std::optional<format::NoContent> no_content;  // beside calls, if the template does not understand all forms of it
  bool fills_arguments = false;                 // arguments that are missing or empty are given as {}
  Ids ids = Ids::kAny;                          // of calls, and in their results
  bool types_calls = false;                     // calls say the type `function`
  bool wraps_calls = false;                     // name and arguments of a call are inside its `function`
  bool names_results = false;                   // a result says the name of its tool
  bool orders_results = false;        // results are in the order of their calls: nothing else tells them apart
  bool knows_developer = true;        // false: such a message is given as one of the role `system`
  bool takes_nulls = true;            // false: members that are null are left out
  bool takes_empty_calls = true;      // false: an empty list of calls is left out
  bool takes_function_calls = true;   // false: `function_call`, as older clients send it, is given as a call
  bool knows_function_role = true;    // false: a message of the role `function` is given as one of the role `tool`
  bool takes_refusals = true;         // false: a refusal is given as the content, if the message has no content
  std::string reasoning_field;        // under which the template reads reasoning; "" for those that it gets anyway
  std::string reasoning_part;         // type of a content part that carries reasoning; "" if none does
  bool reasoning_in_content = false;  // the template has no place for reasoning but the content, between its markers:
  std::string reasoning_open;         // what the model writes around reasoning; "" if it writes none
  std::string reasoning_close;
  bool content_hides_calls = false;  // the template writes calls only if there is no content
  bool needs_tool_list = false;      // if there are no tools, the template gets an empty list of them
  ToolRules tools;
};

// A text that now is in front of a message's content, between two markers.  Sizes in bytes.
struct ContentFront {
  std::size_t open = 0;
  std::size_t text = 0;
  std::size_t close = 0;
};

// A value that the template got in another form than it was sent.  Paths are like `tool_calls[0].id`.
struct MessageChange {
  std::size_t message = 0;                 // index of the message as sent
  std::string sent;                        // the path where it was sent; "" if it was not
  std::string now;                         // the path where the template finds it; "" if it does not
  std::string what;                        // such as "given as an object"
  std::optional<ContentFront> front = {};  // if the sent text is now in front of the content
};

// Something that the template gets as it was sent, and that may not mean what its sender meant.
struct MessageDoubt {
  std::size_t message = 0;  // index of the message as sent
  std::string field;
  std::string what;
};

struct Shaping {
  std::vector<MessageChange> changes;
  std::vector<std::size_t> order;  // for each message its index as sent; empty: unchanged
  std::vector<MessageDoubt> doubts = {};
  std::vector<std::string> polyfills = {};  // sentences: what the statements in front of the template will change
  bool adds_tool_list = false;              // the template gets an empty list of tools
  std::vector<std::string> tools = {};      // sentences: what shape_tools() changed
};

// The messages before those that are shaped.
struct ShapingContext {
  std::vector<chat::OpenCall> open_calls;  // calls that the first of the messages may answer
  std::size_t calls_before = 0;            // how many calls come before these messages, without the open ones
  std::vector<std::size_t> sampled = {};   // messages that are used as they were sampled: only their calls are shaped
};

// Changes `messages` in place.  Shaping shaped messages changes nothing.
Shaping shape(json::Array& messages, const MessageRules& rules, const ShapingContext& context = {});

// Returns sentences: "messages[1].content: given as an empty text", with `array` instead of "messages".
[[nodiscard]] std::vector<std::string> sentences(const Shaping& shaping, std::string_view array = "messages");

// Returns the change that made the value at `path` in message `index` (as sent), in the form that the template got;
// nullptr if there was none.
[[nodiscard]] const MessageChange* change_at(const Shaping& shaping, std::size_t index, std::string_view path);
// Returns where that value was sent: "content" for "content[0].text", if a text was given as a part.
[[nodiscard]] std::string sent_path(const Shaping& shaping, std::size_t index, std::string_view path);
// Returns the change that put a text in front of the content of message `index` (as sent); nullptr if there was none.
[[nodiscard]] const MessageChange* front_of_content(const Shaping& shaping, std::size_t index);
// Returns the index of a message as sent.
[[nodiscard]] std::size_t sent_index(const Shaping& shaping, std::size_t index);

}  // namespace rondo::tmpl
