// Reads a completion: turns sampled ids into the message they spell.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "chat/conversation.h"
#include "chat/results.h"
#include "format/format.h"
#include "parse/parser.h"
#include "render/stop.h"
#include "rondo/result.h"
#include "template/shape.h"
#include "tokenizer/tokenizer.h"

namespace rondo::render {

// Where a completion's reasoning is, as indices into its ids.  A token that also holds other text is not counted.
struct ReasoningSpan {
  std::size_t begin = 0;  // including its markers
  std::size_t end = 0;
  std::size_t inner_begin = 0;  // without its markers
  std::size_t inner_end = 0;
  bool opened_by_prompt = false;  // the prompt ends with the opening marker
};

// The content of a completion, and the text that would close what it left open (reasoning, a call), without the stop
// token.  Made by interpret() or by a caller's own parser.
struct ParsedCompletion {
  chat::AssistantMessage message;
  std::string closing_text;
  // The name, or the beginning of a name, of the call that `closing_text` closes, if `message` does not have that call.
  std::string cut_name;
  // If a turn consists of blocks with headings: the texts that end a block, including the last one.
  std::vector<std::string> block_ends;
  std::string calls_end;     // what the format writes at the end of its calls, with its counters; "" for nothing
  bool is_bare = false;      // the last call has no arguments, and the format closes such a call in another way
  format::InputShape input;  // the shape in which the template needs the message in history
  std::string raw;           // the text up to the stop token; ranges in `message` refer to it
  std::optional<ReasoningSpan> reasoning;
  std::vector<std::uint32_t> ends;  // per id of that text: where its bytes end in `raw`
  // The ranges of `raw` that the message is made of, in order: reasoning, content, and the names, ids and arguments of
  // calls.
  std::vector<tokenizer::ByteRange> data;
  // A stop token before this index of the completion's ids does not end the turn: it closes the reasoning.
  std::size_t stops_from = 0;
};

// Returns the text that closes what is open in `parser`.  `pending` was fed, but no event has reported it yet.  If it
// is the beginning of a closing marker, the result contains only the rest of that marker.
[[nodiscard]] std::string closing_text(const tokenizer::Tokenizer& tokenizer, const parse::Parser& parser,
                                       std::string_view pending);

// Returns the added tokens that are part of the format's markers.  The parser needs only their spelling, and a
// vocabulary may have a thousand other added tokens.
[[nodiscard]] std::vector<std::string> marker_tokens(const format::Format& format,
                                                     const tokenizer::Tokenizer& tokenizer);

// Reads completions of one format and tokenizer.  Immutable; the tokenizer must outlive it.
class CompletionReader {
 public:
  // `tools` are definitions as a template gets them; they give names and types.
  //
  // REQUIRES: format is not null.
  CompletionReader(std::shared_ptr<const format::Format> format, const tokenizer::Tokenizer& tokenizer,
                   std::optional<json::Value> tools);

  // Parses `completion_ids` up to the first stop token that does not close reasoning.  The end of `prompt_ids` shows
  // what the prompt has already opened: its last `tail` ids if that number is known (Appended::prompt_tail), otherwise
  // the last few hundred.  A marker counts only if its control tokens were sampled as such; other text that reads like
  // a marker is text.  Fails with kTokenizer if an id is out of range.
  [[nodiscard]] Result<ParsedCompletion> read(const TurnProfile& profile,
                                              std::span<const tokenizer::TokenId> prompt_ids,
                                              std::span<const tokenizer::TokenId> completion_ids,
                                              std::optional<std::size_t> tail = {}) const;

  [[nodiscard]] const format::Format& format() const { return *format_; }

 private:
  std::shared_ptr<const format::Format> format_;
  const tokenizer::Tokenizer& tokenizer_;
  std::shared_ptr<const parse::Syntax> syntax_;
};

// Returns the calls that tool results may answer.  Views into `said`.
[[nodiscard]] std::vector<chat::OpenCall> open_calls(const ParsedCompletion& said);

// Returns what the messages after `history` and the completion are shaped by (tmpl::shape).  Views into `said`.
[[nodiscard]] tmpl::ShapingContext shaping_context(std::span<const json::Value> history, const ParsedCompletion& said);

// Does CompletionReader::read() with a reader made for this call.
[[nodiscard]] Result<ParsedCompletion> interpret(const std::shared_ptr<const format::Format>& format,
                                                 const tokenizer::Tokenizer& tokenizer, const TurnProfile& profile,
                                                 const std::optional<json::Value>& tools,
                                                 std::span<const tokenizer::TokenId> prompt_ids,
                                                 std::span<const tokenizer::TokenId> completion_ids);

}  // namespace rondo::render
