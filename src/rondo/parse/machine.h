// The state machine behind Parser.  Internal to parse/.
//
// Input is appended to a buffer.  Bytes before `head_` have been reported in events; `pos_` is the cursor; what lies
// between is held back.  Each phase has one function that looks at the bytes from `pos_` on, reports what is certain
// and returns whether it got anywhere; with `is_end_` set it must decide.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "parse/json_scan.h"
#include "parse/marker.h"
#include "parse/parser.h"
#include "parse/syntax.h"
#include "parse/values.h"

namespace rondo::parse {

inline constexpr std::string_view kFence = "```";
// "```json\n" at the begin of `text`.
[[nodiscard]] Match fence_at(std::string_view text, bool is_end);

class Machine {
 public:
  // `prompt_tail` as Options::prompt_tail, in whose place it counts.
  [[nodiscard]] static std::unique_ptr<Machine> make(std::shared_ptr<const Syntax> syntax,
                                                     std::string_view prompt_tail);
  Machine(std::shared_ptr<const Syntax> syntax, std::string_view prompt_tail);
  Machine(const Machine&) = delete;  // it points into itself
  Machine& operator=(const Machine&) = delete;

  // Text of which nothing is known, of ordinary tokens, of one added token.
  enum class Input { kText, kTokenText, kToken };
  void feed(std::string_view text, Input input = Input::kText);
  void feed_special(std::string_view bytes);
  void close();
  // Since forget_events(), or since the begin: also what the prompt's tail already has of a continued message.
  [[nodiscard]] const std::vector<Event>& events() const { return events_; }
  void forget_events();

  [[nodiscard]] const chat::AssistantMessage& message() const { return held_ ? held_->before : message_; }
  [[nodiscard]] const std::optional<Error>& mistake() const { return mistake_; }
  [[nodiscard]] Place place() const;
  [[nodiscard]] bool ended() const { return phase_ == Phase::kEnded; }
  [[nodiscard]] std::string closing_text() const;
  [[nodiscard]] const Options& options() const { return syntax_->options; }

 private:
  enum class Phase {
    kTop,
    kReasoning,
    kFencedAnswer,
    kSection,
    kJson,
    kPieces,
    kJsonArguments,
    kRawArguments,
    kParameter,
    kKey,
    kValueOpen,
    kValue,
    kRecover,
    kAfterCall,
    kBetween,
    kEnded
  };
  using enum Syntax::Id;

  // machine.cpp: set-up, events, content
  [[nodiscard]] std::size_t plain_prefix(std::string_view text) const;
  void take_plain(std::string_view text);
  [[nodiscard]] bool is_reading_json_arguments() const;
  void drop_reported();
  void start_from_prompt(std::string_view tail);
  void drop_prompt_space(std::string& written) const;
  void run();
  [[nodiscard]] bool step();
  bool absorb_trail();
  bool top();
  bool top_blank();
  [[nodiscard]] bool is_answer_text(const MarkerSet::Found& found) const;
  bool top_marker(const MarkerSet::Found& found);
  bool top_opener(const MarkerSet::Found& found);
  // Reports text up to a marker, or up to what may become one; true if a whole marker was found (then pos_ is behind it
  // and head_ at the begin of its own white space).
  bool scan(const MarkerSet& set, EventKind kind, MarkerSet::Found& found);
  void finish_open();
  void emit(EventKind kind, std::size_t end);
  void emit(EventKind kind, std::size_t end, std::string text);
  void push(Event event);
  static void append(std::vector<Event>& events, Event event);
  [[nodiscard]] std::size_t last_call() const {
    return message_.tool_calls.empty() ? 0 : message_.tool_calls.size() - 1;
  }
  [[nodiscard]] std::size_t raw(std::size_t at) const;
  [[nodiscard]] std::size_t skip_space(std::size_t at) const;
  [[nodiscard]] std::size_t whole_characters(std::size_t end) const;
  void complain(std::size_t at, std::string what);

  // reasoning.cpp
  bool reasoning();
  bool reasoning_opened(const Marker& open);
  bool reasoning_start();
  bool reasoning_after_call();
  bool reasoning_marker(const MarkerSet::Found& found);
  void emit_reasoning_marker(std::size_t end);
  void hold();
  void release();
  void withdraw(std::size_t end);

  // answers.cpp
  [[nodiscard]] bool is_json_asked() const;
  bool fenced_answer();

  // headings.cpp
  MatchKind heading(std::size_t at);
  bool call_heading(std::string_view words, std::size_t behind);

