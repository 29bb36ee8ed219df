#include "grammar/turn.h"

#include <algorithm>
#include <utility>

#include "base/printing.h"
#include "base/utf8.h"
#include "chat/conversation.h"
#include "format/units.h"
#include "grammar/calls.h"
#include "grammar/markers.h"
#include "grammar/schema.h"
#include "grammar/spelling.h"

namespace rondo::grammar {
namespace {

using format::Format;
using format::is_blank;
using format::trimmed;

class TurnBuilder {
 public:
  TurnBuilder(const Format& format, const TurnOptions& options, TurnGrammar& out)
      : format_(format), options_(options), out_(out), g_(out.grammar) {}

  // Makes the grammar.  Returns false if there is nothing to constrain.
  Result<bool> run() {
    std::vector<chat::ToolDefinition> tools;
    const bool has_calls = options_.choice != ToolChoice::kNone && options_.tools && format_.calls.present;
    if (options_.tools && options_.choice != ToolChoice::kNone) tools = chat::tool_definitions(*options_.tools);
    if (!options_.tool_name.empty()) {
      std::erase_if(tools, [&](const chat::ToolDefinition& tool) { return tool.name != options_.tool_name; });
      if (tools.empty())
        return Error(ErrorCode::kInvalidArgument,
                     "no tool has the name `" + printing::excerpt(options_.tool_name) + "`");
    }
    if (!tools.empty() && !format_.calls.present)
      context_.warnings.add("how the template writes tool calls is not known; they are not constrained");
    root_ = g_.declare("root");
    if (has_calls && !tools.empty()) {
      CallBuilder calls(g_, format_, std::move(tools), context_);
      with_calls(calls);
      is_exhausted_ = is_exhausted_ || calls.is_exhausted();
    } else if (options_.response_schema) {
      const NodeId whole = answer(kWhole);
      g_.define(root_, with_reasoning(whole, unthought(answer(kRest))));
    } else {
      out_.warnings = context_.warnings.sentences();
      return false;
    }
    g_.set_root(root_);
    out_.warnings = context_.warnings.sentences();
    if (is_exhausted_) return Error(ErrorCode::kLimit, "no grammar can be made of the schemas: " + context_.limit);
    out_.is_impossible = !g_.productive_rules()[static_cast<std::size_t>(root_)];
    return true;
  }

 private:
  using Openings = std::vector<CallBuilder::Opening>;

  // ---- Before calls

  // Returns whether the prompt ends inside a reasoning block.
  [[nodiscard]] bool is_reasoning_open() const {
    const std::string_view open = trimmed(format_.reasoning.open);
    const std::string_view close = trimmed(format_.reasoning.close);
    if (!format_.reasoning.present || open.empty() || close.empty()) return false;
    const std::string_view tail = options_.prompt_tail;
    const std::size_t last = tail.rfind(open);
    return last != std::string_view::npos && tail.find(close, last + open.size()) == std::string_view::npos;
  }

  // Returns the opener of a reasoning block that the model may begin; "" if there is none, or if the prompt has begun
  // it.
  [[nodiscard]] std::string_view reasoning_to_open() const {
    const std::string_view close = trimmed(format_.reasoning.close);
    if (options_.is_direct && !close.empty() && trimmed(options_.prompt_tail).ends_with(close)) return "";
    const bool is_there = format_.reasoning.present && !close.empty() && !is_reasoning_open();
    return is_there ? trimmed(format_.reasoning.open) : "";
  }

  // Returns how many bytes at the start of `marker` the prompt ends with.  The end of a longer marker that is whole
  // begins nothing.
  [[nodiscard]] std::size_t begun(std::string_view marker) const {
    const std::string_view tail = trimmed(options_.prompt_tail);
    std::size_t size = std::min(marker.size(), tail.size());
    while (size > 0 && !tail.ends_with(marker.substr(0, size))) --size;
    for (const std::string* other : {&format_.reasoning.open, &format_.reasoning.close, &format_.header}) {
      const std::string_view whole = trimmed(*other);
      if (whole.size() > size && tail.ends_with(whole)) return 0;
    }
    constexpr std::size_t kLeast = 2;  // a single bracket begins nothing
    return size >= kLeast ? size : 0;
  }

