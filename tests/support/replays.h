// Replays of logs that are made in memory.
#pragma once

#include <string>
#include <vector>

#include "audit/replay.h"

namespace rondo::test {

// What a replay of these lines says.
[[nodiscard]] audit::ReplayReport replay_of(audit::PromptMaker::Parts parts, const audit::ReplayOptions& options,
                                            const std::vector<std::string>& lines);

}  // namespace rondo::test
