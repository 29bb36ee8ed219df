// The template engine beside its peers.
//
//   bench_jinja [OPTIONS]        runs bench/jinja_bench.py, which starts this program and the peers as workers
//   bench_jinja --worker [--no-origins | --all-runs]
//                                answers the driver's commands (the line protocol is described there)
//
// Two commands are this worker's own:
//   compile TEMPLATE             ok <median microseconds of compiling it>
//   memory                       ok <peak heap bytes of one render> <bytes rendered> <heap bytes of what it returns>
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/files.h"
#include "jinja/template.h"
#include "json/parse.h"

namespace {

// What the program has on the heap, counted while `counting`; a plain branch else.
struct HeapCount {
  bool counting = false;
  std::ptrdiff_t now = 0;
  std::ptrdiff_t peak = 0;
};
HeapCount heap_count;

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  if (heap_count.counting) {
    heap_count.now += static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
    heap_count.peak = std::max(heap_count.peak, heap_count.now);
  }
  return memory;
}

void counted_free(void* memory) {
  if (heap_count.counting) heap_count.now -= static_cast<std::ptrdiff_t>(malloc_usable_size(memory));
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t size) { return counted(std::malloc(size)); }
void* operator new(std::size_t size, std::align_val_t align) {
  const auto unit = static_cast<std::size_t>(align);
  return counted(std::aligned_alloc(unit, (size + unit - 1) / unit * unit));
}
void operator delete(void* memory) noexcept { counted_free(memory); }
void operator delete(void* memory, std::size_t /*size*/) noexcept { counted_free(memory); }
void operator delete(void* memory, std::align_val_t /*align*/) noexcept { counted_free(memory); }
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*align*/) noexcept { counted_free(memory); }

namespace {

using namespace rondo;  // NOLINT(google-build-using-namespace): a program of one file

constexpr int kLeastBatches = 3;
constexpr double kCompileMilliseconds = 20;
// A batch of runs takes about this long, so that reading the clock costs nothing.
constexpr double kBatchUs = 200;

// What this thread has spent on a processor, in microseconds.
double cpu_us() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

double batch_us(std::size_t count, const std::function<void()>& work) {
  const double start = cpu_us();
  for (std::size_t i = 0; i < count; ++i) work();
  return cpu_us() - start;
}

// The median microseconds of `work`, repeated for about `milliseconds`, and how often it ran.
std::pair<double, std::size_t> median_us(double milliseconds, const std::function<void()>& work) {
  const std::size_t batch = std::max<std::size_t>(1, static_cast<std::size_t>(kBatchUs / batch_us(1, work)));
  std::vector<double> times;
  const double end = cpu_us() + milliseconds * 1e3;
  while (times.size() < kLeastBatches || cpu_us() < end) {
    times.push_back(batch_us(batch, work) / static_cast<double>(batch));
  }
  std::sort(times.begin(), times.end());
  return {times[times.size() / 2], times.size() * batch};
}

std::string one_line(std::string text) {
  for (char& letter : text) {
    if (letter == '\n' || letter == '\t') letter = ' ';
  }
  return text;
}

std::string failed(const Error& error) { return "error\t" + one_line(error.message); }

class Worker {
 public:
  explicit Worker(std::string_view mode) {
    options_.origins = mode != "--no-origins";
    options_.whole_dumps = mode != "--all-runs";
    options_.now = jinja::LocalTime{2026, 1, 15, 10, 30, 0};
  }

  std::string answer(const std::vector<std::string>& fields) {
    const std::string& command = fields[0];
    if (command == "load" && fields.size() == 4) return load(fields[1], fields[2], fields[3]);
    if (command == "compile" && fields.size() == 2) return compile(fields[1]);
    if (command == "run" && fields.size() == 2 && template_) return run(std::atof(fields[1].c_str()));
    if (command == "memory" && template_) return memory();
    return "error\tunknown command";
  }

 private:
  std::string load(const std::string& template_path, const std::string& variables_path, const std::string& output) {
    const auto source = files::read(template_path);
    if (!source.ok()) return failed(source.error());
    const auto text = files::read(variables_path);
    if (!text.ok()) return failed(text.error());
    auto variables = json::parse(text.value());
    if (!variables.ok()) return failed(variables.error());
    const double start = cpu_us();
    auto compiled = jinja::Template::compile(source.value(), {}, template_path);
    const double compile_us = cpu_us() - start;
    if (!compiled.ok()) return failed(compiled.error());
    variables_ = std::move(variables.value());
    template_ = std::move(compiled.value());
    const auto rendered = template_->render(variables_.as_object(), options_);
    if (!rendered.ok()) return failed(rendered.error());
    if (const Status written = files::write(output, rendered.value().text.bytes()); !written.ok()) {
      return failed(written.error());
    }
    return "ok\t" + std::to_string(compile_us);
  }

  std::string run(double milliseconds) const {
    const auto [median, count] =
        median_us(milliseconds, [&] { (void)template_->render(variables_.as_object(), options_).ok(); });
    return "ok\t" + std::to_string(median) + "\t" + std::to_string(count);
  }

  static std::string compile(const std::string& path) {
    const auto source = files::read(path);
    if (!source.ok()) return failed(source.error());
    if (const auto compiled = jinja::Template::compile(source.value(), {}, path); !compiled.ok()) {
      return failed(compiled.error());
    }
    const auto measured =
        median_us(kCompileMilliseconds, [&] { (void)jinja::Template::compile(source.value(), {}, path).ok(); });
    return "ok\t" + std::to_string(measured.first);
  }

  std::string memory() const {
    heap_count = {};
    heap_count.counting = true;
    const auto rendered = template_->render(variables_.as_object(), options_);
    heap_count.counting = false;
    if (!rendered.ok()) return failed(rendered.error());
    return "ok\t" + std::to_string(heap_count.peak) + "\t" + std::to_string(rendered.value().text.size()) + "\t" +
           std::to_string(heap_count.now);
  }

  jinja::RenderOptions options_;
  std::shared_ptr<const jinja::Template> template_;
  json::Value variables_;
};

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char letter : line) {
    if (letter == '\t') {
      fields.emplace_back();
    } else {
      fields.back() += letter;
    }
  }
  return fields;
}

int work(std::string_view mode) {
  Worker worker(mode);
  for (std::string line; std::getline(std::cin, line);) std::cout << worker.answer(split(line)) << std::endl;
  return 0;
}

std::string quoted(std::string_view argument) {
  std::string out = "'";
  for (const char letter : argument) {
    if (letter == '\'') {
      out += "'\\''";
    } else {
      out += letter;
    }
  }
  return out + "'";
}

}  // namespace

int main(int count, char** arguments) {
  const std::vector<std::string_view> rest(arguments + 1, arguments + count);
  if (!rest.empty() && rest[0] == "--worker") return work(rest.size() < 2 ? std::string_view() : rest[1]);
  std::string command =
      "python3 " + quoted(std::string(RONDO_SOURCE_DIR) + "/bench/jinja_bench.py") + " --rondo " + quoted(arguments[0]);
  for (const std::string_view argument : rest) command += " " + quoted(argument);
  return std::system(command.c_str()) == 0 ? 0 : 1;
}
