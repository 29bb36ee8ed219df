#include "gateway/journal.h"

#include <chrono>
#include <cstdio>
#include <utility>

#include "json/parse.h"
#include "json/print.h"

namespace rondo::gateway {
namespace {

constexpr std::size_t kMostPathBytes = 200;

// "2026-03-14T15:09:26.123Z"
std::string time_text(std::int64_t time_ms) {
  namespace chrono = std::chrono;
  const chrono::sys_time<chrono::milliseconds> time{chrono::milliseconds(time_ms)};
  const auto day = chrono::floor<chrono::days>(time);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss clock(time - day);
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                static_cast<int>(clock.hours().count()), static_cast<int>(clock.minutes().count()),
                static_cast<int>(clock.seconds().count()), static_cast<int>(clock.subseconds().count()));
  return text.data();
}

json::Object facts_of(const LogEntry& entry) {
  const Visit& visit = entry.visit;
  json::Object facts{{"time", time_text(entry.time_ms)},
                     {"status", entry.status},
                     {"api", entry.api},
                     {"method", entry.request.method},
                     {"path", entry.request.path.substr(0, kMostPathBytes)},
                     {"request_id", visit.request_id}};
  if (!visit.tenant.empty()) facts.set("tenant", visit.tenant);
  if (!visit.model.empty()) facts.set("model", visit.model);
  if (!visit.how.empty()) facts.set("how", visit.how);
  if (visit.prompt_tokens) facts.set("prompt_tokens", *visit.prompt_tokens);
  if (visit.cached_tokens) facts.set("cached_tokens", *visit.cached_tokens);
  if (visit.completion_tokens) facts.set("completion_tokens", *visit.completion_tokens);
  if (visit.first_token) {
    const auto time = std::chrono::duration_cast<std::chrono::milliseconds>(*visit.first_token - visit.began);
    facts.set("first_token_ms", static_cast<std::int64_t>(time.count()));
  }
  facts.set("total_ms", entry.total_ms);
  return facts;
}

}  // namespace

std::string log_line(ServiceOptions::Log format, const LogEntry& entry) {
  const json::Object facts = facts_of(entry);
  if (format == ServiceOptions::Log::kJson) return json::to_compact(json::Value(facts)) + "\n";
  // Time, status, method and path are written as they are; values with spaces or quotes become JSON.
  std::string line;
  for (const json::Member& fact : facts) {
    const std::string_view name = fact.key;
    std::string value = fact.value.is_string() ? std::string(fact.value.as_string()) : json::to_compact(fact.value);
    if (value.find_first_of(" \"\\") != std::string::npos) value = json::to_compact(fact.value);
    if (!line.empty()) line += ' ';
    if (name != "time" && name != "status" && name != "method" && name != "path" && name != "api")
      line.append(name).append("=");
    line += value;
  }
  return line + "\n";
}

void RequestLog::keep(Entry entry, std::size_t most_bytes) {
  auto body = json::parse(entry.body);
  if (!body.ok()) return;  // such a request was refused
  json::Object line{{"time", entry.time_ms}, {"request_id", entry.request_id}};
  if (!entry.session.empty()) line.set("session_id", entry.session);
  line.set("request", std::move(body).value());
  std::string text = json::to_compact(json::Value(std::move(line))) + "\n";
  const std::lock_guard lock(mutex_);
  bytes_ += text.size();
  lines_.push_back({.tenant = std::move(entry.tenant), .time_ms = entry.time_ms, .text = std::move(text)});
  while (!lines_.empty() && bytes_ > most_bytes) {
    bytes_ -= lines_.front().text.size();
    lines_.pop_front();
  }
}

std::string RequestLog::lines(std::string_view tenant, std::int64_t since_ms) const {
  const std::lock_guard lock(mutex_);
  std::string out;
  for (const Line& line : lines_) {
    if (line.tenant == tenant && line.time_ms > since_ms) out += line.text;
  }
  return out;
}

}  // namespace rondo::gateway
