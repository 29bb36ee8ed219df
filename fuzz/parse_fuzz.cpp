// Parser: any text, in any chunks, gives the same message, and every byte lies in exactly one event.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "json/parse.h"
#include "parse/parser.h"

namespace {

using rondo::format::Format;

// One format of each kind, with short markers so that random bytes reach every phase.
constexpr const char* kFormats[] = {
    R"f({"header":"@","reasoning":{"present":true,"open":"<t>\n","close":"\n</t>\n"},"stops":{"content":["<e>"]},
        "calls":{"present":true,"call_open":"\n<c>","call_close":"</c>","envelope":"json_object","roles":{"name":["n"],"arguments":["a"],"id":["i"]}}})f",
    R"f({"reasoning":{"present":true,"open":"<t>","close":"</t>"},"stops":{"content":["<e>"]},
        "calls":{"present":true,"section_open":"[C]","envelope":"json_array","roles":{"name":["f","n"],"arguments":["f","a"]}}})f",
    R"f({"content":{"open":"<o>","close":"</o>"},"stops":{"content":["<e>"]},
        "calls":{"present":true,"section_open":"<s>","call_open":"<c>","call_close":"</c>","section_close":"</s>","envelope":"tags",
        "pieces":[{"kind":"name"},{"kind":"literal","text":"<a>"},{"kind":"arguments"}],"arguments":"json"}})f",
    R"f({"stops":{"content":["<e>"]},"calls":{"present":true,"call_open":"<c>","call_close":"</c>","envelope":"tags",
        "pieces":[{"kind":"name"},{"kind":"literal","text":">"},{"kind":"arguments"}],"arguments":"parameters",
        "parameters":{"open":"\n<p=","key_close":">\n","close":"\n</p>","forms":[{"type":"string","style":"raw"},{"type":"integer","style":"json"}]}}})f",
    R"f({"stops":{"content":["<e>"]},"calls":{"present":true,"section_open":"<s>[","call_close":")","section_close":"]","separator":", ","envelope":"tags",
        "pieces":[{"kind":"name"},{"kind":"literal","text":"("},{"kind":"arguments"}],"arguments":"parameters",
        "parameters":{"key_close":"=","separator":", ","forms":[{"type":"string","style":"raw","open":"'","close":"'"},{"type":"array","style":"python"}]}}})f"};

std::vector<std::shared_ptr<const Format>> formats() {
  std::vector<std::shared_ptr<const Format>> out;
  for (const char* text : kFormats) {
    const auto parsed = rondo::json::parse(text);
    if (!parsed.ok()) std::abort();
    auto format = rondo::format::from_json(parsed.value());
    if (!format.ok()) std::abort();
    out.push_back(std::make_shared<const Format>(std::move(format).value()));
  }
  return out;
}

std::string show(const rondo::chat::AssistantMessage& message) {
  std::string out = message.content + "\x01" + message.reasoning.value_or("\x02");
  for (const auto& call : message.tool_calls) out += "\x03" + call.name + "\x04" + call.arguments;
  return out;
}

std::string run(const std::shared_ptr<const Format>& format, std::string_view text, std::size_t chunk) {
  rondo::parse::Parser parser(format, {});
  std::size_t covered = 0;
  const auto check = [&covered](std::span<const rondo::parse::Event> events) {
    for (const auto& event : events) {
      if (event.begin != covered || event.end < event.begin) std::abort();
      covered = event.end;
    }
  };
  for (std::size_t at = 0; at < text.size(); at += chunk) check(parser.feed(text.substr(at, chunk)));
  (void)parser.closing_text();
  check(parser.close());
  if (covered != text.size()) std::abort();
  const auto message = parser.finish();
  return message.ok() ? show(message.value()) : "";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const auto kAll = formats();
  if (size < 2) return 0;
  const auto& format = kAll[data[0] % kAll.size()];
  const std::string_view text(reinterpret_cast<const char*>(data) + 2, size - 2);
  if (run(format, text, text.size() + 1) != run(format, text, 1 + data[1] % 7)) std::abort();
  return 0;
}
