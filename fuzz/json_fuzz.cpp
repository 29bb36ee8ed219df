// JSON: any bytes parse or give an Error, and what was parsed survives printing and parsing again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "json/parse.h"
#include "json/print.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto parsed = rondo::json::parse(text);
  if (!parsed.ok()) return 0;
  const std::string printed = rondo::json::to_compact(parsed.value());
  const auto again = rondo::json::parse(printed);
  if (!again.ok() || rondo::json::to_compact(again.value()) != printed) std::abort();
  return 0;
}
