// Checks of templates: any template gives a report or an Error, in time; and what is written about a report is well-formed.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "audit/check.h"
#include "audit/scenarios.h"
#include "base/utf8.h"
#include "jinja/template.h"
#include "json/parse.h"
#include "json/print.h"
#include "report/junit.h"
#include "report/report.h"
#include "report/sarif.h"

namespace rondo {
namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

void write_all(const report::Report& report) {
  const json::Value written = report::to_json(report);
  const auto read = report::report_from_json(written);
  require(read.ok() && report::to_json(read.value()) == written);
  const report::Report reports[] = {report};
  require(json::parse(json::to_compact(report::to_sarif(reports, {}, "0"))).ok());
  require(utf8::is_valid(report::to_junit(reports, {}, report::Level::kNote)));
}

}  // namespace
}  // namespace rondo

// The first byte chooses the conversation, the rest is the template.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string text(reinterpret_cast<const char*>(data) + 1, size - 1);
  auto compiled = rondo::jinja::Template::compile(text, {}, "fuzz.jinja");
  if (!compiled.ok()) return 0;
  rondo::audit::Input input;
  input.chat_template = compiled.value();
  input.model = "fuzz";
  // A check renders some hundred times; each must be short for the whole to be.
  input.options.limits.instructions = 5'000;
  input.options.limits.instructions_per_element = 100;
  input.options.limits.iterations = 2'000;
  input.options.limits.output_bytes = 1U << 14U;
  input.options.limits.memory_bytes = 1U << 20U;
  rondo::audit::Options options;
  const auto& scenarios = rondo::audit::scenarios();
  options.scenarios = {scenarios[data[0] % scenarios.size()].name};
  const auto report = rondo::audit::check(input, options);
  if (report.ok()) rondo::write_all(report.value());
  return 0;
}
