#include "engine/llama_log.h"

#include <llama.h>

#include <mutex>
#include <string_view>

namespace rondo::engine {
namespace {

// The library has one log callback for the whole process.  Each thread decides who listens.
thread_local LlamaLog* listener = nullptr;

void receive(ggml_log_level level, const char* text, void* /*unused*/) {
  if (listener != nullptr && text != nullptr) listener->add(level == GGML_LOG_LEVEL_ERROR, text);
}

}  // namespace

LlamaLog::LlamaLog() : outer_(listener) {
  static std::once_flag once;
  std::call_once(once, [] { llama_log_set(receive, nullptr); });
  listener = this;
}

LlamaLog::~LlamaLog() { listener = outer_; }

void LlamaLog::add(bool is_error, const char* text) {
  if (!is_error) return;
  std::string_view line(text);
  while (!line.empty() && (line.back() == '\n' || line.back() == ' ')) line.remove_suffix(1);
  // "failed to load model" only ends the list.  The line before it has the cause.
  if (line.empty() || (!error_.empty() && line.ends_with("failed to load model"))) return;
  error_ = line;
}

std::string LlamaLog::last_error(const std::string& otherwise) const { return error_.empty() ? otherwise : error_; }

}  // namespace rondo::engine
