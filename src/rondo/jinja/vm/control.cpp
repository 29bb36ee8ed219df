#include "jinja/vm/control.h"

#include "jinja/program/instructions.h"
#include "jinja/value/input.h"
#include "jinja/value/value.h"

namespace rondo::jinja {

void Control::note_messages(If& current, std::size_t begin) const {
  for (std::size_t i = begin; i < runtime_.reads.size() && !current.several; ++i) {
    const std::int32_t message = runtime_.origins.paths.message(runtime_.reads[i]);
    if (message == text::kNoMessage || message == current.message) continue;
    current.several = current.message != text::kNoMessage;
    current.message = message;
  }
}

void Control::enter_branch(std::uint8_t flag) {
  If& current = ifs_.back();
  const bool negated = (flag & kTestNegated) != 0;
  const bool otherwise = (flag & kTestElse) != 0;
  const bool generation_prompt = current.generation_prompt || (read_generation_prompt_ && negated == otherwise);
  text::Context context = runtime_.origins.contexts.at(current.outside);
  const bool guards = current.message != text::kNoMessage && !current.several;
  if (guards || generation_prompt) {
    if (guards) context.guard = current.message;
    if (generation_prompt) context.generation_prompt = true;
    set(context);
  }
  current.branch = runtime_.context;
}

// A message that was bound inside the branch stays bound for the rest of the iteration.
void Control::keep_binding() {
  const text::Context inside = now();
  text::Context context = runtime_.origins.contexts.at(ifs_.back().outside);
  context.element = inside.element;
  context.message = inside.message;
  ifs_.back().outside = runtime_.origins.contexts.intern(context);
}

void Control::enter_choice(std::uint8_t flag) {
  saved_.push_back(runtime_.context);
  if (!read_generation_prompt_ || (flag & kTestNegated) != 0) return;
  text::Context context = now();
  context.generation_prompt = true;
  set(context);
}

void Control::enter_generation() {
  saved_.push_back(runtime_.context);
  if (!runtime_.tracing) return;
  text::Context context = now();
  context.generation_block = true;
  set(context);
}

void Control::leave_saved() {
  runtime_.context = saved_.back();
  saved_.pop_back();
}

text::ContextId Control::item_context(const Value& item, text::ContextId outer) {
  if (!runtime_.tracing) return text::ContextId::kNone;
  text::PathId path = item.path();
  // The pairs of items() have no place of their own, but their values do.
  if (path == text::PathId::kNone && item.is_tuple()) {
    const Values& parts = items_of(runtime_, item);
    if (!parts.empty()) path = parts.back().path();
  }
  if (path == text::PathId::kNone) return text::ContextId::kNone;
  const text::Context& around = runtime_.origins.contexts.at(outer);
  const auto flags =
      static_cast<std::uint8_t>((around.generation_prompt ? 1U : 0U) + (around.generation_block ? 2U : 0U));
  if (!lately_.empty()) {
    const ItemContext& known = lately_[static_cast<std::size_t>(path) % kItemsKept];
    if (known.path == path && known.flags == flags) return known.made;
  }
  text::Context context = around;
  const std::int32_t message = runtime_.origins.paths.message(path);
  context.element = path;
  if (message == text::kNoMessage) return runtime_.origins.contexts.intern(context);
  context.message = message;
  context.guard = text::kNoMessage;
  const text::ContextId made = runtime_.origins.contexts.intern(context);
  if (++items_made_ == kManyItems) lately_.resize(kItemsKept);
  if (!lately_.empty()) lately_[static_cast<std::size_t>(path) % kItemsKept] = {path, made, flags};
  return made;
}

void Control::enter_item(const Value& item, text::ContextId outer) {
  const text::ContextId context = item_context(item, outer);
  if (context == text::ContextId::kNone) {
    runtime_.context = outer;
    binding_ = Binding::kOpen;
  } else {
    runtime_.context = context;
    binding_ = Binding::kItem;
  }
}

void Control::bind_slowly(const Value& value) {
  const text::PathTable& paths = runtime_.origins.paths;
  const std::int32_t message = paths.message(value.path());
  if (message == text::kNoMessage || paths.depth(value.path()) != 2) return;
  text::Context context = now();
  context.element = value.path();
  context.message = message;
  set(context);
  binding_ = Binding::kBound;
}

void Control::enter_macro(const Args& args) {
  binding_ = Binding::kNone;
  text::Context context = now();
  if (context.message != text::kNoMessage) return;
  const auto take = [&](const Value& value) {
    const std::int32_t message = runtime_.origins.paths.message(value.path());
    if (message == text::kNoMessage) return false;
    context.element = runtime_.origins.paths.prefix(value.path(), 2);
    context.message = message;
    set(context);
    return true;
  };
  for (const Value& value : args.positional) {
    if (take(value)) return;
  }
  for (const NamedValue& argument : args.named) {
    if (take(argument.value)) return;
  }
}

}  // namespace rondo::jinja
