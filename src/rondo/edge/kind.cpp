#include "edge/kind.h"

#include <array>

#include "edge/edge_template.h"

namespace rondo::edge {
namespace {

constexpr std::array<std::string_view, 3> kSystemUses = {"none", "first", "either"};
constexpr std::array<std::string_view, 3> kTurns = {"one", "alternate", "any"};
constexpr std::array<std::string_view, 4> kTexts = {"words", "trimmed", "not_empty", "any"};
constexpr std::array<std::string_view, 3> kMedia = {"none", "first", "anywhere"};

template <typename Names, typename E>
std::string_view name_of(const Names& names, E value) {
  return names.at(static_cast<std::size_t>(value));
}

json::Value speaker_to_json(const Speaker& speaker) {
  json::Object out{{"texts", name_of(kTexts, speaker.texts)}};
  json::Array except;
  for (const std::string& text : speaker.except) except.emplace_back(text);
  if (!except.empty()) out.set("except", std::move(except));
  return out;
}

std::string texts_sentence(std::string_view role, const Speaker& speaker) {
  constexpr std::array<std::string_view, 4> kWhat = {"words alone", "no white space at the ends, not empty",
                                                     "not empty", ""};
  std::string out(name_of(kWhat, speaker.texts));
  if (!speaker.except.empty()) {
    out += out.empty() ? "without " : ", without ";
    for (std::size_t i = 0; i < speaker.except.size(); ++i) out += (i == 0 ? "`" : ", `") + speaker.except[i] + "`";
  }
  return out.empty() ? "" : "; " + std::string(role) + " texts: " + out;
}

}  // namespace

Speaker& Kind::speaker(char role) { return role == 's' ? system_texts : role == 'u' ? user_texts : assistant_texts; }

const Speaker& Kind::speaker(char role) const {
  return role == 's' ? system_texts : role == 'u' ? user_texts : assistant_texts;
}

std::string_view role_name(char role) { return role == 's' ? kSystem : role == 'u' ? kUser : kAssistant; }

bool is_lossless(const Kind& kind, bool can_think) {
  return kind.system == SystemUse::kEither && kind.turns != Turns::kOne && (kind.thinking || !can_think) &&
         kind.system_texts.texts == Texts::kAny && kind.user_texts.texts == Texts::kAny &&
         kind.assistant_texts.texts == Texts::kAny;
}

json::Value to_json(const Kind& kind) {
  json::Object texts;
  for (const char role : {'s', 'u', 'a'}) texts.set(role_name(role), speaker_to_json(kind.speaker(role)));
  json::Object out{{"system", name_of(kSystemUses, kind.system)},
                   {"later_system", kind.later_system},
                   {"turns", name_of(kTurns, kind.turns)},
                   {"ends_with_answer", kind.ends_with_answer},
                   {"without_generation_prompt", kind.without_prompt},
                   {"thinking", kind.thinking},
                   {"text_parts", kind.text_parts},
                   {"images", name_of(kMedia, kind.images)},
                   {"videos", name_of(kMedia, kind.videos)},
                   {"several_media", kind.several_media}};
  out.set("texts", std::move(texts));
  out.set("messages", kind.max_messages);
  return out;
}

std::string to_sentence(const Kind& kind) {
  constexpr std::array<std::string_view, 3> kSystems = {"without a system message", "that begin with a system message",
                                                        "with or without a system message"};
  constexpr std::array<std::string_view, 3> kOrders = {"one user message",
                                                       "user and assistant messages in turn, from a user to a user",
                                                       "user and assistant messages in any order"};
  constexpr std::array<std::string_view, 3> kPlaces = {"", " before the text", " anywhere"};
  std::string out =
      "conversations " + std::string(name_of(kSystems, kind.system)) + "; " + std::string(name_of(kOrders, kind.turns));
  if (kind.ends_with_answer && kind.turns == Turns::kAlternate) out += ", or to an assistant";
  if (kind.later_system) out += "; later system messages";
  out += kind.without_prompt ? "; with and without the generation prompt" : "; with the generation prompt";
  if (kind.thinking) out += "; with and without thinking";
  if (kind.text_parts) out += "; texts as parts";
  const std::string several = kind.several_media ? "" : ", one in a conversation";
  if (kind.images != Media::kNone) out += "; images" + std::string(name_of(kPlaces, kind.images)) + several;
  if (kind.videos != Media::kNone) out += "; videos" + std::string(name_of(kPlaces, kind.videos)) + several;
  if (kind.system != SystemUse::kNone) out += texts_sentence(kSystem, kind.system_texts);
  out += texts_sentence(kUser, kind.user_texts);
  if (kind.turns != Turns::kOne) out += texts_sentence(kAssistant, kind.assistant_texts);
  return out + "; at most " + std::to_string(kind.max_messages) + " messages";
}

}  // namespace rondo::edge
