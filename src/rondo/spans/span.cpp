#include "spans/span.h"

#include <algorithm>
#include <cassert>
#include <cstring>

#include "base/common_prefix.h"
#include "base/shared_text.h"

namespace rondo::spans {
namespace {

std::vector<Stretch> stretches_of(std::span<const std::int32_t> owners, std::span<const std::uint8_t> sampled) {
  std::vector<Stretch> out;
  for (std::size_t i = 0; i < owners.size(); ++i) {
    const bool is_sampled = sampled[i] != 0;
    if (out.empty() || out.back().owner != owners[i] || out.back().sampled != is_sampled)
      out.push_back({0, owners[i], is_sampled});
    ++out.back().length;
  }
  return out;
}

Error broken(const char* what) {
  return Error(ErrorCode::kInvalidArgument, std::string("a turn cannot be put together: ") + what);
}

// A turn as far as it is assembled.  Its completion follows the prompt, and its reply follows the messages.
struct Whole {
  std::vector<TokenId> ids;
  std::vector<std::int32_t> owners;
  std::vector<std::uint8_t> sampled;
  std::vector<SharedText> messages;
  std::vector<std::size_t> reasoned;
  std::string context;

  Status add_prompt(const Record& record) {
    if (record.kept_ids > ids.size()) return broken("more ids are kept than its parent has");
    if (record.kept_messages > messages.size()) return broken("more messages are kept than its parent has");
    ids.resize(record.kept_ids);
    owners.resize(record.kept_ids);
    sampled.resize(record.kept_ids);
    ids.insert(ids.end(), record.ids.begin(), record.ids.end());
    for (const Stretch& stretch : record.stretches) {
      owners.insert(owners.end(), stretch.length, stretch.owner);
      sampled.insert(sampled.end(), stretch.length, stretch.sampled ? 1 : 0);
    }
    if (owners.size() != ids.size()) return broken("its ids and their owners are not equally many");
    if (record.prefill > ids.size()) return broken("it continues more than its prompt");
    messages.resize(record.kept_messages);
    messages.insert(messages.end(), record.messages.begin(), record.messages.end());
    std::erase_if(reasoned, [&](std::size_t message) { return message >= record.kept_messages; });
    reasoned.insert(reasoned.end(), record.reasoned.begin(), record.reasoned.end());
    if (record.context) context = *record.context;
    return Done{};
  }
  void add_reply(const Reply& reply) {
    ids.insert(ids.end(), reply.completion.begin(), reply.completion.end());
    owners.resize(ids.size(), static_cast<std::int32_t>(messages.size()));
    sampled.resize(ids.size(), 1);
    messages.emplace_back(reply.message);
  }
};

}  // namespace

std::vector<TokenId> Turn::ids() const {
  std::vector<TokenId> out;
  out.reserve(prompt.size() + completion.size());
  out.insert(out.end(), prompt.begin(), prompt.end());
  out.insert(out.end(), completion.begin(), completion.end());
  return out;
}

namespace {

std::size_t same_bytes(std::span<const std::uint8_t> a, std::span<const std::uint8_t> b) {
  constexpr std::size_t kStride = 256;
  const std::size_t length = std::min(a.size(), b.size());
  std::size_t same = 0;
  while (same + kStride <= length && std::memcmp(&a[same], &b[same], kStride) == 0) same += kStride;
  while (same < length && a[same] == b[same]) ++same;
  return same;
}

// How many of the first `kept` ids, which the parent has too, belong to the same owners as there.  The others count as
// new.
std::size_t same_owners(const Turn& turn, const Turn& parent, std::size_t kept) {
  const std::size_t old = std::min(kept, parent.prompt.size());
  std::size_t same = common_prefix(std::span(turn.owners).first(old), parent.owners);
  same = std::min(same, same_bytes(std::span(turn.sampled).first(old), parent.sampled));
  if (same < old) return same;
  const auto reply = static_cast<std::int32_t>(parent.messages.size());
  while (same < kept && turn.owners[same] == reply && turn.sampled[same] == 1) ++same;
  return same;
}

}  // namespace

Record make_record(const Turn& turn, const Turn* parent, std::size_t kept_messages) {
  assert((parent == nullptr) == !turn.parent && turn.owners.size() == turn.prompt.size() &&
         turn.sampled.size() == turn.prompt.size());
  Record out;
  static_cast<Reply&>(out) = turn;
  if (parent != nullptr) {
    out.kept_ids = common_prefix(parent->prompt, turn.prompt);
    if (out.kept_ids == parent->prompt.size())
      out.kept_ids += common_prefix(parent->completion, std::span(turn.prompt).subspan(out.kept_ids));
    out.kept_ids = same_owners(turn, *parent, out.kept_ids);
    out.kept_messages = std::min({kept_messages, parent->messages.size() + 1, turn.messages.size()});
  }
  const auto kept = static_cast<std::ptrdiff_t>(out.kept_ids);
  out.ids.assign(turn.prompt.begin() + kept, turn.prompt.end());
  out.stretches =
      stretches_of(std::span(turn.owners).subspan(out.kept_ids), std::span(turn.sampled).subspan(out.kept_ids));
  for (std::size_t i = out.kept_messages; i < turn.messages.size(); ++i) out.messages.push_back(turn.messages[i].get());
  for (const std::size_t message : turn.reasoned) {
    if (message >= out.kept_messages) out.reasoned.push_back(message);
  }
  if (parent == nullptr || parent->context != turn.context) out.context = turn.context;
  return out;
}

namespace {

Turn turn_of(Whole whole, const Record& record) {
  Turn out;
  static_cast<Reply&>(out) = record;
  out.prompt = std::move(whole.ids);
  out.owners = std::move(whole.owners);
  out.sampled = std::move(whole.sampled);
  out.messages = std::move(whole.messages);
  out.reasoned = std::move(whole.reasoned);
  out.context = std::move(whole.context);
  return out;
}

}  // namespace

Result<Turn> assemble(std::span<const Record> lineage) {
  if (lineage.empty()) return broken("it is not known");
  Whole whole;
  for (std::size_t i = lineage.size(); i-- > 0;) {
    const bool is_root = i + 1 == lineage.size();
    if (is_root ? lineage[i].parent.has_value() : lineage[i].parent != lineage[i + 1].key)
      return broken("an earlier turn is missing");
    if (Status added = whole.add_prompt(lineage[i]); !added.ok()) return added.error();
    if (i > 0) whole.add_reply(lineage[i]);
  }
  return turn_of(std::move(whole), lineage.front());
}

Result<Turn> assemble_on(const Turn* parent, const Record& record) {
  Whole whole;
  if (parent == nullptr ? record.parent.has_value() : record.parent != parent->key)
    return broken("an earlier turn is missing");
  if (parent != nullptr) {
    whole = {parent->prompt, parent->owners, parent->sampled, parent->messages, parent->reasoned, parent->context};
    whole.add_reply(*parent);
  }
  if (Status added = whole.add_prompt(record); !added.ok()) return added.error();
  return turn_of(std::move(whole), record);
}

}  // namespace rondo::spans
