// SGLang: /generate.  Each event has all ids so far, unless the server was started to send only new ones.
#include <algorithm>
#include <array>
#include <limits>
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

// What an event says, before it is compared with earlier events.
struct Told {
  std::size_t choice = 0;
  std::string_view ids;  // the text of the array
  bool has_ids = false;
  bool is_behind = false;           // the array begins with the ids that the first choice reported before,
  std::vector<SampledToken> fresh;  // and these follow
  std::optional<std::size_t> completion_tokens;
  json::Value logprobs;  // [[logprob, id, text], ...]
  json::Value best;      // of each id, the same
};

// `[logprob, id, text]`
std::optional<engine::Candidate> candidate_of(const json::Value& entry) {
  if (!entry.is_array() || entry.as_array().size() < 2) return std::nullopt;
  const auto logprob = entry.as_array()[0].to_double();
  const auto id = entry.as_array()[1].to_int64();
  if (!logprob || !id || *id < 0 || *id > std::numeric_limits<engine::TokenId>::max()) return std::nullopt;
  return engine::Candidate{static_cast<engine::TokenId>(*id), static_cast<float>(*logprob)};
}

// The last entries belong to the new tokens, whichever way the server streams.
void read_logprobs(const Told& told, std::vector<SampledToken>& tokens) {
  const auto entry = [&tokens](const json::Value& all, std::size_t i) -> const json::Value* {
    if (!all.is_array() || all.as_array().size() + i < tokens.size()) return nullptr;
    return &all.as_array()[all.as_array().size() + i - tokens.size()];
  };
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (const json::Value* own = entry(told.logprobs, i)) {
      if (const auto candidate = candidate_of(*own); candidate && candidate->id == tokens[i].id)
        tokens[i].logprob = candidate->logprob;
    }
    const json::Value* best = entry(told.best, i);
    if (best == nullptr || !best->is_array()) continue;
    for (const json::Value& each : best->as_array()) {
      if (const auto candidate = candidate_of(each)) tokens[i].best.push_back(*candidate);
    }
  }
}

// Finds which ids are new.  False if the event contradicts earlier ones.
bool read_new_ids(Told& told, Reading::Choice& known, Part& part) {
  if (!told.has_ids) return true;
  const std::string_view text = told.ids.substr(0, told.ids.size() - 1);  // without the bracket
  const bool is_read = told.is_behind && told.choice == 0;
  const bool goes_on = is_read || (known.ids > 0 && text.starts_with(known.ids_text) &&
                                   (text.size() == known.ids_text.size() || text[known.ids_text.size()] == ','));
  if (goes_on) {
    if (is_read) {
      part.tokens = std::move(told.fresh);
    } else if (!append_ids(text.substr(known.ids_text.size()), part.tokens)) {
      return false;
    }
    const std::size_t all = known.ids + part.tokens.size();
    // New ids may begin like the old ones by chance.  The count decides.
    if (!told.completion_tokens || *told.completion_tokens == all) {
      known.ids_text.append(text, known.ids_text.size());
      known.ids = all;
      return true;
    }
    part.tokens.clear();
  }
  if (!append_ids(text, part.tokens)) return false;
  const std::size_t count = part.tokens.size();
  if (known.ids > 0 && told.completion_tokens == count) return false;  // all of them, and they differ from before
  part.missing =
      told.completion_tokens ? *told.completion_tokens - std::min(*told.completion_tokens, known.ids + count) : 0;
  known.ids += count + part.missing;
  known.ids_text = text;
  return true;
}

// The ids reported before are compared and not read again.
void read_ids(std::string_view data, json::Reader& in, const Reading& reading, Told& told) {
  const std::size_t begin = in.at();
  const bool has_known = !reading.choices.empty() && reading.choices.front().ids > 0;
  told.fresh.clear();
  told.is_behind = has_known && in.enter_array_behind(reading.choices.front().ids_text);
  if (told.is_behind) {
    std::int64_t id = 0;
    while (in.element() && in.integer(id)) {
      if (id < 0 || id > std::numeric_limits<engine::TokenId>::max())
        return void(in.fail_at(begin, "the ids are none"));
      told.fresh.push_back({.id = static_cast<engine::TokenId>(id)});
    }
  } else {
    in.skip();
  }
  told.has_ids = !in.failed();
  if (told.has_ids) told.ids = data.substr(begin, in.at() - begin);
}

