// A conversation with a model on the embedded engine.  Every next prompt is a bridge: the ids so far stay as they are,
// and the session appends only the new turn.
//
//   rondo::Chat chat;
//   chat.messages = R"([{"role": "user", "content": "Hello"}])";
//   auto session = rondo::Session::start("model.gguf", chat, {});
//   rondo::Turn turn = session.value().step({}).value();             // what the model says
//   if (!session.value().add(R"([{"role": "user", "content": "And then?"}])").ok()) return;
//
// Not thread-safe; different sessions may live in different threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/model.h"
#include "rondo/result.h"

namespace rondo {

struct SessionOptions {
  std::string template_path;  // replaces the model's own template; "" for none
  // "auto" supplies what the template lacks, "on" supplies all of it, "" or "off" supplies nothing
  std::string polyfill;
  std::size_t context_tokens = 0;  // 0: the context that the model was trained for, within reason
  int threads = 1;
};

struct StepOptions {
  std::size_t max_tokens = 512;
  float temperature = 0.0F;  // 0: greedy
  std::size_t top_k = 0;     // 0: no limit
  float top_p = 1.0F;
  std::uint64_t seed = 0;
};

// One turn of the model.
struct Turn {
  Parsed message;
  std::vector<std::int32_t> ids;  // as sampled, stop token included
  std::string stop;               // why it ended: "stop", "length", "constraint", "context_full", "cancelled"
  std::size_t prompt_tokens = 0;
  std::size_t reused_tokens = 0;     // how many ids of the prompt the engine had already decoded
  std::size_t prefilled_tokens = 0;  // how many ids of the prompt the engine decoded for this turn
};

class Session {
 public:
  // Loads `model` (a .gguf file) and tokenizes the first prompt.  Fails as Model::load and Model::encode do, with
  // kEngine, or with kUnsupported in a build without an engine.
  [[nodiscard]] static Result<Session> start(const std::string& model, const Chat& chat, const SessionOptions& options);
  ~Session();
  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;

  // Samples the model's next turn.  Fails with kInvalidArgument if the last turn is already the model's.
  [[nodiscard]] Result<Turn> step(const StepOptions& options);

  // Appends what follows the model's turn.  `new_messages` is a JSON array without assistant messages.
  [[nodiscard]] Status add(const std::string& new_messages);

  // Returns every id so far.
  [[nodiscard]] std::vector<std::int32_t> ids() const;

 private:
  struct State;
  explicit Session(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rondo
