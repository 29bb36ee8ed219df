#include "engine/serving.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <sstream>

namespace rondo::engine {

std::string_view to_string(Grammar::Dialect dialect) {
  switch (dialect) {
    case Grammar::Dialect::kNone: return "none";
    case Grammar::Dialect::kGbnf: return "gbnf";
    case Grammar::Dialect::kLark: return "lark";
    case Grammar::Dialect::kStructuralTag: return "structural-tag";
    case Grammar::Dialect::kJsonSchema: return "json-schema";
    case Grammar::Dialect::kRegex: return "regex";
  }
  return "unknown";
}

namespace {

// Checks which ids may be sampled.
Status check_limits(const Request& request) {
  const auto is_negative = [](TokenId id) { return id < 0; };
  if (std::ranges::any_of(request.allowed_ids, is_negative))
    return Error(ErrorCode::kInvalidArgument, "an allowed id is negative");
  for (const std::vector<TokenId>& row : request.bad_ids) {
    if (row.empty()) return Error(ErrorCode::kInvalidArgument, "a row of bad ids is empty");
    if (std::ranges::any_of(row, is_negative)) return Error(ErrorCode::kInvalidArgument, "a bad id is negative");
  }
  return Done{};
}

}  // namespace

Status check_request(const Request& request) {
  const auto refuse = [](std::string sentence) { return Error(ErrorCode::kInvalidArgument, std::move(sentence)); };
  if (request.prompt.empty()) return refuse("the prompt has no tokens");
  // Combines all signs at once, because prompts are long.  The exact id matters only if one is negative.
  const TokenId signs = std::accumulate(request.prompt.begin(), request.prompt.end(), TokenId{0}, std::bit_or<>());
  for (std::size_t i = 0; signs < 0; ++i) {
    if (request.prompt[i] < 0)
      return refuse("token " + std::to_string(i) + " of the prompt is " + std::to_string(request.prompt[i]));
  }
  constexpr std::size_t kMaxChoices = 128;
  if (request.choices < 1 || request.choices > kMaxChoices) return refuse("choices must be from 1 to 128");
  const Sampling& sampling = request.sampling;
  for (const SamplingNumber& number : kSamplingNumbers) {
    const float value = sampling.*number.value;
    if (std::isfinite(value) && value >= number.least && value <= number.most) continue;
    std::ostringstream sentence;
    sentence << number.name << " must be a number from " << number.least << " to " << number.most;
    return refuse(sentence.str());
  }
  if (request.constraint && request.grammar.dialect != Grammar::Dialect::kNone) {
    return refuse("a request has a grammar or a constraint, not both");
  }
  const auto is_bad = [](const Sampling::Bias& bias) { return std::isnan(bias.value); };
  if (std::any_of(sampling.bias.begin(), sampling.bias.end(), is_bad)) return refuse("a bias is not a number");
  return check_limits(request);
}

}  // namespace rondo::engine
