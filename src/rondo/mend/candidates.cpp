#include "mend/candidates.h"

#include <algorithm>
#include <set>
#include <utility>

namespace rondo::mend {
namespace {

using jinja::TokenKind;

bool is_closing(TokenKind kind) {
  return kind == TokenKind::kRParen || kind == TokenKind::kRBracket || kind == TokenKind::kRBrace;
}

std::string on_line(const Source& source, std::size_t token) {
  return " on line " + std::to_string(source.line_of(source.tokens()[token].begin));
}

// Splits [range) at each `word` that is outside brackets.
std::vector<TokenRange> split_at(const Source& source, TokenRange range, std::string_view word) {
  std::vector<TokenRange> out;
  std::size_t from = range.begin;
  for (std::size_t at = range.begin; at < range.end; at = std::max(at + 1, source.behind_group(at))) {
    if (!source.is_name(at, word)) continue;
    out.push_back({from, at});
    from = at + 1;
  }
  out.push_back({from, range.end});
  return out;
}

// The condition whose first token is `begin`.  It ends at the end of its tag, at the `else` of an inline if, or at a
// closing bracket.
TokenRange condition_at(const Source& source, std::size_t begin) {
  const std::size_t limit = source.tag_of(begin).end;
  std::size_t at = begin;
  while (at < limit && !source.is_name(at, "else") && !source.is_name(at, "recursive") &&
         !source.is(at, TokenKind::kComma) && !is_closing(source.tokens()[at].kind))
    at = source.behind_group(at);
  return {begin, at};
}

// `a and b and c` (or with `or`) without some operands.
std::string without(const Source& source, const std::vector<TokenRange>& operands,
                    const std::set<std::size_t>& left_out, std::string_view word) {
  std::string out;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (left_out.contains(i)) continue;
    if (!out.empty()) out.append(" ").append(word).append(" ");
    out += source.text_of(operands[i]);
  }
  return out;
}

// The tokens of a filter or method call that begin with `|` or `.` at `mark`: `| trim`, `.strip('\n')`.
TokenRange call_at(const Source& source, std::size_t mark) {
  std::size_t end = mark + 2;
  if (source.is(end, TokenKind::kLParen)) end = source.behind_group(end);
  return {mark, end};
}

bool strips(const Source& source, std::size_t mark) {
  static const std::set<std::string, std::less<>> kMethods = {"strip", "lstrip", "rstrip"};
  if (source.is(mark, TokenKind::kPipe)) return source.is_name(mark + 1, "trim");
  return source.is(mark, TokenKind::kDot) && source.is(mark + 1, TokenKind::kName) &&
         kMethods.contains(source.tokens()[mark + 1].text) && source.is(mark + 2, TokenKind::kLParen);
}

// Whether the operand's last member has that name: `call.arguments`, `call['arguments']`, `arguments`.
bool ends_with_member(const Source& source, TokenRange operand, std::string_view name) {
  if (operand.begin == operand.end) return false;
  const std::size_t last = operand.end - 1;
  if (source.is_name(last, name)) return true;
  return operand.end - operand.begin >= 3 && source.is(last, TokenKind::kRBracket) &&
         source.is(last - 1, TokenKind::kString) && source.tokens()[last - 1].text == name;
}

// Replaces the `tojson` whose `|` is `mark`.
Candidate verbatim_candidate(const Source& source, std::size_t mark) {
  const TokenRange call = call_at(source, mark);
  const TokenRange operand{source.operand_begin(mark), mark};
  const TokenRange whole{operand.begin, call.end};
  const std::string value(source.text_of(operand));
  const std::string filter(source.text_of(call));
  if (ends_with_member(source, operand, "arguments") || ends_with_member(source, operand, "parameters")) {
    return {{source.replace(whole, "(" + value + " if " + value + " is string else " + value + filter + ")")},
            "arguments given as text are copied" + on_line(source, mark),
            true};
  }
  // The call as one object, written member by member in the object's order.
  const std::string name = "(" + value + ".name" + filter + ")";
  const std::string arguments = value + ".arguments";
  return {{source.replace(whole, "('{\"name\": ' ~ " + name + " ~ ', \"arguments\": ' ~ " + arguments + " ~ '}' if " +
                                     arguments + " is string else " + value + filter + ")")},
          "arguments given as text are copied into the call's object" + on_line(source, mark),
          true};
}

// The variable of the last loop that begins before a token; "" if there is none.
std::string loop_name_before(const Source& source, std::size_t token) {
  for (std::size_t at = token; at > 1; --at) {
    if (source.is(at - 2, TokenKind::kBlockBegin) && source.is_name(at - 1, "for")) return source.tokens()[at].text;
  }
  return "";
}

// Asks about the last message of a role instead of the last message.
void add_last_of_role(const Source& source, TokenRange condition, std::vector<Candidate>& out) {
  for (std::size_t at = condition.begin; at + 2 < condition.end; ++at) {
    const std::string item = loop_name_before(source, at);
    if (!source.is_name(at, "loop") || !source.is_name(at + 2, "last") || item.empty()) continue;
    out.push_back({{source.replace({at, at + 3}, "(loop.last or loop.nextitem.role != " + item + ".role)")},
                   "the condition" + on_line(source, condition.begin) +
                       " asks for the last message of a role in place of "
                       "the last of all"});
  }
}

// Asks about the first message instead of the last: `loop.first` for `loop.last`, `[0]` for `[-1]`, and `== 0` for the
// other end of a comparison.
void add_mirrors(const Source& source, TokenRange condition, std::vector<Candidate>& out) {
  const auto add = [&](TokenRange range, const std::string& text) {
    out.push_back({{source.replace(range, text)},
                   "the condition" + on_line(source, condition.begin) + " asks `" + text + "` in place of `" +
                       std::string(source.text_of(range)) + "`"});
  };
  for (std::size_t at = condition.begin; at < condition.end; ++at) {
    if (source.is_name(at, "last") && at >= condition.begin + 2 && source.is(at - 1, TokenKind::kDot)) {
      add({at - 2, at + 1}, "loop.first");
    }
    if (source.is(at, TokenKind::kLBracket) && source.is(at + 1, TokenKind::kSub) &&
        source.is(at + 3, TokenKind::kRBracket))
      add({at, at + 4}, "[0]");
    if (!source.is(at, TokenKind::kEq)) continue;
    std::size_t end = at + 1;
    while (source.is(end, TokenKind::kName) && source.is(end + 1, TokenKind::kDot)) end += 2;
    end += source.is(end, TokenKind::kName) ? 1 : 0;
    if (end > at + 1 && end <= condition.end && !source.is_name(at + 1, "true") && !source.is_name(at + 1, "false"))
      add({at + 1, end}, "0");
  }
}

}  // namespace

