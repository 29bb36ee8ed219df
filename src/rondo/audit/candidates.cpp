#include "audit/candidates.h"

#include <algorithm>
#include <set>
#include <utility>

namespace rondo::audit {
namespace {

using jinja::TokenKind;

bool is_closing(TokenKind kind) {
  return kind == TokenKind::kRParen || kind == TokenKind::kRBracket || kind == TokenKind::kRBrace;
}

std::string on_line(const Source& source, std::size_t token) {
  return " on line " + std::to_string(source.line_of(source.tokens()[token].begin));
}

// Splits [range) at the names `word` that stand outside of brackets.
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

// The condition whose first token is `begin`: up to the end of its tag, the `else` of an inline if, or a closing bracket.
TokenRange condition_at(const Source& source, std::size_t begin) {
  const std::size_t limit = source.tag_of(begin).end;
  std::size_t at = begin;
  while (at < limit && !source.is_name(at, "else") && !source.is_name(at, "recursive") &&
         !source.is(at, TokenKind::kComma) && !is_closing(source.tokens()[at].kind))
    at = source.behind_group(at);
  return {begin, at};
}

// `a and b and c` (or with `or`) without the operand `skipped`.
std::string without(const Source& source, const std::vector<TokenRange>& operands, std::size_t skipped,
                    std::string_view word) {
  std::string out;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (i == skipped) continue;
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

// Whether the operand reads a member of that name last: `call.arguments`, `call['arguments']`, `arguments`.
bool ends_with_member(const Source& source, TokenRange operand, std::string_view name) {
  if (operand.begin == operand.end) return false;
  const std::size_t last = operand.end - 1;
  if (source.is_name(last, name)) return true;
  return operand.end - operand.begin >= 3 && source.is(last, TokenKind::kRBracket) &&
         source.is(last - 1, TokenKind::kString) && source.tokens()[last - 1].text == name;
}

// What `a + b ~ c` joins, but for the first; nothing for other expressions.
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

// Variables that loops run over: what may hold a message.
std::vector<std::string> loop_names(const Source& source) {
  std::vector<std::string> out;
  for (std::size_t at = 0; at + 2 < source.tokens().size(); ++at) {
    if (!source.is(at, TokenKind::kBlockBegin) || !source.is_name(at + 1, "for")) continue;
    const std::string& name = source.tokens()[at + 2].text;
    if (std::ranges::find(out, name) == out.end()) out.push_back(name);
  }
  return out;
}

std::string bracketed(const std::string& expression) { return "(" + expression + ")"; }
std::string in_front(const std::string& first, const std::string& second) { return first + " ~ " + second; }
std::string as_output(const std::string& expression) { return "{{ " + expression + " }}"; }

// Of the `tojson` whose `|` is `mark`.
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
  // The call as one object: written member by member, in the order of the object.
  const std::string name = "(" + value + ".name" + filter + ")";
  const std::string arguments = value + ".arguments";
  return {{source.replace(whole, "('{\"name\": ' ~ " + name + " ~ ', \"arguments\": ' ~ " + arguments + " ~ '}' if " +
                                     arguments + " is string else " + value + filter + ")")},
          "arguments given as text are copied into the call's object" + on_line(source, mark),
          true};
}

}  // namespace

std::vector<Candidate> condition_candidates(const Source& source, std::int32_t line, std::int32_t column,
                                            bool earlier) {
  const auto begin = source.token_at(line, column);
  if (!begin || source.tag_of(*begin).begin == source.tag_of(*begin).end) return {};
  const TokenRange condition = condition_at(source, *begin);
  if (condition.begin == condition.end) return {};
  std::vector<Candidate> out;
  for (const std::string_view word : {"and", "or"}) {
    if (word == "and" && split_at(source, condition, "or").size() > 1) continue;
    const std::vector<TokenRange> operands = split_at(source, condition, word);
    for (std::size_t i = 0; operands.size() > 1 && i < operands.size(); ++i) {
      out.push_back({{source.replace(condition, without(source, operands, i, word))},
                     "the condition" + on_line(source, condition.begin) + " without `" +
                         std::string(source.text_of(operands[i])) + "`"});
    }
  }
  out.push_back({{source.replace(condition, earlier ? "true" : "false")},
                 "the condition" + on_line(source, condition.begin) + " is always " + (earlier ? "true" : "false") +
                     ", as it was while the turn was last"});
  return out;
}

std::vector<Candidate> strip_candidates(const Source& source, std::int32_t line) {
  std::vector<Candidate> out;
  Candidate all{{}, "nothing is cut off on line " + std::to_string(line), true};
  for (std::size_t mark = 0; mark + 1 < source.tokens().size(); ++mark) {
    if (!strips(source, mark) || source.line_of(source.tokens()[mark].begin) != line) continue;
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

std::vector<Candidate> insertion_candidates(const Source& source, const text::Literal& place,
                                            std::optional<std::size_t> offset, const Missing& missing) {
  const auto at = source.token_at(place.line, place.column);
  if (!at) return {};
  const SourceToken& token = source.tokens()[*at];
  const TokenRange tag = source.tag_of(*at);
  const bool is_text = token.kind == TokenKind::kData;
  if (offset ? (!is_text && token.kind != TokenKind::kString) || *offset > token.text.size() : tag.begin == tag.end)
    return {};
  std::vector<Candidate> out;
  for (const std::string& message : loop_names(source)) {
    const std::string expression = missing.expression(message);
    const std::string sentence = missing.sentence + on_line(source, *at);
    const auto add = [&](Edit edit) { out.push_back({{std::move(edit)}, sentence}); };
    if (!offset) {
      add(source.replace(tag, in_front(expression, bracketed(std::string(source.text_of(tag))))));
      // Or in front of one of the texts that are joined there.
      for (const TokenRange& operand : joined_texts(source, tag))
        add(source.replace(operand, bracketed(in_front(expression, std::string(source.text_of(operand))))));
    } else if (is_text) {
      add({token.begin + *offset, token.begin + *offset, as_output(expression)});
    } else {
      const std::string_view text = token.text;
      const std::string rest = in_front(expression, quote(text.substr(*offset)));
      add(source.replace({*at, *at + 1}, bracketed(in_front(quote(text.substr(0, *offset)), rest))));
    }
  }
  return out;
}

}  // namespace rondo::audit
