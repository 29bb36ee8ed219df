#include "gateway/diagnostics.h"

#include <algorithm>
#include <utility>

#include "base/common_prefix.h"
#include "base/shared_text.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::gateway {
namespace {

// Engines cache blocks whose size is a power of two, usually 16 ids.
constexpr std::size_t kLeastBlock = 16;
constexpr std::size_t kMostBlock = 256;

constexpr std::string_view kBlockRounding = "block-rounding";
constexpr std::string_view kOtherReplica = "other-replica";
constexpr std::string_view kEviction = "eviction";

// Whether no more is missing than what whole blocks leave over.  An engine that held nothing has lost it all.
bool is_rounded(std::size_t cached, std::size_t expected) {
  if (cached == 0) return expected <= kLeastBlock;
  for (std::size_t block = kLeastBlock; block <= kMostBlock; block *= 2) {
    if (cached % block == 0 && expected - cached <= block) return true;
  }
  return false;
}

// What changed apart from messages, in the words of OpenAI's API; "" if nothing did.
std::string changed_facts(const spans::Turn& turn, const apis::GenerateRequest& request) {
  const auto facts = json::parse(turn.facts);
  const json::Value* before = facts.ok() ? facts.value().find("prompt") : nullptr;
  if (before == nullptr) return "";
  const json::Object now = prompt_facts(request);
  for (const auto& [name, reason] :
       {std::pair("cache_key", "prompt_cache_key_changed"), std::pair("format", "text_format_changed"),
        std::pair("effort", "reasoning_effort_changed")}) {
    if (before->find_string(name).value_or("") != json::Value(now).find_string(name).value_or("")) return reason;
  }
  return "";
}

// The system messages, which come first.
std::string system_of(const json::Array& messages) {
  std::string out;
  for (const json::Value& message : messages) {
    const auto role = message.find_string("role");
    if (role != "system" && role != "developer") break;
    out += json::to_compact(message);
  }
  return out;
}

json::Array messages_of(const spans::Turn& turn) {
  json::Array out;
  for (const SharedText& text : turn.messages) {
    if (auto message = json::parse(text); message.ok()) out.push_back(std::move(message).value());
  }
  return out;
}

// What the model gets besides the messages, without the time.
json::Value tools_in(const std::string& context) {
  auto out = json::parse(context);
  if (!out.ok() || !out.value().is_object()) return json::Object();
  out.value().as_object().erase("now");
  return std::move(out).value();
}

class Diagnosis {
 public:
  Diagnosis(const apis::GenerateRequest& request, const spans::Plan& plan) : request_(request), plan_(plan) {}

  [[nodiscard]] json::Value not_found() const {
    return json::Object{{"type", is_messages() ? "previous_message_not_found" : "comparison_response_not_found"}};
  }

  [[nodiscard]] json::Value missed(std::string_view reason, std::size_t reusable, std::size_t missed) const {
    if (is_messages()) return json::Object{{"type", reason}, {"cache_missed_input_tokens", missed}};
    return json::Object{{"type", "cache_miss"},
                        {"reason", reason},
                        {"cache_missed_tokens", missed},
                        {"comparison_reusable_tokens", reusable}};
  }

  [[nodiscard]] json::Value of_turn(const spans::Turn& turn) const {
    const std::size_t same = common_prefix(turn.ids(), plan_.ids);
    if (same >= turn.prompt.size()) return is_messages() ? json::Value() : json::Object{{"type", "cache_hit"}};
    const std::size_t lost = turn.prompt.size() - same;
    if (tools_in(turn.context) != tools_in(plan_.context)) return missed("tools_changed", same, lost);
    const bool is_system = system_of(messages_of(turn)) != system_of(plan_.asked.messages);
    if (is_messages()) return missed(is_system ? "system_changed" : "messages_changed", same, lost);
    const std::string fact = is_system ? "" : changed_facts(turn, request_);
    return missed(fact.empty() ? "input_changed" : fact, same, lost);
  }

 private:
  [[nodiscard]] bool is_messages() const { return request_.api == chat::Api::kMessages; }

  const apis::GenerateRequest& request_;
  const spans::Plan& plan_;
};

}  // namespace

bool is_of_engine(std::string_view cause) {
  return cause == kBlockRounding || cause == kOtherReplica || cause == kEviction;
}

std::optional<spans::Loss> loss_in_engine(const spans::Plan& plan, const engine::Usage& usage,
                                          const std::string& replica) {
  // The last id is always computed, and the last sampled id never was.
  if (!usage.cached_tokens || *usage.cached_tokens + 1 >= plan.expected) return std::nullopt;
  if (plan.is_shared) return std::nullopt;  // not every engine shares ids between conversations
  const std::size_t cached = *usage.cached_tokens;
  spans::Loss out;
  out.lost_tokens = plan.expected - cached;
  if (is_rounded(cached, plan.expected)) {
    out.name = kBlockRounding;
    out.sentence = "the engine keeps whole blocks of ids alone";
  } else if (!replica.empty() && usage.expected_tokens < plan.expected) {
    out.name = kOtherReplica;
    out.sentence = "the request went to " + replica + ", which was given less of it before";
  } else {
    out.name = kEviction;
    out.sentence = usage.reason.empty() ? "the engine did not hold these ids any more" : usage.reason;
  }
  return out;
}

json::Object prompt_facts(const apis::GenerateRequest& request) {
  json::Object out;
  if (!request.cache_key.empty()) out.set("cache_key", request.cache_key);
  if (!request.reasoning.effort.empty()) out.set("effort", request.reasoning.effort);
  if (!request.format.schema.is_null()) out.set("format", json::to_compact(request.format.schema));
  return out;
}

json::Value diagnose(spans::Spans& spans, const std::vector<ServedModel>& models, const std::string& tenant,
                     const spans::Scope& scope, const spans::Plan& plan, const apis::GenerateRequest& request) {
  const bool is_messages = request.api == chat::Api::kMessages;
  const std::string id = is_messages ? request.previous_message_id.value_or("") : request.comparison_response_id;
  if (id.empty()) return {};
  const Diagnosis diagnosis(request, plan);
  const auto key = spans::key_in(id);
  if (!key) return diagnosis.not_found();
  const auto turn = spans.turn(scope, *key);
  if (!turn.ok()) return json::Object{{"type", "unavailable"}};
  if (turn.value() != nullptr) return diagnosis.of_turn(*turn.value());
  for (const ServedModel& other : models) {
    const auto elsewhere = spans.turn(spans.scope(tenant, other.name), *key);
    if (elsewhere.ok() && elsewhere.value() != nullptr)
      return diagnosis.missed("model_changed", 0, elsewhere.value()->prompt.size());
  }
  return diagnosis.not_found();
}

}  // namespace rondo::gateway
