// vLLM: /inference/v1/generate if the server has it, else /v1/completions.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "json/reader.h"
#include "remote/dialect.h"
#include "remote/wire_json.h"

namespace rondo::remote {
namespace {

using engine::Candidate;
using engine::Grammar;
using engine::SampledToken;
using engine::StopReason;

constexpr float kMostBias = 100;  // this API allows no stronger change of a logit
constexpr std::size_t kMostId = std::numeric_limits<engine::TokenId>::max();
constexpr std::string_view kIdPrefix = "token_id:";

std::optional<engine::TokenId> id_of_text(std::string_view text) {
  std::vector<SampledToken> ids;
  if (!append_ids(text, ids) || ids.size() != 1) return std::nullopt;
  return ids[0].id;
}

std::optional<engine::TokenId> id_of_name(std::string_view name) {
  return name.starts_with(kIdPrefix) ? id_of_text(name.substr(kIdPrefix.size())) : std::nullopt;
}

// `{"5": {"logprob": -0.1}}`: the id of the prompt, and the likeliest ones in its place.
SampledToken read_score(const json::Value& entry, engine::TokenId id, std::size_t most) {
  SampledToken out{.id = id};
  if (!entry.is_object()) return out;
  for (const json::Member& member : entry.as_object()) {
    const auto named = id_of_text(member.key);
    if (!named) continue;
    const float logprob = number_in(member.value, "logprob");
    if (*named == id) out.logprob = logprob;
    out.best.push_back({*named, logprob});
  }
  std::ranges::stable_sort(out.best, std::greater<>{}, &Candidate::logprob);
  out.best.resize(std::min(out.best.size(), most));
  return out;
}

// `{"content": [{"token_id", "logprob", "top_logprobs": [{"token_id", "logprob"}]}]}`
void read_content(const json::Value& content, std::vector<SampledToken>& tokens) {
  const std::size_t count = std::min(content.as_array().size(), tokens.size());
  for (std::size_t i = 0; i < count; ++i) {
    const json::Value& entry = content.as_array()[i];
    tokens[i].logprob = number_in(entry, "logprob");
    const json::Value* best = entry.find("top_logprobs");
    if (best == nullptr || !best->is_array()) continue;
    for (const json::Value& each : best->as_array()) {
      if (const auto id = id_in(each, "token_id")) tokens[i].best.push_back({*id, number_in(each, "logprob")});
    }
  }
}

// `{"token_logprobs": [-0.1], "top_logprobs": [{"token_id:5": -0.1}]}`
void read_named(const json::Value& logprobs, std::vector<SampledToken>& tokens) {
  const json::Value* own = logprobs.find("token_logprobs");
  const json::Value* best = logprobs.find("top_logprobs");
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (own != nullptr && own->is_array() && i < own->as_array().size()) {
      if (const auto number = own->as_array()[i].to_double()) tokens[i].logprob = static_cast<float>(*number);
    }
    if (best == nullptr || !best->is_array() || i >= best->as_array().size() || !best->as_array()[i].is_object())
      continue;
    for (const json::Member& member : best->as_array()[i].as_object()) {
      const auto id = id_of_name(member.key);
      const auto number = member.value.to_double();
      if (id && number) tokens[i].best.push_back({*id, static_cast<float>(*number)});
    }
  }
}

void read_logprobs(const json::Value& logprobs, std::vector<SampledToken>& tokens) {
  if (const json::Value* content = logprobs.find("content"); content != nullptr && content->is_array()) {
    read_content(*content, tokens);
  } else if (logprobs.is_object()) {
    read_named(logprobs, tokens);
  }
  for (SampledToken& token : tokens) std::ranges::stable_sort(token.best, std::greater<>{}, &Candidate::logprob);
}

std::string_view structured_key(Grammar::Dialect dialect) {
  switch (dialect) {
    case Grammar::Dialect::kStructuralTag: return "structural_tag";
    case Grammar::Dialect::kJsonSchema: return "json";
    case Grammar::Dialect::kRegex: return "regex";
    default: return "grammar";
  }
}

constexpr std::array<SpelledNumber, 6> kVllmNumbers = {{{"temperature", "temperature"},
                                                        {"top_p", "top_p"},
                                                        {"min_p", "min_p"},
                                                        {"repetition_penalty", "repetition_penalty"},
                                                        {"frequency_penalty", "frequency_penalty"},
                                                        {"presence_penalty", "presence_penalty"}}};

class Vllm final : public Dialect {
 public:
  explicit Vllm(ServerInfo info) : Dialect(std::move(info)), generates_(this->info().path != "/v1/completions") {}

