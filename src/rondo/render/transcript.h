// Transcript: a conversation that grows by messages, as the text that the template writes for all of them.
//
//   // Once; shared.
//   auto model = TranscriptModel::make({chat_template, everything_but_messages, options, rules, shape});
//   auto transcript = Transcript::start(model, messages);
//   auto grown = transcript.value().append({message});
//   transcript.value().text()   // equals the render of all messages, byte for byte
//
// If the new turns are known not to depend on older ones (render/growth.h), only a window is rendered, and the cost
// does not grow with the conversation.  Otherwise all messages are rendered.  Any number of transcripts share one
// TranscriptModel, which is immutable.  Only one thread at a time may use a Transcript.  A transcript needs memory for
// its text and its messages; the messages are held twice once all of them had to be rendered for a new one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "render/growth.h"
#include "rondo/result.h"
#include "template/polyfill.h"
#include "template/shape.h"

namespace rondo::render {

// What all transcripts with the same template, tool list and template variables share.
class TranscriptModel {
 public:
  struct Parts {
    std::shared_ptr<const jinja::Template> chat_template;
    chat::Conversation base;  // tools, documents, kwargs, bos and eos, add_generation_prompt; its messages are not used
    tmpl::ApplyOptions apply;
    tmpl::MessageRules rules;        // the rules by which messages are shaped
    format::InputShape input;        // the shape of messages that the template needs
    tmpl::Polyfills polyfills = {};  // statements in front of the template
  };

  // Makes a hundred or so small renders.
  //
  // REQUIRES: chat_template is not null.
  [[nodiscard]] static std::shared_ptr<const TranscriptModel> make(Parts parts);
  TranscriptModel(const TranscriptModel&) = delete;
  TranscriptModel& operator=(const TranscriptModel&) = delete;

  [[nodiscard]] const Parts& parts() const { return parts_; }
  [[nodiscard]] const Setting& setting() const { return setting_; }
  [[nodiscard]] const Growth& growth() const { return growth_; }

 private:
  explicit TranscriptModel(Parts parts);

  Parts parts_;
  Setting setting_;
  Growth growth_;
};

// The result of one append().
struct Grown {
  enum class Way : std::uint8_t { kIncremental, kFull };
  Way way = Way::kFull;
  std::string why;                  // a sentence: what was not rendered, or why everything was
  std::size_t kept = 0;             // how many leading bytes of the text stayed; the bytes after them are new
  std::vector<std::string> shaped;  // sentences: where the template got a message in another form than it was sent
};
// Returns "incremental" or "full".
[[nodiscard]] std::string_view to_string(Grown::Way way);

class Transcript {
 public:
  // Renders the messages.  Fails as the template does.
  [[nodiscard]] static Result<Transcript> start(std::shared_ptr<const TranscriptModel> model, json::Array messages);

  // Appends messages of any role.  Fails as the template does with all messages.  A call that fails leaves the
  // transcript unchanged.
  [[nodiscard]] Result<Grown> append(json::Array new_messages);

  [[nodiscard]] const std::string& text() const { return text_; }
  // Returns the messages in the form that the template needs.
  [[nodiscard]] const json::Array& messages() const { return messages_; }
  // Returns sentences: where the template got one of the first messages in another form than it was sent.
  [[nodiscard]] const std::vector<std::string>& shaped() const { return shaped_; }
  // Returns why every further message needs a render of the whole conversation; "" if none does.
  [[nodiscard]] const std::string& always_full() const { return unknown_; }

 private:
  explicit Transcript(std::shared_ptr<const TranscriptModel> model) : model_(std::move(model)) {}

  // The new messages and the last old ones, in the form that the template needs.
  struct Shaped {
    json::Array messages;   // the new ones
    tmpl::Shaping shaping;  // of the new messages; indices count from the first new one
    std::size_t from = 0;   // from which old message on they change
    json::Array replaced;   // the old messages from there on; empty if none change
  };
  [[nodiscard]] Shaped shape(const json::Array& new_messages) const;
  void keep_sent(json::Array new_messages);

  // Renders one more message in a window.
  [[nodiscard]] GrowthStep step(const json::Value& message) const;
  class Undo;
  // Adds the message's text to the end.  Returns why that needs a render of the whole conversation instead; "" if it
  // does not.  `window` becomes the size of the largest window so far.
  std::string grow(const json::Value& message, Undo& undo, std::size_t& window);
  void note(const json::Value& message, std::size_t at);
  [[nodiscard]] Result<jinja::Rendered> render_all();

  std::shared_ptr<const TranscriptModel> model_;
  std::string text_;
  json::Array messages_;
  json::Array sent_;              // the last messages as they were sent: later ones may change how they are shaped
  std::size_t calls_before_ = 0;  // how many calls are in the messages before those
  bool is_marked_ = false;        // see Growth::marks()
  std::string unknown_;           // see always_full()
  std::vector<std::string> shaped_;
  std::optional<tmpl::ReadyConversation> ready_;  // the first messages, once all had to be rendered for a new one
};

}  // namespace rondo::render
