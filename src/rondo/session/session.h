// Session: one growing rollout.  Prompt, sample, read what was sampled, append what follows, prompt again.
//
//   auto session = Session::start({*chat_template, *tokenizer, *engine}, conversation, options);
//   auto turn = session.value()->step(generate_options);       // the model's turn
//   session.value()->add(tool_results);                        // the next prompt: all ids so far + the new turn
//
// The ids are the truth: nothing that was prompted or sampled is ever tokenized again.  Beside it the session can keep
// account of what a re-render of the visible messages would have cost (SessionOptions::compare).
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chat/conversation.h"
#include "engine/engine.h"
#include "render/bridge.h"
#include "render/explain.h"
#include "render/stop.h"
#include "rondo/result.h"
#include "template/chat_template.h"
#include "tokenizer/tokenizer.h"

namespace rondo::session {

using tokenizer::TokenId;

// What a completion says; given the prompt before it, whose end may have opened a block.
using Interpreter = std::function<Result<render::ParsedCompletion>(std::span<const TokenId> prompt,
                                                                   std::span<const TokenId> completion)>;

// What a session works with.  All of it must outlive the session.
struct Parts {
  const jinja::Template& chat_template;
  const tokenizer::Tokenizer& tokenizer;
  engine::Engine& engine;
};

struct SessionOptions {
  tmpl::ApplyOptions apply;
  render::ContentSpecials specials = render::ContentSpecials::kText;
  Interpreter interpret;  // REQUIRES: set
  bool compare = false;   // also render the visible messages again before each turn
};

// The prompt that a client without the ids would have sent: all visible messages, rendered and tokenized.
struct Rerender {
  std::vector<TokenId> ids;
  std::size_t reusable = 0;  // how many of its first ids the engine has seen
  std::optional<render::Break>
      broken;  // the first place where it differs from what the engine has seen; nullopt: nowhere
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
  std::vector<render::LossyFinding> lossy;
  std::optional<Rerender> rerender;  // of this turn's prompt; nullopt for the first, or without `compare`

  [[nodiscard]] std::size_t generated() const { return sampled_end - sampled_begin; }
};

class Session {
 public:
  // Renders and tokenizes the first prompt.  `conversation` brings messages, tools, documents and kwargs; its
  // add_generation_prompt is taken as true.  Fails as the template does.
  [[nodiscard]] static Result<std::unique_ptr<Session>> start(const Parts& parts, chat::Conversation conversation,
                                                              SessionOptions options);
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // The model's next turn.  Without stop ids in `generate` the model's own are used.  Fails with kInvalidArgument if
  // the model has just spoken, or as the engine and the interpreter do.
  [[nodiscard]] Result<Turn> step(engine::GenerateOptions generate);

  // What follows the model's turn: user messages, tool results.  Fails as render::bridge does, and with
  // kInvalidArgument if the model has not spoken; the session is unchanged then.
  [[nodiscard]] Status add(json::Array new_messages);

  // Every id so far: the prompt of the next step, or, behind a step, that prompt and what was sampled.
  [[nodiscard]] std::span<const TokenId> ids() const { return ids_; }
  // The visible conversation, as a client would keep it.  A turn's own message joins it with the next add().
  [[nodiscard]] const json::Array& messages() const { return messages_; }
  [[nodiscard]] const std::vector<Turn>& turns() const { return turns_; }
  [[nodiscard]] const render::TurnProfile& profile() const { return profile_; }

 private:
  Session(const Parts& parts, chat::Conversation conversation, SessionOptions options);
  [[nodiscard]] Result<Rerender> render_again(std::size_t known);

  Parts parts_;
  chat::Conversation base_;
  SessionOptions options_;
  render::TurnContext context_;
  render::TurnProfile profile_;
  std::vector<TokenId> ids_;
  json::Array messages_;
  std::vector<Turn> turns_;
  std::size_t prompt_size_ = 0;             // ids_[0 .. prompt_size_) is the last prompt
  bool spoken_ = false;                     // the last prompt has been answered
  render::ParsedCompletion last_;           // that answer
  std::optional<render::Bridged> bridged_;  // what the next turn's record takes over
  std::optional<Rerender> rerender_;
  std::optional<jinja::Rendered> before_;  // the visible messages without what was added last
  std::optional<render::Break> broken_;    // where the last re-render broke
};

}  // namespace rondo::session
