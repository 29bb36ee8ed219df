// A model as rondo sees it: its chat template, its tokenizer, and what follows from them.
//
//   rondo::Result<rondo::Model> model = rondo::Model::load("path/to/model");   // folder or .gguf
//   rondo::Chat chat;
//   chat.messages = R"([{"role": "user", "content": "Hello"}])";
//   std::string prompt = model.value().render(chat).value();
//   rondo::Encoded ids = model.value().encode(chat).value();
//
// rondo/parser.h reads what the model writes while the model writes it.  rondo/rollout.h grows a conversation as ids,
// and rondo/session.h does the same with the embedded engine.
//
// Conversations are JSON text in the shape of the public chat APIs.  The template sees exactly what you send, including
// key order and the spelling of numbers.  Token ids are always a vector of integers.  The library reads no clock: a
// template that prints the date needs `now`.  A Model is cheap to copy.  Many threads may call its members at once.
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

// The input of one prompt.  Each text is JSON; "" means absent.
struct Chat {
  std::string messages = "[]";        // an array of messages
  std::string tools;                  // an array of tool definitions
  std::string documents;              // an array of objects
  std::string kwargs;                 // an object: further template variables
  bool add_generation_prompt = true;  // open the turn that the model is to write
  std::string now;                    // local time for templates that print it, as "2026-03-14T15:09:26"
  // For encode(): an assistant message with a field `raw_ids` (an array of ids) or `raw` (a text) is put into the
  // prompt as it was sampled.
  bool raw_turns = false;
  // For encode(): which earlier reasoning is kept even though the template drops it: "preserve_all_thinking" or
  // "preserve_thinking_between_tool_calls".  "" and "template" leave the choice to the template.
  std::string retention;
  // The field of the last message that the model continues: "content", "reasoning_content" or "tool_calls".  Requires
  // add_generation_prompt to be false.
  std::string continue_field;
};

// A prompt as token ids.  Every vector but the last two has one entry per id.
struct Encoded {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> message_indices;  // the message an id belongs to; -1: none
  std::vector<std::uint8_t> content_mask;     // 1: a message's own data
  std::vector<std::uint8_t> sampled_mask;     // 1: the model itself would have written it
  // sentences, such as: what was written to close a raw turn, or that the template leaves a message out (docs/batch.md)
  std::vector<std::string> notes;
  std::vector<std::string> shaped;  // sentences: where the template got a message in another form than you sent it
};

// Messages in the form that the template needs.
struct Shaped {
  std::string messages;             // a JSON array; shaping it again changes nothing
  std::string tools;                // the tools as a JSON array; "" if the template gets none
  std::vector<std::string> shaped;  // sentences: what differs from what you sent
};

// The input of a bridge, which makes the next prompt: `prompt_ids` and `completion_ids` unchanged, then the new turn.
struct Bridge {
  std::vector<std::int32_t> prompt_ids;
  std::vector<std::int32_t> completion_ids;  // with or without its stop token, possibly cut off
  std::string new_messages;                  // a JSON array; none of role `assistant`
  bool allow_lossy = true;                   // bridge even if the template would now write earlier turns differently
};
struct Bridged {
  std::vector<std::int32_t> ids;
  std::vector<std::int32_t> message_indices;  // per id: index in the new messages; -1: none
  std::size_t appended = 0;                   // how many ids follow prompt and completion
  std::vector<std::string> lossy;             // sentences: what the template would have changed in earlier turns
};

// A problem with one argument of a call whose syntax is readable.
struct CallProblem {
  std::string kind;       // "swallowed_tag", "unknown_attribute", ...: docs/parse.md has them all
  std::string parameter;  // "" if the problem concerns all arguments
  std::string sentence;
};

struct ParsedCall {
  std::optional<std::string> id;  // absent unless the model wrote one
  std::string name;
  std::string arguments;              // JSON; in the model's own characters if the format writes arguments as JSON
  std::string status;                 // "ok", "invalid_json", "unclosed", "malformed" or "unknown_tool"
  std::vector<CallProblem> problems;  // why a readable call is malformed
};

