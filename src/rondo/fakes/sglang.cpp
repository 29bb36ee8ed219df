#include <algorithm>
#include <utility>

#include "fakes/dialect.h"

namespace rondo::fakes {
namespace {

class SglangAnswers final : public DialectAnswers {
 public:
  using DialectAnswers::DialectAnswers;

  std::variant<Task, net::Reply> read(const net::ServerRequest& request, const json::Value& body) override;
  std::optional<std::vector<std::string>> aborts(std::string_view path, const json::Value& body) override;
  bool flushes(std::string_view path) override { return path == "/flush_cache"; }
  std::string id_bytes(Running& running, std::size_t choice) override;
  std::string choice_end(const Running& running, std::size_t choice) override;
  std::string stream_end(const Running& /*running*/) override { return "data: [DONE]\n\n"; }
  json::Value whole(const Running& running) override;
  net::Reply error(int status, const std::string& sentence) const override;

 private:
  [[nodiscard]] std::variant<Task, net::Reply> read_generate(const json::Value& body);
  [[nodiscard]] net::Reply about(const net::ServerRequest& request, const json::Value& body) const;
  [[nodiscard]] json::Value part(const Running& running, std::size_t choice, std::size_t from) const;
  [[nodiscard]] json::Value finish(const Choice& choice) const;
  void set_logprobs(json::Object& meta, const Running& running, std::span<const TokenId> ids) const;

