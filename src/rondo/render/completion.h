// Reading a completion: from sampled ids to the message that they say.
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

// Where a completion's reasoning stands, as indices into its ids.  Tokens that hold other text too are not counted.
struct ReasoningSpan {
  std::size_t begin = 0;  // with the markers around it
  std::size_t end = 0;
  std::size_t inner_begin = 0;  // without
  std::size_t inner_end = 0;
  bool opened_by_prompt = false;  // the opening marker is the end of the prompt
};

// What a completion says, and what would close the constructs that it left open (reasoning, a call), without the stop
// token.  Made by interpret(), or by a caller's own parser.
struct ParsedCompletion {
  chat::AssistantMessage message;
  std::string closing_text;
  std::vector<std::string> block_ends;  // where a turn is blocks with headings: the texts that end one, also the last
  format::InputShape input;             // how the template wants the message to look in history
  std::string raw;  // the text of the completion up to its stop token; ranges in `message` refer to it
  std::optional<ReasoningSpan> reasoning;
  std::vector<std::uint32_t> ends;  // per id of that text: where its bytes end in `raw`
  // What of `raw` the message is made of, in order: reasoning, content, names, ids and arguments of calls.
  std::vector<tokenizer::ByteRange> data;
  // Stop tokens before this index of the completion's ids end nothing: they close reasoning, and the turn goes on.
  std::size_t stops_from = 0;
};

// What closes that which is open in `parser`.  `pending` was fed to it, and no event has told of it: it may be the beginning of
// a closing marker already, which is left out then.
[[nodiscard]] std::string closing_text(const tokenizer::Tokenizer& tokenizer, const parse::Parser& parser,
                                       std::string_view pending);

// The added tokens that are part of one of the format's markers: only their spelling matters to the parser, and a
// vocabulary may have a thousand others.
[[nodiscard]] std::vector<std::string> marker_tokens(const format::Format& format,
                                                     const tokenizer::Tokenizer& tokenizer);

// Reads completions of one format and tokenizer.  Immutable; the references must outlive it.
class CompletionReader {
 public:
  // `tools` (definitions as for a template) give names and types.  REQUIRES: format is not null.
  CompletionReader(std::shared_ptr<const format::Format> format, const tokenizer::Tokenizer& tokenizer,
                   std::optional<json::Value> tools);

  // Parses `completion_ids` up to their first stop token, but for one that closes reasoning.  The end of `prompt_ids` says
  // what the prompt has already opened: its last `tail` ids where that is known (Appended::prompt_tail), else a few
  // hundred.  A marker counts only where its control tokens were sampled as such: text that reads like one is text.
  // Fails with kTokenizer on ids out of range.
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

// The calls that results may answer; views of `said`.
[[nodiscard]] std::vector<chat::OpenCall> open_calls(const ParsedCompletion& said);

// What messages that follow `history` and the completion are shaped by (tmpl::shape); views of `said`.
[[nodiscard]] tmpl::ShapingContext shaping_context(std::span<const json::Value> history, const ParsedCompletion& said);

// CompletionReader::read() of a reader that is made for this call.
[[nodiscard]] Result<ParsedCompletion> interpret(const std::shared_ptr<const format::Format>& format,
                                                 const tokenizer::Tokenizer& tokenizer, const TurnProfile& profile,
                                                 const std::optional<json::Value>& tools,
                                                 std::span<const tokenizer::TokenId> prompt_ids,
                                                 std::span<const tokenizer::TokenId> completion_ids);

}  // namespace rondo::render
