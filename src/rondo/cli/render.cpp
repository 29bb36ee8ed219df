#include <string>

#include "cli/commands.h"
#include "cli/io.h"
#include "cli/request.h"
#include "cli/tokens.h"
#include "cli/trace.h"
#include "pages/page.h"
#include "pages/token_page.h"

namespace rondo::cli {
namespace {

Result<json::Value> make_request(const RenderArguments& arguments) {
  json::Object request{{"op", arguments.mask ? "encode" : "render"}};
  ModelArguments model = arguments.model;
  if (arguments.mask && model.tokenizer.empty()) model.tokenizer = model.model;
  add_model(request, model);
  ConversationArguments conversation = arguments.conversation;
  if (conversation.messages.empty() && conversation.texts.empty()) conversation.messages = std::string("-");
  if (Status status = add_conversation(request, conversation); !status.ok()) return status.error();
  if (arguments.spans) request.set("spans", true);
  if (arguments.mask) {
    json::Object mask{{"part", arguments.mask->empty() ? "sampled" : *arguments.mask}};
    if (!arguments.roles.empty()) mask.set("roles", json::Array(arguments.roles.begin(), arguments.roles.end()));
    request.set("loss_mask", std::move(mask));
  }
  return json::Value(std::move(request));
}

Status check(const RenderArguments& arguments) {
  if (arguments.mask && (arguments.spans || arguments.trace))
    return Error(ErrorCode::kInvalidArgument, "--mask shows tokens; it goes with neither --spans nor --trace");
  if (arguments.html && (arguments.spans || arguments.trace || arguments.json))
    return Error(ErrorCode::kInvalidArgument,
                 "--html shows everything; it goes with none of --spans, --trace and --json");
  if (arguments.spans && arguments.trace && !arguments.json)
    return Error(ErrorCode::kInvalidArgument,
                 "--spans and --trace each print a table; name one of them, or add --json for both as data");
  return arguments.html ? check_page_file(arguments.html_file) : Done{};
}

int show_mask(const RenderArguments& arguments, const json::Value& request, const Paint& paint) {
  const protocol::Service service(service_options());
  auto reply = service.run(request, {.refuse_unknown_roles = true, .trace = true});
  if (!reply.ok()) return report(reply.error());
  const std::string text(reply.value().find_string("text").value_or(""));
  if (arguments.html) return put_page(pages::token_page(reply.value(), text), arguments.html_file);
  if (arguments.json) return print_json(reply.value());
  return print(shown_mask(reply.value(), text, paint)) ? kSuccess : kFailure;
}

}  // namespace

int run_render(const RenderArguments& arguments) {
  if (Status status = check(arguments); !status.ok()) return refuse(status.error());
  auto request = make_request(arguments);
  if (!request.ok()) return report(request.error());
  const Look look{paint_for(arguments.color), terminal_width()};
  if (arguments.mask) return show_mask(arguments, request.value(), look.paint);
  const bool is_plain = !arguments.spans && !arguments.trace && !arguments.html && !arguments.json;
  const bool is_coloured = is_plain && look.paint.is_on();
  const protocol::Service service(service_options());
  auto reply = service.run(request.value(),
                           {.refuse_unknown_roles = true, .trace = arguments.trace || arguments.html || is_coloured});
  if (!reply.ok()) return report(reply.error());
  if (arguments.html) return put_page(pages::trace_page(reply.value()), arguments.html_file);
  if (arguments.json) return print_json(reply.value());
  const std::string out = arguments.spans   ? spans_table(reply.value(), look)
                          : arguments.trace ? trace_report(reply.value(), look)
                          : is_coloured     ? coloured_prompt(reply.value(), look)
                                            : std::string(reply.value().find_string("text").value_or(""));
  note(note_lines(reply.value()));
  return print(out) ? kSuccess : kFailure;
}

}  // namespace rondo::cli
