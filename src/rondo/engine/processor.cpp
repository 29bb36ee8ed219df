#include "engine/processor.h"

#include <string>
#include <vector>

#if defined(RONDO_LLAMA_NEEDS_AVX2) && defined(__x86_64__)
#include <cpuid.h>
#elif defined(RONDO_LLAMA_NEEDS_DOTPROD) && defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace rondo::engine {
namespace {

// None where the build does not say what it uses.
#if defined(RONDO_LLAMA_NEEDS_AVX2) && defined(__x86_64__)

// Whether the system keeps the registers of AVX for each thread (the manual's CPUID.1:ECX.OSXSAVE and XCR0).
bool system_keeps_avx(unsigned features) {
  if ((features & bit_OSXSAVE) == 0) return false;
  unsigned low = 0;
  unsigned high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  constexpr unsigned kSseAndAvx = 6;
  return (low & kSseAndAvx) == kSseAndAvx;
}

// Not __builtin_cpu_supports(): the cross compiler's library answers no to everything.
std::vector<Instructions> needed_instructions() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned features = 0;
  unsigned d = 0;
  __get_cpuid(1, &a, &b, &features, &d);
  unsigned more = 0;
  unsigned c = 0;
  __get_cpuid_count(7, 0, &a, &more, &c, &d);
  const bool kept = system_keeps_avx(features);
  return {{"AVX2", kept && (more & bit_AVX2) != 0},
          {"FMA", kept && (features & bit_FMA) != 0},
          {"F16C", kept && (features & bit_F16C) != 0},
          {"BMI2", (more & bit_BMI2) != 0}};
}

#elif defined(RONDO_LLAMA_NEEDS_DOTPROD) && defined(__aarch64__) && defined(__linux__)

std::vector<Instructions> needed_instructions() {
  const unsigned long has = ::getauxval(AT_HWCAP);
  return {{"ASIMDDP (dot products)", (has & HWCAP_ASIMDDP) != 0},
          {"ASIMDHP (half floats)", (has & HWCAP_ASIMDHP) != 0}};
}

#else

std::vector<Instructions> needed_instructions() { return {}; }

#endif

}  // namespace

Status check_instructions(std::span<const Instructions> needed) {
  std::string missing;
  for (const Instructions& one : needed) {
    if (!one.present) missing += (missing.empty() ? "" : ", ") + std::string(one.name);
  }
  if (missing.empty()) return Done{};
  return Error(ErrorCode::kUnsupported, "the embedded engine was compiled for processors that have " + missing +
                                            ", which this one lacks; build rondo from its source on this machine");
}

Status check_processor() { return check_instructions(needed_instructions()); }

}  // namespace rondo::engine
