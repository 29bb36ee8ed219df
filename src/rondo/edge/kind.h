// A kind of conversations: those for which an Edge template writes what a Jinja template writes.
//
// Every conversation has at least one message that is no system message and at most `max_messages`; contents are texts, lists
// of text parts where `text_parts` says so, and lists with images or videos in user messages.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace rondo::edge {

enum class SystemUse : std::uint8_t { kNone, kLead, kEither };  // no system message, one at the begin, either
enum class Turns : std::uint8_t { kOne, kAlternate, kAny };  // one user message; user, assistant, ..., user; any order
// Letters, digits and single spaces; any characters, none of them white space at an end; that too; the empty text too.
enum class Texts : std::uint8_t { kWords, kInner, kEnds, kAny };
enum class Media : std::uint8_t { kNone, kLead, kAnywhere };  // none, before the message's text, anywhere

struct Speaker {
  Texts texts = Texts::kWords;
  std::vector<std::string> except = {};  // which no text holds
};

struct Kind {
  SystemUse system = SystemUse::kEither;
  Turns turns = Turns::kAlternate;
  bool later_system = false;      // system messages anywhere
  bool ends_with_answer = false;  // the last message may be the assistant's
  bool without_prompt = false;    // add_generation_prompt may be false
  bool thinking = false;          // enable_thinking may be true
  bool text_parts = false;
  Media images = Media::kNone;
  Media videos = Media::kNone;
  bool several_media = false;  // more than one image or video in a conversation
  Speaker system_texts = {};
  Speaker user_texts = {};
  Speaker assistant_texts = {};
  std::size_t max_messages = 40;

  [[nodiscard]] Speaker& speaker(char role);  // 's', 'u' or 'a'
  [[nodiscard]] const Speaker& speaker(char role) const;
};

// Whether every plain conversation is of the kind: with a system message or without, turns that alternate, all texts, with or
// without thinking where `can_think`.
[[nodiscard]] bool is_lossless(const Kind& kind, bool can_think);

[[nodiscard]] json::Value to_json(const Kind& kind);
// "conversations with or without a system message, ..."
[[nodiscard]] std::string to_sentence(const Kind& kind);

// "system", "user", "assistant" for 's', 'u', 'a'.
[[nodiscard]] std::string_view role_name(char role);

}  // namespace rondo::edge
