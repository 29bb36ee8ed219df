#include "spans/memory_store.h"

#include <algorithm>
#include <utility>

namespace rondo::spans {

std::uint32_t MemoryStore::entry_of(const Digest& scope, const Digest& turn) const {
  std::uint32_t out = kNone;
  by_turn_.each(turn, [&](std::uint32_t entry) {
    if (entries_[entry].turn != turn || entries_[entry].session->scope != scope) return false;
    out = entry;
    return true;
  });
  return out;
}

MemoryStore::Session* MemoryStore::session_of(const Digest& scope, const Digest& session) const {
  const auto found = by_session_.find(session);
  return found != by_session_.end() && found->second->scope == scope ? found->second : nullptr;
}

MemoryStore::Session& MemoryStore::session_for(const Digest& scope, const Digest& session, const std::string& name,
                                               std::int64_t time_ms) {
  if (Session* known = session_of(scope, session); known != nullptr) return *known;
  Session& out = sessions_[++order_];
  out.info.session = session;
  out.info.name = name;
  out.info.first_ms = time_ms;
  out.info.order = order_;
  out.scope = scope;
  by_session_[session] = &out;
  return out;
}

MemoryStore::Object* MemoryStore::object_of(const Digest& scope, const Digest& object) {
  const auto found = objects_.find(object);
  return found != objects_.end() && found->second.session->scope == scope ? &found->second : nullptr;
}

Status MemoryStore::add(StoredTurn& turn) {
  if (entry_of(turn.scope, turn.turn) != kNone) return Done{};
  std::uint32_t parent = kNone;
  if (turn.parent) {
    parent = entry_of(turn.scope, *turn.parent);
    if (parent == kNone || entries_[parent].session->info.session != turn.session)
      return Error(ErrorCode::kNotFound, "the turn that this one goes on from is not in the store");
  }
  Session& session = session_for(turn.scope, turn.session, turn.name, turn.time_ms);
  std::uint32_t at = 0;
  if (free_.empty()) {
    at = static_cast<std::uint32_t>(entries_.size());
    entries_.emplace_back();
  } else {
    at = free_.back();
    free_.pop_back();
  }
  // A record stays for hours: spare capacity would count as memory that bounds know nothing of.
  turn.record.shrink_to_fit();
  const std::size_t bytes = turn.record.size() + turn.hashes.size() * sizeof(Digest) + sizeof(Entry);
  entries_[at] = {turn.turn, &session, parent, std::move(turn.record)};
  by_turn_.add(turn.turn, at);
  for (const Digest& hash : turn.hashes) session.links.push_back(by_hash_.add(hash, at));
  session.entries.push_back(at);
  session.hashes.insert(session.hashes.end(), turn.hashes.begin(), turn.hashes.end());
  ++session.info.turns;
  session.info.bytes += bytes;
  session.info.last_ms = std::max(session.info.last_ms, turn.time_ms);
  bytes_ += bytes;
  return Done{};
}

void MemoryStore::put(StoredTurn turn, Kept kept) {
  const Status added = [&] {
    const std::scoped_lock lock(mutex_);
    return add(turn);
  }();
  if (kept) kept(added);
}

Result<std::vector<std::string>> MemoryStore::lineage(const Digest& scope, const Digest& turn) {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> out;
  for (std::uint32_t at = entry_of(scope, turn); at != kNone; at = entries_[at].parent)
    out.push_back(entries_[at].record);
  return out;
}

Result<std::vector<Hit>> MemoryStore::find(const Digest& scope, std::span<const Digest> hashes) {
  const std::scoped_lock lock(mutex_);
  std::vector<Hit> out;
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    std::size_t found = 0;
    by_hash_.each(hashes[i], [&](std::uint32_t at) {
      const Entry& entry = entries_[at];
      if (entry.session->scope == scope) out.push_back({i, entry.turn, entry.session->info.session});
      return entry.session->scope == scope && ++found == kMostHits;
    });
  }
  return out;
}

Result<std::vector<Got>> MemoryStore::get(const Digest& scope, std::span<const Digest> turns) {
  const std::scoped_lock lock(mutex_);
  std::vector<Got> out;
  for (std::size_t i = 0; i < turns.size(); ++i) {
    const std::uint32_t at = entry_of(scope, turns[i]);
    if (at != kNone) out.push_back({i, entries_[at].session->info.session, entries_[at].record});
  }
  return out;
}

