// The whole reports of edited templates have the digests of golden/audit/edited.txt.  The file says which templates: in each
// line behind the digest, what test::varied_template() is given.  To read a report, copy the edited template to golden/audit.
// RONDO_UPDATE=1 writes the digests anew; a new line may have any digest.
#include <doctest/doctest.h>

#include <map>
#include <sstream>
#include <string>

#include "base/digest.h"
#include "base/files.h"
#include "tests/support/golden.h"
#include "tests/support/report_text.h"
#include "tests/support/varied_template.h"

namespace rondo {
namespace {

TEST_CASE("the reports of edited templates have the digests of the golden file") {
  std::map<std::string, std::string> sources = test::templates_in("audit");
  sources.merge(test::templates_in("format/invented"));
  const auto golden = files::read(std::string(RONDO_SOURCE_DIR) + "/tests/golden/audit/edited.txt");
  REQUIRE(golden.ok());
  std::string out;
  std::istringstream lines(golden.value());
  std::string digest;
  std::string name;
  std::string other;
  for (std::uint64_t seed = 0; lines >> digest >> name >> other >> seed;) {
    const std::string edited = test::varied_template(sources.at(name), sources.at(other), seed);
    out.append(hex_digest({test::report_text(name, edited)})).append(" ").append(name).append(" ").append(other);
    out.append(" ").append(std::to_string(seed)).append("\n");
  }
  test::check_golden("audit/edited.txt", out);
}

}  // namespace
}  // namespace rondo
