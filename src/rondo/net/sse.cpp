#include "net/sse.h"

#include <algorithm>
#include <cassert>

#include "base/utf8.h"

namespace rondo::net {
namespace {

constexpr std::uint8_t kMarkSettled = 4;

// The offset of the first line feed or carriage return; the size if there is none.  It searches in blocks, because
// searching for each of the two is fast but one may be far behind the other.
std::size_t line_length(std::string_view bytes) {
  constexpr std::size_t kBlock = 512;
  for (std::size_t at = 0; at < bytes.size(); at += kBlock) {
    const std::string_view block = bytes.substr(at, kBlock);
    const std::size_t feed = std::min(block.find('\n'), block.size());
    const std::size_t end = std::min(block.substr(0, feed).find('\r'), feed);
    if (end < block.size()) return at + end;
  }
  return bytes.size();
}

}  // namespace

Status SseReader::read(std::string_view bytes, const std::function<void(const SseEvent&)>& take) {
  const auto too_long = [&] {
    return Error(ErrorCode::kLimit, "an event of more than " + std::to_string(limit_) + " bytes");
  };
  if (too_long_) return too_long();
  // A byte order mark is dropped byte by byte, because it may be cut.  Bytes that only begin like one belong to the
  // first line.
  while (mark_bytes_ < utf8::kByteOrderMark.size() && !bytes.empty()) {
    if (bytes.front() != utf8::kByteOrderMark[mark_bytes_]) {
      line_ = utf8::kByteOrderMark.substr(0, mark_bytes_);
      mark_bytes_ = kMarkSettled;
    } else {
      ++mark_bytes_;
      bytes.remove_prefix(1);
    }
  }
  while (!bytes.empty()) {
    if (after_return_ && bytes.front() == '\n') bytes.remove_prefix(1);
    after_return_ = false;
    const std::size_t end = line_length(bytes);
    if (line_.size() + event_.data.size() + end > limit_) {
      too_long_ = true;
      line_.clear();
      event_ = {};
      return too_long();
    }
    const bool is_whole = end < bytes.size();
    if (!is_whole || !line_.empty()) line_.append(bytes.substr(0, end));
    if (!is_whole) break;
    const std::string_view line = line_.empty() ? bytes.substr(0, end) : std::string_view(line_);
    after_return_ = bytes[end] == '\r';
    bytes.remove_prefix(end + 1);
    end_line(line, take);
    line_.clear();
  }
  return Done{};
}

void SseReader::end_line(std::string_view line, const std::function<void(const SseEvent&)>& take) {
  if (line.empty()) {
    if (has_data_) take(event_);
    has_data_ = false;
    event_.name.clear();
    event_.data.clear();
    return;
  }
  const std::size_t colon = std::min(line.find(':'), line.size());
  const std::string_view field = line.substr(0, colon);
  std::string_view value = line.substr(std::min(colon + 1, line.size()));
  if (value.starts_with(' ')) value.remove_prefix(1);
  if (field == "data") {
    if (has_data_) event_.data += '\n';
    event_.data += value;
    has_data_ = true;
  } else if (field == "event") {
    event_.name = value;
  } else if (field == "id" && value.find('\0') == std::string_view::npos) {
    event_.id = value;
  }
}

void append_sse(std::string& out, std::string_view name, std::string_view data) {
  assert(name.find_first_of("\r\n") == std::string_view::npos);
  if (!name.empty()) out.append("event: ").append(name).append("\n");
  while (true) {
    const std::size_t end = std::min(data.find_first_of("\r\n"), data.size());
    out.append("data: ").append(data.substr(0, end)).append("\n");
    if (end == data.size()) break;
    data.remove_prefix(data.substr(end).starts_with("\r\n") ? end + 2 : end + 1);
  }
  out += '\n';
}

}  // namespace rondo::net
