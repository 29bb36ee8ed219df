#include "parse/call_tag.h"

#include <algorithm>

#include "format/escapes.h"
#include "format/units.h"
#include "parse/attributes.h"
#include "parse/machine.h"

namespace rondo::parse {
namespace {

using PieceKind = format::CallPiece::Kind;

// Text of the format with kCounter in place of each slot, the slots in order, and for each byte the piece behind it.
struct FlatPieces {
  std::string text;
  std::vector<PieceKind> slots;
  std::vector<std::size_t> next;

  void add(std::string_view literal, std::size_t piece) {
    text += literal;
    next.resize(text.size(), piece);
    for (std::size_t i = static_cast<std::size_t>(std::ranges::count(literal, format::kCounter)); i > 0; --i)
      slots.push_back(PieceKind::kIndex);
  }
  void add_slot(PieceKind kind, std::size_t piece) {
    text += format::kCounter;
    next.push_back(piece);
    slots.push_back(kind);
  }
};

// Adds the pieces from `first` on, up to the arguments.
void add_pieces(const format::Calls& calls, std::size_t first, FlatPieces& out) {
  for (std::size_t i = first; i < calls.pieces.size(); ++i) {
    const format::CallPiece& piece = calls.pieces[i];
    if (piece.kind == PieceKind::kArguments || piece.kind == PieceKind::kObject) return;
    if (piece.kind == PieceKind::kLiteral)
      out.add(piece.text, i + 1);
    else
      out.add_slot(piece.kind, i + 1);
  }
}

// Reads a tag at `begin` of the pieces.
class FlatTagReader {
 public:
  FlatTagReader(const FlatPieces& flat, std::size_t begin) : flat_(flat), at_(begin) {
    slot_ =
        static_cast<std::size_t>(std::ranges::count(std::string_view(flat.text).substr(0, begin), format::kCounter));
  }

  std::optional<CallTag> read() {
    if (!read_head() || !read_slots() || tag_.slots.empty()) return std::nullopt;
    tag_.piece = flat_.next[at_];
    const std::size_t rest = ++at_;
    while (at_ < flat_.text.size() && flat_.next[at_] == tag_.piece) ++at_;
    tag_.rest = flat_.text.substr(rest, at_ - rest);
    return tag_;
  }

 private:
  [[nodiscard]] char byte() const { return at_ < flat_.text.size() ? flat_.text[at_] : '\0'; }

  // Reads `<word`, `</word` or `[word`, and a number behind a mark, as in `<word#1`.
  bool read_head() {
    const std::size_t begin = at_;
    if (byte() != '<' && byte() != '[') return false;
    tag_.end = byte() == '<' ? ">" : "]";
    ++at_;
    if (byte() == '/') ++at_;
    const std::size_t word = at_;
    while (format::is_word(byte()) || byte() == '-') ++at_;
    if (at_ == word || at_ == flat_.text.size()) return false;
    tag_.head = flat_.text.substr(begin, at_ - begin);
    const bool is_mark = byte() == '#' || byte() == ':' || byte() == '.';
    if (!is_mark || at_ + 1 == flat_.text.size() || flat_.text[at_ + 1] != format::kCounter) return true;
    ++at_;
    return bare_slot();
  }

  // Reads the slots up to the end of the tag.
  bool read_slots() {
    while (byte() != tag_.end.front()) {
      if (!format::is_space(byte())) return false;
      while (format::is_space(byte())) ++at_;
      if (byte() == tag_.end.front()) return true;
      if (!(byte() == format::kCounter ? bare_slot() : attribute())) return false;
    }
    return true;
  }

  // A number or an id without the name of an attribute.
  bool bare_slot() {
    ++at_;
    const PieceKind kind = flat_.slots[slot_++];
    tag_.slots.push_back({"", kind, 0});
    return kind == PieceKind::kIndex || kind == PieceKind::kId;
  }

  bool attribute() {
    const std::size_t name = at_;
    while (format::is_tag_byte(byte())) ++at_;
    CallTag::Slot slot{flat_.text.substr(name, at_ - name), PieceKind::kLiteral, 0};
    if (at_ == name || byte() != '=') return false;
    ++at_;
    if (byte() == '"' || byte() == '\'') slot.quote = flat_.text[at_++];
    if (byte() == format::kCounter) {
      slot.kind = flat_.slots[slot_++];
      ++at_;
    } else {
      while (at_ < flat_.text.size() && (slot.quote != 0 ? byte() != slot.quote : format::is_tag_byte(byte())) &&
             byte() != format::kCounter)
        ++at_;
    }
    if (slot.quote != 0 && byte() != slot.quote) return false;
    if (slot.quote != 0) ++at_;
    tag_.slots.push_back(std::move(slot));
    return true;
  }

