// What the checks of a case share: its model, and what the model does with an assistant turn.  Internal to tester/.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/model.h"
#include "jinja/template.h"
#include "rondo/result.h"
#include "tester/difference.h"
#include "tester/reading.h"
#include "tester/suite.h"

namespace rondo::tester {

// A rendered prompt, and the call that it was made from, in the form that the template got.
struct Rendering {
  core::Call call;
  core::Prepared prepared;
  jinja::Rendered rendered;

  [[nodiscard]] const std::string& text() const { return rendered.text.bytes(); }
  // The result borrows from this.
  [[nodiscard]] Writers writers() const {
    return {rendered, *prepared.chat_template, call.conversation.messages, call.shaping};
  }
};

// What a model writes after a prompt.
struct Turn {
  core::Call call;  // the messages before it, and how they are rendered
  std::string text;
};

// A bridge over a turn, and the re-render that it replaces.
struct Crossing {
  std::string bridged;  // prompt, turn and what was appended
  std::string appended;
  std::vector<std::string> lossy;
  std::optional<Rendering> again;
  bool agrees = false;  // whether the re-render ends with what was appended
};

class Bench {
 public:
  // Makes a bench.  If `model` has no tokenizer, uses a byte tokenizer.  Fails as the model does if it cannot derive a
  // format.
  [[nodiscard]] static Result<Bench> make(std::shared_ptr<const core::Model> model, const Case& test);

  [[nodiscard]] const core::Model& model() const { return *model_; }
  [[nodiscard]] bool has_tokenizer() const { return has_tokenizer_; }
  [[nodiscard]] const core::Asked& asked() const { return asked_; }

  [[nodiscard]] Result<Rendering> render(core::Call call) const;
  // Returns what the model would write to say `message` after the messages of `call`.  Fails with kUnsupported if the
  // template has no such turn.
  [[nodiscard]] Result<Turn> written(core::Call call, const json::Value& message) const;
  [[nodiscard]] Result<parse::Parser> parser(const Turn& turn) const;
  [[nodiscard]] Result<Crossing> cross(const Turn& turn, json::Array new_messages) const;
  // Returns where the grammar no longer accepts the text after the turn's prompt; nullopt if it accepts all of it as a
  // whole turn.  Sets `is_bound` to false if nothing is constrained.
  [[nodiscard]] Result<std::optional<std::size_t>> refused_at(const Turn& turn, std::string_view text,
                                                              bool& is_bound) const;
  [[nodiscard]] Result<std::shared_ptr<const format::Format>> format(core::Call call) const {
    return model_->format(call);
  }

 private:
  Bench(std::shared_ptr<const core::Model> model, bool has_tokenizer, core::Asked asked)
      : model_(std::move(model)), has_tokenizer_(has_tokenizer), asked_(std::move(asked)) {}

  std::shared_ptr<const core::Model> model_;
  bool has_tokenizer_;
  core::Asked asked_;
};

}  // namespace rondo::tester
