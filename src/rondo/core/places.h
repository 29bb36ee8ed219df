// Says in words where the bytes of a prompt came from, with places in the template.  For interfaces and reports.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "jinja/template.h"
#include "json/value.h"
#include "template/shape.h"
#include "text/text.h"

namespace rondo::core {

// Line and column start at 1; columns count code points.  Line 0 means unknown.
struct TemplatePlace {
  std::int64_t line = 0;
  std::int64_t column = 0;
};

// The text of a template by lines and columns.
class TemplateLines {
 public:
  // `chat_template` must outlive this.
  explicit TemplateLines(const jinja::Template& chat_template);

  [[nodiscard]] std::size_t size() const { return begins_.size(); }
  // Returns the line without its newline.
  //
  // REQUIRES: 1 <= line <= size().
  [[nodiscard]] std::string_view line(std::size_t line) const;

  // Returns the place with the column in code points.
  [[nodiscard]] TemplatePlace place(const text::Literal& at) const;
  // Returns the place of byte `offset` of a literal.  Template text keeps its lines in the source.  A string constant
  // has its newlines as escapes, so it counts as one place.
  [[nodiscard]] TemplatePlace place(const text::Literal& literal, std::string_view bytes, std::size_t offset) const;
  // Returns true for template text, false for a string constant in an expression.
  [[nodiscard]] bool is_text(const text::Literal& literal, std::string_view bytes) const;
  // Returns the source of the condition at `at`, to the end of its line.  The place of a condition is that of its first
  // operand, so parentheses before it are included.
  [[nodiscard]] std::string_view condition_line(const text::Literal& at) const;

 private:
  [[nodiscard]] std::size_t offset_of(const text::Literal& at) const;

  std::string_view source_;
  std::vector<std::size_t> begins_;
};

// The origin of one run in the words of the line protocol (docs/batch.md, op render).
struct NamedOrigin {
  std::string_view from;
  std::string path;          // "" if the template, the clock or a special token wrote it
  bool is_reshaped = false;  // whether the template got another value than the one sent there
  std::size_t shift = 0;     // how many bytes come before the sent value in the value that the template got
  TemplatePlace place;       // of the literal, or of the expression that wrote the run
};

class OriginNamer {
 public:
  // `messages` are the messages that the template got; `shaping` tells how they differ from those sent.  All arguments
  // must outlive this.
  OriginNamer(const jinja::Rendered& rendered, const jinja::Template& chat_template, const json::Array& messages,
              const tmpl::Shaping& shaping)
      : text_(rendered.text),
        origins_(rendered.origins),
        messages_(messages),
        shaping_(shaping),
        lines_(chat_template),
        literal_texts_(chat_template.literal_texts()),
        expressions_(chat_template.expressions()) {}

  // Returns the runs of the prompt.  A run is cut where the text of one sent field ends and that of another begins: the
  // template may have got reasoning as a part of the content.
  [[nodiscard]] std::vector<text::Run> runs() const;
  // Returns the run that contains `byte`; the last run if `byte` is past the end; nullopt if the text is empty.
  [[nodiscard]] std::optional<text::Run> run_at(std::size_t byte) const;
  // Returns the origin of a run in words.
  //
  // REQUIRES: `run` is one of runs(), or a part of one.
  [[nodiscard]] NamedOrigin name(const text::Run& run) const;
  // Returns the path at which the request has the value; the template may have got it at another path.
  [[nodiscard]] std::string path(text::PathId path) const { return sent(path).path; }
  // Returns the index at which the request has the message.
  [[nodiscard]] std::int32_t message(std::int32_t index) const;
  // Returns the bytes of the literal that a run was copied from.
  //
  // REQUIRES: run.kind == kLiteral.
  [[nodiscard]] std::string_view literal_bytes(const text::Run& run) const;
  [[nodiscard]] const TemplateLines& lines() const { return lines_; }

 private:
  struct Sent {
    std::string path;
    bool is_reshaped = false;
    std::size_t shift = 0;
  };
  [[nodiscard]] Sent sent(text::PathId path) const;
  [[nodiscard]] Sent sent(const text::Run& run) const;
  void add_pieces(text::Run run, std::vector<text::Run>& out) const;
  // Returns the change that put text in front of the content that `run` belongs to; nullptr if there was none.
  [[nodiscard]] const tmpl::MessageChange* front_of(const text::Run& run) const;
  [[nodiscard]] std::string aliased(text::PathId path) const;

  const text::Text& text_;
  const text::Origins& origins_;
  const json::Array& messages_;
  const tmpl::Shaping& shaping_;
  TemplateLines lines_;
  const std::vector<std::string>& literal_texts_;
  std::vector<text::Literal> expressions_;
};

}  // namespace rondo::core
