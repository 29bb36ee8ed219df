#include <algorithm>
#include <utility>

#include "fakes/dialect.h"

namespace rondo::fakes {
namespace {

void read_logprobs(const json::Value& from, Task& task) {
  const std::int64_t sampled = integer_in(from, "logprobs", -1);
  if (sampled >= 0) task.logprobs = static_cast<std::size_t>(sampled);
  const std::int64_t prompt = integer_in(from, "prompt_logprobs", -1);
  if (prompt >= 0) task.prompt_logprobs = static_cast<std::size_t>(prompt);
}

// vLLM also excludes a word after a space if that spelling has as many ids.  In this vocabulary of bytes it has one
// more, so each word gives one row.
void read_limits(const json::Value& from, Asked& asked) {
  read_bias(from, asked);
  asked.allowed = ids_in(from.find("allowed_token_ids")).value_or(Ids{});
  for (const std::string& word : texts_in(from.find("bad_words"))) {
    if (!word.empty()) asked.bad.push_back(Model::ids_of(word));
  }
}

class VllmAnswers final : public DialectAnswers {
 public:
  using DialectAnswers::DialectAnswers;

  std::variant<Task, net::Reply> read(const net::ServerRequest& request, const json::Value& body) override;
  std::optional<std::vector<std::string>> aborts(std::string_view path, const json::Value& body) override;
  std::string id_bytes(Running& running, std::size_t choice) override;
  std::string choice_end(const Running& running, std::size_t choice) override;
  std::string stream_end(const Running& running) override;
  json::Value whole(const Running& running) override;
  net::Reply error(int status, const std::string& sentence) const override;

 private:
  [[nodiscard]] std::variant<Task, net::Reply> read_generate(const json::Value& body);
  [[nodiscard]] std::variant<Task, net::Reply> read_completions(const json::Value& body);
  [[nodiscard]] std::variant<Task, net::Reply> checked(Task task) const;
  [[nodiscard]] net::Reply about(const net::ServerRequest& request, const json::Value& body) const;
  [[nodiscard]] json::Object head(const Running& running) const;
  [[nodiscard]] json::Value chunk(const Running& running, std::size_t choice, std::size_t from, std::size_t to) const;
  [[nodiscard]] json::Value usage(const Running& running) const;
  [[nodiscard]] json::Value prompt_logprobs(const Task& task) const;
  [[nodiscard]] json::Value logprobs(const Running& running, std::span<const TokenId> ids) const;
  void set_finish(json::Object& out, const Choice& choice, bool is_last) const;

