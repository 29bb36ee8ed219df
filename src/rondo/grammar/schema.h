// JSON schemas (draft 2020-12, and the older names for the same keywords) as grammar nodes.
//
//   SchemaContext context;
//   SchemaCompiler compiler(grammar, document, "tool `search`", context);
//   compiler.value(compiler.root(), Speller(grammar, Spelling::json()), "search");
//
// A string may have a grammar of its own (kGrammarKeyword in definition.h).
//
// A keyword that a context-free grammar cannot express, or that this one does not, is left out.  A warning names it
// with its JSON pointer.  The result then accepts more than the schema does, never less.  There are two exceptions, for
// intentions that schemas rarely spell out.  A schema with `properties` and no `type` accepts only objects (and so on
// for other types), and integers are written without a fraction.
//
// The members of an object may come in any order.  Required members are tracked exactly in groups of kTracked, and the
// groups come in the order of the schema.  Other members may come anywhere.  They may also be repeated, because to
// forbid that would take exponential size.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "grammar/numbers.h"
#include "grammar/spelling.h"
#include "json/value.h"

namespace rondo::grammar {

// A list of sentences in the order of adding, without duplicates.
class Warnings {
 public:
  void add(std::string sentence);
  [[nodiscard]] const std::vector<std::string>& sentences() const { return sentences_; }

 private:
  static constexpr std::size_t kMost = 1000;  // a hostile schema could produce any number
  std::vector<std::string> sentences_;
  std::set<std::string> seen_;
};

// The most schemas to look at for one grammar, counting repetitions.  4,000 tools of 6 parameters each stay below it.
inline constexpr std::size_t kMostWork = 1'000'000;

// What the compilers of several documents share: the rules for "any value" by spelling, one list of warnings, and one
// limit on their work.
struct SchemaContext {
  Warnings warnings;
  std::map<std::string, RuleId> anything;
  std::size_t work = 0;  // schemas that were looked at
  std::string limit;     // the first limit that was reached, and where; "" if none was
};

// JSON types as a set of bits.
enum Type : std::uint8_t {
  kNullType = 1,
  kBooleanType = 2,
  kIntegerType = 4,
  kNumberType = 8,  // numbers that are not integers
  kStringType = 16,
  kObjectType = 32,
  kArrayType = 64,
};
using TypeSet = std::uint8_t;
inline constexpr TypeSet kAnyType = 127;
inline constexpr TypeSet kNumericTypes = kIntegerType | kNumberType;

// A schema that a value must satisfy, and its place in the document.
struct Part {
  const json::Value* schema = nullptr;
  std::string where;             // JSON pointer
  std::uint8_t distributed = 0;  // bits: 1: an alternative of its anyOf was chosen; 2: of its oneOf
};
// Schemas that must all hold.
using Parts = std::vector<Part>;
using PartsId = std::vector<std::pair<const json::Value*, std::uint8_t>>;

// A member that an object may or must have.
struct Property {
  std::string name;
  Parts parts;
  bool required = false;
};
struct Properties {
  std::vector<Property> known;
  bool has_extra = false;                               // other members are allowed
  Parts extra;                                          // what the values of other members must satisfy
  std::vector<std::pair<std::string, Parts>> patterns;  // members whose names match a pattern
  Parts names;                                          // what the names of other members must satisfy
  std::uint32_t least = 0;
  std::uint32_t most = kUnbounded;
};

// The elements that an array may have.
struct Elements {
  std::vector<Parts> firsts;  // what each of the first elements must satisfy
  Parts rest;                 // what the elements after them must satisfy
  std::uint32_t least = 0;
  std::uint32_t most = kUnbounded;
};

class SchemaCompiler {
 public:
  // `document` must outlive this object; references are looked up in it.  `label` begins each warning.
  SchemaCompiler(Grammar& grammar, const json::Value& document, std::string label, SchemaContext& context);

  [[nodiscard]] Parts root() const { return {{document_, "", 0}}; }
  // A value that satisfies all of `parts` and has one of `types`.  The names of rules are made from `name`.
  NodeId value(const Parts& parts, const Speller& speller, const std::string& name, TypeSet types = kAnyType);

  // Returns the alternatives of anyOf and oneOf with all references resolved.  Each also has all parts that hold in
  // every alternative.  The result lives as long as this object.
  const std::vector<Parts>& alternatives(const Parts& parts);
  // Returns the types that one alternative allows.
  [[nodiscard]] TypeSet types(const Parts& alternative) const;
  // Returns the members that one alternative allows.
  Properties properties(const Parts& alternative);
  // Returns what holds for the elements of an array.
  Elements elements(const Parts& parts);
  // Returns true if a pattern, a format or a grammar says what a string looks like.
  [[nodiscard]] static bool has_shape(const Parts& alternative);
  // Returns true if the alternative allows every string: it has no enumeration, shape or length.
  [[nodiscard]] static bool is_free_text(const Parts& alternative);
  // Returns the values of enum or const that all parts allow; nullopt if no part has such a keyword.
  [[nodiscard]] std::optional<std::vector<json::Value>> enumerated(const Parts& alternative, TypeSet types) const;

