#include "jinja/value/strings.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cstring>
#include <limits>

#include "base/utf8.h"
#include "jinja/common/events.h"
#include "jinja/value/heap.h"
#include "jinja/value/making.h"
#include "jinja/value/runtime.h"
#include "jinja/value/state.h"
#include "jinja/value/value.h"
#include "text/dumps.h"

namespace rondo::jinja {
namespace {

using text::Run;
using text::RunKind;

constexpr std::size_t kMaxStringBytes = std::numeric_limits<std::int32_t>::max();

void set_runs(Heap& heap, String& string, std::span<const Run> runs) {
  string.run_count = static_cast<std::uint32_t>(runs.size());
  if (runs.size() == 1) {
    string.single = runs[0];
    string.runs = &string.single;
  } else if (!runs.empty()) {
    Run* copy = heap.allocate_array<Run>(runs.size());
    std::copy(runs.begin(), runs.end(), copy);
    string.runs = copy;
  }
}

// Makes room for the bytes of a concatenation; true if those of its leftmost leaf are already in place.  A template
// that appends to a long text and looks at it again and again must not copy it each time.
bool place_bytes(Runtime& runtime, String& string, char*& bytes) {
  constexpr std::size_t kLongBytes = 1024;
  String* first = &string;
  while (!is_leaf(*first)) first = first->pair.left;
  const std::uint32_t added = string.size - first->size;
  if (first->size != 0 && first->spare >= added) {
    bytes = const_cast<char*>(first->data);  // NOLINT(cppcoreguidelines-pro-type-const-cast): our own memory, see below
    string.spare = first->spare - added;
    first->spare = 0;
    return true;
  }
  // Only memory allocated here has spare bytes.
  string.spare = first->size > kLongBytes ? string.size : 0;
  bytes = runtime.heap.allocate_array<char>(std::size_t{string.size} + string.spare);
  return false;
}

}  // namespace

void Leaves::push_slowly(const Leaf& leaf) {
  if (many_.empty()) many_.assign(few_.begin(), few_.end());
  many_.resize(size_++);
  many_.push_back(leaf);
}

// Joins a concatenation: its leaves from left to right, each under the innermost stamp around it.
void join(Runtime& runtime, String& string) {
  char* bytes = nullptr;
  const bool first_in_place = place_bytes(runtime, string, bytes);
  std::size_t at = 0;
  std::vector<Run> runs;
  constexpr std::size_t kCheckRuns = 4096;
  std::size_t checked = 0;  // a string doubled 30 times has a billion leaves: check limits before joining
  Leaves leaves(string);
  for (Leaves::Leaf part; leaves.next(part);) {
    if (leaves.visited() + runs.size() - checked > kCheckRuns) {
      runtime.spend((leaves.visited() + runs.size() - checked) / 4);
      checked = leaves.visited() + runs.size();
      runtime.heap.require(2 * runs.size() * sizeof(Run));
    }
    const String& leaf = *part.string;
    if (leaf.size != 0 && !(at == 0 && first_in_place)) std::memcpy(bytes + at, leaf.data, leaf.size);
    at += leaf.size;
    string.has_dumps = string.has_dumps || leaf.has_dumps;
    for (std::uint32_t i = 0; i < leaf.run_count; ++i) {
      runs.push_back(leaf.runs[i]);
      if (runs.back().context == text::ContextId::kNone) runs.back().context = part.stamp;
    }
  }
  assert(at == string.size);
  runtime.spend((leaves.visited() + runs.size() - checked) / 8 + string.size / 1024);
  string.data = bytes;
  set_runs(runtime.heap, string, runs);
}

void take_dumps_apart(Runtime& runtime, String& string) {
  const std::span<const Run> runs(string.runs, string.run_count);
  const std::size_t count = text::count_parts(runs);
  runtime.heap.require(2 * count * sizeof(Run));
  runtime.spend(count);
  set_runs(runtime.heap, string, text::parts_of({string.data, string.size}, runs, runtime.origins.paths));
  string.has_dumps = false;
  runtime.state().last_run = {};
}

CodePoint decode_at(std::string_view text, std::size_t at) {
  const auto first = static_cast<unsigned char>(text[at]);
  if (first < 0x80) return {first, 1};
  std::uint32_t size = 1;
  while (at + size < text.size() && size < 4 && utf8::is_continuation(text[at + size])) ++size;
  char32_t value = size == 2 ? first & 0x1FU : size == 3 ? first & 0x0FU : size == 4 ? first & 0x07U : first;
  for (std::uint32_t i = 1; i < size; ++i) value = value << 6U | (static_cast<unsigned char>(text[at + i]) & 0x3FU);
  return {value, size};
}

std::size_t previous_start(std::string_view text, std::size_t end) {
  --end;
  while (end > 0 && utf8::is_continuation(text[end])) --end;
  return end;
}

std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < text.size(); ++i) count += utf8::is_continuation(text[i]) ? 0 : 1;
  return count;
}

