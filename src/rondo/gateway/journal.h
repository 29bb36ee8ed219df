// A line for each request, and the last requests themselves where they are kept.  Private to gateway/.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <string_view>

#include "gateway/service.h"
#include "gateway/visit.h"
#include "net/server.h"

namespace rondo::gateway {

// One line with its end: whose request, how it was answered, what it cost.  Nothing of what it says, and no secrets.
struct LogEntry {
  std::int64_t time_ms = 0;
  const net::ServerRequest& request;
  const Visit& visit;
  std::string_view api;
  int status = 0;
  std::int64_t total_ms = 0;
};
[[nodiscard]] std::string log_line(ServiceOptions::Log format, const LogEntry& entry);

// The bodies of the last requests, as lines that `rondo replay` reads.  A tenant sees its own alone.  Any thread.
class RequestLog {
 public:
  struct Entry {
    std::string tenant;
    std::int64_t time_ms = 0;
    std::string request_id;
    std::string session;  // "" where it names none
    std::string body;     // JSON
  };
  // Forgets the oldest until `most_bytes` suffice.
  void keep(Entry entry, std::size_t most_bytes);
  // Those behind that time, the oldest first.
  [[nodiscard]] std::string lines(std::string_view tenant, std::int64_t since_ms) const;

 private:
  struct Line {
    std::string tenant;
    std::int64_t time_ms = 0;
    std::string text;
  };
  mutable std::mutex mutex_;
  std::deque<Line> lines_;
  std::size_t bytes_ = 0;
};

}  // namespace rondo::gateway
