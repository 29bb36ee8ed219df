// A kind of conversations: those for which an Edge template writes the same as a Jinja template.
//
// Every conversation has at least one message that is not a system message, and at most `max_messages`.  Contents are
// texts, lists of text parts if `text_parts`, and in user messages lists with images or videos.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "json/value.h"

namespace rondo::edge {

enum class SystemUse : std::uint8_t { kNone, kLead, kEither };  // no system message; one at the beginning; either
enum class Turns : std::uint8_t { kOne, kAlternate, kAny };  // one user message; user, assistant, ..., user; any order
// kWords: letters, digits and single spaces.  kInner: any characters, but no white space at the ends.  kEnds: white
// space at the ends too.  kAny: the empty text too.
enum class Texts : std::uint8_t { kWords, kInner, kEnds, kAny };
enum class Media : std::uint8_t { kNone, kLead, kAnywhere };  // none, before the message's text, anywhere

struct Speaker {
  Texts texts = Texts::kWords;
  std::vector<std::string> except = {};  // words that no text contains
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

// Returns whether the kind includes every plain conversation: with or without a system message, with alternating turns,
// with all texts, and, if `can_think`, with or without thinking.
[[nodiscard]] bool is_lossless(const Kind& kind, bool can_think);

[[nodiscard]] json::Value to_json(const Kind& kind);
// Returns "conversations with or without a system message, ...".
[[nodiscard]] std::string to_sentence(const Kind& kind);

// Returns "system", "user" or "assistant" for 's', 'u', 'a'.
[[nodiscard]] std::string_view role_name(char role);

}  // namespace rondo::edge
