// The part of the parser for expressions: tokens, nodes, targets and expressions.  parser.cpp adds statements.
#pragma once

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "jinja/common/operators.h"
#include "jinja/common/options.h"
#include "jinja/common/place.h"
#include "jinja/syntax/ast.h"
#include "jinja/syntax/lexer.h"
#include "rondo/result.h"

namespace rondo::jinja {

// Returns "'name'" as Python's repr writes it, for messages.
[[nodiscard]] std::string quoted_name(std::string_view text);
[[nodiscard]] std::string describe_token(const Token& token);

// A recursive-descent parser.  After a failure the functions return meaningless values and the first error is kept.
// They check ok() before they continue, so no exceptions are needed.
class ExpressionParser {
 protected:
  // Nesting of brackets and of blocks.  Each level takes some ten C++ frames.  Python's own parser gives up at 200
  // brackets.
  static constexpr int kMaxNesting = 160;
  // Height of an expression tree; a chain such as a + b + c grows by one per operator.
  static constexpr int kMaxHeight = 1000;

  ExpressionParser(std::string_view source, const CompileOptions& options, const std::string& name)
      : source_(source), name_(name), tokens_(tokenize(source, options)) {}

  // ---- tokens

  const Token& current() const { return tokens_[at_]; }
  const Token& look() const { return tokens_[std::min(at_ + 1, tokens_.size() - 1)]; }
  bool ok() const { return !error_; }
  bool is(TokenKind kind) const { return current().kind == kind; }
  bool is_name(std::string_view name) const { return is(TokenKind::kName) && current().text == name; }

  const Token& take() {
    const Token& token = tokens_[at_];
    if (at_ + 1 < tokens_.size()) ++at_;
    return token;
  }
  bool skip(TokenKind kind) {
    if (!is(kind)) return false;
    take();
    return true;
  }
  bool skip_name(std::string_view name) {
    if (!is_name(name)) return false;
    take();
    return true;
  }

  void fail(const Token& token, const std::string& message) {
    if (error_) return;
    // A lexical error is reported as such, whatever the parser expected.
    const bool lexical = current().kind == TokenKind::kError;
    const Place place = lexical ? current().place : token.place;
    error_ = Error(ErrorCode::kTemplateSyntax, lexical ? current().text : message, name_)
                 .at(place.line, place.column, line_text(source_, place.line));
  }
  void fail(const std::string& message) { fail(current(), message); }

  void expected(std::string_view what) {
    if (is(TokenKind::kEnd)) {
      fail("unexpected end of template, expected " + quoted_name(what) + ".");
    } else {
      fail("expected token " + quoted_name(what) + ", got " + quoted_name(describe_token(current())));
    }
  }
  bool expect(TokenKind kind) {
    if (!ok()) return false;
    if (!is(kind)) {
      expected(describe(kind));
      return false;
    }
    take();
    return true;
  }
  bool expect_name(std::string_view name) {
    if (!ok()) return false;
    if (!is_name(name)) {
      expected(name);
      return false;
    }
    take();
    return true;
  }
  // Returns the next name; "" after a failure.
  std::string take_name() {
    if (ok() && !is(TokenKind::kName)) expected("name");
    return ok() ? take().text : std::string();
  }

  // Counts one level of nesting while it lives.
  class Nested {
   public:
    explicit Nested(ExpressionParser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaxNesting) parser_.fail("too many nested blocks or brackets");
    }
    ~Nested() { --parser_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    ExpressionParser& parser_;
  };

  // ---- making nodes

  static ExprPtr make(ExprKind kind, Place place) {
    auto node = std::make_unique<Expr>();
    node->kind = kind;
    node->place = place;
    node->start = place;
    return node;
  }
  void add_item(Expr& node, ExprPtr item) {
    if (item) {
      node.depth = std::max(node.depth, item->depth + 1);
      if (node.depth > kMaxHeight) fail("expression is too deeply nested");
    }
    node.items.push_back(std::move(item));
  }
  ExprPtr make_over(ExprKind kind, Place place, ExprPtr item) {
    ExprPtr node = make(kind, place);
    if (item) node->start = item->start;
    add_item(*node, std::move(item));
    return node;
  }
  ExprPtr make_literal(ExprKind kind, Place place, std::string text) {
    ExprPtr node = make(kind, place);
    node->literal = static_cast<std::uint32_t>(tree_.literals.size());
    tree_.literals.push_back({place.line, place.column});
    tree_.literal_texts.push_back(std::move(text));
    return node;
  }
  static StmtPtr make(StmtKind kind, Place place) {
    auto node = std::make_unique<Stmt>();
    node->kind = kind;
    node->place = place;
    return node;
  }

  // ---- targets
  static bool is_constant_name(std::string_view name);
  std::string parse_name_target();
  struct TupleOptions {
    bool simplified = false;  // names and literals only
    bool inline_if = true;
    bool parentheses = false;  // inside ( ): may be empty
    bool namespaces = false;   // a.b may be a target
  };
  ExprPtr parse_target(TupleOptions options);
  void check_target(const Expr& target, const Token& token);
  // ---- expressions, loosest first
  ExprPtr parse_expression(bool inline_if);
  // or ["if" or ["else" inline_if]]*
  ExprPtr parse_inline_if();
  ExprPtr parse_or();
  ExprPtr parse_and();
  // Takes the operator, then parses the right operand with `rule`.
  ExprPtr parse_right(ExprKind kind, ExprPtr left, ExprPtr (ExpressionParser::*rule)());
  ExprPtr parse_not();
  std::optional<CompareOp> take_comparison();
  ExprPtr parse_compare();
  ExprPtr parse_sum();
  ExprPtr parse_concat();
  ExprPtr parse_product();
  // Left-associative, as in the reference (2**3**2 is 64).
  ExprPtr parse_power();
  ExprPtr parse_unary_filtered();
  ExprPtr parse_unary(bool with_filter);
  ExprPtr parse_primary(bool namespaces);
  ExprPtr parse_name(bool namespaces);
  // Joins adjacent string constants.
  ExprPtr parse_string();
  bool at_tuple_end() const;
  // Parses one expression.  Several with commas between them, or one with a comma after it, become a tuple.
  ExprPtr parse_tuple(TupleOptions options);
  ExprPtr parse_target_item(const TupleOptions& options);
  ExprPtr parse_list();
  ExprPtr parse_dict();
  ExprPtr parse_postfix(ExprPtr node);
  ExprPtr parse_filters_and_tests(ExprPtr node);
  // "." name | "." integer | "[" subscript ("," subscript)* "]"
  ExprPtr parse_subscript(ExprPtr object);
  // expression | [expression] ":" [expression] [":" [expression]]
  ExprPtr parse_subscribed();
  ExprPtr parse_call(ExprPtr callee);
  void parse_arguments(Expr& node);
  std::string parse_dotted_name();
  // ("|" name [arguments])*; `inline_start`: the first filter has no "|" (filter blocks).
  ExprPtr parse_filters(ExprPtr node, bool inline_start);
  // "is" ["not"] name [arguments | operand]
  ExprPtr parse_test(ExprPtr value);
  bool at_test_operand() const;

  std::string_view source_;
  std::string name_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  Tree tree_;
  std::optional<Error> error_;
};

}  // namespace rondo::jinja
