#include "jinja/control.h"

#include <algorithm>

namespace rondo::jinja {

void Control::begin_test() {
  if (tests_ == reads_.size()) reads_.push_back(std::make_unique<ReadSet>());
  ReadSet& reads = *reads_[tests_++];
  reads.clear();
  runtime_.reads = &reads;
}

void Control::end_test(bool outcome, std::uint32_t node, std::uint8_t flag) {
  const std::vector<text::PathId>& reads = reads_[--tests_]->paths();
  runtime_.reads = tests_ == 0 ? nullptr : reads_[tests_ - 1].get();
  if (runtime_.reads != nullptr) {
    for (const text::PathId path : reads) runtime_.reads->add(path);
  }
  read_generation_prompt_ = generation_prompt_ != text::PathId::kNone &&
                            std::find(reads.begin(), reads.end(), generation_prompt_) != reads.end();
  if ((flag & kTestOfIf) != 0) {
    If& current = ifs_.back();
    for (const text::PathId path : reads) {
      const std::int32_t message = runtime_.origins.paths.message(path);
      if (message == text::kNoMessage || message == current.message) continue;
      current.several = current.message != text::kNoMessage;
      current.message = message;
      if (current.several) break;
    }
  }
  const std::uint64_t key = (std::uint64_t{node} << 32U) | static_cast<std::uint32_t>(runtime_.context);
  runtime_.heap.charge(sizeof(Decision) + reads.size() * sizeof(text::PathId));
  decisions_.push_back({runtime_.line, runtime_.column, node, occurrences_[key]++, runtime_.context, outcome, reads});
}

void Control::guard(std::uint8_t flag) {
  If& current = ifs_.back();
  const bool negated = (flag & kTestNegated) != 0;
  const bool otherwise = (flag & kTestElse) != 0;
  const bool generation_prompt = read_generation_prompt_ && negated == otherwise;
  text::Context context = runtime_.origins.contexts.at(current.outside);
  const bool guards = context.message == text::kNoMessage && current.message != text::kNoMessage && !current.several;
  if (guards || generation_prompt) {
    if (guards) context.guard = current.message;
    if (generation_prompt) context.generation_prompt = true;
    set(context);
  }
  current.branch = runtime_.context;
}

void Control::leave_if() {
  const If current = ifs_.back();
  ifs_.pop_back();
  if (runtime_.context == current.branch) {
    runtime_.context = current.outside;
    return;
  }
  // A message that was set inside the branch stays bound for the rest of the iteration.
  const text::Context inside = now();
  text::Context context = runtime_.origins.contexts.at(current.outside);
  context.element = inside.element;
  context.message = inside.message;
  set(context);
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
  text::Context context = now();
  context.generation_block = true;
  set(context);
}

void Control::leave_saved() {
  runtime_.context = saved_.back();
  saved_.pop_back();
}

text::ContextId Control::item_context(const Value& item, text::ContextId outer) {
  text::PathId path = item.path();
  // The pairs of items() have no place of their own; their values have.
  if (path == text::PathId::kNone && item.is_tuple()) {
    const std::vector<Value>& parts = items_of(runtime_, item);
    if (!parts.empty()) path = parts.back().path();
  }
  if (path == text::PathId::kNone) return text::ContextId::kNone;
  text::Context context = runtime_.origins.contexts.at(outer);
  const std::int32_t message = runtime_.origins.paths.message(path);
  context.element = path;
  if (message != text::kNoMessage) {
    context.message = message;
    context.guard = text::kNoMessage;
  }
  return runtime_.origins.contexts.intern(context);
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
