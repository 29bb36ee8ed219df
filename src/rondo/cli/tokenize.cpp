#include <algorithm>
#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/io.h"
#include "json/print.h"

namespace rondo::cli {
namespace {

std::string token_line(const json::Value& id, const json::Value& range, const std::string& text) {
  const auto begin = static_cast<std::size_t>(range.as_array()[0].to_int64().value_or(0));
  const auto end = static_cast<std::size_t>(range.as_array()[1].to_int64().value_or(0));
  std::string number = id.number();
  number.resize(std::max<std::size_t>(number.size(), 8), ' ');
  return number + " " + json::to_compact(text.substr(begin, end - begin)) + "\n";
}

std::string ids_line(const json::Array& ids) {
  std::string line;
  for (const json::Value& id : ids) line += (line.empty() ? "" : " ") + id.number();
  return line + "\n";
}

}  // namespace

int run_tokenize(const TokenizeArguments& arguments) {
  std::string text = arguments.text;
  if (!arguments.has_text) {
    auto content = read_input(arguments.file.empty() ? "-" : arguments.file);
    if (!content.ok()) return report(content.error());
    text = std::move(content).value();
  }
  json::Object request{{"op", "tokenize"}, {"tokenizer", arguments.tokenizer}, {"text", text}, {"offsets", true}};
  request.set("parse_special", !arguments.no_special);
  request.set("add_special", arguments.add_special);
  const api::Service service(service_options());
  auto reply = service.run(request);
  if (!reply.ok()) return report(reply.error());
  if (arguments.json) return print_json(reply.value());
  const json::Array& ids = reply.value().find("ids")->as_array();
  if (arguments.ids) return print(ids_line(ids)) ? kSuccess : kFailure;
  const json::Array& offsets = reply.value().find("offsets")->as_array();
  std::string table;
  for (std::size_t i = 0; i < ids.size(); ++i) table += token_line(ids[i], offsets[i], text);
  return print(table) ? kSuccess : kFailure;
}

int run_detokenize(const DetokenizeArguments& arguments) {
  auto ids = json_argument(arguments.ids, "--ids");
  if (!ids.ok()) return report(ids.error());
  json::Object request{{"op", "detokenize"}, {"tokenizer", arguments.tokenizer}, {"ids", std::move(ids).value()}};
  request.set("skip_special", arguments.skip_special);
  const api::Service service(service_options());
  auto reply = service.run(request);
  if (!reply.ok()) return report(reply.error());
  if (arguments.json) return print_json(reply.value());
  return print(reply.value().find_string("text").value_or("")) ? kSuccess : kFailure;
}

}  // namespace rondo::cli
