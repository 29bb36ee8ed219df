#include "render/completion.h"

#include <algorithm>
#include <utility>

#include "format/units.h"
#include "parse/parser.h"
#include "render/token_text.h"

namespace rondo::render {
namespace {

using tokenizer::TokenId;

// The generation prompt is short; a continued message is the caller's business.
constexpr std::size_t kPromptTailTokens = 256;

Status check_ids(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> ids) {
  for (const TokenId id : ids) {
    if (id >= 0 && id < tokenizer.vocab_size()) continue;
    return Error(ErrorCode::kTokenizer, "completion id " + std::to_string(id) +
                                            " is out of range; the vocabulary has " +
                                            std::to_string(tokenizer.vocab_size()) + " ids");
  }
  return Done{};
}

// All strings of a JSON value, separated by a byte that no marker contains.
void collect_strings(const json::Value& value, std::string& out) {
  if (value.is_string()) {
    out += value.as_string();
    out += '\0';
  } else if (value.is_array()) {
    for (const json::Value& element : value.as_array()) collect_strings(element, out);
  } else if (value.is_object()) {
    for (const json::Member& member : value.as_object()) collect_strings(member.value, out);
  }
}

// The texts that end a block of a turn.  One text may end any of them, and the turn together with the last.
std::vector<std::string> block_ends(const format::Format& format) {
  std::vector<std::string> out;
  for (const auto* ends : {&format.stops.history_close, &format.stops.content, &format.stops.tool}) {
    for (const std::string& end : *ends) out.emplace_back(format::trimmed(end));
  }
  std::erase(out, "");
  return out;
}

// Returns whether the last call is whole, has no arguments, and is of a format that closes such a call in another way.
bool ends_bare(const format::Format& format, const ParsedCompletion& said) {
  const std::vector<chat::ToolCall>& calls = said.message.tool_calls;
  return !format.calls.bare_close.empty() && said.closing_text.empty() && !calls.empty() &&
         calls.back().arguments == "{}";
}

// Returns the name of the call that is in `closed`, the completion with its closing text, but not in the message.
std::string cut_name(const std::shared_ptr<const parse::Syntax>& syntax, std::string_view prompt_tail,
                     std::string_view closed, const ParsedCompletion& said) {
  if (said.closing_text.empty()) return "";
  parse::Parser parser(syntax, prompt_tail);
  (void)parser.feed(closed);
  (void)parser.close();
  const std::vector<chat::ToolCall>& calls = parser.message().tool_calls;
  return calls.size() == said.message.tool_calls.size() + 1 ? calls.back().name : "";
}

parse::Options options_of(std::optional<json::Value> tools, std::vector<std::string> special_tokens) {
  parse::Options options;
  options.tools = std::move(tools);
  options.special_tokens = std::move(special_tokens);
  return options;
}

// Feeds a parser.  Records which bytes each id became, and where reasoning and its markers are.
class Reading {
 public:
  Reading(const tokenizer::Tokenizer& tokenizer, parse::Parser& parser) : text_(tokenizer), parser_(parser) {}

  [[nodiscard]] Result<TurnEnd> feed(std::span<const TokenId> ids, const TurnProfile& profile,
                                     std::string_view reasoning_close) {
    return text_.feed_turn(ids, profile, parser_, reasoning_close, [this](const parse::Piece& piece) { take(piece); });
  }
  void finish() { note(parser_.close()); }
  // Feeds the stop, because the template may write text before it.  The stop is not part of raw().
  void stop(const parse::Piece& piece) {
    const std::size_t size = raw_.size();
    take(piece);
    finish();
    raw_.resize(size);
  }

  [[nodiscard]] std::string& raw() { return raw_; }
  [[nodiscard]] std::vector<std::uint32_t>& ends() { return text_.ends(); }
  [[nodiscard]] std::vector<tokenizer::ByteRange>& data() { return data_; }
  // The text that was fed and is not reported yet.
  [[nodiscard]] std::string_view pending() const {
    return std::string_view(raw_).substr(std::min(reported_, raw_.size()));
  }

  // `close` is the marker that closes reasoning, and `is_opened` whether the prompt ends inside reasoning.
  [[nodiscard]] std::optional<ReasoningSpan> reasoning(std::string_view close, bool is_opened) {
    if (!has_reasoning_) return empty_block(close, is_opened);
    ReasoningSpan span;
    span.opened_by_prompt = opened_by_prompt_;
    span.begin = first_token_from(outer_begin_);
    span.inner_begin = first_token_from(inner_begin_);
    span.inner_end = std::max(span.inner_begin, first_token_behind(inner_end_));
    span.end = std::max(span.inner_end, first_token_behind(outer_end_));
    return span;
  }

