// A model as rondo sees it: its chat template, its tokenizer, and what follows from them.
//
//   rondo::Result<rondo::Model> model = rondo::Model::load("path/to/model");   // folder or .gguf
//   rondo::Chat chat;
//   chat.messages = R"([{"role": "user", "content": "Hello"}])";
//   std::string prompt = model.value().render(chat).value();
//   rondo::Encoded ids = model.value().encode(chat).value();
//
// rondo/parser.h reads what the model writes while it is written, rondo/rollout.h grows a conversation as ids, and
// rondo/session.h does so with the embedded engine.
//
// Conversations are JSON text in the shape of the public chat APIs.  The template sees what you send, key order and
// spelling of numbers included.  Token ids are vectors of ids everywhere.  The library reads no clock: templates that print
// the date need `now`.  A Model is cheap to copy.  Many threads may call its members at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rondo/result.h"

namespace rondo {

// The input of one prompt.  Texts are JSON; "" stands for absent.
struct Chat {
  std::string messages = "[]";        // an array of messages
  std::string tools;                  // an array of tool definitions
  std::string documents;              // an array of objects
  std::string kwargs;                 // an object: further template variables
  bool add_generation_prompt = true;  // open the turn that the model is to write
  std::string now;                    // local time for templates that print it, as "2026-03-14T15:09:26"
  // Of encode(): assistant messages with a field `raw_ids` (an array of ids) or `raw` (a text) stand as they were sampled.
  bool raw_turns = false;
  // Of encode(): which earlier reasoning stands in the prompt, though the template drops it: "preserve_all_thinking",
  // "preserve_thinking_between_tool_calls"; "" or "template": as the template does.
  std::string retention;
  // Field of the last message that the model continues: "content", "reasoning_content", "tool_calls"; excludes
  // add_generation_prompt.
  std::string continue_field;
};

// A prompt in token ids; all vectors but the last two have one entry per id.
struct Encoded {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> message_indices;  // the message an id belongs to; -1: none
  std::vector<std::uint8_t> content_mask;     // 1: a message's own data
  std::vector<std::uint8_t> sampled_mask;     // 1: the model itself would have written it
  std::vector<std::string> notes;   // of raw turns: what was written to close them, where a message says something else
  std::vector<std::string> shaped;  // what of the messages was given to the template otherwise than it was sent
};

// The next prompt: `prompt_ids` and `completion_ids` unchanged, then the new turn.
struct Bridge {
  std::vector<std::int32_t> prompt_ids;
  std::vector<std::int32_t> completion_ids;  // with or without its stop token, possibly cut off
  std::string new_messages;                  // a JSON array; none of role `assistant`
  bool allow_lossy = true;                   // go on even if the template would write earlier turns differently
};
struct Bridged {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> message_indices;  // per id: index in the new messages; -1: none
  std::size_t appended = 0;                   // number of ids behind prompt and completion
  std::vector<std::string> lossy;             // what the template would have changed, as sentences
};

// A problem of one argument, in a call that can be read.
struct CallProblem {
  std::string kind;       // "swallowed_tag", "unknown_attribute", "wrong_type" or "unknown_parameter": docs/parse.md
  std::string parameter;  // "" where it is about all arguments
  std::string sentence;
};

struct ParsedCall {
  std::optional<std::string> id;  // only if the model wrote one
  std::string name;
  std::string arguments;              // JSON, in the model's own characters where the format carries JSON
  std::string status;                 // "ok", "invalid_json", "unclosed", "malformed" or "unknown_tool"
  std::vector<CallProblem> problems;  // why a call is malformed whose arguments can be read
};

// What a model wrote.
struct Parsed {
  std::string content;
  std::optional<std::string> reasoning;  // nullopt: there was no reasoning block
  std::vector<ParsedCall> tool_calls;
  bool complete = false;  // false if something that was opened is still open
};

// One fault or property of a chat template.
struct CheckFinding {
  std::string rule;                   // stable: "whitespace-stripped"; docs/check.md explains them all
  std::string level;                  // "error", "warning" or "note"
  std::string sentence;               // what is the matter
  int line = 0;                       // of the template, from 1; 0: none is to blame
  int column = 0;                     // from 1, in bytes; 0: unknown
  std::string path;                   // the field that it is about, as "messages[1].content"
  std::size_t lost_tokens = 0;        // that an engine computes again, in the worst case
  std::vector<std::string> remedies;  // what helps, the best first
};

// What a check of the chat template found.
struct Checked {
  std::string worst;                   // the highest level among the findings; "none" if there are none
  std::vector<CheckFinding> findings;  // warnings and errors, the worst first
  std::vector<CheckFinding> notes;
  std::string json;  // everything, the conversations included: docs/check.schema.json
};

namespace core {
class Model;
}

class Model {
 public:
  // Fails with kNotFound, kTemplateSyntax or kTokenizer.
  [[nodiscard]] static Result<Model> load(const std::string& path);
  // The same from two places: a template (file or folder) and a tokenizer (file or folder).
  [[nodiscard]] static Result<Model> load(const std::string& template_path, const std::string& tokenizer_path);

  // The prompt as text.  Fails with kInvalidArgument or kJson (`chat` does not fit), or as the template does.
  [[nodiscard]] Result<std::string> render(const Chat& chat) const;

  // The prompt as ids.  Text from messages, tools and documents never becomes a control token.
  [[nodiscard]] Result<Encoded> encode(const Chat& chat) const;

  // `chat` describes the messages behind `bridge.prompt_ids`.  Also fails with kCannotBridge.
  [[nodiscard]] Result<Bridged> bridge(const Chat& chat, const Bridge& bridge) const;

  // What the model wrote after the prompt of `chat`, special tokens as text.
  [[nodiscard]] Result<Parsed> parse(const Chat& chat, const std::string& text) const;
  // The same from ids, up to the first stop token.  Markers count only as the tokens that they are: the same characters
  // spelled by ordinary tokens are text.  Fails with kTokenizer on ids out of range.
  [[nodiscard]] Result<Parsed> parse(const Chat& chat, const std::vector<std::int32_t>& ids) const;

  // Plays conversations through the template.  Finds where a next prompt does not begin with what the model has seen, and
  // why.  Of `chat` only `kwargs` and `now` count.  Takes seconds.
  [[nodiscard]] Result<Checked> check(const Chat& chat = {}) const;

  // The ids that end generation, sorted.
  [[nodiscard]] Result<std::vector<std::int32_t>> stop_ids() const;

  [[nodiscard]] Result<std::vector<std::int32_t>> tokenize(const std::string& text) const;
  [[nodiscard]] Result<std::string> detokenize(const std::vector<std::int32_t>& ids) const;

 private:
  friend struct Access;  // of the library's own classes
  explicit Model(std::shared_ptr<const core::Model> model) : model_(std::move(model)) {}
  std::shared_ptr<const core::Model> model_;
};

}  // namespace rondo
