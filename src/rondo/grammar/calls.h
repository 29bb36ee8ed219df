// Builds grammars of tool calls in the syntax of a format.  Internal to grammar/.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "chat/conversation.h"
#include "format/format.h"
#include "grammar/ir.h"
#include "grammar/markers.h"
#include "grammar/schema.h"

namespace rondo::grammar {

// Returns the part of `text` that the model must write as it is: `<a>` of `<a>\n<b`, because a model may write any
// white space after it.  `Action:\n<b` is not cut.  A counter ends it, because a model may write any number.
[[nodiscard]] std::string_view first_unit(std::string_view text);

class CallBuilder {
 public:
  // `grammar`, `format` and `context` must outlive this object.
  CallBuilder(Grammar& grammar, const format::Format& format, std::vector<chat::ToolDefinition> tools,
              SchemaContext& context);

  // A text that begins calls, and everything that may follow it up to the section's close.
  struct Opening {
    std::string word;
    NodeId rest{};
    // If the word ends with the name of a tool: the marker after the name.  Every call has this marker, so the text
    // before the calls must not contain it.  "" otherwise.
    std::string behind_name;
    bool is_alone = false;  // one call, to its own close; the section's close does not follow
  };
  // Returns the openings of calls.  Returns none if only the JSON of the call itself marks its beginning.
  [[nodiscard]] std::vector<Opening> openings(bool is_parallel);
  // How much white space must come between the section's opener and a name directly after it: 0 or 1.
  [[nodiscard]] std::size_t space_before_name() const;
  // Returns all calls, from the first character on, without the section's close.
  [[nodiscard]] NodeId all(bool is_parallel);
  // If calls have no close of their own, returns the word that begins a further call.  The text after the calls must
  // not contain it.  "" if there is none.
  [[nodiscard]] std::string next_word() const;
  // Returns true if no marker need come before calls, even if there are openings.
  [[nodiscard]] bool may_be_bare() const;
  // For calls that no marker announces: returns an ECMA-262 pattern whose first group is the beginning of the calls.
  // It matches at the start of the text, with any text without brackets before the calls.  With `is_reasoning_open`,
  // the calls come after the close of the reasoning that the prompt has opened.
  [[nodiscard]] std::string bare_pattern(bool is_reasoning_open) const;
  // The characters that calls without a marker begin with.
  [[nodiscard]] static CharSet bare_begin() { return CharSet::any_of("{["); }
  // Returns true if a schema was too large or too deep.
  [[nodiscard]] bool is_exhausted() const { return is_exhausted_; }

 private:
  struct Tool {
    std::string name;
    std::string written;  // the name as the template writes it
    json::Value parameters;
  };
  // Where the word that opens the calls comes from; what comes after that text is still to be written.
  enum class Start : std::uint8_t { kNothing, kSectionOpen, kCallOpen, kFirstPiece };

  [[nodiscard]] std::string_view text_of(Start start) const;
  [[nodiscard]] Start strongest(std::string& word) const;
  [[nodiscard]] bool is_distinct(const std::string& word) const;
  [[nodiscard]] std::string behind_name() const;
  [[nodiscard]] NodeId section_from(Start start, NodeId first_call, bool is_parallel);
  [[nodiscard]] bool is_weak(std::string_view opening) const;
  [[nodiscard]] NodeId named_calls(const Line& head);
  [[nodiscard]] NodeId any_call(Start start);
  [[nodiscard]] NodeId call(const Tool& tool, Start start, bool name_is_read);
  [[nodiscard]] std::string bare_names() const;
  // Adds the literal piece `index` of a call.
  void literal(Line& line, std::size_t index);
  void body(Line& line, const Tool& tool, std::size_t first_piece, std::size_t end, bool name_is_read);
  [[nodiscard]] bool may_omit_arguments(const Tool& tool) const;
  [[nodiscard]] static bool has_required(const Tool& tool);
  [[nodiscard]] bool is_only_apart(std::size_t index) const;
  [[nodiscard]] NodeId heading(const std::string& literal);
  void slot(Line& line, const Tool& tool, const format::CallPiece& piece, std::string_view behind);
  [[nodiscard]] NodeId arguments(const Tool& tool);

