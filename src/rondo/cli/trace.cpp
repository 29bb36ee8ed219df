#include "cli/trace.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "base/utf8.h"
#include "json/print.h"

namespace rondo::cli {
namespace {

constexpr std::size_t kWidth = 120;      // of a report that does not go to a terminal
constexpr std::size_t kTimesPerRow = 3;  // how many are shown for what one row wrote; one more would still be shown
constexpr std::size_t kValueWidth = 40;  // of one value in such a row
constexpr std::size_t kListed = 6;       // members of a list before the rest is only counted

std::int64_t number(const json::Value& object, std::string_view field, std::int64_t otherwise = 0) {
  const json::Value* found = object.find(field);
  return found == nullptr ? otherwise : found->to_int64().value_or(otherwise);
}

std::size_t index(const json::Value& object, std::string_view field) {
  return static_cast<std::size_t>(number(object, field));
}

std::string_view bytes_of(const json::Value& reply, const json::Value& range) {
  const std::string_view text = reply.find_string("text").value_or("");
  const auto begin = static_cast<std::size_t>(number(range, "start"));
  return text.substr(begin, static_cast<std::size_t>(number(range, "end")) - begin);
}

std::string right(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, utf8::length(text)), ' ') + text;
}

// "0-3, 7" for sorted numbers.
std::string ranges(const std::set<std::int64_t>& numbers) {
  std::string out;
  std::size_t shown = 0;
  for (auto at = numbers.begin(); at != numbers.end();) {
    const std::int64_t first = *at;
    std::int64_t last = first;
    for (++at; at != numbers.end() && *at == last + 1; ++at) last = *at;
    if (shown++ == kListed) return out + ", …";
    out += (out.empty() ? "" : ", ") + std::to_string(first) + (last > first ? "-" + std::to_string(last) : "");
  }
  return out;
}

// "messages[…].content": the same field of any message.
std::string any_message(std::string_view path) {
  constexpr std::string_view kMessages = "messages[";
  const std::size_t close = path.find(']');
  if (!path.starts_with(kMessages) || close == std::string_view::npos) return std::string(path);
  return "messages[…" + std::string(path.substr(close));
}

std::string list(const std::vector<std::string>& items, std::size_t most = kListed) {
  std::string out;
  for (std::size_t i = 0; i < items.size() && i < most; ++i) out += (i == 0 ? "" : ", ") + items[i];
  return items.size() > most ? out + ", …" : out;
}

// `paths` without those that only lead to another path.
std::vector<std::string> ends_of(const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    const bool leads_on = std::any_of(paths.begin(), paths.end(), [&](const std::string& other) {
      return other.size() > path.size() && other.starts_with(path) &&
             (other[path.size()] == '.' || other[path.size()] == '[');
    });
    if (!leads_on) out.push_back(path);
  }
  return out;
}

// Names and colours of owners.
class Owners {
 public:
  explicit Owners(const json::Value& trace) : roles_(trace.find("messages")) {}

  [[nodiscard]] std::size_t size() const { return roles_.size(); }
  [[nodiscard]] std::string name(const json::Value& part) const {
    const std::int64_t owner = number(part, "owner", -1);
    const bool is_prompt = part.find("generation_prompt") != nullptr;
    if (owner < 0) return is_prompt ? "generation prompt" : "no message";
    const std::string message = std::to_string(owner) + " " + roles_.name(known(owner));
    return is_prompt ? "generation prompt of " + message : message;
  }
  // How a part is painted: in the colour of its owner, faint if the template wrote it.
  [[nodiscard]] std::string style(const json::Value& part, bool is_literal) const {
    const std::int64_t owner = number(part, "owner", -1);
    const std::string_view colour = owner < 0 ? std::string_view() : roles_.colour(known(owner));
    std::string out(is_literal ? kFaint : "");
    if (!out.empty() && !colour.empty()) out += ';';
    return out.append(colour);
  }

 private:
  [[nodiscard]] std::int64_t known(std::int64_t owner) const {
    return std::min(owner, static_cast<std::int64_t>(roles_.size()) - 1);
  }

  Roles roles_;
};

// A stretch of the prompt that one row of the template wrote for one owner.
struct Stretch {
  std::size_t first = 0;  // parts [first, end)
  std::size_t end = 0;
};