std::size_t code_point_offset(std::string_view text, std::size_t index) {
  std::size_t at = 0;
  for (; at < text.size(); ++at) {
    if (utf8::is_continuation(text[at])) continue;
    if (index == 0) break;
    --index;
  }
  return at;
}

std::string_view bytes_of(Runtime& runtime, const Value& value) {
  const String& string = joined(runtime, value);
  return {string.data, string.size};
}

std::span<const Run> runs_of(Runtime& runtime, const Value& value) {
  const String& string = joined_parts(runtime, value);
  return {string.runs, string.run_count};
}

std::size_t code_points(Runtime& runtime, const Value& value) {
  String& string = value.as_string();
  if (string.code_points < 0) {
    runtime.spend_bytes(string.size);
    string.code_points = static_cast<std::int32_t>(count_code_points(bytes_of(runtime, value)));
  }
  return static_cast<std::size_t>(string.code_points);
}

std::size_t byte_offset(Runtime& runtime, const Value& value, std::size_t index) {
  const std::size_t count = code_points(runtime, value);
  const std::string_view bytes = bytes_of(runtime, value);
  if (index >= count) return bytes.size();
  if (count == bytes.size()) return index;
  runtime.spend_bytes(bytes.size());
  return code_point_offset(bytes, index);
}

Value empty_string(Runtime& runtime) { return Value::string(runtime.heap.make_string()); }

// The run that contains byte `at` of a string.  The search begins at the last answer: pieces of one string are mostly
// requested in order, and a string of many runs would otherwise take quadratic time.
RunPlace find_run(Runtime& runtime, const String& string, std::size_t at) {
  constexpr std::uint32_t kFewRuns = 8;
  RunPlace local{&string, 0, 0};
  RunPlace& place = string.run_count > kFewRuns ? runtime.state().last_run : local;
  if (place.string != &string) place = local;
  while (place.begin > at) place.begin -= string.runs[--place.run].size;
  while (place.begin + string.runs[place.run].size <= at) place.begin += string.runs[place.run++].size;
  return place;
}

Value substring(Runtime& runtime, const Value& value, std::size_t begin, std::size_t end, std::string_view step) {
  const bool is_whole = begin == 0 && end == value.as_string().size;
  const String& source = is_whole ? joined(runtime, value) : joined_parts(runtime, value);
  assert(begin <= end && end <= source.size);
  String* out = runtime.heap.make_string();
  out->has_dumps = source.has_dumps;
  out->data = source.data + begin;
  out->size = static_cast<std::uint32_t>(end - begin);
  if (begin < end && source.run_count != 0) {
    const RunPlace place = find_run(runtime, source, begin);
    std::uint32_t first = place.run;
    std::size_t at = place.begin;
    std::uint32_t last = first;
    for (std::size_t covered = at; covered < end; ++last) covered += source.runs[last].size;
    Run* runs = &out->single;
    if (last - first > 1) runs = runtime.heap.allocate_array<Run>(last - first);
    out->runs = runs;
    out->run_count = last - first;
    for (std::uint32_t i = first; i < last; ++i) {
      Run& run = runs[i - first];
      run = source.runs[i];
      const std::size_t from = at < begin ? begin - at : 0;
      const std::size_t to = std::min<std::size_t>(at + run.size, end) - at;
      at += run.size;
      run.size = static_cast<std::uint32_t>(to - from);
      if (has_source(run)) {
        run.source_offset += static_cast<std::uint32_t>(from);
        run.source_size = run.size;
      }
      take_run(runtime, run, step);
    }
  }
  return Value::string(out).with_path(value.path()).with_markup(value.is_markup());
}

Value concatenate(Runtime& runtime, const Value& left, const Value& right) {
  String& a = left.as_string();
  String& b = right.as_string();
  const std::size_t size = std::size_t{a.size} + b.size;
  if (size > kMaxStringBytes) runtime.fail(ErrorCode::kLimit, "a string of the template exceeds 2 GiB");
  String* out = runtime.heap.make_string();
  out->size = static_cast<std::uint32_t>(size);
  if (size != 0) out->pair = {&a, &b, runtime.in_message() ? runtime.context : text::ContextId::kNone};
  return Value::string(out);
}

Value padding(Runtime& runtime, std::size_t size, std::string_view character) {
  runtime.pay_for_filling(size > runtime.options.limits.memory_bytes ? size : size * character.size());
  std::string out;
  out.reserve(size * character.size());
  for (std::size_t i = 0; i < size; ++i) out += character;
  return make_computed(runtime, out);
}

