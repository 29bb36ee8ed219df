#include <algorithm>
#include <utility>

#include "base/utf8.h"
#include "fakes/dialect.h"

namespace rondo::fakes {
namespace {

class LlamaServerAnswers final : public DialectAnswers {
 public:
  LlamaServerAnswers(const EngineOptions& options, const Model& model, const SlotMemory& slots)
      : DialectAnswers(options, model), slots_(slots) {}

  std::variant<Task, net::Reply> read(const net::ServerRequest& request, const json::Value& body) override;
  std::string id_bytes(Running& running, std::size_t choice) override;
  std::string choice_end(const Running& running, std::size_t choice) override;
  std::string stream_end(const Running& /*running*/) override { return ""; }
  json::Value whole(const Running& running) override;
  net::Reply error(int status, const std::string& sentence) const override;

 private:
  [[nodiscard]] std::variant<Task, net::Reply> read_completion(const json::Value& body) const;
  [[nodiscard]] net::Reply about(const net::ServerRequest& request, const json::Value& body) const;
  [[nodiscard]] json::Object props() const;
  [[nodiscard]] json::Value slots() const;
  [[nodiscard]] json::Object final_part(const Running& running) const;
  [[nodiscard]] json::Value probabilities(const Running& running, std::span<const TokenId> ids) const;

