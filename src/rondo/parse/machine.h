// The state machine behind Parser.  Internal to parse/.
//
// Each phase has one function.  It looks at the bytes from `pos_` on (reader.h), reports what is certain, and returns
// true if it made progress.  If `is_end_` is set, no more bytes will come, so it must decide.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "parse/attributes.h"
#include "parse/constructs.h"
#include "parse/json_scan.h"
#include "parse/marker.h"
#include "parse/parser.h"
#include "parse/reader.h"
#include "parse/syntax.h"
#include "parse/values.h"

namespace rondo::parse {

inline constexpr std::size_t kLongestAttempt = 1U << 20U;  // bytes held back for a call whose name comes last
inline constexpr std::size_t kLongestKey = 256;
inline constexpr std::size_t kLongestScalar = 64;  // bytes of a number, true or None, as a template prints it
// Returns whether the name of a parameter may contain `byte`.  `is_marked`: a marker comes before the name.
[[nodiscard]] bool is_key_byte(char byte, bool is_marked);
// Matches the opening of a fence at the start of `text`: three backticks, a word such as `json` or none, and one
// character of white space.
[[nodiscard]] Match fence_at(std::string_view text, bool is_end);
// Matches `literal` at the start of `text`.
[[nodiscard]] Match literal_at(std::string_view text, std::string_view literal, bool is_end);
// Matches `<word>` at the start of `text`.
[[nodiscard]] Match tag_at(std::string_view text, bool is_end);

class Machine : private Reader {
 public:
  // `prompt_tail` replaces Options::prompt_tail; `begun` is as in Parser.
  [[nodiscard]] static std::unique_ptr<Machine> make(std::shared_ptr<const Syntax> syntax, std::string_view prompt_tail,
                                                     std::string_view begun = {});
  Machine(std::shared_ptr<const Syntax> syntax, std::string_view prompt_tail);

  // The kind of input: text whose tokens are unknown, text of ordinary tokens, or one added token.
  enum class Input { kText, kTokenText, kToken };
  void feed(std::string_view text, Input input = Input::kText);
  void feed_special(std::string_view bytes);
  void close();
  // Returns the events since forget_events(), or since the start.  They include the events of the prompt's tail, that
  // is, the text that the prompt already has of a continued message.
  [[nodiscard]] const std::vector<Event>& events() const { return reported_.events; }
  void forget_events();

  [[nodiscard]] const chat::AssistantMessage& message() const { return held_ ? held_->before : message_; }
  [[nodiscard]] const std::optional<Error>& mistake() const { return mistake_; }
  [[nodiscard]] Place place() const;
  [[nodiscard]] bool ended() const { return phase_ == Phase::kEnded; }
  [[nodiscard]] std::string closing_text() const;
  [[nodiscard]] bool closes_from_end() const;
  [[nodiscard]] const Options& options() const { return syntax_->options; }
  [[nodiscard]] const Syntax& syntax() const { return *syntax_; }

