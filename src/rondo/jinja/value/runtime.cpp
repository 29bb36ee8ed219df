#include "jinja/value/runtime.h"

#include <span>

#include "base/bytes.h"
#include "jinja/common/options.h"
#include "jinja/value/heap.h"
#include "jinja/value/state.h"
#include "jinja/value/strings.h"
#include "jinja/value/value.h"

namespace rondo::jinja {
Runtime::Runtime(text::Origins& the_origins, const RenderOptions& the_options, BlockPool& pool)
    : origins(the_origins),
      options(the_options),
      heap(the_options.limits.memory_bytes, pool),
      tracing(the_options.origins),
      fuel_(the_options.limits.instructions),
      iterations_(the_options.limits.iterations),
      outer_readers_(&heap),
      state_(heap.make_object<State>(&heap)) {}

void Runtime::fail(ErrorCode code, std::string message) const {
  throw Failure(Error(code, std::move(message)).at(line(), column()));
}

void Runtime::fail(std::string message) const { fail(ErrorCode::kTemplateError, std::move(message)); }

void Runtime::out_of_fuel() const {
  fail(ErrorCode::kLimit,
       "template runs more than " + std::to_string(options.limits.instructions + granted_) + " instructions");
}

void Runtime::out_of_iterations() const {
  fail(ErrorCode::kLimit, "template runs more than " + std::to_string(options.limits.iterations) + " loop iterations");
}

void Runtime::too_deep() const {
  fail(ErrorCode::kLimit, "calls or values nest deeper than " + std::to_string(options.limits.depth) + " levels");
}

void Runtime::output_too_long() const {
  fail(ErrorCode::kLimit, "template writes more than " + std::to_string(options.limits.output_bytes) + " bytes");
}

void Runtime::pay_for_filling(std::size_t bytes) {
  if (bytes > options.limits.memory_bytes) fail(ErrorCode::kLimit, "padding exceeds the memory of a render");
  spend_bytes(bytes);
  heap.require(2 * bytes);  // both where it is made and in the heap
}

text::ChainId Runtime::extend(text::ChainId chain, std::string_view step) {
  if (step.empty() || !tracing) return chain;
  std::size_t slot = static_cast<std::size_t>(chain) * 31 + step.size() * 7;
  slot += static_cast<unsigned char>(step.front()) + 3U * static_cast<unsigned char>(step.back());
  State::ChainSlot& cached = state_->chains[slot % state_->chains.size()];
  if (cached.chain != chain || !same_bytes(origins.chains.last_step(cached.result), step)) {
    cached.result = origins.chains.extend(chain, step);
    cached.chain = chain;
  }
  return cached.result;
}

text::Text* Runtime::borrow_text() {
  if (state_->spare_texts.empty()) return heap.make_object<text::Text>();
  text::Text* text = state_->spare_texts.back();
  state_->spare_texts.pop_back();
  return text;
}

void Runtime::give_back(text::Text* text) {
  text->clear();
  state_->spare_texts.push_back(text);
}

void Runtime::note_runs(const Value& value) {
  const auto add = [&](std::span<const text::Run> runs) {
    // A text has few adjacent places but many runs.
    auto last = text::PathId::kNone;
    for (const text::Run& run : runs) {
      const text::PathId path = run.path();
      if (path != last && path != text::PathId::kNone) add_read(path);
      last = path;
    }
  };
  // A condition need not join a text that consists of a few parts.
  constexpr std::size_t kFewNodes = 256;
  const std::size_t begin = reads.size();
  Leaves leaves(value.as_string());
  for (Leaves::Leaf leaf; leaves.visited() < kFewNodes;) {
    if (!leaves.next(leaf)) return;
    add({leaf.string->runs, leaf.string->run_count});
  }
  reads.resize(begin);
  const String& string = joined(*this, value);
  add({string.runs, string.run_count});
}

}  // namespace rondo::jinja
