// The output buffer of tojson.  Most pieces of JSON have a few bytes, so they are collected here and go to the text
// many at a time.  It treats runs as StringBuilder (strings.h) does.  A dump may be written whole (text/dumps.h); its
// runs are then only counted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>

#include "jinja/value/making.h"
#include "jinja/value/runtime.h"
#include "jinja/value/strings.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

// Looks at eight bytes, the first of them lowest.  The lowest set bit is in the first byte that JSON escapes.
constexpr std::uint64_t escaped_among(std::uint64_t word) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  constexpr std::uint64_t kHighs = 0x80 * kOnes;
  const std::uint64_t quotes = word ^ ('"' * kOnes);
  const std::uint64_t backslashes = word ^ ('\\' * kOnes);
  const std::uint64_t found =
      ((word - 0x20 * kOnes) & ~word) | ((quotes - kOnes) & ~quotes) | ((backslashes - kOnes) & ~backslashes);
  return found & kHighs;
}

// A separator, in a buffer that is copied as a whole.
struct JsonMark {
  static constexpr std::size_t kMost = 16;
  std::array<char, kMost> bytes = {};
  std::size_t size = 0;
  [[nodiscard]] std::string_view view() const { return {bytes.data(), size}; }
};

class JsonSink {
 public:
  // Makes a string; end with finish().
  explicit JsonSink(Runtime& runtime) : JsonSink(runtime, *runtime.borrow_text(), false) {}
  // Writes to `output` directly, as emit() would write the finished string under the current context; end with flush().
  JsonSink(Runtime& runtime, text::Text& output) : JsonSink(runtime, output, true) {}
  ~JsonSink() {
    if (!is_output_) runtime_.give_back(&text_);
  }
  JsonSink(const JsonSink&) = delete;
  JsonSink& operator=(const JsonSink&) = delete;

  // Everything written between these two calls becomes one run, for the value at `path`.
  //
  // REQUIRES: runs are written.
  void begin_whole();
  void end_whole(text::PathId path);
  [[nodiscard]] bool is_whole() const { return is_whole_; }
  // In a whole dump: counts runs that the following calls do not count.
  void count(std::size_t runs) { parts_ += static_cast<std::uint32_t>(runs); }