  // The rest of the reasoning after its opener, and the header that the template may write after it.
  NodeId rest_of_reasoning() {
    Line line(g_);
    line.add(g_.token(g_.text(call_words_, trimmed(format_.reasoning.close))));
    if (options_.is_text_answer) {
      line.add(optional_text(white_end(format_.reasoning.close)));
    } else {
      line.space(ends_with_word(format_.reasoning.close) ? 1 : 0);
    }
    if (is_blank(format_.header)) return line.node();
    Line header(g_);
    header.marker(trimmed(format_.header)).space(ends_with_word(format_.header) ? 1 : 0);
    return line.add(g_.optional(header.node())).node();
  }

  // `body` after reasoning.  The reasoning is optional unless the prompt has begun it.  Without reasoning comes
  // `body_without`.  It must not contain the opener, because a lexer that takes the longest text would run over it.
  // With `ended`, reasoning that the calls end is another way.
  NodeId with_reasoning(NodeId body, NodeId body_without, std::optional<NodeId> ended = std::nullopt) {
    const auto rest = [&] {
      const NodeId closed = g_.sequence({rest_of_reasoning(), body});
      return ended ? g_.choice({closed, *ended}) : closed;
    };
    if (is_reasoning_open()) return rest();
    const std::string_view open = reasoning_to_open();
    if (open.empty()) return body_without;
    const std::uint32_t least = ends_with_word(format_.reasoning.open) ? 1 : 0;
    const NodeId before = begun(open) > 0 ? g_.empty() : white_space(g_, 0, kMostSpace);
    const NodeId opening = g_.token(g_.sequence(
        {before, g_.literal(open.substr(begun(open))), least > 0 ? white_space(g_, least, kMostSpace) : g_.empty()}));
    return g_.choice({g_.sequence({opening, rest()}), body_without});
  }

  // The rest of reasoning that calls end, and the calls.  Words that close reasoning head the answer: templates write
  // them before content alone.
  std::optional<NodeId> reasoning_up_to_calls(const Openings& openings) {
    const std::string close(trimmed(format_.reasoning.close));
    // What names a block's calls in other words than the template's is read only outside of reasoning.
    const bool has_headings = !is_blank(format_.calls.heading_close);
    if (!format_.reasoning.present || close.empty() || !format::is_plain(close) || has_headings) return std::nullopt;
    // Punctuation begins no call in reasoning.
    const format::Calls& calls = format_.calls;
    const std::string_view first = trimmed(is_blank(calls.section_open) ? calls.call_open : calls.section_open);
    if (std::ranges::none_of(first, format::is_word)) return std::nullopt;
    std::vector<NodeId> ways;
    for (const CallBuilder::Opening& opening : openings)
      ways.push_back(g_.sequence({until(openings, opening.word, close), opening.rest, end_behind(opening, stop())}));
    return ways.empty() ? std::nullopt : std::optional(g_.choice(ways));
  }

  // `body` behind what the template writes in place of reasoning, or alone.  Where nothing opens content, a close of
  // reasoning that nothing opened is such a text, unless it closes something else too.
  NodeId unthought(NodeId body) {
    if (reasoning_to_open().empty()) return body;
    const std::string_view close = trimmed(format_.reasoning.close);
    std::vector<std::string_view> marks{trimmed(format_.reasoning.absent)};
    if (close != marks.front() && is_blank(format_.content.open)) marks.push_back(close);
    std::vector<NodeId> ways{body};
    for (const std::string_view mark : marks) {
      const bool is_written = trimmed(options_.prompt_tail).ends_with(mark);
      if (!std::ranges::any_of(mark, format::is_word) || is_written || closes_other(mark)) continue;
      ways.push_back(g_.sequence({g_.token(Line(g_).space().marker(mark).node()), body}));
    }
    return g_.choice(ways);
  }

