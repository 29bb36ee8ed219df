// rondo diff: where the prompts of two requests differ, why, and what that costs.
#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/io.h"
#include "cli/paint.h"
#include "cli/request.h"

namespace rondo::cli {
namespace {

constexpr int kBreaks = 3;  // exit status

std::string number_text(const json::Value& value, std::string_view field) {
  const json::Value* found = value.find(field);
  return found == nullptr ? "0" : found->number();
}

std::string for_people(const json::Value& reply, const Paint& paint) {
  std::string out = "first prompt   " + number_text(reply, "before_tokens") + " tokens";
  if (number_text(reply, "answer_tokens") != "0")
    out += ", and " + number_text(reply, "answer_tokens") + " of its answer";
  out += "\nsecond prompt  " + number_text(reply, "after_tokens") + " tokens, of which " +
         paint("1", number_text(reply, "common_tokens")) + " are shared and " +
         paint("1", number_text(reply, "recomputed_tokens")) + " are computed\n";
  const bool breaks = reply.find("breaks")->as_bool();
  if (!breaks) {
    out += paint("32", "the second begins with all of the first") + "\n";
  } else {
    const json::Value& cause = *reply.find("cause");
    out += "\n" + paint("31", printable_text(cause, "name")) + ": " + printable_text(cause, "sentence") + "\n";
    if (const json::Value* line = cause.find("template_line")) out += "  template line " + line->number() + "\n";
    out +=
        "  at " + printable_text(reply, "place") + ", behind " + paint("2", printable_text(reply, "shared_end")) + "\n";
    out += "  was  " + paint("31", printable_text(reply, "before_text")) + "\n";
    out += "  is   " + paint("32", printable_text(reply, "after_text")) + "\n";
  }
  const json::Array& changes = reply.find("changes")->as_array();
  if (!changes.empty()) out += "\n" + paint("1", "what the client changed") + "\n";
  for (const json::Value& change : changes) {
    out += "  " + printable_text(change, "kind") + " at " + printable_text(change, "path") + ": " +
           printable_text(change, "sentence");
    if (!printable_text(change, "before").empty() || !printable_text(change, "after").empty())
      out += ": `" + printable_text(change, "before") + "` -> `" + printable_text(change, "after") + "`";
    out += '\n';
  }
  return out;
}

}  // namespace

int run_diff(const DiffArguments& arguments) {
  json::Object request{{"op", "diff"}};
  ModelArguments model = arguments.model;
  if (model.tokenizer.empty()) model.tokenizer = model.model;
  add_model(request, model);
  if (Status status = add_kwargs(request, arguments.kwargs); !status.ok()) return report(status.error());
  for (const auto& [field, given] : {std::pair{"before", &arguments.before}, std::pair{"after", &arguments.after}}) {
    auto body = json_argument(*given, std::string("the request ") + (given == &arguments.before ? "A" : "B"));
    if (!body.ok()) return report(body.error());
    request.set(field, std::move(body).value());
  }
  const protocol::Service service(service_options());
  auto reply = service.run(request);
  if (!reply.ok()) return report(reply.error());
  const bool is_printed = arguments.json ? print_json(reply.value()) == kSuccess
                                         : print(for_people(reply.value(), paint_for(arguments.color)));
  if (!is_printed) return kFailure;
  return reply.value().find("breaks")->as_bool() ? kBreaks : kSuccess;
}

}  // namespace rondo::cli