  // Any JSON value of one of `types`.
  NodeId anything(const Speller& speller, TypeSet types = kAnyType);
  // Returns true once a limit on size or depth was reached.  Everything after that is treated as any value.
  [[nodiscard]] bool is_exhausted() const { return is_exhausted_; }
  // Counts the work of so many schemas for `parts`.  Returns false once a limit on size or depth is reached.
  [[nodiscard]] bool can_afford(std::size_t work, const Parts& parts);

 private:
  struct Branch {
    std::size_t part = 0;
    const json::Value* list = nullptr;
    const char* keyword = nullptr;
    std::uint8_t bit = 0;
  };

  using Body = NodeId (SchemaCompiler::*)(const Parts&, const Speller&, const std::string&);
  // A rule whose body is compiled later.
  struct Deferred {
    RuleId rule{};
    Body body = nullptr;
    Parts parts;
    Speller speller;
    std::string name;
  };

  // schema_branches.cpp: references, merging, alternatives
  [[nodiscard]] const json::Value* resolve(std::string_view reference, std::string& where);
  void index_anchors();
  [[nodiscard]] const json::Value* anchored(std::string_view name);
  Parts implied(const Part& part);
  bool flatten(const Part& first, Parts& out);
  std::optional<Parts> flat(const Parts& parts);
  [[nodiscard]] static std::optional<Branch> branch_of(const Parts& parts);
  [[nodiscard]] bool leads_back(const Part& branch, const Parts& chosen);
  [[nodiscard]] std::vector<Parts> expanded(const Parts& parts);

  // schema.cpp: limits, types
  void warn(const std::string& where, const std::string& sentence);
  [[nodiscard]] std::string place(const std::string& where) const;
  void exhaust(const Parts& parts, const std::string& what);
  [[nodiscard]] static bool has_constraints(const Part& part);
  void check_keywords(const Part& part);
  void check_one_of(const Part& part, const json::Value& list);
  static void keep_listed(const Parts& parts, std::vector<json::Value>& values);
  void drop_excluded(const Parts& parts, std::vector<json::Value>& values) const;
  NodeId compile(const Parts& alternative, const Speller& speller, const std::string& name, TypeSet types);
  void define(RuleId rule, Body body, const Parts& parts, const Speller& speller, const std::string& name);
  void define_deferred();

  // schema_values.cpp: the values of each type
  NodeId object(const Parts& parts, const Speller& speller, const std::string& name);
  NodeId object_body(const Parts& parts, const Speller& speller, const std::string& name);
  NodeId array(const Parts& parts, const Speller& speller, const std::string& name);
  NodeId array_body(const Parts& parts, const Speller& speller, const std::string& name);
  NodeId string(const Parts& parts, const Speller& speller);
  Result<NodeId> grammar_content(const json::Value& grammar, const Speller& speller, const std::string& where);
  NodeId string_content(const Parts& parts, const Speller& speller);
  NodeId numeric(const Parts& parts, const Speller& speller, bool integers_only);
  [[nodiscard]] static std::size_t comparisons(const Parts& alternative, std::size_t names);
  void forbid_names(Properties& properties);
  NodeId extra_key(const Properties& properties, const Speller& speller);
  NumberRange range_of(const Parts& parts);
  std::optional<int> decimal_step(const Parts& parts);
  std::uint32_t count_of(const Part& part, const char* keyword, std::uint32_t otherwise);
  [[nodiscard]] std::string memo_key(const Parts& parts, const Speller& speller, TypeSet types) const;

  Grammar& grammar_;
  const json::Value* document_;
  std::string label_;
  SchemaContext& context_;
  std::map<std::string, const json::Value*, std::less<>> anchors_;
  bool anchors_are_indexed_ = false;
  std::set<const json::Value*> checked_;
  std::map<PartsId, std::vector<Parts>> alternatives_;
  std::map<std::string, NodeId> values_;
  std::map<std::string, RuleId> containers_;
  int depth_ = 0;
  int outermost_ = 0;  // the depth of the schema that the caller asked for
  std::deque<Deferred> deferred_;
  bool is_exhausted_ = false;
  bool ignores_values_ = false;  // skip the enum and const of the outermost schema
};

// The members of a list.  The required ones come in any order (see above), with `others` anywhere between them.
inline constexpr std::size_t kTracked = 4;
struct Members {
  std::vector<NodeId> required;
  std::vector<NodeId> others;
  std::uint32_t least = 0;  // the least number of members in all
  std::uint32_t most = kUnbounded;
  std::size_t tracked = kTracked;  // of the required ones, how many may change places; 1: none
};
inline constexpr std::size_t kWorkOfRequired = 60;  // one required member takes the time of so many schemas
// `separator` is between two members.  Without required members the list may be empty, unless `least` forbids it.
[[nodiscard]] NodeId in_any_order(Grammar& grammar, const Members& members, NodeId separator, const std::string& name);
// Returns whether in_any_order() keeps to `least` and `most` exactly.
[[nodiscard]] bool counts_are_kept(const Members& members);

}  // namespace rondo::grammar