std::vector<TokenRange> joined_texts(const Source& source, TokenRange tag) {
  std::vector<TokenRange> out;
  std::size_t from = tag.end;
  for (std::size_t at = tag.begin; at < tag.end; at = source.behind_group(at)) {
    if (source.is_name(at, "if")) return {};
    if (!source.is(at, TokenKind::kAdd) && !source.is(at, TokenKind::kTilde)) continue;
    if (from < at) out.push_back({from, at});
    from = at + 1;
  }
  if (from < tag.end) out.push_back({from, tag.end});
  return out;
}

std::vector<Candidate> condition_candidates(const Source& source, std::int32_t line, std::int32_t column,
                                            bool earlier) {
  const auto begin = source.token_at(line, column);
  if (!begin) return {};
  return condition_candidates(source, *begin, earlier);
}

std::vector<Candidate> condition_candidates(const Source& source, std::size_t token, bool earlier) {
  if (source.tag_of(token).begin == source.tag_of(token).end) return {};
  const TokenRange condition = condition_at(source, token);
  if (condition.begin == condition.end) return {};
  std::vector<Candidate> out;
  add_mirrors(source, condition, out);
  for (const std::string_view word : {"and", "or"}) {
    if (word == "and" && split_at(source, condition, "or").size() > 1) continue;
    const std::vector<TokenRange> operands = split_at(source, condition, word);
    const auto add_without = [&](const std::set<std::size_t>& left_out) {
      std::string words;
      for (const std::size_t i : left_out)
        words += (words.empty() ? "`" : " and `") + std::string(source.text_of(operands[i])) + "`";
      out.push_back({{source.replace(condition, without(source, operands, left_out, word))},
                     "the condition" + on_line(source, condition.begin) + " without " + words});
    };
    for (std::size_t i = 0; operands.size() > 1 && i < operands.size(); ++i) add_without({i});
    for (std::size_t i = 0; operands.size() > 2 && i < operands.size(); ++i) {
      for (std::size_t k = i + 1; k < operands.size(); ++k) add_without({i, k});
    }
  }
  out.push_back({{source.replace(condition, earlier ? "true" : "false")},
                 "the condition" + on_line(source, condition.begin) + " is always " + (earlier ? "true" : "false") +
                     ", as it was while the turn was last"});
  add_last_of_role(source, condition, out);
  return out;
}

std::vector<Candidate> strip_candidates(const Source& source, std::int32_t line) {
  std::vector<Candidate> out;
  Candidate all{{}, "nothing is cut off on line " + std::to_string(line), true};
  for (std::size_t mark = 0; mark + 1 < source.tokens().size(); ++mark) {
    if (!strips(source, mark)) continue;
    const TokenRange tag = source.tag_of(mark);
    const bool is_there = source.line_of(source.tokens()[tag.begin].begin) <= line &&
                          line <= source.line_of(source.tokens()[tag.end - 1].begin);
    if (!is_there) continue;
    const TokenRange call = call_at(source, mark);
    out.push_back({{source.replace(call, "")},
                   "`" + std::string(source.text_of(call)) + "`" + on_line(source, mark) + " is left out",
                   true});
    all.edits.push_back(out.back().edits.front());
  }
  if (out.size() > 1) out.push_back(std::move(all));
  return out;
}

std::vector<Candidate> verbatim_candidates(const Source& source) {
  std::vector<Candidate> out;
  for (std::size_t mark = 1; mark + 1 < source.tokens().size(); ++mark) {
    if (source.is(mark, TokenKind::kPipe) && source.is_name(mark + 1, "tojson"))
      out.push_back(verbatim_candidate(source, mark));
  }
  return out;
}

}  // namespace rondo::mend
