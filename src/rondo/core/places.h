// What the bytes of a prompt came from, in words and template places.  For faces and reports.
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

// 1-based; columns count code points.  Line 0: unknown.
struct TemplatePlace {
  std::int64_t line = 0;
  std::int64_t column = 0;
};

// The source of a template by lines and columns.
class TemplateLines {
 public:
  // `chat_template` must outlive this.
  explicit TemplateLines(const jinja::Template& chat_template);

  [[nodiscard]] std::size_t size() const { return begins_.size(); }
  // Without its newline.  REQUIRES: 1 <= line <= size().
  [[nodiscard]] std::string_view line(std::size_t line) const;

  // With the column in code points.
  [[nodiscard]] TemplatePlace place(const text::Literal& at) const;
  // Where byte `offset` of a literal stands.  Template text of several lines stands in the source as it is; a string
  // constant does not (its newlines are escapes), and counts as one place.
  [[nodiscard]] TemplatePlace place(const text::Literal& literal, std::string_view bytes, std::size_t offset) const;
  // True for template text, false for a string constant inside an expression.
  [[nodiscard]] bool is_text(const text::Literal& literal, std::string_view bytes) const;
  // The source of the condition at `at`, to the end of its line.  Parentheses before the place are taken in: a condition
  // stands where its first operand does.
  [[nodiscard]] std::string_view condition_line(const text::Literal& at) const;

 private:
  [[nodiscard]] std::size_t offset_of(const text::Literal& at) const;

  std::string_view source_;
  std::vector<std::size_t> begins_;
};

// One run in the words of the protocol (docs/batch.md, op render).
struct NamedOrigin {
  std::string_view from;
  std::string path;          // "" for what the template, the clock or a special token wrote
  bool is_reshaped = false;  // what was sent there is not what the template got
  std::size_t shift = 0;     // bytes that the value has in the template's hands in front of what was sent
  TemplatePlace place;       // of a literal; of what wrote everything else
};

class OriginNamer {
 public:
  // `messages` as the template got them, `shaping` what of them was sent otherwise.  All must outlive this.
  OriginNamer(const jinja::Rendered& rendered, const jinja::Template& chat_template, const json::Array& messages,
              const tmpl::Shaping& shaping)
      : text_(rendered.text),
        origins_(rendered.origins),
        messages_(messages),
        shaping_(shaping),
        lines_(chat_template),
        literal_texts_(chat_template.literal_texts()),
        expressions_(chat_template.expressions()) {}

  // The runs of the prompt, cut where what was sent in one field ends and what was sent in another begins: reasoning that the
  // template got in front of the content.
  [[nodiscard]] std::vector<text::Run> runs() const;
  // The one of them that holds `byte`; the last one where it is behind the text, nullopt of an empty text.
  [[nodiscard]] std::optional<text::Run> run_at(std::size_t byte) const;
  // REQUIRES: `run` is one of runs(), or a part of one.
  [[nodiscard]] NamedOrigin name(const text::Run& run) const;
  // A path as the request has it: a value may have reached the template in another place than it was sent.
  [[nodiscard]] std::string path(text::PathId path) const { return sent(path).path; }
  // A message's index as the request has it.
  [[nodiscard]] std::int32_t message(std::int32_t index) const;
  // The bytes of the literal that a run was copied from.  REQUIRES: run.kind == kLiteral.
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
  // What was put in front of the content that a run is of; nullptr where nothing was.
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
