// Output: whose a byte is when it is written.
#include <span>

#include "jinja/operations.h"
#include "jinja/runtime.h"
#include "jinja/state.h"
#include "jinja/strings.h"

namespace rondo::jinja {
namespace {

using text::Context;
using text::ContextId;

// An expression outside every binding to a message, whose data all come from one message, is written for that message.
ContextId emission_context(Runtime& runtime, const String& string) {
  if (runtime.in_message()) return runtime.context;
  std::int32_t message = text::kNoMessage;
  text::PathId path = text::PathId::kNone;
  Leaves leaves(string);
  for (Leaves::Leaf leaf; leaves.next(leaf);) {
    runtime.spend_bytes(leaf.string->run_count * sizeof(text::Run) / 2);
    for (const text::Run& run : std::span(leaf.string->runs, leaf.string->run_count)) {
      if (!is_input(run)) continue;
      const std::int32_t from = runtime.origins.paths.message(run.path());
      if (from == text::kNoMessage) continue;
      if (message != text::kNoMessage && from != message) return runtime.context;
      message = from;
      path = run.path();
    }
  }
  if (message == text::kNoMessage) return runtime.context;
  Context bound = runtime.origins.contexts.at(runtime.context);
  bound.message = message;
  constexpr std::size_t kMessageDepth = 2;  // messages, [i]
  if (bound.element == text::PathId::kNone) bound.element = runtime.origins.paths.prefix(path, kMessageDepth);
  return runtime.origins.contexts.intern(bound);
}

// The context of a run made under `from` and written under `under`: the place of writing wins if it is bound to another
// message, else what the run was made under, if that is bound to anything.
ContextId stamped(Runtime& runtime, ContextId from, ContextId under) {
  Runtime::State& state = runtime.state();
  if (state.stamp_known && state.from == from && state.under == under) return state.stamped;
  const Context made = runtime.origins.contexts.at(from);
  const Context here = runtime.origins.contexts.at(under);
  ContextId out = under;
  const bool elsewhere = here.message != text::kNoMessage && made.message != here.message;
  if (!elsewhere) {
    // That the text was chosen because of the generation prompt stays true wherever it is written.
    Context kept = made.element != text::PathId::kNone || made.message != text::kNoMessage ? made : here;
    kept.generation_prompt = made.generation_prompt || here.generation_prompt;
    kept.generation_block = made.generation_block || here.generation_block;
    out = runtime.origins.contexts.intern(kept);
  }
  state.from = from;
  state.under = under;
  state.stamped = out;
  state.stamp_known = true;
  return out;
}

// Makes `run` one that is written now.  `stamp`: see Leaves::Leaf.  `under`: emission_context() of the whole.
void own(Runtime& runtime, text::Run& run, ContextId stamp, ContextId under) {
  const ContextId made = run.context == ContextId::kNone ? stamp : run.context;
  run.context = made == ContextId::kNone || made == under ? under : stamped(runtime, made, under);
  if (run.expression == 0 && run.kind != text::RunKind::kLiteral) run.expression = runtime.expression;
}

void emit_leaf(Runtime& runtime, const String& string, ContextId stamp, ContextId under, text::Text& out) {
  out.append({string.data, string.size}, {string.runs, string.run_count},
             [&](text::Run& run) { own(runtime, run, stamp, under); });
}

void emit_traced(Runtime& runtime, const String& string, text::Text& out) {
  // Most of what is written: a constant, or a string of the input.
  if (string.run_count == 1 && runtime.in_message()) {
    text::Run run;
    copy_fields(*string.runs, run);
    own(runtime, run, ContextId::kNone, runtime.context);
    out.append({string.data, string.size}, run);
    return;
  }
  // Data of no message bind nothing.
  const bool is_plain =
      string.run_count == 1 &&
      (!is_input(*string.runs) || runtime.origins.paths.message(string.runs->path()) == text::kNoMessage);
  const ContextId under = is_plain ? runtime.context : emission_context(runtime, string);
  if (is_leaf(string)) {
    emit_leaf(runtime, string, ContextId::kNone, under, out);
    return;
  }
  Leaves leaves(string);
  for (Leaves::Leaf leaf; leaves.next(leaf);) {
    runtime.spend();
    emit_leaf(runtime, *leaf.string, leaf.stamp, under, out);
  }
}

void emit_untraced(Runtime& runtime, const String& string, text::Text& out) {
  runtime.spend_bytes(string.size);
  if (is_leaf(string)) {
    out.append_bytes({string.data, string.size});
    return;
  }
  Leaves leaves(string);
  for (Leaves::Leaf leaf; leaves.next(leaf);) {
    runtime.spend();
    out.append_bytes({leaf.string->data, leaf.string->size});
  }
}

}  // namespace

void check_output_size(Runtime& runtime, std::size_t size) {
  if (size <= runtime.options.limits.output_bytes) return;
  runtime.fail(ErrorCode::kLimit,
               "template writes more than " + std::to_string(runtime.options.limits.output_bytes) + " bytes");
}

void emit(Runtime& runtime, const Value& value, text::Text& out) {
  if (value.is_undefined()) return;
  const bool is_text = value.is_string() && !runtime.autoescape;
  const Value text = is_text ? value : runtime.autoescape ? escape_html(runtime, value) : to_text(runtime, value);
  const String& string = text.as_string();
  check_output_size(runtime, out.size() + string.size);
  if (runtime.tracing) {
    emit_traced(runtime, string, out);
  } else {
    emit_untraced(runtime, string, out);
  }
}

void emit_literal(Runtime& runtime, std::string_view bytes, text::LiteralId literal, text::Text& out) {
  if (bytes.empty()) return;
  check_output_size(runtime, out.size() + bytes.size());
  if (!runtime.tracing) {
    out.append_bytes(bytes);
    return;
  }
  text::Run run;
  run.kind = text::RunKind::kLiteral;
  run.origin = static_cast<std::uint32_t>(literal);
  run.context = runtime.context;
  out.append(bytes, run);
}

}  // namespace rondo::jinja
