#include "engine/engine.h"

namespace rondo::engine {

std::string_view to_string(MemoryKind kind) {
  switch (kind) {
    case MemoryKind::kAttention: return "attention";
    case MemoryKind::kSlidingWindow: return "sliding-window";
    case MemoryKind::kRecurrent: return "recurrent";
    case MemoryKind::kHybrid: return "hybrid";
  }
  return "unknown";
}

std::string_view to_string(Reuse reuse) {
  switch (reuse) {
    case Reuse::kAppend: return "append";
    case Reuse::kRollback: return "rollback";
    case Reuse::kCheckpoint: return "checkpoint";
    case Reuse::kFull: return "full";
  }
  return "unknown";
}

std::string_view to_string(StopReason reason) {
  switch (reason) {
    case StopReason::kStopToken: return "stop";
    case StopReason::kLength: return "length";
    case StopReason::kConstraint: return "constraint";
    case StopReason::kContextFull: return "context_full";
    case StopReason::kCancelled: return "cancelled";
  }
  return "unknown";
}

Status check_prompt(const Description& description, std::span<const TokenId> ids) {
  if (ids.empty()) return Error(ErrorCode::kInvalidArgument, "the prompt has no tokens");
  if (ids.size() > description.context_tokens) {
    return Error(ErrorCode::kLimit, "the prompt has " + std::to_string(ids.size()) + " tokens, the context holds " +
                                        std::to_string(description.context_tokens));
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (ids[i] < 0 || ids[i] >= description.vocab_size) {
      return Error(ErrorCode::kInvalidArgument, "token " + std::to_string(i) + " of the prompt is " +
                                                    std::to_string(ids[i]) + ", the model's ids are below " +
                                                    std::to_string(description.vocab_size));
    }
  }
  return Done{};
}

}  // namespace rondo::engine
