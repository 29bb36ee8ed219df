// What the parsers of one format and one list of tools share: the markers, and which of them are looked for where.
// Compiled once and immutable; any number of machines in any threads use it.  Internal to parse/.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chat/conversation.h"
#include "parse/marker.h"
#include "parse/parser.h"
#include "parse/values.h"

namespace rondo::parse {

class Syntax {
 public:
  // REQUIRES: as Parser.
  Syntax(std::shared_ptr<const format::Format> format, Options options);
  // The same with other calls than the format's.
  Syntax(const Syntax& own, format::Calls calls);
  Syntax(const Syntax&) = delete;  // the marker sets point into it
  Syntax& operator=(const Syntax&) = delete;

  enum Id : int {
    kReasoningOpen,
    kReasoningClose,
    kContentOpen,
    kContentClose,
    kHeader,
    kSectionOpen,
    kSectionClose,
    kCallOpen,
    kCallClose,
    kSeparator,
    kParameterOpen,
    kParameterSeparator,
    kHistoryClose,
    kStop,
    kHalfOpen,  // the last part of a call's opener
    kBareOpen,  // a bracket that may begin a call without any marker
    kWrapper    // a control token that the format does not have
  };

  [[nodiscard]] bool is_stop(std::string_view text) const;
  // True for any name where no tools are known.
  [[nodiscard]] bool is_known_tool(std::string_view name) const { return !options.tools || tool(name) != nullptr; }
  // nullptr if there is none of that name.
  [[nodiscard]] const chat::ToolDefinition* tool(std::string_view name) const;
  // A marker of the format, or of a part of it.
  [[nodiscard]] Marker make_marker(std::string_view text) const { return Marker(text, options.special_tokens); }
  // A literal with an id or a counter behind it, which models leave out: the piece that goes on then; 0 if there is none.
  [[nodiscard]] std::size_t behind_optional(std::size_t literal) const;
  // Whether a call begins with its name, and tools are given.
  [[nodiscard]] bool has_named_calls() const;
  // Whether each block of a turn has a heading that says what it is: one that the format closes, or one that begins in the same
  // way for calls and for an answer.
  [[nodiscard]] bool has_headings() const;
  [[nodiscard]] std::vector<StateView> states() const;

  std::shared_ptr<const format::Format> format;
  Options options;
  std::vector<chat::ToolDefinition> tools;

  bool has_plain_header = false;     // of words only, with which an answer may well begin
  bool has_marked_sections = false;  // what opens the calls is no mere punctuation
  // reasoning_section_set: in reasoning, where a section of calls is open.
  MarkerSet blank_set, text_set, reasoning_set, reasoning_open_set, reasoning_section_set, reasoning_layout_set,
      reasoning_recover_set, section_set, after_set, between_set, parameter_set, follower_set, recover_set, key_set,
      stop_set;
  std::vector<Marker> piece_markers;  // by piece
  std::vector<MarkerSet> slot_sets;   // by piece
  std::vector<Marker> value_openers;  // by form of a parameter's value
  std::vector<Marker> value_closers;  // the same; used where the key is no part of them
  Marker inner_open;                  // what stands behind the last tag of a call's opener
  Marker call_open, call_close, section_close, separator, parameter_open, parameter_separator;
  std::string heading_open;  // what the headings of reasoning and content begin with
  std::string blank_stop;    // a stop that is white space only
  NestedSyntax nested;

 private:
  const Marker* add_marker(std::string_view text);
  void compile();
  void compile_calls();
  void compile_slots();
  void compile_values();
  void compile_openers(const Marker& section_open);
  void compile_headings();
  void add_closers(MarkerSet& set);

  bool is_foreign_ = false;  // the calls are not the format's own
  std::vector<std::unique_ptr<Marker>> markers_;
};

// An opener that ends with a word and a dot, without these; "" for others.
[[nodiscard]] std::string_view without_prefix_word(std::string_view opener);

}  // namespace rondo::parse
