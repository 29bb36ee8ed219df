// The render that a bridge cuts its appended text out of: history, a stand-in for the completion, the new messages.
#pragma once

#include <string>
#include <vector>

#include "render/bridge.h"

namespace rondo::render {

// The render that the appended text is cut out of.
struct SuffixRender {
  jinja::Rendered full;
  TurnClose close;
  std::int32_t index = 0;      // of the assistant message
  bool closes_itself = false;  // the suffix begins inside the turn, with its close
  std::vector<std::string> notes;
};

// Fails as the template does with the new messages.
[[nodiscard]] Result<SuffixRender> render_suffix(const TurnContext& context, const TurnProfile& profile,
                                                 const BridgeRequest& request);

// How many of the last `pieces`, whose offsets count from byte `begin` of `full`, hold no data of a message.
[[nodiscard]] std::size_t prompt_tail(const jinja::Rendered& full, std::size_t begin,
                                      const std::vector<tokenizer::Piece>& pieces);

}  // namespace rondo::render
