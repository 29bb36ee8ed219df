// The streaming parser: CPU time per token, by the kind of text and its length.
//
// The peer is llama.cpp's parser as its server uses it: all text so far is parsed again with each token.  It is measured
// by llama_parse_peer (see CMakeLists.txt), which takes the same texts and prints its own lines.
#include <time.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

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

// Writes the text of every case of 1 KB and 64 KB, for the peer.
void write_texts(const std::string& folder) {
  for (const std::size_t bytes : {std::size_t{1} << 10U, std::size_t{1} << 16U}) {
    for (const Case& item : cases(bytes)) {
      std::ofstream(folder + "/" + item.name + "." + std::to_string(bytes), std::ios::binary) << item.text;
    }
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count == 3 && std::string_view(arguments[1]) == "--texts") {
    write_texts(arguments[2]);
  } else {
    table();
  }
  return 0;
}
