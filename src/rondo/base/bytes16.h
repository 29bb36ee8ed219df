// Sixteen bytes that scanners of text compare at once.  RONDO_BYTES16 is defined if the processor can do this.
//
//   for (; at + 16 <= text.size(); at += 16) {
//     if (const unsigned found = Bytes16(text.data() + at).equal('"').mask(); found != 0) return at + std::countr_zero(found);
//   }
#pragma once

#if defined(__SSE2__)
#include <emmintrin.h>
#define RONDO_BYTES16
#elif defined(__wasm_simd128__)
#include <wasm_simd128.h>
#define RONDO_BYTES16
#endif

#ifdef RONDO_BYTES16
namespace rondo {

// Also the result of a comparison: a byte has all bits set where the comparison holds.
class Bytes16 {
 public:
#if defined(__SSE2__)
  using Register = __m128i;
  explicit Bytes16(const char* data) : value_(_mm_loadu_si128(reinterpret_cast<const __m128i*>(data))) {}
  [[nodiscard]] Bytes16 equal(char byte) const { return Bytes16(_mm_cmpeq_epi8(value_, _mm_set1_epi8(byte))); }
  // As signed numbers: bytes from 0x80 on are negative.
  [[nodiscard]] Bytes16 below(char byte) const { return Bytes16(_mm_cmplt_epi8(value_, _mm_set1_epi8(byte))); }
  [[nodiscard]] Bytes16 above(char byte) const { return Bytes16(_mm_cmpgt_epi8(value_, _mm_set1_epi8(byte))); }
  [[nodiscard]] Bytes16 operator|(Bytes16 other) const { return Bytes16(_mm_or_si128(value_, other.value_)); }
  [[nodiscard]] Bytes16 operator&(Bytes16 other) const { return Bytes16(_mm_and_si128(value_, other.value_)); }
  // The highest bit of each, the first byte's in the lowest place.
  [[nodiscard]] unsigned mask() const { return static_cast<unsigned>(_mm_movemask_epi8(value_)); }
#else
  using Register = v128_t;
  explicit Bytes16(const char* data) : value_(wasm_v128_load(data)) {}
  [[nodiscard]] Bytes16 equal(char byte) const { return Bytes16(wasm_i8x16_eq(value_, wasm_i8x16_splat(byte))); }
  [[nodiscard]] Bytes16 below(char byte) const { return Bytes16(wasm_i8x16_lt(value_, wasm_i8x16_splat(byte))); }
  [[nodiscard]] Bytes16 above(char byte) const { return Bytes16(wasm_i8x16_gt(value_, wasm_i8x16_splat(byte))); }
  [[nodiscard]] Bytes16 operator|(Bytes16 other) const { return Bytes16(wasm_v128_or(value_, other.value_)); }
  [[nodiscard]] Bytes16 operator&(Bytes16 other) const { return Bytes16(wasm_v128_and(value_, other.value_)); }
  [[nodiscard]] unsigned mask() const { return static_cast<unsigned>(wasm_i8x16_bitmask(value_)); }
#endif

 private:
  explicit Bytes16(Register value) : value_(value) {}

  Register value_;
};

}  // namespace rondo
#endif
