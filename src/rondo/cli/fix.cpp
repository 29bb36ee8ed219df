// rondo check --fix: mends what can be mended in a template, and shows a diff.
#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "cli/commands.h"
#include "cli/io.h"
#include "cli/paint.h"
#include "cli/request.h"

namespace rondo::cli {
namespace {

// "  reasoning-content / default", one per line.
std::string cases_text(const json::Value& fix, std::string_view field, const std::string& title) {
  const json::Array& cases = fix.find(field)->as_array();
  if (cases.empty()) return "";
  std::string out = title + " (" + std::to_string(cases.size()) + "):\n";
  for (const json::Value& entry : cases)
    out += "  " + printable(text_of(entry, "scenario") + " / " + text_of(entry, "setting"), false) + "\n";
  return out;
}

std::string painted_diff(const std::string& diff, const Paint& paint) {
  std::string out;
  std::size_t begin = 0;
  while (begin < diff.size()) {
    const std::size_t end = std::min(diff.size(), diff.find('\n', begin));
    const std::string line = printable(std::string_view(diff).substr(begin, end - begin), false);
    const char* const code = line.starts_with("@@")  ? "36"
                             : line.starts_with('+') ? "32"
                             : line.starts_with('-') ? "31"
                                                     : "";
    out += (*code == '\0' ? line : paint(code, line)) + "\n";
    begin = end + 1;
  }
  return out;
}

std::string fix_text(const std::string& model, const json::Value& fix, const Paint& paint) {
  const bool was = fix.is_true("was_append_only");
  const json::Array& edits = fix.find("edits")->as_array();
  std::string out = paint("1", printable(model, false)) + ": ";
  const std::string marks = text_of(fix, "marks");
  if (edits.empty()) {
    out += was ? "append-only as it is\n" : printable_text(fix, "refusal") + "\n";
    if (!marks.empty()) out += "  " + marks + "\n\n" + painted_diff(text_of(fix, "diff"), paint) + "\n";
  } else {
    out += std::to_string(edits.size()) + (edits.size() == 1 ? " edit" : " edits") +
           (fix.is_true("is_append_only") ? ", append-only with them\n" : ", and still not append-only\n");
    for (const json::Value& edit : edits) out += "  " + printable(edit.as_string(), false) + "\n";
    if (!marks.empty()) out += "  " + marks + "\n";
    out += "\n" + painted_diff(text_of(fix, "diff"), paint) + "\n";
    out += cases_text(fix, "changed", "cases that broke and hold now");
  }
  out += cases_text(fix, "lost", "cases with a late system message that held, and do not any more");
  out += cases_text(fix, "broken", "cases that still break");
  return out + cases_text(fix, "other_forms", "other spellings and forms of messages that are not kept");
}

protocol::RunOptions counting_edits(const std::string& model) {
  protocol::RunOptions options;
  if (!shows_progress()) return options;
  options.on_progress = [model](std::size_t tried, std::size_t) {
    std::fprintf(stderr, "\r%s: %zu edits tried", printable(elided(model, 40), false).c_str(), tried);
    std::fflush(stderr);
  };
  return options;
}

}  // namespace

int run_fix(const CheckArguments& arguments) {
  if (arguments.models.size() != 1) return refuse(Error(ErrorCode::kInvalidArgument, "--fix takes one model"));
  if (arguments.json && arguments.output == "-") return refuse(both_on_output());
  const std::string& model = arguments.models.front();
  const protocol::Service service(service_options());
  const auto fixed =
      run_audit(service, {{"op", "fix"}, {"marks", arguments.marks}}, arguments, model, counting_edits(model));
  if (shows_progress()) std::fputs(kEraseLine, stderr);
  if (!fixed.ok()) return report(fixed.error());
  const int done = fixed.value().is_true("is_append_only") ? kSuccess : kFailure;
  if (!arguments.output.empty()) {
    const int written = write_text(text_of(fixed.value(), "template"), arguments.output);
    if (written != kSuccess || arguments.output == "-") return std::max(done, written);
  }
  if (arguments.json) return std::max(done, print_json(fixed.value()));
  return print(fix_text(model, fixed.value(), paint_for(arguments.color))) ? done : kFailure;
}

}  // namespace rondo::cli
