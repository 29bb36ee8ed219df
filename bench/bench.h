// Timing for the benchmarks: repeats a piece of work for a while and prints the best and the median time.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <vector>

namespace rondo::bench {

// Runs `work` for about half a second and prints a line; `bytes` of one run, if not 0, give a rate.
template <typename Work>
void measure(const char* name, std::size_t bytes, const Work& work) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times_us;
  const auto end = Clock::now() + std::chrono::milliseconds(500);
  do {
    const auto start = Clock::now();
    work();
    times_us.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  } while (Clock::now() < end);
  std::sort(times_us.begin(), times_us.end());
  const double median_us = times_us[times_us.size() / 2];
  std::printf("%-40s best %10.1f us  median %10.1f us", name, times_us.front(), median_us);
  if (bytes != 0) std::printf("  %8.1f MB/s", static_cast<double>(bytes) / median_us);
  std::printf("\n");
}

}  // namespace rondo::bench