Value join_parts(Runtime& runtime, std::span<const Value> strings) {
  Value out;
  for (const Value& string : strings) {
    if (string.as_string().size == 0) continue;
    out = out.is_undefined() ? string : concatenate(runtime, out, string);
  }
  return out.is_undefined() ? empty_string(runtime) : out.with_markup(false);
}

Value join_strings(Runtime& runtime, const Value& separator, std::span<const Value> strings) {
  std::vector<Value> parts;
  parts.reserve(strings.size() * 2);
  for (const Value& string : strings) {
    if (!parts.empty() || &string != strings.data()) parts.push_back(separator);
    parts.push_back(string);
  }
  const Value out = join_parts(runtime, parts);
  return strings.size() == 1 ? out : out.with_path(text::PathId::kNone);
}

void StringBuilder::append(const String& string, std::size_t begin, std::size_t end, std::string_view step) {
  if (begin >= end) return;
  if (string.run_count == 0) {
    append(std::string_view(string.data + begin, end - begin), text::Run{});
    return;
  }
  RunPlace place = find_run(runtime_, string, begin);
  std::size_t at = place.begin;
  for (std::uint32_t i = place.run; i < string.run_count && at < end; ++i) {
    Run run = string.runs[i];
    const std::size_t from = at < begin ? begin - at : 0;
    const std::size_t to = std::min<std::size_t>(at + run.size, end) - at;
    const std::size_t run_start = at;
    at += run.size;
    if (from >= to) continue;
    if (has_source(run)) run.source_offset += static_cast<std::uint32_t>(from);
    take_run(runtime_, run, step);
    append(std::string_view(string.data + run_start + from, to - from), run);
  }
}

void StringBuilder::append(const Value& string, std::string_view step) {
  const String& source = joined(runtime_, string);
  append(source, 0, source.size, step);
}

void StringBuilder::check() {
  runtime_.spend_bytes(unchecked_);
  unchecked_ = 0;
  if (is_output_) runtime_.check_output_size(text_->size());
  runtime_.heap.require(text_->size() + text_->runs().size_bytes());
}

Value StringBuilder::finish(text::PathId path) {
  runtime_.spend_bytes(unchecked_);
  return make_string(runtime_, *text_).with_path(path);
}

Rewriter::Rewriter(Runtime& runtime, const Value& source, std::string_view step)
    : runtime_(runtime),
      source_(joined_parts(runtime, source)),
      path_(source.path()),
      step_(step),
      out_(runtime),
      markup_(source.is_markup()) {
  runtime.spend_bytes(source_.size + source_.run_count * sizeof(Run));
}

void Rewriter::flush() {
  if (!runtime_.tracing) {
    out_.append(std::string_view(source_.data + kept_from_, at_ - kept_from_), Run{});
    kept_from_ = at_;
    return;
  }
  while (kept_from_ < at_) {
    Run run = source_.runs[run_];
    const std::size_t offset = kept_from_ - run_start_;
    if (offset >= run.size) {
      run_start_ += run.size;
      ++run_;
      continue;
    }
    const std::size_t size = std::min(at_ - kept_from_, run.size - offset);
    if (has_source(run)) run.source_offset += static_cast<std::uint32_t>(offset);
    take_run(runtime_, run, step_);
    out_.append(std::string_view(source_.data + kept_from_, size), run);
    kept_from_ += size;
  }
}

Run Rewriter::run_at(std::size_t at) {
  if (!runtime_.tracing) return {};
  while (at - run_start_ >= source_.runs[run_].size) run_start_ += source_.runs[run_++].size;
  Run run = source_.runs[run_];
  if (has_source(run)) run.source_offset += static_cast<std::uint32_t>(at - run_start_);
  take_run(runtime_, run, step_);
  return run;
}

void Rewriter::map(std::size_t bytes, std::string_view with) {
  runtime_.spend();
  flush();
  const Run run = bytes == with.size() && bytes != 0 ? run_at(at_) : Run{};
  // A single run must cover all of the bytes.  Otherwise the copy would claim a source that it does not have.
  const bool is_whole = !runtime_.tracing || at_ + bytes <= run_start_ + source_.runs[run_].size;
  if (bytes != with.size() || bytes == 0 || !is_whole) {
    replace(bytes, with);
    return;
  }
  out_.append(with, run);
  at_ += bytes;
  kept_from_ = at_;
}

void Rewriter::replace(std::size_t bytes, std::string_view with) {
  runtime_.spend();
  flush();
  if (bytes == 0) {
    out_.append_computed(with);
    return;
  }
  Run run = run_at(at_);
  if (run.kind == RunKind::kData) {
    const std::size_t left_in_run = run_start_ + source_.runs[run_].size - at_;
    run.kind = RunKind::kEscaped;
    run.source_size = static_cast<std::uint32_t>(std::min(bytes, left_in_run));
  } else if (run.kind == RunKind::kLiteral) {
    const text::ContextId context = run.context;
    run = computed_run(runtime_);
    run.context = context;
  }
  out_.append(with, run);
  at_ += bytes;
  kept_from_ = at_;
}

