// rondo batch: one request per line in, one reply per line out, in the same order (docs/batch.md).
#include "cli/commands.h"
#include "cli/io.h"
#include "cli/lines.h"

namespace rondo::cli {

int run_batch(const BatchArguments& arguments) {
  const protocol::Service service(service_options());
  const Status status =
      answer_lines({}, arguments.threads, [&](const Line& line) { return service.handle_line(line.text); });
  return status.ok() ? kSuccess : report(status.error());
}

}  // namespace rondo::cli
