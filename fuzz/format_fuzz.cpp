// Formats: any JSON is a format or gives an Error, and what is one comes back the same from its own JSON.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "format/format.h"
#include "json/parse.h"
#include "json/print.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto value = rondo::json::parse(std::string_view(reinterpret_cast<const char*>(data), size));
  if (!value.ok()) return 0;
  const auto format = rondo::format::from_json(value.value());
  if (!format.ok()) return 0;
  const rondo::json::Value printed = rondo::format::to_json(format.value());
  const auto again = rondo::format::from_json(printed);
  if (!again.ok() || rondo::format::to_json(again.value()) != printed) std::abort();
  return 0;
}