 private:
  enum class Phase {
    kUndecided,
    kTop,
    kReasoning,
    kFencedAnswer,
    kSection,
    kJson,
    kPieces,
    kEarlyArguments,
    kJsonArguments,
    kRawArguments,
    kParameter,
    kKey,
    kValueOpen,
    kValue,
    kSkip,
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
  void run();
  [[nodiscard]] bool step();
  bool absorb_trail();
  void begin_content();
  bool top();
  bool top_blank();
  MatchKind blank_marker(std::size_t at);
  void keep_blank(const MarkerSet::Found& found);
  void drop_blank_preamble(std::size_t end);
  [[nodiscard]] bool is_answer_text(const MarkerSet::Found& found) const;
  [[nodiscard]] bool has_read_nothing() const {
    return message_.content.empty() && !message_.reasoning && message_.tool_calls.empty();
  }
  void reasoning_ends(const MarkerSet::Found& found);
  [[nodiscard]] bool may_close_section(const MarkerSet::Found& found) const;
  bool wait_at(const MarkerSet::Found& found);
  [[nodiscard]] MatchKind content_ends(const MarkerSet::Found& found) const;
  bool stray_close(const MarkerSet::Found& found);
  [[nodiscard]] bool is_stray_content_close(const Marker& close) const;
  bool top_marker(const MarkerSet::Found& found);
  bool top_opener(const MarkerSet::Found& found);
  bool ends_content(const MarkerSet::Found& found);
  // Reports text up to a marker, or up to where a marker may begin.  Returns true if it found a whole marker.  pos_ is
  // then after the marker, and head_ is before the white space that the template writes in front of it.
  bool scan(const MarkerSet& set, EventKind kind, MarkerSet::Found& found);
  [[nodiscard]] std::span<const format::Escape> escapes_of(EventKind kind) const;
  [[nodiscard]] MarkerSet::Found find_marker(const MarkerSet& set, std::span<const format::Escape> escapes) const;
  void finish_open();
  void finish_attempt();
  void finish_call();
  void finish_arguments();
  void emit(EventKind kind, std::size_t end);
  void emit(EventKind kind, std::size_t end, std::string_view text);
  void say_inline_open(std::size_t at);
  // Adds `text` to the message and reports it, as an event of its own or as more of the last one.
  void report(EventKind kind, std::size_t begin, std::size_t end, std::string_view text);
  [[nodiscard]] std::vector<Event>& new_events() { return held_ ? held_->events : reported_.events; }
  static void append(std::vector<Event>& events, Event&& event);
  [[nodiscard]] std::size_t last_call() const {
    return message_.tool_calls.empty() ? 0 : message_.tool_calls.size() - 1;
  }
  // Returns the offset in the sampled text of `at`, which is an offset in the buffer.
  [[nodiscard]] std::size_t raw(std::size_t at) const {
    const std::size_t absolute = base_ + at;
    return absolute > prompt_.bytes ? absolute - prompt_.bytes : 0;
  }
  void complain(std::size_t at, std::string what);

  // prompt_start.cpp
  void start_from_prompt(std::string_view tail);
  void expect_repeated_open();
  void forget_blank_reasoning();
  void leave_inline(const std::string& shown);
  [[nodiscard]] bool has_more_than_begun() const;
  [[nodiscard]] bool has_unopened_reasoning(std::string_view begun) const;
  void go_on_behind(std::string_view begun);
  void drop_prompt_space(std::string& written) const;

  // reasoning.cpp
  bool undecided();
  [[nodiscard]] const MarkerSet& open_reasoning_set() const;
  bool reasoning();
  bool reasoning_opened(const Marker& open);
  bool doubtful_reasoning();
  bool begin_reasoning();
  bool reasoning_start();
  bool reasoning_after_call();
  bool reasoning_marker(const MarkerSet::Found& found);
  bool thought_ends(const MarkerSet::Found& found);
  void emit_reasoning_marker(std::size_t end);
  [[nodiscard]] bool has_meant_call() const;
  void hold();
  void release();
  void withdraw(std::size_t end);

  // answers.cpp
  bool end_turn(const MarkerSet::Found& stop);
  bool behind_stop();
  void forget_blank_behind_stop();
  [[nodiscard]] bool is_json_asked() const;
  MatchKind answer_fence(std::size_t at);
  bool fenced_answer();

  // headings.cpp
  MatchKind heading(std::size_t at);
  MatchKind heading_behind_text(std::size_t at);
  [[nodiscard]] MatchKind heading_open(std::string_view text) const;
  MatchKind unfinished_heading(std::string_view text);
  [[nodiscard]] bool names_recipient(std::string_view words) const;
  [[nodiscard]] std::string_view recipient(std::string_view words) const;
  bool call_heading(std::string_view words, std::size_t behind);
  [[nodiscard]] std::string heading_closing() const;
  [[nodiscard]] std::string further_heading_closing(std::string_view begun) const;
  [[nodiscard]] std::string heading_lead() const;
  [[nodiscard]] std::string completed_heading(std::string_view begun) const;

