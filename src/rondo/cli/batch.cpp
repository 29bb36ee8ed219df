// rondo batch: one request per line in, one reply per line out, in the same order (docs/batch.md).
#include "cli/commands.h"
#include "cli/io.h"
#include "cli/lines.h"
#include "json/print.h"
#include "protocol/reply.h"

namespace rondo::cli {

int run_batch(const BatchArguments& arguments) {
  const protocol::Service service(service_options());
  const auto answer = [&](const Line& line) {
    if (!line.is_too_long) return service.handle_line(line.text);
    return json::to_compact(json::Object{{"id", nullptr}, {"error", protocol::error_to_json(too_long())}});
  };
  const Status status = answer_lines({}, arguments.threads, answer);
  return status.ok() ? kSuccess : report(status.error());
}

}  // namespace rondo::cli
