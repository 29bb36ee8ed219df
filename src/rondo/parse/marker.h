// Markers: texts of the format, searched for in sampled text with tolerance for white space.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::parse {

// Records which bytes of the input are the first byte of an added token.
class TokenStarts {
 public:
  // REQUIRES: `buffer` outlives this object.
  explicit TokenStarts(const std::string& buffer) : buffer_(buffer) {}

  // Records the byte that is appended to the buffer next.
  void append(bool may_start) { starts_.push_back(may_start ? 1 : 0); }
  void drop_front(std::size_t bytes) { starts_.erase(0, bytes); }
  void clear() { starts_.clear(); }
  // Returns whether an added token may start at `at`, which points into the buffer.
  [[nodiscard]] bool has(const char* at) const { return starts_[static_cast<std::size_t>(at - buffer_.data())] != 0; }

 private:
  const std::string& buffer_;
  std::string starts_;
};

enum class MatchKind { kNone, kPartial, kFull };

struct Match {
  MatchKind kind = MatchKind::kNone;
  std::size_t size = 0;
};

// A marker's text without the white space at its ends.  Between its units, around control tokens, beside the quotes of
// JSON, and wherever the text itself has white space, up to 64 bytes of white space match, or none.  A counter
// (format::kCounter) matches any number.
class Marker {
 public:
  Marker() = default;
  // `tokens` are the texts of added tokens.  If the marker contains any, the first one must come as one token for the
  // marker to match.
  explicit Marker(std::string_view text, std::span<const std::string> tokens = {});

  // Makes the marker match only between line ends, as far as the template writes line ends around it.  Punctuation then
  // also needs the blanks that the template writes before it.  MarkerSet looks at the text before.
  void keep_to_line();
  // Makes the marker match only at the end of a line, if the template writes a line end after it.
  void keep_line_end() { needs_line_end_ = trail_.starts_with('\n'); }

  // Returns true if the text is only white space; such a marker never matches.
  [[nodiscard]] bool empty() const { return chunks_.empty(); }
  // Returns the bytes that the marker may begin with.
  [[nodiscard]] std::string_view first_bytes() const;
  // Returns the template's white space before and after the marker.
  [[nodiscard]] const std::string& lead() const { return lead_; }
  [[nodiscard]] const std::string& trail() const { return trail_; }
  // Returns the text without white space at its ends.
  [[nodiscard]] const std::string& core() const { return core_; }

  // Returns false for a marker that is only punctuation (`[`, `>>>`), which may well be ordinary text.
  [[nodiscard]] bool is_distinct() const { return is_distinct_; }
  // Returns true if the marker contains the shape of a control token, which nobody writes by chance: an angle bracket
  // beside a bar, or a word in capitals in square brackets at its start.
  [[nodiscard]] bool is_reserved() const { return is_reserved_; }

  // Returns whether the marker is at the start of `text`.  kPartial means that `text` is too short to tell.  With
  // `is_end` the result is never kPartial: a marker that the end cuts off after some of its whole units counts as
  // complete, unless only the rest has words.  `starts` tells where added tokens begin in the buffer that contains
  // `text`; with nullptr, tokens do not matter.
  [[nodiscard]] Match match(std::string_view text, bool is_end, const TokenStarts* starts = nullptr) const;

  // Returns the rest of the marker if `text` is its beginning; "" if nothing is missing.  `text` must have at least one
  // of the marker's units, or begin a word after a bracket and a bar, as control tokens do.  Returns nullopt otherwise.
  // `starts` as in match().
  [[nodiscard]] std::optional<std::string_view> missing_behind(std::string_view text,
                                                               const TokenStarts* starts = nullptr) const;

  // Returns false if the first two bytes of `text` already tell that the marker is not at its start.
  //
  // REQUIRES: neither the marker nor `text` is empty.
  [[nodiscard]] bool may_begin(std::string_view text) const {
    const std::string& own = chunks_.front();
    return is_varied_ || (own[0] == text[0] && (own.size() < 2 || text.size() < 2 || own[1] == text[1]));
  }

  // Returns whether the marker may begin after `before`.
  [[nodiscard]] bool may_follow(std::string_view before) const {
    return line_lead_ == 0 || own_lead(before) >= line_lead_;
  }

  // Returns how many bytes of white space at the end of `before` are the white space that the template writes before
  // the marker.
  [[nodiscard]] std::size_t own_lead(std::string_view before) const;

 private:
  [[nodiscard]] Match chunk_at(std::size_t chunk, std::string_view text, const TokenStarts* starts) const;
  [[nodiscard]] Match cut_off(std::string_view text, bool is_end) const;

  std::string lead_, trail_, core_;
  std::vector<std::string> chunks_;
  std::vector<std::size_t> cuts_;  // unit boundaries in the core
  bool has_token_ = false;
  std::size_t token_chunk_ = 0;  // the chunk at which the first added token begins
  std::size_t token_offset_ = 0;
  std::size_t line_lead_ = 0;  // how many bytes of the lead must come before the marker
  bool needs_line_end_ = false;
  bool is_distinct_ = false;
  bool is_reserved_ = false;
  bool is_varied_ = false;  // some character of the text also matches others
};

// Matches text in the shape of a control token, `<|...|>`, at the start of `text`.
[[nodiscard]] Match control_token(std::string_view text, bool is_end);

// Markers that are searched for together.  The caller chooses each `id`.
class MarkerSet {
 public:
  // Adds a marker.  Ignores a marker of white space only.
  void add(int id, const Marker* marker);
  // Also finds control tokens that are not among the markers, and reports them as `id`.
  void add_control_tokens(int id);
  // Adds white space that is held back like a marker's lead.
  void add_lead(const std::string& lead);
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // Calls visit(id, marker) for each marker, in the order of adding.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Entry& entry : entries_) visit(entry.id, *entry.marker);
  }

  struct Found {
    MatchKind kind = MatchKind::kNone;
    std::size_t begin = 0;  // kNone: no marker begins before this offset
    std::size_t size = 0;
    int id = 0;
    const Marker* marker = nullptr;
  };
  // Finds the longest marker at text[at].  kPartial means that a longer one is still possible.
  [[nodiscard]] Found at(std::string_view text, std::size_t at, bool is_end, const TokenStarts* starts) const;
  // Finds the first marker at or after `from`.
  [[nodiscard]] Found find(std::string_view text, std::size_t from, bool is_end, const TokenStarts* starts) const;

  // Returns how many bytes at the start of `text` begin no marker and no lead.
  [[nodiscard]] std::size_t plain_prefix(std::string_view text) const;

  // Returns how many bytes of white space at the end of `text` may still become a marker's lead.
  [[nodiscard]] std::size_t possible_lead(std::string_view text) const;

 private:
  struct Entry {
    int id;
    const Marker* marker;
  };
  std::vector<Entry> entries_;
  std::vector<std::string> leads_;
  std::optional<int> control_id_;
  std::array<bool, 256> first_{};    // first bytes of markers
  std::array<bool, 256> special_{};  // first bytes of markers, and all bytes of leads
};

}  // namespace rondo::parse
