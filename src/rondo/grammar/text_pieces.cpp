#include "grammar/text_pieces.h"

#include <algorithm>
#include <cstddef>
#include <set>

namespace rondo::grammar {

std::vector<TextPiece> text_pieces(const std::vector<std::string>& markers) {
  constexpr std::size_t kLongestMarker = 256;
  std::vector<std::u32string> shortest;  // those that contain no other marker
  for (const std::string& word : markers) {
    const bool is_shortest = std::ranges::none_of(markers, [&word](const std::string& other) {
      return !other.empty() && other != word && word.find(other) != std::string::npos;
    });
    if (!word.empty() && is_shortest) shortest.push_back(code_points(word));
  }
  const auto is_long = [](const std::u32string& marker) { return marker.size() > kLongestMarker; };
  if (std::ranges::any_of(shortest, is_long)) return {};
  std::set<std::u32string> beginnings{U""};
  for (const std::u32string& marker : shortest) {
    for (std::size_t size = 1; size < marker.size(); ++size) beginnings.insert(marker.substr(0, size));
  }
  std::vector<TextPiece> out;
  for (const std::u32string& begun : beginnings) {
    CharSet next;  // with which a marker begins or goes on behind some end of `begun`
    for (const std::u32string& marker : shortest) {
      for (std::size_t size = 0; size <= begun.size(); ++size) {
        if (marker.size() > size && begun.ends_with(marker.substr(0, size)))
          next = next.united(CharSet::of(marker[size]));
      }
    }
    out.push_back({begun, next.complement()});
  }
  return out;
}

}  // namespace rondo::grammar
