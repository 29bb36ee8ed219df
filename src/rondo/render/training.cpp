#include "render/training.h"

#include <algorithm>
#include <string_view>
#include <utility>

namespace rondo::render {
namespace {

bool has_generation(const Encoded& encoded) {
  return std::find(encoded.generation_mask.begin(), encoded.generation_mask.end(), 1) != encoded.generation_mask.end();
}

const std::vector<std::uint8_t>* column(const Encoded& encoded, MaskPart part) {
  switch (part) {
    case MaskPart::kSampled: return &encoded.sampled_mask;
    case MaskPart::kContent: return &encoded.content_mask;
    case MaskPart::kGeneration: return &encoded.generation_mask;
    case MaskPart::kTurn: break;
  }
  return nullptr;
}

}  // namespace

Result<std::vector<std::uint8_t>> loss_mask(const Encoded& encoded, const json::Array& messages,
                                            const MaskOptions& options) {
  if (!options.messages.empty() && options.messages.size() != messages.size()) {
    return Error(ErrorCode::kInvalidArgument, "the mask of messages has " + std::to_string(options.messages.size()) +
                                                  " entries, there are " + std::to_string(messages.size()) +
                                                  " messages");
  }
  if (options.part == MaskPart::kGeneration && !has_generation(encoded))
    return Error(ErrorCode::kInvalidArgument, "the template marks nothing with {% generation %} in this conversation");
  std::vector<std::uint8_t> chosen(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string_view role = messages[i].find_string("role").value_or("");
    const bool is_role =
        options.roles.empty() || std::find(options.roles.begin(), options.roles.end(), role) != options.roles.end();
    chosen[i] = is_role && (options.messages.empty() || options.messages[i] != 0) ? 1 : 0;
  }
  const std::vector<std::uint8_t>* part = column(encoded, options.part);
  std::vector<std::uint8_t> out(encoded.ids.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int32_t owner = encoded.sampled_mask[i] != 0 ? encoded.samplers[i] : encoded.message_indices[i];
    const bool is_chosen =
        owner >= 0 && static_cast<std::size_t>(owner) < chosen.size() && chosen[static_cast<std::size_t>(owner)] != 0;
    out[i] = is_chosen && (part == nullptr || (*part)[i] != 0) ? 1 : 0;
  }
  return out;
}

std::vector<GenerationFinding> generation_findings(const Encoded& encoded) {
  std::vector<GenerationFinding> out;
  if (!has_generation(encoded)) return out;
  const auto key = [&](std::size_t i) {
    return std::make_pair(encoded.generation_mask[i] - encoded.sampled_mask[i], encoded.message_indices[i]);
  };
  for (std::size_t begin = 0, end = 0; begin < encoded.ids.size(); begin = end) {
    while (end < encoded.ids.size() && key(end) == key(begin)) ++end;
    const auto [difference, message] = key(begin);
    if (difference != 0) out.push_back({{begin, end}, message, difference > 0});
  }
  return out;
}

}  // namespace rondo::render
