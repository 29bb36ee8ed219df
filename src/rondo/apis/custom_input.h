// The text of a custom tool's call, read from the arguments {"input": "..."} while they arrive.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rondo::apis {

class CustomInput {
 public:
  // What is certain of the text now.
  [[nodiscard]] std::string feed(std::string_view arguments);
  // The arguments end here: what was held back.  Arguments of another shape are the text as they are.
  [[nodiscard]] std::string close();

 private:
  enum class State : std::uint8_t { kHead, kText, kEscape, kDone, kOther };

  void head(char byte, std::string& out);
  void escape(char byte, std::string& out);
  void flush_surrogate(std::string& out);

  State state_ = State::kHead;
  std::string head_;          // the bytes in front of the text
  std::size_t expected_ = 0;  // of what has to stand there, without white space
  std::string hex_;           // digits of an escape
  char32_t surrogate_ = 0;    // a first half that waits for its second
};

// All of it at once.
[[nodiscard]] std::string custom_input(std::string_view arguments);

}  // namespace rondo::apis
