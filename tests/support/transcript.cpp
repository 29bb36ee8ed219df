#include "tests/support/transcript.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>

#include "base/files.h"

namespace rondo::testing {

std::string printed(const std::string& program, const std::string& scratch, const std::string& folder,
                    const std::string& command) {
  const std::string script = "cd '" + folder + "' && RONDO_CACHE='" + scratch +
                             "/cache' && export RONDO_CACHE && rondo() { '" + program + "' \"$@\"; } && { " + command +
                             "\n} >'" + scratch + "/out' 2>&1 </dev/null";
  const int status = WEXITSTATUS(std::system(script.c_str()));
  std::string text = files::read(scratch + "/out").value();
  if (!text.empty() && !text.ends_with('\n')) text += "[no line end]\n";
  return status == 0 ? text : text + "[exit status " + std::to_string(status) + "]\n";
}

std::string first_difference(std::string_view wanted, std::string_view found) {
  const auto differs = std::ranges::mismatch(wanted, found);
  const auto at = static_cast<std::size_t>(differs.in1 - wanted.begin());
  const std::size_t command = wanted.substr(0, at).rfind("$ ");
  const auto line_at = [at](std::string_view text) {
    const std::size_t begin = at == 0 ? 0 : text.rfind('\n', at - 1) + 1;
    return std::string(text.substr(begin, std::min(text.find('\n', at), text.size()) - begin));
  };
  const std::size_t command_end = command == std::string_view::npos ? 0 : wanted.find('\n', command);
  return (command == std::string_view::npos ? "" : std::string(wanted.substr(command, command_end - command)) + "\n") +
         "expected: " + line_at(wanted) + "\nfound:    " + line_at(found);
}

}  // namespace rondo::testing
