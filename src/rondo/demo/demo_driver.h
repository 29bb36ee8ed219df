// Runs a scripted conversation on an engine: the parts that the demonstrations share.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "demo/demo_parts.h"
#include "demo/demo_script.h"
#include "engine/engine.h"
#include "session/session.h"

namespace rondo::demo {

// Returns the conversation up to the model's first turn; `user_note` is added after the first user message.
[[nodiscard]] chat::Conversation opening(const DemoData& data, const std::vector<DemoStep>& steps,
                                         const json::Object& kwargs, const std::string& user_note = "");

// What a conversation is played with.  The engine is borrowed.
struct Stage {
  std::shared_ptr<const jinja::Template> chat_template;
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  engine::Engine& engine;
};

// A session whose conversation follows the steps of a script.
class Driver {
 public:
  // `steps` must outlive the driver.
  [[nodiscard]] static Result<Driver> start(const Stage& stage, const chat::Conversation& conversation,
                                            const std::vector<DemoStep>& steps,
                                            const session::SessionOptions& options = {.compare = true});

  // Adds what precedes turn `index`, counts a broken prefix, and makes the script of the turn.
  [[nodiscard]] Status prepare(std::size_t index);

  [[nodiscard]] Script& script() { return *script_; }
  [[nodiscard]] session::Session& session() { return session_; }
  [[nodiscard]] std::size_t bridge_breaks() const { return bridge_breaks_; }

 private:
  Driver(session::Session session, const std::vector<DemoStep>& steps) : session_(std::move(session)), steps_(&steps) {}

  session::Session session_;
  const std::vector<DemoStep>* steps_;
  std::optional<Script> script_;
  std::size_t bridge_breaks_ = 0;
};

}  // namespace rondo::demo