  // attempts.cpp: text that may be a call, until its name is known
  void begin_attempt(bool in_section, Opening opening);
  [[nodiscard]] bool may_commit(const std::string& name) const;
  // Returns whether no marker announces the call.
  [[nodiscard]] bool is_bare() const {
    return attempt_.opening == Opening::kBare || attempt_.opening == Opening::kInText;
  }
  // ... and there is no list of tools that could tell, or other text is before it.  Such text is a call only if it has a
  // name and arguments.
  [[nodiscard]] bool needs_evidence() const {
    if (attempt_.opening == Opening::kInText) return true;
    if (!options().tools) return is_bare() || (attempt_.is_open && attempt_.is_prose);
    return attempt_.is_open && attempt_.is_prose && !syntax_->is_known_tool(call_.name);
  }
  // Returns whether the object may be the definition of a tool, whose parameters look like arguments.
  [[nodiscard]] bool is_held_schema() const {
    return is_bare() && call_.has_name && !call_.is_string && envelope_.may_define && !has_parameter("properties");
  }
  [[nodiscard]] bool is_named_by_marker() const;
  MatchKind named_call(std::size_t at);
  MatchKind bare_separator(std::size_t at);
  MatchKind bare_call(std::size_t at);
  [[nodiscard]] MatchKind tool_at(std::size_t at) const;
  [[nodiscard]] MatchKind opened_tool_at(std::size_t at) const;
  [[nodiscard]] MatchKind tool_name_at(std::size_t at, const std::function<MatchKind(std::size_t)>& close_at) const;
  [[nodiscard]] std::size_t marker_within(std::size_t end) const;
  [[nodiscard]] bool opens_known_tool(const MarkerSet::Found& found, std::size_t at) const;
  [[nodiscard]] bool is_json_at(std::size_t at) const;
  [[nodiscard]] bool is_prompt_part() const;
  void emit_prompt_part();
  bool drop_prompt_part();
  bool fail_attempt(std::size_t resume, const char* why);
  bool repeated_open(bool& wait);
  MatchKind second_call(std::size_t at);
  [[nodiscard]] bool is_nearer_name(const std::string& text) const;
  bool section();
  bool end_empty_section();

  // foreign.cpp: calls of other formats
  [[nodiscard]] bool resembles_opener(std::string_view text) const;
  [[nodiscard]] bool wraps_own_call(std::string_view text) const;
  [[nodiscard]] Match wrapper_at(std::size_t at, std::string& close) const;
  MatchKind foreign(std::size_t at);
  MatchKind own_opener(const MarkerSet::Found& found, std::vector<std::string> closes, bool wraps_own);
  MatchKind begin_foreign(std::size_t body, bool in_section, Opening opening);
  [[nodiscard]] bool is_quoted(std::size_t at);
  MatchKind quoted_body(std::size_t begin, std::size_t at);
  [[nodiscard]] bool has_json_calls() const;
  [[nodiscard]] bool has_bare_lists() const;
  [[nodiscard]] MatchKind begins_usual_call(std::size_t brace) const;
  MatchKind foreign_body(std::size_t begin, std::size_t at, bool is_wrapped, bool wraps_python);
  MatchKind python_call(std::size_t at, std::string name, bool is_list, bool is_wrapped);
  MatchKind list_call(std::size_t list, bool is_own);
  MatchKind line_call(std::size_t at, std::size_t name_size);
  MatchKind tag_call(std::size_t begin, std::size_t at);
  [[nodiscard]] bool may_be_json_instead(std::size_t at) const;
  bool json_instead(bool& wait);
  bool usual_call(std::size_t at);
  bool usual_instead(char byte);
  bool named_instead(bool& wait);
  MatchKind object_behind(std::size_t at, std::size_t& body) const;
  Match fence_open(std::size_t at);
  [[nodiscard]] Match fence_close(std::size_t at) const;
  MatchKind wrapper_close(std::size_t at);
  void adopt(format::Calls calls);
  void settle_format();

