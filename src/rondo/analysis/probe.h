// Probes: conversations of placeholders, rendered.
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

// The shape of probe messages: what the ladder found the template to accept.
using Shape = format::InputShape;

// Variables that probes set where thinking is to be on or off: what many templates and engines call it.
inline constexpr std::array<std::string_view, 2> kSwitches = {"enable_thinking", "thinking"};

// What one assistant message of a probe holds.
struct ProbeMessage {
  bool reasoning = false;
  bool content = false;
  std::vector<probe::SaidCall> calls;
  bool is_padded = false;  // texts have white space at both ends
};

// How a probe is rendered.
struct ProbeSetting {
  std::string thinking = "default";  // "on", "off"
  bool tools = true;
  bool with_result = false;  // a tool result follows
  bool with_user = false;    // a user message follows
  bool stand_ins = false;    // variables that only this template has are set; else only where it refuses without
  std::optional<json::Member> variable = std::nullopt;  // one more template variable
};

// A probe and what came of it.
struct ProbeTrial {
  Shape shape;
  ProbeMessage message;
  ProbeSetting setting;
  std::optional<Turn> turn;
  std::string generation_prompt;  // where that was asked for
  std::vector<Source> prompt_sources;
  std::string refusal;  // why there is no turn
};

inline constexpr char kNoText = '\x02';

// Renders probes of one template.
class Prober {
 public:
  // With `keeps_trials` everything that was asked and answered is kept for trials().
  Prober(const jinja::Template& chat_template, const Options& options, bool keeps_trials);

  // The assistant turn, nullopt where the template refuses the probe or writes nothing of the message.
  [[nodiscard]] std::optional<Turn> turn(const Shape& shape, const ProbeMessage& message, const ProbeSetting& setting);
  // The same of a message of that content alone; no trial.
  [[nodiscard]] std::optional<Turn> turn_of(const std::string& content, const ProbeSetting& setting);
  // What add_generation_prompt adds behind one user message.
  [[nodiscard]] std::optional<Written> generation_prompt(const ProbeSetting& setting);
  // What the template itself writes before a question, kNoText in place of everything else.
  [[nodiscard]] std::optional<std::string> instructions(const ProbeSetting& setting);
  // The text of these messages.
  [[nodiscard]] std::optional<std::string> text_of(json::Array messages, const ProbeSetting& setting);
  // The text of a conversation that ends with this message.
  [[nodiscard]] std::optional<std::string> text_with(json::Object assistant_message, const ProbeSetting& setting);
  // The conversation with its origins; nullopt where the template refuses it, with last_refusal().
  [[nodiscard]] std::optional<jinja::Rendered> rendered(json::Array messages, const ProbeSetting& setting) {
    last_refusal_.clear();
    return render(std::move(messages), setting, false);
  }
  [[nodiscard]] const std::string& last_refusal() const { return last_refusal_; }
  [[nodiscard]] const jinja::Template& chat_template() const { return template_; }
  [[nodiscard]] const Options& options() const { return options_; }
  // The first call's limit error, if a probe ran out of limits.
  [[nodiscard]] const std::optional<Error>& limit() const { return limit_; }
  // What the template said to the first probe that it refused; "" if none.
  [[nodiscard]] const std::string& refusal() const { return refusal_; }
  // Variables that the template reads and that no other template has to.
  [[nodiscard]] const std::vector<std::string>& own_variables() const { return own_variables_; }
  [[nodiscard]] const std::vector<ProbeTrial>& trials() const { return trials_; }

 private:
  [[nodiscard]] std::optional<jinja::Rendered> render(json::Array messages, const ProbeSetting& setting,
                                                      bool generation_prompt);
  [[nodiscard]] std::optional<Turn> ask(json::Value assistant, const std::vector<probe::SaidCall>& calls,
                                        std::string_view own_field, const ProbeSetting& setting);
  [[nodiscard]] json::Object kwargs(const ProbeSetting& setting) const;

  const jinja::Template& template_;
  const Options& options_;
  json::Value tools_;
  std::vector<std::string> own_variables_;
  json::Object stand_ins_;  // for them
  std::optional<Error> limit_;
  std::string refusal_;
  std::string last_refusal_;  // why the last probe came to nothing
  bool keeps_trials_ = false;
  std::vector<ProbeTrial> trials_;
};

}  // namespace rondo::analysis
