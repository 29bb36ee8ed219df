// Decides whether a new message may be rendered in a window: after a few messages of the conversation instead of all.
//
// The window is the system message, the last user message before the last assistant message, and everything after that.
// The template writes the new message after the window as it does after the whole conversation if all of these hold:
//   * In trials with conversations of all kinds (render/histories.h), it always did so for this kind of message after
//     the kind before it.
//   * The trials have seen every decision that the template makes in this conversation (render/outcomes.h), and the
//     template does not count to a large number (jinja/carried.h).
//   * Nothing in the new turns, and no condition that decides on them, comes from an older message, here and in the
//     trials.
//   * The window ends with the same bytes as the conversation, and the new message changes at most its last turn.
// The first two are established once for each template, tools and variables.  The others are checked for each message.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "chat/conversation.h"
#include "format/format.h"
#include "jinja/template.h"
#include "render/outcomes.h"
#include "template/chat_template.h"

namespace rondo::render {

// The data that all renders of one conversation share.  The references must outlive it.
struct Setting {
  const jinja::Template& chat_template;
  const chat::Conversation& base;  // everything but the messages
  const tmpl::ApplyOptions& options;
};

// The kinds of messages, as far as their order matters to a template.
enum class MessageKind : std::uint8_t { kSystem, kUser, kText, kCall, kCalls, kResult, kResults, kOther };
// Returns the kind of `message` when it follows `before`.
[[nodiscard]] MessageKind kind_of(std::span<const json::Value> before, const json::Value& message);

// How one message changes a text: `added` replaces everything from byte `kept` on.
struct GrowthStep {
  std::size_t kept = 0;
  std::string added;
  std::size_t window = 0;   // how many messages were rendered before the new one
  std::string fault;        // why a window cannot tell; if set, the other fields are meaningless
  bool is_unknown = false;  // whether later messages cannot be rendered in a window either
};

class Growth {
 public:
  // Allows no window.
  Growth() = default;
  // Renders a hundred or so small conversations.  `input` is the shape of messages that the template needs.
  [[nodiscard]] static Growth prove(const Setting& setting, const format::InputShape& input);

  // Returns why a `next` message after a `last` one needs a render of the whole conversation; "" if it does not.
  // `is_marked` tells whether this message or one before it is marked; see marks().
  [[nodiscard]] const std::string& reason(MessageKind last, MessageKind next, bool is_marked) const {
    const std::string& plain = reasons_[index_of(last, next, false)];
    return is_marked && plain.empty() ? reasons_[index_of(last, next, true)] : plain;
  }
  // Returns the reason that applies to all kinds of messages; "" if there is none.
  [[nodiscard]] const std::string& general_reason() const { return general_; }

  // Returns whether the message has what templates treat differently once others follow: reasoning, or a text that the
  // template searches for.
  [[nodiscard]] bool marks(const json::Value& message) const;
  // Returns why the trials say nothing about a conversation with `message` after `before`; "" if they do.  `is_marked`
  // is as in reason().
  [[nodiscard]] std::string unknown_in(std::span<const json::Value> before, const json::Value& message,
                                       bool is_marked) const;
  // Returns why the trials say nothing about a render; "" if they do.
  [[nodiscard]] std::string unknown_in(const jinja::Rendered& rendered) const { return outcomes_.unknown_in(rendered); }

 private:
  static constexpr std::size_t kKinds = static_cast<std::size_t>(MessageKind::kOther) + 1;
  static std::size_t index_of(MessageKind last, MessageKind next, bool is_marked) {
    return (static_cast<std::size_t>(last) * kKinds + static_cast<std::size_t>(next)) * 2 + (is_marked ? 1 : 0);
  }
  struct Trials;

  std::array<std::string, kKinds * kKinds * 2> reasons_;
  std::array<bool, kKinds * kKinds * 2> are_tried_{};  // which kinds were tried after each other
  std::string general_ = "nothing was examined";
  std::string reasoning_field_;
  std::vector<std::string> constants_;  // the constants that the trials had
  std::vector<std::string> others_;     // the constants that they did not have
  Outcomes outcomes_;
};

// Finds how `message` changes `text`, which is the render of `messages`.  `is_marked` is as in Growth::reason().
//
// REQUIRES: there are messages.
[[nodiscard]] GrowthStep step_in_window(const Setting& setting, const Growth& growth,
                                        std::span<const json::Value> messages, std::string_view text,
                                        const json::Value& message, bool is_marked);

}  // namespace rondo::render
