// The llama.cpp worker of jinja_bench.py; the line protocol is described there.
//
// The engine is common/jinja of the pinned source package, used as common/chat.cpp uses it, with one difference in its favour:
// the variables are made from JSON once, and each render gets a fresh context that shares them.
#include <algorithm>
#include <chrono>
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

using Clock = std::chrono::steady_clock;

constexpr std::time_t kNow = 1768473000;

double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
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
  const auto start = Clock::now();
  jinja::lexer lexer;
  jinja::program program = jinja::parse_from_tokens(lexer.tokenize(source));
  const double compile_us = microseconds_since(start);
  loaded = std::make_unique<Loaded>(Loaded{std::move(program), jinja::context(source)});
  loaded->variables.current_time = kNow;
  jinja::global_from_json(loaded->variables, common_json::parse(read(fields.at(2))), false);
  std::ofstream(fields.at(3), std::ios::binary) << loaded->render();
  return std::to_string(compile_us);
}

// Renders for about `milliseconds`: the median time of one render and how many there were.
std::string run(const Loaded& loaded, int milliseconds) {
  std::vector<double> times_us;
  const auto end = Clock::now() + std::chrono::milliseconds(milliseconds);
  while (times_us.size() < 3 || Clock::now() < end) {
    const auto start = Clock::now();
    (void)loaded.render();
    times_us.push_back(microseconds_since(start));
  }
  std::sort(times_us.begin(), times_us.end());
  return std::to_string(times_us[times_us.size() / 2]) + "\t" + std::to_string(times_us.size());
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
        std::cout << "ok\t" << run(*loaded, std::stoi(fields.at(1))) << std::endl;
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
