// rondo mask: reads a conversation per line, and writes its ids and loss mask in the same order (docs/masks.md).
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/files.h"
#include "chat/conversation.h"
#include "cli/io.h"
#include "cli/line_commands.h"
#include "cli/lines.h"
#include "cli/paint.h"
#include "cli/request.h"
#include "json/parse.h"
#include "json/print.h"
#include "pages/token_page.h"
#include "protocol/reply.h"

namespace rondo::cli {
namespace {

// What all lines share: the request without its conversation.
Result<json::Object> common_request(const MaskArguments& arguments) {
  json::Object request{{"op", "encode"}, {"add_generation_prompt", false}};
  ModelArguments model = arguments.model;
  if (model.tokenizer.empty()) model.tokenizer = model.model;
  add_model(request, model);
  if (Status status = add_kwargs(request, arguments.kwargs); !status.ok()) return status.error();
  json::Object mask{{"part", arguments.part}};
  if (!arguments.roles.empty()) mask.set("roles", json::Array(arguments.roles.begin(), arguments.roles.end()));
  request.set("loss_mask", std::move(mask));
  return request;
}

// The variables of a line take precedence over those for all lines.
void add_variables(json::Object& request, const json::Value& given) {
  const json::Value* common = request.find("kwargs");
  if (common == nullptr || !given.is_object()) {
    request.set("kwargs", given);
    return;
  }
  json::Value merged = *common;
  for (const auto& [name, value] : given.as_object()) merged.as_object().set(name, value);
  request.set("kwargs", std::move(merged));
}

// The lines of one run: what was answered, for the page, the progress bar and the exit status.
class Masking {
 public:
  Masking(const MaskArguments& arguments, json::Object request)
      : arguments_(arguments), request_(std::move(request)), service_(service_options()) {}

  std::string answer(const Line& line) {
    json::Object reply{{"line", static_cast<std::int64_t>(line.number)}};
    if (auto done = masked(line, reply); !done.ok()) {
      ++failed_;
      reply.set("error", protocol::error_to_json(done.error()));
    }
    return json::to_compact(json::Value(std::move(reply)));
  }

  // Loads what all lines need.  Fails where no line could be answered: a template or tokenizer that is not there or
  // cannot be read.
  [[nodiscard]] Status load() const {
    json::Object request = request_;
    request.set("messages", json::Array{json::Object{{"role", "user"}, {"content", ""}}});
    const auto reply = service_.run(json::Value(std::move(request)), {});
    if (reply.ok()) return Done{};
    const ErrorCode code = reply.error().code;
    const bool is_of_message = code == ErrorCode::kTemplateRaised || code == ErrorCode::kTemplateError;
    return is_of_message ? Status(Done{}) : Status(reply.error());
  }

  [[nodiscard]] std::size_t failed() const { return failed_; }
  [[nodiscard]] std::size_t ids() const { return ids_; }
  [[nodiscard]] std::size_t learned() const { return learned_; }

  [[nodiscard]] std::string page() const {
    std::vector<pages::Sample> samples;
    for (const auto& [number, reply] : samples_) samples.push_back({"line " + std::to_string(number), reply});
    return pages::samples_page(samples);
  }

 private:
  Status masked(const Line& line, json::Object& out) {
    json::Object request = request_;
    if (line.is_too_long) return too_long();
    auto parsed = json::parse(line.text);
    if (!parsed.ok()) return parsed.error();
    if (Status status = enter(parsed.value(), request, out); !status.ok()) return status;
    if (Status status = chat::check_messages(*request.find("messages"), "messages"); !status.ok()) return status;
    const bool shown = is_shown(line.number);
    auto reply = service_.run(json::Value(std::move(request)), {.trace = shown || arguments_.text});
    if (!reply.ok()) return reply.error();
    const json::Array& mask = reply.value().find("loss_mask")->as_array();
    for (const json::Value& entry : mask) learned_ += entry.to_int64().value_or(0) != 0 ? 1U : 0U;
    ids_ += mask.size();
    for (const auto& [from, name] : {std::pair{"ids", "ids"}, std::pair{"loss_mask", "mask"}}) {
      out.set(name, *reply.value().find(from));
    }
    if (arguments_.text) out.set("text", *reply.value().find("text"));
    if (arguments_.owners) out.set("owners", *reply.value().find("message_indices"));
    for (const char* name : {"notes", "shaped"}) {
      if (const json::Value* told = reply.value().find(name); told != nullptr) out.set(name, *told);
    }
    if (shown) keep(line.number, std::move(reply).value());
    return Done{};
  }

  // Copies a line's conversation into the request and its name into the reply.
  Status enter(const json::Value& line, json::Object& request, json::Object& out) const {
    if (line.is_array()) {
      request.set("messages", line);
      return Done{};
    }
    if (!line.is_object()) {
      return Error(ErrorCode::kInvalidArgument,
                   "a line is an array of messages, or an object with `" + arguments_.field + "`");
    }
    if (const json::Value* id = line.find("id"); id != nullptr) out.set("id", *id);
    const json::Value* messages = line.find(arguments_.field);
    if (messages == nullptr) return Error(ErrorCode::kInvalidArgument, "the object has no `" + arguments_.field + "`");
    request.set("messages", *messages);
    for (const char* name : {"tools", "documents"}) {
      if (const json::Value* given = line.find(name); given != nullptr && !given->is_null()) request.set(name, *given);
    }
    for (const char* name : {"kwargs", "chat_template_kwargs"}) {
      if (const json::Value* given = line.find(name); given != nullptr && !given->is_null())
        add_variables(request, *given);
    }
    return Done{};
  }

  [[nodiscard]] bool is_shown(std::size_t number) const {
    return !arguments_.html_file.empty() && number <= arguments_.samples;
  }

