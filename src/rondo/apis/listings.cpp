#include "apis/listings.h"

#include <array>
#include <cstdio>
#include <limits>

#include "apis/fields.h"
#include "apis/writer_parts.h"

namespace rondo::apis {
namespace {

// 2026-01-31T12:00:00Z.  The civil calendar counts days in eras of 400 years that begin in March.
std::string date_of(std::int64_t seconds) {
  constexpr std::int64_t kDay = 86'400;
  constexpr std::int64_t kEraDays = 146'097;
  const std::int64_t rest = ((seconds % kDay) + kDay) % kDay;
  const std::int64_t days = (seconds - rest) / kDay + 719'468;
  const std::int64_t era = (days >= 0 ? days : days - kEraDays + 1) / kEraDays;
  const std::int64_t day_of_era = days - era * kEraDays;
  const std::int64_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted = (5 * day_of_year + 2) / 153;
  const std::int64_t month = shifted < 10 ? shifted + 3 : shifted - 9;
  const std::int64_t year = year_of_era + era * 400 + (month <= 2 ? 1 : 0);
  std::array<char, 64> out{};
  std::snprintf(out.data(), out.size(), "%04d-%02d-%02dT%02d:%02d:%02dZ", static_cast<int>(year),
                static_cast<int>(month), static_cast<int>(day_of_year - (153 * shifted + 2) / 5 + 1),
                static_cast<int>(rest / 3600), static_cast<int>(rest / 60 % 60), static_cast<int>(rest % 60));
  return out.data();
}

// The members of an engine's sampling parameters that the request sets.
json::Object sampling_params(const GenerateRequest& request, std::span<const std::int32_t> stop_ids) {
  const Sampling& sampling = request.sampling;
  json::Object out;
  const auto put = [&out](std::string_view key, const auto& value) {
    if (value) out.set(key, *value);
  };
  put("max_tokens", request.max_tokens);
  for (const SamplingNumber& number : kSamplingNumbers) put(number.name, sampling.*number.value);
  put("top_k", sampling.top_k);
  put("seed", sampling.seed);
  if (sampling.min_tokens > 0) out.set("min_tokens", sampling.min_tokens);
  if (sampling.ignore_end) out.set("ignore_eos", true);
  if (request.shows_stop) out.set("include_stop_str_in_output", true);
  out.set("n", request.choices);
  json::Array stops;
  for (const std::string& stop : request.stops) stops.emplace_back(stop);
  if (!stops.empty()) out.set("stop", std::move(stops));
  std::vector<std::int32_t> all_stops(stop_ids.begin(), stop_ids.end());
  all_stops.insert(all_stops.end(), request.stop_ids.begin(), request.stop_ids.end());
  out.set("stop_token_ids", ids_of(all_stops));
  if (request.logprobs) out.set("logprobs", request.top_logprobs);
  json::Object bias;
  for (const auto& [id, value] : sampling.logit_bias) bias.set(std::to_string(id), value);
  if (!bias.empty()) out.set("logit_bias", std::move(bias));
  if (!sampling.allowed_ids.empty()) out.set("allowed_token_ids", ids_of(sampling.allowed_ids));
  json::Array words;
  for (const std::string& word : sampling.bad_words) words.emplace_back(word);
  if (!words.empty()) out.set("bad_words", std::move(words));
  return out;
}

}  // namespace

json::Value model_body(const ModelEntry& model) {
  return json::Object{{"id", model.name},
                      {"object", "model"},
                      {"type", "model"},
                      {"created", model.created_s},
                      {"created_at", date_of(model.created_s)},
                      {"owned_by", "rondo"},
                      {"root", model.name},
                      {"display_name", model.name},
                      {"lifecycle", "active"},
                      {"context_window", model.context_tokens},
                      {"max_model_len", model.context_tokens},
                      {"max_input_tokens", model.context_tokens}};
}

json::Value models_body(std::span<const ModelEntry> models) {
  json::Array data;
  for (const ModelEntry& model : models) data.push_back(model_body(model));
  const json::Value none;
  const json::Value first = models.empty() ? none : json::Value(models.front().name);
  const json::Value last = models.empty() ? none : json::Value(models.back().name);
  return json::Object{
      {"object", "list"}, {"data", std::move(data)}, {"first_id", first}, {"last_id", last}, {"has_more", false}};
}

json::Value count_body(chat::Api api, std::int64_t tokens) {
  json::Object out{{"input_tokens", tokens}};
  if (api == chat::Api::kResponses) out.set("object", "response.input_tokens");
  return out;
}

Outcome<TokenizeRequest> read_tokenize(const json::Value& body) {
  std::optional<Fault> fault;
  Fields fields(&body, "", fault);
  TokenizeRequest out;
  (void)fields.text("model");
  out.prompt = fields.text("prompt");
  if (!out.prompt && fields.any("messages") == nullptr)
    fields.refuse("prompt", "is missing, and so is `messages`", "missing_required_parameter");
  out.add_special_tokens = fields.is_set("add_special_tokens", out.prompt.has_value());
  out.return_token_strs = fields.is_set("return_token_strs");
  if (fault) return *std::move(fault);
  return out;
}

json::Value tokenize_body(std::span<const std::int32_t> ids, std::int64_t context_tokens,
                          std::span<const std::string> texts) {
  json::Value strings;
  if (!texts.empty()) {
    strings = json::Array();
    for (const std::string& text : texts) strings.as_array().emplace_back(shown_token(text));
  }
  return json::Object{{"count", ids.size()},
                      {"max_model_len", context_tokens},
                      {"tokens", ids_of({ids.begin(), ids.end()})},
                      {"token_strs", std::move(strings)}};
}

Outcome<std::vector<std::int32_t>> read_ids(const json::Value& value, const std::string& place) {
  if (!value.is_array()) return invalid(place, "`" + place + "` must be an array of token ids", "invalid_type");
  std::vector<std::int32_t> out;
  for (const json::Value& id : value.as_array()) {
    const auto number = id.to_int64();
    if (!number || *number < 0 || *number > std::numeric_limits<std::int32_t>::max()) {
      const std::string here = place + "[" + std::to_string(out.size()) + "]";
      return invalid(here, "`" + here + "` is no token id", "invalid_type");
    }
    out.push_back(static_cast<std::int32_t>(*number));
  }
  return out;
}

Outcome<std::vector<std::int32_t>> read_detokenize(const json::Value& body) {
  std::optional<Fault> fault;
  Fields fields(&body, "", fault);
  (void)fields.text("model");
  const json::Value* tokens = fields.any("tokens");
  if (tokens == nullptr) fields.refuse_missing("tokens");
  if (fault) return *std::move(fault);
  return read_ids(*tokens, "tokens");
}

json::Value detokenize_body(std::string_view text) { return json::Object{{"prompt", text}}; }

json::Value render_body(const GenerateRequest& request, std::string_view request_id, std::string_view model,
                        std::span<const std::int32_t> ids, std::span<const std::int32_t> stop_ids) {
  return json::Object{{"request_id", request_id},
                      {"model", model},
                      {"token_ids", ids_of({ids.begin(), ids.end()})},
                      {"sampling_params", sampling_params(request, stop_ids)},
                      {"stream", request.stream}};
}

}  // namespace rondo::apis
