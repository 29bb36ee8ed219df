// What the parsers of one format and one list of tools share: the markers, and the places where each marker is looked
// for.  Compiled once and immutable, so machines in any number of threads may use it.  Internal to parse/.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "chat/conversation.h"
#include "parse/call_tag.h"
#include "parse/marker.h"
#include "parse/parser.h"
#include "parse/values.h"

namespace rondo::parse {

inline constexpr std::string_view kFence = "```";

// What is looked for, by the place in the turn.
struct MarkerSets {
  MarkerSet blank;  // where only white space came since the last marker
  MarkerSet text;   // in content
  MarkerSet stop;   // what ends the turn, anywhere
  MarkerSet section, after, between,
      recover;                         // before a section's first call, after a call, before the next, in a broken one
  MarkerSet key, parameter, follower;  // after a key, before a parameter, after a value
  MarkerSet edges;                     // in a value: what opens and closes calls, except mere punctuation
  MarkerSet value;                     // the edges, and what ends the turn
  MarkerSet reasoning, reasoning_open;
  MarkerSet reasoning_section;  // in reasoning while a section of calls is open
  MarkerSet reasoning_layout;   // in reasoning after a call
  MarkerSet reasoning_recover;  // in a broken call in reasoning
  MarkerSet reasoning_skip;     // ... and after a parameter of it that cannot be read
};

// The markers of parameters' values, by form.
struct ValueMarkers {
  std::vector<Marker> key_openers;  // empty where Syntax::parameter_open serves
  std::vector<Marker> openers;
  std::vector<Marker> closers;  // used if the closer does not contain the key
  NestedSyntax nested;
  // Whether the texts that may follow a raw string are so unusual that no string contains them by chance.
  bool ends_are_distinct = false;
};

// Markers that few formats have.
struct RareMarkers {
  Marker inner_open;            // the part of a call's opener after its last tag
  Marker second_name_open;      // if a call's name is written twice: the tag before the second one
  std::size_t second_name = 0;  // ... and which piece that name is
  Marker bare_close;            // ends a call without arguments, after its name
  // What follows the opener of a call without a name, and of a parameter without a name.
  Marker nameless_call;
  Marker nameless_parameter;
  // In formats that put values between two tags of one kind, as between quotes: what follows a key if the value lacks
  // these tags.
  Marker unmarked_key_close;
  Marker preamble_open;
  Marker preamble_close;
  Marker header_end;                 // the last tag of a header that has several, if nobody writes it by chance
  bool shares_content_open = false;  // of other content; only the close shows that calls follow
  // The close of reasoning if opener and close are only punctuation, and the close ends a line.  Ordinary text may well
  // contain both.  nullptr in other formats.
  const Marker* light_close = nullptr;
  std::optional<CallTag> call_tag;        // the tag that begins a call, if it has attributes
  Marker behind_call_tag;                 // what the format writes after that tag
  Marker plain_close;                     // the tag that closes a call, without the attributes that it has
  bool content_open_is_reserved = false;  // the opener of content cannot be ordinary text
  // A call is a tag of its name, and its parameters are tags: without tools this is markup.
  bool names_are_tags = false;
};

class Syntax {
 public:
  // REQUIRES: as Parser.
  Syntax(std::shared_ptr<const format::Format> format, Options options);
  // Copies `own`, but with `calls` in place of the format's calls.
  Syntax(const Syntax& own, format::Calls calls);
  Syntax(const Syntax&) = delete;  // the marker sets contain pointers into this object
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
    kBareOpen,  // a bracket that may begin a call without a marker
    kWrapper    // a control token that is not in the format
  };

