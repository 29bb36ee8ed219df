#include "pages/explain_page.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "pages/html.h"

namespace rondo::pages {
namespace {

constexpr std::string_view kExplainStyle =
    R"PAGE(:root { color-scheme: light dark; --paper: #fbfbfa; --card: #fff; --ink: #1c1d21; --soft: #5b5e68; --line: #dddee3; --mark: #ffe27a; --link: #1b4fc4; --slot: #d9efe0; --bad: #b3261e; --good: #18733f; }
@media (prefers-color-scheme: dark) { :root { --paper: #131418; --card: #191b20; --ink: #e9eaee; --soft: #a2a6b3; --line: #32353e; --mark: #5c4a06; --link: #8fb0ff; --slot: #1d4029; --bad: #ff9a91; --good: #83d6a2; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 14px/1.45 system-ui, "Segoe UI", Roboto, sans-serif; }
header { padding: 12px 18px 4px; }
h1 { font-size: 17px; margin: 0; overflow-wrap: anywhere; }
h2 { font-size: 13px; margin: 18px 0 6px; color: var(--soft); }
p { margin: 0; color: var(--soft); }
main { display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr); gap: 16px; padding: 0 18px 24px; }
@media (max-width: 1000px) { main { grid-template-columns: minmax(0, 1fr); } }
code, pre { font: 12.5px/1.55 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; tab-size: 4; }
pre { margin: 0; padding: 8px 12px; background: var(--card); border: 1px solid var(--line); border-radius: 8px; white-space: pre-wrap; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; background: var(--card); border: 1px solid var(--line); border-radius: 8px; }
td, th { text-align: left; vertical-align: top; padding: 4px 10px; border-top: 1px solid var(--line); overflow-wrap: anywhere; }
th { font-weight: 600; border-top: 0; }
td code { white-space: pre-wrap; }
a { color: var(--link); }
a:focus-visible, summary:focus-visible { outline: 2px solid var(--link); outline-offset: 2px; }
.source { counter-reset: line; }
.source div { display: grid; grid-template-columns: 4ch minmax(0, 1fr); gap: 10px; border-radius: 3px; }
.source .n { color: var(--soft); text-align: right; user-select: none; }
.source .used { box-shadow: inset 3px 0 var(--link); }
.source div:target { background: var(--mark); }
.slot { background: var(--slot); border-radius: 3px; font-weight: 600; }
.w { color: var(--soft); opacity: .7; user-select: none; }
.bad { color: var(--bad); } .good { color: var(--good); }
details { margin: 4px 0; } summary { cursor: pointer; }
)PAGE";

std::string text_of(const json::Value& object, std::string_view field) {
  return std::string(object.find_string(field).value_or(""));
}

std::string lines_of(std::string_view text) {
  std::string out = "<pre>";
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    out += html_text(text.substr(0, end)) + "\n";
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out + "</pre>\n";
}

// Fields of the format, by the lines that wrote them.
using FieldsOfLine = std::map<std::int64_t, std::vector<std::string>>;

FieldsOfLine fields_of_lines(const json::Value& reply) {
  FieldsOfLine out;
  for (const json::Value& origin : reply.find("origins")->as_array()) {
    for (const json::Value& piece : origin.find("pieces")->as_array()) {
      const json::Value* line = piece.find("line");
      if (line == nullptr) continue;
      std::vector<std::string>& fields = out[line->to_int64().value_or(0)];
      if (fields.empty() || fields.back() != text_of(origin, "field")) fields.push_back(text_of(origin, "field"));
    }
  }
  return out;
}

std::string origin_rows(const json::Value& reply) {
  std::string out = "<table><tr><th>part</th><th>text</th><th>template</th></tr>\n";
  for (const json::Value& origin : reply.find("origins")->as_array()) {
    std::string lines;
    std::string last;
    for (const json::Value& piece : origin.find("pieces")->as_array()) {
      const json::Value* line = piece.find("line");
      if (line == nullptr || line->number() == last) continue;
      last = line->number();
      if (!lines.empty()) lines += ", ";
      lines.append("<a href=\"#L").append(last).append("\">line ").append(last).append("</a>");
    }
    out += "<tr><td>" + html_text(text_of(origin, "field")) + "</td><td><code>" + html_text(text_of(origin, "text")) +
           "</code></td><td>" + (lines.empty() ? "not seen in a probe" : lines) + "</td></tr>\n";
  }
  return out + "</table>\n";
}

std::string state_rows(const json::Value& reply) {
  std::string out = "<table><tr><th>state</th><th>marker</th><th>leads to</th></tr>\n";
  for (const json::Value& state : reply.find("states")->as_array()) {
    std::string name = html_text(text_of(state, "name"));
    for (const json::Value& exit : state.find("exits")->as_array()) {
      out += "<tr><td>" + std::exchange(name, "") + "</td><td><code>" + html_text(text_of(exit, "marker")) +
             "</code></td><td>" + html_text(text_of(exit, "next")) + "</td></tr>\n";
    }
  }
  return out + "</table>\n";
}

std::string probe_turn(const json::Value& probe) {
  std::string out;
  for (const json::Value& part : probe.find("parts")->as_array()) {
    const std::string slot = text_of(part, "slot");
    const std::string text = html_text(text_of(part, "text"));
    out += slot.empty() ? text : "<span class=\"slot\" title=\"" + html_attribute(slot) + "\">" + text + "</span>";
  }
  return out;
}

std::string probe_list(const json::Value& reply) {
  std::string out;
  for (const json::Value& probe : reply.find("probes")->as_array()) {
    const std::string name = html_text(text_of(probe, "name"));
    if (probe.is_true("refused")) {
      out += "<p>" + name + ": the template refuses it</p>\n";
      continue;
    }
    const json::Value* is_read = probe.find("read_back");
    const bool differs = is_read != nullptr && !is_read->as_bool();
    const std::string_view mark = differs                        ? "<span class=\"bad\">read differently</span>"
                                  : is_read != nullptr           ? "<span class=\"good\">read back</span>"
                                  : probe.is_true("other_shape") ? "another shape of message"
                                                                 : "";
    out += std::string("<details") + (differs ? " open" : "") + "><summary>" + name + " " + std::string(mark) +
           "</summary><pre>" + probe_turn(probe) + "</pre></details>\n";
  }
  return out;
}

std::string source_lines(const json::Value& reply) {
  const FieldsOfLine fields = fields_of_lines(reply);
  std::string out = "<pre class=\"source\">";
  std::int64_t line = 0;
  for (const json::Value& row : reply.find("template")->find("lines")->as_array()) {
    const auto used = fields.find(++line);
    std::string title;
    if (used != fields.end()) {
      for (const std::string& field : used->second) title += (title.empty() ? "" : ", ") + field;
    }
    const std::string number = std::to_string(line);
    out += "<div id=\"L" + number + "\"";
    if (!title.empty()) out += " class=\"used\" title=\"" + html_attribute(title) + "\"";
    out += "><span class=\"n\">" + number + "</span><span>" + html_text(row.as_string()) + "</span></div>";
  }
  return out + "</pre>\n";
}

}  // namespace

std::string explain_page(const json::Value& reply) {
  std::string out = html_head("format", kExplainStyle);
  out += "<header><h1>" + html_text(text_of(*reply.find("template"), "name")) +
         "</h1><p>How the template writes an assistant turn.</p></header>\n<main>\n<section>\n";
  out += "<h2>Format</h2>\n" + lines_of(text_of(reply, "summary"));
  out += "<h2>Where each text stands in the template</h2>\n" + origin_rows(reply);
  out += "<h2>What the parser looks for</h2>\n" + state_rows(reply);
  const std::string grammar = text_of(*reply.find("grammar"), "text");
  if (!grammar.empty()) {
    out +=
        "<h2>Grammar of tool calls (GBNF)</h2>\n<details><summary>of an example, or of the tools that were "
        "named</summary>" +
        lines_of(grammar) + "</details>\n";
  }
  out += "<h2>Probes: turns of placeholders, as the template wrote them</h2>\n" + probe_list(reply);
  out += "</section>\n<section>\n<h2>Template</h2>\n" + source_lines(reply);
  return out + "</section>\n</main>\n</body>\n</html>\n";
}

}  // namespace rondo::pages