  std::size_t made_ = 0;
};

constexpr std::string_view kGenerate = "/inference/v1/generate";
constexpr std::string_view kCompletions = "/v1/completions";

bool is_generate(const Running& running) { return running.task.path == kGenerate; }

net::Reply error_reply(int status, const std::string& sentence, const std::string& type, const json::Value& param) {
  return json_reply(
      status,
      json::Object{{"error", json::Object{{"message", sentence}, {"type", type}, {"param", param}, {"code", status}}}});
}

std::variant<Task, net::Reply> VllmAnswers::read(const net::ServerRequest& request, const json::Value& body) {
  if (request.method == "POST" && request.path == kGenerate) {
    if (options_.generate == EngineOptions::Route::kMissing)
      return json_reply(404, json::Object{{"detail", "Not Found"}});
    if (options_.generate == EngineOptions::Route::kForbidden) {
      return error_reply(403,
                         "Scale-out endpoints are disabled. Restart vllm serve with --enable-scale-out to enable them.",
                         "PermissionDeniedError", nullptr);
    }
    return read_generate(body);
  }
  if (request.method == "POST" && request.path == kCompletions) return read_completions(body);
  return about(request, body);
}

std::variant<Task, net::Reply> VllmAnswers::read_generate(const json::Value& body) {
  const json::Value* sampling = body.find("sampling_params");
  auto ids = ids_in(body.find("token_ids"));
  if (!ids || ids->empty())
    return error_reply(400, "token_ids: a list of at least one id is required", "Bad Request", "token_ids");
  if (sampling == nullptr || !sampling->is_object()) {
    return error_reply(400, "sampling_params: Field required", "Bad Request", "sampling_params");
  }
  Task task;
  task.body = body;
  task.path = kGenerate;
  task.prompt = std::move(*ids);
  task.id = "generate-tokens-" + std::string(body.find_string("request_id").value_or(std::to_string(++made_)));
  task.asked.max_tokens = static_cast<std::size_t>(std::max<std::int64_t>(0, integer_in(*sampling, "max_tokens", 16)));
  task.asked.stop_ids = ids_in(sampling->find("stop_token_ids")).value_or(Ids{});
  task.asked.stops = texts_in(sampling->find("stop"));
  task.asked.ignore_end = flag_in(*sampling, "ignore_eos", false);
  task.asked.seed = seed_in(*sampling, "seed");
  read_limits(*sampling, task.asked);
  task.choices = static_cast<std::size_t>(std::max<std::int64_t>(1, integer_in(*sampling, "n", 1)));
  read_logprobs(*sampling, task);
  return checked(std::move(task));
}

std::variant<Task, net::Reply> VllmAnswers::read_completions(const json::Value& body) {
  Task task;
  task.body = body;
  task.path = kCompletions;
  const json::Value* prompt = body.find("prompt");
  if (prompt != nullptr && prompt->is_string()) {
    task.prompt = Model::ids_of(prompt->as_string());
  } else if (auto ids = ids_in(prompt)) {
    task.prompt = std::move(*ids);
  }
  if (task.prompt.empty())
    return error_reply(400, "prompt: a text or a list of ids is required", "BadRequestError", "prompt");
  task.id = "cmpl-" + std::to_string(++made_);
  task.asked.max_tokens = static_cast<std::size_t>(std::max<std::int64_t>(0, integer_in(body, "max_tokens", 16)));
  task.asked.stop_ids = ids_in(body.find("stop_token_ids")).value_or(Ids{});
  task.asked.stops = texts_in(body.find("stop"));
  task.asked.ignore_end = flag_in(body, "ignore_eos", false);
  task.asked.seed = seed_in(body, "seed");
  read_limits(body, task.asked);
  task.choices = static_cast<std::size_t>(std::max<std::int64_t>(1, integer_in(body, "n", 1)));
  task.returns_ids = flag_in(body, "return_token_ids", false);
  read_logprobs(body, task);
  return checked(std::move(task));
}

std::variant<Task, net::Reply> VllmAnswers::checked(Task task) const {
  if (const auto name = task.body.find_string("model"); name && *name != options_.name) {
    return error_reply(404, "The model `" + std::string(*name) + "` does not exist.", "NotFoundError", "model");
  }
  if (task.asked.max_tokens == 0)
    return error_reply(400, "max_tokens must be at least 1, got 0.", "BadRequestError", "max_tokens");
  if (task.prompt.size() + task.asked.max_tokens > options_.context_tokens) {
    return error_reply(400,
                       "This model's maximum context length is " + std::to_string(options_.context_tokens) +
                           " tokens. However, you requested " + std::to_string(task.asked.max_tokens) +
                           " output tokens and your prompt contains " + std::to_string(task.prompt.size()) +
                           " input tokens.",
                       "BadRequestError", "input_tokens");
  }
  task.streams = flag_in(task.body, "stream", false);
  if (task.streams && task.prompt_logprobs)
    return error_reply(400, "`prompt_logprobs` are not available when `stream=True`.", "BadRequestError",
                       "prompt_logprobs");
  task.salt = task.body.find_string("cache_salt").value_or("");
  if (const json::Value* sampling = task.body.find("sampling_params")) {
    task.uses_cache = !flag_in(*sampling, "skip_reading_prefix_cache", false);
  }
  return task;
}

net::Reply VllmAnswers::about(const net::ServerRequest& request, const json::Value& body) const {
  if (request.path == "/version") return json_reply(200, json::Object{{"version", "0.33.0"}});
  if (request.path == "/health") return {200, {}, ""};
  if (request.path == "/v1/models") {
    const json::Object model{{"id", options_.name},
                             {"object", "model"},
                             {"created", 1},
                             {"owned_by", "vllm"},
                             {"root", options_.name},
                             {"parent", nullptr},
                             {"max_model_len", options_.context_tokens}};
    return json_reply(200, json::Object{{"object", "list"}, {"data", json::Array{model}}});
  }
  if (request.method == "POST" && request.path == "/tokenize") {
    const Ids ids = Model::ids_of(body.find_string("prompt").value_or(""));
    return json_reply(200, json::Object{{"count", ids.size()},
                                        {"max_model_len", options_.context_tokens},
                                        {"tokens", ids_value(ids)},
                                        {"token_strs", nullptr}});
  }
  if (request.method == "POST" && request.path == "/detokenize") {
    return json_reply(200, json::Object{{"prompt", model_.text_of(ids_in(body.find("tokens")).value_or(Ids{}))}});
  }
  return json_reply(404, json::Object{{"detail", "Not Found"}});
}

std::optional<std::vector<std::string>> VllmAnswers::aborts(std::string_view path, const json::Value& body) {
  if (path != "/inference/v1/abort_requests" || options_.generate != EngineOptions::Route::kOn) return std::nullopt;
  std::vector<std::string> ids = texts_in(body.find("request_ids"));
  // Clients name a request by the id that they sent, or by the longer one of the answer.
  for (std::string& id : ids) {
    if (!id.starts_with("generate-tokens-")) id.insert(0, "generate-tokens-");
  }
  return ids;
}

json::Object VllmAnswers::head(const Running& running) const {
  if (is_generate(running)) {
    json::Object out{{"request_id", running.task.id}};
    if (!running.task.streams) {
      out = json::Object{
          {"output_mode", "tokens"}, {"request_id", running.task.id}, {"model", options_.name}, {"created", 1}};
    }
    return out;
  }
  return json::Object{{"id", running.task.id}, {"object", "text_completion"}, {"created", 1}, {"model", options_.name}};
}

void VllmAnswers::set_finish(json::Object& out, const Choice& choice, bool is_last) const {
  const Completion& completion = choice.completion;
  json::Value finish;
  json::Value stop;
  if (is_last) {
    finish = completion.stop == Stop::kLength ? "length" : completion.stop == Stop::kAbort ? "abort" : "stop";
    if (completion.stop == Stop::kStopId) stop = completion.ids.back();
    if (completion.stop == Stop::kStopText) stop = completion.stop_text;
  }
  out.set("finish_reason", finish);
  out.set("stop_reason", stop);
}

json::Value VllmAnswers::prompt_logprobs(const Task& task) const {
  if (!task.prompt_logprobs) return nullptr;
  json::Array out;
  for (const TokenId id : task.prompt) {
    json::Object entry;
    const auto add = [&](TokenId other) {
      entry.set(std::to_string(other), json::Object{{"logprob", Model::logprob_of(other)},
                                                    {"rank", entry.size() + 1},
                                                    {"decoded_token", model_.text_of(other)}});
    };
    add(id);
    for (const TokenId other : model_.best(id, *task.prompt_logprobs)) add(other);
    // Nothing comes before the first id, so the model gives it no probability.
    out.push_back(out.empty() ? json::Value() : json::Value(std::move(entry)));
  }
  return out;
}

json::Value VllmAnswers::logprobs(const Running& running, std::span<const TokenId> ids) const {
  if (!running.task.logprobs) return nullptr;
  json::Array content;
  json::Array numbers;
  json::Array texts;
  json::Array tops;
  const bool as_ids = flag_in(running.task.body, "return_tokens_as_token_ids", false);
  const auto name = [&](TokenId id) { return as_ids ? "token_id:" + std::to_string(id) : model_.text_of(id); };
  for (const TokenId id : ids) {
    json::Array best;
    json::Object top;
    for (const TokenId other : model_.best(id, *running.task.logprobs)) {
      best.emplace_back(
          json::Object{{"token_id", other}, {"logprob", Model::logprob_of(other)}, {"rank", best.size() + 1}});
      top.set(name(other), Model::logprob_of(other));
    }
    content.emplace_back(json::Object{
        {"token_id", id}, {"logprob", Model::logprob_of(id)}, {"rank", 1}, {"top_logprobs", std::move(best)}});
    numbers.emplace_back(Model::logprob_of(id));
    texts.emplace_back(name(id));
    tops.emplace_back(std::move(top));
  }
  if (is_generate(running)) return json::Object{{"content", std::move(content)}};
  return json::Object{
      {"token_logprobs", std::move(numbers)}, {"tokens", std::move(texts)}, {"top_logprobs", std::move(tops)}};
}

// Ids [from, to) of a choice, in an answer or in a chunk.
json::Value VllmAnswers::chunk(const Running& running, std::size_t choice, std::size_t from, std::size_t to) const {
  const Choice& of = running.choices[choice];
  const std::span<const TokenId> ids = std::span(of.completion.ids).subspan(from, to - from);
  json::Object out{{"index", choice}};
  if (is_generate(running)) {
    out.set("token_ids", ids_value(ids));
  } else {
    const std::string before = shown_text(model_, of.completion, from);
    out.set("text", shown_text(model_, of.completion, to).substr(before.size()));
  }
  out.set("logprobs", logprobs(running, ids));
  set_finish(out, of, to == of.completion.ids.size());
  if (!is_generate(running)) {
    out.set("token_ids", running.task.returns_ids ? ids_value(ids) : json::Value());
    const bool tells_prompt = running.task.returns_ids && from == 0;
    out.set("prompt_token_ids", tells_prompt ? ids_value(running.task.prompt) : json::Value());
    if (!running.task.streams) out.set("prompt_logprobs", prompt_logprobs(running.task));
  }
  return out;
}

json::Value VllmAnswers::usage(const Running& running) const {
  const std::size_t prompt = running.task.prompt.size();
  json::Value details;
  if (options_.prompt_tokens_details) details = json::Object{{"cached_tokens", running.cached}};
  return json::Object{{"prompt_tokens", prompt},
                      {"completion_tokens", running.sampled()},
                      {"total_tokens", prompt + running.sampled()},
                      {"prompt_tokens_details", details}};
}

std::string VllmAnswers::id_bytes(Running& running, std::size_t choice) {
  const std::size_t sent = running.choices[choice].sent;
  json::Object out = head(running);
  out.set("choices", json::Array{chunk(running, choice, sent - 1, sent)});
  // The prompt is the same for all choices and chunks, so only one chunk of the stream has its ids.
  const bool tells_prompt =
      is_generate(running) && choice == 0 && sent == 1 && flag_in(running.task.body, "return_token_ids", false);
  if (tells_prompt) out.set("prompt_token_ids", ids_value(running.task.prompt));
  return event_of(out);
}

std::string VllmAnswers::choice_end(const Running& running, std::size_t choice) {
  const Choice& of = running.choices[choice];
  if (of.completion.stop != Stop::kAbort) return "";  // the last id's chunk has it
  json::Object out = head(running);
  out.set("choices", json::Array{chunk(running, choice, of.sent, of.sent)});
  return event_of(out);
}

std::string VllmAnswers::stream_end(const Running& running) {
  std::string bytes;
  const json::Value* wanted = running.task.body.find("stream_options");
  if (wanted != nullptr && flag_in(*wanted, "include_usage", false)) {
    json::Object out = head(running);
    out.set("choices", json::Array{});
    out.set("usage", usage(running));
    bytes = event_of(out);
  }
  return bytes + "data: [DONE]\n\n";
}

json::Value VllmAnswers::whole(const Running& running) {
  json::Object out = head(running);
  json::Array choices;
  for (std::size_t i = 0; i < running.choices.size(); ++i) {
    choices.push_back(chunk(running, i, 0, running.choices[i].completion.ids.size()));
  }
  out.set("choices", std::move(choices));
  out.set("usage", usage(running));
  if (is_generate(running)) {
    out.set("prompt_token_ids", ids_value(running.task.prompt));
    out.set("prompt_logprobs", prompt_logprobs(running.task));
    out.set("kv_transfer_params", nullptr);
  }
  return out;
}

net::Reply VllmAnswers::error(int status, const std::string& sentence) const {
  return error_reply(status, sentence, status == 400 ? "BadRequestError" : "InternalServerError", nullptr);
}

}  // namespace

std::unique_ptr<DialectAnswers> vllm_answers(const EngineOptions& options, const Model& model) {
  return std::make_unique<VllmAnswers>(options, model);
}

}  // namespace rondo::fakes
