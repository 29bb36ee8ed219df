#include "gateway/stop_text.h"

#include <algorithm>

namespace rondo::gateway {

// Where the first stop text begins; the size of the text if there is none.
std::size_t StopText::first_stop() {
  std::size_t first = held_.size();
  for (const std::string& one : stops_) {
    const std::size_t at = held_.find(one);
    if (at == std::string::npos || (at >= first && !found_.empty())) continue;
    first = at;
    found_ = one;
  }
  return first;
}

// The end of the text may still become a stop text.
std::size_t StopText::certain_size() const {
  std::size_t certain = held_.size();
  for (const std::string& stop : stops_) {
    for (std::size_t size = std::min(stop.size() - 1, held_.size()); size > 0; --size) {
      if (std::string_view(held_).substr(held_.size() - size) != std::string_view(stop).substr(0, size)) continue;
      certain = std::min(certain, held_.size() - size);
      break;
    }
  }
  return certain;
}

std::string StopText::feed(std::string_view text) {
  if (stops_.empty()) return std::string(text);
  if (!found_.empty()) return "";
  held_ += text;
  const std::size_t stop = first_stop();
  std::string out = held_.substr(0, found_.empty() ? certain_size() : stop + (is_shown_ ? found_.size() : 0));
  held_.erase(0, found_.empty() ? out.size() : held_.size());
  return out;
}

std::string StopText::flush() {
  std::string out;
  out.swap(held_);
  return out;
}

}  // namespace rondo::gateway
