#include "replay/log_reader.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/utf8.h"
#include "json/parse.h"

namespace rondo::replay {
namespace {

// The keys under which proxies put the body of a request, and that of a reply.
constexpr std::array<std::string_view, 13> kRequestKeys = {
    "request", "body",   "request_body", "requestBody",          "raw_request_body", "payload", "data",
    "json",    "params", "kwargs",       "proxy_server_request", "optional_params",  "input"};
constexpr std::array<std::string_view, 10> kReplyKeys = {"response",   "reply",       "response_body", "responseBody",
                                                         "completion", "completions", "raw_response",  "result",
                                                         "output",     "chunks"};
constexpr std::array<std::string_view, 4> kReplyBodyKeys = {"body", "content", "data", "json"};
constexpr std::array<std::string_view, 9> kTimeKeys = {"timestamp", "time",       "ts",        "created_at",  "created",
                                                       "date",      "start_time", "startTime", "request_time"};
constexpr int kWrapperDepth = 4;
constexpr std::size_t kMostReasons = 32;
constexpr std::size_t kReadBytes = std::size_t{256} << 10U;

bool is_body(const json::Value& value) {
  const json::Value* messages = value.find("messages");
  if (messages != nullptr && messages->is_array()) return true;
  const json::Value* input = value.find("input");
  return input != nullptr && (input->is_array() || (input->is_string() && value.find("model") != nullptr));
}

// Replaces a string of JSON by the value in it.
void unwrap_text(json::Value& value) {
  if (!value.is_string() || !value.as_string().starts_with('{')) return;
  if (auto parsed = json::parse(value.as_string()); parsed.ok()) value = std::move(parsed).value();
}

json::Value* find_body(json::Value& value, int depth) {
  unwrap_text(value);
  if (!value.is_object() || depth == 0) return nullptr;
  if (is_body(value)) return &value;
  for (const std::string_view key : kRequestKeys) {
    json::Value* below = value.as_object().find(key);
    json::Value* found = below == nullptr ? nullptr : find_body(*below, depth - 1);
    if (found != nullptr) return found;
  }
  return nullptr;
}

std::optional<chat::ApiReply> reply_in(const json::Value& value, int depth) {
  if (value.is_string() && value.as_string().starts_with('{')) {
    const auto parsed = json::parse(value.as_string());
    return parsed.ok() ? reply_in(parsed.value(), depth) : std::nullopt;
  }
  if (auto reply = chat::read_reply(value)) return reply;
  if (!value.is_object() || depth == 0) return std::nullopt;
  for (const std::string_view key : kReplyBodyKeys) {
    const json::Value* below = value.find(key);
    if (below == nullptr) continue;
    if (auto reply = reply_in(*below, depth - 1)) return reply;
  }
  return std::nullopt;
}

std::optional<chat::ApiReply> find_reply(const json::Value& root) {
  for (const std::string_view key : kReplyKeys) {
    const json::Value* below = root.find(key);
    if (below == nullptr) continue;
    if (auto reply = reply_in(*below, kWrapperDepth)) return reply;
  }
  return std::nullopt;
}

// The date that is this many days after 1970-01-01.  The algorithm is Howard Hinnant's `civil_from_days`.
jinja::LocalTime date_of(std::int64_t days) {
  days += 719468;
  const std::int64_t era = (days >= 0 ? days : days - 146096) / 146097;
  const std::int64_t of_era = days - era * 146097;
  const std::int64_t year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  const std::int64_t of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t month = (5 * of_year + 2) / 153;
  jinja::LocalTime out;
  out.day = static_cast<int>(of_year - (153 * month + 2) / 5 + 1);
  out.month = static_cast<int>(month < 10 ? month + 3 : month - 9);
  out.year = static_cast<int>(year_of_era + era * 400 + (out.month <= 2 ? 1 : 0));
  return out;
}

// Reads seconds since 1970, or milli-, micro- or nanoseconds if seconds would be far in the future.
std::optional<jinja::LocalTime> time_of(double number) {
  constexpr double kFar = 1e11;  // the year 5138
  for (int i = 0; i < 3 && number > kFar; ++i) number /= 1000;
  if (!(number > 0) || number > kFar) return std::nullopt;
  const auto seconds = static_cast<std::int64_t>(number);
  constexpr std::int64_t kDay = 86400;
  jinja::LocalTime out = date_of(seconds / kDay);
  const auto of_day = static_cast<int>(seconds % kDay);
  out.hour = of_day / 3600;
  out.minute = of_day / 60 % 60;
  out.second = of_day % 60;
  return out;
}

// Reads "2026-03-14T15:09:26" and ignores what follows.  A space may replace the T.
std::optional<jinja::LocalTime> time_of(std::string_view text) {
  constexpr std::string_view kShape = "dddd-dd-dd dd:dd:dd";
  if (text.size() < kShape.size()) return std::nullopt;
  for (std::size_t i = 0; i < kShape.size(); ++i) {
    const bool is_digit = text[i] >= '0' && text[i] <= '9';
    const bool fits = kShape[i] == 'd' ? is_digit : text[i] == kShape[i] || (kShape[i] == ' ' && text[i] == 'T');
    if (!fits) return std::nullopt;
  }
  const auto number = [text](std::size_t at, std::size_t digits) {
    int value = 0;
    for (const char digit : text.substr(at, digits)) value = value * 10 + (digit - '0');
    return value;
  };
  const jinja::LocalTime out{number(0, 4), number(5, 2), number(8, 2), number(11, 2), number(14, 2), number(17, 2)};
  const bool is_time = out.month >= 1 && out.month <= 12 && out.day >= 1 && out.day <= 31 && out.hour < 24 &&
                       out.minute < 60 && out.second < 61;
  return is_time ? std::optional(out) : std::nullopt;
}

std::optional<jinja::LocalTime> find_time(const json::Value& root) {
  for (const std::string_view key : kTimeKeys) {
    const json::Value* value = root.find(key);
    if (value == nullptr) continue;
    std::optional<jinja::LocalTime> time;
    if (value->is_number()) time = time_of(value->to_double().value_or(0));
    if (value->is_string()) time = time_of(std::string_view(value->as_string()));
    if (time) return time;
  }
  return std::nullopt;
}

std::string text_at(const json::Value& root, std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) {
    if (const auto text = root.find_string(key); text && !text->empty()) return std::string(*text);
  }
  return "";
}

}  // namespace

