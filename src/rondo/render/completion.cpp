#include "render/completion.h"

#include <algorithm>
#include <utility>

#include "format/units.h"
#include "parse/parser.h"

namespace rondo::render {
namespace {

using tokenizer::TokenId;

// The generation prompt is short; a continued message is the caller's business.
constexpr std::size_t kPromptTailTokens = 256;

Status check_ids(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> ids) {
  for (const TokenId id : ids) {
    if (id >= 0 && id < tokenizer.vocab_size()) continue;
    Error error;
    error.code = ErrorCode::kTokenizer;
    error.message = "completion id " + std::to_string(id) + " is out of range; the vocabulary has " +
                    std::to_string(tokenizer.vocab_size()) + " ids";
    return error;
  }
  return Done{};
}

// All strings of a JSON value, one after the other with a byte between them that no marker has.
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

// The added tokens that are part of one of the format's markers: only their spelling matters to the parser, and a
// vocabulary may have a thousand others.
std::vector<std::string> marker_tokens(const format::Format& format, const tokenizer::Tokenizer& tokenizer) {
  std::string markers;
  collect_strings(format::to_json(format), markers);
  std::vector<std::string> out;
  for (const tokenizer::AddedToken& token : tokenizer.added_tokens()) {
    if (!token.content.empty() && markers.find(token.content) != std::string::npos) out.push_back(token.content);
  }
  return out;
}

// Whether the template writes white space between what a turn says and this stop: it is no part of the content then.
bool follows_space(const format::Format& format, std::string_view stop) {
  return std::ranges::any_of(format.stops.content, [&](const std::string& known) {
    return known != stop && format::trimmed(known) == stop && !known.starts_with(stop);
  });
}

// Feeds a parser id by id and keeps account of which bytes each id became, and where reasoning and its markers are.
class Reading {
 public:
  explicit Reading(parse::Parser& parser) : parser_(parser) {}

  Status feed(const tokenizer::Tokenizer& tokenizer, std::span<const TokenId> ids) {
    tokenizer::Tokenizer::Stream stream(tokenizer);
    ends_.reserve(ids.size());
    for (const TokenId id : ids) {
      const Result<std::string> text = stream.next(id);
      if (!text.ok()) return text.error();
      const std::string_view own = tokenizer.is_added(id) ? tokenizer.token_bytes(id) : std::string_view();
      if (!own.empty() && text.value().ends_with(own)) {
        // What was held back of a broken character comes with the token behind it.
        feed({-1, std::string_view(text.value()).substr(0, text.value().size() - own.size()), false});
        feed({id, own, true});
      } else {
        feed({id, text.value(), false});
      }
      ends_.push_back(raw_.size());
    }
    feed({-1, stream.finish(), false});
    if (!ends_.empty()) ends_.back() = raw_.size();
    return Done{};
  }
  void finish() { note(parser_.close()); }
  // The stop, for what the template writes in front of it; it is no part of raw().
  void stop(const parse::Piece& piece) {
    const std::size_t size = raw_.size();
    feed(piece);
    finish();
    raw_.resize(size);
  }

  [[nodiscard]] std::string& raw() { return raw_; }
  // What has been fed and not reported.
  [[nodiscard]] std::string_view pending() const {
    return std::string_view(raw_).substr(std::min(reported_, raw_.size()));
  }

  [[nodiscard]] std::optional<ReasoningSpan> reasoning() const {
    if (!has_reasoning_) return std::nullopt;
    ReasoningSpan span;
    span.opened_by_prompt = opened_by_prompt_;
    span.begin = first_token_from(outer_begin_);
    span.inner_begin = first_token_from(inner_begin_);
    span.inner_end = std::max(span.inner_begin, first_token_behind(inner_end_));
    span.end = std::max(span.inner_end, first_token_behind(outer_end_));
    return span;
  }

 private:
  void feed(const parse::Piece& piece) {
    if (piece.bytes.empty()) return;
    raw_ += piece.bytes;
    note(parser_.feed(std::span(&piece, 1)));
  }

