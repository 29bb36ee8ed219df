// Prints the results of the edge commands.
#include <string>
#include <utility>

#include "base/files.h"
#include "cli/edge_commands.h"
#include "cli/io.h"
#include "cli/paint.h"
#include "cli/request.h"
#include "json/print.h"
#include "model/model_files.h"

namespace rondo::cli {
namespace {

Result<json::Value> run(json::Object request) {
  const protocol::Service service(service_options());
  return service.run(std::move(request));
}

// The file itself, or the one in a folder.
std::string edge_file(const std::string& path) {
  return files::is_folder(path) ? files::join(path, model::kEdgeTemplateFile) : path;
}

// Puts the template of the command into a request: a file, or the text on standard input.
Status add_edge(json::Object& request, const std::string& path) {
  if (path != "-") {
    request.set("file", edge_file(path));
    return Done{};
  }
  auto text = read_input(path);
  if (!text.ok()) return text.error();
  request.set("text", std::move(text).value());
  return Done{};
}

// The verdict for readers.
std::string verdict_of(const json::Value& reply) {
  std::string out = reply.is_true("lossless") ? "lossless" : "not lossless";
  const std::string kind = text_of(reply, "sentence");
  out += kind.empty() ? "\n" : "; the same for " + kind + "\n";
  if (const json::Value* prebuilt = reply.find("prebuilt"))
    out += "  made in advance (" + text_of(*prebuilt, "name") + "): " + text_of(*prebuilt, "reason") + "\n";
  if (const std::string variable = text_of(reply, "thinking_variable"); !variable.empty())
    out += "  enable_thinking is the template's `" + variable + "`, and false where nobody sets it\n";
  for (const json::Value& sentence : reply.find("loses")->as_array())
    out += "  loses " + printable(sentence.as_string(), false) + "\n";
  return out;
}

Result<json::Object> export_request(const EdgeArguments& arguments) {
  json::Object request{{"op", "edge_export"}};
  add_model(request, arguments.model);
  if (Status status = add_kwargs(request, arguments.kwargs); !status.ok()) return status.error();
  // If something is given in place of the model, it is wanted as it is.
  if (arguments.no_prebuilt || !arguments.model.chat_template.empty()) request.set("prebuilt", false);
  const std::string& path = arguments.model_path.empty() ? arguments.model.model : arguments.model_path;
  if (!path.empty()) request.set("model_path", path);
  return request;
}

// Prints `text`, or writes it to --output.  A name that ends with a slash is that of a folder, which is made.
int put(const EdgeArguments& arguments, const std::string& text) {
  if (arguments.output.ends_with('/')) {
    if (Status made = files::make_folder(arguments.output); !made.ok()) return report(made.error());
  }
  return write_text(text, edge_file(arguments.output));
}

std::string finding_line(const json::Value& finding) {
  std::string place;
  if (const json::Value* line = finding.find("line"))
    place = line->number() + ":" + finding.find("column")->number() + ": ";
  return place + text_of(finding, "level") + ": " + printable(text_of(finding, "message"), false) + "\n";
}

void note_warnings(const json::Value& object, std::string_view field) {
  const json::Value* found = object.find(field);
  if (found == nullptr) return;
  for (const json::Value& sentence : found->as_array()) note(sentence.as_string() + "\n");
}

}  // namespace

int run_edge_export(const EdgeArguments& arguments) {
  if (arguments.json && arguments.output == "-") return refuse(both_on_output());
  auto request = export_request(arguments);
  if (!request.ok()) return report(request.error());
  auto reply = run(std::move(request).value());
  if (!reply.ok()) return report(reply.error());
  const std::string text = json::to_pretty(*reply.value().find("template")) + "\n";
  if (arguments.json) {
    if (!arguments.output.empty() && put(arguments, text) != kSuccess) return kFailure;
    return print_json(reply.value());
  }
  note(verdict_of(reply.value()));
  return put(arguments, text);
}

int run_edge_import(const EdgeArguments& arguments) {
  if (arguments.json && arguments.output == "-") return refuse(both_on_output());
  json::Object request{{"op", "edge_import"}};
  if (Status status = add_edge(request, arguments.file); !status.ok()) return report(status.error());
  auto reply = run(std::move(request));
  if (!reply.ok()) return report(reply.error());
  const std::string text = text_of(reply.value(), "template");
  if (!arguments.json) return put(arguments, text);
  if (!arguments.output.empty() && put(arguments, text) != kSuccess) return kFailure;
  return print_json(reply.value());
}

int run_edge_validate(const EdgeArguments& arguments) {
  json::Object request{{"op", "edge_validate"}};
  if (Status status = add_edge(request, arguments.file); !status.ok()) return report(status.error());
  auto reply = run(std::move(request));
  if (!reply.ok()) return report(reply.error());
  const int status = reply.value().is_true("valid") ? kSuccess : kFailure;
  if (arguments.json) return print_json(reply.value()) == kSuccess ? status : kFailure;
  const std::string file = arguments.file == "-" ? "standard input" : printable(arguments.file, false);
  std::string out;
  for (const json::Value& finding : reply.value().find("findings")->as_array())
    out += file + ":" + finding_line(finding);
  out += file + (status == kSuccess ? ": valid\n" : ": not valid\n");
  return print(out) ? status : kFailure;
}

int run_edge_format(const EdgeArguments& arguments) {
  json::Object request{{"op", "edge_format"}};
  if (Status status = add_edge(request, arguments.file); !status.ok()) return report(status.error());
  if (Status status = add_json(request, "requests", arguments.requests, "REQUESTS"); !status.ok())
    return report(status.error());
  auto reply = run(std::move(request));
  if (!reply.ok()) return report(reply.error());
  const json::Value& results = *reply.value().find("results");
  note_warnings(reply.value(), "remarks");
  if (arguments.json) return print_json(results);
  std::string out;
  for (const json::Value& result : results.as_array()) {
    note_warnings(result, "warnings");
    if (results.as_array().size() > 1) {
      if (!out.empty() && !out.ends_with('\n')) out += '\n';
      out += "=== request " + std::to_string(&result - results.as_array().data()) + "\n";
    }
    out += text_of(result, "complete");
  }
  return print(out) ? kSuccess : kFailure;
}

}  // namespace rondo::cli
