#include "audit/proofs.h"

#include <algorithm>

#include "base/utf8.h"
#include "text/text.h"

namespace rondo::audit {
namespace {

// How many bytes a proof shows on each side of its place, and how long a text may be to be shown whole.
constexpr std::size_t kBeside = 24;
constexpr std::size_t kWhole = 96;

}  // namespace

std::string excerpt(std::string_view text, std::size_t begin, std::size_t end) {
  const std::size_t from = utf8::boundary(text, begin - std::min(begin, kBeside));
  const std::size_t to = utf8::boundary(text, std::min(text.size(), std::max(begin, end) + kBeside));
  const std::string shown = shortened(text.substr(from, to - from));
  return (from > 0 ? "..." : "") + shown + (to < text.size() ? "..." : "");
}

std::string shortened(std::string_view text) {
  if (text.size() <= kWhole) return text::quoted(text);
  const std::size_t half = kWhole / 2;
  return text::quoted(text.substr(0, utf8::boundary(text, half))) + "..." +
         text::quoted(text.substr(utf8::boundary(text, text.size() - half)));
}

std::size_t first_difference(std::string_view a, std::string_view b) {
  return utf8::boundary(a, static_cast<std::size_t>(std::ranges::mismatch(a, b).in1 - a.begin()));
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
