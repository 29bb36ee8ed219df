#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/io.h"
#include "cli/paint.h"
#include "cli/request.h"
#include "cli/tokens.h"
#include "json/print.h"

namespace rondo::cli {
namespace {

Result<json::Value> make_request(const BridgeArguments& arguments) {
  json::Object request{{"op", "bridge"}};
  add_model(request, arguments.model);
  if (Status status = add_conversation(request, arguments.conversation); !status.ok()) return status.error();
  if (Status status = add_json(request, "corrections", arguments.corrections, "--correct"); !status.ok())
    return status.error();
  auto prompt_ids = ids_argument(arguments.prompt_ids, "--prompt-ids");
  if (!prompt_ids.ok()) return prompt_ids.error();
  auto completion_ids = ids_argument(arguments.completion_ids, "--completion-ids");
  if (!completion_ids.ok()) return completion_ids.error();
  auto new_messages = read_messages(arguments.new_messages, "--new-messages");
  if (!new_messages.ok()) return new_messages.error();
  request.set("prompt_ids", std::move(prompt_ids).value());
  request.set("completion_ids", std::move(completion_ids).value());
  request.set("new_messages", std::move(new_messages).value());
  request.set("lossy", !arguments.refuse_lossy);
  if (!arguments.retention.empty()) request.set("retention", arguments.retention);
  if (!arguments.sampled.empty()) {
    auto sampled = json_argument(arguments.sampled, "--sampled");
    if (!sampled.ok()) return sampled.error();
    request.set("sampled", std::move(sampled).value());
  }
  return json::Value(std::move(request));
}

// The appended ids as text, which shows what the bridge wrote.
Result<std::string> appended_text(const protocol::Service& service, const std::string& tokenizer,
                                  const json::Value& reply) {
  const json::Array& ids = reply.find("ids")->as_array();
  const auto appended = static_cast<std::ptrdiff_t>(reply.find("appended")->to_int64().value_or(0));
  json::Object request{{"op", "detokenize"}, {"tokenizer", tokenizer}};
  request.set("ids", json::Array(ids.end() - appended, ids.end()));
  auto text = service.run(request);
  if (!text.ok()) return text.error();
  return std::string(text.value().find_string("text").value_or(""));
}

// "cut [4, 20), reasoning of message 1", one per line.
std::string cut_lines(const json::Value& reply) {
  std::string out;
  const json::Value* cuts = reply.find("cuts");
  if (cuts == nullptr || !cuts->is_array()) return out;
  const auto number = [](const json::Value& cut, const char* field) {
    return std::to_string(cut.find(field)->to_int64().value_or(0));
  };
  for (const json::Value& cut : cuts->as_array()) {
    out += "cut old ids [" + number(cut, "begin") + ", " + number(cut, "end") + "), the reasoning of message " +
           number(cut, "message") + "\n";
  }
  return out;
}

std::string remarks(const json::Value& reply) {
  std::string out = cut_lines(reply) + note_lines(reply);
  const json::Value* findings = reply.find("lossy");
  if (findings == nullptr || !findings->is_array()) return out;
  for (const json::Value& finding : findings->as_array()) {
    const auto what = finding.find_string("what");
    out +=
        "kept although the template would change it: " + (what ? std::string(*what) : json::to_compact(finding)) + "\n";
  }
  return out;
}

}  // namespace

int run_bridge(const BridgeArguments& arguments) {
  BridgeArguments filled = arguments;
  if (filled.model.tokenizer.empty()) filled.model.tokenizer = filled.model.model;
  auto request = make_request(filled);
  if (!request.ok()) return report(request.error());
  const protocol::Service service(service_options());
  auto reply = service.run(request.value());
  if (!reply.ok()) return report(reply.error());
  if (arguments.json) return print_json(reply.value());
  if (arguments.ids) return print(ids_line(reply.value())) ? kSuccess : kFailure;
  auto text = appended_text(service, filled.model.tokenizer, reply.value());
  if (!text.ok()) return report(text.error());
  const std::size_t total = reply.value().find("ids")->as_array().size();
  const auto appended = static_cast<std::size_t>(reply.value().find("appended")->to_int64().value_or(0));
  const std::string out = "kept " + counted(total - appended, "id") + ", appended " + std::to_string(appended) + ": " +
                          printable(json::to_compact(text.value()), false) + "\n" +
                          printable(remarks(reply.value()), true);
  return print(out) ? kSuccess : kFailure;
}

}  // namespace rondo::cli
