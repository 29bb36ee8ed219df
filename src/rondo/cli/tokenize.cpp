#include <algorithm>
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/commands.h"
#include "cli/io.h"
#include "cli/paint.h"
#include "cli/tokens.h"
#include "json/print.h"
#include "pages/token_page.h"

namespace rondo::cli {
namespace {

// A text and its result.
struct Job {
  std::string name;
  std::string text;
  std::optional<Result<json::Value>> reply;
};

void tokenize(const TokenizeArguments& arguments, const protocol::Service& service, Job& job) {
  if (!job.name.empty()) {
    auto content = read_input(job.name);
    if (!content.ok()) {
      job.reply = content.error();
      return;
    }
    job.text = std::move(content).value();
  }
  const bool shows_ids_only = arguments.view.ids || arguments.view.count;
  json::Object request{{"op", "tokenize"}, {"tokenizer", arguments.tokenizer}, {"text", job.text}};
  request.set("offsets", !shows_ids_only);
  request.set("parse_special", !arguments.no_special);
  request.set("add_special", arguments.add_special);
  job.reply = service.run(request, {.trace = !shows_ids_only && !arguments.view.json});
}

// Each thread takes the next file.
void tokenize_all(const TokenizeArguments& arguments, const protocol::Service& service, std::vector<Job>& jobs) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < jobs.size(); i = next++) tokenize(arguments, service, jobs[i]);
  };
  const std::size_t wanted =
      arguments.threads > 0 ? static_cast<std::size_t>(arguments.threads) : std::thread::hardware_concurrency();
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < std::min(wanted, jobs.size()); ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

std::string counts(const std::vector<Job>& jobs) {
  const auto count = [](const Job& job) { return job.reply->value().find("ids")->as_array().size(); };
  if (jobs.size() == 1) return std::to_string(count(jobs[0])) + "\n";
  std::string out;
  std::size_t total = 0;
  for (const Job& job : jobs) {
    total += count(job);
    out += std::to_string(count(job)) + " " + printable(job.name, false) + "\n";
  }
  return out + std::to_string(total) + " total\n";
}

std::string shown(const TokenizeArguments& arguments, const Job& job, bool is_one_of_many) {
  const json::Value& reply = job.reply->value();
  const TokenView& view = arguments.view;
  if (view.json) {
    json::Object out = reply.as_object();
    if (is_one_of_many) out.set("file", job.name);
    return json::to_compact(out) + "\n";
  }
  if (view.ids) return ids_line(reply);
  const std::string title = is_one_of_many ? paint_for(view.color)("1", printable(job.name, false)) + "\n" : "";
  return title + shown_tokens(reply, job.text, view);
}

}  // namespace

int run_tokenize(const TokenizeArguments& arguments) {
  std::vector<Job> jobs;
  if (arguments.has_text) jobs.push_back({"", arguments.text, std::nullopt});
  for (const std::string& file : arguments.files) jobs.push_back({file, "", std::nullopt});
  if (jobs.empty()) jobs.push_back({"-", "", std::nullopt});
  if (arguments.view.html && jobs.size() > 1) {
    return refuse(Error(ErrorCode::kInvalidArgument, "--html shows one text; name one file"));
  }
  const protocol::Service service(service_options());
  tokenize_all(arguments, service, jobs);
  for (const Job& job : jobs) {
    if (!job.reply->ok()) return report(job.reply->error());
  }
  if (arguments.view.count) return print(counts(jobs)) ? kSuccess : kFailure;
  if (arguments.view.html)
    return put_page(pages::token_page(jobs[0].reply->value(), jobs[0].text), arguments.view.html_file);
  for (const Job& job : jobs) {
    if (!print(shown(arguments, job, jobs.size() > 1))) return kFailure;
  }
  return kSuccess;
}

int run_detokenize(const DetokenizeArguments& arguments) {
  auto ids = ids_argument(arguments.ids, "--ids");
  if (!ids.ok()) return report(ids.error());
  json::Object request{{"op", "detokenize"}, {"tokenizer", arguments.tokenizer}, {"ids", std::move(ids).value()}};
  request.set("skip_special", arguments.skip_special);
  const protocol::Service service(service_options());
  auto reply = service.run(request);
  if (!reply.ok()) return report(reply.error());
  if (arguments.json) return print_json(reply.value());
  return print(reply.value().find_string("text").value_or("")) ? kSuccess : kFailure;
}

}  // namespace rondo::cli
