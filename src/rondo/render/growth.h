// Whether a conversation that grows by a message may be rendered in a window: behind a few of its messages in place of all.
//
// The window is the system message, the last user message before the last assistant's, and everything from there on.  What the
// template writes for the new message behind it is what it writes behind the whole conversation where
//   * in trials with conversations of all kinds (render/histories.h) it always was, for such a message behind such a one;
//   * the trials have seen all that the template decides on in the conversation (render/outcomes.h), and it counts to no great
//     number (jinja/carried.h);
//   * nothing of the new turns, and no condition that decides on them, comes from an older message, here and in the trials;
//   * the window ends as the conversation does, byte for byte, and changes at most its last turn.
// The first two are established once for each template, tools and variables; the others are looked at each time.
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

// What all renders of one conversation have in common.  The references must outlive it.
struct Setting {
  const jinja::Template& chat_template;
  const chat::Conversation& base;  // all but its messages
  const tmpl::ApplyOptions& options;
};

// Messages as far as it matters which of them follow each other.
enum class MessageKind : std::uint8_t { kSystem, kUser, kText, kCall, kCalls, kResult, kResults, kOther };
// Of the message behind `before`.
[[nodiscard]] MessageKind kind_of(std::span<const json::Value> before, const json::Value& message);

// What one message changes in a text: everything from byte `kept` on becomes `added`.
struct GrowthStep {
  std::size_t kept = 0;
  std::string added;
  std::size_t window = 0;   // number of messages that were rendered before the new one
  std::string fault;        // why it can't be told so; the others mean nothing then
  bool is_unknown = false;  // no later step can be told either
};

class Growth {
 public:
  // Nothing may be rendered in a window.
  Growth() = default;
  // Some hundred small renders.  `input`: the shape of messages that the template wants.
  [[nodiscard]] static Growth prove(const Setting& setting, const format::InputShape& input);

  // Why such a message behind such a one is rendered with the whole conversation; "" if it need not be.  `is_marked`: one of
  // the messages so far, or it, is marked.
  [[nodiscard]] const std::string& reason(MessageKind last, MessageKind next, bool is_marked) const {
    const std::string& plain = reasons_[index_of(last, next, false)];
    return is_marked && plain.empty() ? reasons_[index_of(last, next, true)] : plain;
  }
  // Why the same holds for all of them; "" if it does not.
  [[nodiscard]] const std::string& general_reason() const { return general_; }

  // Whether the message has what templates treat otherwise when others follow: reasoning, or a text that the template searches.
  [[nodiscard]] bool marks(const json::Value& message) const;
  // Why nothing is known of a conversation with that message behind those; "" if it is not so.  `is_marked` as above.
  [[nodiscard]] std::string unknown_in(std::span<const json::Value> before, const json::Value& message,
                                       bool is_marked) const;
  // The same of a render.
  [[nodiscard]] std::string unknown_in(const jinja::Rendered& rendered) const { return outcomes_.unknown_in(rendered); }

 private:
  static constexpr std::size_t kKinds = static_cast<std::size_t>(MessageKind::kOther) + 1;
  static std::size_t index_of(MessageKind last, MessageKind next, bool is_marked) {
    return (static_cast<std::size_t>(last) * kKinds + static_cast<std::size_t>(next)) * 2 + (is_marked ? 1 : 0);
  }
  struct Trials;

  std::array<std::string, kKinds * kKinds * 2> reasons_;
  std::array<bool, kKinds * kKinds * 2> are_tried_{};  // such messages behind each other
  std::string general_ = "nothing was examined";
  std::string reasoning_field_;
  std::vector<std::string> constants_;  // that the trials had
  std::vector<std::string> others_;     // and those that they did not have
  Outcomes outcomes_;
};

// `text`: what the template writes of `messages`.  `is_marked` as in Growth::reason().  REQUIRES: there are messages.
[[nodiscard]] GrowthStep step_in_window(const Setting& setting, const Growth& growth,
                                        std::span<const json::Value> messages, std::string_view text,
                                        const json::Value& message, bool is_marked);

}  // namespace rondo::render
