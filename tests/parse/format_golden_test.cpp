// The formats of random and invented templates, with the template's place of each of their texts, and what clients may
// send, as golden/format/formats.txt has them: fast, so that any change of the analysis is seen as a difference of lines.
// RONDO_UPDATE=1 writes the file anew.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "analysis/capabilities.h"
#include "analysis/explain.h"
#include "analysis/message_rules.h"
#include "analysis/reasoning_switch.h"
#include "base/digest.h"
#include "base/files.h"
#include "json/print.h"
#include "tests/support/golden.h"
#include "tests/support/random_template.h"
#include "tests/support/varied_template.h"
#include "text/text.h"

namespace rondo {
namespace {

constexpr std::uint64_t kSeeds = 60;
constexpr std::uint64_t kMoreSeeds = 240;

std::string places_of(const analysis::FieldOrigin& origin) {
  std::string out;
  for (const analysis::OriginPiece& piece : origin.pieces)
    out += (out.empty() ? " " : ",") + std::to_string(piece.place.line) + ":" + std::to_string(piece.place.column);
  return origin.field + (out.empty() ? " nowhere" : out);
}

std::string sign(bool is_so, const char* name) { return is_so ? std::string(" ") + name : ""; }

// Returns what messages of the role need, where that is anything.
std::string rules_of(const char* role, const tmpl::RoleRules& rules) {
  const std::string needs =
      (rules.content == tmpl::RoleRules::Content::kAny
           ? ""
           : " content " + std::to_string(static_cast<int>(rules.content))) +
      (rules.empty == tmpl::RoleRules::Empty::kAny ? "" : " empty " + std::to_string(static_cast<int>(rules.empty))) +
      sign(rules.dumps_values, "values") + sign(rules.dumps_lists, "lists") + sign(rules.dumps_scalars, "scalars");
  return needs.empty() ? "" : std::string(" (") + role + needs + ")";
}

std::string rules_of(const tmpl::ToolRules& rules) {
  return sign(rules.wraps, "tools wrapped") + sign(rules.takes_nulls, "tools nulls") +
         sign(rules.describes, "tools described") + sign(rules.gives_properties, "tools properties") +
         sign(rules.describes_parameters, "tools parameters described") +
         sign(rules.takes_null_types, "tools null types");
}

std::string rules_of(const tmpl::MessageRules& rules) {
  const auto number = [](const char* name, int value) {
    return sign(value != 0, name) + (value != 0 ? std::to_string(value) : "");
  };
  const auto text = [](const char* name, const std::string& value) {
    return value.empty() ? "" : std::string(" ") + name + text::quoted(value);
  };
  return rules_of("system", rules.system) + rules_of("user", rules.user) + rules_of("assistant", rules.assistant) +
         rules_of("tool", rules.tool) + number("arguments ", static_cast<int>(rules.arguments)) +
         number("no content ", rules.no_content ? 1 + static_cast<int>(*rules.no_content) : 0) +
         number("ids ", static_cast<int>(rules.ids)) + sign(rules.fills_arguments, "fills") +
         sign(rules.types_calls, "types") + sign(rules.wraps_calls, "wraps") + sign(rules.names_results, "names") +
         sign(rules.orders_results, "orders") + sign(rules.knows_developer, "developer") +
         sign(rules.takes_nulls, "nulls") + sign(rules.takes_empty_calls, "empty") +
         sign(rules.takes_function_calls, "older") + sign(rules.knows_function_role, "function") +
         sign(rules.takes_refusals, "refusals") + sign(rules.content_hides_calls, "hides") +
         sign(rules.needs_tool_list, "list") + sign(rules.reasoning_in_content, "thoughts in content") +
         rules_of(rules.tools) + text("reasoning ", rules.reasoning_field) + text("part ", rules.reasoning_part) +
         text("open ", rules.reasoning_open) + text("close ", rules.reasoning_close);
}

// Returns what a client may send, and how; `tells` adds why.
std::string uses_of(const jinja::Template& chat_template, const format::Format& format, bool tells) {
  const analysis::Options options;
  const tmpl::MessageRules rules = analysis::find_message_rules(chat_template, options, format);
  const analysis::Studied studied{chat_template, options, format, rules};
  const analysis::Capabilities found = analysis::find_capabilities(studied, studied);
  std::string out = "\nmessages:" + rules_of(rules) + "\ncapabilities:";
  for (const analysis::Capability& capability : found.all) {
    out += (tells ? "\n " : "") + std::string(capability.is_supported ? " " : " no ") + capability.name + ":" +
           std::to_string(capability.line);
    if (tells)
      out += " " + capability.evidence + (capability.details.empty() ? "" : " " + json::to_compact(capability.details));
  }
  return out;
}

std::string switch_of(const jinja::Template& chat_template, const format::Format& format) {
  const analysis::ReasoningSwitch found = analysis::find_reasoning_switch(chat_template, {}, format);
  std::string out = "\nswitch:" + sign(found.has_reasoning, "has reasoning") +
                    sign(found.usual == analysis::ReasoningSwitch::State::kOpen, "open") +
                    sign(found.usual == analysis::ReasoningSwitch::State::kClosed, "closed") +
                    sign(found.is_usually_on, "usually on") + sign(found.is_usually_off, "usually off");
  if (found.on) out += " on " + found.on->key + "=" + json::to_compact(found.on->value);
  if (found.off) out += " off " + found.off->key + "=" + json::to_compact(found.off->value);
  if (!found.effort.empty()) out += " effort " + found.effort + sign(found.takes_any_effort, "any");
  for (const std::string& effort : found.efforts) out += " " + effort;
  return out + (found.budget.empty() ? "" : " budget " + found.budget);
}

// Returns how many probes there were, and a digest of what they were and what the template made of them.
std::string probes_of(const analysis::Explanation& explained) {
  std::string all;
  for (const analysis::ProbeRecord& probe : explained.probes) {
    all += probe.name + sign(probe.is_refused, "refused") + sign(probe.is_message, "message") +
           sign(probe.is_other_shape, "other shape") + " " + probe.refusal;
    for (const analysis::ProbePart& part : probe.parts)
      all += "|" + part.slot + " " + std::to_string(part.place.line) + ":" + std::to_string(part.place.column) + " " +
             text::quoted(part.text);
    all += '\n';
  }
  return "\nprobes: " + std::to_string(explained.probes.size()) + " " + hex_digest({all});
}

std::string described(const std::string& name, const std::string& source, bool tells) {
  const auto chat_template = jinja::Template::compile(source, {}, name);
  REQUIRE_MESSAGE(chat_template.ok(), source);
  const auto explained = analysis::explain(*chat_template.value(), {});
  if (!explained.ok()) return "### " + name + "\n" + explained.error().message + "\n";
  const format::Format& format = *explained.value().format;
  std::string out = "### " + name + "\n" + format.to_string() + "places:";
  for (const analysis::FieldOrigin& origin : explained.value().origins) out += "\n  " + places_of(origin);
  return out + uses_of(*chat_template.value(), format, tells) + switch_of(*chat_template.value(), format) +
         (tells ? probes_of(explained.value()) : "") + "\n";
}

// The invented templates, in the order of their paths.
std::vector<std::filesystem::path> invented_templates() {
  std::vector<std::filesystem::path> files;
  for (const char* folder : {"/tests/golden/format/invented", "/tests/golden/audit"}) {
    for (const auto& entry : std::filesystem::directory_iterator(std::string(RONDO_SOURCE_DIR) + folder))
      if (entry.path().extension() == ".jinja") files.push_back(entry.path());
  }
  std::ranges::sort(files);
  return files;
}

std::string read(const std::filesystem::path& file) {
  const auto source = files::read(file.string());
  REQUIRE(source.ok());
  return source.value();
}

TEST_CASE("the formats of random and invented templates are those of the golden file") {
  std::string out;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    out += described("seed " + std::to_string(seed), test::template_text(test::random_shape(seed)), false);
  for (const std::filesystem::path& file : invented_templates())
    out += described(file.filename().string(), read(file), file.parent_path().filename() == "audit");
  test::check_golden("format/formats.txt", out);
}

// described() tells more about one of them.
TEST_CASE("the formats of many more random templates have the digests of the golden file") {
  std::string out;
  for (std::uint64_t seed = kSeeds + 1; seed <= kMoreSeeds; ++seed) {
    const std::string name = "seed " + std::to_string(seed);
    out += hex_digest({described(name, test::template_text(test::random_shape(seed)), true)}) + " " + name + "\n";
  }
  test::check_golden("format/digests.txt", out);
}

TEST_CASE("the formats of edited templates have the digests of the golden file") {
  std::map<std::string, std::string> sources;
  for (const std::filesystem::path& file : invented_templates()) sources[file.filename().string()] = read(file);
  test::check_edited("format/edited.txt", sources,
                     [](const test::EditedTemplate& edited) { return described(edited.row, edited.source, true); });
}

}  // namespace
}  // namespace rondo
