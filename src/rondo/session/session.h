// Session: one growing rollout with an engine.  It prompts, samples, reads the completion, appends what follows, and
// prompts again.
//
//   auto session = Session::start(rollout_model, engine, messages, {});
//   auto turn = session.value().step(generate_options);        // the model's turn
//   session.value().add(tool_results);                         // the next prompt: all ids so far + the new turn
//
// A session is a render::Rollout whose turns an engine samples.  It can also record what a re-render of the visible
// messages would have cost (SessionOptions::compare).
// Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "causes/cause.h"
#include "engine/engine.h"
#include "render/rollout.h"
#include "rondo/result.h"

namespace rondo::session {

using tokenizer::TokenId;

struct SessionOptions {
  bool compare = false;  // also render the visible messages before each turn
};

// The first token at which a re-render differs from what the engine has seen.
struct Break {
  std::size_t kept_tokens = 0;  // length of the common prefix
  std::string kept;             // what the engine has from there on (a few tokens)
  std::string rerendered;       // what the template writes now
  std::string place;            // origin of the re-rendered text: "messages[1].content", "template line 39"
  causes::Cause cause;
};

// The prompt that a client without the ids would have sent: all visible messages, rendered and tokenized.
struct Rerender {
  std::vector<TokenId> ids;
  std::size_t reusable = 0;     // how many of its first ids the engine has seen
  std::optional<Break> broken;  // the first difference from what the engine has seen; nullopt: there is none
};

// One turn of the model.
struct Turn {
  std::size_t prompt_tokens = 0;
  engine::PromptReport prompt;    // how much of it was reused
  std::size_t sampled_begin = 0;  // the sampled ids: ids()[sampled_begin .. sampled_end)
  std::size_t sampled_end = 0;
  engine::StopReason stop = engine::StopReason::kLength;
  bool truncated = false;   // whether it ended without a stop token of the model
  std::size_t message = 0;  // index in messages() of the turn's message, once something was added after it
  chat::AssistantMessage said;
  std::vector<std::string> notes;  // notes of the bridge that made this turn's prompt
  std::vector<render::LossyFinding>
      lossy;  // findings of that bridge about the completion's end; Rollout::find_lossy() finds the rest
  std::optional<Rerender> rerender;  // for this turn's prompt; nullopt for the first turn, or without `compare`

  [[nodiscard]] std::size_t generated() const { return sampled_end - sampled_begin; }
};

class Session {
 public:
  // Renders and tokenizes the first prompt.  `engine` must outlive the session.  Fails as the template does.
  [[nodiscard]] static Result<Session> start(std::shared_ptr<const render::RolloutModel> model, engine::Engine& engine,
                                             json::Array messages, const SessionOptions& options);

  // Samples the model's next turn.  Without stop ids in `generate`, the model's own are used.  Fails with
  // kInvalidArgument if the last turn is already the model's; otherwise fails as the engine does.
  [[nodiscard]] Result<Turn> step(engine::GenerateOptions generate);

  // Appends what follows the model's turn: user messages, tool results.  Fails as Rollout::extend() does; the session
  // is then unchanged.
  [[nodiscard]] Status add(json::Array new_messages);

  // Returns every id so far: the prompt of the next step, or, after a step, that prompt and what was sampled.
  [[nodiscard]] std::span<const TokenId> ids() const { return rollout_.ids(); }
  // Returns the visible conversation, as a client would keep it.  A turn's own message is added by the next add().
  [[nodiscard]] const json::Array& messages() const { return rollout_.messages(); }
  [[nodiscard]] const std::vector<Turn>& turns() const { return turns_; }
  [[nodiscard]] const render::Rollout& rollout() const { return rollout_; }

 private:
  Session(render::Rollout rollout, engine::Engine& engine, const SessionOptions& options)
      : rollout_(std::move(rollout)), engine_(&engine), options_(options) {}
  void compare_with_rerender(std::size_t known, std::size_t new_messages);
  [[nodiscard]] Result<Rerender> render_again(std::size_t known, std::size_t new_messages);
  [[nodiscard]] Break find_break(std::span<const TokenId> seen, std::size_t kept, const jinja::Rendered& again,
                                 std::span<const tokenizer::Piece> pieces, std::size_t new_messages) const;

  render::Rollout rollout_;
  engine::Engine* engine_;
  SessionOptions options_;
  std::vector<Turn> turns_;
  // For the record of the next turn.
  std::vector<std::string> notes_;
  std::vector<render::LossyFinding> lossy_;
  std::optional<Rerender> rerender_;
  std::optional<Break> broken_;  // where the last re-render broke
};

}  // namespace rondo::session