constexpr std::array<SpelledNumber, 6> kSglangNumbers = {{{"temperature", "temperature"},
                                                          {"top_p", "top_p"},
                                                          {"min_p", "min_p"},
                                                          {"repetition_penalty", "repetition_penalty"},
                                                          {"frequency_penalty", "frequency_penalty"},
                                                          {"presence_penalty", "presence_penalty"}}};

class Sglang final : public Dialect {
 public:
  using Dialect::Dialect;

  Result<std::string> body(const engine::Request& request, std::size_t choices, std::uint64_t seed,
                           const std::string& id) const override {
    const engine::Sampling& from = request.sampling;
    if (!request.allowed_ids.empty()) return no_word_for("SGLang", "allowed_token_ids");
    if (has_long_rows(request)) return no_word_for("SGLang", "bad_words of several tokens");
    json::Object sampling{{"max_new_tokens", request.max_tokens},
                          {"top_k", from.top_k == 0 ? -1 : static_cast<std::int64_t>(from.top_k)},
                          {"sampling_seed", static_cast<std::int64_t>(seed & kMostSeed)},
                          {"n", choices},
                          {"skip_special_tokens", false},
                          {"no_stop_trim", true}};
    if (Status status = add_numbers(from, kSglangNumbers, "SGLang", sampling); !status.ok()) return status.error();
    if (request.min_tokens > 0) sampling.set("min_new_tokens", request.min_tokens);
    json::Array stops;
    for (const engine::TokenId stop : request.stop_ids) stops.emplace_back(static_cast<std::int64_t>(stop));
    if (!stops.empty()) sampling.set("stop_token_ids", std::move(stops));
    constexpr float kMostBias = 1e9F;
    if (json::Object bias = bias_of(request, kMostBias); !bias.empty()) sampling.set("logit_bias", std::move(bias));
    if (request.grammar.dialect != Grammar::Dialect::kNone) {
      if (request.grammar.is_lazy) return no_word_for("SGLang", "a grammar that waits for a trigger");
      sampling.set(grammar_key(request.grammar.dialect), request.grammar.text);
    }
    json::Object out{{"sampling_params", std::move(sampling)}, {"stream", true}, {"rid", id}};
    if (!request.tenant.empty()) out.set("extra_key", salt_of(request.tenant));
    if (!request.affinity.empty()) out.set("routing_key", session_of(request));
    if (request.logprobs) {
      out.set("return_logprob", true);
      out.set("top_logprobs_num", *request.logprobs);
    }
    return object_with_ids("input_ids", request.prompt, out);
  }

  // A request of its own, because each event of a stream would repeat them.
  Result<std::string> score_body(const engine::Request& request, const std::string& id) const override {
    json::Object out{{"sampling_params", json::Object{{"max_new_tokens", 1}, {"temperature", 0.0}}},
                     {"rid", id},
                     {"return_logprob", true},
                     {"logprob_start_len", 0},
                     {"top_logprobs_num", request.prompt_logprobs.value_or(0)}};
    if (!request.tenant.empty()) out.set("extra_key", salt_of(request.tenant));
    return object_with_ids("input_ids", request.prompt, out);
  }

  Result<std::vector<SampledToken>> read_scores(const json::Value& answer,
                                                const engine::Request& request) const override {
    const json::Value* meta = answer.find("meta_info");
    const json::Value* told = meta == nullptr ? nullptr : meta->find("input_token_logprobs");
    if (told == nullptr || !told->is_array() || told->as_array().size() != request.prompt.size())
      return Dialect::read_scores(answer, request);
    std::vector<SampledToken> out;
    for (const engine::TokenId id : request.prompt) out.push_back({.id = id});
    const json::Value* best = meta->find("input_top_logprobs");
    read_logprobs({.logprobs = *told, .best = best == nullptr ? json::Value() : *best}, out);
    return out;
  }

