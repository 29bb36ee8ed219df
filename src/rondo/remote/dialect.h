// The languages of the three servers: a request as the JSON that a server takes, and the content of its answers, event
// by event.
//
// This code knows nothing about connections.  A dialect has no state; a Reading holds what the events of an answer need
// from earlier events.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/serving.h"
#include "remote/server_info.h"
#include "rondo/result.h"

namespace rondo::remote {

inline constexpr std::uint64_t kMostSeed = 0x7fff'ffff'ffff'ffff;  // servers read it as a signed number
inline constexpr std::size_t kMostChoices = 128;

// Returns how many tokens to ask a server for.  vLLM refuses 0, and llama-server then samples one anyway; the caller
// leaves out what is too much.
[[nodiscard]] inline std::size_t asked_tokens(const engine::Request& request) {
  return request.max_tokens == 0 ? 1 : request.max_tokens;
}

// What an event says about one choice.
struct Part {
  std::size_t choice = 0;
  std::vector<engine::SampledToken> tokens;  // the new ones
  // How many ids were sampled before `tokens` and not reported; and the text of all of them, if the server gives it.
  std::size_t missing = 0;
  std::string text;
  // Set in the last event of a choice.
  std::string finish;  // in the server's own words
  std::optional<engine::StopReason> stop;
  std::optional<engine::TokenId> stop_id;  // the id that ended it, if the server names one
  std::optional<std::size_t> sampled;      // how many ids the choice has, as the server counted
};

// The content of an event.
struct Event {
  std::vector<Part> parts;
  std::optional<std::size_t> prompt_tokens;
  std::optional<std::size_t> completion_tokens;  // of all choices
  std::optional<std::size_t> cached_tokens;
  std::optional<Error> error;
  bool is_last = false;  // nothing follows
};

// What earlier events of an answer have reported, for each choice.
struct Reading {
  struct Choice {
    std::string ids_text;      // the array of ids as last written, without its closing bracket
    std::size_t ids = 0;       // how many were reported
    std::size_t logprobs = 0;  // how many were reported
    std::size_t counted = 0;   // as the server counted
    bool is_cumulative = false;
    bool is_delta = false;
  };
  std::vector<Choice> choices;
  // REQUIRES: choice < kMostChoices.
  Choice& of(std::size_t choice) {
    if (choices.size() <= choice) choices.resize(choice + 1);
    return choices[choice];
  }
};

class Dialect {
 public:
  explicit Dialect(ServerInfo info) : info_(std::move(info)) {}
  virtual ~Dialect() = default;
  [[nodiscard]] const ServerInfo& info() const { return info_; }

  // Returns the body of a streamed request for `choices` of its choices.  `id` is the name under which it can be
  // aborted.  Fails with kInvalidArgument for what this server cannot express.
  [[nodiscard]] virtual Result<std::string> body(const engine::Request& request, std::size_t choices,
                                                 std::uint64_t seed, const std::string& id) const = 0;
  // Reads the data of an event.  Fails with kEngine if it is not an answer of such a server.
  [[nodiscard]] virtual Result<Event> read(std::string_view data, Reading& reading) const = 0;
  // Returns the body of a request that is not streamed, and whose answer has log probabilities of the prompt.  Fails
  // with kInvalidArgument if such a server tells none.
  [[nodiscard]] virtual Result<std::string> score_body(const engine::Request& request, const std::string& id) const;
  // Reads such an answer: one entry for each id of the prompt.  Fails with kEngine if the answer has no such list.
  [[nodiscard]] virtual Result<std::vector<engine::SampledToken>> read_scores(const json::Value& answer,
                                                                              const engine::Request& request) const;
  // Returns the error of an answer with another status than 200: kLimit if the context is too short, kInvalidArgument
  // if the request is at fault, otherwise kEngine.
  [[nodiscard]] Error refusal(int status, std::string_view body, const engine::Request& request) const;
  // Returns whether one request can have several choices, each with its own seed.
  [[nodiscard]] virtual bool takes_choices(const engine::Request& request) const = 0;
  // Returns whether the server ends at the stop ids of a request.
  [[nodiscard]] virtual bool knows_stop_ids() const { return true; }
  // Returns the path and body of a request that aborts another one, if closing its connection may not be enough; "" if
  // it is enough.
  [[nodiscard]] virtual std::string abort_path() const { return ""; }
  [[nodiscard]] virtual std::string abort_body(const std::string& id) const { return id; }

 private:
  ServerInfo info_;
};

[[nodiscard]] std::unique_ptr<Dialect> make_dialect(ServerInfo info);

}  // namespace rondo::remote
