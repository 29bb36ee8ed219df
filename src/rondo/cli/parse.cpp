#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/io.h"
#include "cli/request.h"
#include "json/print.h"

namespace rondo::cli {
namespace {

Result<json::Value> make_request(const ParseArguments& arguments) {
  json::Object request{{"op", "parse"}};
  if (Status status = add_model(request, arguments.model); !status.ok()) return status.error();
  if (Status status = add_conversation(request, arguments.conversation); !status.ok()) return status.error();
  if (arguments.file.empty()) {
    request.set("text", arguments.text);
  } else {
    auto text = read_input(arguments.file);
    if (!text.ok()) return text.error();
    request.set("text", std::move(text).value());
  }
  if (Status status = add_json(request, "corrections", arguments.corrections, "--correct"); !status.ok())
    return status.error();
  if (arguments.partial) request.set("partial", true);
  if (arguments.strict) request.set("strict", true);
  return json::Value(std::move(request));
}

std::string call_line(const json::Value& call) {
  std::string line = "tool call: " + std::string(call.find_string("name").value_or("")) + " " +
                     std::string(call.find_string("arguments").value_or(""));
  if (const auto id = call.find_string("id")) line += "  (id " + std::string(*id) + ")";
  if (const auto status = call.find_string("status")) line += "  [" + std::string(*status) + "]";
  return line + "\n";
}

std::string for_people(const json::Value& message) {
  std::string out;
  if (const auto reasoning = message.find_string("reasoning_content"))
    out += "reasoning: " + std::string(*reasoning) + "\n";
  const std::string content(message.find_string("content").value_or(""));
  if (!content.empty()) out += "content:   " + content + "\n";
  for (const json::Value& call : message.find("tool_calls")->as_array()) out += call_line(call);
  if (!message.find("complete")->as_bool()) out += "(the message is not complete)\n";
  return out;
}

}  // namespace

int run_parse(const ParseArguments& arguments) {
  auto request = make_request(arguments);
  if (!request.ok()) return report(request.error());
  const api::Service service(service_options());
  auto reply = run_with_vocabulary(service, request.value(), arguments.model);
  if (!reply.ok()) return report(reply.error());
  if (arguments.json) return print_json(reply.value());
  return print(for_people(reply.value())) ? kSuccess : kFailure;
}

}  // namespace rondo::cli
