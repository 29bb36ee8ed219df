#include "replay/conversation_store.h"

#include <algorithm>
#include <utility>

namespace rondo::replay {
namespace {

constexpr std::uint64_t kChainSeed = 0x51ED270B;
// Mixed into keys, so that keys of different meaning differ.
constexpr std::uint64_t kPlain = 0x1000193;
constexpr std::uint64_t kAnswerMark = 0x2000323;

constexpr std::size_t kMostOwners = 8;

std::uint64_t join(std::uint64_t a, std::uint64_t b) {
  const std::uint64_t both[2] = {a, b};
  return hash_bytes({reinterpret_cast<const char*>(both), sizeof both});
}

std::size_t memory_of(const json::Value& value) {
  std::size_t out = sizeof value;
  if (value.is_string()) out += value.as_string().capacity();
  if (value.is_number()) out += value.number().capacity();
  if (value.is_array()) {
    for (const json::Value& element : value.as_array()) out += memory_of(element);
  }
  if (value.is_object()) {
    for (const json::Member& member : value.as_object()) out += sizeof member + memory_of(member.value);
  }
  return out;
}

bool is_assistant(const json::Value& message) { return message.find_string("role") == "assistant"; }

}  // namespace

Incoming make_incoming(chat::ApiRequest& request, std::uint64_t line, std::optional<jinja::LocalTime> now) {
  Incoming out;
  out.line = line;
  out.messages = std::move(request.messages);
  out.has_instructions = request.has_instructions;
  out.tools = std::move(request.tools);
  out.kwargs = std::move(request.kwargs);
  if (request.documents) out.kwargs.set("documents", *std::move(request.documents));
  out.now = now;
  out.name = std::move(request.conversation);
  out.cache_marks = std::move(request.cache_marks);
  out.marks = marks_of(out.messages);
  if (out.tools) {
    for (const json::Value& tool : out.tools->as_array()) out.tool_hashes.push_back(hash_value(tool));
  }
  const std::size_t instructions = leading_instructions(out.messages);
  std::uint64_t hash = kChainSeed;
  for (std::size_t i = 0; i < out.messages.size(); ++i) {
    if (i < instructions) {
      out.shapes.push_back(shape_of(chat::content_text(out.messages[i])));
      out.shape = join(out.shape, out.shapes.back());
      continue;
    }
    hash = join(hash, out.marks[i].loose);
    out.chain.push_back(hash);
  }
  return out;
}

json::Array ConversationState::asked() const {
  return {last.messages.begin(), last.messages.end() - static_cast<std::ptrdiff_t>(answers)};
}

std::size_t ConversationState::memory() const {
  std::size_t out = sizeof *this + 4 * completion.capacity() + 24 * last.marks.capacity();
  for (const json::Value& message : last.messages) out += memory_of(message);
  if (last.tools) out += memory_of(*last.tools);
  for (const auto& prompt : prompts) out += prompt ? prompt->memory() : 0;
  for (const auto& ids : bridged) out += ids ? 4 * ids->capacity() : 0;
  for (const json::Value& message : instructions) out += memory_of(message);
  for (const auto& [hash, form] : first_forms) {
    out += sizeof form + (form.reasoning ? memory_of(*form.reasoning) : 0) +
           (form.tool_calls ? memory_of(*form.tool_calls) : 0);
  }
  return out;
}

ConversationStore::Entry* ConversationStore::look(std::uint64_t key) {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : &*found->second;
}

// Finds the conversation whose answers follow the shared beginning.  Short answers are alike in many conversations, so
// the result is `shared`, which the request begins with, unless two answers say otherwise.
ConversationStore::Entry* ConversationStore::owner_of_answers(const Incoming& request, std::size_t from,
                                                              Entry* shared) {
  std::vector<std::pair<Entry*, std::size_t>> answers = {{shared, 1}};
  for (std::size_t i = request.messages.size(); i > from && answers.size() < kMostOwners; --i) {
    if (!is_assistant(request.messages[i - 1])) continue;
    Entry* owner = look(join(request.marks[i - 1].loose, kAnswerMark));
    if (owner == nullptr || (shared != nullptr && owner->state.last.shape != request.shape)) continue;
    const auto known = std::ranges::find(answers, owner, &std::pair<Entry*, std::size_t>::first);
    if (known == answers.end()) {
      answers.emplace_back(owner, 1);
    } else {
      ++known->second;
    }
  }
  if (shared == nullptr) answers.front().second = 0;
  Entry* best = std::ranges::max_element(answers, {}, &std::pair<Entry*, std::size_t>::second)->first;
  return best;
}

ConversationState* ConversationStore::find(const Incoming& request) {
  const std::size_t instructions = request.messages.size() - request.chain.size();
  // A shared beginning counts for more the longer it is.  A single message counts only if the instructions are the same
  // too.
  std::size_t depth = 0;
  Entry* best = nullptr;
  for (std::size_t i = request.chain.size(); i > 0 && best == nullptr; --i) {
    best = look(join(request.chain[i - 1], request.shape));
    if (best == nullptr && i > 1) best = look(join(request.chain[i - 1], kPlain));
    if (best != nullptr) depth = i;
  }
  const bool is_whole = best != nullptr && best->state.last.chain.size() <= depth;
  if (!is_whole) best = owner_of_answers(request, instructions + depth, best);
  if (best != nullptr) return &best->state;
  // The client compacted the conversation: only the name and the instructions are left.
  const auto named = by_name_.find(request.name);
  if (request.name.empty() || named == by_name_.end()) return nullptr;
  ConversationState& state = named->second->state;
  const bool is_shorter = request.messages.size() < state.last.messages.size();
  return is_shorter && state.last.shape == request.shape ? &state : nullptr;
}

ConversationState* ConversationStore::find_reply(const std::string& id) {
  const auto found = by_name_.find("reply " + id);
  return found == by_name_.end() ? nullptr : &found->second->state;
}

void ConversationStore::enter(Place place, std::uint64_t key) {
  const auto [at, is_new] = by_key_.try_emplace(key, place);
  if (!is_new && at->second == place) return;
  at->second = place;
  place->keys.push_back(key);
}

void ConversationStore::enter(Place place, const std::string& name) {
  by_name_[name] = place;
  if (std::ranges::find(place->names, name) == place->names.end()) place->names.push_back(name);
}

void ConversationStore::enter_all(Place place) {
  const Incoming& last = place->state.last;
  for (const std::uint64_t hash : last.chain) {
    enter(place, join(hash, last.shape));
    enter(place, join(hash, kPlain));
  }
  for (std::size_t i = 0; i < last.messages.size(); ++i) {
    if (is_assistant(last.messages[i])) enter(place, join(last.marks[i].loose, kAnswerMark));
  }
  if (!last.name.empty()) enter(place, last.name);
  if (!place->state.reply_id.empty()) enter(place, "reply " + place->state.reply_id);
}

void ConversationStore::forget(Place place) {
  for (const std::uint64_t key : place->keys) {
    const auto found = by_key_.find(key);
    if (found != by_key_.end() && found->second == place) by_key_.erase(found);
  }
  for (const std::string& name : place->names) {
    const auto found = by_name_.find(name);
    if (found != by_name_.end() && found->second == place) by_name_.erase(found);
  }
  used_bytes_ -= place->memory;
  places_.erase(&place->state);
  entries_.erase(place);
}

void ConversationStore::settle(Place place) {
  used_bytes_ -= place->memory;
  place->memory = place->state.memory() + 64 * place->keys.size();
  used_bytes_ += place->memory;
  while (used_bytes_ > memory_bytes_ && entries_.size() > 1) {
    const auto last = std::prev(entries_.end());
    if (last == place) break;
    forget(last);
    ++forgotten_;
  }
}

ConversationState& ConversationStore::put(ConversationState state, ConversationState* old) {
  Place place;
  if (old == nullptr) {
    entries_.emplace_front();
    place = entries_.begin();
    places_[&place->state] = place;
  } else {
    place = places_.at(old);
    entries_.splice(entries_.begin(), entries_, place);
  }
  place->state = std::move(state);
  // A conversation that is rewritten again and again would collect keys without end.
  if (place->keys.size() > 64 + 8 * place->state.last.messages.size()) {
    for (const std::uint64_t key : std::exchange(place->keys, {})) {
      const auto found = by_key_.find(key);
      if (found != by_key_.end() && found->second == place) by_key_.erase(found);
    }
  }
  enter_all(place);
  settle(place);
  return place->state;
}

void ConversationStore::add_answer(ConversationState& state) {
  const Place place = places_.at(&state);
  Incoming& last = state.last;
  for (std::size_t i = last.messages.size() - state.answers; i < last.messages.size(); ++i) {
    last.marks.push_back(mark_of(last.messages[i]));
    last.chain.push_back(join(last.chain.empty() ? kChainSeed : last.chain.back(), last.marks.back().loose));
  }
  enter_all(place);
  settle(place);
}

}  // namespace rondo::replay
