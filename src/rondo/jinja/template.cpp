#include "jinja/template.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cassert>
#include <cstdint>
#include <mutex>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/utf8.h"
#include "jinja/common/options.h"
#include "jinja/common/place.h"
#include "jinja/compile/compiler.h"
#include "jinja/program/instructions.h"
#include "jinja/reading/outline.h"
#include "jinja/syntax/ast.h"
#include "jinja/syntax/lexer.h"
#include "jinja/syntax/parser.h"
#include "jinja/value/heap.h"
#include "jinja/value/runtime.h"
#include "jinja/value/value.h"
#include "jinja/vm/vm.h"

namespace rondo::jinja {
namespace {

std::vector<text::Literal> to_literals(const std::vector<Place>& places) {
  std::vector<text::Literal> out;
  out.reserve(places.size());
  for (const Place& place : places) out.push_back({place.line, place.column});
  return out;
}

// How much the last render produced for each element of its input.  The next one will produce about as much, so its
// lists need not grow in steps.
class LastSizes {
 public:
  [[nodiscard]] text::PathTable::Sizes paths(std::size_t elements) const {
    text::PathTable::Sizes sizes;
    sizes.paths += expected(kPaths, elements);
    sizes.groups += expected(kGroups, elements);
    sizes.names += expected(kNames, elements);
    sizes.spellings += expected(kSpellings, elements);
    return sizes;
  }
  void prepare(Vm& vm, Runtime& runtime, std::size_t elements) const {
    vm.output().reserve(expected(kBytes, elements), runtime.tracing ? expected(kRuns, elements) : 0);
    if (!runtime.tracing) return;
    vm.decisions().reserve(expected(kDecisions, elements));
    runtime.reads.reserve(expected(kReads, elements));
  }
  void remember(const Rendered& rendered, std::size_t elements) {
    const auto keep = [&](Kind kind, std::size_t size) {
      constexpr std::size_t kSpare = 16;  // the same input must fit again despite rounding
      shares_[kind].store(static_cast<float>(size + kSpare) / static_cast<float>(elements + 1),
                          std::memory_order_relaxed);
    };
    keep(kBytes, rendered.text.size());
    if (rendered.text.runs().empty()) return;  // a render without origins says nothing about one with them
    keep(kRuns, rendered.text.runs().size());
    keep(kDecisions, rendered.decisions.size());
    keep(kReads, rendered.reads.size());
    const text::PathTable::Sizes paths = rendered.origins.paths.sizes();
    keep(kPaths, paths.paths);
    keep(kGroups, paths.groups);
    keep(kNames, paths.names);
    keep(kSpellings, paths.spellings);
  }

 private:
  enum Kind : std::uint8_t { kBytes, kRuns, kDecisions, kReads, kPaths, kGroups, kNames, kSpellings, kCount };

  [[nodiscard]] std::size_t expected(Kind kind, std::size_t elements) const {
    // Beyond these sizes, growing costs little compared with filling.
    constexpr float kMostBytes = float{512 << 10U};
    constexpr float kMostItems = 65536;
    const float each = shares_[kind].load(std::memory_order_relaxed);
    return static_cast<std::size_t>(
        std::min(each * static_cast<float>(elements + 1), kind == kBytes ? kMostBytes : kMostItems));
  }

