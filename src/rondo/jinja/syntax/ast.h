// The syntax tree of a template.  The parser makes it and the compiler reads it; no other code sees it.
//
// There are two node types, expressions and statements, each with a kind.  The comment beside a kind lists the fields
// that it uses.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jinja/common/operators.h"
#include "jinja/common/place.h"
#include "jinja/syntax/lexer.h"
#include "text/origins.h"

namespace rondo::jinja {

struct Expr;
using ExprPtr = std::unique_ptr<Expr>;

enum class ExprKind : std::uint8_t {
  kText,     // literal: template data inside an output statement
  kString,   // literal; flag: it is not empty
  kInteger,  // text: the digits as written, without '_'
  kFloat,    // text
  kBool,     // flag
  kNone,
  kName,      // text
  kNsRef,     // text, attribute: a.b as an assignment target
  kTuple,     // items
  kList,      // items
  kDict,      // items: key, value, key, value, ...
  kGetAttr,   // items[0], text
  kGetItem,   // items[0], items[1]
  kSlice,     // items[0..2], null if left out; only below kGetItem
  kCall,      // items[0] = callee, call
  kFilter,    // items[0] or null (filter blocks), text, call
  kTest,      // items[0], text, call
  kNot,       // items[0]
  kNegative,  // items[0]
  kPositive,  // items[0]
  kBinary,    // items[0], items[1], token
  kAnd,       // items[0], items[1]
  kOr,        // items[0], items[1]
  kConcat,    // items
  kCompare,   // items: the operands; comparisons: one fewer
  kInlineIf,  // items[0] = condition, items[1], items[2] or null
};

// The arguments of a call, filter or test.
struct Arguments {
  std::vector<ExprPtr> positional;
  std::vector<std::pair<std::string, ExprPtr>> keyword;
  ExprPtr star;         // *args
  ExprPtr double_star;  // **kwargs
};

struct PlacedComparison {
  CompareOp op = CompareOp::kEq;
  Place place;
};

struct Expr {
  ExprKind kind = ExprKind::kNone;
  bool flag = false;
  TokenKind token = TokenKind::kEnd;
  Place place;    // the place for error messages: an operator, a filter's name, ...
  Place start;    // where the expression begins
  int depth = 1;  // height of the tree
  std::uint32_t literal = 0;
  std::string text;
  std::string attribute;
  std::vector<ExprPtr> items;
  std::vector<PlacedComparison> comparisons;
  Arguments call;
};

struct Stmt;
using StmtPtr = std::unique_ptr<Stmt>;
using Body = std::vector<StmtPtr>;

enum class StmtKind : std::uint8_t {
  kOutput,       // items
  kIf,           // branches (condition in items, body), else_body
  kFor,          // target, value, test or null, recursive, body, else_body
  kSet,          // target, value
  kSetBlock,     // target, filter or null (in value), body
  kMacro,        // name, parameters, defaults, body
  kCallBlock,    // value (a kCall), parameters, defaults, body
  kFilterBlock,  // value (a kFilter without input), body
  kWith,         // targets, items, body
  kAutoescape,   // value, body
  kGeneration,   // body
  kBreak,
  kContinue,
};

struct Stmt {
  StmtKind kind = StmtKind::kOutput;
  bool recursive = false;
  Place place;
  std::string name;
  ExprPtr target;
  ExprPtr value;
  ExprPtr test;
  std::vector<ExprPtr> items;
  std::vector<ExprPtr> targets;
  std::vector<std::string> parameters;
  std::vector<ExprPtr> defaults;  // for the last parameters
  Body body;
  Body else_body;
  std::vector<Body> branches;  // kIf: one body per condition
};

// A parsed template.
struct Tree {
  Body body;
  std::vector<std::string> literal_texts;  // by LiteralId
  std::vector<text::Literal> literals;
};

// Returns a target in or below `node` that assigns to `name`; nullptr if there is none.
[[nodiscard]] const Expr* find_assigned(const Stmt& node, std::string_view name);

}  // namespace rondo::jinja