  Result<std::string> body(const engine::Request& request, std::size_t choices, std::uint64_t seed,
                           const std::string& id) const override {
    auto sampling = sampling_of(request, choices, seed);
    if (!sampling.ok()) return sampling.error();
    json::Object out{{"model", info().model},
                     {"stream", true},
                     {"stream_options", json::Object{{"include_usage", true}}},
                     {"request_id", id}};
    if (!request.tenant.empty()) out.set("cache_salt", salt_of(request.tenant));
    if (!request.affinity.empty()) out.set("session_id", session_of(request));
    if (generates_) {
      // The grammar applies from the first id.  The caller decides what is reasoning.
      if (request.grammar.dialect != Grammar::Dialect::kNone) out.set("reasoning_ended", true);
      out.set("sampling_params", std::move(sampling).value());
      return object_with_ids("token_ids", request.prompt, out);
    }
    for (const json::Member& member : sampling.value()) out.set(member.key, member.value);
    out.set("return_token_ids", true);  // the other address reports them anyway; here this asks for those of the prompt
    out.set("add_special_tokens", false);
    if (request.logprobs) out.set("return_tokens_as_token_ids", true);
    return object_with_ids("prompt", request.prompt, out);
  }

  // The server tells them only in an answer that is not streamed.
  Result<std::string> score_body(const engine::Request& request, const std::string& id) const override {
    json::Object sampling{
        {"max_tokens", 1}, {"temperature", 0.0}, {"prompt_logprobs", request.prompt_logprobs.value_or(0)}};
    json::Object out{{"model", info().model}, {"request_id", id}};
    if (!request.tenant.empty()) out.set("cache_salt", salt_of(request.tenant));
    if (generates_) {
      out.set("sampling_params", std::move(sampling));
      return object_with_ids("token_ids", request.prompt, out);
    }
    for (const json::Member& member : sampling) out.set(member.key, member.value);
    out.set("add_special_tokens", false);
    return object_with_ids("prompt", request.prompt, out);
  }

  Result<std::vector<SampledToken>> read_scores(const json::Value& answer,
                                                const engine::Request& request) const override {
    const json::Value* choices = answer.find("choices");
    const bool has_choices = choices != nullptr && choices->is_array() && !choices->as_array().empty();
    const json::Value& teller = generates_ || !has_choices ? answer : choices->as_array().front();
    const json::Value* told = teller.find("prompt_logprobs");
    if (told == nullptr || !told->is_array() || told->as_array().size() != request.prompt.size())
      return Dialect::read_scores(answer, request);
    std::vector<SampledToken> out;
    for (const json::Value& entry : told->as_array())
      out.push_back(read_score(entry, request.prompt[out.size()], request.prompt_logprobs.value_or(0)));
    return out;
  }

  Result<Event> read(std::string_view data, Reading& /*reading*/) const override {
    Event out;
    if (data == "[DONE]") {
      out.is_last = true;
      return out;
    }
    json::Reader in(data);
    std::string_view key;
    for (in.enter_object(); in.member(key);) {
      if (key == "choices") {
        for (in.enter_array(); in.element();) read_choice(data, in, out.parts.emplace_back());
      } else if (key == "usage" && in.peek() == '{') {
        read_usage(in, out);
      } else if (key == "error" && in.peek() != 'n') {
        json::Value error;
        if (in.value(error)) out.error = Error(ErrorCode::kEngine, sentence_of(error), info().url);
      } else {
        in.skip();
      }
    }
    if (in.failed()) return Error(ErrorCode::kEngine, "an event is no answer of such a server: " + in.error().message);
    for (const Part& part : out.parts) {
      if (part.choice >= kMostChoices)
        return Error(ErrorCode::kEngine, "an event is of a choice that was not asked for");
      if (part.finish == "abort" || part.finish == "error")
        out.error = Error(ErrorCode::kEngine, "the server gave the request up (`" + part.finish + "`)", info().url);
    }
    return out;
  }

  // The server refuses several choices if all take the likeliest id.
  bool takes_choices(const engine::Request& request) const override { return request.sampling.temperature > 0; }

