// The filter wordwrap: Python's textwrap.wrap() for every line.
#include "jinja/builtins/wordwrap.h"

#include <algorithm>

#include "jinja/common/characters.h"
#include "jinja/types/params.h"
#include "jinja/types/repr.h"
#include "jinja/types/string_search.h"
#include "jinja/value/input.h"
#include "jinja/value/making.h"
#include "jinja/value/numbers.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/type_names.h"
#include "jinja/value/value.h"
#include "unicode/case.h"

namespace rondo::jinja {
namespace {

bool is_letter(char32_t c) { return is_word(c) && !unicode::is_decimal(c); }  // [^\d\W]
bool is_blank(char32_t c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_word_or_punctuation(char32_t c) {
  return is_word(c) || c == '!' || c == '"' || c == '\'' || c == '&' || c == '.' || c == ',' || c == '?';
}

struct WrapStyle {
  Value width;
  bool break_long_words = true;
  bool break_on_hyphens = true;  // in words that are too long
  bool split_at_hyphens = true;  // elsewhere; a true value other than True turns it off
};

// Positions count code points.
class Wrapper {
 public:
  Wrapper(Runtime& runtime, const Value& line, const WrapStyle& style) : runtime_(runtime), line_(line), style_(style) {
    const std::string_view text = bytes_of(runtime, line);
    for (std::size_t at = 0; at < text.size();) {
      const CodePoint c = decode_at(text, at);
      text_.push_back(c.value);
      offsets_.push_back(at);
      at += c.size;
    }
    offsets_.push_back(text.size());
    runtime.heap.require(text_.size() * (sizeof(char32_t) + sizeof(std::size_t)));
  }

  [[nodiscard]] std::vector<Value> lines() {
    require_defined(runtime_, style_.width);
    if (!style_.width.is_number()) {
      runtime_.fail("'<=' not supported between instances of '" + type_name(style_.width) + "' and 'int'");
    }
    if (order_numbers(style_.width, Value::integer(0)) <= 0) {
      runtime_.fail("invalid width " + repr(runtime_, style_.width) + " (must be > 0)");
    }
    const double wanted = to_double(style_.width);
    constexpr double kWidest = 1e9;
    width_ = static_cast<std::int64_t>(std::min(wanted, kWidest));
    split();
    std::vector<Value> out;
    while (first_ < chunks_.size()) {
      runtime_.spend();
      if (!out.empty() && is_white(chunks_[first_])) ++first_;
      take_line(out);
    }
    return out;
  }

 private:
  struct Chunk {
    std::size_t begin = 0;
    std::size_t end = 0;
    [[nodiscard]] std::int64_t size() const { return static_cast<std::int64_t>(end - begin); }
  };

  [[nodiscard]] bool is_white(const Chunk& chunk) const {
    return std::all_of(text_.begin() + static_cast<std::ptrdiff_t>(chunk.begin),
                       text_.begin() + static_cast<std::ptrdiff_t>(chunk.end), is_space);
  }

  void take_line(std::vector<Value>& out) {
    std::vector<Chunk> line;
    std::int64_t used = 0;
    while (first_ < chunks_.size() && used + chunks_[first_].size() <= width_) {
      used += chunks_[first_].size();
      line.push_back(chunks_[first_++]);
    }
    if (first_ < chunks_.size() && chunks_[first_].size() > width_) break_word(line, used);
    if (!line.empty() && is_white(line.back())) line.pop_back();
    if (line.empty()) return;
    out.push_back(substring(runtime_, line_, offsets_[line.front().begin], offsets_[line.back().end], "wordwrap"));
  }

  // Handles a word that is longer than a line: takes as much as fits, preferably up to a hyphen, or all of it if it
  // must stay whole.
  void break_word(std::vector<Chunk>& line, std::int64_t used) {
    Chunk& word = chunks_[first_];
    if (!style_.break_long_words) {
      if (line.empty()) line.push_back(chunks_[first_++]);
      return;
    }
    if (style_.width.is_float() && width_ >= 1) {
      runtime_.fail("slice indices must be integers or None or have an __index__ method");
    }
    const std::int64_t room = width_ < 1 ? 1 : width_ - used;
    if (room < 0) return;
    std::size_t end = word.begin + static_cast<std::size_t>(room);
    if (style_.break_on_hyphens && word.size() > room) {
      for (std::size_t at = end; at > word.begin + 1; --at) {
        if (text_[at - 1] != '-') continue;
        const bool only_hyphens =
            std::all_of(text_.begin() + static_cast<std::ptrdiff_t>(word.begin),
                        text_.begin() + static_cast<std::ptrdiff_t>(at) - 1, [](char32_t c) { return c == '-'; });
        if (!only_hyphens) end = at;
        break;
      }
    }
    line.push_back({word.begin, end});
    word.begin = end;
  }

  [[nodiscard]] bool is_letter_at(std::size_t at) const { return at < text_.size() && is_letter(text_[at]); }

  // Dashes (two or more) from `at` on, before a word; returns their end, or `at`.
  [[nodiscard]] std::size_t em_dash(std::size_t at) const {
    std::size_t end = at;
    while (end < text_.size() && text_[end] == '-') ++end;
    return end - at >= 2 && end < text_.size() && is_word(text_[end]) ? end : at;
  }

  // Whether a line may end after the hyphen at `at`.
  [[nodiscard]] bool breaks_behind(std::size_t at) const {
    const bool two_letters = at >= 2 && is_letter_at(at - 1) && is_letter_at(at - 2);
    const bool single_letters = at >= 3 && is_letter_at(at - 1) && text_[at - 2] == '-' && is_letter_at(at - 3);
    if ((!two_letters && !single_letters) || !is_letter_at(at + 1)) return false;
    const bool hyphen = at + 2 < text_.size() && text_[at + 2] == '-';
    return is_letter_at(at + 2) || (hyphen && is_letter_at(at + 3));
  }

  // The end of the chunk that begins at `begin`: TextWrapper.wordsep_re, or wordsep_simple_re.
  [[nodiscard]] std::size_t chunk_end(std::size_t begin) const {
    std::size_t end = begin;
    if (is_blank(text_[begin])) {
      while (end < text_.size() && is_blank(text_[end])) ++end;
      return end;
    }
    if (style_.split_at_hyphens && begin > 0 && is_word_or_punctuation(text_[begin - 1]) && em_dash(begin) > begin) {
      return em_dash(begin);
    }
    for (end = begin + 1; end < text_.size() && !is_blank(text_[end]); ++end) {
      if (!style_.split_at_hyphens || text_[end] != '-') continue;
      if (breaks_behind(end)) return end + 1;
      if (is_word_or_punctuation(text_[end - 1]) && em_dash(end) > end) return end;
    }
    return end;
  }

  void split() {
    for (std::size_t at = 0; at < text_.size();) {
      const std::size_t end = chunk_end(at);
      runtime_.spend();
      chunks_.push_back({at, end});
      at = end;
    }
  }

  Runtime& runtime_;
  const Value& line_;
  const WrapStyle& style_;
  std::u32string text_;
  std::vector<std::size_t> offsets_;  // byte offsets of each code point and of the end
  std::vector<Chunk> chunks_;
  std::size_t first_ = 0;  // the first chunk that is not in a line yet
  std::int64_t width_ = 0;
};

}  // namespace

Value wordwrap(Runtime& runtime, const Value& subject, const Args& args) {
  const Params params(runtime, python("do_wordwrap", 2), args,
                      {"width", "break_long_words", "wrapstring", "break_on_hyphens"});
  require_defined(runtime, subject);
  if (!subject.is_string()) runtime.fail("'" + type_name(subject) + "' object has no attribute 'splitlines'");
  const Value separator = params[2].is_none() ? make_computed(runtime, "\n") : params.string(2);
  const bool split_at_hyphens = !params.given(3) || (params[3].is_bool() && params[3].as_bool());
  const WrapStyle style = {params.value(0, Value::integer(79)), params.boolean(1, true), params.boolean(3, true),
                           split_at_hyphens};
  std::vector<Value> paragraphs;
  for (const Value& line : items_of(runtime, str_splitlines(runtime, subject, {}))) {
    paragraphs.push_back(join_strings(runtime, separator, Wrapper(runtime, line, style).lines()));
  }
  return join_strings(runtime, separator, paragraphs);
}

}  // namespace rondo::jinja