  // Returns whether `mark`, which closes reasoning, closes content or the turn as well.
  [[nodiscard]] bool closes_other(std::string_view mark) const {
    const auto is_mark = [mark](const std::string& text) { return trimmed(text) == mark; };
    const format::Stops& stops = format_.stops;
    return is_mark(format_.content.close) || std::ranges::any_of(stops.content, is_mark) ||
           std::ranges::any_of(stops.tool, is_mark) || std::ranges::any_of(stops.history_close, is_mark);
  }

  // Returns whether calls have the text `close`, which closes reasoning, as well: in a call, it closes none.
  [[nodiscard]] bool closes_in_calls(std::string_view close) const {
    const format::Calls& calls = format_.calls;
    const auto has_close = [close](const std::string& text) { return text.find(close) != std::string::npos; };
    return !close.empty() && (has_close(calls.call_close) || has_close(calls.section_close) ||
                              std::ranges::any_of(calls.pieces, has_close, &format::CallPiece::text));
  }

  // The turn's stop, which the model may leave out.  After it, some templates open the next turn at once.
  NodeId stop() {
    if (options_.ends_by_token) return Line(g_).space().node();
    std::vector<NodeId> ways;
    for (const auto* stops : {&format_.stops.content, &format_.stops.tool, &format_.stops.history_close}) {
      for (const std::string& text : *stops) {
        if (is_blank(text)) continue;
        const std::size_t line = text.substr(0, text.find(trimmed(text))).rfind('\n');
        // A stop that text may contain ends a turn only on a line of its own, where the template gives it that.
        const bool is_on_line = format::is_plain(text) && line != std::string::npos;
        ways.push_back(Line(g_).space().literal(is_on_line ? "\n" : "").marker(trimmed(text)).node());
      }
    }
    const NodeId one = g_.choice(ways);
    const NodeId stops = g_.repeat(one, 0, 2);
    const NodeId end = Line(g_).space().node();
    const bool opens_calls = format_.calls.separator.find(trimmed(format_.header)) != std::string::npos;
    if (is_blank(format_.header) || opens_calls || options_.is_direct) return g_.sequence({stops, end});
    const NodeId rest = g_.token(g_.text({}, ""));
    const NodeId next = Line(g_).space().marker(trimmed(format_.header)).add(rest).node();
    const NodeId ended = ways.empty() ? stops : g_.repeat(one, 1, 2);
    return g_.choice({g_.sequence({stops, end}), g_.sequence({ended, next})});
  }

  // ---- An answer in the shape of a schema

  // What comes of an opener: all of it, or what the prompt has not begun.
  enum Opener : std::uint8_t { kWhole, kRest };

  NodeId answer(Opener opener) {
    if (options_.is_text_answer) return text_answer(opener);
    const std::string_view open = trimmed(format_.content.open);
    const std::size_t size = opener == kRest ? begun(open) : 0;
    Line line(g_);
    if (size > 0) {
      line.space().marker(trimmed(open.substr(size))).space();
    } else if (open.empty()) {
      line.space();
    } else {
      // White space is one token with what follows it, because other openers may begin with white space too.
      line.add(g_.choice({Line(g_).space().marker(open).space().node(), Line(g_).space().node()}));
    }
    line.add(answer_value()).space();
    const std::string_view close = trimmed(format_.content.close);
    if (!close.empty()) line.add(g_.optional(marker(g_, close))).space();
    return line.add(stop()).node();
  }

