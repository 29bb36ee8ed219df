#include "pages/token_page.h"

#include <array>
#include <cstdio>
#include <map>

#include "base/utf8.h"
#include "pages/html.h"

namespace rondo::pages {
namespace {

constexpr std::string_view kTokenStyle =
    R"PAGE(:root { color-scheme: light dark; --paper: #fbfbfa; --card: #fff; --ink: #1c1d21; --soft: #5b5e68; --line: #dddee3; --l: 92%; --c: .06; --d: 3.5%; }
@media (prefers-color-scheme: dark) { :root { --paper: #131418; --card: #191b20; --ink: #e9eaee; --soft: #a2a6b3; --line: #32353e; --l: 34%; --c: .07; --d: -5%; } }
body { margin: 0; padding: 12px 18px; background: var(--paper); color: var(--ink); font: 14px/1.45 system-ui, "Segoe UI", Roboto, sans-serif; }
h1 { font-size: 17px; margin: 0 0 4px; }
h2 { font-size: 15px; margin: 18px 0 2px; }
p { margin: 0 0 8px; color: var(--soft); }
.legend { display: flex; flex-wrap: wrap; gap: 4px 14px; }
pre { margin: 0; padding: 10px 14px; background: var(--card); border: 1px solid var(--line); border-radius: 8px; white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.75 ui-monospace, "SF Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace; tab-size: 4; }
.t { background: oklch(var(--l) var(--c) var(--h, 250)); border-radius: 3px; padding: 1px 0; }
.t:nth-child(even) { background: oklch(calc(var(--l) - var(--d)) calc(var(--c) * 1.35) var(--h, 250)); }
.t:hover { outline: 2px solid var(--ink); }
.nobody { --c: .008; }
.template { color: var(--soft); }
.sampled { font-weight: 600; }
.added, .special { text-decoration: underline; text-underline-offset: 3px; }
.special { font-weight: 700; }
.learned { box-shadow: inset 0 -3px 0 oklch(62% .17 145); }
.straddles { outline: 1px dashed currentColor; outline-offset: -1px; }
.w { color: var(--soft); opacity: .7; user-select: none; }
)PAGE";

std::int64_t number_at(const json::Value* list, std::size_t i, std::int64_t otherwise) {
  return list == nullptr ? otherwise : list->as_array()[i].to_int64().value_or(otherwise);
}

// The columns of a reply; missing ones are null.
struct Columns {
  explicit Columns(const json::Value& reply)
      : ids(reply.find("ids")),
        offsets(reply.find("offsets")),
        kinds(reply.find("kinds")),
        owners(reply.find("message_indices")),
        content(reply.find("content_mask")),
        sampled(reply.find("sampled_mask")),
        straddles(reply.find("straddles")),
        learned(reply.find("loss_mask")),
        roles(reply.find("roles")) {}

  [[nodiscard]] std::string role(std::int64_t owner) const {
    if (owner < 0) return "no message";
    const auto at = static_cast<std::size_t>(owner);
    const bool is_named = roles != nullptr && at < roles->as_array().size() && roles->as_array()[at].is_string();
    return is_named ? roles->as_array()[at].as_string() : "?";
  }

  const json::Value* ids;
  const json::Value* offsets;
  const json::Value* kinds;
  const json::Value* owners;
  const json::Value* content;
  const json::Value* sampled;
  const json::Value* straddles;
  const json::Value* learned;
  const json::Value* roles;
};

// Hues for roles, in order of appearance.
class Hues {
 public:
  int of(const std::string& role) {
    constexpr std::array<int, 6> kHues = {230, 150, 80, 320, 20, 280};
    return hues_.try_emplace(role, kHues[hues_.size() % kHues.size()]).first->second;
  }
  [[nodiscard]] const std::map<std::string, int>& all() const { return hues_; }

 private:
  std::map<std::string, int> hues_;
};

// The classes and the title of a token, and the style of its owner.
struct TokenMarks {
  std::string classes = "t";
  std::string title;
  std::string style;
};

void add_owner(const Columns& columns, std::size_t i, Hues& hues, TokenMarks& out) {
  const std::int64_t owner = number_at(columns.owners, i, -1);
  const bool is_data = number_at(columns.content, i, 0) != 0;
  const bool is_sampled = number_at(columns.sampled, i, 0) != 0;
  const bool straddles = number_at(columns.straddles, i, 0) != 0;
  const bool is_learned = number_at(columns.learned, i, 0) != 0;
  const auto add = [](std::string& to, bool wanted, std::string_view text) { to += wanted ? text : ""; };
  add(out.classes, is_learned, " learned");
  add(out.classes, !is_data, " template");
  add(out.classes, is_sampled, " sampled");
  add(out.classes, straddles, " straddles");
  add(out.classes, owner < 0, " nobody");
  out.title += owner < 0 ? ", of no message" : ", message " + std::to_string(owner) + " (" + columns.role(owner) + ")";
  out.title += is_data ? ", data" : ", template";
  add(out.title, is_sampled, ", sampled");
  add(out.title, straddles, ", and what follows");
  add(out.title, is_learned, ", in the loss mask");
  if (owner >= 0) out.style = " style=\"--h:" + std::to_string(hues.of(columns.role(owner))) + "\"";
}

std::string token_span(const Columns& columns, std::size_t i, std::string_view text, Hues& hues) {
  const json::Array& range = columns.offsets->as_array()[i].as_array();
  const auto begin = static_cast<std::size_t>(range[0].to_int64().value_or(0));
  const auto end = static_cast<std::size_t>(range[1].to_int64().value_or(0));
  const json::Value* kind = columns.kinds == nullptr ? nullptr : &columns.kinds->as_array()[i];
  TokenMarks marks;
  marks.title =
      "id " + columns.ids->as_array()[i].number() + ", bytes " + std::to_string(begin) + " to " + std::to_string(end);
  if (kind != nullptr && kind->is_string()) {
    marks.classes += " " + kind->as_string();
    marks.title += ", " + kind->as_string() + " token";
  }
  if (columns.owners != nullptr) add_owner(columns, i, hues, marks);
  return "<span class=\"" + marks.classes + "\"" + marks.style + " title=\"" + html_attribute(marks.title) + "\">" +
         html_text(token_text(text.substr(begin, end - begin))) + "</span>";
}

}  // namespace

std::string token_text(std::string_view bytes) {
  if (utf8::is_valid(bytes)) return std::string(bytes);
  std::string out;
  for (std::size_t at = 0; at < bytes.size();) {
    const utf8::Decoded decoded = utf8::decode(bytes, at);
    if (decoded.valid) {
      out += bytes.substr(at, decoded.size);
      at += decoded.size;
      continue;
    }
    std::array<char, 8> hex{};
    std::snprintf(hex.data(), hex.size(), "\\x%02X", static_cast<unsigned>(static_cast<unsigned char>(bytes[at++])));
    out += hex.data();
  }
  return out;
}

namespace {

std::string token_legend(const Columns& columns, const Hues& hues) {
  std::string out = "<p class=\"legend\">";
  for (const auto& [role, hue] : hues.all()) {
    out += "<span class=\"t\" style=\"--h:" + std::to_string(hue) + "\">&nbsp;" + html_text(role) + "&nbsp;</span>";
  }
  out +=
      "<span class=\"template\">template</span><span class=\"sampled\">sampled</span>"
      "<span class=\"special\">special</span><span class=\"straddles\">of several origins</span>";
  if (columns.learned != nullptr) out += "<span class=\"learned\">in the loss mask</span>";
  return out + "</p>\n";
}

std::string token_spans(const Columns& columns, std::string_view text, Hues& hues) {
  std::string out;
  const std::size_t count = columns.ids->as_array().size();
  for (std::size_t i = 0; i < count; ++i) out += token_span(columns, i, text, hues);
  return out;
}

}  // namespace

std::string token_page(const json::Value& reply, std::string_view text) {
  const Columns columns(reply);
  Hues hues;
  const std::string tokens = token_spans(columns, text, hues);
  std::string out = html_head("tokens", kTokenStyle);
  out += "<h1>" + std::to_string(columns.ids->as_array().size()) + " tokens</h1>\n<p>" + std::to_string(text.size()) +
         " bytes, " + std::to_string(utf8::length(text)) + " characters</p>\n";
  if (columns.owners != nullptr) out += token_legend(columns, hues);
  return out + "<pre>" + tokens + "</pre>\n</body>\n</html>\n";
}

std::string samples_page(const std::vector<Sample>& samples) {
  Hues hues;
  std::string body;
  std::string legend;
  for (const Sample& sample : samples) {
    const Columns columns(sample.reply);
    std::size_t learned = 0;
    for (const json::Value& entry : columns.learned->as_array()) learned += entry.to_int64().value_or(0) != 0 ? 1 : 0;
    body += "<h2>" + html_text(sample.title) + "</h2>\n<p>" + std::to_string(learned) + " of " +
            std::to_string(columns.ids->as_array().size()) + " tokens are learned</p>\n<pre>" +
            token_spans(columns, sample.reply.find_string("text").value_or(""), hues) + "</pre>\n";
    legend = token_legend(columns, hues);
  }
  return html_head("loss masks", kTokenStyle) + "<h1>" + std::to_string(samples.size()) + " samples</h1>\n" + legend +
         body + "</body>\n</html>\n";
}

}  // namespace rondo::pages