 private:
  Result<json::Object> sampling_of(const engine::Request& request, std::size_t choices, std::uint64_t seed) const {
    const engine::Sampling& sampling = request.sampling;
    json::Object out{{"max_tokens", asked_tokens(request)},
                     {"top_k", sampling.top_k},
                     {"seed", static_cast<std::int64_t>(seed & kMostSeed)},
                     {"n", choices},
                     {"skip_special_tokens", false}};
    if (Status status = add_numbers(sampling, kVllmNumbers, "vLLM", out); !status.ok()) return status.error();
    if (request.min_tokens > 0) out.set("min_tokens", request.min_tokens);
    json::Array stops;
    for (const engine::TokenId id : request.stop_ids) stops.emplace_back(static_cast<std::int64_t>(id));
    if (!stops.empty()) out.set("stop_token_ids", std::move(stops));
    if (json::Object bias = bias_of(request, kMostBias); !bias.empty()) out.set("logit_bias", std::move(bias));
    if (Status status = add_limits(request, out); !status.ok()) return status.error();
    if (request.logprobs) out.set("logprobs", *request.logprobs);
    const Grammar& grammar = request.grammar;
    if (grammar.dialect == Grammar::Dialect::kNone) return out;
    if (grammar.is_lazy) return no_word_for("vLLM", "a grammar that waits for a trigger");
    json::Value text = grammar.text;
    if (grammar.dialect == Grammar::Dialect::kJsonSchema) {
      auto schema = schema_of(grammar);
      if (!schema.ok()) return schema.error();
      text = std::move(schema).value();
    }
    out.set("structured_outputs", json::Object{{std::string(structured_key(grammar.dialect)), std::move(text)}});
    return out;
  }

  // Only a server with a tokenizer reads texts, and one without it passes them over.  So rows of one id go by their id.
  static Status add_limits(const engine::Request& request, json::Object& out) {
    json::Array allowed;
    for (const engine::TokenId id : request.allowed_ids) allowed.emplace_back(static_cast<std::int64_t>(id));
    if (!allowed.empty()) out.set("allowed_token_ids", std::move(allowed));
    if (!has_long_rows(request)) return Done{};
    if (request.bad_words.empty()) return no_word_for("vLLM", "bad_words of several tokens without their texts");
    json::Array words;
    for (const std::string& word : request.bad_words) words.emplace_back(word);
    out.set("bad_words", std::move(words));
    return Done{};
  }

  static void read_choice(std::string_view data, json::Reader& in, Part& part) {
    std::string_view key;
    json::Value logprobs;
    for (in.enter_object(); in.member(key);) {
      if (key == "index") {
        std::optional<std::size_t> index;
        read_count(in, index);
        part.choice = index.value_or(0);
      } else if (key == "token_ids" && in.peek() == '[') {
        const std::size_t begin = in.at();
        if (in.skip() && !append_ids(data.substr(begin, in.at() - begin), part.tokens))
          in.fail_at(begin, "the ids are none");
      } else if (key == "finish_reason" && in.peek() == '"') {
        read_text(in, part.finish);
        part.stop = part.finish == "length" ? StopReason::kLength : StopReason::kStopToken;
      } else if (key == "stop_reason") {
        std::optional<std::size_t> id;
        read_count(in, id);
        if (id && *id <= kMostId) part.stop_id = static_cast<engine::TokenId>(*id);
      } else if (key == "logprobs" && in.peek() == '{') {
        in.value(logprobs);
      } else {
        in.skip();
      }
    }
    if (!logprobs.is_null()) read_logprobs(logprobs, part.tokens);
  }

  static void read_usage(json::Reader& in, Event& out) {
    std::string_view key;
    for (in.enter_object(); in.member(key);) {
      if (key == "prompt_tokens") {
        read_count(in, out.prompt_tokens);
      } else if (key == "completion_tokens") {
        read_count(in, out.completion_tokens);
      } else if (key == "prompt_tokens_details" && in.peek() == '{') {
        for (in.enter_object(); in.member(key);) {
          if (key == "cached_tokens") {
            read_count(in, out.cached_tokens);
          } else {
            in.skip();
          }
        }
      } else {
        in.skip();
      }
    }
  }

  bool generates_;
};

}  // namespace

std::unique_ptr<Dialect> make_vllm(ServerInfo info) { return std::make_unique<Vllm>(std::move(info)); }

}  // namespace rondo::remote
