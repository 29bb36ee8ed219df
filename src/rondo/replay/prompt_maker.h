// Makes prompts for many requests of one model, fast: what a request has in common with an earlier one is not tokenized
// again.
//
//   PromptMaker maker(parts);
//   Sheet sheet = maker.sheet(messages, tools, kwargs);          // in the form that the template needs
//   auto prompt = maker.prompt(sheet, &earlier_prompt);          // as an engine would make it
//   auto sampled = maker.sampled(sheet, prompt.value(), answer);  // the ids with which the model said `answer`
//
// Prompts are made as engines make them: the rendered text is tokenized as a whole, so message text that reads like a
// control token becomes one.  Immutable; many threads may use it.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "chat/conversation.h"
#include "format/format.h"
#include "jinja/template.h"
#include "render/stop.h"
#include "rondo/result.h"
#include "template/chat_template.h"
#include "template/shape.h"
#include "tokenizer/tokenizer.h"

namespace rondo::replay {

// A prompt, with what is needed to make the next one from it.
struct Prompt {
  std::string text;
  std::vector<tokenizer::TokenId> ids;
  std::vector<std::uint32_t> ends;  // for each id, the offset after its last byte

  [[nodiscard]] std::size_t memory() const { return text.capacity() + 8 * ids.capacity(); }
};

// Returns the offset of the first byte that differs, or the length of the shorter text.
[[nodiscard]] std::size_t common_prefix(std::string_view a, std::string_view b);

// The variables of a render, ready to use.
struct Sheet {
  json::Object variables;
  std::optional<jinja::LocalTime> now;
};

class PromptMaker {
 public:
  struct Parts {
    std::shared_ptr<const jinja::Template> chat_template;
    std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
    std::shared_ptr<const format::Format> format;
    std::optional<std::string> bos_token;
    std::optional<std::string> eos_token;
    json::Object kwargs;  // for every request; those of a request override them
    tmpl::ApplyOptions apply;
  };

  // Renders a few probes.
  //
  // REQUIRES: no part is null.
  explicit PromptMaker(Parts parts);

  // Returns the variables.  The messages get the form that the template needs (tmpl::shape), as engines do it.
  [[nodiscard]] Sheet sheet(const json::Array& messages, const std::optional<json::Value>& tools,
                            const json::Object& kwargs, std::optional<jinja::LocalTime> now) const;

  // Returns the prompt with a generation prompt.  `known` is the prompt of a similar request, or nullptr.  Fails as the
  // template does.
  [[nodiscard]] Result<Prompt> prompt(const Sheet& sheet, const Prompt* known) const;

  // Returns the ids after `prompt`, up to the stop token, with which the model must have said `answer`.  `prompt` is
  // the prompt of `sheet`.  The ids are what the template writes for `answer` as the last message, but with arguments
  // in their own spelling if the prompt has them as JSON, and with its reasoning even if the template drops it.
  // Returns no ids if the template does not write the message.
  [[nodiscard]] std::vector<tokenizer::TokenId> sampled(Sheet& sheet, const Prompt& prompt,
                                                        const json::Value& answer) const;

  // Returns the same prompt with the origin of every byte.
  [[nodiscard]] Result<jinja::Rendered> trace(const Sheet& sheet, bool add_generation_prompt) const;

  // The messages in a sheet.
  [[nodiscard]] static json::Array& messages_of(Sheet& sheet);
  [[nodiscard]] static const json::Array& messages_of(const Sheet& sheet);

  [[nodiscard]] const Parts& parts() const { return parts_; }
  // Returns whether the ids end with a token that ends turns.
  [[nodiscard]] bool ends_turn(const std::vector<tokenizer::TokenId>& ids) const {
    return !ids.empty() && profile_.is_stop(ids.back());
  }
  // Returns whether the template reads the time.
  [[nodiscard]] bool reads_clock() const { return reads_clock_; }
  // Returns a place in the messages of a sheet, such as "messages[1].thinking", as the request of `messages` has it:
  // "messages[1].reasoning_content".  Returns other texts as they are.
  [[nodiscard]] std::string sent_place(std::string place, const json::Array& messages) const;
  // Returns the conversation's variables without its messages, for render/.
  [[nodiscard]] chat::Conversation base_of(const Sheet& sheet) const;

 private:
  [[nodiscard]] Result<jinja::Rendered> render(const Sheet& sheet, bool origins) const;
  // `rendered` has origins, unless it begins with the prompt.
  [[nodiscard]] std::optional<std::string> turn_text(const Sheet& sheet, const Prompt& prompt,
                                                     const jinja::Rendered& rendered) const;
  [[nodiscard]] bool writes_reasoning(const Sheet& sheet, std::string_view reasoning,
                                      const jinja::Rendered& traced) const;
  [[nodiscard]] std::optional<std::size_t> restart(const Prompt& known, std::size_t common) const;

  Parts parts_;
  render::TurnProfile profile_;
  tmpl::MessageRules rules_;
  std::size_t longest_added_ = 0;
  std::vector<std::uint8_t> is_barrier_;  // for each id: an added token that is found whatever surrounds it
  bool reads_clock_ = false;
};

}  // namespace rondo::replay
