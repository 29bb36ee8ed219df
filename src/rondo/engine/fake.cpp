#include "engine/fake.h"

#include <algorithm>

#include "base/common_prefix.h"

namespace rondo::engine {
namespace {

bool allows(const Allowed& allowed, TokenId id) {
  switch (allowed.kind) {
    case Allowed::Kind::kAny: return true;
    case Allowed::Kind::kOnly: return std::find(allowed.ids.begin(), allowed.ids.end(), id) != allowed.ids.end();
    case Allowed::Kind::kMask: {
      const auto bit = static_cast<std::size_t>(id);
      return bit / 64 < allowed.mask.size() && ((allowed.mask[bit / 64] >> (bit % 64)) & 1U) != 0;
    }
    case Allowed::Kind::kDone: return false;
  }
  return false;
}

}  // namespace

Fake::Fake(Description description, std::vector<std::vector<TokenId>> completions)
    : description_(std::move(description)), completions_(completions.begin(), completions.end()) {}

Result<PromptReport> Fake::prompt(std::span<const TokenId> ids, const CancelFlag* cancel) {
  if (auto checked = check_prompt(description_, ids); !checked.ok()) return checked.error();
  if (cancel != nullptr && cancel->load()) return Error(ErrorCode::kEngine, "cancelled");
  const std::size_t common = common_prefix(tokens_, ids);
  PromptReport report;
  report.reused = std::min(common, common == tokens_.size() ? common : ids.size() - 1);
  report.prefilled = ids.size() - report.reused;
  report.how = common == tokens_.size() ? Reuse::kAppend : Reuse::kRollback;
  if (report.reused == 0) {
    report.how = Reuse::kFull;
    report.reason = tokens_.empty() ? "the memory was empty" : "the prompt begins with another token";
  }
  tokens_.assign(ids.begin(), ids.end());
  logits_.assign(static_cast<std::size_t>(description_.vocab_size), 0.0F);
  return report;
}

Result<bool> Fake::step(const std::vector<TokenId>& script, const GenerateOptions& options, Sampler& sampler,
                        Generation& result) {
  const auto stop = [&](StopReason reason) {
    result.stop = reason;
    return false;
  };
  const std::size_t at = result.ids.size();
  if (at == options.max_tokens) return false;
  const Allowed allowed = options.constraint != nullptr ? options.constraint->next(result.ids) : Allowed{};
  if (allowed.kind == Allowed::Kind::kDone) return stop(StopReason::kConstraint);
  // A script without a stop token at its end was cut off.
  if (at >= script.size() && options.constraint == nullptr) return stop(StopReason::kLength);
  TokenId id = at < script.size() ? script[at] : 0;
  if (!allows(allowed, id)) {
    const auto other = sampler.pick(logits_, allowed);
    if (!other) return Error(ErrorCode::kInvalidArgument, "the constraint allows no token");
    id = *other;
  }
  if (!result.ids.empty()) tokens_.push_back(result.ids.back());
  result.ids.push_back(id);
  if (options.on_token) options.on_token(id);
  if (std::find(options.stop_ids.begin(), options.stop_ids.end(), id) != options.stop_ids.end())
    return stop(StopReason::kStopToken);
  if (tokens_.size() == description_.context_tokens) return stop(StopReason::kContextFull);
  if (options.cancel != nullptr && options.cancel->load()) return stop(StopReason::kCancelled);
  result.stop = StopReason::kLength;
  return true;
}

Result<Generation> Fake::generate(const GenerateOptions& options) {
  if (tokens_.empty()) return Error(ErrorCode::kInvalidArgument, "nothing to continue: give a prompt first");
  if (completions_.empty()) return Error(ErrorCode::kEngine, "the script has no further completion");
  const std::vector<TokenId> script = std::move(completions_.front());
  completions_.pop_front();
  Sampler sampler(options.sampling);
  Generation result;
  Result<bool> more = true;
  while (more.ok() && more.value()) more = step(script, options, sampler, result);
  if (!more.ok()) return more.error();
  return result;
}

}  // namespace rondo::engine