  // attempts.cpp: what may be a call
  // What opened a call: a marker, the last part of one, a bracket at the begin of the text, a bracket in the text.
  enum class Opening { kMarker, kHalf, kBare, kInText };
  void begin_attempt(bool in_section, Opening opening);
  [[nodiscard]] bool may_commit() const;
  // Whether no marker announces the call.
  [[nodiscard]] bool is_bare() const { return opening_ == Opening::kBare || opening_ == Opening::kInText; }
  // ... and no list of tools can say whether it is one: then it takes a name and arguments.
  [[nodiscard]] bool needs_evidence() const { return is_bare() && !options().tools; }
  [[nodiscard]] bool is_named_by_marker() const;
  MatchKind named_call(std::size_t at);
  [[nodiscard]] MatchKind tool_at(std::size_t at) const;
  [[nodiscard]] std::size_t marker_within(std::size_t end) const;
  [[nodiscard]] bool is_json_at(std::size_t at) const;
  [[nodiscard]] bool is_prompt_part() const;
  void emit_prompt_part();
  bool fail_attempt(std::size_t resume, const char* why);
  bool repeated_open(bool& wait);
  bool section();
  bool end_empty_section();

  // foreign.cpp: calls of other formats
  [[nodiscard]] Match wrapper_at(std::size_t at, std::string& close) const;
  MatchKind foreign(std::size_t at);
  MatchKind own_opener(const MarkerSet::Found& found, std::vector<std::string> closes);
  MatchKind begin_foreign(std::size_t body, bool in_section, Opening opening);
  MatchKind foreign_body(std::size_t begin, std::size_t at, bool is_wrapped);
  MatchKind python_call(std::size_t at, std::string name, bool is_list, bool is_wrapped);
  MatchKind line_call(std::size_t at, std::size_t name_size);
  MatchKind tag_call(std::size_t at);
  bool json_instead(bool& wait);
  Match fence_open(std::size_t at);
  [[nodiscard]] Match fence_close(std::size_t at) const;
  MatchKind wrapper_close(std::size_t at);
  void adopt(format::Calls calls);
  void settle_format();

  // calls.cpp: names, arguments, what ends a call
  bool start_body();
  bool pieces();
  bool piece_literal(const Marker& literal);
  bool piece_slot(format::CallPiece::Kind kind);
  [[nodiscard]] std::string name_in_id(const std::string& id) const;
  bool start_arguments();
  bool commit(std::size_t upto);
  bool json_arguments();
  [[nodiscard]] std::string only_text_parameter() const;
  [[nodiscard]] bool has_parameter(const std::string& key) const;
  bool raw_arguments();
  bool arguments_done();
  bool recover();
  bool break_call(chat::CallStatus status, const char* why);
  bool after_call();
  bool between();
  void end_call(std::size_t raw_end);
  [[nodiscard]] chat::ToolCall& call() { return message_.tool_calls.back(); }
  void set_status(chat::CallStatus status);

  // envelope.cpp: calls that are JSON objects
  bool json_envelope();
  bool json_step(char byte, bool& failed);
  void json_value_begins(char byte);
  bool json_value_ends();
  bool commit_early();
  [[nodiscard]] bool has_role(const std::vector<std::string>& role, std::size_t frames) const;
  [[nodiscard]] bool is_call_key(const std::string& key) const;
  [[nodiscard]] bool is_stray_key(const std::string& key) const;
  void keep_stray(std::size_t begin, std::size_t end);
  void report_strays();
  bool json_call_ends();
  void emit_arguments(std::size_t begin, std::size_t end, bool is_loose);
  [[nodiscard]] std::string decoded_string(std::size_t begin, std::size_t end) const;
  [[nodiscard]] bool is_string_forgotten(bool& wait) const;
  bool json_bad();
  bool break_json();

  // parameters.cpp: tagged parameters
  bool parameter();
  bool key();
  bool value_open();
  void select_forms(const std::string& open);
  bool value();
  bool value_marked();
  bool value_line();
  [[nodiscard]] MatchKind key_at(std::size_t begin) const;
  bool json_in_value();
  bool value_structured();
  [[nodiscard]] std::size_t value_end_at_stop(std::size_t end) const;
  bool is_inner_close(std::size_t at);
  bool is_followed(std::size_t at, bool& wait) const;
  void end_value(std::size_t end, std::size_t terminator_end);
  void stream_value(std::size_t end);
  bool finish_parameters();
  [[nodiscard]] std::string parameters_closing() const;
  [[nodiscard]] std::string after_arguments_closing() const;

  // Where added tokens begin in the buffer, if that is known.
  [[nodiscard]] const TokenStarts* starts() const { return starts_ ? &*starts_ : nullptr; }

