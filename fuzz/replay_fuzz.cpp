// Any bytes as a log of requests: nothing crashes, and counts add up.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>

#include "analysis/analyse.h"
#include "model/model_files.h"
#include "replay/replay.h"

namespace {

using namespace rondo;  // NOLINT(google-build-using-namespace): a program of one file

// With the markers of the vocabulary in tests/golden/batch/model; earlier reasoning is dropped.
constexpr const char* kTemplate =
    "{% for t in tools or [] %}{{ t | tojson }}{% endfor %}{% set ns = namespace(last=0) %}"
    "{% for m in messages %}{% if m.role == 'user' %}{% set ns.last = loop.index0 %}{% endif %}{% endfor %}"
    "{% for m in messages %}[[{{ m.role }}: {% if m.reasoning_content and loop.index0 > ns.last %}"
    "(*mull {{ m.reasoning_content }} mull*){% endif %}{{ (m.content or '') | trim }}"
    "{% for c in m.tool_calls or [] %}{!do {{ c.function.name }} with {{ c.function.arguments | tojson }} do!}{% "
    "endfor %}"
    "~fin~{% endfor %}{% if add_generation_prompt %}[[assistant: {% endif %}";

const replay::PromptMaker::Parts& parts() {
  static const replay::PromptMaker::Parts kParts = [] {
    replay::PromptMaker::Parts out;
    auto compiled = jinja::Template::compile(kTemplate, {}, "fuzz");
    if (!compiled.ok()) std::abort();
    out.chat_template = compiled.value();
    const auto files = model::load(RONDO_SOURCE_DIR "/tests/golden/batch/model");
    if (!files.ok() || !files.value().tokenizer) std::abort();
    auto tokenizer = tokenizer::Tokenizer::load(*files.value().tokenizer);
    if (!tokenizer.ok()) std::abort();
    out.tokenizer = tokenizer.value();
    analysis::Options options;
    options.tokenizer = out.tokenizer.get();
    auto format = analysis::analyse(*out.chat_template, options);
    if (!format.ok()) std::abort();
    out.format = format.value();
    return out;
  }();
  return kParts;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view log(reinterpret_cast<const char*>(data), size);
  replay::ReplayOptions options;
  options.capacity = size % 3 == 0 ? 300 : 100'000;
  options.memory_bytes = size % 2 == 0 ? 20'000 : 10'000'000;
  replay::Replay replay(parts(), options);
  std::size_t at = 0;
  replay::LogReader reader(
      [&](char* out, std::size_t most) {
        const std::size_t count = std::min(most, log.size() - at);
        log.copy(out, count, at);
        at += count;
        return count;
      },
      {.line_bytes = 1U << 16U});
  std::uint64_t fed = 0;
  for (; auto entry = reader.next(); ++fed) replay.feed(std::move(*entry));
  replay.note_log(reader);
  const replay::ReplayReport report = replay.report();
  std::uint64_t skipped = 0;
  for (const replay::SkippedLines& lines : report.skipped) skipped += lines.count;
  if (report.requests > fed || report.requests + skipped < fed || report.bytes != size) std::abort();
  for (const replay::ReplayLane& lane : report.lanes) {
    for (const std::uint64_t hits : lane.hits) {
      if (hits > lane.prompt_tokens) std::abort();
    }
  }
  (void)to_json(report);
  return 0;
}