  // calls.cpp: names, arguments, the ends of calls
  bool start_body();
  bool pieces();
  [[nodiscard]] bool is_cut_off_in(const MarkerSet& set, std::size_t at) const;
  bool piece_slot(format::CallPiece::Kind kind);
  bool unreadable_slot(std::size_t end);
  [[nodiscard]] Match slot_at(std::size_t begin, bool is_name) const;
  [[nodiscard]] MatchKind slot_close_at(std::size_t begin, std::size_t end, bool is_name) const;
  void take_name(format::CallPiece::Kind kind, std::string text);
  [[nodiscard]] std::string meant_name(format::CallPiece::Kind kind, const std::string& text) const;
  [[nodiscard]] std::string name_in_id(const std::string& id) const;
  [[nodiscard]] MatchKind proof_of_arguments() const;
  [[nodiscard]] MatchKind arguments_at(std::size_t at) const;
  bool start_arguments();
  bool early_arguments();
  bool commit(std::size_t upto);
  struct JsonUnit {
    char byte = 0;
    std::size_t size = 1;
  };
  [[nodiscard]] bool has_escaped_arguments() const { return !syntax_->format->calls.argument_escapes.empty(); }
  [[nodiscard]] std::optional<JsonUnit> json_unit(std::size_t at) const;
  [[nodiscard]] std::optional<JsonUnit> next_json_unit(bool is_escaped);
  [[nodiscard]] std::string arguments_text(std::size_t begin, std::size_t end) const;
  bool begin_json_arguments();
  bool json_arguments();
  [[nodiscard]] std::string only_text_parameter() const;
  [[nodiscard]] bool has_parameter(const std::string& key) const;
  bool raw_arguments();
  bool arguments_done();
  bool recover();
  bool break_call(chat::CallStatus status, const char* why);
  bool after_call();
  MatchKind call_close(std::size_t at);
  void take_brackets_of_close(std::size_t at);
  [[nodiscard]] std::size_t next_object_at(std::size_t at) const;
  [[nodiscard]] std::size_t behind_brackets(std::size_t at, const Marker& close) const;
  MatchKind brackets_between(std::size_t at);
  bool between();
  [[nodiscard]] bool follows_in_section() const;
  void end_call(std::size_t raw_end);
  [[nodiscard]] chat::ToolCall& call() { return message_.tool_calls.back(); }
  [[nodiscard]] const chat::ToolCall& call() const { return message_.tool_calls.back(); }
  void set_status(chat::CallStatus status);

  // literals.cpp: the texts between a call's name, id and arguments
  bool piece_literal(const Marker& literal);
  MatchKind brackets_before(const Marker& literal, std::size_t& at);
  bool missing_literal(std::size_t at);
  bool skip_to_arguments(std::size_t at);
  MatchKind bare_call_ends(std::size_t at);
  void end_without_arguments(std::size_t at, std::size_t end);

  // nameless.cpp: calls and parameters without a name and without anything else in them
  [[nodiscard]] bool lacks_name(format::CallPiece::Kind kind, const std::string& text) const;
  bool nameless_call(std::size_t from, bool& wait);
  [[nodiscard]] bool is_empty_json() const;
  bool end_nameless_json();
  bool nameless_object_ends();
  bool nameless_slot(const std::string& text, std::size_t end);
  [[nodiscard]] bool is_mere_word(format::CallPiece::Kind kind, std::size_t begin, std::size_t end) const;
  void end_nameless_call(std::size_t end);
  [[nodiscard]] bool may_be_nameless() const;
  MatchKind nameless_parameter(std::size_t at);

