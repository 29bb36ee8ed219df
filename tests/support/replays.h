// Replays of logs that are made in memory.
#pragma once

#include <string>
#include <vector>

#include "replay/replay.h"

namespace rondo::test {

// What a replay of these lines says.
[[nodiscard]] replay::ReplayReport replay_of(replay::PromptMaker::Parts parts, const replay::ReplayOptions& options,
                                             const std::vector<std::string>& lines);

}  // namespace rondo::test
