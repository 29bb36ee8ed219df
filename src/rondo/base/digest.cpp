#include "base/digest.h"

#include <cstdint>

#include "base/hex.h"

namespace rondo {

std::string hex_digest(std::initializer_list<std::string_view> texts) {
  std::uint64_t value = 0xCBF29CE484222325U;
  for (const std::string_view text : texts) {
    for (const char byte : text) value = (value ^ static_cast<unsigned char>(byte)) * 0x100000001B3U;
    value = (value ^ 0xFFU) * 0x100000001B3U;
  }
  std::string out;
  hex::append(out, value, 16);
  return out;
}

}  // namespace rondo
