// Loading a tokenizer.json and decoding, beside Hugging Face tokenizers: runs bench/load_bench.py, which runs this for one
// tokenizer at a time.
//
//   bench_load --one TOKENIZER CACHE_FOLDER TEXT     prints <seconds of loading> <KiB of memory> <seconds of decoding> <ids>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "model/model_files.h"
#include "tokenizer/tokenizer.h"

namespace {

double processor_s() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

long resident_kib() {
  std::ifstream in("/proc/self/statm");
  long total = 0;
  long resident = 0;
  in >> total >> resident;
  return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

int measure(const char* path, const char* cache_folder, const char* text_path) {
  const long before_kib = resident_kib();
  const double start_s = processor_s();
  std::shared_ptr<const rondo::tokenizer::Tokenizer> tokenizer;
  {
    auto source = rondo::model::load_tokenizer_source(path);
    if (!source.ok()) return 1;
    auto loaded = rondo::tokenizer::Tokenizer::load(source.value(), {.cache_folder = cache_folder});
    if (!loaded.ok()) return 1;
    tokenizer = loaded.value();
  }
  const double load_s = processor_s() - start_s;
  const long memory_kib = resident_kib() - before_kib;
  const std::vector<rondo::tokenizer::TokenId> ids = tokenizer->encode_ids(rondo::files::read(text_path).value(), {});
  const double decode_start_s = processor_s();
  for (int i = 0; i < 10; ++i) (void)tokenizer->decode(ids, {}).ok();
  std::printf("%.6f %ld %.6f %zu\n", load_s, memory_kib, (processor_s() - decode_start_s) / 10, ids.size());
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 5 && std::strcmp(arguments[1], "--one") == 0) return measure(arguments[2], arguments[3], arguments[4]);
  std::vector<std::string> command = {"python3", "-B", std::string(RONDO_SOURCE_DIR) + "/bench/load_bench.py",
                                      "--program", arguments[0]};
  for (char** argument = arguments + 1; *argument != nullptr; ++argument) command.emplace_back(*argument);
  std::vector<char*> raw;
  raw.reserve(command.size() + 1);
  for (std::string& word : command) raw.push_back(word.data());
  raw.push_back(nullptr);
  execvp(raw[0], raw.data());
  std::perror("python3");
  return 1;
}
