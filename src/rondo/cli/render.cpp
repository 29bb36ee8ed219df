#include <algorithm>
#include <string>

#include "cli/commands.h"
#include "cli/io.h"
#include "cli/request.h"
#include "json/print.h"

namespace rondo::cli {
namespace {

// "   12..40   message   messages[0].content   "Hello"": one line per part of the prompt.
std::string span_line(const json::Value& span, const std::string& text) {
  const auto begin = static_cast<std::size_t>(span.find("start")->to_int64().value_or(0));
  const auto end = static_cast<std::size_t>(span.find("end")->to_int64().value_or(0));
  std::string place(span.find_string("from").value_or(""));
  if (const auto path = span.find_string("path")) place = std::string(*path);
  if (const json::Value* line = span.find("line")) place += " line " + line->number();
  std::string range = std::to_string(begin) + ".." + std::to_string(end);
  range.resize(std::max<std::size_t>(range.size(), 12), ' ');
  place.resize(std::max<std::size_t>(place.size(), 28), ' ');
  return range + " " + place + " " + json::to_compact(text.substr(begin, end - begin)) + "\n";
}

Result<json::Value> make_request(const RenderArguments& arguments) {
  json::Object request{{"op", "render"}};
  if (Status status = add_model(request, arguments.model); !status.ok()) return status.error();
  ConversationArguments conversation = arguments.conversation;
  if (conversation.messages.empty() && conversation.texts.empty()) conversation.messages = "-";
  if (Status status = add_conversation(request, conversation); !status.ok()) return status.error();
  if (arguments.spans) request.set("spans", true);
  return json::Value(std::move(request));
}

}  // namespace

int run_render(const RenderArguments& arguments) {
  auto request = make_request(arguments);
  if (!request.ok()) return report(request.error());
  const api::Service service(service_options());
  auto reply = service.run(request.value(), {.refuse_unknown_roles = true});
  if (!reply.ok()) return report(reply.error());
  if (arguments.json) return print_json(reply.value());
  const std::string text(reply.value().find_string("text").value_or(""));
  if (!arguments.spans) return print(text) ? kSuccess : kFailure;
  std::string table;
  for (const json::Value& span : reply.value().find("spans")->as_array()) table += span_line(span, text);
  return print(table) ? kSuccess : kFailure;
}

}  // namespace rondo::cli