  // envelope.cpp: calls that are JSON objects
  bool json_envelope();
  bool begins_otherwise(bool& wait);
  bool skip_json_lead();
  bool json_envelope_ends();
  void skip_to_object();
  bool json_step(JsonUnit unit, bool& failed);
  void json_value_begins(char byte);
  [[nodiscard]] bool has_whole_arguments() const;
  [[nodiscard]] bool repeats_own(const json::Value& value) const;
  [[nodiscard]] bool is_foreign_member(bool is_member) const;
  bool begin_captured(std::size_t frames);
  void json_call_begins();
  void next_member();
  void forget_call();
  bool json_arguments_begin(char byte);
  bool release_arguments();
  [[nodiscard]] JsonCall::Capture capture_at(std::size_t frames) const;
  bool json_value_ends();
  void report_thought();
  bool commit_early();
  [[nodiscard]] bool has_role(const std::vector<std::string>& role, std::size_t frames) const;
  [[nodiscard]] bool is_call_key(const std::string& key) const;
  [[nodiscard]] const format::JsonConstant* constant_at(std::size_t frames) const;
  [[nodiscard]] bool is_beside_arguments(std::size_t frames) const;
  [[nodiscard]] bool is_stray_key(const std::string& key) const;
  [[nodiscard]] bool is_usual_name(std::size_t begin) const;
  void keep_stray(std::size_t begin, std::size_t end);
  void report_strays();
  bool json_call_ends();
  void emit_arguments(std::size_t begin, std::size_t end, bool is_loose);
  [[nodiscard]] std::optional<std::size_t> open_string_arguments() const;
  void emit_begun_string(std::size_t begin);
  [[nodiscard]] bool is_string_forgotten(bool& wait) const;
  [[nodiscard]] bool is_between_listed_calls() const;
  [[nodiscard]] bool ends_in_empty_list() const;
  bool json_bad();
  bool break_json();

  // parameters.cpp: tagged parameters
  bool parameter();
  bool key();
  struct ListedKey {
    MatchKind kind = MatchKind::kNone;
    std::size_t end = 0;    // offset after the name and its quotes
    std::size_t close = 0;  // size of what closes it, with the white space before
    std::size_t quote = 0;  // size of each quote around the name
  };
  [[nodiscard]] ListedKey listed_key(std::size_t begin) const;
  [[nodiscard]] ListedKey key_written(std::size_t begin, std::string_view name) const;
  MatchKind take_listed_key(std::size_t begin);
  struct Quotes {
    MatchKind kind = MatchKind::kNone;
    std::string_view open;
    std::string_view close;
  };
  [[nodiscard]] Quotes quotes_at(std::size_t begin) const;
  MatchKind quoted_key(std::size_t begin);
  bool begins_object(std::size_t colon);
  MatchKind key_close(std::size_t begin, std::size_t end);
  void begin_key(const Marker* opener);
  void take_key(std::size_t begin, std::size_t end, std::size_t close_size);
  struct ValueOpener {
    Match match;
    const format::ValueForm* form = nullptr;
  };
  bool value_open();
  [[nodiscard]] ValueOpener whole_opener(std::size_t at) const;
  bool take_value_open(std::size_t end, const format::ValueForm* form);
  void select_forms(const std::string& open);
  void keep_forms(const std::string& open);
  void add_value_closers();
  bool value();
  [[nodiscard]] bool is_structured() const;
  [[nodiscard]] std::string_view own_line_end() const;
  bool begin_value();
  void expect_item();
  [[nodiscard]] std::string in_list(const json::Value& value);
  bool value_marked();
  bool value_line();
  [[nodiscard]] MatchKind value_end_inside_line(std::size_t at) const;
  [[nodiscard]] MatchKind value_line_end(std::size_t at) const;
  [[nodiscard]] MatchKind key_at(std::size_t begin) const;
  [[nodiscard]] const MarkerSet& value_ends() const;
  [[nodiscard]] MatchKind close_of_json() const;
  bool json_in_value();
  [[nodiscard]] std::size_t before_blank_close(std::size_t end) const;
  [[nodiscard]] std::size_t value_end_at_stop(std::size_t end) const;
  bool is_inner_close(std::size_t at);
  bool is_in_escape(std::size_t at);
  std::size_t size_inside_value(const MarkerSet::Found& found);
  [[nodiscard]] json::Value typed_value(std::string_view text) const;
  void end_value(std::size_t end, std::size_t terminator_end);
  void take_value(const json::Value& read, std::size_t end, std::size_t terminator_end);
  void leave_value(std::size_t terminator_end);
  void stream_value(std::size_t end);
  bool finish_parameters();

