// llama-server: /completion.  Its events hold back text that is not a whole character yet, together with the ids: it
// reports only the id that completes the character.  The count of ids in each event shows this.  The server ends only
// at the model's own end tokens, so the adapter watches for other stop ids.
#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

#include "json/reader.h"
#include "remote/dialect.h"
#include "remote/wire_json.h"

namespace rondo::remote {
namespace {

using engine::Grammar;
using engine::SampledToken;
using engine::StopReason;

// Numbers of trigger kinds in its API.
constexpr std::int64_t kTokenTrigger = 0;
constexpr std::int64_t kWordTrigger = 1;
constexpr std::int64_t kWholePatternTrigger = 3;

json::Value trigger_of(const Grammar::Trigger& trigger) {
  switch (trigger.kind) {
    case Grammar::Trigger::Kind::kToken:
      return json::Object{
          {"type", kTokenTrigger}, {"value", trigger.text}, {"token", static_cast<std::int64_t>(trigger.token)}};
    case Grammar::Trigger::Kind::kWord: return json::Object{{"type", kWordTrigger}, {"value", trigger.text}};
    case Grammar::Trigger::Kind::kPattern: break;
  }
  return json::Object{{"type", kWholePatternTrigger}, {"value", trigger.text + "[\\s\\S]*"}};
}

// `[{"id", "logprob", "top_logprobs": [{"id", "logprob"}]}]`, for the reported tokens.
void read_probabilities(const json::Value& all, std::vector<SampledToken>& tokens) {
  const std::size_t count = std::min(all.as_array().size(), tokens.size());
  for (std::size_t i = 0; i < count; ++i) {
    const json::Value& entry = all.as_array()[i];
    if (id_in(entry, "id") != tokens[i].id) continue;
    tokens[i].logprob = number_in(entry, "logprob");
    const json::Value* best = entry.find("top_logprobs");
    if (best == nullptr || !best->is_array()) continue;
    for (const json::Value& each : best->as_array()) {
      if (const auto id = id_in(each, "id")) tokens[i].best.push_back({*id, number_in(each, "logprob")});
    }
  }
}

// The changes of logits.  `false` excludes an id.
json::Array bias_rows(const engine::Request& request, bool never_ends) {
  json::Array out;
  const auto add = [&out](engine::TokenId id, json::Value change) {
    out.emplace_back(json::Array{static_cast<std::int64_t>(id), std::move(change)});
  };
  for (std::size_t i = 0; never_ends && i < request.stop_ids.size(); ++i) add(request.stop_ids[i], false);
  for (const engine::Sampling::Bias& each : request.sampling.bias) {
    const bool is_forbidden = std::isinf(each.value) && each.value < 0;
    add(each.id, is_forbidden ? json::Value(false) : json::Value(static_cast<double>(each.value)));
  }
  for (const std::vector<engine::TokenId>& row : request.bad_ids) {
    if (row.size() == 1) add(row.front(), false);
  }
  return out;
}

constexpr std::array<SpelledNumber, 7> kLlamaNumbers = {{{"temperature", "temperature"},
                                                         {"top_p", "top_p"},
                                                         {"min_p", "min_p"},
                                                         {"typical_p", "typical_p"},
                                                         {"repetition_penalty", "repeat_penalty"},
                                                         {"frequency_penalty", "frequency_penalty"},
                                                         {"presence_penalty", "presence_penalty"}}};

class LlamaServer final : public Dialect {
 public:
  using Dialect::Dialect;