  std::shared_ptr<const Syntax> syntax_;
  std::shared_ptr<const Syntax> own_syntax_;  // the format's own, while calls of another are read
  std::vector<std::string> closes_;           // what closes the wrappers around these
  bool inline_reasoning_ = false;             // Options::inline_reasoning, but for the prompt's tail

  // Input.
  std::string buffer_;
  std::optional<TokenStarts> starts_;  // only if Options::special_tokens says what is one
  std::size_t base_ = 0;               // bytes dropped from the front of the buffer
  std::size_t head_ = 0;
  std::size_t pos_ = 0;
  mutable std::size_t space_begin_ = 0;  // the run of white space that was seen last, offsets in all text
  mutable std::size_t space_end_ = 0;
  std::size_t prompt_bytes_ = 0;  // bytes fed from the prompt's tail
  bool is_end_ = false;
  bool is_closed_ = false;
  std::string open_reasoning_;      // the prompt's end, if it opens the reasoning
  bool is_generated_ = false;       // the prompt ends with the template's own text for an answer
  bool is_prompt_foreign_ = false;  // the prompt's tail is an earlier turn, or text that is nobody's

  // State.
  Phase phase_ = Phase::kTop;
  std::string trail_;  // the last marker's own white space that may still come
  bool trail_is_reasoning_ = false;
  bool blank_ = true;     // only white space since the last marker
  bool layout_ = false;   // ... and it is layout even if nothing follows
  bool wrapped_ = false;  // inside content that an opening marker began
  bool in_section_ = false;
  bool was_in_section_ = false;  // before the attempt
  bool reasoning_start_ = false;
  bool open_at_end_ = false;       // something was still open when the text ended
  bool attempt_ = false;           // a call is being read whose name is not known
  std::size_t attempt_begin_ = 0;  // raw offset
  Opening opening_ = Opening::kMarker;
  bool opening_is_reserved_ = false;
  bool from_reasoning_ = false;    // the attempt or call stands in reasoning that is not closed
  bool reasoning_layout_ = false;  // behind such a call there was only white space
  bool expect_call_ = false;       // behind a separator
  std::size_t answer_begin_ = 0;   // of what an answer's fence holds, offset in all text
  // From a call in open reasoning on: what was there before it, and the events that are not reported yet.
  struct Held {
    std::size_t begin = 0;  // of the call's opener, offset in all text
    chat::AssistantMessage before;
    std::optional<Error> mistake;
    std::vector<Event> events;
  };
  std::optional<Held> held_;

  // Of the current call.
  std::size_t piece_ = 0;
  std::string name_;
  bool has_name_ = false;
  bool is_fenced_ = false;  // its JSON stands in a fence
  std::optional<std::string> id_;
  bool committed_ = false;
  JsonScanner scanner_;
  bool arguments_started_ = false;
  bool arguments_are_string_ = false;
  std::size_t object_depth_ = 0;  // frame of the call's object, 0: none open
  enum class Capture { kNone, kName, kId, kArguments, kStray };
  Capture capture_ = Capture::kNone;
  std::size_t capture_depth_ = 0;
  bool capture_is_scalar_ = false;
  std::size_t capture_begin_ = 0;  // offset of the value in all text, so that dropping bytes does not move it
  std::optional<std::pair<std::size_t, std::size_t>> early_arguments_;  // complete before the name was known
  bool early_is_loose_ = false;
  std::string stray_key_;
  std::vector<json::Member> strays_;  // members of its object that have no meaning there

  // Of the current parameter.
  std::size_t parameter_count_ = 0;
  std::string key_;
  std::vector<const format::ValueForm*> forms_;
  std::vector<std::unique_ptr<Marker>> terminators_;  // those that hold the key
  MarkerSet terminator_set_;
  bool is_streaming_ = false;
  bool is_json_value_ = false;  // it is read as JSON, whose strings may hold what ends a value
  std::optional<TypeSet> types_;
  SchemaPlace schema_;
  // Of a value in the format's own markup: whether it may be one, what else ends like it, and up to where that was counted.
  bool is_markup_ = false;
  std::size_t markup_depth_ = 0;
  std::size_t markup_seen_ = 0;  // offset in all text
  int value_depth_ = 0;
  char value_quote_ = 0;
  bool value_escape_ = false;
  bool value_fresh_ = true;    // a quote may begin here
  bool value_closed_ = false;  // a string, list or object has just ended

  chat::AssistantMessage message_;
  std::vector<Event> events_;
  bool events_are_old_ = false;  // the next call begins with none
  std::optional<Error> mistake_;
};

}  // namespace rondo::parse
