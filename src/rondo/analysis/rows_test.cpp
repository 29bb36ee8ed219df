// What is found of small templates, one in each line of golden/format/rows that begins with `>`: the line stands in the place
// that its file is for, with `⏎` for a line end.  RONDO_UPDATE=1 writes what is found anew; a line may be added with nothing
// below it.
#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "analysis/capabilities.h"
#include "analysis/explain.h"
#include "analysis/message_rules.h"
#include "analysis/reasoning_switch.h"
#include "base/digest.h"
#include "base/files.h"
#include "json/print.h"
#include "tests/support/golden.h"
#include "text/text.h"

namespace rondo::analysis {
namespace {

std::string shown(const std::optional<json::Member>& member) {
  return member ? " " + member->key + "=" + json::to_compact(member->value) : " nothing";
}

std::string shown(const ReasoningSwitch& found) {
  std::string out = "usually " + std::to_string(static_cast<int>(found.usual)) + ", on" + shown(found.on) +
                    (found.is_usually_on ? " (usual)" : "") + ", off" + shown(found.off) +
                    (found.is_usually_off ? " (usual)" : "");
  if (!found.effort.empty()) out += ", effort " + found.effort + (found.takes_any_effort ? " (any)" : "");
  for (const std::string& effort : found.efforts) out += " " + effort;
  return out + (found.budget.empty() ? "" : ", budget " + found.budget);
}

// Returns how many probes there were, and a digest of what the template made of them and of where it wrote each text.
std::string shown(const Explanation& explained) {
  std::string all;
  for (const FieldOrigin& origin : explained.origins) {
    all.append(origin.field);
    for (const OriginPiece& piece : origin.pieces)
      all.append(" ").append(std::to_string(piece.place.line)).append(":").append(std::to_string(piece.place.column));
  }
  for (const ProbeRecord& probe : explained.probes) {
    all.append(probe.name).append(probe.is_other_shape ? " other " : " ").append(probe.refusal);
    for (const ProbePart& part : probe.parts) all.append(part.slot).append(" ").append(part.text);
  }
  return std::to_string(explained.probes.size()) + " probes " + hex_digest({all});
}

// Returns a digest of what clients may send, and of the evidence for it.
std::string capabilities_of(const jinja::Template& chat_template, const format::Format& format) {
  const Options options;
  const tmpl::MessageRules rules = find_message_rules(chat_template, options, format);
  const Studied studied{chat_template, options, format, rules};
  std::string all;
  for (const Capability& capability : find_capabilities(studied, studied).all) {
    all.append(capability.is_supported ? "" : "no ").append(capability.name).append(std::to_string(capability.line));
    all.append(capability.evidence).append(json::to_compact(capability.details));
  }
  return "capabilities " + hex_digest({all});
}

// Returns what is found of the template, in two indented lines.
std::string found_in(const std::string& source) {
  const auto chat_template = jinja::Template::compile(source, {}, "row");
  if (!chat_template.ok()) return "  " + chat_template.error().message + "\n";
  const auto explained = explain(*chat_template.value(), {});
  if (!explained.ok()) return "  " + explained.error().message + "\n";
  const format::Format& format = *explained.value().format;
  std::string out;
  std::istringstream lines(format.to_string());
  for (std::string line; std::getline(lines, line);) out += " " + line;
  return out + "\n  " + shown(find_reasoning_switch(*chat_template.value(), {}, format)) + "; " +
         shown(explained.value()) + "; " + capabilities_of(*chat_template.value(), format) + "\n";
}

// Compares a file of rows, each between these texts.
void check_rows(const std::string& file, const std::string& before, const std::string& behind) {
  const std::string name = "format/rows/" + file;
  const auto rows = files::read(std::string(RONDO_SOURCE_DIR) + "/tests/golden/" + name);
  REQUIRE(rows.ok());
  std::string out;
  std::istringstream lines(rows.value());
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("> ")) continue;
    std::string row = line.substr(2);
    constexpr std::string_view kLineEnd = "⏎";
    for (std::size_t at = row.find(kLineEnd); at != std::string::npos; at = row.find(kLineEnd, at))
      row.replace(at, kLineEnd.size(), "\n");
    std::string source = before;
    source.append(row).append(behind);
    out.append(line).append("\n").append(found_in(source));
  }
  test::check_golden(name, out);
}

const std::string kPrompt = "{%- if add_generation_prompt %}{{- '[assistant>' }}{%- endif %}";
const std::string kTurns =
    "{%- for m in messages %}{{- '[' + m.role + '>' }}"
    "{%- if m.reasoning_content %}{{- '(mull:' + m.reasoning_content + ':mull)' }}{%- endif %}"
    "{{- (m.content or '') + '~fin~' }}{%- endfor %}";

TEST_CASE("what a template tells the model of calls and thoughts that no message shows") {
  check_rows("told.txt", "",
             "{%- for m in messages %}{{- '[' + m.role + '>' + (m.content or '') + '~fin~' }}{%- endfor %}" + kPrompt);
}

TEST_CASE("what generation prompts say of variables") { check_rows("switches.txt", kTurns, ""); }

TEST_CASE("what is told of variables in front of the messages") {
  check_rows("told_switches.txt", "", kTurns + kPrompt);
}

TEST_CASE("calls of all kinds") {
  check_rows("calls.txt", "{%- for m in messages %}{{- '[' + m.role + '>' + (m.content or '') }}",
             "{{- '~fin~' }}{%- endfor %}" + kPrompt);
}

TEST_CASE("turns of all kinds") {
  check_rows("turns.txt",
             "{%- for m in messages %}{%- if m.role != 'assistant' %}{{- '[' + m.role + '>' + m.content + '~fin~' }}"
             "{%- else %}",
             "{%- endif %}{%- endfor %}" + kPrompt);
}

}  // namespace
}  // namespace rondo::analysis
