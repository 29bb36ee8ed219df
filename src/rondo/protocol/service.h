// The whole library behind one door: requests and replies of the line protocol (docs/batch.md) as JSON values.
//
//   protocol::Service service({.clock = local_time});
//   service.handle_line(R"({"op": "tokenize", "tokenizer": "model/", "text": "Hello"})");  // {"ids":[9707]}
//
// Templates, tokenizers and what is derived from them are loaded once and kept.  Thread-safe: any number of threads may
// call any member at once.  Prints nothing and reads no clock; the one it is given is called from the calling thread.
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
  std::function<std::tm()> clock;  // the local time, for requests without `now`; without one such requests have no time
  // Where large tokenizers are kept in a form that loads at once (tokenizer::LoadOptions); empty: nowhere.
  std::string cache_folder;
};

// What a model writes, while it writes it: for the op `parse`, in place of the field `text`.
struct TextStream {
  std::function<std::optional<std::string>()> next;   // the next piece, of any size; nullopt: the text ends
  std::function<void(const json::Value&)> on_deltas;  // what a piece gave, an array as in `parse_stream`; not empty
};

// A log that is read while it is replayed: for the op `replay`, in place of its field `log`.
struct LogStream {
  std::function<std::size_t(char* out, std::size_t size)> read;  // 0: the log ends
  // Called now and then with what has been read and replayed; may be empty.
  std::function<void(std::uint64_t bytes, std::uint64_t requests)> on_progress;
};

struct RunOptions {
  const TextStream* stream = nullptr;  // borrowed; both functions are called from the calling thread
  const LogStream* log = nullptr;      // likewise
  // Refuse messages whose role neither the template nor the public chat APIs know, and those that the template drops
  // because it does not know their role.  For people; the line protocol leaves roles to the template.
  bool refuse_unknown_roles = false;
  // The op `render` also replies with `trace` (docs/render.md): what each line of the template wrote, and why.  `tokenize`
  // and `encode` also say what people want to see of each id (docs/tokenize.md).
  bool trace = false;
  // Of the op `check`: called after each case, from the calling thread; of `fix` after each edit that was tried (total: 0).
  std::function<void(std::size_t done, std::size_t total)> on_progress = {};
};

class Service {
 public:
  explicit Service(ServiceOptions options);
  ~Service();
  Service(const Service&) = delete;
  Service& operator=(const Service&) = delete;

  // The reply without `id`, or what went wrong, with its place.
  [[nodiscard]] Result<json::Value> run(const json::Value& request, const RunOptions& options = {}) const;

  // The reply, `id` and errors included.
  [[nodiscard]] json::Value handle(const json::Value& request) const;

  // One line of the protocol without its newline, and the reply's line without its newline.
  [[nodiscard]] std::string handle_line(std::string_view line) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rondo::protocol
