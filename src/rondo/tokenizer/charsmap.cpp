#include "tokenizer/charsmap.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/utf8.h"

namespace rondo::tokenizer {
namespace {

constexpr std::size_t kMaxReplacement = 512;  // limits how much a text can grow; the longest real one has 33 bytes

// The parts of a unit of the double array, as the library Darts-clone packs them.
bool has_leaf(std::uint32_t unit) { return (unit >> 8U & 1U) != 0; }
std::uint32_t value_of(std::uint32_t unit) { return unit & 0x7FFFFFFFU; }
std::uint32_t label_of(std::uint32_t unit) { return unit & 0x800000FFU; }
std::uint32_t offset_of(std::uint32_t unit) { return (unit >> 10U) << ((unit & (1U << 9U)) >> 6U); }

Error damaged_charsmap(std::string message) {
  return {ErrorCode::kTokenizer, "damaged character map: " + std::move(message)};
}

}  // namespace

Result<Charsmap> Charsmap::parse(std::string_view blob) {
  static_assert(std::endian::native == std::endian::little, "character maps are little-endian");
  Charsmap map;
  std::uint32_t size = 0;
  if (blob.size() <= sizeof size) return damaged_charsmap("it has " + std::to_string(blob.size()) + " bytes");
  std::memcpy(&size, blob.data(), sizeof size);
  blob.remove_prefix(sizeof size);
  if (size >= blob.size() || size % sizeof(std::uint32_t) != 0) {
    return damaged_charsmap("its array claims " + std::to_string(size) + " of " + std::to_string(blob.size()) +
                            " bytes");
  }
  map.units_.resize(size / sizeof(std::uint32_t));
  if (size > 0) std::memcpy(map.units_.data(), blob.data(), size);
  map.replacements_ = blob.substr(size);
  if (!utf8::is_valid(map.replacements_)) return damaged_charsmap("its replacements are no UTF-8");
  for (std::size_t at = 0; at < map.replacements_.size();) {
    const std::size_t end = std::min(map.replacements_.find('\0', at), map.replacements_.size());
    if (end - at > kMaxReplacement) return damaged_charsmap("a replacement has " + std::to_string(end - at) + " bytes");
    at = end + 1;
  }
  return map;
}

// Calls visit(match) for every entry that `text` starts with, shortest first, until it returns false.
template <typename Visit>
void Charsmap::visit_prefixes(std::string_view text, Visit visit) const {
  if (units_.empty()) return;
  std::size_t node = offset_of(units_[0]);
  for (std::size_t at = 0; at < text.size(); ++at) {
    const auto byte = static_cast<unsigned char>(text[at]);
    node ^= byte;
    // A NUL would lead to the values of leaves.
    if (byte == 0 || node >= units_.size() || label_of(units_[node]) != byte) return;
    const std::uint32_t unit = units_[node];
    node ^= offset_of(unit);
    if (node >= units_.size()) return;
    if (!has_leaf(unit)) continue;
    const std::size_t start = value_of(units_[node]);
    // An entry that points outside the replacements, or into a character, is ignored.
    if (start >= replacements_.size() || utf8::is_continuation(replacements_[start])) continue;
    const std::size_t end = std::min(replacements_.find('\0', start), replacements_.size());
    if (!visit(Match{at + 1, std::string_view(replacements_).substr(start, end - start)})) return;
  }
}

std::optional<Charsmap::Match> Charsmap::longest_prefix(std::string_view text) const {
  std::optional<Match> found;
  visit_prefixes(text, [&found](const Match& match) {
    found = match;
    return true;
  });
  return found;
}

std::optional<Charsmap::Match> Charsmap::shortest_prefix(std::string_view text) const {
  std::optional<Match> found;
  visit_prefixes(text, [&found](const Match& match) {
    found = match;
    return false;
  });
  return found;
}

}  // namespace rondo::tokenizer
