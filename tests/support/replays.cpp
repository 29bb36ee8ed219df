#include "tests/support/replays.h"

#include <algorithm>
#include <utility>

namespace rondo::test {

replay::ReplayReport replay_of(replay::PromptMaker::Parts parts, const replay::ReplayOptions& options,
                               const std::vector<std::string>& lines) {
  replay::Replay replay(std::move(parts), options);
  std::string log;
  for (const std::string& line : lines) log += line + "\n";
  std::size_t at = 0;
  replay::LogReader reader([&](char* out, std::size_t size) {
    const std::size_t count = std::min(size, log.size() - at);
    std::copy_n(log.data() + at, count, out);
    at += count;
    return count;
  });
  while (auto entry = reader.next()) replay.feed(std::move(*entry));
  replay.note_log(reader);
  return replay.report();
}

}  // namespace rondo::test
