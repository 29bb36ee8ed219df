#include "apis/custom_input.h"

#include <charconv>
#include <utility>

#include "base/utf8.h"

namespace rondo::apis {
namespace {

constexpr std::string_view kHead = R"({"input":")";

bool is_space(char byte) { return byte == ' ' || byte == '\n' || byte == '\r' || byte == '\t'; }

}  // namespace

std::string CustomInput::feed(std::string_view arguments) {
  std::string out;
  for (const char byte : arguments) {
    switch (state_) {
      case State::kHead: head(byte, out); break;
      case State::kText:
        if (byte == '\\') {
          state_ = State::kEscape;
        } else {
          flush_surrogate(out);
          if (byte == '"') {
            state_ = State::kDone;
          } else {
            out += byte;
          }
        }
        break;
      case State::kEscape: escape(byte, out); break;
      case State::kDone: break;
      case State::kOther: out += byte; break;
    }
  }
  return out;
}

std::string CustomInput::close() {
  std::string out;
  flush_surrogate(out);
  // What may be the beginning of the wrapper is never text.
  if (state_ == State::kHead && expected_ == 0) out += head_;
  state_ = State::kDone;
  return out;
}

void CustomInput::head(char byte, std::string& out) {
  head_ += byte;
  // White space inside the key is significant.
  const bool is_inside_key = expected_ >= 2 && expected_ < 7;
  if (is_space(byte) && !is_inside_key) return;
  if (expected_ == 1 && byte == '}') {
    state_ = State::kDone;  // a call without arguments
  } else if (byte != kHead[expected_]) {
    state_ = State::kOther;
    out += std::exchange(head_, {});
  } else if (++expected_ == kHead.size()) {
    state_ = State::kText;
  }
}

void CustomInput::escape(char byte, std::string& out) {
  if (hex_.empty() && byte != 'u') {
    flush_surrogate(out);
    constexpr std::string_view kNames = "bfnrt";
    constexpr std::string_view kBytes = "\b\f\n\r\t";
    const std::size_t at = kNames.find(byte);
    out += at == std::string_view::npos ? byte : kBytes[at];
    state_ = State::kText;
    return;
  }
  hex_ += byte;
  constexpr std::size_t kDigits = 5;  // including the `u`
  if (hex_.size() < kDigits) return;
  std::uint32_t code = utf8::kReplacement;
  (void)std::from_chars(hex_.data() + 1, hex_.data() + kDigits, code, 16);
  hex_.clear();
  state_ = State::kText;
  const bool is_second = code >= 0xDC00 && code < 0xE000;
  if (surrogate_ != 0 && is_second) {
    utf8::append(out, 0x10000 + ((surrogate_ - 0xD800) << 10U) + (code - 0xDC00));
    surrogate_ = 0;
    return;
  }
  flush_surrogate(out);
  if (code >= 0xD800 && code < 0xDC00) {
    surrogate_ = code;
  } else {
    utf8::append(out, is_second ? utf8::kReplacement : code);
  }
}

void CustomInput::flush_surrogate(std::string& out) {
  if (surrogate_ != 0) utf8::append(out, utf8::kReplacement);
  surrogate_ = 0;
}

std::string custom_input(std::string_view arguments) {
  CustomInput input;
  std::string out = input.feed(arguments);
  return out += input.close();
}

}  // namespace rondo::apis
