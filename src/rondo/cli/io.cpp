#include "cli/io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/files.h"
#include "base/printing.h"
#include "base/utf8.h"
#include "json/parse.h"
#include "json/print.h"

namespace rondo::cli {
namespace {

Result<std::string> read_standard_input() {
  if (Status status = begin_input(); !status.ok()) return status.error();
  std::string content;
  std::array<char, 65536> buffer{};
  while (std::feof(stdin) == 0) {
    content.append(buffer.data(), std::fread(buffer.data(), 1, buffer.size(), stdin));
    if (std::ferror(stdin) == 0) continue;
    if (errno != EINTR) return Error(ErrorCode::kIo, std::strerror(errno), "standard input");
    std::clearerr(stdin);
  }
  return content;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Whether it begins like an array or object.
bool is_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '[' || text[first] == '{');
}

// Numbers separated by white space or commas.  Negative ones are no ids, and are refused as such.
bool is_numbers(std::string_view text) {
  return text != "-" && text.find_first_not_of("-0123456789, \t\r\n") == std::string_view::npos;
}

std::string list_of(const std::string& numbers) {
  std::istringstream words(numbers);
  std::string list;
  for (std::string word; words >> word;) list += (list.empty() ? "" : ",") + word;
  return "[" + list + "]";
}

// Whether an option is not what it must be, such as JSON.  A template in an option may fail as one in a file does.
bool is_wrong_option(const Error& error) { return error.source.starts_with("--") && error.source != "--text"; }

// The ids in a table of tokens as `encode` and `tokenize` print it: each line begins with the id and ends with the
// quoted text, and notes follow the lines.  "" if `text` is not such a table.
std::string ids_of_table(const std::string& text) {
  std::string ids;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.starts_with(kNoteBegin)) continue;
    const std::size_t end = line.find_first_not_of("0123456789");
    if (end == 0 || end == std::string::npos || line[end] != ' ' || !line.ends_with('"')) return "";
    ids += line.substr(0, end) + " ";
  }
  return ids;
}

// The value of KEY=VALUE: JSON, or `True`, `False` and `None` as Python spells them, or a text.
json::Value value_of(const std::string& text) {
  if (text == "True") return true;
  if (text == "False") return false;
  if (text == "None") return nullptr;
  auto value = json::parse(text);
  return value.ok() ? std::move(value).value() : json::Value(text);
}

// Whether a text that starts with `start` may take the place of what `file` holds: of another such text, or of nothing.
// What is no regular file, such as a pipe, has nothing to lose.
bool may_replace(const std::string& file, std::string_view start) {
  struct stat state{};
  if (::stat(file.c_str(), &state) != 0 || !S_ISREG(state.st_mode) || state.st_size == 0) return true;
  std::string begin(start.size(), '\0');
  std::ifstream(file, std::ios::binary).read(begin.data(), static_cast<std::streamsize>(begin.size()));
  std::ranges::transform(begin, begin.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return begin == start;
}

}  // namespace

Status begin_input() {
  if (std::feof(stdin) != 0)
    return Error(ErrorCode::kInvalidArgument,
                 "it was read to its end for another argument: only one of them can be `-`, or be left to it",
                 "standard input");
  const int mode = ::fcntl(STDIN_FILENO, F_GETFL);
  if (mode < 0 || (mode & O_ACCMODE) == O_WRONLY) return Error(ErrorCode::kIo, std::strerror(EBADF), "standard input");
  if (isatty(STDIN_FILENO) != 0) std::fputs("rondo: reading from standard input (end with Ctrl-D)\n", stderr);
  return Done{};
}

Result<std::optional<std::string>> read_piece() {
  std::array<char, 65536> buffer{};
  while (true) {
    const ssize_t size = ::read(STDIN_FILENO, buffer.data(), buffer.size());
    if (size > 0) return std::optional(std::string(buffer.data(), static_cast<std::size_t>(size)));
    if (size == 0) return std::optional<std::string>();
    if (errno != EINTR) return Error(ErrorCode::kIo, std::strerror(errno), "standard input");
  }
}

void hold_standard_descriptors() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The lowest descriptor that is free is this one.  It can be read where writing is meant, and the other way round.
    if (::fcntl(descriptor, F_GETFD) < 0 && errno == EBADF)
      (void)::open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

Result<std::string> read_input(const std::string& path) {
  return path == "-" ? read_standard_input() : files::read(path);
}

Result<json::Value> read_json(const std::string& path) {
  auto content = read_input(path);
  if (!content.ok()) return content.error();
  auto value = json::parse(utf8::without_mark(content.value()));
  if (value.ok()) return value;
  Error error = value.error();
  error.source = path == "-" ? "standard input" : path;
  return error;
}

bool is_inline_json(const std::string& argument) {
  // A number, a text or `true` is JSON too, unless a file has that name.
  return is_json(argument) || (argument != "-" && !files::exists(argument) && json::parse(argument).ok());
}

Result<json::Value> json_argument(const std::string& argument, const std::string& option) {
  if (!is_inline_json(argument)) return read_json(argument);
  auto value = json::parse(argument);
  if (value.ok()) return value;
  Error error = value.error();
  error.source = option;
  return error;
}

Status check_utf8(std::string_view text, const std::string& option) {
  if (utf8::is_valid(text)) return Done{};
  return Error(ErrorCode::kInvalidArgument, "the text is not valid UTF-8", option);
}