  // Write structure around the value at `path`; a number or other scalar at `path`; bytes of the string at `path` from
  // `offset` on; and text that stands for such bytes.
  [[gnu::always_inline]] void structure(std::string_view bytes, text::PathId path) {
    if (bytes.empty()) return;
    put(bytes);
    if (!writes_runs_) return;
    if (path == text::PathId::kNone) {
      add_run(computed_, bytes.size());
    } else if (open_ == path) {
      text_.open_run()->size += static_cast<std::uint32_t>(bytes.size());
    } else {
      add(text::RunKind::kSerialiser, path, bytes.size(), 0);
      open_ = path;
    }
  }
  void scalar(std::string_view bytes, text::PathId path) {
    put(bytes);
    ++parts_;
    if (!writes_runs_) return;
    if (path == text::PathId::kNone) {
      add_run(computed_, bytes.size());
    } else {
      add(text::RunKind::kScalar, path, bytes.size(), 0);
      open_ = kNothingOpen;
    }
  }
  void data(std::string_view bytes, text::PathId path, std::size_t offset) {
    if (bytes.empty()) return;
    put(bytes);
    ++parts_;
    if (!writes_runs_) return;
    add(text::RunKind::kData, path, bytes.size(), bytes.size()).source_offset = static_cast<std::uint32_t>(offset);
    open_ = kNothingOpen;
  }
  void escaped(std::string_view bytes, text::PathId path, std::size_t offset, std::size_t source_size) {
    put(bytes);
    ++parts_;
    if (!writes_runs_) return;
    add(text::RunKind::kEscaped, path, bytes.size(), source_size).source_offset = static_cast<std::uint32_t>(offset);
    open_ = kNothingOpen;
  }
  // Fast paths for the most common pieces: a member's key between separators, for the object at `path`; and a string in
  // quotes.  They write nothing and return false if something must be escaped or the text is long.
  [[nodiscard]] bool key(const JsonMark& before, std::string_view key, const JsonMark& behind, text::PathId path,
                         text::PathId key_path) {
    char* const to = room(key);
    if (to == nullptr) return false;
    std::memcpy(to, before.bytes.data(), JsonMark::kMost);
    if (!copy_plain(to + before.size, key)) return false;
    std::memcpy(to + before.size + key.size(), behind.bytes.data(), JsonMark::kMost);
    used_ += before.size + key.size() + behind.size;
    ++parts_;
    if (!writes_runs_) return true;
    if (open_ == path) {
      text_.open_run()->size += static_cast<std::uint32_t>(before.size);
    } else {
      add(text::RunKind::kSerialiser, path, before.size, 0);
    }
    add(text::RunKind::kData, key_path, key.size(), key.size());
    add(text::RunKind::kSerialiser, path, behind.size, 0);
    open_ = path;
    return true;
  }
  [[nodiscard]] bool string(std::string_view bytes, text::PathId path) {
    if (writes_runs_ && (open_ == path || path == text::PathId::kNone)) return false;
    char* const to = room(bytes);
    if (to == nullptr || !copy_plain(to + 1, bytes)) return false;
    to[0] = to[bytes.size() + 1] = '"';
    used_ += bytes.size() + 2;
    parts_ += 3;
    if (!writes_runs_) return true;
    add(text::RunKind::kSerialiser, path, 1, 0);
    add(text::RunKind::kData, path, bytes.size(), bytes.size());
    add(text::RunKind::kSerialiser, path, 1, 0);
    open_ = path;
    return true;
  }
  // Copies `bytes`, at least one.  Returns false if JSON escapes one of them.
  [[nodiscard, gnu::always_inline]] static bool copy_plain(char* to, std::string_view bytes) {
    const char* const from = bytes.data();
    const std::size_t size = bytes.size();
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    const auto copy_word = [&](std::size_t at) {
      std::uint64_t word = 0;
      std::memcpy(&word, from + at, kWord);
      std::memcpy(to + at, &word, kWord);
      return escaped_among(word);
    };
    std::uint64_t found = 0;
    if (size >= kWord) {
      for (std::size_t at = 0; at + kWord < size; at += kWord) found |= copy_word(at);
      return (found | copy_word(size - kWord)) == 0;
    }
    std::uint64_t word = 0;
    if (size >= sizeof(std::uint32_t)) {
      std::uint32_t first = 0;
      std::uint32_t last = 0;
      std::memcpy(&first, from, sizeof(first));
      std::memcpy(&last, from + size - sizeof(last), sizeof(last));
      std::memcpy(to, &first, sizeof(first));
      std::memcpy(to + size - sizeof(last), &last, sizeof(last));
      word = std::uint64_t{first} | std::uint64_t{last} << 32U;
    } else {
      to[0] = from[0];
      to[size / 2] = from[size / 2];
      to[size - 1] = from[size - 1];
      constexpr std::uint64_t kPlain = 0x2020202020000000;
      const auto byte_at = [&](std::size_t at) { return std::uint64_t{static_cast<unsigned char>(from[at])}; };
      word = kPlain | byte_at(0) | byte_at(size / 2) << 8U | byte_at(size - 1) << 16U;
    }
    return escaped_among(word) == 0;
  }

  // For callers that write many short pieces without runs.  The first returns where the next byte goes, with room for
  // `size` bytes; the second takes the end of the pieces.  Write nothing else between the two.
  [[nodiscard]] char* cursor(std::size_t size) {
    if (kBytes - used_ < size) flush();
    return bytes_.data() + used_;
  }
  [[nodiscard]] char* cursor(char* at, std::size_t size) {
    if (static_cast<std::size_t>(bytes_.data() + kBytes - at) >= size) return at;
    end_at(at);
    return cursor(size);
  }
  void end_at(const char* at) { used_ = static_cast<std::size_t>(at - bytes_.data()); }
  // The most bytes for which there may be room, with separators around them.
  static constexpr std::size_t kMostAtOnce = 256;
  // Appends any other bytes, with the run that describes them; sets its size.
  void append(std::string_view bytes, text::Run run) {
    if (bytes.empty()) return;
    put(bytes);
    ++parts_;
    if (!writes_runs_) return;
    if (is_output_ && run.context == text::ContextId::kNone) run.context = runtime_.context;
    if (is_output_ && run.kind != text::RunKind::kLiteral) run.expression = runtime_.expression;
    add_run(run, bytes.size());
  }
  // Appends a joined string.  Chains of input runs get `step`.
  void append(const String& string, std::string_view step) {
    if (!runtime_.tracing) {
      put({string.data, string.size});
      return;
    }
    std::size_t at = 0;
    for (std::uint32_t i = 0; i < string.run_count; ++i) {
      text::Run run = string.runs[i];
      take_run(runtime_, run, step);
      append({string.data + at, run.size}, run);
      at += run.size;
    }
  }

