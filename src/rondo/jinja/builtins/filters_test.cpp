// Filters: each one that the reference has is compared with its recorded answers.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "base/files.h"
#include "jinja/builtins/filters_lazy.h"
#include "jinja/builtins/filters_number.h"
#include "jinja/builtins/filters_sequence.h"
#include "jinja/builtins/filters_text.h"
#include "jinja/builtins/filters_web.h"
#include "jinja/builtins/json_filters.h"

namespace rondo::jinja {
namespace {

TEST_CASE("filters: each filter of the reference has a row") {
  const auto file = files::read(RONDO_SOURCE_DIR "/src/rondo/jinja/testdata/expressions.txt");
  REQUIRE(file.ok());
  const auto is_used = [&file](std::string_view name) {
    const std::string word(name);
    return std::ranges::any_of(std::array{"|" + word, "| " + word, "'" + word + "'"},
                               [&file](const std::string& use) { return file.value().find(use) != std::string::npos; });
  };
  for (const auto& table :
       {text_filters(), sequence_filters(), lazy_filters(), json_filters(), number_filters(), web_filters()}) {
    for (const Filter& filter : table) CHECK_MESSAGE((filter.lenient_only || is_used(filter.name)), filter.name);
  }
}

}  // namespace
}  // namespace rondo::jinja
