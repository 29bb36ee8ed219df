#include "render/training.h"

#include <algorithm>
#include <utility>

namespace rondo::render {
namespace {

// Calls `visit(span)` for each maximal run of ids with equal keys.
template <typename Key, typename Visit>
void for_each_span(std::size_t size, const Key& key, const Visit& visit) {
  for (std::size_t begin = 0; begin < size;) {
    std::size_t end = begin + 1;
    while (end < size && key(end) == key(begin)) ++end;
    visit(IdSpan{begin, end});
    begin = end;
  }
}

std::string role_of(const json::Array& messages, std::int32_t index) {
  if (index < 0 || static_cast<std::size_t>(index) >= messages.size()) return "";
  return std::string(messages[static_cast<std::size_t>(index)].find_string("role").value_or(""));
}

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

std::vector<IdSpan> message_spans(const Encoded& encoded, std::size_t message_count) {
  std::vector<IdSpan> out(message_count);
  const std::vector<std::int32_t>& owners = encoded.message_indices;
  for_each_span(
      owners.size(), [&owners](std::size_t i) { return owners[i]; },
      [&](const IdSpan& span) {
        const std::int32_t owner = owners[span.begin];
        if (owner < 0 || static_cast<std::size_t>(owner) >= message_count) return;
        IdSpan& longest = out[static_cast<std::size_t>(owner)];
        if (span.end - span.begin > longest.end - longest.begin) longest = span;
      });
  return out;
}

std::map<std::string, std::vector<IdSpan>> role_spans(const Encoded& encoded, const json::Array& messages) {
  std::map<std::string, std::vector<IdSpan>> out;
  const std::vector<std::int32_t>& owners = encoded.message_indices;
  for_each_span(
      owners.size(), [&](std::size_t i) { return role_of(messages, owners[i]); },
      [&](const IdSpan& span) {
        const std::string role = role_of(messages, owners[span.begin]);
        if (!role.empty()) out[role].push_back(span);
      });
  return out;
}

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
    const std::string role = role_of(messages, static_cast<std::int32_t>(i));
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

Result<TrainingSample> training_sample(const Encoded& encoded, const json::Array& messages,
                                       const tokenizer::Tokenizer& tokenizer, const SampleOptions& options) {
  auto mask = loss_mask(encoded, messages, options.mask);
  if (!mask.ok()) return mask.error();
  TrainingSample out{encoded.ids, std::move(mask.value()), encoded.message_indices, false};
  const auto last = static_cast<std::int32_t>(messages.size()) - 1;
  if (!options.final_stop || role_of(messages, last) != "assistant") return out;
  std::size_t end = out.ids.size();
  while (end > 0 && encoded.sampled_mask[end - 1] == 0) --end;
  if (end == 0 || encoded.samplers[end - 1] != last || tokenizer.is_special(out.ids[end - 1])) return out;
  out.ids.resize(end);
  out.loss_mask.resize(end);
  out.message_indices.resize(end);
  out.ids.push_back(*options.final_stop);
  out.loss_mask.push_back(out.loss_mask.back());
  out.message_indices.push_back(last);
  out.is_stop_added = true;
  return out;
}

std::vector<TrajectoryStep> trajectory_steps(const Encoded& encoded) {
  std::vector<TrajectoryStep> out;
  for_each_span(
      encoded.ids.size(), [&](std::size_t i) { return encoded.sampled_mask[i]; },
      [&](const IdSpan& span) {
        if (encoded.sampled_mask[span.begin] != 0) out.push_back({encoded.samplers[span.begin], span});
      });
  return out;
}

std::vector<GenerationFinding> generation_findings(const Encoded& encoded) {
  std::vector<GenerationFinding> out;
  if (!has_generation(encoded)) return out;
  const auto key = [&](std::size_t i) {
    return std::make_pair(encoded.generation_mask[i] - encoded.sampled_mask[i], encoded.message_indices[i]);
  };
  for_each_span(encoded.ids.size(), key, [&](const IdSpan& span) {
    const auto [difference, message] = key(span.begin);
    if (difference != 0) out.push_back({span, message, difference > 0});
  });
  return out;
}

}  // namespace rondo::render
