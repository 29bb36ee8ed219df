#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/io.h"

namespace rondo::cli {
namespace {

// A file is the source itself.  In a folder or GGUF the service finds the template.
Result<json::Value> make_request(const JinjaArguments& arguments) {
  json::Object request{{"op", "jinja"}};
  if (arguments.has_text) {
    request.set("template", arguments.text);
  } else if (arguments.file == "-") {
    auto source = read_input("-");
    if (!source.ok()) return source.error();
    request.set("template", std::move(source).value());
  } else {
    request.set("template_file", arguments.file);
  }
  if (!arguments.context.empty()) {
    auto context = json_argument(arguments.context, "--context");
    if (!context.ok()) return context.error();
    request.set("context", std::move(context).value());
  }
  request.set("trim_blocks", !arguments.no_trim_blocks);
  request.set("lstrip_blocks", !arguments.no_lstrip_blocks);
  request.set("keep_trailing_newline", arguments.keep_trailing_newline);
  request.set("mode", arguments.mode);
  if (!arguments.now.empty()) request.set("now", arguments.now);
  return json::Value(std::move(request));
}

}  // namespace

int run_jinja(const JinjaArguments& arguments) {
  auto request = make_request(arguments);
  if (!request.ok()) return report(request.error());
  const protocol::Service service(service_options());
  auto reply = service.run(request.value());
  if (!reply.ok()) {
    Error error = reply.error();
    if (error.source == "template") error.source = arguments.has_text ? "--text" : "standard input";
    return report(error);
  }
  if (arguments.json) return print_json(reply.value());
  return print(reply.value().find_string("text").value_or("")) ? kSuccess : kFailure;
}

}  // namespace rondo::cli
