#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/io.h"
#include "cli/request.h"

namespace rondo::cli {
namespace {

Result<json::Value> make_request(const GrammarArguments& arguments) {
  json::Object request{{"op", "grammar"}};
  add_model(request, arguments.model);
  if (Status status = add_conversation(request, arguments.conversation); !status.ok()) return status.error();
  if (Status status = add_json(request, "corrections", arguments.corrections, "--correct"); !status.ok())
    return status.error();
  request.set("format", arguments.format);
  if (Status status = add_asked(request, arguments.asked); !status.ok()) return status.error();
  if (Status status = check_required(request, arguments.asked); !status.ok()) return status.error();
  return json::Value(std::move(request));
}

// Prints what is not part of the grammar's text.
void tell(const json::Value& reply) {
  if (reply.find_string("grammar") == "") note("rondo: there is nothing to constrain\n");
  if (reply.find("lazy")->as_bool()) {
    for (const json::Value& trigger : reply.find("triggers")->as_array()) {
      if (const auto text = trigger.find_string("value"))
        note("rondo: applies from the " + text_of(trigger, "type") + " " + std::string(*text) + " on\n");
    }
  }
  for (const json::Value& warning : reply.find("warnings")->as_array())
    note("rondo: warning: " + warning.as_string() + "\n");
}

}  // namespace

int run_grammar(const GrammarArguments& arguments) {
  auto request = make_request(arguments);
  if (!request.ok()) return report(request.error());
  const protocol::Service service(service_options());
  auto reply = run_with_vocabulary(service, request.value(), arguments.model);
  if (!reply.ok()) return report(reply.error());
  if (arguments.json) return print_json(reply.value());
  if (arguments.llama_server) return print_json(*reply.value().find("llama_server"));
  tell(reply.value());
  return print(reply.value().find_string("grammar").value_or("")) ? kSuccess : kFailure;
}

}  // namespace rondo::cli
