// Session: one growing rollout.  Prompt, sample, read what was sampled, append what follows, prompt again.
//
//   auto session = Session::start(rollout_model, engine, messages, {});
//   auto turn = session.value().step(generate_options);        // the model's turn
//   session.value().add(tool_results);                         // the next prompt: all ids so far + the new turn
//
// A render::Rollout with an engine that samples for it.  Beside it the session can keep account of what a re-render of the
// visible messages would have cost (SessionOptions::compare).
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
  bool compare = false;  // also render the visible messages again before each turn
};

// The first token at which a re-render differs from what the engine has seen.
struct Break {
  std::size_t kept_tokens = 0;  // length of the common prefix
  std::string kept;             // what the engine holds from there on (a few tokens)
  std::string rerendered;       // what the template writes now
  std::string place;            // origin of the re-rendered text: "messages[1].content", "template line 39"
  causes::Cause cause;
};

// The prompt that a client without the ids would have sent: all visible messages, rendered and tokenized.
struct Rerender {
  std::vector<TokenId> ids;
  std::size_t reusable = 0;     // how many of its first ids the engine has seen
  std::optional<Break> broken;  // the first place where it differs from what the engine has seen; nullopt: nowhere
};

// One turn of the model.
struct Turn {
  std::size_t prompt_tokens = 0;
  engine::PromptReport prompt;    // what of it was reused
  std::size_t sampled_begin = 0;  // the sampled ids: ids()[sampled_begin .. sampled_end)
  std::size_t sampled_end = 0;
  engine::StopReason stop = engine::StopReason::kLength;
  bool truncated = false;   // ended without one of the model's stop tokens
  std::size_t message = 0;  // index of the turn's message in messages(), once something was added behind it
  chat::AssistantMessage said;
  std::vector<std::string> notes;  // of the bridge that made this turn's prompt
  std::vector<render::LossyFinding>
      lossy;                         // of that bridge, at the completion's end; Rollout::find_lossy() has the rest
  std::optional<Rerender> rerender;  // of this turn's prompt; nullopt for the first, or without `compare`

  [[nodiscard]] std::size_t generated() const { return sampled_end - sampled_begin; }
};

class Session {
 public:
  // Renders and tokenizes the first prompt.  `engine` must outlive the session.  Fails as the template does.
  [[nodiscard]] static Result<Session> start(std::shared_ptr<const render::RolloutModel> model, engine::Engine& engine,
                                             json::Array messages, const SessionOptions& options);

  // The model's next turn.  Without stop ids in `generate` the model's own are used.  Fails with kInvalidArgument if
  // the model has just spoken, or as the engine does.
  [[nodiscard]] Result<Turn> step(engine::GenerateOptions generate);

  // What follows the model's turn: user messages, tool results.  Fails as Rollout::extend(); the session is unchanged then.
  [[nodiscard]] Status add(json::Array new_messages);

  // Every id so far: the prompt of the next step, or, behind a step, that prompt and what was sampled.
  [[nodiscard]] std::span<const TokenId> ids() const { return rollout_.ids(); }
  // The visible conversation, as a client would keep it.  A turn's own message joins it with the next add().
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
  // What the next turn's record takes over.
  std::vector<std::string> notes_;
  std::vector<render::LossyFinding> lossy_;
  std::optional<Rerender> rerender_;
  std::optional<Break> broken_;  // where the last re-render broke
};

}  // namespace rondo::session
