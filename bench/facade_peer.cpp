// The C++ API's bridge, beside which bench_python shows the Python module's.
//
// Usage: facade_peer FOLDER FILE TRIES
// FILE is {"prompt_ids": [...], "completion_ids": [...], "new_messages": [...]}.  Prints the best of TRIES in seconds of the thread.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <string>
#include <vector>

#include "base/files.h"
#include "json/parse.h"
#include "json/print.h"
#include "rondo/model.h"

namespace {

double thread_seconds() {
  std::timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

std::vector<std::int32_t> ids_of(const rondo::json::Value& list) {
  std::vector<std::int32_t> out;
  for (const rondo::json::Value& id : list.as_array()) out.push_back(static_cast<std::int32_t>(*id.to_int64()));
  return out;
}

int fail(const std::string& why) {
  std::fprintf(stderr, "facade_peer: %s\n", why.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return fail("expected FOLDER FILE TRIES");
  const auto model = rondo::Model::load(argv[1]);
  if (!model.ok()) return fail(model.error().to_string());
  const auto text = rondo::files::read(argv[2]);
  if (!text.ok()) return fail(text.error().to_string());
  const auto request = rondo::json::parse(text.value());
  if (!request.ok()) return fail(request.error().to_string());
  rondo::Bridge bridge;
  bridge.prompt_ids = ids_of(*request.value().find("prompt_ids"));
  bridge.completion_ids = ids_of(*request.value().find("completion_ids"));
  bridge.new_messages = rondo::json::to_compact(*request.value().find("new_messages"));
  double best = std::numeric_limits<double>::infinity();
  for (int i = 0; i < std::atoi(argv[3]); ++i) {
    const double started = thread_seconds();
    const auto bridged = model.value().bridge({}, bridge);
    best = std::min(best, thread_seconds() - started);
    if (!bridged.ok()) return fail(bridged.error().to_string());
  }
  std::printf("%.9f\n", best);
  return 0;
}
