// Parsing and printing a conversation of 226 messages, about 135 KB.
#include <cstdio>
#include <string>

#include "bench/bench.h"
#include "json/parse.h"
#include "json/print.h"

namespace {

std::string conversation() {
  rondo::json::Array messages;
  for (int i = 0; i < 226; ++i) {
    rondo::json::Object message;
    message.set("role", i % 2 == 0 ? "user" : "assistant");
    message.set("content", std::string(540, static_cast<char>('a' + i % 26)) + "\n\"quoted\" \xC3\xA9");
    message.set("index", i);
    messages.emplace_back(std::move(message));
  }
  return rondo::json::to_compact(rondo::json::Value(std::move(messages)));
}

}  // namespace

int main() {
  const std::string text = conversation();
  const auto parsed = rondo::json::parse(text);
  if (!parsed.ok()) return 1;
  std::printf("%zu bytes\n", text.size());
  rondo::bench::measure("json parse", text.size(), [&] { (void)rondo::json::parse(text).ok(); });
  rondo::bench::measure("json print compact", text.size(),
                        [&] { (void)rondo::json::to_compact(parsed.value()).size(); });
  rondo::bench::measure("json print as Python", text.size(),
                        [&] { (void)rondo::json::to_python(parsed.value(), {}).size(); });
  return 0;
}
