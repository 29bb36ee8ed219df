#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/io.h"
#include "cli/paint.h"
#include "cli/request.h"
#include "cli/tokens.h"
#include "pages/token_page.h"

namespace rondo::cli {
namespace {

Result<json::Value> make_request(const EncodeArguments& arguments) {
  json::Object request{{"op", "encode"}};
  add_model(request, arguments.model);
  ConversationArguments conversation = arguments.conversation;
  if (conversation.messages.empty() && conversation.texts.empty()) conversation.messages = std::string("-");
  if (Status status = add_conversation(request, conversation); !status.ok()) return status.error();
  request.set("content_specials", arguments.parse_content ? "parse" : "text");
  if (arguments.no_inline_reasoning) request.set("inline_reasoning", false);
  request.set("raw_turns", arguments.raw_turns);
  if (!arguments.retention.empty()) request.set("retention", arguments.retention);
  return json::Value(std::move(request));
}

}  // namespace

int run_encode(const EncodeArguments& arguments) {
  EncodeArguments filled = arguments;
  if (filled.model.tokenizer.empty()) filled.model.tokenizer = filled.model.model;
  auto request = make_request(filled);
  if (!request.ok()) return report(request.error());
  const protocol::Service service(service_options());
  const TokenView& view = arguments.view;
  const bool shows_ids_only = view.ids || view.count;
  auto reply = service.run(request.value(), {.refuse_unknown_roles = true, .trace = !shows_ids_only});
  if (!reply.ok()) return report(reply.error());
  const std::string text(reply.value().find_string("text").value_or(""));
  if (view.html) return put_page(pages::token_page(reply.value(), text), view.html_file);
  if (view.json) return print_json(reply.value());
  std::string out;
  if (view.count) {
    out = std::to_string(reply.value().find("ids")->as_array().size()) + "\n";
  } else if (view.ids) {
    out = ids_line(reply.value());
  } else {
    out = shown_tokens(reply.value(), text, view) + printable(note_lines(reply.value()), true);
  }
  return print(out) ? kSuccess : kFailure;
}

}  // namespace rondo::cli