  // An answer that is not JSON: white space would be part of it, so there is none but the template's own.
  NodeId text_answer(Opener opener) {
    const std::string_view content = format_.content.open;
    const std::string_view open = trimmed(content);
    const std::size_t size = opener == kRest ? begun(open) : 0;
    Line line(g_);
    if (open.empty()) {
      line.add(optional_text(content));
    } else {
      const NodeId marked = Line(g_)
                                .add(optional_text(size > 0 ? "" : content.substr(0, content.find(open))))
                                .marker(open.substr(size))
                                .add(optional_text(white_end(content)))
                                .node();
      line.add(size > 0 ? marked : g_.optional(marked));
    }
    line.add(answer_value());
    const std::string_view close = trimmed(format_.content.close);
    if (!close.empty()) {
      const std::size_t lead = format_.content.close.find(close);
      line.add(g_.optional(Line(g_).add(optional_text(format_.content.close.substr(0, lead))).marker(close).node()));
    }
    if (options_.ends_by_token) return line.node();
    std::vector<NodeId> ways{g_.empty()};
    for (const std::string& text : format_.stops.content) {
      if (!is_blank(text)) ways.push_back(g_.literal(text));
    }
    return line.add(g_.choice(ways)).node();
  }

  NodeId optional_text(std::string_view text) { return text.empty() ? g_.empty() : g_.optional(g_.literal(text)); }

  // The white space at the end of `text`.
  static std::string_view white_end(std::string_view text) {
    const std::string_view words = trimmed(text);
    return words.empty() ? text : text.substr(text.rfind(words) + words.size());
  }

  // The answer itself.
  NodeId answer_value() {
    if (value_) return *value_;
    static const json::Value kAnything(true);
    const json::Value& document = options_.response_schema ? *options_.response_schema : kAnything;
    SchemaCompiler schema(g_, document, "the response schema", context_);
    const EscapedText as_written(g_, format_.content.escapes);
    const Spelling spelling = options_.is_text_answer ? Spelling::bare() : Spelling::json();
    value_ = schema.value(schema.root(), Speller(g_, spelling), "answer");
    is_exhausted_ = is_exhausted_ || schema.is_exhausted();
    return *value_;
  }

  // ---- Calls

  // Decides how the calls begin.  In order: calls that no word announces, a lazy grammar, an answer or calls, calls
  // alone, text before calls.
  void with_calls(CallBuilder& calls) {
    const bool is_required = options_.choice == ToolChoice::kRequired;
    const Openings openings = calls.openings(options_.parallel_calls);
    const bool may_be_lazy = options_.laziness != Laziness::kNever && !is_required && !options_.response_schema;
    next_word_ = calls.next_word();
    if (openings.empty()) return bare_calls(calls, is_required, may_be_lazy);
    if (closes_in_calls(trimmed(format_.reasoning.close))) {
      for (const CallBuilder::Opening& opening : openings) call_words_.push_back(opening.word);
    }
    const bool is_begun =
        std::any_of(openings.begin(), openings.end(), [this](const auto& opening) { return begun(opening.word) > 0; });
    const bool needs_pattern = is_begun || calls.may_be_bare();
    const bool takes_patterns = options_.laziness == Laziness::kAnyTrigger;
    if (may_be_lazy && (takes_patterns || !(needs_pattern || is_reasoning_open()))) {
      lazy(calls, openings, is_begun);
      return;
    }
    if (options_.response_schema && !is_required) {
      // The output is either the answer or calls, without other text.
      const auto either = [&](Opener opener) {
        const NodeId answered = answer(opener);
        return g_.choice({answered, calls_alone(calls, openings, opener)});
      };
      const NodeId whole = either(kWhole);
      g_.define(root_, with_reasoning(whole, unthought(either(kRest))));
      return;
    }
    if (is_required && options_.is_direct) {
      const NodeId whole = calls_alone(calls, openings, kWhole);
      g_.define(root_, with_reasoning(whole, unthought(calls_alone(calls, openings, kRest))));
      return;
    }
    // An opener of mere punctuation may appear in text, so it is not forbidden there.
    const std::string_view opener = reasoning_to_open();
    const bool is_marked = std::ranges::any_of(opener, format::is_word) && !format_.reasoning.behind_content;
    const std::string without(is_marked ? opener : "");
    NodeId body = text_and_calls(openings, "", is_required);
    if (!is_begun) {
      NodeId body_without = text_and_calls(openings, without, is_required);
      if (calls.may_be_bare()) {
        const NodeId direct = Line(g_).space().add(bare(calls)).node();
        body = g_.choice({direct, body});
        body_without = g_.choice({direct, body_without});
      }
      g_.define(root_, with_reasoning(body, body_without, reasoning_up_to_calls(openings)));
      return;
    }
    // The prompt already has the beginning of a call or of content.  The output continues with the rest of one of them.
    std::vector<NodeId> ways;
    for (const CallBuilder::Opening& opening : openings) {
      if (const std::size_t size = begun(opening.word); size > 0)
        ways.push_back(
            g_.sequence({g_.literal(opening.word.substr(size)), opening.rest, after_calls(opening, openings)}));
    }
    const std::string_view content = trimmed(format_.content.open);
    for (const std::string_view opener_of_text : {content, trimmed(format_.reasoning.absent)}) {
      const std::size_t size = begun(opener_of_text);
      if (size > 0) ways.push_back(g_.sequence({g_.literal(opener_of_text.substr(size)), body}));
    }
    g_.define(root_, with_reasoning(body, g_.choice(ways)));
  }

