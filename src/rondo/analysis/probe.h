// Probes: rendered conversations of placeholders.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/analyse.h"
#include "analysis/turn.h"
#include "analysis/written.h"
#include "probe/messages.h"

namespace rondo::analysis {

// The shape of probe messages; the analysis finds the one that the template accepts.
using Shape = format::InputShape;

// The variables with which probes turn thinking on or off.  Many templates and engines use these names.
inline constexpr std::array<std::string_view, 2> kSwitches = {"enable_thinking", "thinking"};

// What the assistant message of a probe contains.
struct ProbeMessage {
  bool reasoning = false;
  bool content = false;
  std::vector<probe::SaidCall> calls;
  bool is_padded = false;  // its texts have white space at both ends
  std::string ending;      // the end of its texts
};

// How a probe is rendered.
struct ProbeSetting {
  std::string thinking = "default";  // or "on", "off"
  bool tools = true;
  bool with_result = false;  // a tool result follows
  bool with_user = false;    // a user message follows
  // Set the variables that only this template has.  If false, they are set only if the template refuses to render
  // without them.
  bool stand_ins = false;
  std::optional<json::Member> variable = std::nullopt;  // one more template variable
};

// A probe and its result.
struct ProbeTrial {
  Shape shape;
  ProbeMessage message;
  ProbeSetting setting;
  std::optional<Turn> turn;
  std::string generation_prompt;  // if the probe asked for one
  std::vector<Source> prompt_sources;
  std::string refusal;  // why there is no turn
};

inline constexpr char kNoText = '\x02';

// Renders the probes of one template.
class Prober {
 public:
  // With `keeps_trials`, all probes and their results are kept for trials().
  Prober(const jinja::Template& chat_template, const Options& options, bool keeps_trials);

  // Finds the roles of whose content the template shows a list of parts and no text.  From then on their content is
  // given as such a list.  Otherwise all messages are rendered as they are.
  void learn_content_forms();
  // Returns the assistant turn; nullopt if the template refuses the probe or writes nothing of the message.
  [[nodiscard]] std::optional<Turn> turn(const Shape& shape, const ProbeMessage& message, const ProbeSetting& setting);
  // Returns the turn of a message that has only this content.  It is not kept as a trial.
  [[nodiscard]] std::optional<Turn> turn_of(const std::string& content, const ProbeSetting& setting);
  // Returns the text that add_generation_prompt adds after one user message.
  [[nodiscard]] std::optional<Written> generation_prompt(const ProbeSetting& setting);
  // Returns the template's own text for a conversation of one question, with kNoText in place of everything else.
  [[nodiscard]] std::optional<std::string> instructions(const ProbeSetting& setting);
  // Returns the text of these messages; nullopt if the template refuses them.
  [[nodiscard]] std::optional<std::string> text_of(json::Array messages, const ProbeSetting& setting);
  // Returns the text of a question and this message.
  [[nodiscard]] std::optional<std::string> text_with(json::Object assistant_message, const ProbeSetting& setting);
  // Returns the conversation with its origins; nullopt if the template refuses it, and then last_refusal() says why.
  [[nodiscard]] std::optional<jinja::Rendered> rendered(json::Array messages, const ProbeSetting& setting) {
    last_refusal_.clear();
    return render(std::move(messages), setting, false);
  }
  [[nodiscard]] const std::string& last_refusal() const { return last_refusal_; }
  [[nodiscard]] const jinja::Template& chat_template() const { return template_; }
  [[nodiscard]] const Options& options() const { return options_; }
  // Returns the error of the first render that exceeded its limits, if any.  Nothing is rendered after it.
  [[nodiscard]] const std::optional<Error>& limit() const { return limit_; }
  // Returns the template's error for the first probe that it refused; "" if it refused none.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  // Returns the names of the tokens without which the template refused a probe, and for which empty texts were used: "`a`
  // and `b`"; "" if there are none.
  [[nodiscard]] std::string missing_tokens() const;
  // Returns whether the template refused conversations without tools, and took them with an empty list of tools.
  [[nodiscard]] bool needs_tool_list() const { return needs_tool_list_.value_or(false); }
  // Returns the variables that the template reads and that are not common to all templates.
  [[nodiscard]] const std::vector<std::string>& own_variables() const { return own_variables_; }
  [[nodiscard]] const std::vector<ProbeTrial>& trials() const { return trials_; }

 private:
  [[nodiscard]] std::optional<jinja::Rendered> render(json::Array messages, const ProbeSetting& setting,
                                                      bool generation_prompt);
  [[nodiscard]] std::optional<jinja::Rendered> attempt(const chat::Conversation& conversation);
  [[nodiscard]] std::optional<Turn> ask(json::Value assistant, const std::vector<probe::SaidCall>& calls,
                                        std::string_view own_field, const ProbeSetting& setting);
  [[nodiscard]] json::Object kwargs(const ProbeSetting& setting) const;
  // Returns whether the template writes `word` for these messages, with or without tools.
  [[nodiscard]] bool writes(const json::Array& messages, std::string_view word);

  const jinja::Template& template_;
  const Options& options_;
  json::Value tools_;
  std::vector<std::string> own_variables_;
  json::Object stand_ins_;                   // values for own_variables_
  std::vector<std::string> roles_of_parts_;  // roles whose content is given as a list
  json::Object empty_tokens_;                // "" for `bos_token` and `eos_token`, where the options give none
  bool lacks_tokens_ = false;                // whether the template refused a probe without them
  std::optional<bool> needs_tool_list_;      // nullopt: not known yet
  std::optional<Error> limit_;
  std::string refusal_;
  std::string last_refusal_;  // why the last probe failed
  bool keeps_trials_ = false;
  std::vector<ProbeTrial> trials_;
};

}  // namespace rondo::analysis
