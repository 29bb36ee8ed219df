// rondo replay: what a prefix cache saves on a log of requests.
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "cli/commands.h"
#include "cli/io.h"
#include "cli/paint.h"
#include "cli/request.h"

namespace rondo::cli {
namespace {

constexpr std::size_t kLaneWidth = 34;
constexpr std::size_t kNumberWidth = 16;
constexpr double kMegabyte = 1e6;

std::int64_t count_in(const json::Value& value, std::string_view field) {
  const json::Value* found = value.find(field);
  return found == nullptr ? 0 : found->to_int64().value_or(0);
}

// 12345678 as "12,345,678".
std::string grouped(std::int64_t number) {
  std::string out = std::to_string(number);
  for (std::size_t at = out.size(); at > 3; at -= 3) out.insert(at - 3, ",");
  return out;
}

// "1 line" or "1,234 lines"; `many`: the plural, if it does not end with an s alone.
std::string grouped(std::int64_t number, const std::string& one, const std::string& many = "") {
  return grouped(number) + " " + (number == 1 ? one : many.empty() ? one + "s" : many);
}

std::string right_aligned(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

std::string percent(double rate) {
  char out[32];
  std::snprintf(out, sizeof out, "%.1f %%", rate * 100);
  return out;
}

std::string head(const json::Value& reply) {
  char megabytes[32];
  std::snprintf(megabytes, sizeof megabytes, "%.1f MB", static_cast<double>(count_in(reply, "bytes")) / kMegabyte);
  std::string out = grouped(count_in(reply, "requests"), "request") + " of " +
                    grouped(count_in(reply, "conversations"), "conversation") + " with " +
                    grouped(count_in(reply, "branches"), "branch", "branches") + ", in " + megabytes + "\n";
  for (const json::Value& lines : reply.find("skipped")->as_array()) {
    out += "passed over: " + grouped(count_in(lines, "count"), "line") + ", " + printable_text(lines, "reason") +
           " (line " + grouped(count_in(lines, "first_line"));
    if (const std::string error = printable_text(lines, "first_error"); !error.empty())
      out += ": " + elided(error, 100);
    out += ")\n";
  }
  for (const json::Member& note : reply.find("notes")->as_object())
    out += "left out: " + printable(note.key, false) + ", " + note.value.number() + " times\n";
  const json::Value& answers = *reply.find("answers");
  out += "answers: " + grouped(count_in(answers, "from_log")) + " from the log's replies, " +
         grouped(count_in(answers, "from_next_request")) + " from the request that followed\n";
  if (const std::int64_t forgotten = count_in(reply, "forgotten_conversations"); forgotten > 0) {
    out += "forgotten: " + grouped(forgotten, "conversation") + ", for which there was no memory (--memory)\n";
  }
  return out;
}

std::string lanes_table(const json::Value& reply, const Paint& paint) {
  const json::Array& lanes = reply.find("lanes")->as_array();
  std::string out = paint("1", padded("Tokens found in the cache", kLaneWidth)) +
                    right_aligned("blocks of " + std::to_string(count_in(reply, "block")), kNumberWidth) +
                    right_aligned("radix", kNumberWidth) + right_aligned("steps of 128", kNumberWidth) +
                    right_aligned("tokens computed", kNumberWidth + 2) + "\n";
  std::string idle;
  for (const json::Value& lane : lanes) {
    const bool is_first = &lane == &lanes.front();
    if (!is_first && count_in(lane, "changed_requests") == 0) {
      idle += (idle.empty() ? "" : ", ") + printable_text(lane, "name");
      continue;
    }
    const json::Value& rates = *lane.find("hit_rate");
    out += "  " + padded(printable_text(lane, "name"), kLaneWidth - 2);
    for (const char* policy : {"blocks", "radix", "steps"})
      out += right_aligned(percent(rates.find(policy)->to_double().value_or(0)), kNumberWidth);
    out += right_aligned(grouped(count_in(lane, "prompt_tokens") - count_in(*lane.find("hit_tokens"), "radix")),
                         kNumberWidth + 2);
    out += is_first ? "\n" : "  " + paint("2", printable_text(lane, "sentence")) + "\n";
  }
  if (!idle.empty()) out += paint("2", "  nothing to do for: " + idle) + "\n";
  if (const json::Value* marks = reply.find("cache_control")) {
    const auto prompt = static_cast<double>(count_in(*marks, "prompt_tokens"));
    const auto share = [&](const char* member) {
      return percent(static_cast<double>(count_in(*marks, member)) / prompt);
    };
    out += "  a cache that keeps what `cache_control` marks, in " + grouped(count_in(*marks, "requests")) +
           " requests: " + share("read_tokens") + " read, " + share("written_tokens") + " written, " +
           share("expired_tokens") + " expired\n";
  }
  if (const json::Value* measured = reply.find("measured")) {
    const auto prompt = static_cast<double>(count_in(*measured, "prompt_tokens"));
    out += "  the server itself counted " +
           percent(static_cast<double>(count_in(*measured, "cached_tokens")) / prompt) + " of " +
           grouped(count_in(*measured, "prompt_tokens")) + " tokens\n";
  }
  return out;
}

std::string fleet_table(const json::Value& reply, const Paint& paint) {
  const json::Value* fleet = reply.find("fleet");
  if (fleet == nullptr) return "";
  const std::int64_t replicas = count_in(*fleet, "replicas");
  std::string out = "Tokens found by " + grouped(replicas) + " replicas of " +
                    grouped(count_in(*fleet, "replica_capacity")) + " tokens, " +
                    grouped(count_in(*fleet, "concurrency")) + " requests at once\n";
  out += paint("1", padded("", kLaneWidth) + right_aligned("found", kNumberWidth) +
                        right_aligned("tokens computed", kNumberWidth + 2) +
                        right_aligned("by the busiest", kNumberWidth) + right_aligned("moved", kNumberWidth)) +
         "\n";
  for (const json::Value& each : fleet->find("routings")->as_array()) {
    const double share = each.find("busiest_share")->to_double().value_or(0) * static_cast<double>(replicas);
    char busiest[32];
    std::snprintf(busiest, sizeof busiest, "%.1f x mean", share);
    out += "  " + padded(printable_text(each, "routing") + ", " + printable_text(each, "lane"), kLaneWidth - 2) +
           right_aligned(percent(each.find("hit_rate")->to_double().value_or(0)), kNumberWidth) +
           right_aligned(grouped(count_in(each, "prompt_tokens") - count_in(each, "hit_tokens")), kNumberWidth + 2) +
           right_aligned(busiest, kNumberWidth) +
           right_aligned(grouped(count_in(each, "moved_requests")), kNumberWidth) + "\n";
  }
  return out + "\n";
}

std::string was_is(const std::string& before, const std::string& after, const Paint& paint) {
  return paint("2", "      was `" + before + "`, is `" + after + "`") + "\n";
}

std::string causes_table(const json::Value& reply, const Paint& paint) {
  const json::Array& causes = reply.find("causes")->as_array();
  if (count_in(reply, "requests") == 0) return "";
  if (causes.empty()) return "Every prompt began with the whole of the last one.\n";
  std::string out = paint("1", padded("Why prompts did not begin as the last", kLaneWidth + 4)) +
                    right_aligned("requests", kNumberWidth) + right_aligned("tokens lost", kNumberWidth) + "\n";
  for (const json::Value& cause : causes) {
    std::string name = printable_text(cause, "name");
    if (const json::Value* line = cause.find("template_line")) name += ", line " + line->number();
    out += "  " + paint("31", padded(name, kLaneWidth + 2)) +
           right_aligned(grouped(count_in(cause, "requests")), kNumberWidth) +
           right_aligned(grouped(count_in(cause, "lost_tokens")), kNumberWidth) + "\n";
    const json::Array& examples = cause.find("examples")->as_array();
    if (examples.empty()) continue;
    const json::Value& example = examples.front();
    out += "      log line " + grouped(count_in(example, "line")) + ": " + printable_text(example, "sentence");
    if (const std::string path = printable_text(example, "path"); !path.empty()) out += " (" + path + ")";
    out += '\n';
    const std::string before = elided(printable_text(example, "before"), 60);
    const std::string after = elided(printable_text(example, "after"), 60);
    if (before.empty() && after.empty()) continue;
    out += was_is(before, after, paint);
  }
  return out;
}

// What is wrong with a log that has lines of which none was replayed.
std::optional<Error> nothing_read(const json::Value& reply, const std::string& source) {
  const json::Array& skipped = reply.find("skipped")->as_array();
  if (count_in(reply, "requests") > 0 || skipped.empty()) return std::nullopt;
  const json::Value& first =
      *std::ranges::min_element(skipped, {}, [](const json::Value& lines) { return count_in(lines, "first_line"); });
  std::string why = text_of(first, "first_error");
  const std::string reason = text_of(first, "reason");
  if (!why.starts_with(reason)) why = reason + (why.empty() ? "" : ", ") + why;
  Error error(ErrorCode::kInvalidArgument, "no line of the log could be replayed: " + why, source);
  error.line = static_cast<int>(count_in(first, "first_line"));
  return error;
}

// Reads what follows `made:`, which is names with numbers.
Result<json::Object> made_log(std::string_view text) {
  json::Object out;
  while (!text.empty()) {
    const std::string_view part = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
    const std::size_t equals = part.find('=');
    std::size_t number = 0;
    const char* end = part.data() + part.size();
    const bool is_named = equals != std::string_view::npos && equals > 0;
    const auto read = std::from_chars(is_named ? part.data() + equals + 1 : end, end, number);
    if (read.ec != std::errc() || read.ptr != end)
      return Error(
          ErrorCode::kInvalidArgument,
          "a log that is made up is described by names with numbers, as in `made:agents=200,turns=20`; found `" +
              std::string(part) + "`");
    const std::string_view name = part.substr(0, equals);
    if (out.find(name) != nullptr)
      return Error(ErrorCode::kInvalidArgument, "a log that is made up has `" + std::string(name) + "` twice");
    out.set(name, number);
  }
  return out;
}

// Reads the log's bytes, and shows progress.
class LogFile {
 public:
  explicit LogFile(std::string path) : path_(std::move(path)) {}
  ~LogFile() {
    if (file_ != nullptr && file_ != stdin) std::fclose(file_);
  }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  // A generated log has no file.
  Status open() {
    if (path_.empty()) return Done{};
    if (path_ == "-") {
      if (Status status = begin_input(); !status.ok()) return status;
    } else if (Status found = files::check(path_); !found.ok()) {
      return found;
    }
    file_ = path_ == "-" ? stdin : std::fopen(path_.c_str(), "rb");
    struct stat about{};
    if (file_ != nullptr && ::fstat(fileno(file_), &about) == 0) {
      if (S_ISREG(about.st_mode)) size_ = static_cast<std::uint64_t>(about.st_size);
      if (!S_ISDIR(about.st_mode)) return Done{};
      errno = EISDIR;
    }
    return Error(ErrorCode::kNotFound, errno == EISDIR ? "is a folder" : std::strerror(errno), source());
  }

  protocol::LogStream stream() {
    protocol::LogStream out;
    out.read = [this](char* to, std::size_t size) { return read(to, size); };
    if (shows_progress()) {
      out.on_progress = [this](std::uint64_t bytes, std::uint64_t requests) { show(bytes, requests); };
    }
    return out;
  }

  // Why the log could not be read to its end.
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

  // What messages call it.
  [[nodiscard]] std::string source() const { return path_ == "-" ? "standard input" : path_; }

  void finish() const {
    if (is_shown_) std::fputs(kEraseLine, stderr);
  }

 private:
  std::size_t read(char* to, std::size_t size) {
    const std::size_t got = std::fread(to, 1, size, file_);
    if (got == 0 && std::ferror(file_) != 0) error_ = Error(ErrorCode::kIo, std::strerror(errno), source());
    return got;
  }

  void show(std::uint64_t bytes, std::uint64_t requests) {
    is_shown_ = true;
    std::fprintf(stderr, "\r%.0f MB", static_cast<double>(bytes) / kMegabyte);
    if (size_ > 0) std::fprintf(stderr, " of %.0f MB", static_cast<double>(size_) / kMegabyte);
    std::fprintf(stderr, ", %llu requests\x1b[K", static_cast<unsigned long long>(requests));
    std::fflush(stderr);
  }

  std::string path_;
  std::FILE* file_ = nullptr;
  std::uint64_t size_ = 0;
  bool is_shown_ = false;
  std::optional<Error> error_;
};

}  // namespace

int run_replay(const ReplayArguments& arguments) {
  json::Object request{{"op", "replay"}};
  ModelArguments model = arguments.model;
  if (model.tokenizer.empty()) model.tokenizer = model.model;
  add_model(request, model);
  if (Status status = add_kwargs(request, arguments.kwargs); !status.ok()) return report(status.error());
  request.set("capacity", arguments.capacity);
  request.set("block", arguments.block);
  request.set("memory_mb", arguments.memory_mb);
  request.set("limit", arguments.limit);
  if (arguments.replicas > 0) {
    request.set("replicas", arguments.replicas);
    request.set("routing", arguments.routing);
    if (arguments.replica_capacity > 0) request.set("replica_capacity", arguments.replica_capacity);
    request.set("concurrency", arguments.concurrency);
  }
  constexpr std::string_view kMade = "made:";
  const bool is_made = arguments.log.starts_with(kMade);
  if (is_made) {
    auto made = made_log(std::string_view(arguments.log).substr(kMade.size()));
    if (!made.ok()) return report(made.error());
    request.set("generate", std::move(made).value());
  }
  LogFile log(is_made ? "" : arguments.log);
  if (Status status = log.open(); !status.ok()) return report(status.error());
  const protocol::LogStream stream = log.stream();
  const protocol::Service service(service_options());
  protocol::RunOptions options;
  options.log = &stream;
  auto reply = service.run(request, options);
  log.finish();
  if (!reply.ok()) return report(reply.error());
  if (log.error()) return report(*log.error());  // a part of a log looks like a log
  if (const std::optional<Error> error = nothing_read(reply.value(), log.source())) return report(*error);
  if (arguments.json) return print_json(reply.value());
  const Paint paint = paint_for(arguments.color);
  const json::Value& done = reply.value();
  const std::string out =
      head(done) + "\n" + lanes_table(done, paint) + "\n" + fleet_table(done, paint) + causes_table(done, paint);
  return print(out) ? kSuccess : kFailure;
}

}  // namespace rondo::cli