class Report {
 public:
  Report(const json::Value& reply, const Look& look)
      : reply_(reply),
        trace_(*reply.find("trace")),
        parts_(trace_.find("parts")->as_array()),
        origins_(trace_.find("origins")->as_array()),
        rows_(trace_.find("template")->find("rows")->as_array()),
        owners_(trace_),
        paint_(look.paint),
        width_(std::max<std::size_t>(look.width == 0 ? kWidth : look.width, 40)) {
    group();
    for (std::size_t row = 0; row < rows_.size(); ++row) margin_ = std::max(margin_, place(row).size() + 3);
  }

  std::string print() {
    const json::Value& source = *trace_.find("template");
    out_ = paint_("1", printable(source.find_string("name").value_or(""), false)) + ": " +
           counted(index(source, "lines"), "line") + " wrote " +
           counted(reply_.find_string("text").value_or("").size(), "byte") + " for " +
           counted(owners_.size(), "message") + "\n\n";
    std::size_t quiet = 0;  // rows before this one that did nothing
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      if (!is_active(row)) {
        ++quiet;
        continue;
      }
      quiet_rows(row - quiet, row);
      quiet = 0;
      source_row(row, {});
      conditions(row);
      cuts(row);
      wrote(row);
    }
    quiet_rows(rows_.size() - quiet, rows_.size());
    never();
    shaped();
    return std::move(out_);
  }

 private:
  [[nodiscard]] const json::Value& origin(const json::Value& part) const { return origins_[index(part, "origin")]; }

  void group() {
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      std::vector<Stretch>& stretches = wrote_[index(origin(parts_[i]), "row")];
      const bool goes_on =
          !stretches.empty() && stretches.back().end == i && owners_.name(parts_[i - 1]) == owners_.name(parts_[i]);
      if (goes_on) {
        stretches.back().end = i + 1;
      } else {
        stretches.push_back({i, i + 1});
      }
    }
    for (const json::Value& condition : trace_.find("conditions")->as_array()) {
      if (condition.find("outcomes")->as_array().empty()) {
        never_.push_back(&condition);
      } else {
        conditions_[index(condition, "row")].push_back(&condition);
      }
    }
    for (const json::Value& cut : trace_.find("cuts")->as_array()) cuts_[index(cut, "row")].push_back(&cut);
  }

  [[nodiscard]] bool is_active(std::size_t row) const {
    return wrote_.contains(row) || conditions_.contains(row) || cuts_.contains(row);
  }

  // "12", or "1:340" for a row that is only part of its line.
  [[nodiscard]] std::string place(std::size_t row) const {
    const auto line_of = [&](std::size_t i) { return number(rows_[i], "line"); };
    const bool is_part =
        (row > 0 && line_of(row - 1) == line_of(row)) || (row + 1 < rows_.size() && line_of(row + 1) == line_of(row));
    const std::string line = std::to_string(line_of(row));
    return is_part ? line + ":" + std::to_string(number(rows_[row], "column")) : line;
  }

  void source_row(std::size_t row, std::string_view code) {
    const std::string text = printable(rows_[row].find_string("text").value_or(""), false);
    out_ +=
        paint_(kFaint, right(place(row), margin_ - 3) + " | ") + paint_(code, elided(text, width_ - margin_)) + "\n";
  }

  // Prints that rows [from, to) did nothing.
  void quiet_rows(std::size_t from, std::size_t to) {
    constexpr std::size_t kShown = 2;
    if (to - from <= kShown) {
      for (std::size_t row = from; row < to; ++row) source_row(row, kFaint);
      return;
    }
    out_ += paint_(kFaint, right("…", margin_ - 3) + " | lines " + place(from) + " to " + place(to - 1)) + "\n";
  }

  void note(std::string_view sign, const std::string& text) {
    out_ += std::string(margin_, ' ') + paint_("1", sign) + " " + text + "\n";
  }

  // "true 3 times (messages 0-2)".
  [[nodiscard]] std::string how(const json::Value& condition, bool outcome) const {
    const auto times = static_cast<std::size_t>(number(condition, outcome ? "true" : "false"));
    if (times == 0) return {};
    std::set<std::int64_t> owners;
    for (const json::Value& found : condition.find("outcomes")->as_array()) {
      if (found.find("outcome")->as_bool() == outcome && found.find("owner") != nullptr)
        owners.insert(number(found, "owner"));
    }
    std::string text = paint_(outcome ? "32" : "31", outcome ? "true" : "false");
    if (times > 1 && times != owners.size()) text += " " + std::to_string(times) + " times";
    if (owners.empty()) return text;
    return text + (owners.size() == 1 ? " for message " : " for messages ") + ranges(owners);
  }

  void conditions(std::size_t row) {
    const auto found = conditions_.find(row);
    if (found == conditions_.end()) return;
    for (const json::Value* condition : found->second) {
      std::vector<std::string> reads;
      for (const json::Value& outcome : condition->find("outcomes")->as_array()) {
        for (const json::Value& path : outcome.find("reads")->as_array()) {
          std::string name = printable(any_message(path.as_string()), false);
          if (std::find(reads.begin(), reads.end(), name) == reads.end()) reads.push_back(std::move(name));
        }
      }
      const std::string held = how(*condition, true);
      const std::string failed = how(*condition, false);
      std::string text = elided(printable(condition->find_string("text").value_or(""), false), kValueWidth);
      text += ": " + held;
      if (!held.empty() && !failed.empty()) text += ", ";
      text += failed;
      if (!reads.empty()) text += paint_(kFaint, "; read " + list(ends_of(reads)));
      note("?", text);
    }
  }

  void cuts(std::size_t row) {
    const auto found = cuts_.find(row);
    if (found == cuts_.end()) return;
    std::map<std::string, std::vector<std::string>> places;  // by what was cut
    for (const json::Value* cut : found->second) {
      const auto text = cut->find_string("text");
      const auto size = static_cast<std::size_t>(number(*cut, "end") - number(*cut, "start"));
      const std::string what =
          text ? "\"" + elided(printable(*text, false), kValueWidth) + "\"" : counted(size, "byte");
      std::string path = printable(cut->find_string("path").value_or(""), false);
      std::vector<std::string>& paths = places[what];
      if (std::find(paths.begin(), paths.end(), path) == paths.end()) paths.push_back(std::move(path));
    }
    for (const auto& [what, paths] : places) note("-", "cut " + what + " off " + list(paths));
  }

  // True if both parts belong to one value: the same expression wrote them, and neither is template text.
  [[nodiscard]] bool is_one_value(const json::Value& a, const json::Value& b) const {
    const json::Value& from = origin(a);
    const json::Value& to = origin(b);
    return from.find_string("kind") != "literal" && to.find_string("kind") != "literal" &&
           number(from, "line") == number(to, "line") && number(from, "column") == number(to, "column");
  }

  // Template text as it is and values in ⟨⟩, both shortened.
  [[nodiscard]] std::string written(const Stretch& stretch, std::size_t width) const {
    std::string out = paint_(kFaint, "\"");
    std::size_t used = 0;
    for (std::size_t i = stretch.first; i < stretch.end; ++i) {
      if (used >= width) return out + paint_(kFaint, "\" … " + counted(stretch.end - i, "more piece"));
      const json::Value& part = parts_[i];
      const bool is_literal = origin(part).find_string("kind") == "literal";
      std::string bytes(bytes_of(reply_, part));
      for (; i + 1 < stretch.end && is_one_value(part, parts_[i + 1]); ++i) bytes += bytes_of(reply_, parts_[i + 1]);
      std::string text = elided(printable(bytes, false), std::max(kValueWidth, width / 2));
      if (!is_literal) text.insert(0, "⟨").append("⟩");
      used += utf8::length(text);
      out += paint_(owners_.style(part, is_literal), text);
    }
    return out + paint_(kFaint, "\"");
  }

  void wrote(std::size_t row) {
    const auto found = wrote_.find(row);
    if (found == wrote_.end()) return;
    const std::vector<Stretch>& stretches = found->second;
    for (std::size_t i = 0; i < stretches.size(); ++i) {
      if (stretches.size() > kTimesPerRow + 1 && i == kTimesPerRow - 1) {
        note(" ", paint_(kFaint, "… " + std::to_string(stretches.size() - kTimesPerRow) + " times more"));
        i = stretches.size() - 1;
      }
      const std::string owner = owners_.name(parts_[stretches[i].first]);
      note(">", owner + ": " + written(stretches[i], width_ - std::min(width_ / 2, margin_ + 4 + owner.size())));
    }
  }

  // Prints what the template got in another form than it was sent.
  void shaped() {
    const json::Value* sentences = reply_.find("shaped");
    if (sentences == nullptr) return;
    out_ += '\n';
    for (const json::Value& sentence : sentences->as_array()) out_ += printable(sentence.as_string(), false) + "\n";
  }

  void never() {
    std::vector<std::string> conditions;
    for (const json::Value* condition : never_) {
      conditions.push_back("line " + place(index(*condition, "row")) + " `" +
                           elided(printable(condition->find_string("text").value_or(""), false), kValueWidth) + "`");
    }
    std::vector<std::string> idle;
    std::optional<std::size_t> first;
    std::size_t last = 0;
    const auto close = [&] {
      if (first) idle.push_back(place(*first) + (*first == last ? "" : "-" + place(last)));
      first.reset();
    };
    const json::Array& able = trace_.find("idle")->as_array();
    std::size_t next = 0;
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      if (is_active(row)) close();
      if (next == able.size() || able[next].to_int64() != static_cast<std::int64_t>(row)) continue;
      ++next;
      last = row;
      if (!first) first = row;
    }
    close();
    if (!idle.empty() || !conditions.empty()) out_ += '\n';
    if (!idle.empty()) out_ += "did nothing: lines " + list(idle, idle.size()) + "\n";
    if (!conditions.empty())
      out_ += "never asked: " + counted(conditions.size(), "condition") + ": " + list(conditions) + "\n";
  }

  const json::Value& reply_;
  const json::Value& trace_;
  const json::Array& parts_;
  const json::Array& origins_;
  const json::Array& rows_;
  Owners owners_;
  Paint paint_;
  std::size_t width_;
  std::size_t margin_ = 8;                             // columns for places of the template
  std::map<std::size_t, std::vector<Stretch>> wrote_;  // by row of the template, like the next two
  std::map<std::size_t, std::vector<const json::Value*>> conditions_;
  std::map<std::size_t, std::vector<const json::Value*>> cuts_;
  std::vector<const json::Value*> never_;  // conditions that were never evaluated
  std::string out_;
};

}  // namespace

