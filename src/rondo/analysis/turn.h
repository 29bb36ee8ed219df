// An assistant turn as a template wrote it: a list of literals and slots.  Internal to analysis/.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jinja/template.h"

namespace rondo::analysis {

enum class SlotKind : std::uint8_t { kLiteral, kReasoning, kContent, kName, kId, kIndex, kArguments };

// A part of the arguments: its path in them, and how it was printed.
struct ArgumentPart {
  std::string text;
  std::vector<std::string> path;  // steps below `arguments`; array indices in decimal
  bool is_key = false;
  text::RunKind kind = text::RunKind::kData;
  std::string chain;
};

// Where a token's text comes from, from byte `at` up to the next Source: a literal of the template, and the offset in
// the literal.  kNoLiteral means that the text was computed.
struct Source {
  std::size_t at = 0;
  std::uint32_t literal = 0;
  std::uint32_t offset = 0;
};
inline constexpr std::uint32_t kNoLiteral = static_cast<std::uint32_t>(-1);
// Returns the source of the bytes of `run`, with `at` 0.
[[nodiscard]] Source source_of(const text::Run& run);

struct Token {
  SlotKind kind = SlotKind::kLiteral;
  std::size_t call = 0;
  std::string text;
  std::vector<Source> sources = {};      // for kLiteral
  std::vector<ArgumentPart> parts = {};  // for kArguments
  std::string chain = {};                // for kReasoning and kContent: the transformations by the template
};

// A condition that read a field of the assistant message, such as "content", "tool_calls" or "arguments.k1".
struct FieldRead {
  std::string field;
  std::int32_t line = 0;
  bool outcome = false;
};

inline constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct Turn {
  std::vector<Token> tokens;
  std::string following;  // the template's text after the turn, up to the next message's data
  std::vector<Source> following_sources;
  std::string behind;                                      // everything after the turn
  std::vector<jinja::Probe> probes;                        // questions about the assistant message's own texts
  std::string reasoning_name;                              // the field that the reasoning was read from
  std::vector<FieldRead> reads;                            // the reads of conditions, in order
  std::vector<std::pair<std::string, std::int32_t>> cuts;  // removed white space: field and line

  [[nodiscard]] bool has(SlotKind kind, std::size_t call = 0) const;
  // Returns the index of the first (last) token of that kind and call; kNone if there is none.
  [[nodiscard]] std::size_t first(SlotKind kind, std::size_t call = 0) const;
  [[nodiscard]] std::size_t last(SlotKind kind, std::size_t call = 0) const;
  // Returns the index of the first token that is neither text nor a counter; the number of tokens if there is none.
  [[nodiscard]] std::size_t first_slot() const;
  // Returns the index of the first (last) name, id or arguments of that call; kNone if there is none.
  [[nodiscard]] std::size_t first_of_call(std::size_t call) const;
  [[nodiscard]] std::size_t last_of_call(std::size_t call) const;
  // Returns the text of the tokens [begin, end), without slots but with counters.
  [[nodiscard]] std::string literals(std::size_t begin, std::size_t end) const;
  [[nodiscard]] std::string literals() const { return literals(0, tokens.size()); }
  // Returns the template's text between that call and the next one.
  [[nodiscard]] std::string between_calls(std::size_t call) const;
  // Returns the text after token `last`, up to content if that follows the calls.
  [[nodiscard]] std::string behind_calls(std::size_t last) const;
};

// Reads the turn of message 1, the assistant's, from its first run to its last.  `is_followed` means that other
// messages follow.  `own_field` is one more field with reasoning, or "".
[[nodiscard]] Turn read_turn(const jinja::Rendered& rendered, bool is_followed, std::string_view own_field);

}  // namespace rondo::analysis
