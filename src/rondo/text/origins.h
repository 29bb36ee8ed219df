// The tables that a traced text refers to: paths, transformation chains, control contexts and template literals.
//
// A run of a traced text (text.h) is small because it names its origin by ids into these tables.  Each render has its
// own `Origins`.  The render fills it; afterwards it is immutable.  Not thread-safe while it is being filled.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/append.h"
#include "base/bytes.h"

namespace rondo::text {

enum class PathId : std::uint32_t { kNone = 0 };     // a place in the input: messages[3].content
enum class ChainId : std::uint32_t { kNone = 0 };    // a list of transformations: strip, json
enum class ContextId : std::uint32_t { kNone = 0 };  // under whose control the template was when it wrote a run
enum class LiteralId : std::uint32_t {};             // a piece of template text or a string constant of the template

inline constexpr std::int32_t kNoMessage = -1;

// All paths of a render, as a tree.  Equal paths have the same id.  A path starts with a variable name ("messages") and
// continues with keys and indices.  `key_of` makes the path of a dict key itself ("arguments.#city"), so that a key and
// its value have different paths.
//
// The first look at one member of an object, or at one element of an array, makes the paths of all of them.  Their ids
// are consecutive, and nothing is hashed.  The key of such a member has the member's id with one bit set, and no entry
// of its own.  Copies are independent.  A returned name is valid until the table grows.
class PathTable {
 public:
  // Expected numbers of entries.  Too large a number does no harm.
  struct Sizes {
    std::size_t paths = 1;
    std::size_t groups = 1;  // of paths that are made together
    std::size_t names = 1;
    std::size_t spellings = 0;  // bytes of names
  };

  PathTable() : PathTable(Sizes{}) {}
  explicit PathTable(const Sizes& sizes);

  enum class StepKind : std::uint8_t { kVariable, kMember, kIndex, kKey };

  [[nodiscard]] PathId variable(std::string_view name) { return intern(PathId::kNone, StepKind::kVariable, 0, name); }
  [[nodiscard]] PathId member(PathId parent, std::string_view key);
  [[nodiscard]] PathId index(PathId parent, std::size_t index);
  [[nodiscard]] PathId key_of(PathId dict, std::string_view key);
  // Returns the path of the key of the enumerated member `member`.
  [[nodiscard]] PathId key_of_member(PathId member) const {
    return single_keys_ == 0 ? static_cast<PathId>(static_cast<std::uint32_t>(member) | kKeyBit) : find_key(member);
  }

  // Returns the path of the first of the `count` elements of the array at `parent`; the others follow it.  Returns
  // kNone if they cannot be made together: `parent` is unknown, or its parts were enumerated differently before.
  [[nodiscard]] PathId indices(PathId parent, std::size_t count);
  // Returns the same for the members of an object; kNone for a huge object.  `name_of(i)` gives the key of member i.
  template <typename NameOf>
  [[nodiscard]] PathId members(PathId parent, std::size_t count, const NameOf& name_of) {
    if (!can_enumerate(parent, StepKind::kMember, count)) return PathId::kNone;
    const auto are_names_at = [&](std::uint32_t names) {
      for (std::size_t i = 0; i < count; ++i) {
        if (!same_bytes(text(names_[names + i]), name_of(i))) return false;
      }
      return true;
    };
    if (const std::uint32_t known = node(parent).parts; known != 0) {
      // A value that was parsed out of a text has that text's path, and may have other members the next time.
      const Group& parts = groups_[known];
      return are_names_at(parts.step) ? static_cast<PathId>(parts.first) : PathId::kNone;
    }
    // Most objects have the same keys in the same order as an object before them.
    Shape& lately = shapes_[(count * 5 + name_of(0).size() + name_of(count - 1).size()) % shapes_.size()];
    if (lately.count != count || !are_names_at(lately.names)) {
      lately = {static_cast<std::uint32_t>(names_.size()), static_cast<std::uint32_t>(count)};
      for (std::size_t i = 0; i < count; ++i) add_name(name_of(i));
    }
    return enumerate(parent, StepKind::kMember, lately.names, count);
  }
  [[nodiscard]] PathId parent(PathId path) const { return group(path).parent; }
  [[nodiscard]] StepKind step_kind(PathId path) const { return is_key(path) ? StepKind::kKey : group(path).kind; }
  // Returns the key or variable name of the last step ("" for an index).
  [[nodiscard]] std::string_view step_name(PathId path) const { return name(entry(path)); }
  // Returns the index of the last step.
  //
  // REQUIRES: step_kind(path) == kIndex.
  [[nodiscard]] std::size_t step_index(PathId path) const { return step(entry(path)); }
  // Returns the number of steps; 0 for kNone.
  [[nodiscard]] std::size_t depth(PathId path) const { return group(path).depth; }
  // Returns the first `depth` steps of `path`, or `path` itself if it is shorter.
  [[nodiscard]] PathId prefix(PathId path, std::size_t depth) const;

