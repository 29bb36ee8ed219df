#include "gateway/engine_terms.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace rondo::gateway {
namespace {

// Returns the engine's setting with the name of a field; nullptr if there is none.
constexpr float engine::Sampling::* engine_number(std::string_view name) {
  for (const engine::SamplingNumber& number : engine::kSamplingNumbers) {
    if (number.name == name) return number.value;
  }
  return nullptr;
}

// Otherwise a number that a client sends would be lost on the way to the engine.
static_assert(std::ranges::all_of(apis::kSamplingNumbers, [](const apis::SamplingNumber& number) {
  return engine_number(number.name) != nullptr;
}));

}  // namespace

engine::Sampling sampling_of(const apis::Sampling& asked, const ServiceParts& parts) {
  engine::Sampling out;
  out.temperature = 1;  // the default of the APIs; that of an engine is greedy
  for (const apis::SamplingNumber& number : apis::kSamplingNumbers) {
    if (const auto& value = asked.*number.value) out.*engine_number(number.name) = static_cast<float>(*value);
  }
  out.top_k = static_cast<std::size_t>(std::max<std::int64_t>(0, asked.top_k.value_or(0)));
  for (const auto& [id, value] : asked.logit_bias) out.bias.push_back({id, static_cast<float>(value)});
  out.seed = 0;
  if (asked.seed) {
    out.seed = static_cast<std::uint64_t>(*asked.seed);
  } else {
    for (const std::uint8_t byte : parts.random()) out.seed = out.seed << 5U ^ byte;
  }
  return out;
}

apis::Outcome<std::size_t> room_behind(chat::Api api, const ServedModel& served, std::size_t prompt_tokens,
                                       std::optional<std::int64_t> wanted) {
  constexpr std::size_t kUnknownContext = 4096;  // after the prompt
  const std::size_t context = served.serving->capabilities().context_tokens;
  if (context > 0 && prompt_tokens >= context)
    return apis::context_too_long(api, static_cast<std::int64_t>(prompt_tokens), static_cast<std::int64_t>(context));
  const std::size_t room = context > 0 ? context - prompt_tokens : kUnknownContext;
  if (!wanted) return room;
  return context > 0 ? std::min(static_cast<std::size_t>(*wanted), room) : static_cast<std::size_t>(*wanted);
}

std::string tenant_of(const std::string& tenant, const std::string& salt) {
  return salt.empty() ? tenant : tenant + '\0' + salt;
}

std::optional<std::size_t> most_prompt_tokens(const apis::PromptCut& cut, const ServedModel& served,
                                              std::optional<std::int64_t> reply_tokens) {
  const std::size_t context = served.serving->capabilities().context_tokens;
  if (!cut.fits_context || context == 0) return cut.most_tokens;
  const auto reply = static_cast<std::size_t>(std::max<std::int64_t>(1, reply_tokens.value_or(1)));
  return std::max<std::size_t>(1, context - std::min(context, reply));
}

std::size_t least_tokens(const apis::Sampling& asked, std::size_t most) {
  return asked.ignore_end ? most : std::min(static_cast<std::size_t>(asked.min_tokens), most);
}

apis::Finish finish_of(engine::StopReason stop) {
  switch (stop) {
    case engine::StopReason::kStopToken:
    case engine::StopReason::kConstraint: return apis::Finish::kStop;
    case engine::StopReason::kLength:
    case engine::StopReason::kContextFull: return apis::Finish::kLength;
    case engine::StopReason::kCancelled: return apis::Finish::kCancelled;
  }
  return apis::Finish::kStop;
}

apis::Fault fault_of_engine(chat::Api api, const Error& error, const ServedModel& served, std::size_t prompt_tokens) {
  switch (error.code) {
    case ErrorCode::kLimit:
      return apis::context_too_long(api, static_cast<std::int64_t>(prompt_tokens),
                                    static_cast<std::int64_t>(served.serving->capabilities().context_tokens));
    case ErrorCode::kInvalidArgument: return apis::invalid("", error.message);
    default: break;
  }
  // "read: the connection was closed" alone could be the client's own connection.
  const std::string begin = error.message.starts_with("the engine") ? "" : "the engine failed: ";
  return {.kind = apis::FaultKind::kEngine, .message = begin + error.message, .param = "", .code = ""};
}

