#include "audit/subject.h"

#include <algorithm>
#include <utility>

#include "analysis/analyse.h"
#include "audit/scenarios.h"
#include "audit/stand_in_vocabulary.h"

namespace rondo::audit {
namespace {

// Scenarios are short.  A template that needs more output than this is malicious.
constexpr std::size_t kMostOutputBytes = std::size_t{1} << 20U;
constexpr std::size_t kMostMemoryBytes = std::size_t{32} << 20U;
constexpr std::uint64_t kMostInstructions = 400'000;

tmpl::ApplyOptions with_limits(tmpl::ApplyOptions options) {
  limits::Render& limits = options.limits;
  limits.output_bytes = std::min(limits.output_bytes, kMostOutputBytes);
  limits.memory_bytes = std::min(limits.memory_bytes, kMostMemoryBytes);
  limits.instructions = std::min(limits.instructions, kMostInstructions);
  if (!options.now) options.now = jinja::LocalTime{2026, 1, 1, 12, 0, 0};
  return options;
}

}  // namespace

Result<Subject> make_subject(const Input& input) {
  Subject subject{input.chat_template, input.tokenizer, input.tokenizer != nullptr, {}, with_limits(input.options)};
  subject.base.kwargs = input.base.kwargs;
  subject.base.bos_token = input.base.bos_token;
  subject.base.eos_token = input.base.eos_token;
  if (!subject.has_tokenizer) {
    analysis::Options analyse;
    analyse.bos_token = subject.base.bos_token;
    analyse.eos_token = subject.base.eos_token;
    analyse.kwargs = subject.base.kwargs;
    analyse.now = subject.options.now;
    analyse.limits = subject.options.limits;
    const auto format = analysis::analyse(*subject.chat_template, analyse);
    if (!format.ok()) return format.error();
    auto vocabulary = stand_in_vocabulary(*format.value(),
                                          {subject.base.bos_token.value_or(""), subject.base.eos_token.value_or("")});
    if (!vocabulary.ok()) return vocabulary.error();
    subject.tokenizer = std::move(vocabulary).value();
  }
  return subject;
}

Settings settings_of(const Subject& subject, const Stage& first) {
  chat::Conversation base = subject.base;
  base.tools = scenario_tools();
  return find_settings(*subject.chat_template, first.format(), base, subject.options);
}

}  // namespace rondo::audit
