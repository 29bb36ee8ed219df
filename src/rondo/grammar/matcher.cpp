#include "grammar/matcher.h"

#include <utility>

#include "base/utf8.h"
#include "grammar/lower.h"

namespace rondo::grammar {
namespace {

// The most ways to read a text that are followed at once.  Real grammars have a few dozen.
constexpr std::size_t kMostThreads = 200'000;

std::uint64_t key_of(std::uint32_t at, std::uint32_t stack) { return (std::uint64_t{at} << 32U) | stack; }

// Mixes all bits of a key into the lowest ones (the finalizer of MurmurHash3).
std::uint64_t mixed(std::uint64_t key) {
  key = (key ^ (key >> 33U)) * 0xff51afd7ed558ccdULL;
  key = (key ^ (key >> 33U)) * 0xc4ceb9fe1a85ec53ULL;
  return key ^ (key >> 33U);
}

}  // namespace

void Matcher::Seen::clear() {
  ++round_;
  size_ = 0;
}

bool Matcher::Seen::insert(std::uint64_t key) {
  if (size_ * 2 >= places_.size()) grow();
  const std::size_t mask = places_.size() - 1;
  std::size_t at = mixed(key) & mask;
  for (; places_[at].round == round_; at = (at + 1) & mask) {
    if (places_[at].key == key) return false;
  }
  places_[at] = {key, round_};
  ++size_;
  return true;
}

void Matcher::Seen::grow() {
  const std::vector<Place> old = std::exchange(places_, std::vector<Place>(places_.size() * 2));
  const std::uint64_t round = std::exchange(round_, 1);
  size_ = 0;
  for (const Place& place : old) {
    if (place.round == round) insert(place.key);
  }
}

Matcher::Matcher(const Grammar& grammar) {
  compile(lowered(grammar));
  restart();
}

void Matcher::compile(const Grammar& grammar) {
  for (std::size_t i = 0; i < grammar.rule_count(); ++i) {
    const RuleId rule{static_cast<std::uint32_t>(i)};
    entries_.push_back(static_cast<std::uint32_t>(code_.size()));
    emit(grammar, grammar.body(rule));
    code_.push_back({});
  }
  root_ = static_cast<std::uint32_t>(grammar.root());
}

void Matcher::emit(const Grammar& grammar, NodeId id) {
  const Node& node = grammar.node(id);
  const auto here = [this] { return static_cast<std::uint32_t>(code_.size()); };
  const auto add_set = [&](const CharSet& set) {
    code_.push_back({Code::kChars, static_cast<std::uint32_t>(sets_.size())});
    sets_.push_back(set);
  };
  switch (node.kind) {
    case NodeKind::kNever: return add_set(CharSet());
    case NodeKind::kLiteral:
      for (std::size_t at = 0; at < node.text.size();) {
        const utf8::Decoded next = utf8::decode(node.text, at);
        add_set(CharSet::of(next.code_point));
        at += next.size;
      }
      return;
    case NodeKind::kChars: return add_set(node.set);
    case NodeKind::kReference:
      code_.push_back({.code = Code::kCall, .a = static_cast<std::uint32_t>(node.rule)});
      return;
    case NodeKind::kChoice: {
      std::vector<std::uint32_t> jumps;
      for (std::size_t i = 0; i < node.children.size(); ++i) {
        const std::uint32_t split = here();
        const bool is_last = i + 1 == node.children.size();
        if (!is_last) code_.push_back({.code = Code::kSplit, .a = split + 1});
        emit(grammar, node.children[i]);
        if (is_last) break;
        jumps.push_back(here());
        code_.push_back({.code = Code::kJump});
        code_[split].b = here();
      }
      for (const std::uint32_t jump : jumps) code_[jump].a = here();
      return;
    }
    case NodeKind::kRepeat: {
      for (std::uint32_t i = 0; i < node.least; ++i) emit(grammar, node.children[0]);
      if (node.most == kUnbounded) {
        const std::uint32_t split = here();
        code_.push_back({.code = Code::kSplit, .a = split + 1});
        emit(grammar, node.children[0]);
        code_.push_back({.code = Code::kJump, .a = split});
        code_[split].b = here();
        return;
      }
      std::vector<std::uint32_t> splits;
      for (std::uint32_t i = node.least; i < node.most; ++i) {
        splits.push_back(here());
        code_.push_back({.code = Code::kSplit, .a = here() + 1});
        emit(grammar, node.children[0]);
      }
      for (const std::uint32_t split : splits) code_[split].b = here();
      return;
    }
    default:  // kSequence; lowering removed the others
      for (const NodeId child : node.children) emit(grammar, child);
      return;
  }
}

void Matcher::restart() {
  frames_.assign(1, {});
  frame_ids_.clear();
  gave_up_ = is_complete_ = false;
  follow({{entries_[root_], 0}});
}

std::uint32_t Matcher::push(std::uint32_t at, std::uint32_t stack) {
  const auto [found, is_new] = frame_ids_.emplace(key_of(at, stack), static_cast<std::uint32_t>(frames_.size()));
  if (is_new) frames_.push_back({at, stack});
  return found->second;
}

std::uint32_t Matcher::target(std::uint32_t at) const {
  while (code_[at].code == Code::kJump) at = code_[at].a;
  return at;
}

// Follows everything that reads no character.  The threads that remain each wait for a character.
void Matcher::follow(std::vector<Thread> work) {
  seen_.clear();
  threads_.clear();
  is_complete_ = false;
  while (!work.empty()) {
    Thread thread = work.back();
    work.pop_back();
    thread.at = target(thread.at);
    if (!seen_.insert(key_of(thread.at, thread.stack))) continue;
    if (seen_.size() > kMostThreads) {
      gave_up_ = true;
      threads_.clear();
      return;
    }
    const Instruction& step = code_[thread.at];
    switch (step.code) {
      case Code::kChars: threads_.push_back(thread); break;
      case Code::kSplit:
        work.push_back({step.a, thread.stack});
        work.push_back({step.b, thread.stack});
        break;
      case Code::kCall: {
        const std::uint32_t back = target(thread.at + 1);
        const bool is_tail = code_[back].code == Code::kReturn;
        work.push_back({entries_[step.a], is_tail ? thread.stack : push(back, thread.stack)});
        break;
      }
      case Code::kReturn:
        if (thread.stack == 0) {
          is_complete_ = true;
        } else {
          work.push_back({frames_[thread.stack].at, frames_[thread.stack].below});
        }
        break;
      case Code::kJump: break;  // target() has passed it
    }
  }
}

bool Matcher::feed(char32_t code_point) {
  std::vector<Thread> next;
  for (const Thread& thread : threads_) {
    if (sets_[code_[thread.at].set].contains(code_point)) next.push_back({thread.at + 1, thread.stack});
  }
  follow(std::move(next));
  return !is_dead();
}

bool Matcher::feed(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const utf8::Decoded next = utf8::decode(text, at);
    if (!next.valid) {
      threads_.clear();
      is_complete_ = false;
      return false;
    }
    if (!feed(next.code_point)) return false;
    at += next.size;
  }
  return !is_dead();
}

bool accepts(const Grammar& grammar, std::string_view text) {
  Matcher matcher(grammar);
  return matcher.feed(text) && matcher.is_complete();
}

}  // namespace rondo::grammar
