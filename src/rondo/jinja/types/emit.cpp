#include "jinja/types/emit.h"

#include <algorithm>
#include <span>
#include <vector>

#include "jinja/types/markup.h"
#include "jinja/types/repr.h"
#include "jinja/value/runtime.h"
#include "jinja/value/state.h"
#include "jinja/value/strings.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
namespace {

using text::Context;
using text::ContextId;

// An expression outside every binding to a message is written for a message if all its data comes from that one.
class DataOwner {
 public:
  explicit DataOwner(Runtime& runtime) : runtime_(runtime) {}

  // False if the data belongs to another message than the data before.
  bool add(std::span<const text::Run> runs) {
    runtime_.spend_bytes(runs.size_bytes() / 2);
    const text::PathTable& paths = runtime_.origins.paths;
    for (const text::Run& run : runs) {
      if (!is_input(run)) continue;
      const auto path = static_cast<text::PathId>(run.origin);
      const std::int32_t from = paths.message(path);
      if (from == text::kNoMessage) continue;
      if (message_ != text::kNoMessage && from != message_) return false;
      message_ = from;
      path_ = path;
    }
    return true;
  }
  [[nodiscard]] ContextId context() const {
    if (message_ == text::kNoMessage) return runtime_.context;
    Context bound = runtime_.origins.contexts.at(runtime_.context);
    bound.message = message_;
    constexpr std::size_t kMessageDepth = 2;  // messages, [i]
    if (bound.element == text::PathId::kNone) bound.element = runtime_.origins.paths.prefix(path_, kMessageDepth);
    return runtime_.origins.contexts.intern(bound);
  }

