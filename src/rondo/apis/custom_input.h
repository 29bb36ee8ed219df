// Reads the text of a custom tool's call from the arguments {"input": "..."} while they arrive.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rondo::apis {

class CustomInput {
 public:
  // Returns the text that is now certain.
  [[nodiscard]] std::string feed(std::string_view arguments);
  // Ends the arguments and returns what was held back.  Arguments of another form are themselves the text.  Arguments
  // that end before the text begins give no text.
  [[nodiscard]] std::string close();

 private:
  enum class State : std::uint8_t { kHead, kText, kEscape, kDone, kOther };

  void head(char byte, std::string& out);
  void escape(char byte, std::string& out);
  void flush_surrogate(std::string& out);

  State state_ = State::kHead;
  std::string head_;          // the bytes before the text
  std::size_t expected_ = 0;  // position in what must come there, without white space
  std::string hex_;           // the digits of an escape
  char32_t surrogate_ = 0;    // a first half that waits for its second half
};

// Reads whole arguments at once.
[[nodiscard]] std::string custom_input(std::string_view arguments);

}  // namespace rondo::apis
