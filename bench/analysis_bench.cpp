// From template to Format, and to what it can carry: what the analysis of every template of a folder costs.
//
//   bench_analysis [FOLDER]      *.jinja of FOLDER; else of the corpus beside the checkout.  Prints processor time (the
//                                best of some runs) of analysing and of finding the capabilities: median, 99th of 100,
//                                and the slowest five.
#include <algorithm>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "analysis/analyse.h"
#include "analysis/capabilities.h"
#include "analysis/message_rules.h"
#include "base/files.h"

namespace {

constexpr int kRuns = 3;

double processor_ms() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

struct Row {
  std::string name;
  double compile_ms = 1e9;
  double analyse_ms = 1e9;
  double capabilities_ms = 1e9;  // with the rules by which their messages are shaped
};

Row measure(const std::filesystem::path& path, const std::string& source) {
  Row row;
  row.name = path.stem().string();
  for (int run = 0; run < kRuns; ++run) {
    const double start_ms = processor_ms();
    const auto compiled = rondo::jinja::Template::compile(source, {}, row.name);
    const double compiled_ms = processor_ms();
    if (!compiled.ok()) return {};
    rondo::analysis::Options options;
    options.bos_token = "Bprobe";
    options.eos_token = "Eprobe";
    const auto format = rondo::analysis::analyse(*compiled.value(), options);
    const double analysed_ms = processor_ms();
    row.compile_ms = std::min(row.compile_ms, compiled_ms - start_ms);
    row.analyse_ms = std::min(row.analyse_ms, analysed_ms - compiled_ms);
    if (!format.ok()) continue;
    const auto rules = rondo::analysis::find_message_rules(*compiled.value(), options, *format.value());
    const rondo::analysis::Studied studied{*compiled.value(), options, *format.value(), rules};
    (void)rondo::analysis::find_capabilities(studied, studied);
    row.capabilities_ms = std::min(row.capabilities_ms, processor_ms() - analysed_ms);
  }
  return row;
}

// The rows that have it, and the slowest of them.
void print(std::vector<Row> rows, const char* what, double Row::* member) {
  std::erase_if(rows, [&](const Row& row) { return row.*member == 1e9; });
  if (rows.empty()) return;
  std::sort(rows.begin(), rows.end(), [&](const Row& a, const Row& b) { return a.*member < b.*member; });
  const auto at = [&](std::size_t percent) { return rows[(rows.size() - 1) * percent / 100].*member; };
  std::printf("%s of %zu templates: median %.2f ms, 99 of 100 below %.2f ms\n", what, rows.size(), at(50), at(99));
  for (std::size_t i = rows.size(); i-- > rows.size() - std::min<std::size_t>(rows.size(), 5);)
    std::printf("  %8.2f ms  (compiled in %.2f ms)  %s\n", rows[i].*member, rows[i].compile_ms, rows[i].name.c_str());
}

}  // namespace

int main(int count, char** arguments) {
  const std::string folder = count > 1 ? arguments[1] : RONDO_SOURCE_DIR "/../shared/corpus/templates";
  std::vector<Row> rows;
  std::error_code failed;
  for (const auto& entry : std::filesystem::directory_iterator(folder, failed)) {
    if (entry.path().extension() != ".jinja") continue;
    const auto source = rondo::files::read(entry.path().string());
    if (!source.ok()) continue;
    Row row = measure(entry.path(), source.value());
    if (!row.name.empty()) rows.push_back(std::move(row));
  }
  if (rows.empty()) {
    std::printf("analysis: no templates in %s\n", folder.c_str());
    return 0;
  }
  print(rows, "analysis", &Row::analyse_ms);
  print(std::move(rows), "capabilities", &Row::capabilities_ms);
  return 0;
}