  std::array<std::atomic<float>, kCount> shares_ = {};
};

// How many elements the lists among the variables have, as a measure of the work.
std::size_t count_elements(const json::Object& variables) {
  std::size_t count = 0;
  for (const json::Member& member : variables) {
    if (member.value.is_array()) count += member.value.as_array().size();
  }
  return count;
}

}  // namespace

struct Template::State {
  std::string name;
  CompileOptions options;
  Program program;
  mutable BlockPool blocks;
  mutable LastSizes last_sizes;
  mutable std::once_flag outline_made;
  mutable std::optional<Outline> outline;
};

Template::Template(std::unique_ptr<const State> state) : state_(std::move(state)) {}
Template::~Template() = default;

Result<std::shared_ptr<const Template>> Template::compile(const std::string& source, const CompileOptions& options,
                                                          std::string name) {
  assert(options.prelude.empty() || (options.trim_blocks && options.prelude.find('\n') == options.prelude.size() - 1));
  if (!utf8::is_valid(source))
    return Error(ErrorCode::kTemplateSyntax, "the template is not valid UTF-8", std::move(name))
        .at_offset(utf8::first_invalid(source));
  std::string normalized = normalize_source(source, options.keep_trailing_newline);
  Result<Tree> tree = parse(options.prelude + normalized, options, name);
  if (!tree.ok()) return tree.error();
  Result<Program> program = jinja::compile(std::move(tree.value()), std::move(normalized), name);
  if (!program.ok()) return program.error();
  auto state = std::make_unique<State>();
  state->name = std::move(name);
  state->options = options;
  state->program = std::move(program.value());
  return std::shared_ptr<const Template>(new Template(std::move(state)));
}

Result<Rendered> Template::render(const json::Object& variables, const RenderOptions& options) const {
  const Program& program = state_->program;
  const std::size_t elements = count_elements(variables);
  const text::PathTable::Sizes sizes = options.origins ? state_->last_sizes.paths(elements) : text::PathTable::Sizes{};
  Rendered rendered{.text = {},
                    .origins = {.paths = text::PathTable(sizes), .chains = {}, .contexts = {}, .literals = {}},
                    .decisions = {},
                    .reads = {},
                    .strips = {},
                    .probes = {},
                    .generation_blocks = {}};
  if (options.origins) rendered.origins.literals = program.literals;
  std::optional<Runtime> runtime;
  const auto complete = [&](Error error) {
    error.source = state_->name;
    // The heap and the C++ library do not know the place in the template.
    if (error.line == 0 && runtime) {
      error.line = runtime->line();
      error.column = runtime->column();
    }
    if (error.line > 0) error.line_text = line_text(program.source, error.line);
    return error;
  };
  try {
    runtime.emplace(rendered.origins, options, state_->blocks);
    runtime->grant(options.limits.instructions_per_element * elements);
    Vm vm(program, variables, *runtime);
    state_->last_sizes.prepare(vm, *runtime, elements);
    vm.render();
    rendered.text = vm.take_output();
    rendered.decisions = std::move(vm.decisions());
    rendered.reads = std::move(runtime->reads);
    rendered.generation_blocks = std::move(vm.generation_blocks());
    rendered.strips = std::move(runtime->strips);
    rendered.probes = std::move(runtime->probes);
  } catch (const Failure& failure) { return complete(failure.error()); } catch (const std::bad_alloc&) {
    return complete(Error(ErrorCode::kLimit, "out of memory"));
  } catch (const std::length_error&) { return complete(Error(ErrorCode::kLimit, "a string or list is too long")); }
  state_->last_sizes.remember(rendered, elements);
  return rendered;
}

const std::string& Template::source() const { return state_->program.source; }
const CompileOptions& Template::options() const { return state_->options; }
const Outline& Template::outline() const {
  std::call_once(state_->outline_made, [this] { state_->outline.emplace(source()); });
  return *state_->outline;
}
const std::string& Template::name() const { return state_->name; }
const std::vector<std::string>& Template::undeclared_variables() const { return state_->program.undeclared; }
const std::vector<std::string>& Template::literal_texts() const { return state_->program.literal_texts; }
const std::vector<std::string>& Template::names() const { return state_->program.names; }
const std::vector<text::Literal>& Template::literals() const { return state_->program.literals; }
std::vector<text::Literal> Template::expressions() const { return to_literals(state_->program.expressions); }
std::vector<text::Literal> Template::conditions() const { return to_literals(state_->program.conditions); }
const std::vector<std::string>& Template::compared_roles() const { return state_->program.compared_roles; }
bool Template::has_generation_block() const { return state_->program.has_generation; }
std::string Template::disassemble() const { return jinja::disassemble(state_->program); }

}  // namespace rondo::jinja