 private:
  void take(const parse::Piece& piece) {
    raw_ += piece.bytes;
    note(parser_.feed(std::span(&piece, 1)));
  }

  void note(std::span<const parse::Event> events) {
    for (const parse::Event& event : events) {
      if (event.begin == event.end) continue;  // of the prompt's tail
      reported_ = std::max(reported_, event.end);
      note_data(event);
      if (event.kind == parse::EventKind::kReasoning) {
        note_reasoning(event);
      } else if (event.kind == parse::EventKind::kMarker) {
        note_marker(event);
      } else {
        opening_.reset();
        followed_ = closed_;
      }
    }
  }

  void note_data(const parse::Event& event) {
    tokenizer::ByteRange range{event.begin, event.end};
    if (event.kind == parse::EventKind::kMarker || event.kind == parse::EventKind::kCallEnd) return;
    if (event.kind == parse::EventKind::kCallStart || event.kind == parse::EventKind::kCallId) {
      // The event also covers the markup before the name.
      const std::size_t at = std::string_view(raw_).substr(range.begin, range.end - range.begin).rfind(event.text);
      if (event.text.empty() || at == std::string_view::npos) return;
      range = {range.begin + at, range.begin + at + event.text.size()};
    }
    if (!data_.empty() && data_.back().end == range.begin) {
      data_.back().end = range.end;
    } else {
      data_.push_back(range);
    }
  }

  // The markers of reasoning, if there is nothing between them.
  [[nodiscard]] std::optional<ReasoningSpan> empty_block(std::string_view close, bool is_opened) {
    const std::string_view markers = std::string_view(raw_).substr(block_.begin, block_.end - block_.begin);
    if (close.empty() || markers.find(close) == std::string_view::npos) return std::nullopt;
    ReasoningSpan span;
    span.opened_by_prompt = is_opened;
    span.begin = first_token_from(block_.begin);
    span.end = std::max(span.begin, first_token_behind(block_.end));
    span.inner_begin = span.inner_end = span.end;
    return span;
  }

  // Joins the markers of reasoning that begin the turn, and the white space behind them.
  void note_block(const parse::Event& event) {
    const std::string_view text = std::string_view(raw_).substr(event.begin, event.end - event.begin);
    const bool is_part = event.begin == block_.end && (event.of_reasoning || format::is_blank(text));
    is_block_over_ = is_block_over_ || !is_part;
    if (!is_block_over_) block_.end = event.end;
  }

  void note_marker(const parse::Event& event) {
    if (!has_reasoning_) {
      note_block(event);
      if (!event.of_reasoning) opening_.reset();
      if (event.of_reasoning && !opening_) opening_ = event.begin;
      return;
    }
    const bool is_blank = format::is_blank(std::string_view(raw_).substr(event.begin, event.end - event.begin));
    const bool is_next = !followed_ && event.begin == outer_end_;
    if (is_next && (is_blank || (event.of_reasoning && !closed_))) {
      outer_end_ = event.end;
      closed_ = closed_ || !is_blank;
    } else {
      closed_ = followed_ = true;
    }
  }

  void note_reasoning(const parse::Event& event) {
    if (!has_reasoning_) {
      has_reasoning_ = true;
      opened_by_prompt_ = !opening_;
      inner_begin_ = event.begin;
      outer_begin_ = opening_.value_or(event.begin);
    }
    if (closed_) return;  // a second block stays: only one can be separated from the content's own text
    inner_end_ = event.end;
    outer_end_ = event.end;
  }

  [[nodiscard]] std::size_t first_token_from(std::size_t byte) {
    if (byte == 0) return 0;
    return static_cast<std::size_t>(std::ranges::lower_bound(ends(), byte) - ends().begin()) + 1;
  }
  [[nodiscard]] std::size_t first_token_behind(std::size_t byte) {
    return static_cast<std::size_t>(std::ranges::upper_bound(ends(), byte) - ends().begin());
  }

