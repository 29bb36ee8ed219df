// Polyfills: what a template can't carry is given to it in a form that it can.
//
// They are statements of the template language that stand in front of the template, which itself is not touched: they make the list
// of messages that it gets.  So all that is read off a template (format, grammar, bridge, masks, origins) sees through them.
// The lenient language is needed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chat/conversation.h"

namespace rondo::tmpl {

struct Polyfills {
  bool developer = false;    // messages of the role `developer` are system messages
  bool system = false;       // system text stands at the beginning of the first user message
  bool late_system = false;  // and that of later ones in front of the next user message
  bool repeated = false;     // messages of one role that follow each other are one
  bool tools = false;        // tools stand in the system text, with a syntax of calls
  bool calls = false;        // calls stand in the content, in that syntax
  bool results = false;      // results are user messages
  bool flat = false;         // calls have their name and arguments also where they have no `function` around them
  bool parts = false;        // texts that the others make are lists of one part

  bool operator==(const Polyfills&) const = default;
};

// Those that are on, in the order of the members.
[[nodiscard]] std::vector<std::string> names_of(const Polyfills& polyfills);

// The statements, on one line that ends with a line break (jinja::CompileOptions::prelude).
[[nodiscard]] std::string prelude_of(const Polyfills& polyfills);

// What they change in this conversation, a sentence each.
[[nodiscard]] std::vector<std::string> changes_of(const Polyfills& polyfills, const chat::Conversation& conversation);

// The same of messages that follow others; their places begin with `new_messages`.
struct Preceding {
  bool has_begun = true;       // one of the others is no system message
  std::string_view last_role;  // of the last one
};
[[nodiscard]] std::vector<std::string> changes_of_new(const Polyfills& polyfills,
                                                      std::span<const json::Value> new_messages,
                                                      const Preceding& preceding);
// Of messages.
[[nodiscard]] Preceding preceding_of(std::span<const json::Value> messages);

}  // namespace rondo::tmpl
