// The whole reports of edited templates have the digests of golden/audit/edited.txt.  To read a report, copy the edited template
// to golden/audit.
#include <doctest/doctest.h>

#include <map>
#include <string>

#include "tests/support/report_text.h"
#include "tests/support/varied_template.h"

namespace rondo {
namespace {

TEST_CASE("the reports of edited templates have the digests of the golden file") {
  std::map<std::string, std::string> sources = test::templates_in("audit");
  sources.merge(test::templates_in("format/invented"));
  test::check_edited("audit/edited.txt", sources,
                     [](const test::EditedTemplate& edited) { return test::report_text(edited.name, edited.source); });
}

}  // namespace
}  // namespace rondo
