// Finds ids that the template makes itself: it writes one in a call and again in the call's result.
#include "analysis/call_text.h"
#include "analysis/parts.h"
#include "probe/words.h"

namespace rondo::analysis {

using format::trimmed;

namespace {

using PieceKind = format::CallPiece::Kind;

// Returns whether `text` has `"key": "value"`, with any white space.
bool has_member(const std::string& text, const std::string& key, const std::string& value) {
  const std::string quoted = "\"" + key + "\"";
  for (std::size_t at = text.find(quoted); at != std::string::npos; at = text.find(quoted, at + 1)) {
    std::size_t next = text.find_first_not_of(" \n\t", at + quoted.size());
    if (next == std::string::npos || text[next] != ':') continue;
    next = text.find_first_not_of(" \n\t", next + 1);
    if (next != std::string::npos && text.compare(next, value.size() + 2, "\"" + value + "\"") == 0) return true;
  }
  return false;
}

// Returns the end of a literal that touches the text after it.
std::string touching_end(const std::string& literal) {
  const std::size_t last = literal.find_last_of(" \n\t<>[]{}()|=\"'");
  return literal.substr(last == std::string::npos ? 0 : last + 1);
}

// Returns the text before the name in an id: words and a dot or colon, as in `functions.NAME:0`.
std::string id_front(const std::string& literal) {
  if (!literal.ends_with('.') && !literal.ends_with(':')) return "";
  const auto is_of_id = [](char c) {
    return format::is_word(c) || std::string_view(".:-/").find(c) != std::string_view::npos;
  };
  std::size_t begin = literal.size();
  while (begin > 0 && is_of_id(literal[begin - 1])) --begin;
  return literal.substr(begin);
}

// Finds the member with a counter, in a call that is JSON.
void find_counted_member(const Turn& followed, format::JsonRoles& roles) {
  const auto token = std::ranges::find(followed.tokens, SlotKind::kIndex, &Token::kind);
  if (token == followed.tokens.begin() || token == followed.tokens.end()) return;
  const std::string& before = std::prev(token)->text;  // up to `"key": "`
  const std::size_t colon = before.rfind(':');
  const std::size_t end = colon == std::string::npos ? colon : before.rfind('"', colon);
  const std::size_t begin = end == std::string::npos || end == 0 ? std::string::npos : before.rfind('"', end - 1);
  if (begin == std::string::npos || trimmed(std::string_view(before).substr(colon + 1)) != "\"") return;
  const std::string key = before.substr(begin + 1, end - begin - 1);
  if (!has_member(followed.behind, key, token->text)) return;
  roles.id = {key};
  std::erase_if(roles.constants, [&roles](const format::JsonConstant& constant) { return constant.path == roles.id; });
}

// Finds a counter that follows a mark or the name.
void find_counted_piece(const Turn& followed, format::Calls& calls) {
  std::vector<format::CallPiece>& pieces = calls.pieces;
  const auto index = std::ranges::find(pieces, PieceKind::kIndex, &format::CallPiece::kind);
  const auto token = std::ranges::find(followed.tokens, SlotKind::kIndex, &Token::kind);
  if (index == pieces.end() || index == pieces.begin() || token == followed.tokens.end()) return;
  const auto before = std::prev(index);
  if (before->kind != PieceKind::kLiteral) return;
  const std::string counted = touching_end(before->text);
  if (before != pieces.begin() && counted == before->text && std::prev(before)->kind == PieceKind::kName) {
    const auto name = std::prev(before);
    std::string& front = name == pieces.begin() ? calls.call_open : std::prev(name)->text;
    std::string mark = id_front(front);
    // It is an id if the result repeats it.  If the result has the message's own id, the call must have that id too, so
    // it is this one.
    const std::string made = mark + std::string(probe::kFirstTool) + counted + token->text;
    const bool is_repeated = contains(followed.behind, made);
    if (!is_repeated && trimmed(mark) == trimmed(front)) mark.clear();  // the call is recognised by it
    if (is_repeated || contains(followed.behind, probe::call_id(0))) {
      front.resize(front.size() - mark.size());
      name->kind = PieceKind::kNameInId;
      name->front = mark;
      if (counted != ":") name->text = counted;
      pieces.erase(before, std::next(index));
      return;
    }
  }
  if (!counted.empty() && contains(followed.behind, counted + token->text)) index->kind = PieceKind::kId;
}

// Finds a counter in the text before the object of a call in JSON.
void find_counted_marker(const Turn& followed, format::Calls& calls) {
  const std::size_t at = calls.call_open.find(format::kCounter);
  const auto token = std::ranges::find(followed.tokens, SlotKind::kIndex, &Token::kind);
  if (at == std::string::npos || token == followed.tokens.end() || !calls.pieces.empty()) return;
  const std::string counted = touching_end(calls.call_open.substr(0, at));
  if (counted.empty() || !contains(followed.behind, counted + token->text)) return;
  calls.pieces = text_pieces(std::string_view(calls.call_open).substr(at + 1));
  calls.pieces.insert(calls.pieces.begin(), {PieceKind::kId, ""});
  calls.pieces.push_back({PieceKind::kObject, ""});
  calls.call_open.resize(at);
}

}  // namespace

format::Calls with_made_ids(const Evidence& evidence, format::Calls calls) {
  const auto has_counter = [](const auto& entry) {
    return entry.first.calls > 0 && entry.second.turn.has(SlotKind::kIndex);
  };
  if (std::ranges::none_of(evidence.variants, has_counter)) return calls;
  const auto followed = evidence.ask(message_of({.calls = 1}), {.with_result = true});
  if (!followed) return calls;
  if (calls.envelope == format::Envelope::kTags) {
    find_counted_piece(*followed, calls);
  } else if (calls.roles.id.empty()) {
    find_counted_member(*followed, calls.roles);
    if (calls.roles.id.empty() && !calls.is_one_value()) find_counted_marker(*followed, calls);
  }
  return calls;
}

}  // namespace rondo::analysis
