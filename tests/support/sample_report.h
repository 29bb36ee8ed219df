// Reports of a check for tests of what is written about them.
#pragma once

#include <string>

#include "report/report.h"

namespace rondo::test {

// Characters that HTML, XML or JSON cannot have as they are, and bytes that are no text.
inline const std::string kHostile =
    "<b>&\"'</script><!-- ]]> \x01\x1B[31m\x7F\r\n\t \xE2\x80\xAE \xEF\xBF\xBE \xFF\xC3( \xED\xA0\x80 end";

// A report with every member set: a template of four lines, of which two are to blame; cases that hold, break, break under
// any template and were skipped.  `text` stands wherever a template, a message or a tokenizer may put text.
[[nodiscard]] report::Report sample_report(const std::string& text);

}  // namespace rondo::test
