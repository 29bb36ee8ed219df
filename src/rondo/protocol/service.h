// The whole library behind one class: requests and replies of the line protocol (docs/batch.md) as JSON values.
//
//   protocol::Service service({.clock = local_time});
//   service.handle_line(R"({"op": "tokenize", "tokenizer": "model/", "text": "Hello"})");  // {"ids":[9707]}
//
// Templates, tokenizers and everything derived from them are loaded once and kept.  Thread-safe: any number of threads
// may call any member at once.  Prints nothing and reads no clock.  The clock that it is given is called on the calling
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <ctime>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "json/value.h"
#include "rondo/result.h"

namespace rondo::protocol {

struct ServiceOptions {
  std::function<std::tm()> clock;  // the local time for requests without `now`; if empty, such requests have no time
  // Where large tokenizers are cached in a form that loads fast (tokenizer::LoadOptions); empty: no cache.
  std::string cache_folder;
};

// What a model writes, while it writes it: for the operation `parse`, instead of the field `text`.
struct TextStream {
  std::function<std::optional<std::string>()> next;  // returns the next piece, of any size; nullopt: the text ends
  // Gets what a piece gave: an array as in `parse_stream`, not empty.
  std::function<void(const json::Value&)> on_deltas;
};

// A log that is read while it is replayed: for the operation `replay`, instead of its field `log`.
struct LogStream {
  std::function<std::size_t(char* out, std::size_t size)> read;  // returns 0 at the end of the log
  // Called from time to time with how much was read and replayed; may be empty.
  std::function<void(std::uint64_t bytes, std::uint64_t requests)> on_progress;
};

struct RunOptions {
  const TextStream* stream = nullptr;  // borrowed; both functions are called on the calling thread
  const LogStream* log = nullptr;      // borrowed, and called in the same way
  // Refuse messages whose role neither the template nor the public chat APIs know, and messages that the template drops
  // because it does not know their role: for `render` and `encode`.  For people; the line protocol leaves roles to the
  // template.
  bool refuse_unknown_roles = false;
  // Make `render` also reply with `trace` (docs/render.md): what each line of the template wrote, and why.  Make
  // `tokenize` and `encode` also reply with what people want to see of each id (docs/tokenize.md).
  bool trace = false;
  // For `check`: called after each case, on the calling thread.  For `fix`: called after each edit that was tried
  // (total: 0).
  std::function<void(std::size_t done, std::size_t total)> on_progress = {};
};

class Service {
 public:
  explicit Service(ServiceOptions options);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // Returns the reply without `id`, or the error with its place.
  [[nodiscard]] Result<json::Value> run(const json::Value& request, const RunOptions& options = {}) const;

  // Returns the reply, including `id` and errors.  Paths in the request must be those of regular files and folders.
  [[nodiscard]] json::Value handle(const json::Value& request) const;

  // Takes one line of the protocol without its newline, and returns the reply's line without its newline.
  [[nodiscard]] std::string handle_line(std::string_view line) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rondo::protocol
