// Report: what an audit of one chat template found, as plain data.
//
// An audit plays conversations in a cycle: render, sample, parse, keep as a message, render again.  It compares the
// second prompt with what the model has already seen.  A Case is one conversation under one setting of the template's
// variables.  A Finding is one fault, with the cases that prove it.  Writers (JSON, HTML, SARIF, JUnit) read only this.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "causes/cause.h"
#include "json/value.h"
#include "rondo/result.h"

namespace rondo::report {

// What to do about a break.  A remedy is verified if it was tried on the same case and mended it.
struct Remedy {
  enum class Kind : std::uint8_t {
    kVariable,   // "variable": set template variables (chat_template_kwargs)
    kArguments,  // "arguments": send arguments in the other form
    kField,      // "field": send a field that was left out, or under another name
    kPatch,      // "patch": change the template; `rondo check --fix` writes it
    kBridge,     // "bridge": keep the ids and append
  };
  Kind kind = Kind::kBridge;
  std::string sentence;
  json::Object kwargs = {};  // for kVariable
  bool is_verified = false;
};
[[nodiscard]] std::string_view to_string(Remedy::Kind kind);

// A token as people see it.
struct TokenView {
  std::int32_t id = 0;
  std::string text;  // its bytes, which may be a part of a character
  bool operator==(const TokenView&) const = default;
};

// The tokens around a break, at most a dozen on each side.  All are empty without a tokenizer.
struct TokensAround {
  std::vector<TokenView> before;      // the last ones before the break
  std::vector<TokenView> kept;        // the first ones that the model has seen after the break
  std::vector<TokenView> rerendered;  // the first ones of the new prompt after the break
  [[nodiscard]] bool empty() const { return before.empty() && kept.empty() && rerendered.empty(); }
};

// The first place where the next prompt differs from the prompt and completion.
struct Break {
  std::size_t kept_tokens = 0;  // length of the common prefix
  std::size_t lost_tokens = 0;  // how many tokens of prompt and completion come after it
  bool in_prompt = false;       // whether it is before the completion
  std::string before;           // the text before the break, equal on both sides
  std::string kept;             // what the model has seen from there on
  std::string rerendered;       // what the template writes now
  TokensAround tokens;
  std::string field;  // origin of the new text: "messages[1].content via strip", "template line 56"
  causes::Cause cause;
  std::vector<Remedy> remedies;  // best first
};

enum class Verdict : std::uint8_t {
  kHolds,    // "holds"
  kBreaks,   // "breaks"
  kSkipped,  // "skipped": does not apply; Case::note says why
};
[[nodiscard]] std::string_view to_string(Verdict verdict);

// One conversation under one setting.
struct Case {
  std::string scenario;  // stable name: "call-result"; see scenarios.h
  std::string title;     // for people: "one call, result, answer"
  std::string setting;   // "default", "thinking on", "thinking off", "preserve_thinking=true", ...
  json::Object kwargs;   // the values of the setting
  // Every template that renders again would break here (a turn that was cut off, a malformed call): this one is not at
  // fault.
  bool is_inherent = false;
  Verdict string_prefix = Verdict::kSkipped;    // the next prompt begins with the text of prompt and completion
  Verdict token_prefix = Verdict::kSkipped;     // ... with their ids
  Verdict bridge = Verdict::kSkipped;           // the bridge begins with them, and ends as the template does
  Verdict parse_of_render = Verdict::kSkipped;  // the parser reads the message from what the template wrote
  Verdict render_of_parse = Verdict::kSkipped;  // what was read is written as it was sampled
  std::size_t prompt_tokens = 0;
  std::size_t completion_tokens = 0;
  std::optional<Break> broken;  // where token_prefix or string_prefix breaks
  std::string note;             // a sentence: why something was skipped
};

enum class Level : std::uint8_t {
  kNote,     // "note": worth knowing; true of many good templates
  kWarning,  // "warning": costs the cache or changes what the model sees
  kError,    // "error": loses data, or the template fails on legal input
};
[[nodiscard]] std::string_view to_string(Level level);

// A fault or property of the template.
struct Finding {
  std::string rule;  // stable, in kebab case: to_string(CauseKind) for breaks, otherwise a name in rules()
  Level level = Level::kWarning;
  std::string sentence;  // describes the fault
  std::string proof;     // the text that was rendered or parsed to see it: short, with the parts that differ
  causes::TemplatePlace place;
  std::string path;                    // the field concerned
  std::vector<std::string> scenarios;  // "scenario / setting" of the cases that show it
  std::size_t lost_tokens = 0;         // in the worst of these cases
  std::vector<Remedy> remedies;
};

// A rule that findings name, for `rondo check --help`, SARIF and the documentation.
struct Rule {
  std::string_view name;
  Level level;                // the usual one
  std::string_view sentence;  // what it means
};
[[nodiscard]] const std::vector<Rule>& rules();

// A variable that the template reads and that a request may set, and the values that were tried.
struct Knob {
  std::string name;
  std::vector<json::Value> values;
};

struct Report {
  std::string model;          // the caller's name for it
  std::string template_file;  // the file that contains the template; "" if there is none
  // Whether lines of the template are lines of that file; false if the template is a string in a file of another
  // format.
  bool is_own_file = true;
  bool has_tokenizer = true;  // false: token_prefix was skipped, and numbers of tokens mean nothing
  std::vector<std::string> template_lines;
  std::vector<Knob> knobs;
  std::vector<Case> cases;
  std::vector<Finding> findings;  // warnings and errors, worst first
  std::vector<Finding> notes;

  // Returns the highest level in `findings`; kNote if there are none.
  [[nodiscard]] Level worst() const;
};

[[nodiscard]] json::Value to_json(const Report& report);  // docs/check.schema.json

// Reads what to_json() wrote.  Absent members get their defaults; unknown ones are ignored.  Fails with
// kInvalidArgument, which names the first member that does not fit.
[[nodiscard]] Result<Report> report_from_json(const json::Value& value);

}  // namespace rondo::report