apis::Fault fault_of_store(const Error& error) {
  return {.kind = apis::FaultKind::kUnavailable, .message = error.message, .param = "", .code = "", .retry_after_s = 1};
}

apis::Fault fault_of_plan(const Error& error) {
  return error.code == ErrorCode::kIo ? fault_of_store(error) : apis::fault_of(error);
}

std::optional<apis::Fault> unknown_ids(const tokenizer::Tokenizer* tokenizer, const apis::Sampling& asked,
                                       std::span<const std::int32_t> stop_ids) {
  if (tokenizer == nullptr) return std::nullopt;
  const auto fault = [&](const char* param, std::int32_t id) -> std::optional<apis::Fault> {
    if (const Status valid = core::check_ids(*tokenizer, {&id, 1}, param); !valid.ok())
      return apis::invalid(param, "`" + std::string(param) + "`: " + valid.error().message);
    return std::nullopt;
  };
  for (const auto& [id, bias] : asked.logit_bias) {
    if (auto found = fault("logit_bias", id)) return found;
  }
  for (const std::int32_t id : asked.allowed_ids) {
    if (auto found = fault("allowed_token_ids", id)) return found;
  }
  for (const std::int32_t id : stop_ids) {
    if (auto found = fault("stop_token_ids", id)) return found;
  }
  return std::nullopt;
}

// As vLLM does, so that a client gets the same from both: a word counts after a space too, if it has another first id and
// as many ids there.
std::optional<apis::Fault> set_limits(const core::Model& model, const apis::Sampling& asked, engine::Request& out) {
  out.allowed_ids = asked.allowed_ids;
  out.bad_words = asked.bad_words;
  for (const std::string& word : asked.bad_words) {
    auto plain = model.tokenize(word, true);
    if (!plain.ok()) return apis::fault_of(plain.error());
    if (plain.value().empty()) return apis::invalid("bad_words", "`bad_words`: `" + word + "` has no tokens");
    auto spaced = model.tokenize(" " + word, true);
    const bool is_other =
        spaced.ok() && spaced.value().size() == plain.value().size() && spaced.value().front() != plain.value().front();
    out.bad_ids.push_back(std::move(plain).value());
    if (is_other) out.bad_ids.push_back(std::move(spaced).value());
  }
  return std::nullopt;
}

apis::Fault no_prompt_logprobs(std::string_view field) {
  return apis::invalid(std::string(field), "the engine tells no log probabilities of prompts", "unsupported_value");
}

apis::Fault late() {
  return {.kind = apis::FaultKind::kTimeout, .message = "the reply took longer than it may", .param = "", .code = ""};
}

namespace {

apis::TopLogprob told_of(const TokenTexts& texts, const engine::Candidate& candidate) {
  return {.text = texts.at(candidate.id), .logprob = static_cast<double>(candidate.logprob), .id = candidate.id};
}

}  // namespace

apis::Tokens described(TokenTexts& texts, const engine::SampledToken& token, bool logprobs) {
  apis::Tokens tokens{.ids = {token.id}, .logprobs = {}};
  if (logprobs && !std::isnan(token.logprob)) {
    apis::Logprob logprob{
        .text = texts.at(token.id), .logprob = static_cast<double>(token.logprob), .top = {}, .id = token.id};
    for (const engine::Candidate& best : token.best) logprob.top.push_back(told_of(texts, best));
    tokens.logprobs.push_back(std::move(logprob));
  }
  texts.take(token.id);
  return tokens;
}

apis::ScoredToken scored_token(TokenTexts& texts, const engine::SampledToken& token) {
  apis::ScoredToken out{.id = token.id, .text = texts.at(token.id), .logprob = std::nullopt};
  if (!std::isnan(token.logprob)) out.logprob = static_cast<double>(token.logprob);
  for (const engine::Candidate& best : token.best) out.others.push_back({.id = best.id, .told = told_of(texts, best)});
  texts.take(token.id);
  return out;
}

}  // namespace rondo::gateway