void Rewriter::replace(std::size_t bytes, const Value& with) {
  runtime_.spend();
  flush();
  if (bytes != 0) {
    const RunKind kind = run_at(at_).kind;
    if (kind == RunKind::kData || kind == RunKind::kEscaped) {
      replace(bytes, bytes_of(runtime_, with));
      return;
    }
  }
  out_.append(with);
  at_ += bytes;
  kept_from_ = at_;
}

void Rewriter::drop(std::size_t bytes) {
  runtime_.spend();
  flush();
  at_ += bytes;
  kept_from_ = at_;
}

void Rewriter::insert(std::string_view bytes, const Run& run) {
  runtime_.spend();
  flush();
  out_.append(bytes, run);
}

void Rewriter::insert(const Value& string) {
  runtime_.spend();
  flush();
  out_.append(string);
}

Value Rewriter::finish() {
  at_ = source_.size;
  flush();
  return out_.finish(path_).with_markup(markup_);
}

void log_strip(Runtime& runtime, const Value& value, std::size_t begin, std::size_t end) {
  if (begin == end) return;
  std::size_t at = 0;
  for (const Run& run : runs_of(runtime, value)) {
    const std::size_t from = std::max(at, begin);
    const std::size_t to = std::min<std::size_t>(at + run.size, end);
    const std::size_t run_start = at;
    at += run.size;
    if (from >= to || (run.kind != RunKind::kData && run.kind != RunKind::kEscaped)) continue;
    Strip strip;
    strip.line = runtime.line();
    strip.column = runtime.column();
    strip.path = run.path();
    strip.begin = run.source_offset;
    strip.end = run.source_offset + run.source_size;
    if (run.kind == RunKind::kData) {
      strip.begin = run.source_offset + static_cast<std::uint32_t>(from - run_start);
      strip.end = run.source_offset + static_cast<std::uint32_t>(to - run_start);
    }
    runtime.heap.charge(sizeof(Strip));
    runtime.strips.push_back(strip);
  }
}

namespace {

// The places of messages that a probed value came from, each once.
class ProbeList {
 public:
  ProbeList(Runtime& runtime, std::string_view operation) : runtime_(runtime), operation_(operation) {}

  void add(text::PathId path, std::uint32_t begin, std::uint32_t end) {
    if (runtime_.origins.paths.message(path) == text::kNoMessage) return;
    const std::span<Probe> known = all();
    if (const auto found = std::ranges::find(known, path, &Probe::path); found != known.end()) {
      found->begin = found->end == 0 ? begin : std::min(found->begin, begin);
      found->end = std::max(found->end, end);
    } else {
      probes_[count_++] = {runtime_.line(), operation_, "", path, begin, end};
    }
  }
  void add_runs(const Value& subject) {
    const String& string = joined(runtime_, subject);
    const std::span<const Run> runs(string.runs, string.run_count);
    const auto is_of_message = [&](const Run& run) {
      return run.kind == RunKind::kDump && runtime_.origins.paths.message(run.path()) != text::kNoMessage;
    };
    const bool needs_parts = string.has_dumps && std::ranges::any_of(runs, is_of_message);
    for (const Run& run : needs_parts ? runs_of(runtime_, subject) : runs) {
      if (count_ == kMostPaths) break;
      if (run.kind == RunKind::kData || run.kind == RunKind::kEscaped)
        add(run.path(), run.source_offset, run.source_offset + run.source_size);
    }
  }
  [[nodiscard]] std::span<Probe> all() { return std::span(probes_).first(count_); }

 private:
  static constexpr std::size_t kMostPaths = 8;  // a text from many messages says little about any of them

  Runtime& runtime_;
  std::string_view operation_;
  std::array<Probe, kMostPaths> probes_;
  std::size_t count_ = 0;
};

}  // namespace

void log_probe(Runtime& runtime, std::string_view operation, const Value& constant, const Value& subject) {
  if (!runtime.tracing || !constant.is_string() || constant.has_path()) return;
  if (std::ranges::any_of(runs_of(runtime, constant), is_input)) return;
  ProbeList probes(runtime, operation);
  if (subject.has_path()) probes.add(subject.path(), 0, 0);
  if (subject.is_string()) probes.add_runs(subject);
  for (Probe& probe : probes.all()) {
    probe.constant = bytes_of(runtime, constant);
    runtime.heap.charge(sizeof(Probe) + probe.constant.size());
    runtime.probes.push_back(std::move(probe));
  }
}

}  // namespace rondo::jinja
