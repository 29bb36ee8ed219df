#include <unistd.h>

#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/io.h"
#include "cli/paint.h"
#include "cli/request.h"
#include "json/print.h"

namespace rondo::cli {
namespace {

// Whether standard input is shown as it arrives.
bool is_stream(const ParseArguments& arguments) {
  return arguments.file == "-" && (arguments.stream || (!arguments.json && isatty(STDOUT_FILENO) != 0));
}

Result<json::Value> make_request(const ParseArguments& arguments) {
  json::Object request{{"op", "parse"}};
  add_model(request, arguments.model);
  if (Status status = add_conversation(request, arguments.conversation); !status.ok()) return status.error();
  if (!arguments.ids.empty()) {
    auto ids = ids_argument(arguments.ids, "--ids");
    if (!ids.ok()) return ids.error();
    request.set("ids", std::move(ids).value());
  } else if (arguments.file.empty()) {
    request.set("text", arguments.text);
  } else if (!is_stream(arguments)) {
    auto text = read_input(arguments.file);
    if (!text.ok()) return text.error();
    request.set("text", std::move(text).value());
  }
  if (Status status = add_json(request, "corrections", arguments.corrections, "--correct"); !status.ok())
    return status.error();
  if (Status status = add_asked(request, arguments.asked); !status.ok()) return status.error();
  request.set("reasoning", arguments.reasoning);
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
  return printable(out, true);
}

// Shows deltas for readers: a label whenever the kind of text changes, then the text as it arrives.
class Printer {
 public:
  void add(const json::Value& deltas) {
    std::string out;
    for (const json::Value& delta : deltas.as_array()) {
      if (const auto text = delta.find_string("reasoning_content")) out += piece("reasoning: ", *text);
      if (const auto text = delta.find_string("content")) out += piece("content:   ", *text);
      const json::Value* call = delta.find("tool_call");
      if (call == nullptr) continue;
      if (const auto name = call->find_string("name")) {
        label_.clear();
        out += piece("tool call: ", std::string(*name) + " ");
      }
      if (const auto text = call->find_string("arguments")) out += piece("tool call: ", *text);
    }
    (void)print(out);
  }

  // What only the whole message shows.
  [[nodiscard]] std::string end(const json::Value& message) const {
    std::string out = is_line_open_ ? "\n" : "";
    for (const json::Value& call : message.find("tool_calls")->as_array()) {
      if (const auto status = call.find_string("status"))
        out += "(the call of " + printable_text(call, "name") + ": " + std::string(*status) + ")\n";
    }
    if (!message.find("complete")->as_bool()) out += "(the message is not complete)\n";
    return out;
  }

 private:
  std::string piece(const std::string& label, std::string_view text) {
    std::string out;
    if (label != label_ && is_line_open_) out += '\n';
    if (label != label_) out += label;
    label_ = label;
    is_line_open_ = true;
    return out + printable(text, true);
  }

  std::string label_;
  bool is_line_open_ = false;
};

int run_stream(const ParseArguments& arguments, const json::Value& request) {
  if (Status status = begin_input(); !status.ok()) return report(status.error());
  Printer printer;
  protocol::TextStream stream;
  std::optional<Error> failure;
  stream.next = [&failure]() -> std::optional<std::string> {
    auto piece = read_piece();
    if (piece.ok()) return std::move(piece).value();
    failure = piece.error();
    return std::nullopt;
  };
  stream.on_deltas = [&](const json::Value& deltas) {
    if (arguments.json) {
      (void)print(json::to_compact(json::Object{{"deltas", deltas}}) + "\n");
    } else {
      printer.add(deltas);
    }
  };
  const protocol::Service service(service_options());
  auto reply = run_with_vocabulary(service, request, arguments.model, {.stream = &stream});
  if (!reply.ok()) return report(reply.error());
  if (failure) return report(*failure);
  const std::string last = arguments.json ? json::to_compact(json::Object{{"message", std::move(reply).value()}}) + "\n"
                                          : printer.end(reply.value());
  return print(last) ? kSuccess : kFailure;
}

}  // namespace

int run_parse(const ParseArguments& given) {
  ParseArguments arguments = given;
  if (!arguments.ids.empty() && arguments.model.tokenizer.empty()) arguments.model.tokenizer = arguments.model.model;
  auto request = make_request(arguments);
  if (!request.ok()) return report(request.error());
  if (is_stream(arguments)) return run_stream(arguments, request.value());
  const protocol::Service service(service_options());
  auto reply = run_with_vocabulary(service, request.value(), arguments.model);
  if (!reply.ok()) return report(reply.error());
  if (arguments.json) return print_json(reply.value());
  return print(for_people(reply.value())) ? kSuccess : kFailure;
}

}  // namespace rondo::cli
