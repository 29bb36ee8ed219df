// Numbers and texts as bytes: LEB128 integers, and texts preceded by their size.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace rondo::spans {

inline void put_number(std::string& out, std::uint64_t value) {
  for (; value >= 0x80U; value >>= 7U) out += static_cast<char>(value | 0x80U);
  out += static_cast<char>(value);
}

// Encodes small numbers of either sign in few bytes: 0, -1, 1, -2 become 0, 1, 2, 3.
inline void put_signed(std::string& out, std::int64_t value) {
  put_number(out, (static_cast<std::uint64_t>(value) << 1U) ^ static_cast<std::uint64_t>(value >> 63U));
}

inline void put_text(std::string& out, std::string_view text) {
  put_number(out, text.size());
  out += text;
}

// Reads what the functions above wrote.  Past the end, and after an invalid number, every value is 0 or empty, and ok()
// is false.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  [[nodiscard]] std::uint64_t number() {
    std::uint64_t out = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      if (rest_.empty()) return fail();
      const auto byte = static_cast<std::uint8_t>(rest_.front());
      rest_.remove_prefix(1);
      if (shift == 63 && byte > 1) return fail();
      out |= static_cast<std::uint64_t>(byte & 0x7FU) << shift;
      if (byte < 0x80U) return out;
    }
    return fail();
  }
  // Reads a number of at most `limit`.
  [[nodiscard]] std::uint64_t number(std::uint64_t limit) {
    const std::uint64_t out = number();
    return out <= limit ? out : fail();
  }
  [[nodiscard]] std::int64_t signed_number() {
    const std::uint64_t value = number();
    return static_cast<std::int64_t>(value >> 1U) ^ -static_cast<std::int64_t>(value & 1U);
  }
  // Reads how many elements follow.  Each takes at least one byte.
  [[nodiscard]] std::size_t count() { return static_cast<std::size_t>(number(rest_.size())); }
  [[nodiscard]] std::string_view bytes(std::size_t size) {
    if (size > rest_.size()) {
      fail();
      return {};
    }
    const std::string_view out = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return out;
  }
  [[nodiscard]] std::string_view text() { return bytes(count()); }

  [[nodiscard]] bool ok() const { return ok_; }
  [[nodiscard]] bool at_end() const { return ok_ && rest_.empty(); }

 private:
  std::uint64_t fail() {
    ok_ = false;
    rest_ = {};
    return 0;
  }

  std::string_view rest_;
  bool ok_ = true;
};

}  // namespace rondo::spans
