// Markers: the template's own texts, searched in sampled text with tolerance for white space.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rondo::parse {

// Which bytes of the input are the first of an added token.
class TokenStarts {
 public:
  // REQUIRES: `buffer` outlives it.
  explicit TokenStarts(const std::string& buffer) : buffer_(buffer) {}

  // The byte that is appended to the buffer next.
  void append(bool may_start) { starts_.push_back(may_start ? 1 : 0); }
  void drop_front(std::size_t bytes) { starts_.erase(0, bytes); }
  void clear() { starts_.clear(); }
  // `at` points into the buffer.
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

// A text without the white space at its ends.  Where it has white space, and between its units, any white space matches,
// also none.
class Marker {
 public:
  Marker() = default;
  // The first of `tokens`, texts of added tokens, that it holds must come as one wherever the marker stands.
  explicit Marker(std::string_view text, std::span<const std::string> tokens = {});

  // True if the text is white space only; such a marker matches nowhere.
  [[nodiscard]] bool empty() const { return chunks_.empty(); }
  [[nodiscard]] char first() const { return chunks_.front().front(); }
  // The template's white space before and behind it.
  [[nodiscard]] const std::string& lead() const { return lead_; }
  [[nodiscard]] const std::string& trail() const { return trail_; }
  // Without white space at its ends.
  [[nodiscard]] const std::string& core() const { return core_; }

  // False for a marker of punctuation only (`[`, `>>>`), which may well be ordinary text.
  [[nodiscard]] bool is_distinct() const { return is_distinct_; }
  // True if it has the shape of a control token, which nobody writes by chance: a bar at the inside of a bracket, or a
  // word in capitals in square brackets.
  [[nodiscard]] bool is_reserved() const { return is_reserved_; }

  // Whether it stands at text[0].  kPartial: `text` ends too early to tell (never with `is_end`,
  // where the first whole units of the marker count as all of it: a stop token that was cut off).  `starts` says where
  // added tokens begin in the buffer that `text` is part of; nullptr: no matter.
  [[nodiscard]] Match match(std::string_view text, bool is_end, const TokenStarts* starts = nullptr) const;

  // The rest of it, where `text` is its beginning, one of its units at least: "" where that is all of it.
  [[nodiscard]] std::optional<std::string_view> missing_behind(std::string_view text) const;

  // How much of the white space that ends `before` is the template's own.
  [[nodiscard]] std::size_t own_lead(std::string_view before) const;

 private:
  std::string lead_, trail_, core_;
  std::vector<std::string> chunks_;
  std::vector<std::size_t> cuts_;  // unit boundaries of the core
  bool has_token_ = false;
  std::size_t token_chunk_ = 0;  // where the first added token begins
  std::size_t token_offset_ = 0;
  bool is_distinct_ = false;
  bool is_reserved_ = false;
  bool has_blank_signs_ = false;
};

// A text in the shape of a control token, `<|...|>`, at the begin of `text`.
[[nodiscard]] Match control_token(std::string_view text, bool is_end);

// Some markers that are searched together; `id` is the caller's own.
class MarkerSet {
 public:
  // Markers of white space only are left out.
  void add(int id, const Marker* marker);
  // Control tokens that are none of the markers are found too, as `id`.
  void add_control_tokens(int id);
  // White space that is held back like a marker's lead.
  void add_lead(const std::string& lead);
  [[nodiscard]] bool empty() const { return entries_.empty(); }
  // Calls visit(id, marker) for each, in the order of adding.
  template <typename Visit>
  void for_each(Visit visit) const {
    for (const Entry& entry : entries_) visit(entry.id, *entry.marker);
  }

  struct Found {
    MatchKind kind = MatchKind::kNone;
    std::size_t begin = 0;  // kNone: everything before is free of markers
    std::size_t size = 0;
    int id = 0;
    const Marker* marker = nullptr;
  };
  // The longest marker at text[at]; kPartial while a longer one is still possible.
  [[nodiscard]] Found at(std::string_view text, std::size_t at, bool is_end, const TokenStarts* starts) const;
  // The first marker at or behind `from`.
  [[nodiscard]] Found find(std::string_view text, std::size_t from, bool is_end, const TokenStarts* starts) const;

  // Length of the front of `text` in which no marker and no lead begins.
  [[nodiscard]] std::size_t plain_prefix(std::string_view text) const;

  // How many bytes of white space that end `text` may still turn out to be some marker's lead.
  [[nodiscard]] std::size_t possible_lead(std::string_view text) const;

 private:
  struct Entry {
    int id;
    const Marker* marker;
  };
  std::vector<Entry> entries_;
  std::vector<std::string> leads_;
  std::optional<int> control_id_;
  std::array<bool, 256> first_{};    // of markers
  std::array<bool, 256> special_{};  // of markers, and all bytes of leads
};

}  // namespace rondo::parse
