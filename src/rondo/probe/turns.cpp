#include "probe/turns.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace rondo::probe {
namespace {

constexpr std::string_view kToolsVariable = "tools";
constexpr std::string_view kDocumentsVariable = "documents";
constexpr std::string_view kRoleKey = "role";

bool is_list_variable(std::string_view root) { return root == kToolsVariable || root == kDocumentsVariable; }

// messages[i].role itself.
bool is_role(text::PathId path, const text::Origins& origins) {
  return origins.paths.depth(path) == 3 && origins.paths.message(path) != text::kNoMessage &&
         origins.paths.step_name(path) == kRoleKey;
}

}  // namespace

std::int32_t owner(const text::Run& run, const text::Origins& origins) {
  const text::Context& context = origins.contexts.at(run.context);
  if (context.generation_prompt) return text::kNoMessage;
  if (context.element != text::PathId::kNone && is_list_variable(origins.paths.root(context.element)))
    return text::kNoMessage;
  if (is_list_variable(origins.paths.root(run.path()))) return text::kNoMessage;
  const std::int32_t bound = context.owner();
  return bound != text::kNoMessage ? bound : origins.paths.message(run.path());
}

bool is_message_data(const text::Run& run, const text::Origins& origins) {
  if (run.kind == text::RunKind::kLiteral || run.kind == text::RunKind::kComputed) return false;
  return origins.paths.message(run.path()) != text::kNoMessage && !is_role(run.path(), origins);
}

namespace {

// The extent of one message's data, collected from the runs that hold it, in order.
class DataExtent {
 public:
  // Takes `size` bytes from `begin`; `is_behind`: a turn of a later message is between the data so far and these bytes.
  void take(const text::Run& run, std::size_t begin, bool is_behind) {
    // A loop that searches for a result's call is bound to the call's message, although it writes in the later turn.
    if (extent_ && is_behind && has(run.path())) return;
    if (paths_.empty() || paths_.back() != run.path()) {
      paths_.push_back(run.path());
      is_sorted_ = false;
    }
    if (!extent_) extent_ = Extent{begin, begin};
    extent_->end = begin + run.size;
  }
  [[nodiscard]] const std::optional<Extent>& extent() const { return extent_; }

 private:
  bool has(text::PathId path) {
    if (!std::exchange(is_sorted_, true)) std::ranges::sort(paths_);
    return std::ranges::binary_search(paths_, path);
  }

  std::optional<Extent> extent_;
  std::vector<text::PathId> paths_;  // whose data was seen
  bool is_sorted_ = false;
};

// Whether the run has data of message `index`, in a turn that may be its own.
bool is_data_of(const text::Run& run, const text::Context& context, const text::Origins& origins, std::int32_t index) {
  return origins.paths.message(run.path()) == index && is_message_data(run, origins) &&
         (context.message == index || context.message == text::kNoMessage);
}

// Tracks where the runs of later messages are, while the runs are traversed.
class LaterRuns {
 public:
  // Records that run number `run` is bound to `message`.
  void note(std::int32_t message, std::size_t run) {
    while (!last_.empty() && last_.back().message <= message) last_.pop_back();
    last_.push_back({message, run});
  }
  // 1 + the last run so far that is bound to a message after `message`; 0 if there is none.
  [[nodiscard]] std::size_t behind(std::int32_t message) const {
    for (auto entry = last_.rbegin(); entry != last_.rend(); ++entry) {
      if (entry->message > message) return entry->run + 1;
    }
    return 0;
  }

 private:
  struct Entry {
    std::int32_t message;
    std::size_t run;
  };
  std::vector<Entry> last_;  // each message's last run, except where a later message has a later run
};

// The offset of the first run, from number `run` on (which begins at `at`), that ends after `from` and does not belong
// to message `index`'s turn.
std::size_t find_tail_end(const jinja::Rendered& rendered, std::int32_t index, std::size_t run, std::size_t at,
                          std::size_t from) {
  const auto runs = rendered.text.runs();
  for (; run < runs.size(); ++run) {
    const std::size_t begin = at;
    at += runs[run].size;
    if (at <= from) continue;
    const text::Context& context = rendered.origins.contexts.at(runs[run].context);
    if (context.generation_prompt || context.owner() != index) return std::max(begin, from);
  }
  return at;
}

}  // namespace

std::optional<Extent> data_extent(const jinja::Rendered& rendered, std::int32_t index) {
  DataExtent data;
  bool is_behind = false;
  std::size_t at = 0;
  for (const text::Run& run : rendered.text.runs()) {
    const text::Context& context = rendered.origins.contexts.at(run.context);
    if (context.message > index) is_behind = true;
    if (is_data_of(run, context, rendered.origins, index)) {
      data.take(run, at, is_behind);
      is_behind = is_behind && data.extent()->end != at + run.size;
    }
    at += run.size;
  }
  return data.extent();
}

std::vector<TurnExtent> turn_extents(const jinja::Rendered& rendered, std::size_t count) {
  const text::Origins& origins = rendered.origins;
  const auto runs = rendered.text.runs();
  std::vector<TurnExtent> out(count);
  std::vector<DataExtent> data(count);
  std::vector<std::size_t> taken(count, 0);  // 1 + the last run of the data
  std::vector<std::size_t> begins;           // of runs
  begins.reserve(runs.size());
  LaterRuns later;
  std::size_t at = 0;
  for (std::size_t i = 0; i < runs.size(); ++i) {
    begins.push_back(at);
    const text::Context& context = origins.contexts.at(runs[i].context);
    if (context.message != text::kNoMessage) later.note(context.message, i);
    const auto owned_by = static_cast<std::size_t>(
        owner(runs[i], origins));  // as an unsigned number, kNoMessage is larger than all counts
    if (owned_by < count && !out[owned_by].begin) out[owned_by].begin = at;
    const std::int32_t message = origins.paths.message(runs[i].path());
    const auto place = static_cast<std::size_t>(message);
    if (place < count && is_data_of(runs[i], context, origins, message)) {
      data[place].take(runs[i], at, later.behind(message) > taken[place]);
      if (data[place].extent()->end == at + runs[i].size) taken[place] = i + 1;
    }
    at += runs[i].size;
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (!out[i].begin) continue;
    out[i].data = data[i].extent();
    const std::size_t from = out[i].data ? out[i].data->end : *out[i].begin;
    const auto run = static_cast<std::size_t>(std::ranges::upper_bound(begins, from) - begins.begin());
    out[i].tail_end = find_tail_end(rendered, static_cast<std::int32_t>(i), run == 0 ? 0 : run - 1,
                                    run == 0 ? 0 : begins[run - 1], from);
  }
  return out;
}

std::size_t tail_end(const jinja::Rendered& rendered, std::int32_t index, std::size_t from) {
  return find_tail_end(rendered, index, 0, 0, from);
}

std::optional<std::size_t> turn_begin(const jinja::Rendered& rendered, std::int32_t index) {
  std::size_t at = 0;
  for (const text::Run& run : rendered.text.runs()) {
    if (owner(run, rendered.origins) == index) return at;
    at += run.size;
  }
  return std::nullopt;
}

std::size_t end_of_data(const jinja::Rendered& rendered, std::size_t count) {
  std::size_t end = 0;
  for (const TurnExtent& turn : turn_extents(rendered, count)) {
    if (turn.data) end = std::max(end, turn.data->end);
  }
  return end;
}

}  // namespace rondo::probe
