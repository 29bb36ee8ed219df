#include "cli/tokens.h"

#include <algorithm>
#include <array>

#include "base/utf8.h"
#include "cli/io.h"
#include "cli/paint.h"
#include "json/print.h"
#include "pages/token_page.h"

namespace rondo::cli {
namespace {

// Backgrounds on which text is readable, used in turn.
constexpr std::array<std::string_view, 4> kTurns = {"30;48;5;153", "30;48;5;151", "30;48;5;223", "30;48;5;218"};
constexpr std::string_view kLearned = "1;32";
constexpr std::size_t kLongestExcerpt = 60;
constexpr std::string_view kSpecial = "1;97;48;5;60";

struct Token {
  std::string id;
  std::size_t begin = 0;
  std::size_t end = 0;
  std::int64_t owner = -1;
  bool is_special = false;
  bool is_added = false;
  bool is_data = false;
  bool is_sampled = false;
  bool straddles = false;
};

bool flag_at(const json::Value& reply, std::string_view column, std::size_t i) {
  const json::Value* list = reply.find(column);
  return list != nullptr && list->as_array()[i].to_int64().value_or(0) != 0;
}

Token token_at(const json::Value& reply, std::size_t i) {
  Token token;
  token.id = reply.find("ids")->as_array()[i].number();
  const json::Array& range = reply.find("offsets")->as_array()[i].as_array();
  token.begin = static_cast<std::size_t>(range[0].to_int64().value_or(0));
  token.end = static_cast<std::size_t>(range[1].to_int64().value_or(0));
  if (const json::Value* kinds = reply.find("kinds")) {
    const json::Value& kind = kinds->as_array()[i];
    token.is_special = kind.is_string() && kind.as_string() == "special";
    token.is_added = kind.is_string();
  }
  if (const json::Value* owners = reply.find("message_indices"))
    token.owner = owners->as_array()[i].to_int64().value_or(-1);
  token.is_data = flag_at(reply, "content_mask", i);
  token.is_sampled = flag_at(reply, "sampled_mask", i);
  token.straddles = flag_at(reply, "straddles", i);
  return token;
}

// Names and colours of owners.
class TokenOwners {
 public:
  explicit TokenOwners(const json::Value& reply) : roles_(reply.find("roles")) {}
  [[nodiscard]] std::string name(std::int64_t owner) const {
    return roles_.has(owner) ? std::to_string(owner) + " " + roles_.name(owner) : "-";
  }
  [[nodiscard]] std::string colour(std::int64_t owner) const {
    return std::string(roles_.has(owner) ? roles_.colour(owner) : "");
  }

