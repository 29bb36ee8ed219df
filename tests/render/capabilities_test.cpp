// What templates can carry, against a table that was checked by hand.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>

#include "base/files.h"
#include "core/model.h"
#include "tests/support/corpus.h"

namespace rondo {
namespace {

// "NAME: WORD WORD ...", what it supports, or the error.
std::string row_of(const std::string& name, const std::string& path) {
  core::Source source;
  source.path = path;
  const auto model = core::Model::load(source);
  if (!model.ok()) return name + ": error " + model.error().message;
  const auto found = model.value()->capabilities({});
  if (!found.ok()) return name + ": error " + found.error().message;
  std::string out = name + ":";
  for (const analysis::Capability& capability : found.value().all) {
    if (capability.is_supported) out += " " + capability.name;
  }
  return out;
}

// Of the templates that stand in golden/capabilities.txt; RONDO_UPDATE=1 rewrites their rows, the names are chosen by hand.
TEST_CASE("what chosen templates can carry is what it was") {
  const auto corpus = test::Corpus::open();
  if (!corpus) return;
  const std::string path = RONDO_SOURCE_DIR "/tests/golden/capabilities.txt";
  std::istringstream golden(files::read(path).value());
  std::string now;
  int compared = 0;
  for (std::string line; std::getline(golden, line);) {
    const std::string name = line.substr(0, line.find(':'));
    const auto found = std::ranges::find_if(
        corpus->rows(), [&](const test::CorpusRow& row) { return row.template_path.ends_with("/" + name); });
    const bool is_here = found != corpus->rows().end();  // the larger corpus lacks the invented templates
    const std::string row = is_here ? row_of(name, found->template_path) : line;
    if (is_here) ++compared;
    CHECK(row == line);
    now += row + "\n";
  }
  CHECK(compared >= 60);
  if (std::getenv("RONDO_UPDATE") != nullptr) REQUIRE(files::write(path, now).ok());
}

}  // namespace
}  // namespace rondo
