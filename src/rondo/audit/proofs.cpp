#include "audit/proofs.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/text.h"

namespace rondo::audit {
namespace {

// Bytes of a text that a proof shows beside the place it is about, and of a text that it shows whole.
constexpr std::size_t kBeside = 24;
constexpr std::size_t kWhole = 96;

// The nearest beginning of a character at or before `at`.
std::size_t character_at(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  while (at > 0 && at < text.size() && utf8::is_continuation(text[at])) --at;
  return at;
}

}  // namespace

std::string excerpt(std::string_view text, std::size_t begin, std::size_t end) {
  const std::size_t from = character_at(text, begin - std::min(begin, kBeside));
  const std::size_t to = character_at(text, std::min(text.size(), std::max(begin, end) + kBeside));
  const std::string shown = shortened(text.substr(from, to - from));
  return (from > 0 ? "..." : "") + shown + (to < text.size() ? "..." : "");
}

std::string shortened(std::string_view text) {
  if (text.size() <= kWhole) return text::quoted(text);
  const std::size_t half = kWhole / 2;
  return text::quoted(text.substr(0, character_at(text, half))) + "..." +
         text::quoted(text.substr(character_at(text, text.size() - half)));
}

std::size_t first_difference(std::string_view a, std::string_view b) {
  return character_at(a, static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin()));
}

std::string difference(const Named& first, const Named& second) {
  const std::size_t at = first_difference(first.text, second.text);
  return std::string(first.name) + " " + excerpt(first.text, at, at + kBeside) + "; " + std::string(second.name) + " " +
         excerpt(second.text, at, at + kBeside);
}

std::string listed(const std::vector<std::string>& words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) out += i + 1 == words.size() ? " and " : ", ";
    out += words[i];
  }
  return out;
}

}  // namespace rondo::audit
