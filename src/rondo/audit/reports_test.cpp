// The whole reports of invented templates, good and faulty ones, as golden/audit/reports.txt has them.  RONDO_UPDATE=1 writes the
// file anew.
#include <doctest/doctest.h>

#include <string>

#include "base/digest.h"
#include "tests/support/golden.h"
#include "tests/support/report_text.h"

namespace rondo::audit {
namespace {

TEST_CASE("the reports of invented templates are those of the golden file") {
  std::string out;
  for (const auto& [name, source] : test::templates_in("audit")) out += test::report_text(name, source);
  test::check_golden("audit/reports.txt", out);
}

// To read one of them, copy its template to golden/audit.
TEST_CASE("the reports of the templates in golden/format have the digests of the golden file") {
  std::string out;
  for (const auto& [name, source] : test::templates_in("format/invented"))
    out += hex_digest({test::report_text(name, source)}) + " " + name + "\n";
  test::check_golden("audit/digests.txt", out);
}

}  // namespace
}  // namespace rondo::audit
