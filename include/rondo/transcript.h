// A conversation that grows by messages, as the text that the template writes for all of them.
//
//   auto transcript = rondo::Transcript::start(model, chat);
//   rondo::Grown grown = transcript.value().append(R"([{"role": "user", "content": "And then?"}])").value();
//   transcript.value().text()   // equals model.render() of all messages, byte for byte
//
// If the new turns are known not to depend on older ones, append() renders only a few messages, and its cost does not
// grow with the conversation.  Otherwise it renders all messages, and the result says why (docs/render.md).  Any number
// of transcripts may share a model; the first one does the work that they all need.  Only one thread at a time may use
// a Transcript.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "rondo/model.h"
#include "rondo/result.h"

namespace rondo {

// The result of one append().
struct Grown {
  std::string way;                  // "incremental" or "full"
  std::string why;                  // a sentence: the reason for this way
  std::size_t kept = 0;             // how many leading bytes of the text stayed; the bytes after them are new
  std::vector<std::string> shaped;  // sentences: where the template got a message in another form than you sent it
};

class Transcript {
 public:
  // Renders the messages.  Fails as Model::render(), and with kInvalidArgument where `chat` continues a message.
  [[nodiscard]] static Result<Transcript> start(const Model& model, const Chat& chat);
  ~Transcript();
  Transcript(Transcript&&) noexcept;
  Transcript& operator=(Transcript&&) noexcept;

  // Appends a JSON array of messages of any role.  Fails with kJson, or with the error that the template gives for all
  // messages.  A call that fails leaves the transcript unchanged.
  [[nodiscard]] Result<Grown> append(const std::string& new_messages);

  [[nodiscard]] const std::string& text() const;
  // Returns the conversation as a JSON array, in the form that the template needs.
  [[nodiscard]] std::string messages() const;

 private:
  struct State;
  explicit Transcript(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rondo
