// Shows one case of a check: what was kept, what is written now, why, and what helps.
#include <algorithm>
#include <array>
#include <cstdio>

#include "base/utf8.h"
#include "json/print.h"
#include "pages/check_parts.h"
#include "pages/html.h"
#include "pages/token_page.h"
#include "report/summary.h"

namespace rondo::pages {
namespace {

constexpr std::size_t kPieces = 300;  // compared in each text; the comparison table has their product

struct Piece {
  std::string text;
  std::int64_t key = 0;  // the id of a token; unused for words
  bool differs = false;
  bool operator==(const Piece& other) const { return key == other.key && text == other.text; }
};
using Pieces = std::vector<Piece>;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}

// Words, and the single characters between them.  The text after the limit is one piece.
Pieces words_of(std::string_view text) {
  Pieces out;
  while (!text.empty()) {
    std::size_t size = 1;
    if (out.size() + 1 == kPieces) {
      size = text.size();
    } else if (is_word(text.front())) {
      while (size < text.size() && is_word(text[size])) ++size;
    }
    out.push_back({std::string(text.substr(0, size))});
    text.remove_prefix(size);
  }
  return out;
}

Pieces tokens_of(const std::vector<report::TokenView>& tokens) {
  Pieces out;
  for (const report::TokenView& token : tokens) out.push_back({token.text, token.id});
  if (out.size() > kPieces) out.resize(kPieces);
  return out;
}

// Marks the pieces that are not in the longest common subsequence.
void compare(Pieces& left, Pieces& right) {
  const std::size_t width = right.size() + 1;
  std::vector<std::size_t> length((left.size() + 1) * width, 0);  // for the rests from (i, j)
  for (std::size_t i = left.size(); i-- > 0;) {
    for (std::size_t j = right.size(); j-- > 0;) {
      length[i * width + j] = left[i] == right[j] ? length[(i + 1) * width + j + 1] + 1
                                                  : std::max(length[(i + 1) * width + j], length[i * width + j + 1]);
    }
  }
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < left.size() || j < right.size()) {
    if (i < left.size() && j < right.size() && left[i] == right[j]) {
      ++i;
      ++j;
    } else if (j == right.size() || (i < left.size() && length[(i + 1) * width + j] >= length[i * width + j + 1])) {
      left[i++].differs = true;
    } else {
      right[j++].differs = true;
    }
  }
}

// Adjacent differences share one mark.
std::string words_html(const Pieces& pieces, const std::string& mark) {
  std::string out;
  std::string run;
  const auto flush = [&](bool differs) {
    if (run.empty()) return;
    const std::string text = marked_text(run, differs);
    out += differs ? "<" + mark + ">" + text + "</" + mark + ">" : text;
    run.clear();
  };
  bool differs = false;
  for (const Piece& piece : pieces) {
    if (piece.differs != differs) flush(differs);
    differs = piece.differs;
    run += piece.text;
  }
  flush(differs);
  return out;
}

std::string tokens_html(const Pieces& before, const Pieces& pieces, const std::string& mark) {
  std::string out;
  const auto put = [&](const Piece& piece, bool is_before) {
    const std::string text = marked_text(token_text(piece.text), true);
    const std::string name = piece.differs ? mark : "span";
    out += "<" + name + " class=\"t" + (is_before ? " shared" : "") + "\" title=\"id " + std::to_string(piece.key) +
           "\">" + (text.empty() ? "&#8203;" : text) + "</" + name + ">";
  };
  for (const Piece& piece : before) put(piece, true);
  for (const Piece& piece : pieces) put(piece, false);
  return out;
}

std::string side(std::string_view name, const std::string& content) {
  return "<div class=\"side\"><h5>" + std::string(name) + "</h5><pre>" + content + "</pre></div>\n";
}

std::string difference(const report::Break& broken) {
  Pieces kept = words_of(broken.kept);
  Pieces rerendered = words_of(broken.rerendered);
  compare(kept, rerendered);
  const std::string before = "<span class=\"shared\">" + marked_text(broken.before, false) + "</span>";
  std::string out = "<div class=\"sides\">\n" + side("The model has seen", before + words_html(kept, "del")) +
                    side("The template writes now", before + words_html(rerendered, "ins")) + "</div>\n";
  if (broken.tokens.empty()) return out;
  const Pieces shared = tokens_of(broken.tokens.before);
  Pieces seen = tokens_of(broken.tokens.kept);
  Pieces now = tokens_of(broken.tokens.rerendered);
  compare(seen, now);
  return out + "<div class=\"sides tokens\">\n" + side("Token by token", tokens_html(shared, seen, "del")) +
         side("Token by token", tokens_html(shared, now, "ins")) + "</div>\n";
}

std::string fact(std::string_view name, const std::string& html) {
  return html.empty() ? "" : "<dt>" + std::string(name) + "</dt><dd>" + html + "</dd>\n";
}

std::string cause_facts(const CheckedModel& model, const report::Break& broken) {
  const causes::Cause& cause = broken.cause;
  std::string text = "<b>" + std::string(causes::to_string(cause.kind)) + "</b>";
  if (!cause.sentence.empty()) text += ": " + shown(cause.sentence);
  return fact("cause", text) + fact("template", place_link(model, cause.place, true)) +
         fact("field", cause.path.empty() ? "" : "<code>" + shown(cause.path) + "</code>") +
         fact("written from", shown(broken.field)) +
         fact("kept", std::to_string(broken.kept_tokens) + " tokens" +
                          (broken.in_prompt ? "; the break lies in the prompt" : "")) +
         fact("lost", std::to_string(broken.lost_tokens) + " tokens");
}

}  // namespace

std::string remedy_list(const std::vector<report::Remedy>& remedies) {
  if (remedies.empty()) return "";
  std::string out = "<ul class=\"remedies\">\n";
  for (const report::Remedy& remedy : remedies) {
    out += remedy.is_verified ? "<li><span class=\"badge yes\">\u2713 verified</span> "
                              : "<li><span class=\"badge\">not tried</span> ";
    out += shown(remedy.sentence);
    if (!remedy.kwargs.empty()) out += " <code>" + shown(json::to_compact(json::Value(remedy.kwargs))) + "</code>";
    out += "</li>\n";
  }
  return out + "</ul>\n";
}

std::string case_body(const CheckedModel& model, const report::Case& played) {
  if (!played.broken && played.note.empty() && report::verdict_of(played) != report::Verdict::kBreaks) return "";
  std::string facts;
  if (!played.kwargs.empty())
    facts += fact("variables", "<code>" + shown(json::to_compact(json::Value(played.kwargs))) + "</code>");
  if (model.report.has_tokenizer) {
    facts += fact("size", std::to_string(played.prompt_tokens) + " tokens of prompt, " +
                              std::to_string(played.completion_tokens) + " sampled");
  }
  if (played.is_inherent) facts += fact("inherent", "any template that renders again breaks here");
  facts += fact("note", shown(played.note));
  if (played.broken) facts += cause_facts(model, *played.broken);
  std::string out = "<dl>\n" + facts + "</dl>\n";
  if (!played.broken) return out;
  out = difference(*played.broken) + out;
  const std::string remedies = remedy_list(played.broken->remedies);
  return remedies.empty() ? out : out + "<h5>What helps</h5>\n" + remedies;
}

}  // namespace rondo::pages
