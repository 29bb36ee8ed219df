// rondo test: runs the tests of a template and prints a line for each, with the differences of those that fail.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/io.h"
#include "cli/paint.h"
#include "cli/request.h"
#include "json/print.h"

namespace rondo::cli {
namespace {

bool names_suite(const std::string& item) {
  return item == "-" || item.ends_with(".yaml") || item.ends_with(".yml") || item.ends_with(".json");
}

// Takes the model from the positional arguments.
void put_model_in_place(TestArguments& arguments) {
  std::vector<std::string>& items = arguments.items;
  if (!arguments.model.model.empty() || items.size() < 2 || names_suite(items.front())) return;
  arguments.model.model = std::move(items.front());
  items.erase(items.begin());
}

// Refuses a model's folder in the place of a file with tests.
Status check_suite(const std::string& suite) {
  if (!files::is_folder(suite)) return Done{};
  return Error(ErrorCode::kInvalidArgument,
               "is a folder, and SUITE is a file with tests: rondo test " + suite + " SUITE.yaml (docs/tester.md)",
               suite);
}

Result<json::Value> make_request(const TestArguments& arguments, const std::string& suite) {
  if (Status status = check_suite(suite); !status.ok()) return status.error();
  auto text = read_input(suite);
  if (!text.ok()) return text.error();
  json::Object request{{"op", "test"}, {"suite", std::move(text).value()}, {"source", suite}};
  const auto add = [&request](std::string_view field, const std::string& value) {
    if (!value.empty()) request.set(field, value);
  };
  add("model", arguments.model.model);
  add("template_file", arguments.model.chat_template);
  add("tokenizer", arguments.model.tokenizer);
  add("mode", arguments.model.mode);
  add("now", arguments.model.now);
  if (arguments.model.polyfill != "off") add("polyfill", arguments.model.polyfill);
  add("filter", arguments.filter);
  return json::Value(std::move(request));
}

std::string line_of(const json::Value& object) {
  const json::Value* line = object.find("line");
  return line == nullptr ? "" : ":" + line->number();
}

std::string shown_line(const json::Value& line, const Paint& paint) {
  const std::string kind = text_of(line, "kind");
  const std::string text = text_of(line, "text");
  if (kind == "expected") return paint("31", "- " + text);
  if (kind == "got") return paint("32", "+ " + text);
  if (kind == "place") return "  " + paint("36", text);
  return kind == "same" ? paint(kFaint, "  " + text) : paint(kFaint, text);
}

std::string failure_text(const json::Value& failure, const std::string& source, const Paint& paint) {
  std::string out = "    " + paint("1", text_of(failure, "check")) + ": " + printable_text(failure, "message");
  const std::string line = line_of(failure);
  out += (line.empty() ? "" : paint(kFaint, "  " + source + line)) + "\n";
  for (const json::Value& shown : failure.find("shown")->as_array()) out += "      " + shown_line(shown, paint) + "\n";
  return out;
}

std::string case_text(const json::Value& result, const std::string& source, const Paint& paint) {
  const bool passed = result.is_true("passed");
  std::string checks;
  for (const json::Value& check : result.find("checks")->as_array())
    checks += (checks.empty() ? "" : ", ") + check.as_string();
  std::string out = "  " + paint(passed ? "32" : "1;31", passed ? "ok    " : "FAILED") + " " +
                    printable_text(result, "name") + paint(kFaint, "  (" + checks + ")") + "\n";
  for (const json::Value& failure : result.find("failures")->as_array()) out += failure_text(failure, source, paint);
  for (const json::Value& note : result.find("notes")->as_array())
    out += paint(kFaint, "    note: " + printable(note.as_string(), false)) + "\n";
  return out;
}

std::string suite_text(const json::Value& reply, const Paint& paint) {
  const std::string source = printable_text(reply, "source");
  std::string out = paint("1", source) + "\n";
  for (const json::Value& result : reply.find("cases")->as_array()) out += case_text(result, source, paint);
  return out + reply.find("passed")->number() + " passed, " + reply.find("failed")->number() + " failed\n";
}

bool has_run(const json::Value& reply) { return !reply.find("cases")->as_array().empty(); }

bool has_failed(const json::Value& reply) { return reply.find("failed")->to_int64().value_or(0) > 0; }

}  // namespace

int run_test(const TestArguments& given) {
  TestArguments arguments = given;
  put_model_in_place(arguments);
  const protocol::Service service(service_options());
  const Paint paint = paint_for(arguments.color);
  json::Array replies;
  int status = kSuccess;
  for (const std::string& suite : arguments.items) {
    const auto request = make_request(arguments, suite);
    auto reply = request.ok() ? service.run(request.value()) : Result<json::Value>(request.error());
    if (!reply.ok()) {
      status = refuse(reply.error());
      continue;
    }
    if (has_failed(reply.value())) status = std::max(status, kFailure);
    if (!arguments.json && !print(suite_text(reply.value(), paint))) return kFailure;
    replies.push_back(std::move(reply).value());
  }
  if (status == kSuccess && std::ranges::none_of(replies, has_run)) {
    const std::string& filter = arguments.filter;
    return refuse(Error(ErrorCode::kInvalidArgument,
                        filter.empty() ? "there is no case to run" : "no case has a name that holds `" + filter + "`"));
  }
  if (!arguments.json) return status;
  const bool is_single = arguments.items.size() == 1 && replies.size() == 1;
  const int printed = print_json(is_single ? replies.front() : json::Value(json::Object{{"suites", replies}}));
  return printed == kSuccess ? status : printed;
}

}  // namespace rondo::cli
