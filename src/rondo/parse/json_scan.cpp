#include "parse/json_scan.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "base/hex.h"
#include "base/limits.h"
#include "format/units.h"

namespace rondo::parse {
namespace {

using format::is_space;

bool is_scalar(char byte) {
  return (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') || (byte >= 'A' && byte <= 'Z') || byte == '-' ||
         byte == '+' || byte == '.';
}

constexpr std::string_view kWords[] = {"true",      "false", "null",  "NaN", "Infinity",
                                       "-Infinity", "True",  "False", "None"};

bool is_python_word(std::string_view text) { return text == "True" || text == "False" || text == "None"; }

// Returns whether `text` is a number or a word of the list, or may become one.  Numbers are checked loosely, words
// exactly.
bool may_be_scalar(std::string_view text) {
  if ((text[0] >= '0' && text[0] <= '9') || text[0] == '-') {
    return text.find_first_not_of("0123456789+-.eE") == std::string_view::npos ||
           std::string_view("-Infinity").starts_with(text);
  }
  return std::any_of(std::begin(kWords), std::end(kWords),
                     [text](std::string_view word) { return word.starts_with(text); });
}

bool is_whole_scalar(std::string_view text) {
  if ((text[0] >= '0' && text[0] <= '9') || text[0] == '-') return text != "-";
  return std::find(std::begin(kWords), std::end(kWords), text) != std::end(kWords);
}

constexpr JsonScanner::Step kBad{true, false, false, false, false};

}  // namespace

// A comma before a closing bracket is accepted, but makes the value loose.
JsonScanner::Step JsonScanner::step(char byte) {
  if (state_ == State::kInString || state_ == State::kInKey) return in_string(byte);
  if (state_ == State::kInScalar) return in_scalar(byte);
  if (is_space(byte)) return {};
  switch (state_) {
    case State::kValueOrEnd:
      if (byte == ']') return close_frame(byte);
      return begin_value(byte);
    case State::kValue:
      if (byte == ']' && !frames_.empty() && frames_.back().is_array) {
        is_loose_ = true;
        return close_frame(byte);
      }
      return begin_value(byte);
    case State::kKeyOrEnd:
      if (byte == '}') return close_frame(byte);
      [[fallthrough]];
    case State::kKey:
      if (byte == '}') {
        is_loose_ = true;
        return close_frame(byte);
      }
      if (byte != '"' && byte != '\'') return kBad;
      open_quote(byte);
      frames_.back().key.clear();
      state_ = State::kInKey;
      return {};
    case State::kColon:
      if (byte != ':') return kBad;
      state_ = State::kValue;
      return {};
    case State::kAfterValue: return after_value(byte);
    default: return kBad;
  }
}

JsonScanner::Step JsonScanner::begin_value(char byte) {
  Step step;
  step.begins_value = true;
  if (byte == '{' || byte == '[') {
    if (frames_.size() >= static_cast<std::size_t>(limits::kJsonDepth)) return kBad;
    frames_.push_back({byte == '[', ""});
    state_ = byte == '{' ? State::kKeyOrEnd : State::kValueOrEnd;
  } else if (byte == '"' || byte == '\'') {
    open_quote(byte);
    state_ = State::kInString;
  } else if (is_scalar(byte) && may_be_scalar(std::string_view(&byte, 1))) {
    scalar_.assign(1, byte);
    state_ = State::kInScalar;
  } else {
    return kBad;
  }
  return step;
}

JsonScanner::Step JsonScanner::end_value() {
  state_ = frames_.empty() ? State::kDone : State::kAfterValue;
  Step step;
  step.ends_value = true;
  return step;
}

void JsonScanner::open_quote(char byte) {
  quote_ = byte;
  is_loose_ = is_loose_ || byte != '"';
}

std::size_t JsonScanner::plain_prefix(std::string_view text) const {
  if (state_ != State::kInString || escape_ != 0 || is_doubtful_) return 0;
  std::size_t size = 0;
  while (size < text.size() && static_cast<unsigned char>(text[size]) >= 0x20 && text[size] != quote_ &&
         text[size] != '\\')
    ++size;
  return size;
}

JsonScanner::Step JsonScanner::in_string(char byte) {
  const bool is_key = state_ == State::kInKey;
  if (static_cast<unsigned char>(byte) < 0x20) {
    if (is_key) return kBad;
    is_loose_ = true;
    is_doubtful_ = is_doubtful_ || byte == '\n';
    escape_ = 0;
    return {};
  }
  if (escape_ == 0 && byte == quote_) {
    is_doubtful_ = false;
    if (!is_key) return end_value();
    state_ = State::kColon;
    return {};
  }
  if (is_key) frames_.back().key += byte;
  if (escape_ == 1) {
    is_loose_ = is_loose_ || (byte != 'u' && std::string_view("\"\\/bfnrt").find(byte) == std::string_view::npos);
    escape_ = byte == 'u' ? 5 : 0;
    return {};
  }
  if (escape_ > 1) {  // four hexadecimal digits, counted down from 5 to 2
    if (!hex::digit(byte)) {
      is_loose_ = true;
      escape_ = 0;
      return in_string(byte);
    }
    escape_ = escape_ == 2 ? 0 : escape_ - 1;
    return {};
  }
  if (byte == '\\') escape_ = 1;
  return {};
}

JsonScanner::Step JsonScanner::in_scalar(char byte) {
  if (is_scalar(byte)) {
    scalar_ += byte;
    if (may_be_scalar(scalar_)) return {};
    scalar_.pop_back();
    return kBad;
  }
  if (!is_whole_scalar(scalar_)) return kBad;
  is_loose_ = is_loose_ || is_python_word(scalar_);
  const bool is_outermost = frames_.empty();
  state_ = is_outermost ? State::kDone : State::kAfterValue;
  Step step = is_outermost || is_space(byte) ? Step{} : after_value(byte);
  step.ended_before = true;
  step.left_over = is_outermost;
  return step;
}

JsonScanner::Step JsonScanner::after_value(char byte) {
  if (byte == ',') {
    state_ = frames_.back().is_array ? State::kValue : State::kKey;
    return {};
  }
  if (byte == '}' || byte == ']') return close_frame(byte);
  return kBad;
}

JsonScanner::Step JsonScanner::close_frame(char byte) {
  if (frames_.back().is_array != (byte == ']')) return kBad;
  frames_.pop_back();
  return end_value();
}

// A number that is cut off after a sign, a point or an exponent mark gets a zero.
std::string JsonScanner::closing(std::string_view none) const {
  std::string out;
  switch (state_) {
    case State::kInString:
    case State::kInKey:
      if (escape_ == 1) out = "\\";
      if (escape_ > 1) out.append(static_cast<std::size_t>(escape_ - 1), '0');
      out += quote_;
      if (state_ == State::kInKey) out.append(":").append(none);
      break;
    case State::kKey: out = std::string(R"("":)").append(none); break;
    case State::kColon: out = std::string(":").append(none); break;
    case State::kValue: out = none; break;
    case State::kInScalar:
      for (const std::string_view word : kWords) {
        if (!is_whole_scalar(scalar_) && word.starts_with(scalar_) && scalar_ != "-") {
          out = word.substr(scalar_.size());
          break;
        }
      }
      if (!scalar_.empty() && std::string_view("+-.eE").find(scalar_.back()) != std::string_view::npos &&
          std::ranges::find(kWords, scalar_) == std::end(kWords) && out.empty()) {
        out = "0";
      }
      break;
    default: break;
  }
  for (auto frame = frames_.rbegin(); frame != frames_.rend(); ++frame) out += frame->is_array ? ']' : '}';
  return out;
}

}  // namespace rondo::parse
