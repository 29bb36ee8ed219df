#include "edge/prebuilt.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "json/parse.h"
#include "json/print.h"

namespace rondo::edge {
namespace {

std::vector<Prebuilt> read_prebuilt() {
  std::vector<Prebuilt> out;
  const auto parsed = json::parse(prebuilt_json());
  assert(parsed.ok());
  for (const json::Value& entry : parsed.value().as_array()) {
    const auto text = [&](std::string_view member) { return std::string(entry.find_string(member).value_or("")); };
    auto edge_template = parse(json::to_compact(*entry.find("template")), text("name"));
    assert(edge_template.ok());
    out.push_back({text("name"), text("model_type"), text("reason"), std::move(edge_template).value()});
  }
  return out;
}

}  // namespace

const std::vector<Prebuilt>& prebuilt() {
  static const std::vector<Prebuilt> kPrebuilt = read_prebuilt();
  return kPrebuilt;
}

const Prebuilt* find_prebuilt(std::string_view model_type) {
  const auto found = std::ranges::find(prebuilt(), model_type, &Prebuilt::model_type);
  return found == prebuilt().end() ? nullptr : &*found;
}

}  // namespace rondo::edge
