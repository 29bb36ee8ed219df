#include "gateway/metrics.h"

#include <algorithm>
#include <charconv>

namespace rondo::gateway {
namespace {

std::string number(double value) {
  std::array<char, 32> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end.ptr};
}

// The value of a label, in quotes.
std::string quoted(std::string_view value) {
  std::string out = "\"";
  for (const char c : value) {
    if (c == '\\' || c == '"') out += '\\';
    out += c == '\n' ? std::string("\\n") : std::string(1, c);
  }
  return out + "\"";
}

void begin(std::string& text, std::string_view name, std::string_view type, std::string_view help) {
  text.append("# HELP ").append(name).append(" ").append(help).append("\n");
  text.append("# TYPE ").append(name).append(" ").append(type).append("\n");
}

void sample(std::string& text, std::string_view name, std::string_view labels, const std::string& value) {
  text.append(name).append(labels).append(" ").append(value).append("\n");
}

void counter(std::string& text, std::string_view name, std::string_view help, std::uint64_t value) {
  begin(text, name, "counter", help);
  sample(text, name, "", std::to_string(value));
}

void counters(std::string& text, std::string_view name, std::string_view help, std::string_view label,
              const std::map<std::string, std::uint64_t>& values) {
  begin(text, name, "counter", help);
  for (const auto& [value, times] : values)
    sample(text, name, "{" + std::string(label) + "=" + quoted(value) + "}", std::to_string(times));
}

}  // namespace

void Histogram::observe(double seconds) {
  const auto bucket = std::lower_bound(kBounds.begin(), kBounds.end(), seconds) - kBounds.begin();
  ++counts_.at(static_cast<std::size_t>(bucket));
  sum_ += seconds;
}

void Histogram::append_to(std::string& text, std::string_view name, std::string_view help) const {
  begin(text, name, "histogram", help);
  const std::string base(name);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    sum += counts_.at(i);
    const std::string bound = i < kBounds.size() ? number(kBounds.at(i)) : "+Inf";
    sample(text, base + "_bucket", "{le=\"" + bound + "\"}", std::to_string(sum));
  }
  sample(text, base + "_sum", "", number(sum_));
  sample(text, base + "_count", "", std::to_string(sum));
}

void Metrics::answered(std::string_view api, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{std::string(api), status}];
  seconds_.observe(seconds);
}

void Metrics::first_token(double seconds) {
  const std::lock_guard lock(mutex_);
  first_token_.observe(seconds);
}

void Metrics::planned(double seconds) {
  const std::lock_guard lock(mutex_);
  planning_.observe(seconds);
}

void Metrics::turn(const Turn& turn) {
  const std::lock_guard lock(mutex_);
  ++by_way_[turn.how];
  if (!turn.cause.empty()) ++by_cause_[turn.cause];
  prompt_tokens_ += turn.prompt;
  cached_tokens_ += turn.cached;
  completion_tokens_ += turn.completion;
}

void Metrics::engine_failed() {
  const std::lock_guard lock(mutex_);
  ++failed_;
}

std::string Metrics::text(const std::vector<Gauge>& gauges) const {
  const std::lock_guard lock(mutex_);
  std::string text;
  begin(text, "rondo_requests_total", "counter",
        "Requests that were answered, by API and status; 499: the client went first.");
  for (const auto& [key, times] : requests_) {
    const std::string labels = "{api=" + quoted(key.first) + ",status=\"" + std::to_string(key.second) + "\"}";
    sample(text, "rondo_requests_total", labels, std::to_string(times));
  }
  counter(text, "rondo_failed_total", "Requests that an engine failed.", failed_);
  counter(text, "rondo_prompt_tokens_total", "Ids of prompts.", prompt_tokens_);
  counter(text, "rondo_cached_tokens_total", "Of these, what engines say was cached.", cached_tokens_);
  counter(text, "rondo_completion_tokens_total", "Ids that were sampled.", completion_tokens_);
  counters(text, "rondo_prompts_total", "Prompts by the way that they were made.", "how", by_way_);
  counters(text, "rondo_breaks_total", "Prompts that lost ids which an engine had been given, by the cause.", "cause",
           by_cause_);
  seconds_.append_to(text, "rondo_request_seconds", "From a request's head to the end of its answer.");
  first_token_.append_to(text, "rondo_first_token_seconds", "From a request's head to the first id of its reply.");
  planning_.append_to(text, "rondo_planning_seconds", "Making the prompt of a request.");
  std::string_view last;
  for (const Gauge& gauge : gauges) {
    if (gauge.name != last) begin(text, gauge.name, "gauge", gauge.help);
    last = gauge.name;
    std::string labels;
    for (const auto& [name, value] : gauge.labels) labels += (labels.empty() ? "{" : ",") + name + "=" + quoted(value);
    sample(text, gauge.name, labels.empty() ? "" : labels + "}", number(gauge.value));
  }
  return text;
}

}  // namespace rondo::gateway