  // calls_json.cpp
  [[nodiscard]] NodeId any_object(NodeId (CallBuilder::*make)(const Tool& tool));
  [[nodiscard]] NodeId value_of_calls(bool is_parallel);
  [[nodiscard]] std::vector<Opening> with_lone_call(std::vector<Opening> openings);
  [[nodiscard]] NodeId call_member(const Tool& tool);
  [[nodiscard]] NodeId call_object(const Tool& tool);
  [[nodiscard]] NodeId json_or_text(const Tool& tool);
  [[nodiscard]] NodeId json_arguments(const Tool& tool, const std::vector<format::Escape>& escapes);

  // calls_parameters.cpp
  [[nodiscard]] NodeId parameters(const Tool& tool);
  [[nodiscard]] NodeId parameter(SchemaCompiler& schema, const Property& property, const std::string& name);
  [[nodiscard]] NodeId extra_parameter(SchemaCompiler& schema, const Properties& all, const std::string& name);
  [[nodiscard]] NodeId other_key(SchemaCompiler& schema, const Properties& all, NodeId key) const;
  [[nodiscard]] NodeId extra_parameter_behind(const std::string& key_open, SchemaCompiler& schema,
                                              const Properties& all, const std::string& name);
  [[nodiscard]] NodeId repeated_parameter(SchemaCompiler& schema, const Property& property, const std::string& closing,
                                          const std::string& name);
  // What follows key_close: the value in any of its forms, then `closing`.  `key_open` is the opener before the key, if
  // types of values have openers of their own.
  [[nodiscard]] NodeId value(SchemaCompiler& schema, const Parts& parts, const std::string& key_open,
                             const std::string& closing, const std::string& name);
  NodeId raw_form(SchemaCompiler& schema, const Parts& parts, const format::ValueForm& form, const std::string& ending,
                  const std::string& name);
  [[nodiscard]] Spelling nested_spelling() const;
  [[nodiscard]] NodeId form(SchemaCompiler& schema, const Parts& parts, const format::ValueForm& form,
                            const std::string& closing, const std::string& name);
  [[nodiscard]] std::vector<std::string> loose_keys(const std::vector<Properties>& alternatives) const;
  [[nodiscard]] std::vector<std::string> tags_of(const std::string& key) const;
  [[nodiscard]] NodeId quoting_text(const std::string& close);
  [[nodiscard]] NodeId raw_text(const std::string& closing, const std::vector<format::Escape>& escapes);
  [[nodiscard]] NodeId markup_text(const std::string& closing, const std::vector<format::Escape>& escapes,
                                   const std::string& name);
  // Returns whether a value ends only where the next marker begins, so that white space before the marker belongs to
  // the value.
  [[nodiscard]] static bool leaves_open(const format::Parameters& syntax);
  // Returns whether only its own quotes and brackets end a value.
  [[nodiscard]] static bool has_no_close(const format::Parameters& syntax);
  // Adds a marker that may follow a value.
  void behind_value(Line& line, const std::string& text) const;
  // Adds the text before a parameter's name.
  void open_parameter(Line& line, const std::string& open) const;
  void close_key(Line& line) const;
  [[nodiscard]] std::vector<std::string> followers() const;

  Grammar& grammar_;
  const format::Format& format_;
  std::vector<Tool> tools_;
  SchemaContext& context_;
  const bool is_open_ended_;                 // as leaves_open() says of the format
  const bool has_no_close_;                  // as has_no_close() says of it
  std::map<std::string, NodeId> arguments_;  // by name of the tool
  std::map<Start, NodeId> any_call_;
  std::vector<std::string> loose_keys_;  // of the tool whose parameters are made
  bool is_exhausted_ = false;
};

}  // namespace rondo::grammar