  [[nodiscard]] bool is_stop(std::string_view text) const;
  // Returns whether the token `stop`, after `text`, is the end of what the template writes after a turn.
  [[nodiscard]] bool ends_turn(std::string_view text, std::string_view stop) const;
  // Returns true for a known tool, and for any name if no tools are given.
  [[nodiscard]] bool is_known_tool(std::string_view name) const { return !options.tools || tool(name) != nullptr; }
  // Returns the tool with that name; nullptr if there is none.
  [[nodiscard]] const chat::ToolDefinition* tool(std::string_view name) const;
  // Returns the tool's name that a model means by `written`: in templates with namespaces, models write a tool without
  // one as `NAME.NAME`.
  [[nodiscard]] std::string meant_tool(const std::string& written) const;
  // Makes a marker from a text of the format.
  [[nodiscard]] Marker make_marker(std::string_view text) const { return Marker(text, options.special_tokens); }
  // Returns whether a call may end directly after the name in piece `piece`.
  [[nodiscard]] bool is_name_enough(std::size_t piece) const;
  // Returns whether JSON arguments follow piece `piece` directly.
  [[nodiscard]] bool is_json_next(std::size_t piece) const;
  // Models sometimes leave out a literal that an id or a counter follows.  Returns the piece at which such a call
  // continues; 0 if the literal cannot be left out.
  [[nodiscard]] std::size_t behind_optional(std::size_t literal) const;
  // Returns the piece after the arguments or the object of a call, if it is a text that an id follows; otherwise the
  // number of pieces.
  [[nodiscard]] std::size_t behind_arguments() const;
  // Returns whether the format writes something visible after the arguments of each call.
  [[nodiscard]] bool closes_calls() const;
  // Returns whether calls begin with their name, text of the format follows it, and tools are given.
  [[nodiscard]] bool has_marked_names() const;
  // Returns whether a tool's name alone can announce a call: no opener comes before such a name.
  [[nodiscard]] bool has_named_calls() const { return call_open.empty() && has_marked_names(); }
  // Returns whether a call's opener ends inside a tag, so the name is a part of that tag.
  [[nodiscard]] bool has_name_in_tag() const;
  // Returns whether the blocks of a turn have headings that tell their kind: the format closes headings, or calls and
  // answers begin in the same way.
  [[nodiscard]] bool has_headings() const;
  [[nodiscard]] std::vector<StateView> states() const;

  std::shared_ptr<const format::Format> format;
  Options options;
  std::vector<chat::ToolDefinition> tools;

  bool has_plain_header = false;     // the header is only words, with which an answer may well begin
  bool has_marked_sections = false;  // sections of calls have an opener that is not mere punctuation
  MarkerSets sets;
  std::vector<Marker> piece_markers;  // by piece
  std::vector<MarkerSet> slot_sets;   // by piece
  ValueMarkers values;
  RareMarkers rare;
  Marker call_open, call_close, section_close, separator, parameter_open, parameter_separator;
  std::string heading_open;  // the text that headings of reasoning and content begin with
  std::string blank_stop;    // a stop that is only white space

 private:
  const Marker* add_marker(std::string_view text);
  const Marker* add_stop(std::string_view text);
  void compile();
  void compile_reasoning();
  void compile_absent_reasoning(const Marker& absent);
  void compile_content();
  void compile_stops();
  [[nodiscard]] bool closes_call(const Marker& stop, const MarkerSet* set) const;
  void compile_calls();
  void compile_slots();
  void compile_last_slot(std::size_t slot, std::size_t next);
  void compile_begun_close();
  [[nodiscard]] bool has_distinct_ends() const;
  void compile_values();
  void compile_openers(const Marker& section_open);
  void compile_second_name();
  void compile_repeated_close(const Marker& next_call);
  void compile_unmarked_values();
  void compile_half_openers();
  void compile_bare_openers();
  void compile_headings();
  void add_half_opener(std::string_view part, std::initializer_list<MarkerSet*> places);
  [[nodiscard]] bool is_last_text(std::size_t piece) const;
  void add_closers(MarkerSet& set);
  void compile_edges();
  void add_parameter_openers(MarkerSet& set);

  bool is_foreign_ = false;  // the calls are not the format's own
  std::vector<std::unique_ptr<Marker>> markers_;
};

// Returns `opener` without the word and the dot at its end; "" if it does not end with them.
[[nodiscard]] std::string_view without_prefix_word(std::string_view opener);

}  // namespace rondo::parse