Result<json::Value> object_argument(const std::string& argument, const std::string& option) {
  if (is_json(argument) || argument.find('=') == std::string::npos || files::exists(argument)) {
    auto value = json_argument(argument, option);
    if (!value.ok() || value.value().is_object()) return value;
    return Error(ErrorCode::kInvalidArgument,
                 "must be an object, found " + std::string(json::describe(value.value().kind())), option);
  }
  json::Object out;
  std::istringstream lines(argument);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos || equals == 0)
      return Error(ErrorCode::kInvalidArgument, "expected KEY=VALUE, found `" + line + "`", option);
    if (Status status = check_utf8(line, option); !status.ok()) return status.error();
    const std::string text = line.substr(equals + 1);
    out.set(line.substr(0, equals), value_of(text));
  }
  return json::Value(std::move(out));
}

Result<json::Value> ids_argument(const std::string& argument, const std::string& option) {
  const bool is_file = !is_json(argument) && !is_numbers(argument) && ids_of_table(argument).empty();
  const std::string source = !is_file ? option : argument == "-" ? "standard input" : argument;
  const bool is_name = argument.find_first_of(" \t\r\n") == std::string::npos;
  if (is_file && !is_name && !files::exists(argument)) {
    return Error(ErrorCode::kInvalidArgument,
                 "expected token ids (numbers, a JSON array, what `encode` prints) or a file with them, found `" +
                     argument + "`",
                 option);
  }
  auto content = is_file ? read_input(argument) : Result<std::string>(argument);
  if (!content.ok()) return content.error();
  std::string text = std::move(content).value();
  if (is_numbers(text)) {
    std::ranges::replace(text, ',', ' ');
    text = list_of(text);
  } else if (const std::string ids = is_json(text) ? "" : ids_of_table(text); !ids.empty()) {
    text = list_of(ids);
  } else if (!is_json(text)) {
    return Error(ErrorCode::kInvalidArgument,
                 "expected token ids: numbers, a JSON array, or what `encode`, `tokenize` or `bridge --ids` prints",
                 source);
  }
  auto value = json::parse(text);
  if (!value.ok()) {
    Error error = value.error();
    error.source = source;
    return error;
  }
  const json::Value* ids = value.value().find("ids");
  return ids != nullptr ? *ids : value.value();
}

protocol::ServiceOptions service_options() {
  protocol::ServiceOptions options;
  options.clock = [] {
    const std::time_t now = std::time(nullptr);
    std::tm local{};
    localtime_r(&now, &local);
    return local;
  };
  // Without a home folder there is no place for a cache: the current folder is not one.
  const bool has_place =
      !variable("RONDO_CACHE").empty() || !variable("XDG_CACHE_HOME").empty() || !variable("HOME").empty();
  if (has_place && variable("RONDO_TOKENIZER_CACHE") != "off")
    options.cache_folder = files::join(cache_folder(), "tokenizers");
  return options;
}

std::string cache_folder() {
  if (const std::string folder = variable("RONDO_CACHE"); !folder.empty()) return folder;
  if (const std::string folder = variable("XDG_CACHE_HOME"); !folder.empty()) return files::join(folder, "rondo");
  return files::join(variable("HOME"), ".cache/rondo");
}

int report(const Error& error) {
  Error shown = error;
  if (shown.code == ErrorCode::kTemplateRaised)
    shown.message = "the template refused the conversation: " + shown.message;
  note("rondo: " + shown.to_string() + "\n");
  return is_wrong_option(shown) ? kUsage : kFailure;
}

int refuse(const Error& error) {
  (void)report(error);
  return kUsage;
}

void note(std::string_view text) {
  const std::string shown = printing::printable(text, true);
  std::fwrite(shown.data(), 1, shown.size(), stderr);
}

bool print(std::string_view text) {
  const bool ok = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
  if (!ok) (void)report(Error(ErrorCode::kIo, std::strerror(errno), "standard output"));
  return ok;
}

int print_json(const json::Value& value) { return print(json::to_compact(value) + "\n") ? kSuccess : kFailure; }

int write_text(std::string_view text, const std::string& file) {
  if (file.empty() || file == "-") return print(text) ? kSuccess : kFailure;
  const Status written = files::write(file, text);
  return written.ok() ? kSuccess : report(written.error());
}

Error both_on_output() {
  return {ErrorCode::kInvalidArgument, "standard output takes --json or --output -: name a file for the other"};
}

Status check_replaced(const std::string& file, const std::string& what, std::string_view start,
                      const std::string& option) {
  if (file.empty() || file == "-") return Done{};
  if (files::is_folder(file)) return Error(ErrorCode::kInvalidArgument, "is a folder: name a file for " + option, file);
  const std::string folder = std::filesystem::path(file).parent_path().string();
  if (!folder.empty() && !files::is_folder(folder))
    return Error(ErrorCode::kInvalidArgument, "its folder is not there: name another file for " + option, file);
  if (may_replace(file, start)) return Done{};
  return Error(ErrorCode::kInvalidArgument, what + " would replace a file that is not one: name another for " + option,
               file);
}

Status check_page_file(const std::string& file) {
  const bool is_output = file.empty() || file == "-";
  if (is_output && isatty(STDOUT_FILENO) != 0)
    return Error(ErrorCode::kInvalidArgument, "name a file for the page: --html FILE");
  return check_replaced(file, "the page", "<!doctype html", "--html");
}

int put_page(const std::string& page, const std::string& file) {
  if (Status status = check_page_file(file); !status.ok()) return refuse(status.error());
  return write_text(page, file);
}

}  // namespace rondo::cli
