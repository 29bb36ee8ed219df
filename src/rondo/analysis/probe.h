// Probes: conversations of placeholders, rendered, and the assistant turn in them as a list of literals and slots.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/analyse.h"
#include "analysis/written.h"
#include "probe/messages.h"

namespace rondo::analysis {

// The shape of probe messages: what the ladder found the template to accept.
using Shape = format::InputShape;

// What one assistant message of a probe holds.
struct ProbeMessage {
  bool reasoning = false;
  bool content = false;
  std::vector<probe::SaidCall> calls;
  bool is_padded = false;  // texts have white space at both ends
};

// How a probe is rendered.
struct ProbeSetting {
  std::string thinking;  // "default", "on", "off"
  bool tools = true;
  bool with_result = false;  // a tool result follows
  bool with_user = false;    // a user message follows
  bool stand_ins = false;    // variables that only this template has are set; else only where it refuses without
  std::optional<json::Member> variable = std::nullopt;  // one more template variable
};

enum class SlotKind : std::uint8_t { kLiteral, kReasoning, kContent, kName, kId, kIndex, kArguments };

// A part of the arguments: where in them, and how it was printed.
struct ArgumentPart {
  std::string text;
  std::vector<std::string> path;  // steps below `arguments`; array indices in decimal
  bool is_key = false;
  text::RunKind kind = text::RunKind::kData;
  std::string chain;
};

// From byte `at` of a token's text on, up to the next one's: which literal of the template wrote it, and from which of
// its bytes on.  kNoLiteral: none, it was computed.
struct Source {
  std::size_t at = 0;
  std::uint32_t literal = 0;
  std::uint32_t offset = 0;
};
inline constexpr std::uint32_t kNoLiteral = static_cast<std::uint32_t>(-1);

struct Token {
  SlotKind kind = SlotKind::kLiteral;
  std::size_t call = 0;
  std::string text;
  std::vector<Source> sources;      // of kLiteral
  std::vector<ArgumentPart> parts;  // of kArguments
  std::string chain;                // of kReasoning and kContent: what the template did to it
};

// A condition that looked at a field of the assistant message: "content", "tool_calls", "arguments.k1".
struct FieldRead {
  std::string field;
  std::int32_t line = 0;
  bool outcome = false;
};

// An assistant turn as the template wrote it.
struct Turn {
  std::vector<Token> tokens;
  std::string following;  // what the template wrote behind it, up to the next message's data
  std::vector<Source> following_sources;
  std::string behind;                                      // everything behind it
  std::vector<jinja::Probe> probes;                        // of the assistant message's own texts
  std::string reasoning_name;                              // the field that the reasoning was read from
  std::vector<FieldRead> reads;                            // of conditions, in order
  std::vector<std::pair<std::string, std::int32_t>> cuts;  // field and line of white space that was cut off

  [[nodiscard]] bool has(SlotKind kind, std::size_t call = 0) const;
  // Index of the first (last) token of that kind and call, or npos.
  [[nodiscard]] std::size_t first(SlotKind kind, std::size_t call = 0) const;
  [[nodiscard]] std::size_t last(SlotKind kind, std::size_t call = 0) const;
  // Text of the tokens [begin, end), slots left out.
  [[nodiscard]] std::string literals(std::size_t begin, std::size_t end) const;
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
inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

// Renders probes of one template.
class Prober {
 public:
  // With `keeps_trials` everything that was asked and answered is kept for trials().
  Prober(const jinja::Template& chat_template, const Options& options, bool keeps_trials);

  // The assistant turn, nullopt where the template refuses the probe or writes nothing of the message.
  [[nodiscard]] std::optional<Turn> turn(const Shape& shape, const ProbeMessage& message, const ProbeSetting& setting);
  // What add_generation_prompt adds behind one user message.
  [[nodiscard]] std::optional<Written> generation_prompt(const ProbeSetting& setting);
  // What the template itself writes before a question, kNoText in place of everything else.
  [[nodiscard]] std::optional<std::string> instructions(const ProbeSetting& setting);
  // The text of a conversation that ends with this message.
  [[nodiscard]] std::optional<std::string> text_with(json::Object assistant_message, const ProbeSetting& setting);
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
  [[nodiscard]] std::optional<Turn> ask(const Shape& shape, const ProbeMessage& message, const ProbeSetting& setting);
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
