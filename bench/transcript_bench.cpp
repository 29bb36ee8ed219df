// A message more behind conversations of a few to some thousand messages: a transcript, beside rendering all messages again.
//
// The template is one of the test data ($RONDO_FIXTURES, set by ./dev bench).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analyse.h"
#include "analysis/message_rules.h"
#include "base/files.h"
#include "render/transcript.h"

namespace {

using namespace rondo;  // NOLINT(google-build-using-namespace): a program of one file
using Clock = std::chrono::steady_clock;

constexpr const char* kTemplateFile = "templates/Qwen-Qwen3-0.6B.jinja";

std::string words(int seed, int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += "word" + std::to_string((seed * 31 + i * 7) % 97) + " ";
  return text;
}

json::Value said(const char* role, int seed) { return json::Object{{"role", role}, {"content", words(seed, 60)}}; }

// One step of an agent: a call, its result, an answer, a question.
json::Value step_message(int i) {
  if (i % 4 == 1) return json::Object{{"role", "tool"}, {"tool_call_id", "call_1"}, {"content", words(i, 60)}};
  if (i % 4 != 0) return said(i % 4 == 2 ? "assistant" : "user", i);
  json::Object function{{"name", "get_weather"}, {"arguments", json::Object{{"city", "Oslo"}}}};
  json::Object call{{"id", "call_1"}, {"type", "function"}, {"function", std::move(function)}};
  return json::Object{{"role", "assistant"}, {"content", ""}, {"tool_calls", json::Array{std::move(call)}}};
}

double microseconds(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

double median(std::vector<double>& times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

void measure(const std::shared_ptr<const render::TranscriptModel>& model, int messages) {
  json::Array history{said("system", 0), said("user", 1)};
  int at = 0;
  while (static_cast<int>(history.size()) < messages) history.push_back(step_message(at++));
  auto started = render::Transcript::start(model, std::move(history));
  if (!started.ok()) return;
  render::Transcript& transcript = started.value();
  constexpr int kSteps = 100;
  std::vector<double> grown;
  std::vector<double> again;
  int incremental = 0;
  const tmpl::ApplyOptions options{.origins = false};
  for (int i = 0; i < kSteps; ++i) {
    json::Array next{step_message(at++)};
    const auto start = Clock::now();
    const auto done = transcript.append(std::move(next));
    grown.push_back(microseconds(Clock::now() - start));
    if (!done.ok()) return;
    incremental += done.value().way == render::Grown::Way::kIncremental ? 1 : 0;
    if (i % 10 != 0) continue;
    const auto from = Clock::now();
    const auto whole =
        tmpl::apply(*model->parts().chat_template, model->parts().base, transcript.messages(), true, options);
    again.push_back(microseconds(Clock::now() - from));
    if (!whole.ok() || whole.value().text.bytes() != transcript.text()) {
      std::printf("the texts differ\n");
      return;
    }
  }
  const double one = median(grown);
  const double all = median(again);
  std::printf("%6zu messages, %8zu bytes: append %7.1f us (%d of %d incremental), render all %9.1f us, ratio %6.1f\n",
              transcript.messages().size(), transcript.text().size(), one, incremental, kSteps, all, all / one);
}

}  // namespace

int main() {
  const char* fixtures = std::getenv("RONDO_FIXTURES");
  if (fixtures == nullptr) {
    std::printf("RONDO_FIXTURES is not set (./dev bench sets it)\n");
    return 0;
  }
  const auto source = files::read(files::join(fixtures, kTemplateFile));
  if (!source.ok()) return 1;
  auto compiled = jinja::Template::compile(source.value(), {}, kTemplateFile);
  if (!compiled.ok()) return 1;
  const auto format = analysis::analyse(*compiled.value(), {});
  if (!format.ok()) return 1;
  render::TranscriptModel::Parts parts;
  parts.chat_template = compiled.value();
  parts.rules = analysis::find_message_rules(*compiled.value(), {}, *format.value());
  parts.input = format.value()->input;
  parts.base.add_generation_prompt = true;
  const auto start = Clock::now();
  const auto model = render::TranscriptModel::make(std::move(parts));
  std::printf("trials of the template: %.1f ms\n", microseconds(Clock::now() - start) / 1000);
  for (const int messages : {10, 100, 1000, 4000}) measure(model, messages);
  return 0;
}