  NodeId calls_alone(CallBuilder& calls, const Openings& openings, Opener opener) {
    std::vector<NodeId> ways;
    for (const CallBuilder::Opening& opening : openings) {
      const std::string word = opening.word.substr(opener == kRest ? begun(opening.word) : 0);
      ways.push_back(Line(g_).space().literal(word).add(opening.rest).add(end_behind(opening, stop())).node());
    }
    if (calls.may_be_bare()) ways.push_back(Line(g_).space().add(bare(calls)).node());
    return g_.choice(ways);
  }

  // Calls that only their own JSON or a tool's name announces.  The turn is text, calls, or text without brackets and
  // then calls.
  void bare_calls(CallBuilder& calls, bool is_required, bool may_be_lazy) {
    const NodeId all = bare(calls);
    // A name alone may appear in any text, so it triggers nothing.
    if (may_be_lazy && options_.laziness == Laziness::kAnyTrigger &&
        format_.calls.envelope != format::Envelope::kTags) {
      out_.is_lazy = true;
      out_.triggers.push_back({true, calls.bare_pattern(is_reasoning_open())});
      g_.define(root_, all);
      return;
    }
    std::vector<NodeId> ways{Line(g_).space().add(all).node()};
    const bool takes_text = !options_.response_schema && (!is_required || !options_.is_direct);
    if (const auto text = takes_text ? text_before_bare() : std::nullopt; text)
      ways.push_back(g_.sequence({*text, all}));
    if (const auto wrapped = takes_text ? wrapped_content() : std::nullopt; wrapped) {
      ways.push_back(g_.sequence({*wrapped, Line(g_).space().node(), all}));
      if (!is_required) ways.push_back(g_.sequence({*wrapped, stop()}));
    }
    if (!is_required && !options_.response_schema) ways.push_back(plain_text());
    const auto either = [&](Opener opener) {
      std::vector<NodeId> all_ways = ways;
      if (options_.response_schema) all_ways.push_back(answer(opener));
      return g_.choice(all_ways);
    };
    const NodeId whole = either(kWhole);
    const NodeId rest = either(kRest);
    g_.define(root_, with_reasoning(whole, options_.response_schema ? unthought(rest) : rest));
  }

  // What may follow calls: the end of the turn, or content if the template writes it there.  Further calls are not
  // text.
  NodeId after_calls(const CallBuilder::Opening& opening, const Openings& openings) {
    const bool may_think = format_.reasoning.present && format_.reasoning.behind_content;
    const NodeId end = may_think && !format_.calls.content_behind ? thought_at_end() : stop();
    return end_behind(opening, format_.calls.content_behind ? until(openings, "", next_word_) : end);
  }