std::string spans_table(const json::Value& reply, const Look& look) {
  constexpr std::size_t kLongestPlace = 48;
  struct Row {
    std::string range;
    std::string place;
    std::string_view from;
    std::string_view text;
  };
  std::vector<Row> rows;
  std::size_t range_width = 12;
  std::size_t place_width = 28;
  for (const json::Value& span : reply.find("spans")->as_array()) {
    Row row{std::to_string(number(span, "start")) + ".." + std::to_string(number(span, "end")),
            {},
            span.find_string("from").value_or(""),
            bytes_of(reply, span)};
    row.place = printable(span.find_string("path").value_or(row.from), false);
    if (const json::Value* line = span.find("line")) row.place += " line " + line->number();
    range_width = std::max(range_width, row.range.size());
    place_width = std::max(place_width, std::min(utf8::length(row.place), kLongestPlace));
    rows.push_back(std::move(row));
  }
  std::string table;
  for (const Row& row : rows) {
    const std::string quoted = "\"" + printable(json::to_compact(row.text), false).substr(1);
    const std::size_t used = range_width + place_width + 2;
    const bool is_template = row.from == "template";
    const std::string text = look.width > used + 12 ? elided(quoted, look.width - used) : quoted;
    table += look.paint(kFaint, padded(row.range, range_width)) + " " +
             look.paint(is_template             ? kFaint
                        : row.from == "message" ? "36"
                                                : "33",
                        padded(row.place, place_width)) +
             " " + look.paint(is_template ? kFaint : "", text) + "\n";
  }
  return table;
}

std::string trace_report(const json::Value& reply, const Look& look) { return Report(reply, look).print(); }

std::string coloured_prompt(const json::Value& reply, const Look& look) {
  const json::Value& trace = *reply.find("trace");
  const json::Array& origins = trace.find("origins")->as_array();
  const Owners owners(trace);
  std::string out;
  for (const json::Value& part : trace.find("parts")->as_array()) {
    const json::Value& origin = origins[index(part, "origin")];
    const bool is_literal = origin.find_string("kind") == "literal";
    out += look.paint(owners.style(part, is_literal), printable(bytes_of(reply, part), true));
  }
  const std::string_view text = reply.find_string("text").value_or("");
  if (!text.empty() && !text.ends_with('\n')) out += '\n';  // so that the next shell prompt begins on a new line
  return out;
}

}  // namespace rondo::cli
