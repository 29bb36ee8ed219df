// The formats of random and invented templates, with the template's place of each of their texts, as golden/format/formats.txt
// has them: fast, so that any change of the analysis is seen as a difference of lines.  RONDO_UPDATE=1 writes the file anew.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include "analysis/capabilities.h"
#include "analysis/explain.h"
#include "analysis/message_rules.h"
#include "base/files.h"
#include "tests/support/golden.h"
#include "tests/support/random_template.h"

namespace rondo {
namespace {

constexpr std::uint64_t kSeeds = 60;

std::string places_of(const analysis::FieldOrigin& origin) {
  std::string out;
  for (const analysis::OriginPiece& piece : origin.pieces)
    out += (out.empty() ? " " : ",") + std::to_string(piece.place.line) + ":" + std::to_string(piece.place.column);
  return origin.field + (out.empty() ? " nowhere" : out);
}

std::string capabilities_of(const jinja::Template& chat_template, const format::Format& format) {
  const analysis::Options options;
  const tmpl::MessageRules rules = analysis::find_message_rules(chat_template, options, format);
  const analysis::Studied studied{chat_template, options, format, rules};
  std::string out;
  for (const analysis::Capability& capability : analysis::find_capabilities(studied, studied).all)
    out += (capability.is_supported ? " " : " no ") + capability.name + ":" + std::to_string(capability.line);
  return out;
}

std::string described(const std::string& name, const std::string& source) {
  const auto chat_template = jinja::Template::compile(source, {}, name);
  REQUIRE_MESSAGE(chat_template.ok(), source);
  const auto explained = analysis::explain(*chat_template.value(), {});
  REQUIRE_MESSAGE(explained.ok(), source);
  const format::Format& format = *explained.value().format;
  std::string out = "### " + name + "\n" + format.to_string() + "places:";
  for (const analysis::FieldOrigin& origin : explained.value().origins) out += "\n  " + places_of(origin);
  return out + "\ncapabilities:" + capabilities_of(*chat_template.value(), format) + "\n";
}

TEST_CASE("the formats of random and invented templates are those of the golden file") {
  std::string out;
  for (std::uint64_t seed = 1; seed <= kSeeds; ++seed)
    out += described("seed " + std::to_string(seed), test::template_text(test::random_shape(seed)));
  std::vector<std::filesystem::path> files;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(RONDO_SOURCE_DIR) + "/tests/golden/format/invented"))
    if (entry.path().extension() == ".jinja") files.push_back(entry.path());
  std::ranges::sort(files);
  for (const std::filesystem::path& file : files) {
    const auto source = files::read(file.string());
    REQUIRE(source.ok());
    out += described(file.filename().string(), source.value());
  }
  test::check_golden("format/formats.txt", out);
}

}  // namespace
}  // namespace rondo
