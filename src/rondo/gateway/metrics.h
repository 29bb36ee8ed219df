// Counters and durations of the gateway, and the text that Prometheus reads.  Private to gateway/.  Any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>

#include "gateway/service.h"

namespace rondo::gateway {

// Counts observed durations, in seconds, by their size.
class Histogram {
 public:
  // From the microseconds of a bridge to the longest turn of an agent.
  static constexpr std::array<double, 16> kBounds = {0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5,
                                                     1,     2.5,   5,    10,    30,   60,  120,  600};
  void observe(double seconds);
  void append_to(std::string& text, std::string_view name, std::string_view help) const;

 private:
  std::array<std::uint64_t, kBounds.size() + 1> counts_{};  // the last one counts what exceeds all bounds
  double sum_ = 0;
};

class Metrics {
 public:
  // One reply.
  struct Turn {
    std::string how;
    std::string cause;  // why ids were lost; "" if none were
    std::size_t prompt = 0;
    std::size_t cached = 0;
    std::size_t completion = 0;
  };

  void answered(std::string_view api, int status, double seconds);
  void first_token(double seconds);
  void planned(double seconds);
  void turn(const Turn& turn);
  void engine_failed();

  [[nodiscard]] std::string text(const std::vector<Gauge>& gauges) const;

 private:
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::uint64_t> requests_;  // by API and status
  std::map<std::string, std::uint64_t> by_way_;
  std::map<std::string, std::uint64_t> by_cause_;
  std::uint64_t failed_ = 0;
  std::uint64_t prompt_tokens_ = 0;
  std::uint64_t cached_tokens_ = 0;
  std::uint64_t completion_tokens_ = 0;
  Histogram seconds_;
  Histogram first_token_;
  Histogram planning_;
};

}  // namespace rondo::gateway
