// Keeps llama.cpp's log lines away from the terminal.
#pragma once

#include <string>

namespace rondo::engine {

// While a LlamaLog lives, it collects the error and warning lines that llama.cpp logs on this thread.  Without one, the
// lines are dropped.  Nothing is ever printed.
class LlamaLog {
 public:
  LlamaLog();
  ~LlamaLog();
  LlamaLog(const LlamaLog&) = delete;
  LlamaLog& operator=(const LlamaLog&) = delete;

  // Returns the last error line, or `otherwise` if there is none.
  [[nodiscard]] std::string last_error(const std::string& otherwise) const;

  void add(bool is_error, const char* text);

 private:
  LlamaLog* outer_;
  std::string error_;
};

}  // namespace rondo::engine