// What a model wrote.
struct Parsed {
  std::string content;
  std::optional<std::string> reasoning;  // nullopt: there was no reasoning block
  std::vector<ParsedCall> tool_calls;
  bool complete = false;    // false if the text ended inside something that it had opened
  std::string behind_stop;  // text after the stop, which is not part of the turn; "" if only markup follows the stop
};

// One fault or property of a chat template.
struct CheckFinding {
  std::string rule;                   // stable: "whitespace-stripped"; docs/check.md explains them all
  std::string level;                  // "error", "warning" or "note"
  std::string sentence;               // describes the fault
  int line = 0;                       // of the template, from 1; 0: no line is to blame
  int column = 0;                     // from 1, in bytes; 0: unknown
  std::string path;                   // the input field concerned, such as "messages[1].content"
  std::size_t lost_tokens = 0;        // how many tokens an engine computes again in the worst case
  std::vector<std::string> remedies;  // what helps, best first
};

// What a check of the chat template found.
struct Checked {
  std::string worst;                   // the highest level among the findings; "none" without findings
  std::vector<CheckFinding> findings;  // warnings and errors, worst first
  std::vector<CheckFinding> notes;
  std::string json;  // the whole report, conversations included: docs/check.schema.json
};

namespace core {
class Model;
}

class Model {
 public:
  // Loads a model folder or a .gguf file.  Fails with kNotFound, kTemplateSyntax or kTokenizer.
  [[nodiscard]] static Result<Model> load(const std::string& path);
  // Loads the template and the tokenizer from two places, each a file or a folder.  Fails with the same codes.
  [[nodiscard]] static Result<Model> load(const std::string& template_path, const std::string& tokenizer_path);

  // Returns the prompt as text.  Fails with kInvalidArgument or kJson if `chat` is not usable, or with the template's
  // own error.
  [[nodiscard]] Result<std::string> render(const Chat& chat) const;

  // Returns the messages as render() and encode() give them to the template, for renderers other than rondo: arguments
  // as an object or as text, content as text, parts or none, reasoning under the name that it reads, results in the
  // order of their calls (docs/shaping.md).  Fails with kInvalidArgument or kJson.
  [[nodiscard]] Result<Shaped> shape(const Chat& chat) const;

  // Returns the prompt as ids.  Text from messages, tools and documents never becomes a control token.
  [[nodiscard]] Result<Encoded> encode(const Chat& chat) const;

  // Returns the next prompt.  `chat` describes the messages in `bridge.prompt_ids`.  Also fails with kCannotBridge.
  [[nodiscard]] Result<Bridged> bridge(const Chat& chat, const Bridge& bridge) const;

  // Reads `text`, which the model wrote after the prompt of `chat`.  Special tokens are spelled out in `text`.
  [[nodiscard]] Result<Parsed> parse(const Chat& chat, const std::string& text) const;
  // Reads ids up to the first stop token.  A marker counts only if it is the token itself: the same characters spelled
  // with ordinary tokens are text.  Fails with kTokenizer if an id is out of range.
  [[nodiscard]] Result<Parsed> parse(const Chat& chat, const std::vector<std::int32_t>& ids) const;

  // Plays conversations through the template.  Reports each place where a next prompt does not begin with what the
  // model has seen, and why.  Uses only `kwargs` and `now` of `chat`.  Takes seconds.
  [[nodiscard]] Result<Checked> check(const Chat& chat = {}) const;

  // Returns the ids that end generation, sorted.
  [[nodiscard]] Result<std::vector<std::int32_t>> stop_ids() const;

  [[nodiscard]] Result<std::vector<std::int32_t>> tokenize(const std::string& text) const;
  [[nodiscard]] Result<std::string> detokenize(const std::vector<std::int32_t>& ids) const;

 private:
  friend struct Access;  // for the library's own classes
  explicit Model(std::shared_ptr<const core::Model> model) : model_(std::move(model)) {}
  std::shared_ptr<const core::Model> model_;
};

}  // namespace rondo