  // structured.cpp: values without markers around them
  bool own_quoted(bool& wait);
  bool python_quoted(bool& wait);
  [[nodiscard]] bool is_unopened_quote() const;
  MatchKind unopened_value();
  [[nodiscard]] MatchKind separates_words(const MarkerSet::Found& found) const;
  [[nodiscard]] std::optional<std::size_t> structured_end(bool& wait) const;
  [[nodiscard]] MatchKind next_line_key() const;
  [[nodiscard]] std::optional<std::size_t> end_before_key(bool& wait) const;
  bool begin_structured();
  MatchKind end_structured();
  MatchKind structured_byte();
  bool value_structured();

  // unclosed.cpp: values without their closing tag, and parameters that cannot be read
  bool is_followed(std::size_t at, bool& wait) const;
  [[nodiscard]] bool is_whole_scalar(std::size_t end) const;
  [[nodiscard]] MatchKind call_ends_at(const MarkerSet::Found& close) const;
  [[nodiscard]] bool is_closed_by_end() const;
  MatchKind value_unclosed(std::size_t& end);
  [[nodiscard]] MatchKind call_goes_on(std::size_t at) const;
  void end_unclosed_value(std::size_t end);
  void end_cut_value(std::size_t end);
  bool skip_parameter(const char* why);
  bool skipped_parameter();

  // wrapped_arguments.cpp: tags around arguments that the format does not have
  MatchKind argument_wrapper(std::size_t at);
  MatchKind wrapping_parameter(std::size_t name);
  [[nodiscard]] MatchKind parameter_opens_at(std::size_t at) const;
  [[nodiscard]] MatchKind wrapper_end_at(std::size_t at) const;
  MatchKind end_wrapper();
  [[nodiscard]] std::optional<std::string> wrapper_closing(std::string_view begun) const;

  // closing.cpp: what completes a turn that is cut off
  [[nodiscard]] std::string json_closing() const;
  [[nodiscard]] std::optional<std::string> text_arguments_closing() const;
  [[nodiscard]] bool awaits_arguments() const;
  [[nodiscard]] std::string parameters_closing() const;
  [[nodiscard]] std::string no_value() const;
  // What closes something.  `is_rest`: it continues from the last byte, no matter what the text ends with.
  struct Closing {
    explicit(false) Closing(std::string written) : text(std::move(written)) {}
    explicit(false) Closing(const char* written) : text(written) {}
    Closing(std::string written, bool rest) : text(std::move(written)), is_rest(rest) {}
    [[nodiscard]] Closing with(const std::string& more) const { return {text + more, is_rest}; }

    std::string text;
    bool is_rest = false;
  };
  [[nodiscard]] std::string_view behind_value() const;
  [[nodiscard]] Closing pieces_closing() const;
  [[nodiscard]] std::optional<Closing> next_parameter(std::string_view begun) const;
  [[nodiscard]] std::string value_closing() const;
  [[nodiscard]] std::string rest_of_value() const;
  [[nodiscard]] bool is_text_value() const;
  [[nodiscard]] std::optional<std::string> open_literal() const;
  [[nodiscard]] std::optional<std::string> open_markup(const std::string& closing) const;
  [[nodiscard]] std::string rest_of_escape(std::string_view written, std::span<const format::Escape> escapes,
                                           std::string_view closing) const;
  [[nodiscard]] std::string begun_name() const;
  [[nodiscard]] bool is_named() const;
  [[nodiscard]] bool is_in_section() const;
  [[nodiscard]] bool is_rather_text() const;
  [[nodiscard]] const std::string& content_close() const;
  [[nodiscard]] Closing construct_closing() const;
  [[nodiscard]] Closing json_arguments_closing() const;
  [[nodiscard]] Closing between_closing(std::string_view begun) const;
  [[nodiscard]] Closing section_closing() const;
  [[nodiscard]] Closing top_closing(std::string_view begun) const;
  [[nodiscard]] std::string reasoning_opener_closing(std::string_view begun) const;
  [[nodiscard]] std::string after_arguments_closing() const;
  [[nodiscard]] std::string rest_of_open_call(std::size_t piece) const;
  [[nodiscard]] std::string whole_call(std::string_view begun) const;
  [[nodiscard]] std::string no_calls() const;
  [[nodiscard]] Closing opener_closing(std::string_view begun, bool is_whole = false) const;
  [[nodiscard]] std::optional<std::string> rest_of_opener(const Marker& opener, std::string_view begun,
                                                          bool is_whole) const;
  [[nodiscard]] std::optional<Closing> rest_of_call_open(std::string_view begun) const;

