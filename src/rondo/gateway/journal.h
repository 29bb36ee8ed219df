// A log line for each request, and the latest requests themselves if they are kept.  Private to gateway/.
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

// A log line with its line end: whose request, its status, its cost.  It contains no text of the request and no
// secrets.
struct LogEntry {
  std::int64_t time_ms = 0;
  const net::ServerRequest& request;
  const Visit& visit;
  std::string_view api;
  int status = 0;
  std::int64_t total_ms = 0;
};
[[nodiscard]] std::string log_line(ServiceOptions::Log format, const LogEntry& entry);

// The bodies of the latest requests, as lines that `rondo replay` reads.  A tenant sees only its own.  Any thread.
class RequestLog {
 public:
  struct Entry {
    std::string tenant;
    std::int64_t time_ms = 0;
    std::string request_id;
    std::string session;  // "" if the request names none
    std::string body;     // JSON
  };
  // Adds an entry.  Drops the oldest ones until all take at most `most_bytes`.
  void keep(Entry entry, std::size_t most_bytes);
  // Returns the tenant's entries after `since_ms`, oldest first.
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