 private:
  Runtime& runtime_;
  std::int32_t message_ = text::kNoMessage;
  text::PathId path_ = text::PathId::kNone;
};

ContextId emission_context(Runtime& runtime, const String& string) {
  if (runtime.in_message()) return runtime.context;
  DataOwner owner(runtime);
  Leaves leaves(string);
  for (Leaves::Leaf leaf; leaves.next(leaf);) {
    if (!owner.add({leaf.string->runs, leaf.string->run_count})) return runtime.context;
  }
  return owner.context();
}

// The context of a run that was made under `from` and is written under `under`.  The place of writing wins if it is
// bound to another message; otherwise the run keeps its own context if that is bound to anything.
ContextId stamped(Runtime& runtime, ContextId from, ContextId under) {
  Runtime::State& state = runtime.state();
  if (state.stamp_known && state.from == from && state.under == under) return state.stamped;
  const Context made = runtime.origins.contexts.at(from);
  const Context here = runtime.origins.contexts.at(under);
  ContextId out = under;
  const bool elsewhere = here.message != text::kNoMessage && made.message != here.message;
  if (!elsewhere) {
    // A text that was chosen because of the generation prompt stays so, wherever it is written.
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

// The owner of a run that is written now.  `made`: the context under which it was made, or the stamp of its leaf
// (Leaves::Leaf) if it has none.  `under`: emission_context() of the whole.
ContextId owned(Runtime& runtime, ContextId made, ContextId under) {
  return made == ContextId::kNone || made == under ? under : stamped(runtime, made, under);
}

// The expression that wrote it.
std::uint16_t written_by(const Runtime& runtime, const text::Run& run) {
  return run.expression == 0 && run.kind != text::RunKind::kLiteral ? runtime.expression : run.expression;
}

// The text of one run.
[[gnu::always_inline]] inline void emit_run(Runtime& runtime, const String& string, ContextId stamp, ContextId under,
                                            text::Text& out) {
  const text::Run& run = *string.runs;
  const ContextId made = run.context == ContextId::kNone ? stamp : run.context;
  out.append({string.data, string.size}, run, owned(runtime, made, under), written_by(runtime, run));
}

void emit_leaf(Runtime& runtime, const String& string, ContextId stamp, ContextId under, text::Text& out) {
  if (string.run_count == 1) {
    emit_run(runtime, string, stamp, under, out);
    return;
  }
  out.append_bytes({string.data, string.size});
  for (const text::Run& run : std::span(string.runs, string.run_count)) {
    const ContextId made = run.context == ContextId::kNone ? stamp : run.context;
    out.append_old_run(run, owned(runtime, made, under), written_by(runtime, run));
  }
}

// Texts of several messages that an iteration over another message put together, as templates do that merge turns once
// the next message is there.  The iteration says nothing about whose the texts are: each is its own message's, and what
// stands between two belongs to the second.
class Joined {
 public:
  Joined(Runtime& runtime, const String& string) : runtime_(runtime) {
    Leaves leaves(string);
    for (Leaves::Leaf leaf; is_one_ && leaves.next(leaf);) {
      runtime.spend();
      for (const text::Run& run : std::span(leaf.string->runs, leaf.string->run_count)) note(run, leaf.stamp);
    }
    is_one_ = is_one_ && has_data();
    text::PathId next = text::PathId::kNone;
    for (auto path = paths_.rbegin(); path != paths_.rend(); ++path) {
      if (*path == text::PathId::kNone) *path = next;
      next = *path;
    }
  }

  explicit operator bool() const { return is_one_; }

  // The context of the next run.
  ContextId next(ContextId made, ContextId under) {
    const text::PathId path = paths_[at_++];
    if (path == text::PathId::kNone) return under;
    constexpr std::size_t kMessageDepth = 2;  // messages, [i]
    Context context = runtime_.origins.contexts.at(under);
    context.message = runtime_.origins.paths.message(path);
    context.element = runtime_.origins.paths.prefix(path, kMessageDepth);
    context.guard = text::kNoMessage;
    const Context& joined_in = runtime_.origins.contexts.at(made);
    context.generation_prompt = context.generation_prompt || joined_in.generation_prompt;
    context.generation_block = context.generation_block || joined_in.generation_block;
    return runtime_.origins.contexts.intern(context);
  }

 private:
  void note(const text::Run& run, ContextId stamp) {
    const ContextId made = run.context == ContextId::kNone ? stamp : run.context;
    const std::int32_t in = runtime_.origins.contexts.at(made).message;
    if (paths_.empty()) joiner_ = in;
    const text::PathId path = is_input(run) ? static_cast<text::PathId>(run.origin) : text::PathId::kNone;
    const std::int32_t from = runtime_.origins.paths.message(path);
    if (in == text::kNoMessage || in != joiner_ || from == joiner_) is_one_ = false;
    paths_.push_back(from == text::kNoMessage ? text::PathId::kNone : path);
  }
  [[nodiscard]] bool has_data() const {
    return std::ranges::any_of(paths_, [](text::PathId path) { return path != text::PathId::kNone; });
  }

  Runtime& runtime_;
  bool is_one_ = true;
  std::int32_t joiner_ = text::kNoMessage;
  std::vector<text::PathId> paths_;  // by run: the data whose message it belongs to
  std::size_t at_ = 0;
};

// Writes what is joined.
void emit_joined(Runtime& runtime, const String& string, Joined& joined, ContextId under, text::Text& out) {
  Leaves leaves(string);
  for (Leaves::Leaf leaf; leaves.next(leaf);) {
    out.append_bytes({leaf.string->data, leaf.string->size});
    for (const text::Run& run : std::span(leaf.string->runs, leaf.string->run_count)) {
      const ContextId made = run.context == ContextId::kNone ? leaf.stamp : run.context;
      out.append_old_run(run, joined.next(made, under), written_by(runtime, run));
    }
  }
}

// Writes text that has several pieces, or that may belong to a message although none is bound.
[[gnu::noinline]] void emit_pieces(Runtime& runtime, const String& string, text::Text& out) {
  const ContextId under = emission_context(runtime, string);
  if (runtime.origins.contexts.at(under).message == text::kNoMessage) {
    if (Joined joined(runtime, string); joined) {
      emit_joined(runtime, string, joined, under, out);
      return;
    }
  }
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

// Whether a run does not bind what is written with it to a message, in any context.
bool binds_nothing(const Runtime& runtime, const text::Run& run) {
  return !is_input(run) || runtime.origins.paths.message(run.path()) == text::kNoMessage;
}

void emit_traced(Runtime& runtime, const String& string, text::Text& out) {
  // The usual case: a constant, or a string of the input.
  if (string.run_count == 1 && (runtime.in_message() || binds_nothing(runtime, *string.runs))) {
    emit_run(runtime, string, ContextId::kNone, runtime.context, out);
  } else {
    emit_pieces(runtime, string, out);
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

void emit(Runtime& runtime, const Value& value, text::Text& out) {
  if (value.is_undefined()) return;
  const bool is_text = value.is_string() && !runtime.autoescape;
  const Value text = is_text ? value : runtime.autoescape ? escape_html(runtime, value) : to_text(runtime, value);
  const String& string = text.as_string();
  runtime.check_output_size(out.size() + string.size);
  if (runtime.tracing) {
    emit_traced(runtime, string, out);
  } else {
    emit_untraced(runtime, string, out);
  }
}

void PartEmission::finish() const {
  if (!runtime_.tracing) {
    runtime_.spend_bytes(output_.size() - begin_);
    return;
  }
  ContextId under = runtime_.context;
  if (!runtime_.in_message()) {
    DataOwner owner(runtime_);
    if (owner.add(output_.runs_of(part_))) under = owner.context();
  }
  const auto is_settled = [&](const text::Run& run) {
    return run.context == under && (run.expression != 0 || run.kind == text::RunKind::kLiteral);
  };
  output_.end_part(part_, is_settled, [&](text::Run& run) {
    run.context = owned(runtime_, run.context, under);
    run.expression = written_by(runtime_, run);
  });
}

void emit_literal(Runtime& runtime, std::string_view bytes, text::LiteralId literal, text::Text& out) {
  if (bytes.empty()) return;
  runtime.check_output_size(out.size() + bytes.size());
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
