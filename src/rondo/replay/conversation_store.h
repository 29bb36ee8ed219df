// The conversations of a log.  A request finds its conversation by what it has in common with earlier requests.
//
// A request continues the conversation with the longest common beginning, ignoring the system text.  If that beginning
// was cut or rewritten, it continues the conversation that its last answer comes from; otherwise the last conversation
// of the same name.  When the memory is full, the least recently used conversation is dropped.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "cache/fleet.h"
#include "chat/api_request.h"
#include "replay/message_marks.h"
#include "replay/prompt_maker.h"

namespace rondo::replay {

// A request, with everything that is computed from it once.
struct Incoming {
  std::uint64_t line = 0;
  json::Array messages;
  bool has_instructions = false;
  std::vector<MessageMark> marks;
  std::optional<json::Value> tools;
  std::vector<std::uint64_t> tool_hashes;  // one for each tool
  json::Object kwargs;
  std::optional<jinja::LocalTime> now;
  std::vector<chat::CacheMark> cache_marks;
  std::string name;                   // the client's name for the conversation
  std::vector<std::uint64_t> shapes;  // of the texts of the instructions; see shape_of()
  // For the messages after the instructions: a hash of each message and all before it.
  std::vector<std::uint64_t> chain;
  std::uint64_t shape = 0;  // of the instructions
};
// Takes the messages, tools, variables and name out of `request`.
[[nodiscard]] Incoming make_incoming(chat::ApiRequest& request, std::uint64_t line,
                                     std::optional<jinja::LocalTime> now);

// A message as it was when it was first seen.
struct FirstForm {
  std::optional<json::Value> reasoning;
  std::optional<json::Value> tool_calls;
};

inline constexpr std::size_t kRewriteSets = 7;  // from rewrites.h; the first is the request as sent
inline constexpr std::size_t kBridges = 2;

// The state of a conversation.
struct ConversationState {
  Incoming last;            // its latest request
  std::size_t answers = 0;  // how many of last.messages are the answers to it
  std::string reply_id;
  std::vector<tokenizer::TokenId> completion;                                    // after the prompt, if it is known
  std::array<std::optional<Prompt>, kRewriteSets> prompts;                       // nullopt: same as the first
  std::array<std::optional<std::vector<tokenizer::TokenId>>, kBridges> bridged;  // nullopt: the prompt's ids
  json::Array instructions;                                                      // as first seen
  std::optional<jinja::LocalTime> first_now;
  std::unordered_map<std::uint64_t, FirstForm> first_forms;  // by loose hash
  std::size_t requests = 0;
  std::vector<cache::Fleet::Place> places;  // where each fleet served its latest request

  [[nodiscard]] const Prompt& prompt(std::size_t set) const { return prompts[set] ? *prompts[set] : *prompts[0]; }
  // The messages of its latest request, without the answers to it.
  [[nodiscard]] json::Array asked() const;
  [[nodiscard]] std::size_t memory() const;
};

class ConversationStore {
 public:
  explicit ConversationStore(std::size_t memory_bytes) : memory_bytes_(memory_bytes) {}

  // Returns the conversation that `request` belongs to; nullptr if it begins a new one.  Valid until the next put().
  [[nodiscard]] ConversationState* find(const Incoming& request);
  // Returns the conversation whose last reply had this id.
  [[nodiscard]] ConversationState* find_reply(const std::string& id);

  // Returns the most recently used one; nullptr if there is none.
  [[nodiscard]] const ConversationState* latest() const { return entries_.empty() ? nullptr : &entries_.front().state; }

  // Stores the state of a new conversation, or of a continued one (`old`, which it replaces).  Returns it.
  ConversationState& put(ConversationState state, ConversationState* old);
  // Registers the answer that was added to `state`.
  void add_answer(ConversationState& state);

  [[nodiscard]] std::size_t size() const { return entries_.size(); }
  [[nodiscard]] std::uint64_t forgotten() const { return forgotten_; }

 private:
  struct Entry {
    ConversationState state;
    std::vector<std::uint64_t> keys;
    std::vector<std::string> names;
    std::size_t memory = 0;
  };
  using Place = std::list<Entry>::iterator;

  void enter(Place place, std::uint64_t key);
  void enter(Place place, const std::string& name);
  void enter_all(Place place);
  void forget(Place place);
  void settle(Place place);
  [[nodiscard]] Entry* look(std::uint64_t key);
  [[nodiscard]] Entry* owner_of_answers(const Incoming& request, std::size_t from, Entry* shared);

  std::size_t memory_bytes_;
  std::size_t used_bytes_ = 0;
  std::uint64_t forgotten_ = 0;
  std::list<Entry> entries_;  // most recently used first
  std::unordered_map<const ConversationState*, Place> places_;
  std::unordered_map<std::uint64_t, Place> by_key_;
  std::unordered_map<std::string, Place> by_name_;
};

}  // namespace rondo::replay
