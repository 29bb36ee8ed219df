// What the three servers call things: a request as the JSON that a server takes, and what its answers say, event by
// event.
//
// Nothing here knows of connections.  A dialect has no state; what an answer's events need of those before them is in
// its Reading.
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

// What an event says of one choice.
struct Part {
  std::size_t choice = 0;
  std::vector<engine::SampledToken> tokens;  // that are new
  // Ids that were sampled in front of `tokens` and are not told, and the text of both, where the server says so.
  std::size_t missing = 0;
  std::string text;
  // Of the last event of a choice.
  std::string finish;  // in the server's own words
  std::optional<engine::StopReason> stop;
  std::optional<engine::TokenId> stop_id;  // that ended it, where the server names one
  std::optional<std::size_t> sampled;      // how many ids the choice has, as the server counted
};

// What an event says.
struct Event {
  std::vector<Part> parts;
  std::optional<std::size_t> prompt_tokens;
  std::optional<std::size_t> completion_tokens;  // of all choices
  std::optional<std::size_t> cached_tokens;
  std::optional<Error> error;
  bool is_last = false;  // nothing follows
};

// What the events of an answer before this one have told, by choice.
struct Reading {
  struct Choice {
    std::string ids_text;      // the array of ids as last written, without its closing bracket
    std::size_t ids = 0;       // told
    std::size_t logprobs = 0;  // told
    std::size_t counted = 0;   // as the server counted
    bool is_cumulative = false;
    bool is_delta = false;
  };
  std::vector<Choice> choices;
  // REQUIRES: below kMostChoices.
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

  // The body of a streamed request for `choices` of its choices.  `id`: under which it can be aborted.  Fails with
  // kInvalidArgument for what this server has no word for.
  [[nodiscard]] virtual Result<std::string> body(const engine::Request& request, std::size_t choices,
                                                 std::uint64_t seed, const std::string& id) const = 0;
  // What the data of an event says.  Fails with kEngine for what is no answer of such a server.
  [[nodiscard]] virtual Result<Event> read(std::string_view data, Reading& reading) const = 0;
  // What an answer with another status than 200 says: kLimit where the context is too short, kInvalidArgument where the
  // request is at fault, else kEngine.
  [[nodiscard]] Error refusal(int status, std::string_view body, const engine::Request& request) const;
  // Whether one request can have several choices, each with a seed of its own.
  [[nodiscard]] virtual bool takes_choices(const engine::Request& request) const = 0;
  // Whether it ends at the stop ids of a request.
  [[nodiscard]] virtual bool knows_stop_ids() const { return true; }
  // The path and body of a request that ends another one, where closing its connection may not do; "" where it does.
  [[nodiscard]] virtual std::string abort_path() const { return ""; }
  [[nodiscard]] virtual std::string abort_body(const std::string& id) const { return id; }

 private:
  ServerInfo info_;
};

[[nodiscard]] std::unique_ptr<Dialect> make_dialect(ServerInfo info);

// The three, for make_dialect() and tests.
[[nodiscard]] std::unique_ptr<Dialect> make_vllm(ServerInfo info);
[[nodiscard]] std::unique_ptr<Dialect> make_sglang(ServerInfo info);
[[nodiscard]] std::unique_ptr<Dialect> make_llama_server(ServerInfo info);

}  // namespace rondo::remote
