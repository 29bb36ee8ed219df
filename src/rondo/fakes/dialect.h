// The differences between the three fake servers: routes, and the forms of requests and answers.  Only for the sources
// of fakes/.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "fakes/engine_server.h"
#include "fakes/memory.h"
#include "fakes/model.h"
#include "json/value.h"
#include "net/server.h"

namespace rondo::fakes {

// A request for ids, independent of a dialect.
struct Task {
  std::string path;
  json::Value body;
  Ids prompt;
  Asked asked;
  std::size_t choices = 1;
  bool streams = false;
  bool uses_cache = true;
  bool returns_ids = true;
  std::optional<std::size_t> logprobs;         // for the sampled id and this many best ids
  std::optional<std::size_t> prompt_logprobs;  // the same for the ids of the prompt
  std::optional<std::size_t> slot;
  std::string salt;
  std::string id;
  Fault fault{};  // the fault that it should have
};

struct Choice {
  Completion completion;
  std::size_t sent = 0;  // how many ids were sampled so far
  std::string held;      // llama-server: text that ends inside a character
  [[nodiscard]] bool is_done() const { return sent == completion.ids.size(); }
};

struct Running {
  Task task;
  std::size_t cached = 0;
  std::size_t slot = 0;
  std::vector<Choice> choices;
  [[nodiscard]] std::size_t sampled() const;
};

class DialectAnswers {
 public:
  DialectAnswers(const EngineOptions& options, const Model& model) : options_(options), model_(model) {}
  virtual ~DialectAnswers() = default;

  // Returns a request for ids, or the answer if `request` is something else.
  [[nodiscard]] virtual std::variant<Task, net::Reply> read(const net::ServerRequest& request,
                                                            const json::Value& body) = 0;
  // Returns the ids of requests that a POST to this path wants to abort; nullopt for another path.
  [[nodiscard]] virtual std::optional<std::vector<std::string>> aborts(std::string_view /*path*/,
                                                                       const json::Value& /*body*/) {
    return std::nullopt;
  }
  [[nodiscard]] virtual bool flushes(std::string_view /*path*/) { return false; }

  // Return bytes of a stream: for the id of `choice` at `sent - 1`; at the end of the choice; at the end of all
  // choices.
  [[nodiscard]] virtual std::string id_bytes(Running& running, std::size_t choice) = 0;
  [[nodiscard]] virtual std::string choice_end(const Running& running, std::size_t choice) = 0;
  [[nodiscard]] virtual std::string stream_end(const Running& running) = 0;
  // For answers that are not streamed.
  [[nodiscard]] virtual json::Value whole(const Running& running) = 0;
  [[nodiscard]] virtual net::Reply error(int status, const std::string& sentence) const = 0;

 protected:
  const EngineOptions& options_;
  const Model& model_;
};

[[nodiscard]] std::unique_ptr<DialectAnswers> vllm_answers(const EngineOptions& options, const Model& model);
[[nodiscard]] std::unique_ptr<DialectAnswers> sglang_answers(const EngineOptions& options, const Model& model);
[[nodiscard]] std::unique_ptr<DialectAnswers> llama_server_answers(const EngineOptions& options, const Model& model,
                                                                   const SlotMemory& slots);

// --- Helpers of all three ---

[[nodiscard]] net::Reply json_reply(int status, const json::Value& value);
// Returns "data: ..." and an empty line.
[[nodiscard]] std::string event_of(const json::Value& value);
[[nodiscard]] json::Value ids_value(std::span<const TokenId> ids);
// Returns the ids in an array; nullopt for anything else, and for negative numbers.
[[nodiscard]] std::optional<Ids> ids_in(const json::Value* value);
// Returns a field, or `otherwise` if it is absent, null or of another type.
[[nodiscard]] std::int64_t integer_in(const json::Value& object, std::string_view key, std::int64_t otherwise);
[[nodiscard]] bool flag_in(const json::Value& object, std::string_view key, bool otherwise);
[[nodiscard]] std::vector<std::string> texts_in(const json::Value* value);  // one text, or an array of texts
// Reads the ids that `logit_bias` excludes: by -100 or less in an object, by `false` in pairs.
void read_bias(const json::Value& object, Asked& asked);
[[nodiscard]] std::optional<std::uint64_t> seed_in(const json::Value& object, std::string_view key);
// Returns the text up to the text that stopped it.
[[nodiscard]] std::string shown_text(const Model& model, const Completion& completion, std::size_t sent);

}  // namespace rondo::fakes
