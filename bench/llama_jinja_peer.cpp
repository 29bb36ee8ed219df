// The llama.cpp worker of jinja_bench.py; the line protocol is described there.
//
// The engine is common/jinja of the pinned source package, used as common/chat.cpp uses it, with one difference in its favour:
// the variables are made from JSON once, and each render gets a fresh context that shares them.
#include <time.h>

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "jinja/lexer.h"
#include "jinja/parser.h"
#include "jinja/runtime.h"
#include "json.h"

// All that the engine needs of ggml: the end of a failed assertion.
extern "C" void ggml_abort(const char* file, int line, const char* format, ...) {
  std::fprintf(stderr, "%s:%d: ", file, line);
  va_list arguments;
  va_start(arguments, format);
  std::vfprintf(stderr, format, arguments);
  va_end(arguments);
  std::abort();
}

namespace {

constexpr std::time_t kNow = 1768473000;
// A batch of renders takes about this long, so that reading the clock costs nothing.
constexpr double kBatchUs = 200;

// What this thread has spent on a processor, in microseconds.
double cpu_us() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

std::string read(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

struct Loaded {
  jinja::program program;
  jinja::context variables;

  std::string render() const {
    jinja::context context(variables);
    jinja::runtime runtime(context);
    return jinja::runtime::gather_string_parts(runtime.execute(program))->as_string().str();
  }
};

// fields: load, template, variables, output.
std::string load(const std::vector<std::string>& fields, std::unique_ptr<Loaded>& loaded) {
  const std::string source = read(fields.at(1));
  const double start = cpu_us();
  jinja::lexer lexer;
  jinja::program program = jinja::parse_from_tokens(lexer.tokenize(source));
  const double compile_us = cpu_us() - start;
  loaded = std::make_unique<Loaded>(Loaded{std::move(program), jinja::context(source)});
  loaded->variables.current_time = kNow;
  jinja::global_from_json(loaded->variables, common_json::parse(read(fields.at(2))), false);
  std::ofstream(fields.at(3), std::ios::binary) << loaded->render();
  return std::to_string(compile_us);
}

double batch_us(const Loaded& loaded, std::size_t count) {
  const double start = cpu_us();
  for (std::size_t i = 0; i < count; ++i) (void)loaded.render();
  return cpu_us() - start;
}

// Renders for about `milliseconds`: the median time of one render and how many there were.
std::string run(const Loaded& loaded, double milliseconds) {
  const std::size_t batch = std::max<std::size_t>(1, static_cast<std::size_t>(kBatchUs / batch_us(loaded, 1)));
  std::vector<double> times_us;
  const double end = cpu_us() + milliseconds * 1e3;
  while (times_us.size() < 3 || cpu_us() < end) {
    times_us.push_back(batch_us(loaded, batch) / static_cast<double>(batch));
  }
  std::sort(times_us.begin(), times_us.end());
  return std::to_string(times_us[times_us.size() / 2]) + "\t" + std::to_string(times_us.size() * batch);
}

std::vector<std::string> split(const std::string& line) {
  std::vector<std::string> fields;
  std::istringstream stream(line);
  for (std::string field; std::getline(stream, field, '\t');) fields.push_back(field);
  return fields;
}

}  // namespace

int main() {
  std::unique_ptr<Loaded> loaded;
  for (std::string line; std::getline(std::cin, line);) {
    const std::vector<std::string> fields = split(line);
    try {
      if (fields.at(0) == "load") {
        std::cout << "ok\t" << load(fields, loaded) << std::endl;
      } else if (fields.at(0) == "run" && loaded) {
        std::cout << "ok\t" << run(*loaded, std::stod(fields.at(1))) << std::endl;
      } else {
        std::cout << "error\tunknown command" << std::endl;
      }
    } catch (const std::exception& error) {
      std::string text = error.what();
      std::replace(text.begin(), text.end(), '\n', ' ');
      std::replace(text.begin(), text.end(), '\t', ' ');
      std::cout << "error\t" << text << std::endl;
    }
  }
  return 0;
}
