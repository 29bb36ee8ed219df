#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/io.h"
#include "cli/paint.h"
#include "cli/request.h"
#include "json/print.h"
#include "pages/explain_page.h"

namespace rondo::cli {
namespace {

constexpr std::size_t kMarkerWidth = 64;  // of one marker

std::string quoted(std::string_view text) { return json::to_compact(json::Value(std::string(text))); }

// "line 12, 14" for the pieces of a text.
std::string lines_of(const json::Value& pieces) {
  std::vector<std::string> lines;
  for (const json::Value& piece : pieces.as_array()) {
    const json::Value* line = piece.find("line");
    if (line != nullptr && std::ranges::find(lines, line->number()) == lines.end()) lines.push_back(line->number());
  }
  std::string out;
  for (const std::string& line : lines) out += (out.empty() ? "" : ", ") + line;
  return out.empty() ? "-" : out;
}

std::string origins_table(const json::Value& reply, const Paint& paint) {
  const json::Array& origins = reply.find("origins")->as_array();
  std::size_t field_width = 0;
  for (const json::Value& origin : origins)
    field_width = std::max(field_width, origin.find_string("field").value_or("").size());
  std::string out = paint("1", "Where each text stands in the template") + "\n";
  for (const json::Value& origin : origins) {
    const std::string field = padded(std::string(origin.find_string("field").value_or("")), field_width);
    const std::string lines = padded(lines_of(*origin.find("pieces")), 10);
    const std::string text = printable(elided(quoted(origin.find_string("text").value_or("")), kMarkerWidth), false);
    out += "  " + field + "  " + paint("2", "line " + lines) + "  " + paint("36", text) + "\n";
  }
  return out;
}

std::string states_table(const json::Value& reply, const Paint& paint) {
  constexpr std::size_t kNameWidth = 15;
  std::string out = paint("1", "What the parser looks for") + "\n";
  for (const json::Value& state : reply.find("states")->as_array()) {
    std::string name = std::string(state.find_string("name").value_or(""));
    for (const json::Value& exit : state.find("exits")->as_array()) {
      const std::string marker =
          printable(elided(quoted(exit.find_string("marker").value_or("")), kMarkerWidth), false);
      out += "  " + padded(std::exchange(name, ""), kNameWidth) + paint("36", marker) + " -> " +
             std::string(exit.find_string("next").value_or("")) + "\n";
    }
  }
  return out;
}

// A turn with its slots in colours, or in angle brackets.
std::string turn_of(const json::Value& probe, const Paint& paint) {
  std::string out;
  for (const json::Value& part : probe.find("parts")->as_array()) {
    const std::string text = printable(part.find_string("text").value_or(""), false);
    const auto slot = part.find_string("slot");
    if (!slot) {
      out += paint("2", text);
    } else {
      out += paint.is_on() ? paint("32", text) : "<" + std::string(*slot) + ":" + text + ">";
    }
  }
  return out;
}

// The outcome of a probe, and the colour in which to print it.
struct Outcome {
  const char* word;
  const char* colour;
};

Outcome outcome_of(const json::Value& probe) {
  if (probe.is_true("refused")) return {"refused", "33"};
  if (probe.is_true("other_shape")) return {"other shape", "2"};
  if (probe.find("read_back") == nullptr) return {"prompt", "2"};
  return probe.is_true("read_back") ? Outcome{"read", "32"} : Outcome{"differs", "31"};
}

std::string probes_report(const json::Value& reply, bool all, const Paint& paint) {
  const json::Array& probes = reply.find("probes")->as_array();
  std::size_t refused = 0;
  std::size_t asked = 0;
  std::size_t read_back = 0;
  std::string turns;
  for (const json::Value& probe : probes) {
    refused += probe.is_true("refused") ? 1 : 0;
    asked += probe.find("read_back") != nullptr ? 1 : 0;
    read_back += probe.is_true("read_back") ? 1 : 0;
    const bool differs = probe.find("read_back") != nullptr && !probe.is_true("read_back");
    if (!all && !differs) continue;
    const Outcome outcome = outcome_of(probe);
    turns += "  " + paint(outcome.colour, outcome.word) + "  " + printable_text(probe, "name") + "\n";
    for (const char* why : {"refusal", "difference"}) {
      if (const auto sentence = probe.find_string(why)) turns += "      " + printable(*sentence, false) + "\n";
    }
    if (probe.find("parts") != nullptr) turns += "      " + turn_of(probe, paint) + "\n";
  }
  return paint("1", "Probes") + "\n  " + std::to_string(probes.size()) + " rendered, " + std::to_string(refused) +
         " refused by the template; the parser reads " + std::to_string(read_back) + " of " + std::to_string(asked) +
         " back as the message was\n" + turns;
}

std::string grammar_text(const json::Value& reply, const Paint& paint) {
  const json::Value& grammar = *reply.find("grammar");
  std::string out = paint("1", "Grammar") + ", from";
  for (const json::Value& trigger : grammar.find("triggers")->as_array())
    out += " " + paint("36", printable(quoted(trigger.as_string()), false));
  return out + " on\n" + printable(text_of(grammar, "text"), true) + "\n";
}

std::string for_people(const json::Value& reply, const ExplainArguments& arguments) {
  const Paint paint = paint_for(arguments.color);
  const json::Value& source = *reply.find("template");
  std::string out = paint("1", printable_text(source, "name")) + ", " +
                    counted(source.find("lines")->as_array().size(), "line") + "\n\n";
  out += paint("1", "Format") + "\n";
  std::string_view rest = reply.find_string("summary").value_or("");
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    out += "  " + printable(rest.substr(0, end), false) + "\n";
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return out + "\n" + origins_table(reply, paint) + "\n" + states_table(reply, paint) + "\n" +
         (arguments.grammar ? grammar_text(reply, paint) : "") + probes_report(reply, arguments.probes, paint);
}

std::string capabilities_table(const json::Value& capabilities, const Paint& paint) {
  constexpr std::size_t kNameWidth = 23;
  std::string out;
  std::string variables;
  for (const json::Member& member : capabilities.as_object()) {
    if (member.value.is_array()) {
      for (const json::Value& name : member.value.as_array())
        variables += (variables.empty() ? "" : ", ") + printable(name.as_string(), false);
      continue;
    }
    const bool is_supported = member.value.is_true("supported");
    const json::Value* line = member.value.find("line");
    out += padded(member.key, kNameWidth) + (is_supported ? paint("32", "yes") + "  " : paint("2", "no") + "   ") +
           padded(line == nullptr ? "" : "line " + line->number(), 10) +
           printable(elided(member.value.find_string("evidence").value_or(""), 100), false) + "\n";
  }
  return out + "\n" + paint("1", "Variables that the template reads") + ": " +
         (variables.empty() ? "none" : variables) + "\n";
}

Status check(const ExplainArguments& arguments) {
  if (arguments.capabilities && (arguments.html || arguments.probes || arguments.grammar || arguments.format))
    return Error(ErrorCode::kInvalidArgument,
                 "--capabilities goes with none of --html, --probes, --grammar and --format");
  if (arguments.html && (arguments.json || arguments.probes || arguments.grammar || arguments.format))
    return Error(ErrorCode::kInvalidArgument,
                 "--html shows everything; it goes with none of --json, --probes, --grammar and --format");
  return arguments.html ? check_page_file(arguments.html_file) : Done{};
}

Result<json::Value> make_request(const ExplainArguments& arguments) {
  json::Object request{{"op", "explain"}};
  add_model(request, arguments.model);
  if (Status status = add_kwargs(request, arguments.kwargs); !status.ok()) return status.error();
  if (Status status = add_json(request, "tools", arguments.tools, "--tools"); !status.ok()) return status.error();
  if (Status status = add_json(request, "corrections", arguments.corrections, "--correct"); !status.ok())
    return status.error();
  if (arguments.capabilities) request.set("capabilities", true);
  return json::Value(std::move(request));
}

}  // namespace

int run_explain(const ExplainArguments& arguments) {
  if (Status status = check(arguments); !status.ok()) return refuse(status.error());
  auto request = make_request(arguments);
  if (!request.ok()) return report(request.error());
  const protocol::Service service(service_options());
  auto reply = run_with_vocabulary(service, request.value(), arguments.model);
  if (!reply.ok()) return report(reply.error());
  if (arguments.capabilities) {
    const json::Value& capabilities = *reply.value().find("capabilities");
    if (arguments.json) return print_json(capabilities);
    return print(capabilities_table(capabilities, paint_for(arguments.color))) ? kSuccess : kFailure;
  }
  if (arguments.html) return put_page(pages::explain_page(reply.value()), arguments.html_file);
  if (arguments.format) return print(json::to_pretty(*reply.value().find("format")) + "\n") ? kSuccess : kFailure;
  if (arguments.json) return print_json(reply.value());
  return print(for_people(reply.value(), arguments)) ? kSuccess : kFailure;
}

}  // namespace rondo::cli