Result<std::vector<SessionInfo>> MemoryStore::sessions(const Digest& scope, std::size_t limit, std::uint64_t after) {
  const std::scoped_lock lock(mutex_);
  std::vector<SessionInfo> out;
  auto at = after == 0 ? sessions_.end() : sessions_.lower_bound(after);
  while (at != sessions_.begin() && out.size() < limit) {
    --at;
    if (at->second.scope == scope) out.push_back(at->second.info);
  }
  return out;
}

Result<std::vector<std::string>> MemoryStore::turns(const Digest& scope, const Digest& session) {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> out;
  if (const Session* known = session_of(scope, session); known != nullptr) {
    for (const std::uint32_t at : known->entries) out.push_back(entries_[at].record);
  }
  return out;
}

void MemoryStore::add(StoredObject& object) {
  Object* known = object_of(object.scope, object.object);
  Session& session = known != nullptr ? *known->session : session_for(object.scope, object.group, "", object.time_ms);
  if (known == nullptr) {
    known = &objects_[object.object];
    *known = {++order_, &session, ""};
    session.objects[order_] = object.object;
  } else {
    session.info.bytes -= size_of(*known);
    bytes_ -= size_of(*known);
  }
  known->bytes = std::move(object.bytes);
  session.info.bytes += size_of(*known);
  session.info.last_ms = std::max(session.info.last_ms, object.time_ms);
  bytes_ += size_of(*known);
}

void MemoryStore::put_objects(std::vector<StoredObject> objects, Kept kept) {
  {
    const std::scoped_lock lock(mutex_);
    for (StoredObject& object : objects) add(object);
  }
  if (kept) kept(Done{});
}

Result<std::vector<std::optional<std::string>>> MemoryStore::objects(const Digest& scope,
                                                                     std::span<const Digest> objects) {
  const std::scoped_lock lock(mutex_);
  std::vector<std::optional<std::string>> out;
  for (const Digest& one : objects) {
    const Object* object = object_of(scope, one);
    out.push_back(object == nullptr ? std::nullopt : std::optional(object->bytes));
  }
  return out;
}

Result<std::vector<std::string>> MemoryStore::group(const Digest& scope, const Digest& group) {
  const std::scoped_lock lock(mutex_);
  std::vector<std::string> out;
  if (const Session* known = session_of(scope, group); known != nullptr) {
    for (const auto& [order, object] : known->objects) out.push_back(objects_.at(object).bytes);
  }
  return out;
}

Result<std::size_t> MemoryStore::erase_objects(const Digest& scope, std::span<const Digest> objects) {
  const std::scoped_lock lock(mutex_);
  std::size_t gone = 0;
  for (const Digest& one : objects) {
    const Object* object = object_of(scope, one);
    if (object == nullptr) continue;
    Session& session = *object->session;
    session.info.bytes -= size_of(*object);
    bytes_ -= size_of(*object);
    session.objects.erase(object->order);
    objects_.erase(one);
    ++gone;
    if (session.objects.empty() && session.entries.empty()) forget(session);
  }
  return gone;
}

void MemoryStore::forget(Session& session) {
  for (std::size_t i = 0; i < session.hashes.size(); ++i) by_hash_.remove(session.hashes[i], session.links[i]);
  for (const std::uint32_t at : session.entries) {
    by_turn_.remove(entries_[at].turn, at);
    entries_[at] = {};
    free_.push_back(at);
  }
  for (const auto& [order, object] : session.objects) objects_.erase(object);
  bytes_ -= session.info.bytes;
  by_session_.erase(session.info.session);
  sessions_.erase(session.info.order);
}

Result<bool> MemoryStore::erase(const Digest& scope, const Digest& session) {
  const std::scoped_lock lock(mutex_);
  Session* known = session_of(scope, session);
  if (known == nullptr) return false;
  forget(*known);
  return true;
}

Result<std::size_t> MemoryStore::expire(std::int64_t now_ms, const Bounds& bounds) {
  const std::scoped_lock lock(mutex_);
  std::vector<std::pair<std::int64_t, Session*>> oldest;
  for (auto& [order, session] : sessions_) oldest.emplace_back(session.info.last_ms, &session);
  std::ranges::stable_sort(oldest, {}, [](const auto& entry) { return entry.first; });
  std::size_t gone = 0;
  for (const auto& [last_ms, session] : oldest) {
    // The oldest come first, so the first session that may stay ends the search.
    const bool is_late = bounds.ttl_ms > 0 && now_ms - last_ms > bounds.ttl_ms;
    const bool is_too_much = bounds.max_bytes > 0 && bytes_ > bounds.max_bytes;
    if (!is_late && !is_too_much) break;
    forget(*session);
    ++gone;
  }
  return gone;
}

}  // namespace rondo::spans