  // The end of a turn, and reasoning before it where the template writes that behind content.
  NodeId thought_at_end() {
    const std::string close(trimmed(format_.reasoning.close));
    const std::string_view open = trimmed(format_.reasoning.open);
    if (!std::ranges::any_of(open, format::is_word) || close.empty()) return stop();
    const NodeId opening = g_.token(Line(g_).space().marker(open).node());
    return g_.choice({stop(), g_.sequence({opening, g_.token(g_.text({}, close)), stop()})});
  }

  NodeId end_behind(const CallBuilder::Opening& opening, NodeId behind) {
    return opening.is_alone ? behind : end_of_calls(behind);
  }

  // The section's close, then `behind`.  If the template sometimes leaves out the close, the end of the turn instead.
  NodeId end_of_calls(NodeId behind) {
    const std::string_view close = trimmed(format_.calls.section_close);
    if (close.empty()) return behind;
    // The close is one token, because a further call may begin with its first word.
    const std::size_t least = runs_into(format_.calls.call_close, close) ? 1 : 0;
    // A word at its end must not run into the next one.
    if (ends_with_word(format_.calls.section_close))
      behind = g_.choice({g_.empty(), g_.sequence({white_space(g_, 1, kMostSpace), behind})});
    const NodeId closed = g_.sequence({g_.token(Line(g_).space(least).marker(close).node()), behind});
    return format_.calls.may_stay_open ? g_.choice({closed, stop()}) : closed;
  }

  NodeId bare(CallBuilder& calls) { return g_.sequence({calls.all(options_.parallel_calls), end_of_calls(stop())}); }

  // Text and then calls, or only text unless calls are required.  The text before the first call does not contain
  // `without`.
  NodeId text_and_calls(const Openings& openings, const std::string& without, bool is_required) {
    std::vector<NodeId> ways;
    for (const CallBuilder::Opening& opening : openings)
      ways.push_back(
          g_.sequence({until(openings, opening.word, without), opening.rest, after_calls(opening, openings)}));
    if (!is_required) {
      ways.push_back(until(openings, "", without));
      // If the close of content opens the calls, it may also just end the content.
      const std::string close(trimmed(format_.content.close));
      if (openings.size() == 1 && openings[0].word == close)
        ways.push_back(g_.sequence({until(openings, close, without), until(openings, "", "")}));
    }
    return g_.choice(ways);
  }

  // A model may write the words of calls in reasoning that the prompt has opened, so a trigger waits for the end of the
  // reasoning.
  Trigger word_trigger(const std::string& word) const {
    if (!is_reasoning_open()) return {false, word};
    return {true, "^[\\s\\S]*?" + pattern_escaped(trimmed(format_.reasoning.close)) + "[\\s\\S]*?(" +
                      pattern_escaped(word) + ")"};
  }

  // Each opening becomes a trigger.  An opener that the prompt has begun also triggers at the start of the output.
  void lazy(CallBuilder& calls, const Openings& openings, bool is_begun) {
    const bool may_be_bare = calls.may_be_bare();
    out_.is_lazy = true;
    std::vector<NodeId> ways;
    std::string begins;
    for (const CallBuilder::Opening& opening : openings) {
      const RuleId rest = g_.declare("calls");
      g_.define(rest, g_.sequence({opening.rest, after_calls(opening, openings)}));
      if (!is_begun && !may_be_bare) out_.parts.push_back({opening.word, rest});
      out_.triggers.push_back(word_trigger(opening.word));
      ways.push_back(g_.sequence({g_.literal(opening.word), g_.reference(rest)}));
      if (const std::size_t size = begun(opening.word); size > 0) {
        ways.push_back(g_.sequence({g_.literal(opening.word.substr(size)), g_.reference(rest)}));
        begins += (begins.empty() ? "" : "|") + pattern_escaped(opening.word.substr(size));
      }
    }
    if (may_be_bare) {
      out_.triggers.push_back({true, calls.bare_pattern(is_reasoning_open())});
      ways.push_back(bare(calls));
    }
    if (!begins.empty()) out_.triggers.push_back({true, "^(" + begins + ")"});
    g_.define(root_, g_.choice(ways));
  }

