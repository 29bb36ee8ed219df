// Jinja templates: compile once, render many times, with the origin of every byte.
//
//   auto compiled = jinja::Template::compile(source, {}, "chat_template.jinja");
//   auto rendered = compiled.value()->render(variables, {});   // variables: a json::Object
//   rendered.value().text                                       // text::Text: bytes and runs
//
// A Template is immutable; many threads may render it at once.  It knows nothing about chat messages.  The only
// exception: the paths of text::PathTable number the elements of the variable `messages`.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "jinja/common/events.h"
#include "jinja/common/options.h"
#include "json/value.h"
#include "rondo/result.h"
#include "text/text.h"

namespace rondo::jinja {

class Outline;

// The result of one render.  Self-contained: it may outlive the template.
struct Rendered {
  text::Text text;
  text::Origins origins;
  std::vector<Decision> decisions;  // in the order of evaluation
  std::vector<text::PathId> reads;  // the paths that all decisions read
  std::vector<Strip> strips;
  std::vector<Probe> probes;
  // {% generation %} blocks, as byte ranges of the text.
  std::vector<std::pair<std::size_t, std::size_t>> generation_blocks;

  // For a render with RenderOptions::whole_dumps: gives the text the runs that it would have without that option.
  void take_dumps_apart() { text.take_dumps_apart(origins.paths); }

  // Returns the input values that a condition read, in order.  A value that is read twice in a row is listed once.
  [[nodiscard]] std::span<const text::PathId> reads_of(const Decision& decision) const {
    return std::span(reads).subspan(decision.reads_begin, decision.reads_end - decision.reads_begin);
  }
};

class Template {
 public:
  // Compiles a template.  Fails with kTemplateSyntax and the place of the error.  `name` appears only in messages.
  [[nodiscard]] static Result<std::shared_ptr<const Template>> compile(const std::string& source,
                                                                       const CompileOptions& options, std::string name);
  ~Template();
  Template(const Template&) = delete;
  Template& operator=(const Template&) = delete;

  // Renders with the members of `variables` as variables; besides them, only the globals are defined.  `variables` must
  // stay alive and unchanged during the call.  Fails with kTemplateRaised, kTemplateError or kLimit.
  [[nodiscard]] Result<Rendered> render(const json::Object& variables, const RenderOptions& options) const;

  [[nodiscard]] const std::string& source() const;
  [[nodiscard]] const CompileOptions& options() const;
  // Returns the statements around each place of the source.  Made on first use.
  [[nodiscard]] const Outline& outline() const;
  [[nodiscard]] const std::string& name() const;
  // Returns the variables that the template reads and never sets (as jinja2.meta.find_undeclared_variables), sorted.
  [[nodiscard]] const std::vector<std::string>& undeclared_variables() const;
  // Returns every string constant and text of the template, by LiteralId.
  [[nodiscard]] const std::vector<std::string>& literal_texts() const;
  [[nodiscard]] const std::vector<text::Literal>& literals() const;
  // Returns the names of variables, members, filters and everything else that the template names, each once.
  [[nodiscard]] const std::vector<std::string>& names() const;
  // Returns the places of the expressions whose value is written ({{ ... }}).  text::Run::expression counts them from
  // 1.
  [[nodiscard]] std::vector<text::Literal> expressions() const;
  // Returns the places of all conditions, by Decision::node.
  [[nodiscard]] std::vector<text::Literal> conditions() const;
  // Returns the string constants that the template compares with, or tests on, a variable or attribute named `role`
  // (.role or ['role']).
  [[nodiscard]] const std::vector<std::string>& compared_roles() const;
  // Returns true if there is a {% generation %} block.
  [[nodiscard]] bool has_generation_block() const;
  // Returns the instruction listing, for goldens and debugging.
  [[nodiscard]] std::string disassemble() const;

 private:
  struct State;
  explicit Template(std::unique_ptr<const State> state);
  std::unique_ptr<const State> state_;
};

}  // namespace rondo::jinja
