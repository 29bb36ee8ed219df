// Jinja templates: compile once, render many times, with the origin of every byte.
//
//   auto compiled = jinja::Template::compile(source, {}, "chat_template.jinja");
//   auto rendered = compiled.value()->render(variables, {});   // variables: a json::Object
//   rendered.value().text                                       // text::Text: bytes and runs
//
// A Template is immutable and may be rendered from many threads at once.  Nothing here knows of chat messages, except
// that the paths of text::PathTable give the elements of the variable `messages` an index.
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

// What one render produced.  Self-contained: outlives the template.
struct Rendered {
  text::Text text;
  text::Origins origins;
  std::vector<Decision> decisions;  // in the order of evaluation
  std::vector<text::PathId> reads;  // of all decisions
  std::vector<Strip> strips;
  std::vector<Probe> probes;
  // {% generation %} blocks, as byte ranges of the text.
  std::vector<std::pair<std::size_t, std::size_t>> generation_blocks;

  // After a render with RenderOptions::whole_dumps: from here on the text has the runs that it has without it.
  void take_dumps_apart() { text.take_dumps_apart(origins.paths); }

  // The input values that a condition looked at, in order; what was read again at once is not repeated.
  [[nodiscard]] std::span<const text::PathId> reads_of(const Decision& decision) const {
    return std::span(reads).subspan(decision.reads_begin, decision.reads_end - decision.reads_begin);
  }
};

class Template {
 public:
  // Fails with kTemplateSyntax and its place.  `name` is used in messages only.
  [[nodiscard]] static Result<std::shared_ptr<const Template>> compile(const std::string& source,
                                                                       const CompileOptions& options, std::string name);
  ~Template();
  Template(const Template&) = delete;
  Template& operator=(const Template&) = delete;

  // Renders with the given variables (members of `variables` are the variables; nothing else is defined but the globals).
  // `variables` must stay alive and unchanged during the call.  Fails with kTemplateRaised, kTemplateError or kLimit.
  [[nodiscard]] Result<Rendered> render(const json::Object& variables, const RenderOptions& options) const;

  [[nodiscard]] const std::string& source() const;
  [[nodiscard]] const CompileOptions& options() const;
  // Which statements stand around a place of the source; made when first asked for.
  [[nodiscard]] const Outline& outline() const;
  [[nodiscard]] const std::string& name() const;
  // Variables that the template reads and nobody sets (as jinja2.meta.find_undeclared_variables), sorted.
  [[nodiscard]] const std::vector<std::string>& undeclared_variables() const;
  // Every string constant and text piece of the template, by LiteralId.
  [[nodiscard]] const std::vector<std::string>& literal_texts() const;
  [[nodiscard]] const std::vector<text::Literal>& literals() const;
  // Names of variables, members, filters and whatever else the template names, each once.
  [[nodiscard]] const std::vector<std::string>& names() const;
  // The places of the expressions whose value is written ({{ ... }}); text::Run::expression counts them from 1.
  [[nodiscard]] std::vector<text::Literal> expressions() const;
  // The places of all conditions, by Decision::node.
  [[nodiscard]] std::vector<text::Literal> conditions() const;
  // String constants that stand in a comparison with, or a test of, a name or attribute `role` or with `.role` / ['role'].
  [[nodiscard]] const std::vector<std::string>& compared_roles() const;
  // True if there is a {% generation %} block.
  [[nodiscard]] bool has_generation_block() const;
  // The instruction listing, for goldens and debugging.
  [[nodiscard]] std::string disassemble() const;

 private:
  struct State;
  explicit Template(std::unique_ptr<const State> state);
  std::unique_ptr<const State> state_;
};

}  // namespace rondo::jinja