  TokenText text_;
  parse::Parser& parser_;
  std::string raw_;
  std::vector<tokenizer::ByteRange> data_;
  std::size_t reported_ = 0;
  bool has_reasoning_ = false;
  bool opened_by_prompt_ = false;
  bool closed_ = false;
  bool followed_ = false;
  std::size_t outer_begin_ = 0;
  std::size_t inner_begin_ = 0;
  std::size_t inner_end_ = 0;
  std::size_t outer_end_ = 0;
  std::optional<std::size_t> opening_;  // where the markers directly before it begin
  tokenizer::ByteRange block_;          // of the markers of reasoning before all other text
  bool is_block_over_ = false;
};

}  // namespace

std::string closing_text(const tokenizer::Tokenizer& tokenizer, const parse::Parser& parser, std::string_view pending) {
  std::string out = parser.closing_text();
  // A quote that opens a string does not close one.
  if (!parser.closes_from_end()) out.erase(0, overlap(tokenizer, pending, out));
  return out;
}

std::vector<std::string> marker_tokens(const format::Format& format, const tokenizer::Tokenizer& tokenizer) {
  std::string markers;
  collect_strings(format::to_json(format), markers);
  std::vector<std::string> out;
  for (const tokenizer::AddedToken& token : tokenizer.added_tokens()) {
    if (!token.content.empty() && markers.find(token.content) != std::string::npos) out.push_back(token.content);
  }
  return out;
}

std::vector<chat::OpenCall> open_calls(const ParsedCompletion& said) {
  std::vector<chat::OpenCall> out;
  for (const chat::ToolCall& call : said.message.tool_calls) {
    out.push_back({std::nullopt, call.name});
    if (call.id) out.back().id = *call.id;
  }
  return out;
}

tmpl::ShapingContext shaping_context(std::span<const json::Value> history, const ParsedCompletion& said) {
  tmpl::ShapingContext out{open_calls(said), 0};
  for (const json::Value& message : history) out.calls_before += chat::open_calls(message).size();
  return out;
}

CompletionReader::CompletionReader(std::shared_ptr<const format::Format> format, const tokenizer::Tokenizer& tokenizer,
                                   std::optional<json::Value> tools)
    : format_(std::move(format)),
      tokenizer_(tokenizer),
      syntax_(parse::compile(format_, options_of(std::move(tools), marker_tokens(*format_, tokenizer)))) {}

Result<ParsedCompletion> CompletionReader::read(const TurnProfile& profile, std::span<const TokenId> prompt_ids,
                                                std::span<const TokenId> completion_ids,
                                                std::optional<std::size_t> tail) const {
  if (const Status valid = check_ids(tokenizer_, completion_ids); !valid.ok()) return valid.error();
  const std::size_t tail_size = std::min(prompt_ids.size(), tail.value_or(kPromptTailTokens));
  const Result<std::string> prompt_tail = tokenizer_.decode(prompt_ids.last(tail_size), {});
  if (!prompt_tail.ok()) return prompt_tail.error();

  parse::Parser parser(syntax_, prompt_tail.value());
  const bool is_opened = parser.place() == parse::Place::kReasoning;
  Reading reading(tokenizer_, parser);
  ParsedCompletion out;
  const Result<TurnEnd> end = reading.feed(completion_ids, profile, format_->reasoning.close);
  if (!end.ok()) return end.error();
  const std::optional<TokenId> stop = end.value().stop;
  out.stops_from = end.value().stops_from;
  if (!stop) out.closing_text = closing_text(tokenizer_, parser, reading.pending());
  const bool is_read =
      stop && (end.value().closes_reasoning || parser.ends_turn(reading.raw(), tokenizer_.token_bytes(*stop)));
  if (is_read) {
    reading.stop({*stop, tokenizer_.token_bytes(*stop), true});
  } else {
    reading.finish();
  }
  if (!format_->calls.heading_close.empty()) out.block_ends = block_ends(*format_);
  out.calls_end = format::trimmed(format_->calls.call_close + format_->calls.section_close);
  out.input = format_->input;
  out.message = parser.message();
  out.cut_name = cut_name(syntax_, prompt_tail.value(), reading.raw() + out.closing_text, out);
  out.is_bare = ends_bare(*format_, out);
  out.reasoning = reading.reasoning(format::trimmed(format_->reasoning.close), is_opened);
  out.raw = std::move(reading.raw());
  out.ends = std::move(reading.ends());
  out.data = std::move(reading.data());
  return out;
}

Result<ParsedCompletion> interpret(const std::shared_ptr<const format::Format>& format,
                                   const tokenizer::Tokenizer& tokenizer, const TurnProfile& profile,
                                   const std::optional<json::Value>& tools, std::span<const TokenId> prompt_ids,
                                   std::span<const TokenId> completion_ids) {
  return CompletionReader(format, tokenizer, tools).read(profile, prompt_ids, completion_ids);
}

}  // namespace rondo::render