  const SlotMemory& slots_;
};

net::Reply server_error(int status, const std::string& sentence, const std::string& type) {
  return json_reply(status,
                    json::Object{{"error", json::Object{{"code", status}, {"message", sentence}, {"type", type}}}});
}

std::variant<Task, net::Reply> LlamaServerAnswers::read(const net::ServerRequest& request, const json::Value& body) {
  if (request.method == "POST" && (request.path == "/completion" || request.path == "/completions")) {
    return read_completion(body);
  }
  return about(request, body);
}

std::variant<Task, net::Reply> LlamaServerAnswers::read_completion(const json::Value& body) const {
  Task task;
  task.body = body;
  task.path = "/completion";
  const json::Value* prompt = body.find("prompt");
  if (prompt != nullptr && prompt->is_string()) {
    task.prompt = Model::ids_of(prompt->as_string());
  } else if (auto ids = ids_in(prompt)) {
    task.prompt = std::move(*ids);
  } else {
    return server_error(400, "\"prompt\" must be a string, an array of ids, or both mixed", "invalid_request_error");
  }
  if (task.prompt.empty()) return server_error(400, "the prompt is empty", "invalid_request_error");
  if (task.prompt.size() >= options_.context_tokens) {
    return json_reply(400, json::Object{{"error", json::Object{{"code", 400},
                                                               {"message",
                                                                "the request exceeds the available context size, try "
                                                                "increasing it"},
                                                               {"type", "exceed_context_size_error"},
                                                               {"n_prompt_tokens", task.prompt.size()},
                                                               {"n_ctx", options_.context_tokens}}}});
  }
  const std::int64_t wanted = integer_in(body, "n_predict", -1);
  const std::size_t room = options_.context_tokens - task.prompt.size();
  // The server looks at the limit only after it has sampled an id, so it always samples one.
  task.asked.max_tokens =
      wanted < 0 ? room : std::min(room, static_cast<std::size_t>(std::max<std::int64_t>(1, wanted)));
  // There are no stop ids: only the vocabulary's own end tokens, and texts.
  task.asked.stops = texts_in(body.find("stop"));
  task.asked.ignore_end = flag_in(body, "ignore_eos", false);
  task.asked.seed = seed_in(body, "seed");
  read_bias(body, task.asked);
  task.streams = flag_in(body, "stream", false);
  task.uses_cache = flag_in(body, "cache_prompt", true);
  task.returns_ids = flag_in(body, "return_tokens", false);
  const std::int64_t slot = integer_in(body, "id_slot", -1);
  if (slot >= static_cast<std::int64_t>(slots_.size())) {
    return server_error(400, "there is no slot " + std::to_string(slot), "invalid_request_error");
  }
  if (slot >= 0) task.slot = static_cast<std::size_t>(slot);
  const std::int64_t probabilities = integer_in(body, "n_probs", 0);
  if (probabilities > 0) task.logprobs = static_cast<std::size_t>(probabilities);
  return task;
}

json::Object LlamaServerAnswers::props() const {
  return json::Object{{"default_generation_settings",
                       json::Object{{"id", 0}, {"n_ctx", options_.context_tokens}, {"speculative", false}}},
                      {"total_slots", slots_.size()},
                      {"model_path", options_.name},
                      {"chat_template", ""},
                      {"build_info", "b11434-fake"}};
}

json::Value LlamaServerAnswers::slots() const {
  json::Array all;
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    all.emplace_back(json::Object{{"id", i}, {"n_ctx", options_.context_tokens}, {"is_processing", slots_.is_busy(i)}});
  }
  return all;
}

net::Reply LlamaServerAnswers::about(const net::ServerRequest& request, const json::Value& body) const {
  if (request.path == "/health") return json_reply(200, json::Object{{"status", "ok"}});
  if (request.path == "/props") return json_reply(200, props());
  if (request.path == "/slots") return json_reply(200, slots());
  if (request.path == "/v1/models") {
    const json::Object meta{{"n_vocab", model_.options().vocabulary}, {"n_ctx_train", options_.context_tokens}};
    const json::Object model{
        {"id", options_.name}, {"object", "model"}, {"created", 1}, {"owned_by", "llamacpp"}, {"meta", meta}};
    return json_reply(200, json::Object{{"object", "list"}, {"data", json::Array{model}}});
  }
  if (request.method == "POST" && request.path == "/tokenize") {
    return json_reply(200,
                      json::Object{{"tokens", ids_value(Model::ids_of(body.find_string("content").value_or("")))}});
  }
  if (request.method == "POST" && request.path == "/detokenize") {
    return json_reply(200, json::Object{{"content", model_.text_of(ids_in(body.find("tokens")).value_or(Ids{}))}});
  }
  return server_error(404, "File Not Found", "not_found_error");
}

json::Value LlamaServerAnswers::probabilities(const Running& running, std::span<const TokenId> ids) const {
  json::Array all;
  const auto entry = [&](TokenId id) {
    const std::string text = model_.text_of(id);
    return json::Object{
        {"id", id}, {"token", text}, {"bytes", ids_value(Model::ids_of(text))}, {"logprob", Model::logprob_of(id)}};
  };
  for (const TokenId id : ids) {
    json::Array best;
    for (const TokenId other : model_.best(id, *running.task.logprobs)) best.emplace_back(entry(other));
    json::Object of = entry(id);
    of.set("top_logprobs", std::move(best));
    all.emplace_back(std::move(of));
  }
  return all;
}

// While the text ends inside a character, nothing is sent.  Of that text's ids, only the last is ever sent.
std::string LlamaServerAnswers::id_bytes(Running& running, std::size_t choice) {
  Choice& of = running.choices[choice];
  const TokenId id = of.completion.ids[of.sent - 1];
  of.held += model_.text_of(id);
  if (utf8::complete_prefix(of.held) != of.held.size()) return "";
  std::string text = std::exchange(of.held, {});
  if (of.completion.stop == Stop::kStopText && of.is_done()) text.clear();
  json::Object out{{"index", 0},
                   {"content", std::move(text)},
                   {"tokens", ids_value({&id, 1})},
                   {"stop", false},
                   {"id_slot", running.slot},
                   {"tokens_predicted", of.sent},
                   {"tokens_evaluated", running.task.prompt.size()}};
  if (running.task.logprobs) out.set("completion_probabilities", probabilities(running, {&id, 1}));
  return event_of(out);
}

json::Object LlamaServerAnswers::final_part(const Running& running) const {
  const Choice& of = running.choices[0];
  const std::size_t prompt = running.task.prompt.size();
  std::string stop_type = "none";
  switch (of.completion.stop) {
    case Stop::kEnd:
    case Stop::kStopId: stop_type = "eos"; break;
    case Stop::kStopText: stop_type = "word"; break;
    case Stop::kLength: stop_type = "limit"; break;
    case Stop::kAbort: break;
  }
  const bool is_full = of.completion.stop == Stop::kLength && prompt + of.sent >= options_.context_tokens;
  return json::Object{{"id_slot", running.slot},
                      {"stop", true},
                      {"model", options_.name},
                      {"tokens_predicted", of.sent},
                      {"tokens_evaluated", prompt},
                      {"generation_settings", json::Object{}},
                      {"prompt", model_.text_of(running.task.prompt)},
                      {"has_new_line", false},
                      {"truncated", is_full},
                      {"stop_type", stop_type},
                      {"stopping_word", of.completion.stop_text},
                      // This is what the slot holds now, not what was reused.
                      {"tokens_cached", prompt + of.sent - std::min<std::size_t>(of.sent, 1)},
                      {"timings", json::Object{{"cache_n", running.cached},
                                               {"prompt_n", prompt - running.cached},
                                               {"prompt_ms", 1.0},
                                               {"predicted_n", of.sent},
                                               {"predicted_ms", 1.0}}}};
}

std::string LlamaServerAnswers::choice_end(const Running& running, std::size_t /*choice*/) {
  json::Object out{{"index", 0}, {"content", ""}, {"tokens", json::Array{}}};
  for (const json::Member& member : final_part(running)) out.set(member.key, member.value);
  return event_of(out);
}

json::Value LlamaServerAnswers::whole(const Running& running) {
  const Choice& of = running.choices[0];
  json::Object out{{"index", 0},
                   {"content", shown_text(model_, of.completion, of.sent)},
                   {"tokens", running.task.returns_ids ? ids_value(of.completion.ids) : json::Value(json::Array{})}};
  for (const json::Member& member : final_part(running)) out.set(member.key, member.value);
  if (running.task.logprobs) out.set("completion_probabilities", probabilities(running, of.completion.ids));
  return out;
}

net::Reply LlamaServerAnswers::error(int status, const std::string& sentence) const {
  return server_error(status, sentence,
                      status == 503   ? "unavailable_error"
                      : status == 400 ? "invalid_request_error"
                                      : "server_error");
}

}  // namespace

std::unique_ptr<DialectAnswers> llama_server_answers(const EngineOptions& options, const Model& model,
                                                     const SlotMemory& slots) {
  return std::make_unique<LlamaServerAnswers>(options, model, slots);
}

}  // namespace rondo::fakes