 private:
  Roles roles_;
};

// The bytes as a line can show them.  Each line feed also breaks the line.
std::string shown(std::string_view bytes) {
  std::string out;
  for (const char c : printable(pages::token_text(bytes), true)) {
    if (c == '\n') out += "\u21B5";
    out += c;
  }
  return out;
}

// A colour code for each line, because a background that continues over a line feed fills the rest of the line.
std::string painted(const Paint& paint, std::string_view code, std::string_view text) {
  std::string out;
  while (true) {
    const std::size_t end = text.find('\n');
    out += paint(code, text.substr(0, end));
    if (end == std::string_view::npos) return out;
    out += '\n';
    text.remove_prefix(end + 1);
  }
}

std::string style(const Token& token, std::size_t i, const TokenOwners& owners, bool has_owners) {
  if (!has_owners) return std::string(token.is_added ? kSpecial : kTurns[i % kTurns.size()]);
  // Colours show owners.  The template's text is faint, the model's is bold, and every other token is underlined.
  std::string code = token.is_sampled ? "1" : token.is_data ? "22" : "2";
  if (i % 2 == 1) code += ";4";
  if (token.is_special) code += ";7";
  const std::string colour = owners.colour(token.owner);
  return colour.empty() ? code : code + ";" + colour;
}

// All tokens painted.
std::string painted_tokens(const json::Value& reply, std::string_view text, const Paint& paint) {
  const TokenOwners owners(reply);
  const bool has_owners = reply.find("message_indices") != nullptr;
  std::string out;
  const std::size_t count = reply.find("ids")->as_array().size();
  for (std::size_t i = 0; i < count; ++i) {
    const Token token = token_at(reply, i);
    out +=
        painted(paint, style(token, i, owners, has_owners), shown(text.substr(token.begin, token.end - token.begin)));
  }
  if (!out.ends_with('\n')) out += '\n';
  return out;
}

// A row for every token.
std::string token_table(const json::Value& reply, std::string_view text, bool offsets, const Paint& paint) {
  const TokenOwners owners(reply);
  const bool has_owners = reply.find("message_indices") != nullptr;
  std::string out;
  const std::size_t count = reply.find("ids")->as_array().size();
  std::size_t owner_width = 0;
  for (std::size_t i = 0; has_owners && i < count; ++i) {
    owner_width = std::max(owner_width, utf8::length(owners.name(token_at(reply, i).owner)));
  }
  for (std::size_t i = 0; i < count; ++i) {
    const Token token = token_at(reply, i);
    out += padded(token.id, 8) + " ";
    if (offsets) out += padded(std::to_string(token.begin) + "-" + std::to_string(token.end), 14) + " ";
    if (has_owners) {
      out += paint(owners.colour(token.owner), padded(owners.name(token.owner), owner_width));
      out += token.is_data ? " data     " : " template ";
      out += token.is_sampled ? "sampled " : "        ";
      out += token.straddles ? "straddles " : "          ";
    }
    const std::string piece = pages::token_text(text.substr(token.begin, token.end - token.begin));
    out += paint(token.is_special ? "1" : "", printable(json::to_compact(piece), false)) + "\n";
  }
  return out;
}

// "17 tokens, 64 bytes", spelled out.
std::string token_summary(const json::Value& reply, std::string_view text) {
  const std::size_t count = reply.find("ids")->as_array().size();
  return std::to_string(count) + (count == 1 ? " token, " : " tokens, ") + std::to_string(text.size()) + " bytes";
}

std::string bytes_between(const json::Value& reply, std::string_view text, std::size_t begin, std::size_t end) {
  const std::size_t from = token_at(reply, begin).begin;
  return std::string(text.substr(from, token_at(reply, end - 1).end - from));
}

// Where the template's generation blocks disagree, one per line.
std::string generation_lines(const json::Value& reply, std::string_view text) {
  std::string out;
  for (const json::Value& row : reply.find("generation")->as_array()) {
    const json::Array& ids = row.find("ids")->as_array();
    const auto begin = static_cast<std::size_t>(ids[0].to_int64().value_or(0));
    const auto end = static_cast<std::size_t>(ids[1].to_int64().value_or(0));
    const bool is_covered = row.find("covered")->as_bool();
    out += "message " + row.find("message")->number() + ": {% generation %} " +
           (is_covered ? "covers what no model samples" : "leaves out what the model samples") + ", ids " +
           std::to_string(begin) + " to " + std::to_string(end) + " " +
           elided(printable(json::to_compact(bytes_between(reply, text, begin, end)), false), kLongestExcerpt) + "\n";
  }
  return out;
}

}  // namespace

std::string shown_mask(const json::Value& reply, std::string_view text, const Paint& paint) {
  const std::size_t count = reply.find("ids")->as_array().size();
  std::string out;
  std::size_t learned = 0;
  for (std::size_t begin = 0; begin < count;) {
    const bool is_learned = flag_at(reply, "loss_mask", begin);
    std::size_t end = begin + 1;
    while (end < count && flag_at(reply, "loss_mask", end) == is_learned) ++end;
    const std::string part = bytes_between(reply, text, begin, end);
    if (is_learned) learned += end - begin;
    if (paint.is_on()) {
      out += painted(paint, is_learned ? kLearned : kFaint, printable(part, true));
    } else {
      out += std::string(is_learned ? "1 " : "0 ") + padded(std::to_string(begin) + "-" + std::to_string(end), 14) +
             " " + printable(json::to_compact(part), false) + "\n";
    }
    begin = end;
  }
  if (!out.empty() && !out.ends_with('\n')) out += '\n';
  out += paint(kFaint, std::to_string(learned) + " of " + std::to_string(count) + " ids are learned") + "\n";
  return out + generation_lines(reply, text);
}

std::string shown_tokens(const json::Value& reply, std::string_view text, const TokenView& view) {
  const Paint paint = paint_for(view.color);
  if (view.offsets || !paint.is_on()) return token_table(reply, text, view.offsets, paint);
  return painted_tokens(reply, text, paint) + paint("2", token_summary(reply, text)) + "\n";
}

std::string note_lines(const json::Value& reply) {
  std::string out;
  const json::Value* notes = reply.find("notes");
  if (notes == nullptr || !notes->is_array()) return out;
  for (const json::Value& note : notes->as_array()) out += std::string(kNoteBegin) + note.as_string() + "\n";
  return out;
}

std::string ids_line(const json::Value& reply) {
  std::string line;
  for (const json::Value& id : reply.find("ids")->as_array()) line += (line.empty() ? "" : " ") + id.number();
  return line + "\n";
}

}  // namespace rondo::cli
