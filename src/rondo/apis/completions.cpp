#include "apis/completions.h"

#include <algorithm>
#include <span>
#include <utility>

#include "apis/listings.h"
#include "apis/request_parts.h"
#include "apis/writer_parts.h"
#include "json/print.h"

namespace rondo::apis {
namespace {

// A text, ids, or a list of either.
void read_prompts(Fields& fields, CompletionRequest& out) {
  const json::Value* prompt = fields.any("prompt");
  if (prompt == nullptr) return fields.refuse_missing("prompt");
  if (prompt->is_string()) return out.prompts.emplace_back(prompt->as_string()), void();
  if (!prompt->is_array()) return fields.refuse_type("prompt", "a string or an array");
  const json::Array* list = fields.array("prompt", kMostMessages);
  if (list == nullptr) return;
  const auto add_ids = [&](const json::Value& value, const std::string& place) {
    Outcome<std::vector<std::int32_t>> ids = read_ids(value, place);
    if (!ids.ok()) return fields.take(ids.fault());
    out.prompts.emplace_back(std::move(ids.value()));
  };
  if (!list->empty() && list->front().is_number()) return add_ids(*prompt, "prompt");
  for (std::size_t i = 0; i < list->size(); ++i) {
    if ((*list)[i].is_string()) {
      out.prompts.emplace_back((*list)[i].as_string());
    } else {
      add_ids((*list)[i], "prompt[" + std::to_string(i) + "]");
    }
  }
  if (list->empty()) fields.refuse("prompt", "must not be empty");
}

// What is reported about each token, in the four lists of this API.
class LogprobLists {
 public:
  explicit LogprobLists(std::size_t offset) : offset_(offset) {}
  void add(std::string name, const std::string& text, json::Value logprob, json::Value top) {
    tokens_.emplace_back(std::move(name));
    values_.push_back(std::move(logprob));
    top_.push_back(std::move(top));
    offsets_.emplace_back(offset_);
    offset_ += text.size();
  }
  [[nodiscard]] json::Object take() {
    return {{"tokens", std::move(tokens_)},
            {"token_logprobs", std::move(values_)},
            {"top_logprobs", std::move(top_)},
            {"text_offset", std::move(offsets_)}};
  }