  // tags.cpp: tags that differ from the format's own, and tags inside values
  [[nodiscard]] Match damaged_key_close(std::size_t at) const;
  [[nodiscard]] Match untyped_key_close(std::size_t at) const;
  [[nodiscard]] bool has_type_in_tag() const;
  struct ParameterTag {
    MatchKind kind = MatchKind::kNone;
    std::string_view key;  // views into the buffer
    std::size_t end = 0;   // after the tag
  };
  [[nodiscard]] ParameterTag parameter_tag_at(std::size_t at) const;
  MatchKind respelled_parameter(std::size_t at);
  bool take_unclosed_key(std::size_t begin, std::size_t end, std::size_t next);
  [[nodiscard]] ValueOpener damaged_opener(std::size_t at) const;
  struct NameTagEnd {
    Match match;
    bool is_empty_tag = false;
  };
  [[nodiscard]] NameTagEnd name_tag_end(std::size_t at, std::size_t piece) const;
  MatchKind damaged_name_tag(std::size_t at);
  MatchKind unclosed_name_tag(std::size_t at);
  void note_foreign_tag();
  void note_damaged_tag();
  [[nodiscard]] Match quoted_tool(std::size_t begin) const;
  [[nodiscard]] Match spelled_tool(std::size_t begin) const;
  [[nodiscard]] Match slot_in_quotes(std::size_t begin, bool is_name, std::size_t& quote) const;
  void note_quoted_name();
  void look_for_tags(std::string_view value);
  void judge_call();

  // call_tag.cpp: tags around calls whose attributes differ from the format's own
  struct TagRead {
    MatchKind kind = MatchKind::kNone;
    std::size_t end = 0;         // after the tag, and after the text that the format has there
    bool is_empty_tag = false;   // it closes itself
    bool is_foreign = false;     // it has other attributes, or in another order, or with other quotes
    std::string_view name = {};  // views into the buffer
    std::string_view id = {};
  };
  [[nodiscard]] TagRead call_tag_at(std::size_t at, bool is_sure) const;
  void assign_attributes(const std::vector<Attribute>& attributes, TagRead& out) const;
  MatchKind tag_goes_on(TagRead& read, bool is_sure) const;
  [[nodiscard]] MatchKind call_body_at(std::size_t at) const;
  void take_call_tag(const TagRead& read);
  MatchKind respelled_call(std::size_t at);
  MatchKind respelled_tag();

  std::shared_ptr<const Syntax> syntax_;
  Foreign foreign_;
  bool inline_reasoning_ = false;  // Options::inline_reasoning, but false while the prompt's tail is read
  Ending ending_;
  PromptStart prompt_;

  Phase phase_ = Phase::kTop;
  Trail trail_;
  Top top_;
  Section section_;
  Thoughts thoughts_;
  Attempt attempt_;
  Call call_;
  JsonCall envelope_;
  Parameter parameter_;
  JsonScanner scanner_;  // for arguments, or for a parameter's value
  std::optional<Held> held_;

  chat::AssistantMessage message_;
  Reported reported_;
  std::optional<Error> mistake_;
};

}  // namespace rondo::parse
