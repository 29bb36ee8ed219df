// toml++ reads the syntax, and this turns its values into JSON.
#include "toml/read.h"

#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_UNRELEASED_FEATURES 0
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <sstream>
#include <utility>
#include <vector>

#include "base/utf8.h"

namespace rondo::toml {
namespace {

namespace tomlplusplus = ::toml;

// Makes values from nodes, and keeps the first fault.
class Converter {
 public:
  explicit Converter(std::string_view text) : text_(text), begins_{0} {
    for (std::size_t at = text.find('\n'); at != std::string_view::npos; at = text.find('\n', at + 1))
      begins_.push_back(at + 1);
  }

  json::Value value(const tomlplusplus::node& node, std::size_t begin) {
    json::Value out = bare(node);
    out.set_source({static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(offset(node.source()))});
    return out;
  }

  [[nodiscard]] std::size_t offset(const tomlplusplus::source_region& region) const {
    if (region.begin.line == 0 || region.begin.line > begins_.size()) return 0;
    const std::size_t begin = begins_[region.begin.line - 1];
    return begin + utf8::offset_of(text_.substr(begin), region.begin.column - 1);  // columns count code points
  }

  std::optional<std::pair<std::string, std::size_t>> fault;  // a sentence, and its offset

 private:
  json::Value bare(const tomlplusplus::node& node) {
    if (const auto* table = node.as_table()) {
      json::Object object;
      for (const auto& [key, member] : *table) {
        const std::size_t begin = offset(key.source());
        object.set(key.str(), value(member, begin));
      }
      return object;
    }
    if (const auto* list = node.as_array()) {
      json::Array array;
      for (const auto& element : *list) array.push_back(value(element, offset(element.source())));
      return array;
    }
    if (const auto* text = node.as_string()) return text->get();
    if (const auto* number = node.as_integer()) return number->get();
    if (const auto* flag = node.as_boolean()) return flag->get();
    if (const auto* number = node.as_floating_point()) {
      if (std::isfinite(number->get())) return number->get();
      if (!fault) fault.emplace("a number must be finite", offset(node.source()));
      return nullptr;
    }
    std::ostringstream text;
    if (const auto* date = node.as_date()) text << date->get();
    if (const auto* time = node.as_time()) text << time->get();
    if (const auto* both = node.as_date_time()) text << both->get();
    return text.str();
  }

  std::string_view text_;
  std::vector<std::size_t> begins_;  // of the lines
};

}  // namespace

Result<json::Value> read(std::string_view text, const std::string& source) {
  const auto parsed = tomlplusplus::parse(text);
  Converter converter(text);
  if (!parsed) {
    std::string sentence(parsed.error().description());
    while (sentence.ends_with('.')) sentence.pop_back();
    return at_place(Error(ErrorCode::kInvalidArgument, std::move(sentence), source), text,
                    converter.offset(parsed.error().source()));
  }
  json::Value value = converter.value(parsed.table(), 0);
  if (converter.fault) {
    return at_place(Error(ErrorCode::kInvalidArgument, converter.fault->first, source), text, converter.fault->second);
  }
  return value;
}

Error at_place(Error error, std::string_view text, std::size_t offset) {
  offset = std::min(offset, text.size());
  const std::string_view before = text.substr(0, offset);
  const std::size_t begin = before.rfind('\n') + 1;  // npos + 1 is 0
  const std::string_view line = text.substr(begin, std::min(text.find('\n', begin), text.size()) - begin);
  const auto number = static_cast<int>(std::count(before.begin(), before.end(), '\n')) + 1;
  return std::move(error).at(number, static_cast<int>(offset - begin) + 1, utf8::to_valid(line));
}

}  // namespace rondo::toml