 private:
  std::size_t offset_;
  json::Array tokens_;
  json::Array values_;
  json::Array top_;
  json::Array offsets_;
};

json::Value logprobs_object(const CompletionRequest& request, const CompletionPiece& piece) {
  if (!request.logprobs) return nullptr;
  LogprobLists lists(piece.text_offset);
  const auto name = [&request](const auto& token) { return token_name(token.text, token.id, request.tokens_as_ids); };
  if (request.echo) {
    for (const ScoredToken& token : piece.prompt) {
      json::Object top;
      for (const ScoredToken::Other& other :
           std::span(token.others).first(std::min(request.top_logprobs, token.others.size())))
        top.set(name(other.told), other.told.logprob);
      const bool is_known = token.logprob.has_value();
      if (is_known) top.set(name(token), *token.logprob);
      lists.add(name(token), token.text, is_known ? json::Value(*token.logprob) : json::Value(),
                is_known ? json::Value(std::move(top)) : json::Value());
    }
  }
  for (const Logprob& logprob : piece.tokens.logprobs) {
    json::Object best;
    for (std::size_t i = 0; i < std::min(request.top_logprobs, logprob.top.size()); ++i)
      best.set(name(logprob.top[i]), logprob.top[i].logprob);
    // The token itself is one of them even if it is not among the likeliest.
    best.set(name(logprob), logprob.logprob);
    lists.add(name(logprob), logprob.text, logprob.logprob, std::move(best));
  }
  return lists.take();
}

json::Value choice_of(const CompletionRequest& request, const CompletionPiece& piece) {
  json::Value reason;
  if (piece.is_last) reason = piece.finish == Finish::kLength ? "length" : "stop";
  json::Object out{{"index", piece.index},
                   {"text", piece.text},
                   {"logprobs", logprobs_object(request, piece)},
                   {"finish_reason", std::move(reason)},
                   {"stop_reason", stop_reason(piece.stop_text, piece.stop_id)}};
  if (request.prompt_logprobs && !piece.prompt.empty())
    out.set("prompt_logprobs", scores_of(piece.prompt, *request.prompt_logprobs));
  if (request.return_token_ids) {
    out.set("token_ids", ids_of(piece.tokens.ids));
    if (!piece.prompt_ids.empty()) out.set("prompt_token_ids", ids_of(piece.prompt_ids));
  }
  return out;
}

json::Object envelope(const ReplyMeta& meta, json::Array choices) {
  return {{"id", meta.id},
          {"object", "text_completion"},
          {"created", meta.created_s},
          {"model", meta.model},
          {"choices", std::move(choices)}};
}

}  // namespace

std::string_view asks_for_prompt(const CompletionRequest& request) {
  if (request.prompt_logprobs) return "prompt_logprobs";
  return request.echo && request.logprobs ? "logprobs" : "";
}

Outcome<CompletionRequest> read_completion(const json::Value& body) {
  if (!body.is_object())
    return invalid("", "the body must be an object, found " + std::string(describe(body.kind())), "invalid_type");
  std::optional<Fault> fault;
  Fields fields(&body, "", fault);
  CompletionRequest out;
  GenerateRequest shared;
  out.model = fields.text("model").value_or("");
  read_prompts(fields, out);
  read_sampling(fields, out.sampling);
  out.stream = shared.stream = fields.is_set("stream");
  read_stops(fields, "stop", shared);
  read_stop_ids(fields, shared);
  read_answer_form(fields, shared);
  read_stream_options(fields, shared);
  out.stops.texts = std::move(shared.stops);
  out.stops.ids = std::move(shared.stop_ids);
  out.format = std::move(shared.format);
  out.include_usage = shared.include_usage;
  out.continuous_usage = shared.continuous_usage;
  out.warnings = std::move(shared.warnings);
  read_shows_stop(fields, out.stops.is_shown);
  read_cut(fields, out.cut);
  out.choices = static_cast<std::size_t>(fields.integer("n", 1, kMostChoices).value_or(1));
  out.echo = fields.is_set("echo");
  if (const auto most = fields.integer("prompt_logprobs", 0, 20)) out.prompt_logprobs = static_cast<std::size_t>(*most);
  out.max_tokens = fields.integer("max_tokens", out.echo || out.prompt_logprobs ? 0 : 1).value_or(out.max_tokens);
  const auto top = fields.integer("logprobs", 0, 20);
  out.logprobs = top.has_value();
  out.top_logprobs = static_cast<std::size_t>(top.value_or(0));
  check_least(fields, out.sampling, out.max_tokens);
  out.return_token_ids = fields.is_set("return_token_ids");
  out.tokens_as_ids = fields.is_set("return_tokens_as_token_ids");
  out.add_special_tokens = fields.is_set("add_special_tokens", true);
  (void)fields.text("user");  // its type is checked
  out.cache_salt = read_salt(fields);
  for (const std::string_view key : {"best_of", "suffix"}) {
    if (fields.any(key) != nullptr) out.warnings.push_back("`" + std::string(key) + "` was left out");
  }
  note_of_servers(fields, out.warnings);
  if (out.prompts.size() * out.choices > kMostChoices) fields.refuse("prompt", "asks for too many choices");
  if (fault) return *std::move(fault);
  return out;
}

json::Value completion_body(const CompletionRequest& request, const ReplyMeta& meta,
                            const std::vector<CompletionPiece>& pieces, const TurnEnd& end) {
  json::Array choices;
  for (const CompletionPiece& piece : pieces) choices.push_back(choice_of(request, piece));
  json::Object out = envelope(meta, std::move(choices));
  out.set("usage", chat_usage(end.usage));
  if (end.rondo) out.set("rondo", *end.rondo);
  return out;
}

StreamEvent completion_event(const CompletionRequest& request, const ReplyMeta& meta, const CompletionPiece& piece) {
  json::Object out = envelope(meta, {choice_of(request, piece)});
  if (request.include_usage) out.set("usage", piece.usage ? chat_usage(*piece.usage) : json::Value());
  return {"", json::to_compact(json::Value(std::move(out)))};
}

std::vector<StreamEvent> completion_end(const CompletionRequest& request, const ReplyMeta& meta, const TurnEnd& end) {
  std::vector<StreamEvent> out;
  if (request.include_usage || end.rondo) {
    json::Object last = envelope(meta, {});
    if (request.include_usage) last.set("usage", chat_usage(end.usage));
    if (end.rondo) last.set("rondo", *end.rondo);
    out.push_back({"", json::to_compact(json::Value(std::move(last)))});
  }
  out.push_back({"", "[DONE]"});
  return out;
}

}  // namespace rondo::apis
