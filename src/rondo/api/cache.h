// Templates and tokenizers, loaded once and kept.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <unordered_map>

#include "jinja/template.h"
#include "model/model_files.h"
#include "rondo/result.h"
#include "tokenizer/tokenizer.h"

namespace rondo::api {

// Makes the value of a key once; others who ask for it meanwhile wait.  Failures are not kept: a file may appear.
// Thread-safe.  Beyond `capacity` keys the oldest are forgotten (values in use live on).
template <typename T>
class Memo {
 public:
  using Made = Result<std::shared_ptr<const T>>;

  explicit Memo(std::size_t capacity) : capacity_(capacity) {}

  [[nodiscard]] Made get(const std::string& key, const std::function<Made()>& make) {
    const std::shared_ptr<Entry> entry = entry_of(key);
    const std::lock_guard<std::mutex> lock(entry->mutex);
    if (entry->value != nullptr) return entry->value;
    Made made = make();
    if (made.ok()) entry->value = made.value();
    return made;
  }

 private:
  struct Entry {
    std::mutex mutex;
    std::shared_ptr<const T> value;
    std::uint64_t age = 0;
  };

  std::shared_ptr<Entry> entry_of(const std::string& key) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::shared_ptr<Entry>& entry = entries_[key];
    if (entry == nullptr) {
      entry = std::make_shared<Entry>();
      entry->age = ++clock_;
      std::shared_ptr<Entry> kept = entry;
      if (entries_.size() > capacity_) forget_oldest();
      return kept;
    }
    return entry;
  }

  void forget_oldest() {
    auto oldest = entries_.begin();
    for (auto it = entries_.begin(); it != entries_.end(); ++it) {
      if (it->second->age < oldest->second->age) oldest = it;
    }
    entries_.erase(oldest);
  }

  std::mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<Entry>> entries_;
  std::uint64_t clock_ = 0;
  std::size_t capacity_;
};

// A chat template as a model brings it.
struct LoadedTemplate {
  std::shared_ptr<const jinja::Template> plain;
  std::shared_ptr<const jinja::Template> tool_use;  // for conversations with tools, where the model has one; else null
  std::optional<std::string> bos_token;
  std::optional<std::string> eos_token;
  std::uint64_t serial = 0;  // no two in a cache have the same, not even after one was forgotten

  [[nodiscard]] const std::shared_ptr<const jinja::Template>& with_tools(bool tools) const {
    return tools && tool_use != nullptr ? tool_use : plain;
  }
};

struct LoadedTokenizer {
  std::shared_ptr<const tokenizer::Tokenizer> tokenizer;
  std::optional<std::string> bos_token;
  std::optional<std::string> eos_token;
  std::uint64_t serial = 0;
};

// Thread-safe.
class Cache {
 public:
  // `folder`: see ServiceOptions::cache_folder.
  explicit Cache(std::string folder = "") : folder_(std::move(folder)) {}

  // From the template's own text.  Fails with kTemplateSyntax.
  [[nodiscard]] Result<std::shared_ptr<const LoadedTemplate>> template_from_text(const std::string& source,
                                                                                 const jinja::CompileOptions& options);
  // From a file or model folder (docs/batch.md section 3).  Also fails with kNotFound.
  [[nodiscard]] Result<std::shared_ptr<const LoadedTemplate>> template_from_file(const std::string& path,
                                                                                 const jinja::CompileOptions& options);
  // Fails with kNotFound or kTokenizer.
  [[nodiscard]] Result<std::shared_ptr<const LoadedTokenizer>> tokenizer(const std::string& path);

 private:
  // Large enough to hold whatever one process uses; small enough that hostile input cannot fill the memory.
  std::string folder_;
  Memo<LoadedTemplate> templates_{4096};
  Memo<LoadedTokenizer> tokenizers_{64};
  std::atomic<std::uint64_t> serial_ = 0;
};

}  // namespace rondo::api
