#include "tokenizer/byte_masks.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rondo::tokenizer {
namespace {

#if defined(__x86_64__)

__attribute__((target("avx512f,avx512bw"))) void masks_avx512(const char* bytes, ByteMasks& out) {
  const __m512i block = _mm512_loadu_si512(bytes);
  const auto equal = [&](char byte) __attribute__((target("avx512f,avx512bw"))) {
    return _mm512_cmpeq_epi8_mask(block, _mm512_set1_epi8(byte));
  };
  const auto in_range = [&](char first, char count) __attribute__((target("avx512f,avx512bw"))) {
    return _mm512_cmplt_epu8_mask(_mm512_sub_epi8(block, _mm512_set1_epi8(first)), _mm512_set1_epi8(count));
  };
  out.upper = in_range('A', 26);
  out.lower = in_range('a', 26);
  out.digit = in_range('0', 10);
  out.space = equal(' ');
  out.white = in_range('\t', 5) | out.space;
  out.line_end = equal('\n') | equal('\r');
  out.apostrophe = equal('\'');
  out.slash = equal('/');
  out.beyond = _mm512_movepi8_mask(block);
}

__attribute__((target("avx2"))) void masks_avx2(const char* bytes, ByteMasks& out) {
  const __m256i low = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
  const __m256i high = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes + 32));
  const auto join = [](__m256i a, __m256i b) __attribute__((target("avx2"))) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm256_movemask_epi8(a))) |
           static_cast<std::uint64_t>(static_cast<std::uint32_t>(_mm256_movemask_epi8(b))) << 32U;
  };
  const auto equal = [&](char byte) __attribute__((target("avx2"))) {
    const __m256i wanted = _mm256_set1_epi8(byte);
    return join(_mm256_cmpeq_epi8(low, wanted), _mm256_cmpeq_epi8(high, wanted));
  };
  const auto in_range = [&](char first, char count) __attribute__((target("avx2"))) {
    const __m256i from = _mm256_set1_epi8(first);
    const __m256i last = _mm256_set1_epi8(static_cast<char>(count - 1));
    const __m256i a = _mm256_sub_epi8(low, from);
    const __m256i b = _mm256_sub_epi8(high, from);
    return join(_mm256_cmpeq_epi8(_mm256_min_epu8(a, last), a), _mm256_cmpeq_epi8(_mm256_min_epu8(b, last), b));
  };
  out.upper = in_range('A', 26);
  out.lower = in_range('a', 26);
  out.digit = in_range('0', 10);
  out.space = equal(' ');
  out.white = in_range('\t', 5) | out.space;
  out.line_end = equal('\n') | equal('\r');
  out.apostrophe = equal('\'');
  out.slash = equal('/');
  out.beyond = join(low, high);
}

#endif

}  // namespace

MaskFunction best_mask_function() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw")) return masks_avx512;
  if (__builtin_cpu_supports("avx2")) return masks_avx2;
#endif
  return nullptr;
}

}  // namespace rondo::tokenizer
