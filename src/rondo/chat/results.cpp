#include "chat/results.h"

#include <algorithm>
#include <charconv>

#include "chat/conversation.h"

namespace rondo::chat {
namespace {

// The number in an id of to_history().
std::optional<std::size_t> handed_out(std::string_view id) {
  if (!id.starts_with(kHandedOutId)) return std::nullopt;
  id.remove_prefix(kHandedOutId.size());
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(id.data(), id.data() + id.size(), number);
  if (error != std::errc() || end != id.data() + id.size()) return std::nullopt;
  return number;
}

// Ids are numbered in the order of the calls, starting at some number: 0 for each turn, or the number of earlier calls.
// Returns that number; nullopt if no result has such an id, or the ids cannot all belong to these calls.
std::optional<std::size_t> first_handed_out(std::span<const json::Value* const> results, std::size_t calls,
                                            std::size_t calls_before) {
  std::optional<std::size_t> least;
  std::size_t most = 0;
  for (const json::Value* result : results) {
    const auto id = result->find_string("tool_call_id");
    const auto number = id ? handed_out(*id) : std::nullopt;
    if (!number) continue;
    least = std::min(least.value_or(*number), *number);
    most = std::max(most, *number);
  }
  if (!least) return std::nullopt;
  for (const std::size_t first : {std::size_t{0}, calls_before, *least}) {
    if (first <= *least && most - first < calls) return first;
  }
  return std::nullopt;
}

class Matching {
 public:
  Matching(std::span<const OpenCall> calls, std::span<const json::Value* const> results)
      : calls_(calls), results_(results), is_answered_(calls.size(), false), out_(results.size()) {}

  [[nodiscard]] std::vector<ResultMatch> run(std::size_t calls_before) {
    match_ids(calls_before);
    match_names();
    match_order();
    return std::move(out_);
  }

 private:
  void take(std::size_t result, std::size_t call, ResultMatch::By by) {
    out_[result] = {by, call};
    is_answered_[call] = true;
  }

  void match_ids(std::size_t calls_before) {
    const bool has_own = std::ranges::any_of(calls_, [](const OpenCall& call) { return call.id.has_value(); });
    const auto first = has_own ? std::nullopt : first_handed_out(results_, calls_.size(), calls_before);
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const auto id = results_[i]->find_string("tool_call_id");
      if (!id) continue;
      auto call = static_cast<std::size_t>(std::ranges::find(calls_, id, &OpenCall::id) - calls_.begin());
      if (const auto number = first ? handed_out(*id) : std::nullopt) call = *number - *first;
      if (call >= calls_.size()) continue;
      if (is_answered_[call]) {
        out_[i] = {ResultMatch::By::kAnswered, call};
      } else {
        take(i, call, ResultMatch::By::kId);
      }
    }
  }

  // Whether a result without a call may belong to a call without a result.  If all calls have ids, a result with
  // another id answers none of them.
  [[nodiscard]] bool may_answer(std::size_t result, std::size_t call) const {
    return !is_answered_[call] && out_[result].by == ResultMatch::By::kNothing &&
           (!have_ids(calls_) || !results_[result]->find_string("tool_call_id"));
  }

  void match_names() {
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const auto name = results_[i]->find_string("name");
      for (std::size_t call = 0; name && call < calls_.size(); ++call) {
        if (calls_[call].name == *name && may_answer(i, call)) {
          take(i, call, ResultMatch::By::kOrder);
          break;
        }
      }
    }
  }

  void match_order() {
    for (std::size_t i = 0; i < results_.size(); ++i) {
      for (std::size_t call = 0; call < calls_.size(); ++call) {
        if (may_answer(i, call)) {
          take(i, call, ResultMatch::By::kOrder);
          break;
        }
      }
    }
  }

  std::span<const OpenCall> calls_;
  std::span<const json::Value* const> results_;
  std::vector<bool> is_answered_;
  std::vector<ResultMatch> out_;
};

}  // namespace

bool have_ids(std::span<const OpenCall> calls) {
  return std::ranges::all_of(calls, [](const OpenCall& call) { return call.id.has_value(); });
}

std::vector<OpenCall> open_calls(const json::Value& message) {
  std::vector<OpenCall> out;
  const json::Value* calls = message.find("tool_calls");
  if (calls == nullptr || !calls->is_array()) return out;
  for (const json::Value& call : calls->as_array())
    out.push_back({call.find_string("id"), function_of(call).find_string("name").value_or("")});
  return out;
}

std::vector<ResultMatch> match_results(std::span<const OpenCall> calls, std::span<const json::Value* const> results,
                                       std::size_t calls_before) {
  return Matching(calls, results).run(calls_before);
}

}  // namespace rondo::chat