  std::size_t made_ = 0;
};

// A fault in a request's form is reported in one shape, a fault in its content in another.
net::Reply contract_error(const std::string& sentence) { return json_reply(400, json::Object{{"error", sentence}}); }

net::Reply content_error(int status, const std::string& sentence) {
  return json_reply(status, json::Object{{"error", json::Object{{"message", sentence},
                                                                {"type", "invalid_request_error"},
                                                                {"code", status},
                                                                {"retryable", false}}}});
}

std::variant<Task, net::Reply> SglangAnswers::read(const net::ServerRequest& request, const json::Value& body) {
  if (request.path == "/generate" && request.method == "POST") return read_generate(body);
  return about(request, body);
}

std::variant<Task, net::Reply> SglangAnswers::read_generate(const json::Value& body) {
  const json::Value* text = body.find("text");
  auto ids = ids_in(body.find("input_ids"));
  if ((text != nullptr) == (body.find("input_ids") != nullptr)) {
    return contract_error("Either text or input_ids should be provided, and not both.");
  }
  Task task;
  task.body = body;
  task.path = "/generate";
  if (text != nullptr && text->is_string()) ids = Model::ids_of(text->as_string());
  if (!ids) return contract_error("input_ids must be a list of ids");
  if (ids->empty()) return content_error(400, "The input is empty.");
  task.prompt = std::move(*ids);
  task.streams = flag_in(body, "stream", false);
  task.id = body.find_string("rid").value_or("rid-" + std::to_string(++made_));
  task.salt = body.find_string("extra_key").value_or("");
  const json::Value empty = json::Object{};
  const json::Value* found = body.find("sampling_params");
  if (found != nullptr && !found->is_null() && !found->is_object()) {
    return contract_error("sampling_params must be an object");
  }
  const json::Value& sampling = found != nullptr && found->is_object() ? *found : empty;
  task.asked.max_tokens =
      static_cast<std::size_t>(std::max<std::int64_t>(1, integer_in(sampling, "max_new_tokens", 128)));
  task.asked.stop_ids = ids_in(sampling.find("stop_token_ids")).value_or(Ids{});
  task.asked.stops = texts_in(sampling.find("stop"));
  task.asked.ignore_end = flag_in(sampling, "ignore_eos", false);
  task.asked.seed = seed_in(sampling, "sampling_seed");
  read_bias(sampling, task.asked);
  task.choices = static_cast<std::size_t>(std::max<std::int64_t>(1, integer_in(sampling, "n", 1)));
  if (flag_in(body, "return_logprob", false)) {
    task.logprobs = static_cast<std::size_t>(std::max<std::int64_t>(0, integer_in(body, "top_logprobs_num", 0)));
    if (integer_in(body, "logprob_start_len", -1) == 0) task.prompt_logprobs = task.logprobs;
  }
  if (task.prompt.size() + task.asked.max_tokens > options_.context_tokens) {
    const std::string sentence = "The input (" + std::to_string(task.prompt.size()) +
                                 " tokens) is longer than the model's context length (" +
                                 std::to_string(options_.context_tokens) + " tokens).";
    net::Reply reply = content_error(400, sentence);
    // SGLang answers a stream with status 200 even then; the error is its only event.
    if (task.streams)
      reply = {200, {{"Content-Type", "text/event-stream"}}, "data: " + reply.body + "\n\ndata: [DONE]\n\n"};
    return reply;
  }
  return task;
}

net::Reply SglangAnswers::about(const net::ServerRequest& request, const json::Value& body) const {
  if (request.path == "/server_info" || request.path == "/get_server_info") {
    return json_reply(200, json::Object{{"model_path", options_.name},
                                        {"served_model_name", options_.name},
                                        {"version", "0.5.23"},
                                        {"context_length", options_.context_tokens},
                                        {"page_size", 1},
                                        {"incremental_streaming_output", options_.incremental},
                                        {"max_total_num_tokens", options_.cache_tokens}});
  }
  if (request.path == "/model_info" || request.path == "/get_model_info") {
    return json_reply(200, json::Object{{"model_path", options_.name},
                                        {"tokenizer_path", options_.name},
                                        {"is_generation", true},
                                        {"preferred_sampling_params", nullptr}});
  }
  if (request.path == "/health" || request.path == "/health_generate") return {200, {}, ""};
  if (request.path == "/v1/models") {
    const json::Object model{{"id", options_.name},   {"object", "model"},
                             {"created", 1},          {"owned_by", "sglang"},
                             {"root", options_.name}, {"max_model_len", options_.context_tokens}};
    return json_reply(200, json::Object{{"object", "list"}, {"data", json::Array{model}}});
  }
  if (request.path == "/tokenize" && request.method == "POST") {
    const Ids ids = Model::ids_of(body.find_string("prompt").value_or(""));
    return json_reply(
        200,
        json::Object{{"tokens", ids_value(ids)}, {"count", ids.size()}, {"max_model_len", options_.context_tokens}});
  }
  if (request.path == "/detokenize" && request.method == "POST") {
    return json_reply(200, json::Object{{"text", model_.text_of(ids_in(body.find("tokens")).value_or(Ids{}))}});
  }
  return json_reply(404, json::Object{{"detail", "Not Found"}});
}

std::optional<std::vector<std::string>> SglangAnswers::aborts(std::string_view path, const json::Value& body) {
  if (path != "/abort_request") return std::nullopt;
  if (flag_in(body, "abort_all", false)) return std::vector<std::string>{"*"};
  return texts_in(body.find("rid"));
}

json::Value SglangAnswers::finish(const Choice& choice) const {
  if (!choice.is_done()) return nullptr;
  const Completion& completion = choice.completion;
  switch (completion.stop) {
    case Stop::kEnd:
    case Stop::kStopId: return json::Object{{"type", "stop"}, {"matched", completion.ids.back()}};
    case Stop::kStopText: return json::Object{{"type", "stop"}, {"matched", completion.stop_text}};
    case Stop::kLength: return json::Object{{"type", "length"}, {"length", completion.ids.size()}};
    case Stop::kAbort: break;
  }
  return json::Object{{"type", "abort"}, {"message", "Aborted"}, {"status_code", nullptr}, {"err_type", nullptr}};
}

void SglangAnswers::set_logprobs(json::Object& meta, const Running& running, std::span<const TokenId> ids) const {
  if (!running.task.logprobs) return;
  const auto entry = [](TokenId id) { return json::Array{Model::logprob_of(id), id, nullptr}; };
  const auto set = [&](const std::string& kind, std::span<const TokenId> of, bool has_first) {
    json::Array own;
    json::Array tops;
    for (const TokenId id : of) {
      // Nothing comes before the first id of a prompt, so the model gives it no probability.
      const bool is_known = has_first || !own.empty();
      json::Array best;
      for (const TokenId other : model_.best(id, *running.task.logprobs)) best.emplace_back(entry(other));
      own.emplace_back(is_known ? entry(id) : json::Array{nullptr, id, nullptr});
      tops.push_back(is_known ? json::Value(std::move(best)) : json::Value());
    }
    meta.set(kind + "_token_logprobs_length", own.size());
    meta.set(kind + "_token_logprobs", std::move(own));
    if (*running.task.logprobs > 0) meta.set(kind + "_top_logprobs", std::move(tops));
  };
  set("output", ids, true);
  if (running.task.prompt_logprobs) set("input", running.task.prompt, false);
}

// A choice as far as it was sent: ids, texts and log probabilities after `from`.
json::Value SglangAnswers::part(const Running& running, std::size_t choice, std::size_t from) const {
  const Choice& of = running.choices[choice];
  const std::span<const TokenId> ids = std::span(of.completion.ids).first(of.sent).subspan(from);
  json::Object meta{{"id", running.task.id},
                    {"finish_reason", finish(of)},
                    {"prompt_tokens", running.task.prompt.size()},
                    {"completion_tokens", of.sent},
                    {"reasoning_tokens", 0},
                    {"cached_tokens", running.cached},
                    {"cached_tokens_details", json::Object{{"device", running.cached}, {"host", 0}}},
                    {"weight_version", "default"},
                    {"num_retractions", 0},
                    {"dp_rank", nullptr},
                    {"e2e_latency", 0.1}};
  set_logprobs(meta, running, ids);
  const std::string before = shown_text(model_, of.completion, from);
  json::Object out{{"text", shown_text(model_, of.completion, of.sent).substr(before.size())},
                   {"output_ids", ids_value(ids)},
                   {"meta_info", std::move(meta)}};
  if (running.task.choices > 1) out.set("index", choice);
  return out;
}

std::string SglangAnswers::id_bytes(Running& running, std::size_t choice) {
  // By default an event repeats all ids of its choice so far, and a client has to find the new ones.
  return event_of(part(running, choice, options_.incremental ? running.choices[choice].sent - 1 : 0));
}

std::string SglangAnswers::choice_end(const Running& running, std::size_t choice) {
  const Choice& of = running.choices[choice];
  if (of.completion.stop != Stop::kAbort) return "";
  return event_of(part(running, choice, options_.incremental ? of.sent : 0));
}

json::Value SglangAnswers::whole(const Running& running) {
  if (running.choices.size() == 1) return part(running, 0, 0);
  json::Array all;
  for (std::size_t i = 0; i < running.choices.size(); ++i) all.push_back(part(running, i, 0));
  return all;
}

net::Reply SglangAnswers::error(int status, const std::string& sentence) const {
  return content_error(status, sentence);
}

}  // namespace

std::unique_ptr<DialectAnswers> sglang_answers(const EngineOptions& options, const Model& model) {
  return std::make_unique<SglangAnswers>(options, model);
}

}  // namespace rondo::fakes
