// A conversation that grows by messages, as the text that the template writes for all of them.
//
//   auto transcript = rondo::Transcript::start(model, chat);
//   rondo::Grown grown = transcript.value().append(R"([{"role": "user", "content": "And then?"}])").value();
//   transcript.value().text()   // what model.render() gives for all messages, byte for byte
//
// Where it is known that the new turns do not depend on older ones, append() renders only a few messages, and its work does
// not grow with the conversation.  Else it renders all of them, and the result says why (docs/render.md).  Any number of
// transcripts share a model.  The first makes what they have in common.  Only one thread at a time may use a Transcript.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "rondo/model.h"
#include "rondo/result.h"

namespace rondo {

// What one append() did.
struct Grown {
  std::string way;                  // "incremental" or "full"
  std::string why;                  // a sentence
  std::size_t kept = 0;             // how many bytes of the text stayed; what follows them is new
  std::vector<std::string> shaped;  // what of the new messages was given to the template otherwise than it was sent
};

class Transcript {
 public:
  // Renders the messages.  Fails as Model::render(), and with kInvalidArgument where `chat` continues a message.
  [[nodiscard]] static Result<Transcript> start(const Model& model, const Chat& chat);
  ~Transcript();
  Transcript(Transcript&&) noexcept;
  Transcript& operator=(Transcript&&) noexcept;

  // A JSON array of messages of any role.  Fails with kJson, or as the template does with all of them; the transcript is
  // unchanged then.
  [[nodiscard]] Result<Grown> append(const std::string& new_messages);

  [[nodiscard]] const std::string& text() const;
  // The conversation as a JSON array, in the form that the template needs.
  [[nodiscard]] std::string messages() const;

 private:
  struct State;
  explicit Transcript(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rondo
