#include "render/training.h"

#include <algorithm>
#include <array>
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

// Whether the message itself says that it is not to be learned: `weight` 0 as OpenAI has it, or `training` or `train`
// false.
bool is_left_out(const json::Value& message) {
  const json::Value* weight = message.find("weight");
  if (weight != nullptr && weight->is_number() && weight->to_double() == 0) return true;
  return std::ranges::any_of(std::array{"training", "train"}, [&](const char* name) {
    const json::Value* flag = message.find(name);
    return flag != nullptr && flag->is_bool() && !flag->as_bool();
  });
}

// The message that decides about each id.  For data it is the message that the data comes from, which may stand in
// the turn of another message.
std::vector<std::int32_t> owners_for(const Encoded& encoded, MaskPart part) {
  std::vector<std::int32_t> out = encoded.message_indices;
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (encoded.sampled_mask[i] != 0) out[i] = encoded.samplers[i];
  }
  if (part != MaskPart::kContent) return out;
  for (const FieldSpan& field : encoded.fields) {
    if (field.message == text::kNoMessage) continue;
    for (std::size_t i = field.ids.begin; i < field.ids.end; ++i) out[i] = field.message;
  }
  return out;
}

}  // namespace

Result<std::vector<std::uint8_t>> loss_mask(const Encoded& encoded, const json::Array& messages,
                                            const MaskOptions& options) {
  if (!options.messages.empty() && options.messages.size() != messages.size()) {
    return Error(ErrorCode::kInvalidArgument, "the mask of messages has " + std::to_string(options.messages.size()) +
                                                  " entries, there are " + std::to_string(messages.size()) +
                                                  " messages");
  }
  if (options.part == MaskPart::kGeneration && !encoded.has_generation_blocks)
    return Error(ErrorCode::kInvalidArgument, "the template marks nothing with {% generation %}");
  std::vector<std::uint8_t> chosen(messages.size());
  for (std::size_t i = 0; i < messages.size(); ++i) {
    const std::string_view role = messages[i].find_string("role").value_or("");
    const bool is_role =
        options.roles.empty() || std::find(options.roles.begin(), options.roles.end(), role) != options.roles.end();
    const bool is_asked = options.messages.empty() || options.messages[i] != 0;
    chosen[i] = is_role && is_asked && !is_left_out(messages[i]) ? 1 : 0;
  }
  const std::vector<std::uint8_t>* part = column(encoded, options.part);
  const std::vector<std::int32_t> owners = owners_for(encoded, options.part);
  std::vector<std::uint8_t> out(encoded.ids.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::int32_t owner = owners[i];
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
