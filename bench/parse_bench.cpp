// The streaming parser: CPU time per token, by the kind of text and its length.
//
// The peer is llama.cpp's parser as its server uses it: all text so far is parsed again with each token.  It is a program
// of its own, llama_parse_peer (see CMakeLists.txt), that gets the same template, tools and text.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/analyse.h"
#include "base/files.h"
#include "json/parse.h"
#include "parse/parser.h"

namespace {

using rondo::parse::Options;
using rondo::parse::Parser;

constexpr std::size_t kTokenBytes = 4;

double cpu_us() {
  timespec time = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_nsec) / 1e3;
}

std::shared_ptr<const rondo::format::Format> format_of(const char* text) {
  return std::make_shared<const rondo::format::Format>(
      rondo::format::from_json(rondo::json::parse(text).value()).value());
}

constexpr const char* kJsonCalls = R"f({"reasoning":{"present":true,"open":"<muse>\n","close":"\n</muse>\n\n"},
  "stops":{"content":["<eot>"]},"calls":{"present":true,"call_open":"\n<do>\n","call_close":"\n</do>",
  "envelope":"json_object","roles":{"name":["name"],"arguments":["arguments"]}}})f";
constexpr const char* kTaggedCalls = R"f({"reasoning":{"present":true,"open":"<muse>\n","close":"\n</muse>\n\n"},
  "stops":{"content":["<eot>"]},"calls":{"present":true,"call_open":"\n<do>\n<f=","call_close":"\n</f>\n</do>",
  "envelope":"tags","pieces":[{"kind":"name"},{"kind":"literal","text":">"},{"kind":"arguments"}],
  "arguments":"parameters","parameters":{"open":"\n<p=","key_close":">\n","close":"\n</p>",
  "forms":[{"type":"string","style":"raw"},{"type":"integer","style":"json"}]}}})f";
constexpr const char* kTools = R"f([{"type":"function","function":{"name":"write","parameters":{"type":"object",
  "properties":{"text":{"type":"string"},"list":{"type":"array"}}}}}])f";

std::string prose(std::size_t bytes) {
  const std::string_view sentence = "The quick brown fox jumps over the lazy dog, again and again. ";
  std::string out;
  while (out.size() < bytes) out += sentence;
  out.resize(bytes);
  return out;
}

std::string code(std::size_t bytes) {
  const std::string_view line = "  if (value < limit) { total += value; }\n";
  std::string out;
  while (out.size() < bytes) out += line;
  out.resize(bytes);
  return out;
}

std::string escaped(std::string_view text) {
  std::string out;
  for (const char byte : text) out += byte == '\n' ? std::string("\\n") : std::string(1, byte);
  return out;
}

std::string numbers(std::size_t bytes) {
  std::string out = "[";
  while (out.size() < bytes) out += "{\"a\": 1, \"b\": true}, ";
  return out + "0]";
}

// Microseconds for all of `text` in tokens; the best of some runs.
double parse_us(const std::shared_ptr<const rondo::format::Format>& format, const Options& options,
                std::string_view text) {
  double best = 1e18;
  std::size_t seen = 0;
  const int runs = text.size() > 500000 ? 3 : 20;
  for (int i = 0; i < runs; ++i) {
    Parser parser(format, options);
    const double start = cpu_us();
    for (std::size_t at = 0; at < text.size(); at += kTokenBytes)
      seen += parser.feed(text.substr(at, kTokenBytes)).size();
    seen += parser.close().size();
    best = std::min(best, cpu_us() - start);
  }
  return seen == 0 ? 0 : best;
}

struct Case {
  const char* name;
  const char* format;
  std::string text;
};

std::vector<Case> cases(std::size_t bytes) {
  const std::string call = "\n<do>\n{\"name\": \"write\", \"arguments\": {\"";
  return {{"content", kJsonCalls, prose(bytes)},
          {"content, code", kJsonCalls, code(bytes)},
          {"reasoning", kJsonCalls, "<muse>\n" + prose(bytes)},
          {"JSON string", kJsonCalls, call + "text\": \"" + escaped(code(bytes)) + "\"}}\n</do>"},
          {"JSON list", kJsonCalls, call + "list\": " + numbers(bytes) + "}}\n</do>"},
          {"tagged string", kTaggedCalls, "\n<do>\n<f=write>\n<p=text>\n" + code(bytes) + "\n</p>\n</f>\n</do>"}};
}

