#include <unistd.h>

#include <string>

#include "api/page.h"
#include "base/files.h"
#include "cli/commands.h"
#include "cli/io.h"
#include "cli/request.h"
#include "cli/trace.h"

namespace rondo::cli {
namespace {

Result<json::Value> make_request(const RenderArguments& arguments) {
  json::Object request{{"op", "render"}};
  if (Status status = add_model(request, arguments.model); !status.ok()) return status.error();
  ConversationArguments conversation = arguments.conversation;
  if (conversation.messages.empty() && conversation.texts.empty()) conversation.messages = std::string("-");
  if (Status status = add_conversation(request, conversation); !status.ok()) return status.error();
  if (arguments.spans) request.set("spans", true);
  return json::Value(std::move(request));
}

Error usage(std::string message) {
  Error error;
  error.code = ErrorCode::kInvalidArgument;
  error.message = std::move(message);
  return error;
}

Status check(const RenderArguments& arguments) {
  if (arguments.html && (arguments.spans || arguments.trace || arguments.json))
    return usage("--html shows everything; it goes with none of --spans, --trace and --json");
  if (arguments.spans && arguments.trace && !arguments.json)
    return usage("--spans and --trace each print a table; name one of them, or add --json for both as data");
  if (arguments.html && (arguments.html_file.empty() || arguments.html_file == "-") && isatty(STDOUT_FILENO) != 0)
    return usage("name a file for the page: --html FILE");
  return Done{};
}

int print_page(const RenderArguments& arguments, const json::Value& reply) {
  const std::string page = api::trace_page(reply);
  if (arguments.html_file.empty() || arguments.html_file == "-") return print(page) ? kSuccess : kFailure;
  if (Status written = files::write(arguments.html_file, page); !written.ok()) return report(written.error());
  return kSuccess;
}

}  // namespace

int run_render(const RenderArguments& arguments) {
  if (Status status = check(arguments); !status.ok()) {
    (void)report(status.error());
    return kUsage;
  }
  auto request = make_request(arguments);
  if (!request.ok()) return report(request.error());
  const Look look{paint_for(arguments.color), terminal_width()};
  const bool is_plain = !arguments.spans && !arguments.trace && !arguments.html && !arguments.json;
  const bool is_coloured = is_plain && look.paint.is_on();
  const api::Service service(service_options());
  auto reply = service.run(request.value(),
                           {.refuse_unknown_roles = true, .trace = arguments.trace || arguments.html || is_coloured});
  if (!reply.ok()) return report(reply.error());
  if (arguments.html) return print_page(arguments, reply.value());
  if (arguments.json) return print_json(reply.value());
  const std::string out = arguments.spans   ? spans_table(reply.value(), look)
                          : arguments.trace ? trace_report(reply.value(), look)
                          : is_coloured     ? coloured_prompt(reply.value(), look)
                                            : std::string(reply.value().find_string("text").value_or(""));
  return print(out) ? kSuccess : kFailure;
}

}  // namespace rondo::cli