  void note(std::span<const parse::Event> events) {
    for (const parse::Event& event : events) {
      if (event.begin == event.end) continue;  // of the prompt's tail
      reported_ = std::max(reported_, event.end);
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

  // A marker and the white space at it come as several events.
  void note_marker(const parse::Event& event) {
    const std::string_view text = std::string_view(raw_).substr(event.begin, event.end - event.begin);
    const bool is_blank = format::is_blank(text);
    if (!has_reasoning_) {
      if (!opening_ || (!is_blank && *opening_ > 0)) opening_ = event.begin;
    } else if (!closed_) {
      outer_end_ = event.end;
      closed_ = !is_blank;
    } else if (is_blank && !followed_) {
      outer_end_ = event.end;
    } else {
      followed_ = true;
    }
  }

  void note_reasoning(const parse::Event& event) {
    if (!has_reasoning_) {
      has_reasoning_ = true;
      opened_by_prompt_ = !opening_;
      inner_begin_ = event.begin;
      outer_begin_ = opening_.value_or(event.begin);
    }
    if (closed_) return;  // a second block stays: only one can be told from the content's own text
    inner_end_ = event.end;
    outer_end_ = event.end;
  }

  [[nodiscard]] std::size_t first_token_from(std::size_t byte) const {
    if (byte == 0) return 0;
    return static_cast<std::size_t>(std::ranges::lower_bound(ends_, byte) - ends_.begin()) + 1;
  }
  [[nodiscard]] std::size_t first_token_behind(std::size_t byte) const {
    return static_cast<std::size_t>(std::ranges::upper_bound(ends_, byte) - ends_.begin());
  }

  parse::Parser& parser_;
  std::string raw_;
  std::vector<std::size_t> ends_;  // per id: where its bytes end in raw_
  std::size_t reported_ = 0;
  bool has_reasoning_ = false;
  bool opened_by_prompt_ = false;
  bool closed_ = false;
  bool followed_ = false;
  std::size_t outer_begin_ = 0;
  std::size_t inner_begin_ = 0;
  std::size_t inner_end_ = 0;
  std::size_t outer_end_ = 0;
  std::optional<std::size_t> opening_;  // where the markers begin that stand right before
};

}  // namespace

CompletionReader::CompletionReader(std::shared_ptr<const format::Format> format, const tokenizer::Tokenizer& tokenizer,
                                   std::optional<json::Value> tools)
    : format_(std::move(format)),
      tokenizer_(tokenizer),
      tools_(std::move(tools)),
      special_tokens_(marker_tokens(*format_, tokenizer)) {}

Result<ParsedCompletion> CompletionReader::read(const TurnProfile& profile, std::span<const TokenId> prompt_ids,
                                                std::span<const TokenId> completion_ids,
                                                std::optional<std::size_t> tail) const {
  if (const Status valid = check_ids(tokenizer_, completion_ids); !valid.ok()) return valid.error();
  const auto first_stop =
      std::find_if(completion_ids.begin(), completion_ids.end(), [&](TokenId id) { return profile.is_stop(id); });
  const bool stopped = first_stop != completion_ids.end();
  const auto body = completion_ids.first(static_cast<std::size_t>(first_stop - completion_ids.begin()));
  const std::size_t tail_size = std::min(prompt_ids.size(), tail.value_or(kPromptTailTokens));
  const Result<std::string> prompt_tail = tokenizer_.decode(prompt_ids.last(tail_size), {});
  if (!prompt_tail.ok()) return prompt_tail.error();

  parse::Options options;
  options.tools = tools_;
  options.prompt_tail = prompt_tail.value();
  options.special_tokens = special_tokens_;
  parse::Parser parser(format_, std::move(options));
  Reading reading(parser);
  if (Status fed = reading.feed(tokenizer_, body); !fed.ok()) return fed.error();
  ParsedCompletion out;
  if (!stopped) {
    // What the parser holds back may be the beginning of a closing marker already.
    const std::string closing = parser.closing_text();
    out.closing_text = closing.substr(overlap(tokenizer_, reading.pending(), closing));
  }
  if (stopped && follows_space(*format_, tokenizer_.token_bytes(*first_stop))) {
    reading.stop({*first_stop, tokenizer_.token_bytes(*first_stop), true});
  } else {
    reading.finish();
  }
  out.input = format_->input;
  out.message = parser.message();
  out.reasoning = reading.reasoning();
  out.raw = std::move(reading.raw());
  return out;
}

Result<ParsedCompletion> interpret(const std::shared_ptr<const format::Format>& format,
                                   const tokenizer::Tokenizer& tokenizer, const TurnProfile& profile,
                                   const std::optional<json::Value>& tools, std::span<const TokenId> prompt_ids,
                                   std::span<const TokenId> completion_ids) {
  return CompletionReader(format, tokenizer, tools).read(profile, prompt_ids, completion_ids);
}

}  // namespace rondo::render