void table() {
  std::printf("%-16s %9s %12s %14s\n", "text", "bytes", "ns a token", "tokens/s");
  for (const std::size_t bytes : {std::size_t{1} << 10U, std::size_t{1} << 16U, std::size_t{1} << 20U}) {
    for (const Case& item : cases(bytes)) {
      Options options;
      options.tools = rondo::json::parse(kTools).value();
      const double us = parse_us(format_of(item.format), options, item.text);
      const double tokens = static_cast<double>(item.text.size()) / kTokenBytes;
      std::printf("%-16s %9zu %12.1f %14.0f\n", item.name, item.text.size(), us * 1e3 / tokens, tokens / us * 1e6);
    }
  }
}

struct Peer {
  std::string program;
  std::string folder;  // for the files that it reads
  std::string chat_template;
};

// What the peer needs for all tokens of `text`, in microseconds; 0 if it cannot be run.  It parses every `every`-th token.
double peer_us(const Peer& peer, const std::string& text, int every) {
  std::ofstream(peer.folder + "/tools", std::ios::binary) << kTools;
  std::ofstream(peer.folder + "/text", std::ios::binary) << text;
  const std::string command = "'" + peer.program + "' '" + peer.chat_template + "' '" + peer.folder + "/tools' '" +
                              peer.folder + "/text' " + std::to_string(kTokenBytes) + " " + std::to_string(every);
  std::FILE* pipe = popen(command.c_str(), "r");
  double us = 0;
  std::size_t content = 0;
  std::size_t calls = 0;
  if (pipe == nullptr || std::fscanf(pipe, "%lf %zu %zu", &us, &content, &calls) != 3 || calls != 1) us = 0;
  if (pipe != nullptr) pclose(pipe);
  return us;
}

// A call whose one argument is a long text, in the format of a real template.
void compare(const std::string& self) {
  const char* fixtures = std::getenv("RONDO_FIXTURES");
  Peer peer;
  peer.program = (std::filesystem::path(self).parent_path() / "llama_parse_peer").string();
  if (fixtures == nullptr || !std::filesystem::exists(peer.program)) {
    std::printf("llama.cpp's parser: passed over, %s\n",
                fixtures == nullptr ? "RONDO_FIXTURES is not set" : "not built");
    return;
  }
  peer.chat_template = std::string(fixtures) + "/templates/NousResearch-Hermes-3-Llama-3.1-8B-tool_use.jinja";
  peer.folder = (std::filesystem::temp_directory_path() / "rondo_parse_bench").string();
  std::filesystem::create_directories(peer.folder);
  const auto source = rondo::files::read(peer.chat_template);
  if (!source.ok()) return;
  const auto compiled = rondo::jinja::Template::compile(source.value(), {}, "template");
  if (!compiled.ok()) return;
  const auto format = rondo::analysis::analyse(*compiled.value(), {});
  if (!format.ok()) return;
  Options options;
  options.tools = rondo::json::parse(kTools).value();
  std::printf("\narguments of one call, in tokens of %zu bytes: CPU time of all tokens\n", kTokenBytes);
  std::printf("%9s %12s %14s %8s\n", "bytes", "rondo us", "llama.cpp us", "times");
  for (const std::size_t bytes : {std::size_t{1} << 10U, std::size_t{1} << 14U, std::size_t{1} << 16U}) {
    const auto& calls = format.value()->calls;
    const std::string text = calls.call_open + calls.section_open +
                             "{\"name\": \"write\", \"arguments\": {\"text\": \"" + escaped(code(bytes)) + "\"}}" +
                             calls.call_close;
    const double ours = parse_us(format.value(), options, text);
    const double theirs = peer_us(peer, text, bytes > 10000 ? 16 : 1);
    std::printf("%9zu %12.1f %14.1f %8.0f\n", text.size(), ours, theirs, theirs / ours);
  }
  std::filesystem::remove_all(peer.folder);
}

}  // namespace

int main(int, char** arguments) {
  table();
  compare(arguments[0]);
  return 0;
}
