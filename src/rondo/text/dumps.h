// Splits the run of a JSON dump into its parts, when somebody asks for them.
//
// A dump of a large object has some ten runs for each of its members, and most renders never need them.  So the JSON
// writer may leave one run for the whole dump (RunKind::kDump), with the path of the object.  The bytes themselves show
// what is a key, a string, a number or structure, and the keys give the paths.
//
// A dump is JSON as json.dumps writes it without ensure_ascii and without sorting.  Separators are a comma and a colon
// with white space around them.  Strings escape only `"`, `\` and control characters.
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

// Splits dumps into runs.  Keeps its memory between calls.
class DumpReader {
 public:
  // Appends to `out` the runs of `bytes`, which `dump` stands for.  They equal the runs of a JSON writer that writes
  // each part by itself.  Adds the missing paths to `paths`.
  //
  // REQUIRES: dump.kind == kDump, dump.size == bytes.size(), and `bytes` is such a dump.
  void read(std::string_view bytes, const Run& dump, PathTable& paths, std::vector<Run>& out);

 private:
  enum class Kind : std::uint8_t { kObject, kArray, kKey, kString, kScalar };
  // A token of the text.  The tokens inside a container follow it in the list.
  struct Token {
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
    std::uint32_t count = 0;   // of a container: how many parts it has
    std::uint32_t behind = 0;  // index of the first token after this value
    Kind kind = Kind::kScalar;
    bool has_escapes = false;  // for a key or a string
  };
  // A container whose parts are being written.
  struct Open {
    std::uint32_t token = 0;
    PathId path = PathId::kNone;
    PathId first = PathId::kNone;  // of its parts, if the others follow it in order
    std::uint32_t next = 0;        // index of the next part
  };
  class Writer;

  void scan(std::string_view bytes);
  // Returns the token of the string whose opening quote is at `at`.
  [[nodiscard]] static Token string_at(std::string_view bytes, std::size_t at);
  // Returns the token that begins at `at`: a key if `is_key`, an opening bracket or a whole scalar.
  [[nodiscard]] static Token token_at(std::string_view bytes, std::size_t at, bool is_key);
  void add(Token token);
  void close(std::size_t end);
  [[nodiscard]] Open open(std::uint32_t token, PathId path, std::string_view bytes, PathTable& paths);
  // Returns the path of the part of `around` that begins with `token`.  `token` is a key or an element.
  [[nodiscard]] PathId part_path(Open& around, const Token& token, std::string_view bytes, PathTable& paths);
  // Returns the key that `token` spells.
  [[nodiscard]] std::string_view key(const Token& token, std::string_view bytes);

  std::vector<Token> tokens_;
  std::vector<std::uint32_t> containers_;  // containers that are open during the scan
  std::vector<Open> open_;
  std::vector<std::string_view> names_;
  std::deque<std::string> unescaped_;
};

// Returns an upper bound for the number of runs after the dumps among `runs` are split.
[[nodiscard]] std::size_t count_parts(std::span<const Run> runs);
// Returns `runs`, which cover `bytes`, with each dump replaced by the runs of its parts.
[[nodiscard]] std::vector<Run> parts_of(std::string_view bytes, std::span<const Run> runs, PathTable& paths);

}  // namespace rondo::text
