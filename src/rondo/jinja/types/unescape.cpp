#include "jinja/types/unescape.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/hex.h"
#include "base/utf8.h"
#include "jinja/types/entities.h"

namespace rondo::jinja {
namespace {

std::optional<std::string_view> named(std::string_view name) {
  const std::span<const NamedEntity> table(kNamedEntities, kNamedEntityCount);
  const auto found = std::lower_bound(table.begin(), table.end(), name,
                                      [](const NamedEntity& entry, std::string_view key) { return entry.name < key; });
  if (found == table.end() || found->name != name) return std::nullopt;
  return found->text;
}

std::string numbered(std::uint32_t number) {
  const std::span<const NumberedEntity> table(kNumberedEntities, kNumberedEntityCount);
  const auto found =
      std::lower_bound(table.begin(), table.end(), number,
                       [](const NumberedEntity& entry, std::uint32_t key) { return entry.number < key; });
  if (found != table.end() && found->number == number) return std::string(found->text);
  std::string out;
  if (number > 0x10FFFF || (number >= 0xD800 && number <= 0xDFFF)) {
    utf8::append(out, utf8::kReplacement);
  } else if (!std::binary_search(kDroppedCodePoints, kDroppedCodePoints + kDroppedCodePointCount, number)) {
    utf8::append(out, static_cast<char32_t>(number));
  }
  return out;
}

int digit_value(char c, int base) {
  const int value = static_cast<int>(hex::digit(c).value_or(99));
  return value < base ? value : -1;
}

// A numeric reference whose `#` is at `at`; moves `at` after it.  Without digits the result is nothing, and `at` does
// not move.
std::optional<std::string> by_number(std::string_view text, std::size_t& at) {
  std::size_t end = at + 1;
  int base = 10;
  if (end < text.size() && (text[end] | 0x20) == 'x') {
    base = 16;
    ++end;
  }
  const std::size_t digits = end;
  std::uint32_t number = 0;
  constexpr std::uint32_t kTooLarge = 0x110000;
  for (; end < text.size() && digit_value(text[end], base) >= 0; ++end) {
    number = std::min(kTooLarge, number * static_cast<std::uint32_t>(base) +
                                     static_cast<std::uint32_t>(digit_value(text[end], base)));
  }
  if (end == digits) return std::nullopt;
  at = end + (end < text.size() && text[end] == ';' ? 1 : 0);
  return numbered(number);
}

// The same for a name that begins at `at`: takes the longest known prefix.
std::optional<std::string> by_name(std::string_view text, std::size_t& at) {
  constexpr std::size_t kLongest = 32;  // code points
  std::size_t end = at;
  for (std::size_t count = 0; end < text.size() && count < kLongest; ++count) {
    if (std::string_view("\t\n\f <&#;").find(text[end]) != std::string_view::npos) break;
    end += utf8::decode(text, end).size;
  }
  if (end == at) return std::nullopt;
  if (end < text.size() && text[end] == ';') ++end;
  const std::string_view name = text.substr(at, end - at);
  for (std::size_t size = name.size(); size > 1; --size) {
    const std::optional<std::string_view> found = named(name.substr(0, size));
    if (!found) continue;
    at += size;
    return std::string(*found);
  }
  return std::nullopt;
}

}  // namespace

Reference html_reference(std::string_view text, std::size_t at) {
  if (text[at] != '&') return {};
  std::size_t behind = at + 1;
  const bool is_number = behind < text.size() && text[behind] == '#';
  std::optional<std::string> character = is_number ? by_number(text, behind) : by_name(text, behind);
  return character ? Reference{behind - at, *std::move(character)} : Reference{};
}

}  // namespace rondo::jinja