  // Returns i if `path` starts with messages[i], otherwise kNoMessage.
  [[nodiscard]] std::int32_t message(PathId path) const { return node(path).message; }
  // Returns the variable that the path starts with; "" for kNone.
  [[nodiscard]] std::string_view root(PathId path) const;

  // Returns "messages[3].tool_calls[0].function.arguments.city".  The path of a key prints as ".#city", kNone as "".
  [[nodiscard]] std::string to_string(PathId path) const;
  // Returns whether the path exists.
  [[nodiscard]] bool contains(PathId path) const { return entry(path) < nodes_.size(); }
  // Returns the number of entries, for `reserve`.
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] Sizes sizes() const { return {nodes_.size(), groups_.size(), names_.size(), spellings_.size()}; }

 private:
  // Parts of one parent whose paths were made together.  Their ids are consecutive.
  struct Group {
    PathId parent = PathId::kNone;
    std::uint32_t first = 0;
    std::uint32_t count = 0;
    // Of the first part: its index, or the place of its name in names_; the other parts' steps follow.
    std::uint32_t step = 0;
    std::uint16_t depth = 0;
    StepKind kind = StepKind::kVariable;
  };
  struct Node {
    std::uint32_t group = 0;
    std::int32_t message = kNoMessage;
    std::uint32_t parts = 0;  // the group of all parts, if they were made together; 0: not yet
  };
  // A range of bytes in spellings_.
  struct Name {
    std::uint32_t begin = 0;
    std::uint32_t size = 0;
  };
  // The keys of an object.
  struct Shape {
    std::uint32_t names = 0;
    std::uint32_t count = 0;
  };

  // This bit in the id of an enumerated member means the member's key.
  static constexpr std::uint32_t kKeyBit = std::uint32_t{1} << 31U;
  [[nodiscard]] static bool is_key(PathId path) { return (static_cast<std::uint32_t>(path) & kKeyBit) != 0; }
  [[nodiscard]] static std::size_t entry(PathId path) { return static_cast<std::uint32_t>(path) & ~kKeyBit; }
  [[nodiscard]] const Node& node(PathId path) const { return nodes_[entry(path)]; }
  [[nodiscard]] const Group& group(PathId path) const { return groups_[node(path).group]; }
  // Returns the step of an entry; see Group.
  [[nodiscard]] std::size_t step(std::size_t entry) const {
    const Group& group = groups_[nodes_[entry].group];
    return group.step + (entry - group.first);
  }
  [[nodiscard]] std::string_view text(const Name& name) const { return {spellings_.data() + name.begin, name.size}; }
  [[nodiscard]] std::string_view name(std::size_t entry) const {
    return groups_[nodes_[entry].group].kind == StepKind::kIndex ? std::string_view() : text(names_[step(entry)]);
  }
  [[nodiscard]] static std::size_t hash(PathId parent, StepKind kind, std::size_t index, std::string_view name);
  [[nodiscard]] PathId intern(PathId parent, StepKind kind, std::size_t index, std::string_view name);
  // Returns false if the parts cannot be made together, or were made differently before.
  [[nodiscard]] bool can_enumerate(PathId parent, StepKind kind, std::size_t count) const {
    constexpr std::size_t kMostMembers = 64;  // member() looks through them
    if (parent == PathId::kNone || is_key(parent) || count == 0) return false;
    if (kind == StepKind::kMember && count > kMostMembers) return false;
    const Group& parts = groups_[node(parent).parts];
    return parts.count == 0 || (parts.count == count && parts.kind == kind);
  }
  // Makes the paths of all parts and returns the first.  `step` is as in Group.
  [[nodiscard]] PathId enumerate(PathId parent, StepKind kind, std::size_t step, std::size_t count);
  void add_group(PathId parent, StepKind kind, std::size_t step, std::size_t count);
  [[nodiscard]] bool is_messages(PathId path) const;
  // Returns the enumerated member with that name, or kNone.
  [[nodiscard]] PathId find_member(PathId parent, std::string_view key) const;
  [[nodiscard]] PathId find_key(PathId member) const;
  // Returns the slot that holds the path, or the one where it belongs.
  //
  // REQUIRES: there are slots.
  [[nodiscard]] std::size_t find_slot(PathId parent, StepKind kind, std::size_t index, std::string_view key) const;
  void add_name(std::string_view name) {
    append_to(names_, {static_cast<std::uint32_t>(spellings_.size()), static_cast<std::uint32_t>(name.size())});
    spellings_ += name;
  }
  void grow_slots();