  // Text up to and including `word`, which begins calls.  With "", text without any such word.
  NodeId until(const Openings& openings, const std::string& word, const std::string& without) {
    std::vector<std::string> words{without};
    for (const CallBuilder::Opening& opening : openings) {
      // A word that `word` begins with must not end the text.
      const bool is_prefix = word.size() > opening.word.size() && word.starts_with(opening.word);
      if (!is_prefix) words.push_back(opening.word);
      if (!opening.behind_name.empty()) words.push_back(opening.behind_name);
    }
    return g_.token(g_.text(std::move(words), word));
  }

  // Content before calls that no marker announces.  A tool's name behind text is text, unless what the format writes
  // between two calls is before it.
  std::optional<NodeId> text_before_bare() {
    if (format_.calls.envelope != format::Envelope::kTags)
      return g_.token(g_.repeat(g_.chars(CallBuilder::bare_begin().complement()), 1, kUnbounded));
    const std::string between(trimmed(format_.calls.separator));
    const std::string counted(format::before_counter(format_.calls.call_open));
    if (counted != format_.calls.call_open && counted.starts_with('\n') && !is_blank(counted))
      return g_.token(g_.text({counted}, ""));
    if (between.empty() || format::is_plain(between)) return std::nullopt;
    return g_.sequence({g_.token(g_.text({between}, between)), white_space(g_, 0, kMostSpace)});
  }

  // Content between markers that begin as calls without a marker do, with a bracket; nullopt if the format has none.
  std::optional<NodeId> wrapped_content() {
    const std::string_view open = trimmed(format_.content.open);
    const std::string close(trimmed(format_.content.close));
    const CharSet brackets = CallBuilder::bare_begin();
    if (open.empty() || close.empty() || !brackets.contains(utf8::decode(open, 0).code_point)) return std::nullopt;
    const NodeId opening = g_.token(Line(g_).space().marker(open).node());
    return g_.sequence({opening, content_text(close)});
  }

  // The text of content up to `close` and with it.  Where an escape stands for the first character of the close, that
  // character is no part of the text.
  NodeId content_text(const std::string& close) {
    const std::vector<format::Escape>& escapes = format_.content.escapes;
    const auto is_first = [&close](const format::Escape& escape) { return escape.text == close.substr(0, 1); };
    if (std::ranges::none_of(escapes, is_first)) return g_.token(g_.text({}, close));
    CharSet written_otherwise;
    std::vector<NodeId> units;
    for (const format::Escape& escape : escapes) {
      written_otherwise = written_otherwise.united(CharSet::of(utf8::decode(escape.text, 0).code_point));
      units.push_back(g_.literal(escape.written));
    }
    units.push_back(g_.chars(written_otherwise.complement()));
    return g_.sequence({g_.token(g_.any_number(g_.choice(units))), g_.literal(close)});
  }

  // Text that cannot be a call, although no marker announces calls: it does not begin with a bracket.
  NodeId plain_text() {
    const NodeId any = g_.chars(CharSet::all());
    const CharSet space = CharSet::any_of(" \t\r\n");
    const NodeId first = g_.chars(CallBuilder::bare_begin().united(space).complement());
    return g_.token(
        g_.sequence({g_.any_number(g_.chars(space)), g_.optional(g_.sequence({first, g_.any_number(any)}))}));
  }

  const Format& format_;
  const TurnOptions& options_;
  TurnGrammar& out_;
  Grammar& g_;
  SchemaContext context_;
  RuleId root_{};
  std::string next_word_;
  std::vector<std::string> call_words_;  // that reasoning may not have
  std::optional<NodeId> value_;          // answer_value()
  bool is_exhausted_ = false;
};

}  // namespace

Result<TurnGrammar> turn_grammar(const format::Format& format, const TurnOptions& options) {
  TurnGrammar out;
  auto made = TurnBuilder(format, options, out).run();
  if (!made.ok()) return made.error();
  out.is_needed = made.value();
  return out;
}

}  // namespace rondo::grammar
