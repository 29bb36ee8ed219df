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
#include "json/value.h"
#include "rondo/result.h"
#include "text/text.h"

namespace rondo::jinja {

class Outline;

struct CompileOptions {
  bool trim_blocks = true;             // the first newline behind a block tag is dropped
  bool lstrip_blocks = true;           // white space before a block tag on its line is dropped
  bool keep_trailing_newline = false;  // else one newline at the end of the source is dropped
  // Statements that run first, on one line that ends with a line break; "" for none.  They are no part of source(), whose
  // lines are counted without them: their own is line 0.
  std::string prelude = {};
};

// A local date and time, as the caller's clock shows it; the library reads no clock.
struct LocalTime {
  int year = 1970;
  int month = 1;
  int day = 1;
  int hour = 0;
  int minute = 0;
  int second = 0;
};

struct RenderOptions {
  // Strict refuses what transformers' ImmutableSandboxedEnvironment refuses; lenient also allows in-place list and dict
  // methods and the filters from_json / fromjson.
  bool strict = false;
  // Whether globals of transformers' chat templates (raise_exception, strftime_now) exist.
  bool chat_globals = true;
  std::optional<LocalTime> now;  // for strftime_now; calling it without one is an error
  // Whether to record where every byte came from.  Without, a Rendered has only its bytes and generation blocks.
  bool origins = true;
  // Whether the JSON of an object or array of the input, written as it is, may be one run of kind kDump.  Its parts with
  // their paths are made by Rendered::take_dumps_apart(); until then such a run stands for all of them.  A condition that
  // looks at such a text has read that object or array; its parts are not listed.
  bool whole_dumps = false;
  limits::Render limits;
};

// A condition that was evaluated (if, elif, inline if, loop filter, and / or are part of their condition).
struct Decision {
  std::int32_t line = 0;
  std::int32_t column = 0;
  std::uint32_t node = 0;                            // the same condition of the template has the same number
  text::ContextId context = text::ContextId::kNone;  // of the place where it was evaluated
  std::uint32_t reads_begin = 0;                     // see Rendered::reads_of
  std::uint32_t reads_end = 0;
  bool outcome = false;
};

// Characters that the template cut off input text (strip, trim, ...).
struct Strip {
  std::int32_t line = 0;
  std::int32_t column = 0;
  text::PathId path = text::PathId::kNone;
  std::uint32_t begin = 0;  // bytes of the input string at `path`
  std::uint32_t end = 0;
};

// A constant that the template searched in input text, or split it by.
struct Probe {
  std::int32_t line = 0;
  std::string_view operation;  // "in", "split", "startswith", "replace", ...: static
  std::string constant;
  text::PathId path = text::PathId::kNone;
  std::uint32_t begin =
      0;                  // the bytes of the input string at `path` that were searched, from the first to the last one
  std::uint32_t end = 0;  // 0: all of the value there
};

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