  Result<std::string> body(const engine::Request& request, std::size_t /*choices*/, std::uint64_t seed,
                           const std::string& /*id*/) const override {
    const engine::Sampling& sampling = request.sampling;
    json::Object out{{"n_predict", asked_tokens(request)},
                     {"stream", true},
                     {"return_tokens", true},
                     {"cache_prompt", true},
                     {"timings_per_token", true},  // so that an interrupted answer has also reported what was cached
                     {"top_k", sampling.top_k},
                     {"repeat_last_n", -1},
                     {"seed", static_cast<std::int64_t>(seed % 0xffff'ffffU)}};  // all ones would mean a random seed
    if (Status status = add_numbers(sampling, kLlamaNumbers, "llama-server", out); !status.ok()) return status.error();
    const bool never_ends = request.min_tokens > 0 && request.min_tokens >= request.max_tokens;
    if (request.min_tokens > 0 && !never_ends) return no_word_for("llama-server", "min_tokens");
    if (never_ends) out.set("ignore_eos", true);
    if (!request.allowed_ids.empty()) return no_word_for("llama-server", "allowed_token_ids");
    if (has_long_rows(request)) return no_word_for("llama-server", "bad_words of several tokens");
    if (json::Array bias = bias_rows(request, never_ends); !bias.empty()) out.set("logit_bias", std::move(bias));
    if (request.logprobs) out.set("n_probs", std::max<std::size_t>(*request.logprobs, 1));
    if (Status status = add_grammar(request.grammar, out); !status.ok()) return status.error();
    return object_with_ids("prompt", request.prompt, out);
  }

  Result<Event> read(std::string_view data, Reading& reading) const override {
    Event out;
    Told told;
    Part& part = told.part;
    json::Reader in(data);
    std::string_view key;
    for (in.enter_object(); in.member(key);) {
      if (key == "error" && in.peek() != 'n') {
        json::Value error;
        if (in.value(error)) out.error = Error(ErrorCode::kEngine, sentence_of(error), info().url);
      } else if (!read_member(key, data, in, told, out)) {
        return Error(ErrorCode::kEngine, "an event has ids that are none");
      }
    }
    if (in.failed()) return Error(ErrorCode::kEngine, "an event is no answer of such a server: " + in.error().message);
    if (out.error) return out;
    // The last event repeats nothing, and its text is empty.  An answer without streaming has no events.
    Reading::Choice& known = reading.of(0);
    const std::size_t counted = part.sampled.value_or(known.counted + part.tokens.size());
    const std::size_t reported = known.counted + part.tokens.size();
    part.missing = counted - std::min(counted, reported);
    known.counted = std::max(counted, reported);
    if (!told.probabilities.is_null()) read_probabilities(told.probabilities, part.tokens);
    if (told.is_end) {
      out.is_last = true;
      part.stop = part.finish == "limit" ? StopReason::kLength : StopReason::kStopToken;
    } else {
      out.prompt_tokens.reset();
      part.sampled.reset();
    }
    out.parts.push_back(std::move(part));
    return out;
  }

  bool takes_choices(const engine::Request& /*request*/) const override { return false; }
  bool knows_stop_ids() const override { return false; }

 private:
  // What an event says about the only choice.
  struct Told {
    Part part;
    json::Value probabilities;
    bool is_end = false;
  };

  // Reads a member of an event.  Returns false for ids that are not ids; other faults are the reader's.
  static bool read_member(std::string_view key, std::string_view data, json::Reader& in, Told& told, Event& out) {
    if (key == "tokens" && in.peek() == '[') {
      const std::size_t begin = in.at();
      return !in.skip() || append_ids(data.substr(begin, in.at() - begin), told.part.tokens);
    }
    if (key == "content") {
      read_text(in, told.part.text);
    } else if (key == "stop") {
      told.is_end = in.peek() == 't';
      in.skip();
    } else if (key == "stop_type") {
      read_text(in, told.part.finish);
    } else if (key == "tokens_predicted") {
      read_count(in, told.part.sampled);
    } else if (key == "tokens_evaluated") {
      read_count(in, out.prompt_tokens);
    } else if (key == "timings" && in.peek() == '{') {
      read_timings(in, out);
    } else if (key == "completion_probabilities" && in.peek() == '[') {
      in.value(told.probabilities);
    } else {
      in.skip();
    }
    return true;
  }

  static Status add_grammar(const Grammar& grammar, json::Object& out) {
    if (grammar.dialect == Grammar::Dialect::kJsonSchema) {
      auto schema = schema_of(grammar);
      if (!schema.ok()) return schema.error();
      out.set("json_schema", std::move(schema).value());
    }
    if (grammar.dialect != Grammar::Dialect::kGbnf) return Done{};
    out.set("grammar", grammar.text);
    if (grammar.is_lazy) {
      json::Array triggers;
      for (const Grammar::Trigger& trigger : grammar.triggers) triggers.push_back(trigger_of(trigger));
      out.set("grammar_lazy", true);
      out.set("grammar_triggers", std::move(triggers));
    }
    json::Array preserved;
    for (const std::string& token : grammar.preserved_tokens) preserved.emplace_back(token);
    if (!preserved.empty()) out.set("preserved_tokens", std::move(preserved));
    return Done{};
  }

  // `tokens_cached` is how much the slot holds, not how much of it was found.
  static void read_timings(json::Reader& in, Event& out) {
    std::string_view key;
    for (in.enter_object(); in.member(key);) {
      if (key == "cache_n") {
        read_count(in, out.cached_tokens);
      } else {
        in.skip();
      }
    }
  }
};

}  // namespace

std::unique_ptr<Dialect> make_llama_server(ServerInfo info) { return std::make_unique<LlamaServer>(std::move(info)); }

}  // namespace rondo::remote
