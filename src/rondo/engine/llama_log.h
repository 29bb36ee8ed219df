// llama.cpp's log lines, kept from the terminal.
#pragma once

#include <string>

namespace rondo::engine {

// While one lives, error and warning lines that llama.cpp logs on this thread are collected in it; without one they are
// dropped.  Nothing is ever printed.
class LlamaLog {
 public:
  LlamaLog();
  ~LlamaLog();
  LlamaLog(const LlamaLog&) = delete;
  LlamaLog& operator=(const LlamaLog&) = delete;

  // The last error line, else `otherwise`.
  [[nodiscard]] std::string last_error(const std::string& otherwise) const;

  void add(bool is_error, const char* text);

 private:
  LlamaLog* outer_;
  std::string error_;
};

}  // namespace rondo::engine