Result<LogEntry> read_log_line(std::string_view line) {
  auto parsed = json::parse(line);
  if (!parsed.ok() && !utf8::is_valid(line)) parsed = json::parse(utf8::to_valid(line));
  if (!parsed.ok()) return parsed.error();
  json::Value& root = parsed.value();
  json::Value* body = find_body(root, kWrapperDepth);
  if (body == nullptr) return Error(ErrorCode::kInvalidArgument, "no chat request: neither `messages` nor `input`");
  LogEntry out;
  out.reply = find_reply(root);
  out.time = find_time(root);
  std::string conversation =
      text_at(root, {"conversation_id", "conversationId", "session_id", "sessionId", "thread_id"});
  auto request = chat::read_request(std::move(*body));
  if (!request.ok()) return request.error();
  out.request = std::move(request).value();
  if (out.request.conversation.empty()) out.request.conversation = std::move(conversation);
  return out;
}

void SkipCounter::add(std::string_view reason, std::uint64_t line, std::string_view error) {
  const auto known = std::ranges::find(reasons_, reason, &SkippedLines::reason);
  if (known != reasons_.end()) {
    ++known->count;
  } else if (reasons_.size() < kMostReasons) {
    reasons_.push_back({std::string(reason), 1, line, std::string(error)});
  } else {
    ++reasons_.back().count;
  }
}

LogReader::LogReader(Source source, LogLimits limits) : source_(std::move(source)), limits_(limits) {}

bool LogReader::fill() {
  buffer_.erase(0, begin_);
  searched_ -= begin_;
  begin_ = 0;
  const std::size_t old_size = buffer_.size();
  buffer_.resize(old_size + kReadBytes);
  const std::size_t count = std::min(source_(buffer_.data() + old_size, kReadBytes), kReadBytes);
  buffer_.resize(old_size + count);
  bytes_ += count;
  if (count == 0) at_end_ = true;
  return count != 0;
}

bool LogReader::next_line(std::string_view& line, bool& too_long) {
  too_long = false;
  while (true) {
    const std::size_t end = buffer_.find('\n', searched_);
    if (end != std::string::npos) {
      line = std::string_view(buffer_).substr(begin_, end - begin_);
      begin_ = searched_ = end + 1;
      return true;
    }
    searched_ = buffer_.size();
    if (buffer_.size() - begin_ > limits_.line_bytes) {
      too_long = true;
      begin_ = searched_;  // the rest of the line is skipped as it arrives
    }
    if (!at_end_ && fill()) continue;
    line = std::string_view(buffer_).substr(begin_);
    begin_ = searched_ = buffer_.size();
    return too_long || !line.empty();
  }
}

std::optional<LogEntry> LogReader::next() {
  std::string_view line;
  bool too_long = false;
  while (next_line(line, too_long)) {
    if (++lines_ == 1) line = utf8::without_mark(line);
    if (too_long || line.size() > limits_.line_bytes) {
      skipped_.add("longer than " + std::to_string(limits_.line_bytes >> 20U) + " MB", lines_, "");
      continue;
    }
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    auto entry = read_log_line(line);
    if (entry.ok()) {
      entry.value().line = lines_;
      return std::move(entry).value();
    }
    const bool is_json = entry.error().code != ErrorCode::kJson && entry.error().code != ErrorCode::kLimit;
    skipped_.add(is_json ? "no chat request" : "not JSON", lines_, entry.error().message);
  }
  return std::nullopt;
}

}  // namespace rondo::replay
