// Polyfills give a template what it cannot carry in a form that it can.
//
// A polyfill is statements of the template language in front of the template, which itself is unchanged.  The
// statements rewrite the list of messages that the template gets.  So everything derived from a template (format,
// grammar, bridge, masks, origins) includes them.  They need the lenient mode.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chat/conversation.h"

namespace rondo::tmpl {

struct Polyfills {
  bool developer = false;    // messages of role `developer` become system messages
  bool system = false;       // system text goes to the beginning of the first user message
  bool late_system = false;  // and later system text before the next user message
  bool repeated = false;     // consecutive messages of one role become one message
  bool tools = false;        // tools go into the system text, with a syntax for calls
  bool calls = false;        // calls go into the content, in that syntax
  bool results = false;      // results become user messages
  bool flat = false;         // calls also have their name and arguments outside `function`
  bool parts = false;        // texts made by the others are lists of one part
  bool tool_list = false;    // with `tools`: the template gets an empty list, because it refuses null

  bool operator==(const Polyfills&) const = default;
};

// Returns the names of those that are on, in the order of the members.
[[nodiscard]] std::vector<std::string> names_of(const Polyfills& polyfills);

// Returns the statements, on one line that ends with a line break (jinja::CompileOptions::prelude).
[[nodiscard]] std::string prelude_of(const Polyfills& polyfills);

// Returns what they change in this conversation, one sentence each.
[[nodiscard]] std::vector<std::string> changes_of(const Polyfills& polyfills, const chat::Conversation& conversation);

// The messages before those that are to be changed.  Places then begin with `new_messages`.
struct Preceding {
  bool has_begun = true;       // one of them is not a system message
  std::string_view last_role;  // role of the last one
};
[[nodiscard]] std::vector<std::string> changes_of_new(const Polyfills& polyfills,
                                                      std::span<const json::Value> new_messages,
                                                      const Preceding& preceding);
// Describes `messages` as the preceding ones.
[[nodiscard]] Preceding preceding_of(std::span<const json::Value> messages);

}  // namespace rondo::tmpl