  const FlatPieces& flat_;
  std::size_t at_;
  std::size_t slot_ = 0;
  CallTag tag_;
};

}  // namespace

const CallTag::Slot* CallTag::name() const {
  const auto found = std::ranges::find_if(
      slots, [](const Slot& slot) { return slot.kind == PieceKind::kName || slot.kind == PieceKind::kNameInId; });
  return found == slots.end() ? nullptr : &*found;
}

const CallTag::Slot* CallTag::find(std::string_view attribute) const {
  const auto found = std::ranges::find(slots, attribute, &Slot::name);
  return found == slots.end() ? nullptr : &*found;
}

std::string plain_opener(std::string_view opener) {
  format::Calls calls;
  calls.call_open = opener;
  const auto tag = opening_tag(calls);
  return tag ? std::string(opener.substr(0, tag->begin)) + tag->bare() + tag->rest : "";
}

std::optional<CallTag> opening_tag(const format::Calls& calls) {
  FlatPieces flat;
  flat.add(calls.call_open, 0);
  const std::size_t opener = flat.text.size();
  add_pieces(calls, 0, flat);
  for (std::size_t begin = opener; begin-- > 0;) {
    auto tag = FlatTagReader(flat, begin).read();
    if (!tag) continue;
    tag->begin = begin;
    return tag;
  }
  return std::nullopt;
}

std::optional<CallTag> closing_tag_of_call(const format::Calls& calls, std::size_t behind) {
  FlatPieces flat;
  add_pieces(calls, behind, flat);
  flat.add(calls.call_close, calls.pieces.size());
  const std::size_t begin = flat.text.find_first_not_of(" \t\r\n");
  auto tag = begin == std::string::npos ? std::nullopt : FlatTagReader(flat, begin).read();
  return tag && tag->head.substr(1).starts_with('/') ? tag : std::nullopt;
}

// Reads the call's opening tag at `at`, however its attributes are written.  kFull needs a name where the format has one in
// the tag, and a call's own text behind the tag.  `is_sure`: what is before the tag proves a call.
Machine::TagRead Machine::call_tag_at(std::size_t at, bool is_sure) const {
  TagRead out;
  const std::optional<CallTag>& tag = syntax_->rare.call_tag;
  if (!tag || !options().tools) return out;
  std::string_view text = std::string_view(buffer_).substr(at);
  const std::size_t same = std::min(text.size(), tag->head.size());
  if (text.substr(0, same) != std::string_view(tag->head).substr(0, same)) return out;
  text.remove_prefix(same);
  if (text.empty()) return {is_end_ ? MatchKind::kNone : MatchKind::kPartial};
  if (format::is_word(text.front())) return out;
  for (const std::string& end : {tag->end, "/" + tag->end}) {
    AttributeReader reader(text, is_end_);
    const Match match = reader.up_to(end, 0);
    if (match.kind == MatchKind::kPartial) return {match.kind};
    if (match.kind == MatchKind::kNone) continue;
    out.is_empty_tag = end.size() > tag->end.size();
    out.end = at + same + match.size;
    assign_attributes(reader.attributes(), out);
    out.kind = tag_goes_on(out, is_sure);
    return out;
  }
  return out;
}

// Finds out what the attributes of a call's tag mean.
void Machine::assign_attributes(const std::vector<Attribute>& attributes, TagRead& out) const {
  const CallTag& tag = *syntax_->rare.call_tag;
  const CallTag::Slot* last = nullptr;
  for (const Attribute& written : attributes) {
    const CallTag::Slot* slot = tag.find(written.name);
    out.is_foreign =
        out.is_foreign || slot == nullptr || slot->quote != written.quote || (last != nullptr && slot <= last);
    if (slot == nullptr) continue;
    last = slot;
    if (slot->kind == PieceKind::kId) out.id = written.value;
    if (slot->kind == PieceKind::kName || slot->kind == PieceKind::kNameInId) out.name = written.value;
  }
}

// Returns whether the tag names a tool, and whether a call goes on behind it.
MatchKind Machine::tag_goes_on(TagRead& read, bool is_sure) const {
  const CallTag& tag = *syntax_->rare.call_tag;
  const CallTag::Slot* slot = tag.name();
  if (slot != nullptr) {
    const std::string name = meant_name(slot->kind, std::string(read.name));
    if (name.empty() || (!is_sure && !syntax_->is_known_tool(name))) return MatchKind::kNone;
    if (read.is_empty_tag) return MatchKind::kFull;
  }
  const MatchKind open = is_end_ ? MatchKind::kNone : MatchKind::kPartial;
  const std::size_t at = skip_space(read.end);
  if (at == buffer_.size()) return open;
  const Marker& rest = syntax_->rare.behind_call_tag;
  if (rest.empty()) return slot != nullptr ? MatchKind::kFull : call_body_at(at);
  const Match match = rest.match(std::string_view(buffer_).substr(at), is_end_, starts());
  if (match.kind == MatchKind::kNone && slot != nullptr && buffer_[at] == '{') return MatchKind::kFull;
  if (match.kind != MatchKind::kFull) return match.kind;
  read.end = at + match.size;
  const std::size_t body = skip_space(read.end);
  if (body == buffer_.size()) return open;
  return slot != nullptr ? MatchKind::kFull : call_body_at(body);
}

// Matches what the format writes behind a call's tag, where the tag does not name the tool.
MatchKind Machine::call_body_at(std::size_t at) const {
  const std::vector<format::CallPiece>& pieces = syntax_->format->calls.pieces;
  const std::size_t piece = syntax_->rare.call_tag->piece;
  if (piece >= pieces.size() || pieces[piece].kind == PieceKind::kObject) {
    const std::size_t inner = buffer_[at] == '[' ? skip_space(at + 1) : at;
    if (inner == buffer_.size()) return is_end_ ? MatchKind::kNone : MatchKind::kPartial;
    return buffer_[inner] == '{' ? MatchKind::kFull : MatchKind::kNone;
  }
  if (pieces[piece].kind == PieceKind::kLiteral)
    return syntax_->piece_markers[piece].match(std::string_view(buffer_).substr(at), is_end_, starts()).kind;
  if (pieces[piece].kind != PieceKind::kName) return MatchKind::kFull;
  return tool_name_at(at, [this](std::size_t behind) {
    const bool goes_on = behind < buffer_.size() && format::is_word(buffer_[behind]);
    return goes_on ? MatchKind::kNone : MatchKind::kFull;
  });
}

// Goes on behind the tag that was read.
void Machine::take_call_tag(const TagRead& read) {
  const CallTag& tag = *syntax_->rare.call_tag;
  (void)start_body();
  if (const CallTag::Slot* slot = tag.name(); slot != nullptr) take_name(slot->kind, std::string(read.name));
  if (!read.id.empty()) call_.id = std::string(read.id);
  if (read.is_foreign) note_foreign_tag();
  call_.piece = tag.piece;
  pos_ = read.end;
  if (read.is_empty_tag && !needs_evidence()) end_without_arguments(pos_, pos_);
}

// Begins a call at a tag that is not as the format writes it.
MatchKind Machine::respelled_call(std::size_t at) {
  if (!options().calls || foreign_.own_syntax != nullptr || base_ + at < prompt_.bytes) return MatchKind::kNone;
  const TagRead read = call_tag_at(at, false);
  if (read.kind != MatchKind::kFull) return read.kind;
  if (!top_.is_blank && is_quoted(at)) return MatchKind::kNone;
  thoughts_.have_call = false;
  foreign_.closes.clear();
  begin_attempt(section_.is_open, Opening::kHalf);
  take_call_tag(read);
  return MatchKind::kFull;
}

// The call whose tag has begun does not go on as the format says.  Reads the whole tag again, however it is written.
MatchKind Machine::respelled_tag() {
  const std::optional<CallTag>& tag = syntax_->rare.call_tag;
  if (!tag || !attempt_.is_open || call_.piece > tag->piece || pos_ < tag->head.size()) return MatchKind::kNone;
  const std::size_t begin = buffer_.rfind(tag->head, pos_ - tag->head.size());
  if (begin == std::string::npos || begin < head_) return MatchKind::kNone;
  const TagRead read = call_tag_at(begin, attempt_.opening == Opening::kMarker);
  if (read.kind == MatchKind::kFull && read.end <= pos_) return MatchKind::kNone;
  if (read.kind == MatchKind::kFull) take_call_tag(read);
  return read.kind;
}

}  // namespace rondo::parse