  std::vector<Node> nodes_;
  std::vector<Group> groups_;  // the first is unused
  std::vector<Name> names_;
  std::string spellings_;
  std::array<Shape, 16> shapes_;      // of objects that were enumerated recently, by a hash
  std::vector<std::uint32_t> slots_;  // open addressing: ids of the paths that were made one by one
  std::size_t slots_used_ = 0;
  std::size_t single_keys_ = 0;  // how many of them are paths of keys
};

// Interned chains of transformations, oldest first: "strip", "json", "split(\"</think>\")", "pystr", ...
class ChainTable {
 public:
  ChainTable();
  // Returns `chain` with `step` appended.  A step that equals the last one is not appended again.
  [[nodiscard]] ChainId extend(ChainId chain, std::string_view step);
  [[nodiscard]] std::vector<std::string> steps(ChainId chain) const;
  // "" for kNone.
  [[nodiscard]] std::string_view last_step(ChainId chain) const { return nodes_[static_cast<std::size_t>(chain)].step; }
  [[nodiscard]] bool contains(ChainId chain, std::string_view step) const;
  // "strip, json"; "" for kNone.
  [[nodiscard]] std::string to_string(ChainId chain) const;
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }

 private:
  struct Node {
    ChainId parent = ChainId::kNone;
    std::string step;
  };
  std::vector<Node> nodes_;
  std::unordered_map<std::string, ChainId> ids_;  // all chains but the latest; key: parent id, ':', step
};

// What controlled the template when it wrote something.
struct Context {
  PathId element = PathId::kNone;     // the element of the innermost loop over input: messages[2].tool_calls[0]
  std::int32_t message = kNoMessage;  // the message that the surrounding loop or macro call is bound to
  std::int32_t guard = kNoMessage;    // weaker than `message`: the one message that a surrounding condition read
  bool generation_prompt = false;     // inside a branch taken because add_generation_prompt was true
  bool generation_block = false;      // inside {% generation %}

  // Returns the message that owns output in this context: the bound message, otherwise the guard.
  [[nodiscard]] std::int32_t owner() const { return message != kNoMessage ? message : guard; }
  bool operator==(const Context&) const = default;
};

class ContextTable {
 public:
  ContextTable();
  [[nodiscard]] ContextId intern(const Context& context);
  [[nodiscard]] const Context& at(ContextId id) const { return contexts_[static_cast<std::size_t>(id)]; }
  [[nodiscard]] std::size_t size() const { return contexts_.size(); }

 private:
  void grow_slots();

  std::vector<Context> contexts_;
  std::vector<std::uint32_t> slots_;  // open addressing: id + 1
};

// The place of a piece of template text, or of a string constant in an expression.  Line and column start at 1; the
// column counts bytes.
struct Literal {
  std::int32_t line = 0;
  std::int32_t column = 0;
};

// Everything that the ids in a text's runs refer to.
struct Origins {
  PathTable paths;
  ChainTable chains;
  ContextTable contexts;
  std::vector<Literal> literals;  // by LiteralId; copied from the template
};

}  // namespace rondo::text
