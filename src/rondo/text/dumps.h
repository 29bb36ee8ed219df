// The parts of a JSON dump, made when somebody asks for them.
//
// A dump of a large object has some ten runs for each of its members, and most who render never look at them.  So the
// writer of JSON may leave one run for the whole (RunKind::kDump), whose path is that of the object; which bytes are a key,
// a string, a number or structure stands in the text itself, and the paths follow from the keys.
//
// Such a run stands for JSON as json.dumps writes it without ensure_ascii and without sorting: separators are a comma and a
// colon with white space around them, strings escape `"`, `\` and control characters only.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "text/origins.h"
#include "text/run.h"

namespace rondo::text {

// Takes dumps apart.  Keeps its memory between calls.
class DumpReader {
 public:
  // Appends the runs of `bytes`, which `dump` stands for, to `out`, with paths of `paths` where there are no such yet.
  // They are what a writer of JSON gives who writes them one by one.
  // REQUIRES: dump.kind == kDump, dump.size == bytes.size(), and the bytes are such a dump.
  void read(std::string_view bytes, const Run& dump, PathTable& paths, std::vector<Run>& out);

 private:
  enum class Kind : std::uint8_t { kObject, kArray, kKey, kString, kScalar };
  // A piece of the text.  What is in a container stands behind it.
  struct Token {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t count = 0;   // of a container: its parts
    std::uint32_t behind = 0;  // number of the token behind the last one that belongs to this value
    Kind kind = Kind::kScalar;
    bool has_escapes = false;  // of a key or string
  };
  // A container whose parts are being written.
  struct Open {
    std::uint32_t token = 0;
    PathId path = PathId::kNone;
    PathId first = PathId::kNone;  // of its parts, if the others follow it
    std::uint32_t next = 0;        // part
  };
  class Writer;

  void scan(std::string_view bytes);
  // The token of the string whose opening quote is at `at`.
  [[nodiscard]] static Token string_at(std::string_view bytes, std::size_t at);
  void close(std::size_t end);
  [[nodiscard]] Open open(std::uint32_t token, PathId path, std::string_view bytes, PathTable& paths);
  // The path of the part of `around` that begins with `token`, a key or an element.
  [[nodiscard]] PathId part_path(Open& around, const Token& token, std::string_view bytes, PathTable& paths);
  // The key that is written as `token`.
  [[nodiscard]] std::string_view key(const Token& token, std::string_view bytes);

  std::vector<Token> tokens_;
  std::vector<std::uint32_t> containers_;  // that are open while the text is scanned
  std::vector<Open> open_;
  std::vector<std::string_view> names_;
  std::deque<std::string> unescaped_;
};

// How many runs there are once the dumps among `runs` are taken apart, at most.
[[nodiscard]] std::size_t count_parts(std::span<const Run> runs);
// `runs`, which cover `bytes`, with those of their parts in the place of dumps.
[[nodiscard]] std::vector<Run> parts_of(std::string_view bytes, std::span<const Run> runs, PathTable& paths);

}  // namespace rondo::text