  void flush() {
    text_.append_bytes({bytes_.data(), used_});
    used_ = 0;
    const std::size_t size = this->size();
    if (size - checked_ > kCheckBytes) check(size);
  }
  // REQUIRES: this makes a string.
  [[nodiscard]] Value finish(text::PathId path) {
    flush();
    runtime_.spend_bytes(size() - checked_);
    return make_string(runtime_, text_).with_path(path);
  }

 private:
  // How much may be added before the limits are checked again.
  static constexpr std::size_t kCheckBytes = std::size_t{64} << 10U;
  static constexpr std::size_t kBytes = 512;
  static constexpr auto kNothingOpen = static_cast<text::PathId>(~0U);

  JsonSink(Runtime& runtime, text::Text& text, bool is_output);
  // The size of the text and its runs, including the runs that a whole dump stands for.
  [[nodiscard]] std::size_t size() const {
    return text_.size() + text_.runs().size_bytes() + (is_whole_ ? parts_ * sizeof(text::Run) : 0);
  }
  void check(std::size_t size);

  void put(std::string_view bytes) {
    if (bytes.size() > bytes_.size() - used_) {
      put_slowly(bytes);
      return;
    }
    copy(bytes_.data() + used_, bytes);
    used_ += bytes.size();
  }
  void put_slowly(std::string_view bytes);
  // Copies a short text without a call: with two overlapping words.
  static void copy(char* to, std::string_view bytes) {
    const char* const from = bytes.data();
    const std::size_t size = bytes.size();
    const auto copy_ends = [&]<typename Word>(Word /*type*/) {
      Word first = 0;
      Word last = 0;
      std::memcpy(&first, from, sizeof(Word));
      std::memcpy(&last, from + size - sizeof(Word), sizeof(Word));
      std::memcpy(to, &first, sizeof(Word));
      std::memcpy(to + size - sizeof(Word), &last, sizeof(Word));
    };
    if (size > 2 * sizeof(std::uint64_t)) {
      std::memcpy(to, from, size);
    } else if (size >= sizeof(std::uint64_t)) {
      copy_ends(std::uint64_t{});
    } else if (size >= sizeof(std::uint32_t)) {
      copy_ends(std::uint32_t{});
    } else {
      for (std::size_t i = 0; i < size; ++i) to[i] = from[i];
    }
  }

  // Returns where `bytes` and two separators may be written now; nullptr if `bytes` is empty or long.
  [[nodiscard]] char* room(std::string_view bytes) {
    if (bytes.empty() || bytes.size() > kMostAtOnce) return nullptr;
    if (bytes_.size() - used_ < bytes.size() + 2 * JsonMark::kMost) flush();
    return bytes_.data() + used_;
  }
  // Adds a run that cannot be merged with the one before it.
  [[gnu::always_inline]] text::Run& add(text::RunKind kind, text::PathId path, std::size_t size,
                                        std::size_t source_size) {
    text::Run& run = text_.add_run();
    run.size = static_cast<std::uint32_t>(size);
    run.origin = static_cast<std::uint32_t>(path);
    run.source_offset = 0;
    run.source_size = static_cast<std::uint32_t>(source_size);
    run.context = context_;
    run.chain = chain_;
    run.kind = kind;
    run.expression = expression_;
    return run;
  }
  void add_run(text::Run run, std::size_t size) {
    run.size = static_cast<std::uint32_t>(size);
    if (has_source(run)) run.source_size = run.size;
    text_.append_run(run);
    reopen();
  }
  // Checks whether the text ends with structure that can be continued.
  void reopen();

  Runtime& runtime_;
  text::Text& text_;
  bool is_output_;
  bool writes_runs_;
  bool is_whole_ = false;
  std::uint32_t parts_ = 0;      // how many runs a whole dump stands for
  std::size_t whole_begin_ = 0;  // the first byte of the whole dump in the text
  std::size_t checked_;          // the size of the text when the limits were last checked
  std::size_t used_ = 0;
  text::PathId open_ = kNothingOpen;  // the last run is structure of this path
  // For runs of parts of the input.
  text::ContextId context_ = text::ContextId::kNone;
  text::ChainId chain_;
  std::uint16_t expression_ = 0;
  text::Run computed_;
  std::array<char, kBytes> bytes_;
};

}  // namespace rondo::jinja
