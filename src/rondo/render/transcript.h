// Transcript: a conversation that grows by messages, as the text that the template writes of all of them.
//
//   auto model = TranscriptModel::make({chat_template, everything_but_messages, options, rules, shape});   // once; shared
//   auto transcript = Transcript::start(model, messages);
//   auto grown = transcript.value().append({message});
//   transcript.value().text()   // what rendering all messages gives, byte for byte
//
// Where it is known that the new turns do not depend on the older ones (render/growth.h), only a window is rendered, and the
// work does not grow with the conversation; else all of it is.  Any number of transcripts share one TranscriptModel, which is
// immutable; a Transcript is used by one thread at a time.  Memory of a transcript: its text and its messages, these twice
// once all of them had to be rendered for a message more.
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

// What all transcripts of one template, tool list and template variables share.
class TranscriptModel {
 public:
  struct Parts {
    std::shared_ptr<const jinja::Template> chat_template;
    chat::Conversation base;  // tools, documents, kwargs, bos and eos, add_generation_prompt; its messages are not used
    tmpl::ApplyOptions apply;
    tmpl::MessageRules rules;        // by which messages are shaped
    format::InputShape input;        // of messages that the template wants
    tmpl::Polyfills polyfills = {};  // that stand in front of it
  };

  // Some hundred small renders.  REQUIRES: chat_template is not null.
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

// What one append() did.
struct Grown {
  enum class Way : std::uint8_t { kIncremental, kFull };
  Way way = Way::kFull;
  std::string why;                  // a sentence: what was left out, or why nothing was
  std::size_t kept = 0;             // how many bytes of the text stayed; what follows them is new
  std::vector<std::string> shaped;  // what of the new messages was given to the template otherwise than it was sent
};
// "incremental" or "full".
[[nodiscard]] std::string_view to_string(Grown::Way way);

class Transcript {
 public:
  // Renders the messages.  Fails as the template does.
  [[nodiscard]] static Result<Transcript> start(std::shared_ptr<const TranscriptModel> model, json::Array messages);

  // Messages of any role.  Fails as the template does with all of them; the transcript is unchanged then.
  [[nodiscard]] Result<Grown> append(json::Array new_messages);

  [[nodiscard]] const std::string& text() const { return text_; }
  // In the form that the template needs.
  [[nodiscard]] const json::Array& messages() const { return messages_; }
  // What of the first messages was given to the template otherwise than it was sent.
  [[nodiscard]] const std::vector<std::string>& shaped() const { return shaped_; }
  // Why every further message is rendered with the whole conversation; "" if that is not so.
  [[nodiscard]] const std::string& always_full() const { return unknown_; }

 private:
  explicit Transcript(std::shared_ptr<const TranscriptModel> model) : model_(std::move(model)) {}

  // How the new messages and the last of the old ones are given to the template.
  struct Shaped {
    json::Array messages;   // the new ones
    tmpl::Shaping shaping;  // of them, indices counting from the first new one
    std::size_t from = 0;   // where the old ones become others
    json::Array replaced;   // those from there on; empty if none do
  };
  [[nodiscard]] Shaped shape(const json::Array& new_messages) const;
  void keep_sent(json::Array new_messages);

  // One message behind text_ and messages_, in a window.
  [[nodiscard]] GrowthStep step(const json::Value& message) const;
  void note(const json::Value& message, std::size_t at);
  [[nodiscard]] Result<jinja::Rendered> render_all();

  std::shared_ptr<const TranscriptModel> model_;
  std::string text_;
  json::Array messages_;
  json::Array sent_;              // the last of them as they were sent: those that later ones may change
  std::size_t calls_before_ = 0;  // number of calls in the messages before those
  bool is_marked_ = false;        // see Growth::marks()
  std::string unknown_;           // see always_full()
  std::vector<std::string> shaped_;
  std::optional<tmpl::ReadyConversation> ready_;  // the first messages, once all of them were rendered for a new one
};

}  // namespace rondo::render
