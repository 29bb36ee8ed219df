#include "replay/message_marks.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <optional>

#include "chat/conversation.h"
#include "format/units.h"
#include "json/parse.h"

namespace rondo::replay {
namespace {

constexpr std::uint64_t kPrime = 0x9E3779B97F4A7C15U;

constexpr std::uint64_t mix(std::uint64_t value) {
  value = (value ^ (value >> 32U)) * 0xD6E8FEB86659FD93U;
  return value ^ (value >> 29U);
}

std::uint64_t combine(std::uint64_t hash, std::uint64_t value) { return mix((hash + kPrime) ^ value); }

constexpr std::array<std::string_view, 19> kTimeWords = {"jan", "feb", "mar", "apr", "may", "jun", "jul",
                                                         "aug", "sep", "oct", "nov", "dec", "mon", "tue",
                                                         "wed", "thu", "fri", "sat", "sun"};
constexpr std::array<std::string_view, 19> kLongTimeWords = {
    "january",  "february", "march",  "april",   "may",       "june",     "july",   "august",   "september", "october",
    "november", "december", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_word(char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool is_time_name(std::string_view word) {
  std::string lower(word);
  std::ranges::transform(lower, lower.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::ranges::find(kTimeWords, lower) != kTimeWords.end() ||
         std::ranges::find(kLongTimeWords, lower) != kLongTimeWords.end();
}

bool has_digit(std::string_view word) { return std::ranges::any_of(word, is_digit); }

std::string_view word_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_word(text[end])) ++end;
  return text.substr(at, end - at);
}

// Whether it is a number of up to four digits, perhaps followed by a few letters ("21st", "09Z"), or the name of a
// month or day.
bool is_time_word(std::string_view word) {
  if (is_time_name(word)) return true;
  const auto digits = static_cast<std::size_t>(std::ranges::find_if_not(word, is_digit) - word.begin());
  const bool glued = word.find('T') == digits && word.size() <= digits + 3;  // 2026-11-21T10:00
  return digits >= 1 && digits <= 4 && (word.size() <= digits + 2 || glued);
}

bool is_time_separator(char c) { return std::string_view("-/:., +").find(c) != std::string_view::npos; }

// Consecutive words of a line that may belong to a date or time.
struct TimeWords {
  std::size_t last = 0;  // where the last word ends
  std::size_t next = 0;  // where reading goes on, after separators
  bool is_time = false;
};

TimeWords time_words(std::string_view line, std::size_t at) {
  TimeWords out{at, at, false};
  int numbers = 0;
  bool has_name = false;
  bool has_mark = false;  // a separator that dates have between numbers
  while (at < line.size()) {
    const std::string_view word = word_at(line, at);
    if (word.empty() || !is_time_word(word)) break;
    has_name = has_name || is_time_name(word);
    numbers += has_digit(word) ? 1 : 0;
    out.last = at + word.size();
    at = out.last;
    for (; at < line.size() && is_time_separator(line[at]); ++at)
      has_mark = has_mark || std::string_view("-/:").find(line[at]) != std::string_view::npos;
  }
  out.next = at;
  out.is_time = (has_name && numbers >= 1) || (has_mark && numbers >= 2) || (has_name && out.last == at);
  return out;
}

// Whether bytes [begin, end) of a line touch an expression such as "2026-11-21", "10:05" or "21 Nov 2026".
bool touches_time(std::string_view line, std::size_t begin, std::size_t end) {
  std::size_t at = 0;
  while (at < line.size()) {
    if (!is_word(line[at])) {
      ++at;
      continue;
    }
    const TimeWords words = time_words(line, at);
    if (words.is_time && at < end && begin < words.last) return true;
    at = words.last == at ? at + word_at(line, at).size() : words.next;
  }
  return false;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return out;
}

TextChange change_of(std::string_view before, std::string_view after) {
  const std::size_t shorter = std::min(before.size(), after.size());
  std::size_t head = 0;
  while (head < shorter && before[head] == after[head]) ++head;
  std::size_t tail = 0;
  while (tail < shorter - head && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
  // Extends to whole words at both ends of the difference.
  const auto splits = [](std::string_view text, std::size_t at) {
    return at > 0 && at < text.size() && is_word(text[at - 1]) && is_word(text[at]);
  };
  while (splits(before, head) || splits(after, head)) --head;
  while (splits(before, before.size() - tail) || splits(after, after.size() - tail)) --tail;
  TextChange out;
  out.begin = head;
  out.before = before.substr(head, before.size() - tail - head);
  out.after = after.substr(head, after.size() - tail - head);
  out.is_time = touches_time(before, head, before.size() - tail) && touches_time(after, head, after.size() - tail);
  return out;
}

// Hashes the value regardless of the order of keys and the spelling of numbers.
std::uint64_t hash_meaning(const json::Value& value) {
  if (value.is_object()) {
    std::uint64_t sum = 3;
    for (const json::Member& member : value.as_object())
      sum += combine(hash_bytes(member.key), hash_meaning(member.value));
    return mix(sum);
  }
  if (value.is_array()) {
    std::uint64_t hash = 5;
    for (const json::Value& element : value.as_array()) hash = combine(hash, hash_meaning(element));
    return hash;
  }
  if (value.is_number()) {
    const double number = value.to_double().value_or(0);
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    return mix(bits);
  }
  return hash_value(value);
}

std::uint64_t hash_call(const json::Value& call) {
  const json::Value* function = call.find("function");
  const json::Value& said = function == nullptr ? call : *function;
  std::uint64_t hash = hash_bytes(said.find_string("name").value_or(""));
  const json::Value* arguments = said.find("arguments");
  if (arguments == nullptr) return hash;
  if (!arguments->is_string()) return combine(hash, hash_meaning(*arguments));
  const auto parsed = json::parse(arguments->as_string());
  return combine(hash, parsed.ok() ? hash_meaning(parsed.value()) : hash_bytes(arguments->as_string()));
}

}  // namespace

std::uint64_t hash_bytes(std::string_view bytes, std::uint64_t seed) {
  std::uint64_t hash = seed ^ (bytes.size() * kPrime);
  std::size_t at = 0;
  for (std::uint64_t word = 0; at + sizeof word <= bytes.size(); at += sizeof word) {
    std::memcpy(&word, bytes.data() + at, sizeof word);
    hash = (hash ^ word) * 0x9FB21C651E98DF25U;
    hash ^= hash >> 35U;
  }
  std::uint64_t rest = 0;
  if (at < bytes.size()) std::memcpy(&rest, bytes.data() + at, bytes.size() - at);
  return mix(hash ^ rest);
}

std::uint64_t hash_value(const json::Value& value) {
  const auto kind = static_cast<std::uint64_t>(value.kind());
  switch (value.kind()) {
    case json::Kind::kNull: return mix(kind);
    case json::Kind::kBool: return mix(kind * 31 + (value.as_bool() ? 1 : 0));
    case json::Kind::kInteger:
    case json::Kind::kFloat: return hash_bytes(value.number(), kind);
    case json::Kind::kString: return hash_bytes(value.as_string(), kind);
    case json::Kind::kArray: {
      std::uint64_t hash = kind;
      for (const json::Value& element : value.as_array()) hash = combine(hash, hash_value(element));
      return hash;
    }
    case json::Kind::kObject: {
      std::uint64_t hash = kind;
      for (const json::Member& member : value.as_object())
        hash = combine(combine(hash, hash_bytes(member.key)), hash_value(member.value));
      return hash;
    }
  }
  return 0;
}

MessageMark mark_of(const json::Value& message) {
  MessageMark out;
  out.exact = hash_value(message);
  const json::Value* content = message.find("content");
  std::uint64_t loose = hash_bytes(message.find_string("role").value_or(""));
  if (content != nullptr && content->is_string()) {
    loose = combine(loose, hash_bytes(format::trimmed(content->as_string())));
  } else {
    loose = combine(loose, hash_bytes(format::trimmed(chat::content_text(message))));
    if (content != nullptr && content->is_array()) {
      for (const json::Value& part : content->as_array()) {
        if (part.find("text") == nullptr) loose = combine(loose, hash_value(part));
      }
    }
  }
  const json::Value* calls = message.find("tool_calls");
  if (calls != nullptr && calls->is_array()) {
    for (const json::Value& call : calls->as_array()) loose = combine(loose, hash_call(call));
  }
  out.loose = loose;
  return out;
}

std::vector<MessageMark> marks_of(const json::Array& messages) {
  std::vector<MessageMark> out;
  out.reserve(messages.size());
  for (const json::Value& message : messages) out.push_back(mark_of(message));
  return out;
}

std::size_t leading_instructions(std::span<const json::Value> messages) {
  const auto is_instruction = [](const json::Value& message) {
    const auto role = message.find_string("role");
    return role == "system" || role == "developer";
  };
  return static_cast<std::size_t>(std::ranges::find_if_not(messages, is_instruction) - messages.begin());
}

std::uint64_t shape_of(std::string_view text) {
  std::uint64_t hash = kPrime;
  for (std::size_t at = 0; at < text.size();) {
    if (!is_word(text[at])) {
      hash = combine(hash, static_cast<unsigned char>(text[at++]));
      continue;
    }
    const std::string_view word = word_at(text, at);
    hash = combine(hash, has_digit(word) || is_time_name(word) ? 1 : hash_bytes(word));
    at += word.size();
  }
  return hash;
}

std::vector<TextChange> text_changes(std::string_view before, std::string_view after) {
  std::vector<TextChange> out;
  if (before == after) return out;
  const std::vector<std::string_view> old_lines = lines_of(before);
  const std::vector<std::string_view> new_lines = lines_of(after);
  if (old_lines.size() != new_lines.size()) {
    out.push_back(change_of(before, after));
    return out;
  }
  for (std::size_t i = 0; i < old_lines.size(); ++i) {
    if (old_lines[i] == new_lines[i]) continue;
    TextChange change = change_of(old_lines[i], new_lines[i]);
    change.begin += static_cast<std::size_t>(old_lines[i].data() - before.data());
    out.push_back(std::move(change));
  }
  return out;
}

std::string undo_changes(std::string_view before, std::string_view after, bool times) {
  const std::vector<std::string_view> old_lines = lines_of(before);
  const std::vector<std::string_view> new_lines = lines_of(after);
  if (old_lines.size() != new_lines.size()) return std::string(after);
  std::string out;
  for (std::size_t i = 0; i < old_lines.size(); ++i) {
    if (i > 0) out += '\n';
    const bool is_undone = old_lines[i] != new_lines[i] && change_of(old_lines[i], new_lines[i]).is_time == times;
    out += is_undone ? old_lines[i] : new_lines[i];
  }
  return out;
}

}  // namespace rondo::replay
