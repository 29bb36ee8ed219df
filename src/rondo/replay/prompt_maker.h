// Prompts of many requests of one model, fast: what a request has in common with an earlier one is not tokenized again.
//
//   PromptMaker maker(parts);
//   Sheet sheet = maker.sheet(messages, tools, kwargs);          // in the shape that the template wants
//   auto prompt = maker.prompt(sheet, &earlier_prompt);          // as an engine would make it
//   auto sampled = maker.sampled(sheet, prompt.value(), answer);  // what the model must have written to have said `answer`
//
// Prompts are made as engines make them: the rendered text is tokenized as a whole, so that text of messages which reads like a
// control token becomes one.  Immutable; may be used from many threads.
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

// A prompt with what is needed to make the next one from it.
struct Prompt {
  std::string text;
  std::vector<tokenizer::TokenId> ids;
  std::vector<std::uint32_t> ends;  // of each id, the byte behind it

  [[nodiscard]] std::size_t memory() const { return text.capacity() + 8 * ids.capacity(); }
};

// The first byte where the texts differ, or the length of the shorter.
[[nodiscard]] std::size_t common_prefix(std::string_view a, std::string_view b);

// The variables of a render, ready for use.
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
    json::Object kwargs;  // for every request; a request's own win
    tmpl::ApplyOptions apply;
  };

  // Renders a few probes.  REQUIRES: no part is null.
  explicit PromptMaker(Parts parts);

  // The messages get the form that the template needs (tmpl::shape), as engines bring them into one.
  [[nodiscard]] Sheet sheet(const json::Array& messages, const std::optional<json::Value>& tools,
                            const json::Object& kwargs, std::optional<jinja::LocalTime> now) const;

  // The prompt with generation prompt.  `known`: the prompt of a similar request, or nullptr.  Fails as the template does.
  [[nodiscard]] Result<Prompt> prompt(const Sheet& sheet, const Prompt* known) const;

  // The ids behind `prompt`, which is that of `sheet`, up to the stop token, by which the model said `answer`: what the template
  // writes for it as last message, with the arguments in their own spelling where they are JSON in the prompt, and with its
  // reasoning also where the template leaves that out.  Empty where the template does not write it.
  [[nodiscard]] std::vector<tokenizer::TokenId> sampled(Sheet& sheet, const Prompt& prompt,
                                                        const json::Value& answer) const;

  // The same prompt with the origin of every byte.
  [[nodiscard]] Result<jinja::Rendered> trace(const Sheet& sheet, bool add_generation_prompt) const;

  // The messages that a sheet holds.
  [[nodiscard]] static json::Array& messages_of(Sheet& sheet);
  [[nodiscard]] static const json::Array& messages_of(const Sheet& sheet);

  [[nodiscard]] const Parts& parts() const { return parts_; }
  // Whether the ids end with a token that ends turns.
  [[nodiscard]] bool ends_turn(const std::vector<tokenizer::TokenId>& ids) const {
    return !ids.empty() && profile_.is_stop(ids.back());
  }
  // Whether the template asks for the time.
  [[nodiscard]] bool reads_clock() const { return reads_clock_; }
  // The conversation's variables without its messages, for render/.
  [[nodiscard]] chat::Conversation base_of(const Sheet& sheet) const;

 private:
  [[nodiscard]] Result<jinja::Rendered> render(const Sheet& sheet, bool origins) const;
  [[nodiscard]] std::optional<std::string> turn_text(Sheet& sheet, const Prompt& prompt) const;
  [[nodiscard]] std::optional<std::size_t> restart(const Prompt& known, std::size_t common) const;

  Parts parts_;
  render::TurnProfile profile_;
  tmpl::MessageRules rules_;
  std::size_t longest_added_ = 0;
  std::vector<std::uint8_t> is_barrier_;  // per id: an added token that is found whatever stands around it
  bool reads_clock_ = false;
};

}  // namespace rondo::replay