  Result<Event> read(std::string_view data, Reading& reading) const override {
    Event out;
    if (data == "[DONE]") {
      out.is_last = true;
      return out;
    }
    Told told;
    Part part;
    json::Reader in(data);
    std::string_view key;
    for (in.enter_object(); in.member(key);) {
      if (key == "output_ids" && in.peek() == '[') {
        read_ids(data, in, reading, told);
      } else if (key == "index") {
        std::optional<std::size_t> index;
        read_count(in, index);
        told.choice = index.value_or(0);
      } else if (key == "meta_info" && in.peek() == '{') {
        read_meta(in, told, part, out);
      } else if (key == "error" && in.peek() != 'n') {
        json::Value error;
        if (in.value(error)) out.error = refusal_of(error);
      } else {
        in.skip();
      }
    }
    if (in.failed()) return Error(ErrorCode::kEngine, "an event is no answer of such a server: " + in.error().message);
    if (out.error) return out;
    if (told.choice >= kMostChoices) return Error(ErrorCode::kEngine, "an event is of a choice that was not asked for");
    if (!read_new_ids(told, reading.of(told.choice), part))
      return Error(ErrorCode::kEngine, "the server told other ids than before, or what are none");
    if (!told.logprobs.is_null()) read_logprobs(told, part.tokens);
    part.choice = told.choice;
    out.parts.push_back(std::move(part));
    return out;
  }

  // Several choices would share a seed.
  bool takes_choices(const engine::Request& /*request*/) const override { return false; }
  std::string abort_path() const override { return "/abort_request"; }
  std::string abort_body(const std::string& id) const override { return R"({"rid":")" + id + "\"}"; }

 private:
  static std::string_view grammar_key(Grammar::Dialect dialect) {
    switch (dialect) {
      case Grammar::Dialect::kStructuralTag: return "structural_tag";
      case Grammar::Dialect::kJsonSchema: return "json_schema";
      case Grammar::Dialect::kRegex: return "regex";
      default: return "ebnf";
    }
  }

  // An error inside an answer has the status that the answer would have had.
  [[nodiscard]] Error refusal_of(const json::Value& error) const {
    const json::Value* code = error.find("code");
    if (code == nullptr) code = error.find("status_code");
    const auto status = code == nullptr ? std::nullopt : code->to_int64();
    return refusal(static_cast<int>(status.value_or(500)), sentence_of(error), {});
  }

  void read_meta(json::Reader& in, Told& told, Part& part, Event& out) const {
    std::string_view key;
    for (in.enter_object(); in.member(key);) {
      if (key == "prompt_tokens") {
        read_count(in, out.prompt_tokens);
      } else if (key == "completion_tokens") {
        read_count(in, told.completion_tokens);
        part.sampled = told.completion_tokens;
      } else if (key == "cached_tokens") {
        read_count(in, out.cached_tokens);
      } else if (key == "finish_reason" && in.peek() == '{') {
        json::Value finish;
        if (in.value(finish)) read_finish(finish, part, out);
      } else if (key == "output_token_logprobs" && in.peek() == '[') {
        in.value(told.logprobs);
      } else if (key == "output_top_logprobs" && in.peek() == '[') {
        in.value(told.best);
      } else {
        in.skip();
      }
    }
  }

  void read_finish(const json::Value& finish, Part& part, Event& out) const {
    part.finish = finish.find_string("type").value_or("");
    if (part.finish == "abort") {
      out.error = refusal_of(finish);
      return;
    }
    part.stop = part.finish == "length" ? StopReason::kLength : StopReason::kStopToken;
    part.stop_id = id_in(finish, "matched");
  }
};

}  // namespace

std::unique_ptr<Dialect> make_sglang(ServerInfo info) { return std::make_unique<Sglang>(std::move(info)); }

}  // namespace rondo::remote
