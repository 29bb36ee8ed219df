// Output: whose a byte is when it is written.
#include "jinja/operations.h"
#include "jinja/runtime.h"
#include "jinja/state.h"
#include "jinja/strings.h"

namespace rondo::jinja {
namespace {

using text::Context;
using text::ContextId;

// An expression outside every binding to a message, whose data all come from one message, is written for that message.
ContextId emission_context(Runtime& runtime, std::span<const text::Run> runs) {
  const Context& current = runtime.origins.contexts.at(runtime.context);
  if (current.message != text::kNoMessage) return runtime.context;
  std::int32_t message = text::kNoMessage;
  text::PathId path = text::PathId::kNone;
  for (const text::Run& run : runs) {
    if (!is_input(run)) continue;
    const std::int32_t from = runtime.origins.paths.message(run.path());
    if (from == text::kNoMessage) continue;
    if (message != text::kNoMessage && from != message) return runtime.context;
    message = from;
    path = run.path();
  }
  if (message == text::kNoMessage) return runtime.context;
  Context bound = current;
  bound.message = message;
  constexpr std::size_t kMessageDepth = 2;  // messages, [i]
  if (bound.element == text::PathId::kNone) bound.element = runtime.origins.paths.prefix(path, kMessageDepth);
  return runtime.origins.contexts.intern(bound);
}

// The context of a run made under `from` and written under `under`: the place of writing wins if it is bound to another
// message, else what the run was made under, if that is bound to anything.
ContextId stamped(Runtime& runtime, ContextId from, ContextId under) {
  if (from == ContextId::kNone || from == under) return under;
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

void check_size(Runtime& runtime, std::size_t size) {
  if (size <= runtime.options.limits.output_bytes) return;
  runtime.fail(ErrorCode::kLimit,
               "template writes more than " + std::to_string(runtime.options.limits.output_bytes) + " bytes");
}

}  // namespace

void emit(Runtime& runtime, const Value& value, text::Text& out) {
  if (value.is_undefined()) return;
  const Value text = runtime.autoescape ? escape_html(runtime, value) : to_text(runtime, value);
  const String& string = joined(runtime, text);
  check_size(runtime, out.size() + string.size);
  const std::span<const text::Run> runs(string.runs, string.run_count);
  const ContextId under = emission_context(runtime, runs);
  std::size_t at = 0;
  for (text::Run run : runs) {
    const std::string_view bytes(string.data + at, run.size);
    at += run.size;
    run.context = stamped(runtime, run.context, under);
    if (run.expression == 0 && run.kind != text::RunKind::kLiteral) run.expression = runtime.expression;
    out.append(bytes, run);
  }
}

void emit_literal(Runtime& runtime, std::string_view bytes, text::LiteralId literal, text::Text& out) {
  if (bytes.empty()) return;
  check_size(runtime, out.size() + bytes.size());
  text::Run run;
  run.kind = text::RunKind::kLiteral;
  run.origin = static_cast<std::uint32_t>(literal);
  run.context = runtime.context;
  out.append(bytes, run);
}

}  // namespace rondo::jinja