  void keep(std::size_t number, json::Value reply) {
    const std::lock_guard<std::mutex> lock(mutex_);
    samples_.insert_or_assign(number, std::move(reply));
  }

  const MaskArguments& arguments_;
  json::Object request_;
  protocol::Service service_;
  std::atomic<std::size_t> failed_ = 0;
  std::atomic<std::size_t> ids_ = 0;
  std::atomic<std::size_t> learned_ = 0;
  std::mutex mutex_;
  std::map<std::size_t, json::Value> samples_;
};

// A line on standard error that is overwritten if that is a terminal.
class Bar {
 public:
  explicit Bar(int input) : is_on_(shows_progress()) {
    struct stat state{};
    if (::fstat(input, &state) == 0 && S_ISREG(state.st_mode)) size_ = static_cast<std::size_t>(state.st_size);
  }

  void step(std::size_t end) {
    ++lines_;
    const auto now = std::chrono::steady_clock::now();
    if (!is_on_ || now - shown_ < std::chrono::milliseconds(100)) return;
    shown_ = now;
    constexpr std::size_t kWidth = 30;
    std::string text = counted(lines_, "line");
    if (size_ != 0) {
      const std::size_t part = std::min(end, size_) * kWidth / size_;
      text = "[" + std::string(part, '#') + std::string(kWidth - part, ' ') + "] " +
             std::to_string(std::min(end, size_) * 100 / size_) + "% " + text;
    }
    std::fputs((kEraseLine + text).c_str(), stderr);
  }

  void finish() const {
    if (is_on_) std::fputs(kEraseLine, stderr);
  }
  [[nodiscard]] std::size_t lines() const { return lines_; }

 private:
  bool is_on_;
  std::size_t size_ = 0;  // of the input; 0 if unknown
  std::size_t lines_ = 0;
  std::chrono::steady_clock::time_point shown_;
};

// A file that is closed at the end; standard input or output for "-".
class OpenFile {
 public:
  OpenFile(const std::string& path, int flags, int standard) : path_(path), file_(standard) {
    if (path == "-") return;
    const Status found = (flags & O_ACCMODE) == O_RDONLY ? files::check(path) : Status(Done{});
    if (!found.ok()) {
      error_ = found.error();
      return;
    }
    file_ = ::open(path.c_str(), flags | O_CLOEXEC, 0666);
    owned_ = file_ >= 0;
    if (file_ < 0) error_ = Error(ErrorCode::kIo, std::strerror(errno), path);
  }
  ~OpenFile() {
    if (owned_) ::close(file_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  [[nodiscard]] int number() const { return file_; }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

  // Whether both are one regular file, by whatever names.
  [[nodiscard]] bool is_same_file(const OpenFile& other) const {
    struct stat mine{};
    struct stat its{};
    return ::fstat(file_, &mine) == 0 && ::fstat(other.file_, &its) == 0 && S_ISREG(mine.st_mode) &&
           mine.st_dev == its.st_dev && mine.st_ino == its.st_ino;
  }

  // Forgets what stood in an opened regular file.  Standard output stays as the caller opened it.
  void empty() {
    struct stat state{};
    const bool is_file = owned_ && ::fstat(file_, &state) == 0 && S_ISREG(state.st_mode);
    if (is_file && ::ftruncate(file_, 0) != 0) error_ = Error(ErrorCode::kIo, std::strerror(errno), path_);
  }

 private:
  std::string path_;
  int file_;
  bool owned_ = false;
  std::optional<Error> error_;
};

}  // namespace

int run_mask(const MaskArguments& arguments) {
  auto request = common_request(arguments);
  if (!request.ok()) return report(request.error());
  if (!arguments.html_file.empty()) {
    if (Status status = check_page_file(arguments.html_file); !status.ok()) return refuse(status.error());
  }
  Masking masking(arguments, std::move(request).value());
  if (Status loaded = masking.load(); !loaded.ok()) return report(loaded.error());
  const OpenFile input(arguments.input, O_RDONLY, STDIN_FILENO);
  if (input.error()) return report(*input.error());
  OpenFile output(arguments.output, O_WRONLY | O_CREAT, STDOUT_FILENO);
  if (output.error()) return report(*output.error());
  if (output.is_same_file(input)) {
    return refuse(Error(ErrorCode::kInvalidArgument,
                        "the file to read is the one to write, which would empty it: name another one with --output",
                        arguments.input));
  }
  output.empty();
  if (output.error()) return report(*output.error());
  if (arguments.input == "-") {
    if (Status status = begin_input(); !status.ok()) return report(status.error());
  }
  Bar bar(input.number());
  const LineEnds ends{input.number(), arguments.input == "-" ? "standard input" : arguments.input, output.number(),
                      arguments.output == "-" ? "standard output" : arguments.output};
  const int cores = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const Status status = answer_lines(
      ends, arguments.threads > 0 ? arguments.threads : cores, [&](const Line& line) { return masking.answer(line); },
      [&](std::size_t end) { bar.step(end); });
  bar.finish();
  if (!status.ok()) return report(status.error());
  note("rondo: " + counted(bar.lines(), "line") + ", " + std::to_string(masking.failed()) + " failed; " +
       std::to_string(masking.learned()) + " of " + std::to_string(masking.ids()) + " ids are learned\n");
  if (masking.ids() > 0 && masking.learned() == 0)
    note("rondo: warning: nothing is learned: no message of the roles to learn has such a part (--mask, --role)\n");
  if (!arguments.html_file.empty()) {
    if (const int written = put_page(masking.page(), arguments.html_file); written != kSuccess) return written;
  }
  return masking.failed() == 0 ? kSuccess : kFailure;
}

}  // namespace rondo::cli
