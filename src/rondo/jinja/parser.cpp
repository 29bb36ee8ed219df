#include "jinja/parser.h"

#include <algorithm>
#include <optional>
#include <utility>

namespace rondo::jinja {
namespace {

// Nesting of brackets and of blocks, each some ten C++ frames deep.  Python's own parser gives up at 200 brackets.
constexpr int kMaxNesting = 160;
// Height of an expression tree; a chain such as a + b + c grows by one per operator.
constexpr int kMaxHeight = 1000;

// The keywords that end a body: {"elif", "else", "endif"}.
using EndTags = std::vector<std::string_view>;

std::string quoted_name(std::string_view text) {
  const char quote = text.find('\'') != std::string_view::npos ? '"' : '\'';
  return quote + std::string(text) + quote;
}

std::string describe_token(const Token& token) {
  return token.kind == TokenKind::kName ? token.text : std::string(describe(token.kind));
}

std::string_view node_name(ExprKind kind) {
  switch (kind) {
    case ExprKind::kString:
    case ExprKind::kInteger:
    case ExprKind::kFloat:
    case ExprKind::kBool:
    case ExprKind::kNone: return "const";
    case ExprKind::kList: return "list";
    case ExprKind::kDict: return "dict";
    case ExprKind::kTuple: return "tuple";
    case ExprKind::kGetAttr: return "getattr";
    case ExprKind::kGetItem: return "getitem";
    case ExprKind::kCall: return "call";
    case ExprKind::kFilter: return "filter";
    default: return "expression";
  }
}

// A recursive-descent parser.  After a failure every function returns nothing useful and the first error stays; the
// functions check ok() before they go on, so that no exception is needed.
class Parser {
 public:
  Parser(std::string_view source, const CompileOptions& options, const std::string& name)
      : source_(source), name_(name), tokens_(tokenize(source, options)) {}

  Result<Tree> run() {
    tree_.body = parse_body(nullptr);
    if (error_) return *std::move(error_);
    return std::move(tree_);
  }

 private:
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

  void fail(const Token& token, std::string message) {
    if (error_) return;
    // What cannot be lexed is reported as such, whatever the parser was looking for.
    const bool lexical = current().kind == TokenKind::kError;
    const Token& culprit = lexical ? current() : token;
    Error error;
    error.code = ErrorCode::kTemplateSyntax;
    error.message = lexical ? current().text : std::move(message);
    error.source = name_;
    error.line = culprit.place.line;
    error.column = culprit.place.column;
    error.line_text = line_text(source_, culprit.place.line);
    error_ = std::move(error);
  }
  void fail(std::string message) { fail(current(), std::move(message)); }

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
  // The next name; "" after a failure.
  std::string take_name() {
    if (ok() && !is(TokenKind::kName)) expected("name");
    return ok() ? take().text : std::string();
  }

  // Counts nesting while it lives.
  class Nested {
   public:
    explicit Nested(Parser& parser) : parser_(parser) {
      if (++parser_.nesting_ > kMaxNesting) parser_.fail("too many nested blocks or brackets");
    }
    ~Nested() { --parser_.nesting_; }
    Nested(const Nested&) = delete;
    Nested& operator=(const Nested&) = delete;

   private:
    Parser& parser_;
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

  // ---- statements

  // body := (data | "{{" tuple "}}" | "{%" statement "%}")*, up to a block that starts with one of `ends`.
  // Leaves the end tag's name as the current token.
  Body parse_body(const EndTags* ends) {
    Nested nested(*this);
    Body body;
    StmtPtr output;
    if (ends != nullptr) end_tags_.push_back(ends);
    while (ok() && !is(TokenKind::kEnd)) {
      if (is(TokenKind::kData) || is(TokenKind::kVariableBegin)) {
        if (!output) output = make(StmtKind::kOutput, current().place);
        parse_output_item(*output);
        continue;
      }
      if (output) body.push_back(std::move(output));
      output = nullptr;
      if (!expect(TokenKind::kBlockBegin)) break;
      if (ends != nullptr && is(TokenKind::kName) &&
          std::find(ends->begin(), ends->end(), current().text) != ends->end()) {
        end_tags_.pop_back();
        return body;
      }
      StmtPtr statement = parse_statement();
      if (statement) body.push_back(std::move(statement));
      expect(TokenKind::kBlockEnd);
    }
    if (output) body.push_back(std::move(output));
    if (ok() && ends != nullptr) fail(end_of_template_message(nullptr));
    if (ends != nullptr) end_tags_.pop_back();
    return body;
  }

  void parse_output_item(Stmt& output) {
    const Token& token = take();
    if (token.kind == TokenKind::kData) {
      output.items.push_back(make_literal(ExprKind::kText, token.place, token.text));
      return;
    }
    output.items.push_back(parse_tuple({}));
    expect(TokenKind::kVariableEnd);
  }

  // The message for an unknown tag, or (null) for a template that ends inside a block.
  std::string end_of_template_message(const std::string* tag) {
    std::string message =
        tag == nullptr ? "Unexpected end of template." : "Encountered unknown tag " + quoted_name(*tag) + ".";
    if (!end_tags_.empty()) {
      std::string looking;
      for (std::string_view end : *end_tags_.back()) {
        if (!looking.empty()) looking += " or ";
        looking += quoted_name(end);
      }
      const bool due = tag != nullptr && std::any_of(end_tags_.begin(), end_tags_.end(), [&](const EndTags* ends) {
        return std::find(ends->begin(), ends->end(), *tag) != ends->end();
      });
      message += due ? " You probably made a nesting mistake. Jinja is expecting this tag, but currently looking for " +
                           looking + "."
                     : " Jinja was looking for the following tags: " + looking + ".";
    }
    if (!open_tags_.empty()) {
      message += " The innermost block that needs to be closed is " + quoted_name(open_tags_.back()) + ".";
    }
    return message;
  }

  StmtPtr parse_statement() {
    if (!is(TokenKind::kName)) {
      fail("tag name expected");
      return nullptr;
    }
    using Rule = StmtPtr (Parser::*)();
    static constexpr std::pair<std::string_view, Rule> kRules[] = {
        {"if", &Parser::parse_if},
        {"for", &Parser::parse_for},
        {"set", &Parser::parse_set},
        {"macro", &Parser::parse_macro},
        {"call", &Parser::parse_call_block},
        {"filter", &Parser::parse_filter_block},
        {"with", &Parser::parse_with},
        {"print", &Parser::parse_print},
        {"autoescape", &Parser::parse_autoescape},
        {"generation", &Parser::parse_generation},
        {"break", &Parser::parse_loop_control},
        {"continue", &Parser::parse_loop_control},
    };
    const std::string tag = current().text;
    for (const auto& [name, rule] : kRules) {
      if (tag != name) continue;
      open_tags_.push_back(tag);
      StmtPtr statement = (this->*rule)();
      open_tags_.pop_back();
      return statement;
    }
    if (tag == "include" || tag == "import" || tag == "from" || tag == "extends" || tag == "block") {
      fail("the tag " + quoted_name(tag) + " is not supported: chat templates stand alone");
    } else {
      fail(end_of_template_message(&tag));
    }
    return nullptr;
  }

  // Behind a tag's head: [":"] "%}" body.  The end tag's name is taken when it is the only possible one.
  Body parse_block(const EndTags& ends) {
    skip(TokenKind::kColon);
    expect(TokenKind::kBlockEnd);
    Body body = ok() ? parse_body(&ends) : Body();
    if (ok() && ends.size() == 1) take();
    return body;
  }

  // if := "if" tuple body ("elif" tuple body)* ["else" body] "endif"
  StmtPtr parse_if() {
    StmtPtr node = make(StmtKind::kIf, take().place);
    static const EndTags kEnds = {"elif", "else", "endif"};
    static const EndTags kEndif = {"endif"};
    for (;;) {
      TupleOptions options;
      options.inline_if = false;
      node->items.push_back(parse_tuple(options));
      node->branches.push_back(parse_block(kEnds));
      if (!ok()) return node;
      const std::string tag = take().text;
      if (tag == "elif") continue;
      if (tag == "else") node->else_body = parse_block(kEndif);
      return node;
    }
  }

  // for := "for" target "in" tuple ["if" expression] ["recursive"] body ["else" body] "endfor"
  StmtPtr parse_for() {
    StmtPtr node = make(StmtKind::kFor, take().place);
    static const EndTags kEnds = {"endfor", "else"};
    static const EndTags kEndfor = {"endfor"};
    TupleOptions target;
    target.end_name = "in";
    node->target = parse_target(target);
    expect_name("in");
    TupleOptions iterable;
    iterable.inline_if = false;
    iterable.end_name = "recursive";
    node->value = parse_tuple(iterable);
    if (ok() && skip_name("if")) node->test = parse_expression(true);
    node->recursive = ok() && skip_name("recursive");
    node->body = parse_block(kEnds);
    if (ok() && take().text == "else") node->else_body = parse_block(kEndfor);
    return node;
  }

  // set := "set" target "=" tuple | "set" target filters body "endset"
  StmtPtr parse_set() {
    const Place place = take().place;
    TupleOptions options;
    options.namespaces = true;
    ExprPtr target = parse_target(options);
    StmtPtr node;
    if (ok() && skip(TokenKind::kAssign)) {
      node = make(StmtKind::kSet, place);
      node->value = parse_tuple({});
    } else {
      static const EndTags kEnds = {"endset"};
      node = make(StmtKind::kSetBlock, place);
      if (ok()) node->value = parse_filters(nullptr, false);
      node->body = parse_block(kEnds);
    }
    node->target = std::move(target);
    return node;
  }

  StmtPtr parse_macro() {
    StmtPtr node = make(StmtKind::kMacro, take().place);
    static const EndTags kEnds = {"endmacro"};
    node->name = parse_name_target();
    parse_signature(*node);
    node->body = parse_block(kEnds);
    return node;
  }

  // call := "call" ["(" parameters ")"] call-expression body "endcall"
  StmtPtr parse_call_block() {
    const Token& tag = take();
    StmtPtr node = make(StmtKind::kCallBlock, tag.place);
    static const EndTags kEnds = {"endcall"};
    if (is(TokenKind::kLParen)) parse_signature(*node);
    node->value = parse_expression(true);
    if (ok() && node->value->kind != ExprKind::kCall) fail(tag, "expected call");
    node->body = parse_block(kEnds);
    return node;
  }

  StmtPtr parse_filter_block() {
    StmtPtr node = make(StmtKind::kFilterBlock, take().place);
    static const EndTags kEnds = {"endfilter"};
    node->value = parse_filters(nullptr, true);
    node->body = parse_block(kEnds);
    return node;
  }

  StmtPtr parse_with() {
    StmtPtr node = make(StmtKind::kWith, take().place);
    static const EndTags kEnds = {"endwith"};
    while (ok() && !is(TokenKind::kBlockEnd)) {
      if (!node->targets.empty() && !expect(TokenKind::kComma)) break;
      node->targets.push_back(parse_target({}));
      expect(TokenKind::kAssign);
      node->items.push_back(parse_expression(true));
    }
    node->body = parse_block(kEnds);
    return node;
  }

  StmtPtr parse_print() {
    StmtPtr node = make(StmtKind::kOutput, take().place);
    while (ok() && !is(TokenKind::kBlockEnd)) {
      if (!node->items.empty() && !expect(TokenKind::kComma)) break;
      node->items.push_back(parse_expression(true));
    }
    return node;
  }

  StmtPtr parse_autoescape() {
    StmtPtr node = make(StmtKind::kAutoescape, take().place);
    static const EndTags kEnds = {"endautoescape"};
    node->value = parse_expression(true);
    node->body = parse_block(kEnds);
    return node;
  }

  StmtPtr parse_generation() {
    StmtPtr node = make(StmtKind::kGeneration, take().place);
    static const EndTags kEnds = {"endgeneration"};
    node->body = parse_block(kEnds);
    return node;
  }

  StmtPtr parse_loop_control() {
    const Token& token = take();
    return make(token.text == "break" ? StmtKind::kBreak : StmtKind::kContinue, token.place);
  }

  // parameters := [name ["=" expression] ("," name ["=" expression])*]
  void parse_signature(Stmt& node) {
    if (!expect(TokenKind::kLParen)) return;
    while (ok() && !is(TokenKind::kRParen)) {
      if (!node.parameters.empty() && !expect(TokenKind::kComma)) return;
      node.parameters.push_back(parse_name_target());
      if (!ok()) return;
      if (skip(TokenKind::kAssign)) {
        node.defaults.push_back(parse_expression(true));
      } else if (!node.defaults.empty()) {
        fail("non-default argument follows default argument");
      }
    }
    expect(TokenKind::kRParen);
  }

  // ---- targets

  static bool is_constant_name(std::string_view name) {
    return name == "true" || name == "false" || name == "none" || name == "True" || name == "False" || name == "None";
  }

  std::string parse_name_target() {
    const Token token = current();
    std::string name = take_name();
    if (ok() && is_constant_name(name)) fail(token, "can't assign to 'name'");
    return name;
  }

  struct TupleOptions {
    bool simplified = false;   // names and literals only
    bool inline_if = true;
    bool parentheses = false;  // inside ( ): may be empty
    bool namespaces = false;   // a.b may be a target
    std::string_view end_name; // a name that ends the tuple
  };

  ExprPtr parse_target(TupleOptions options) {
    options.simplified = true;
    const Token token = current();
    ExprPtr target = parse_tuple(options);
    if (ok()) check_target(*target, token);
    return target;
  }

  void check_target(const Expr& target, const Token& token) {
    if (target.kind == ExprKind::kName || target.kind == ExprKind::kNsRef) return;
    if (target.kind == ExprKind::kTuple) {
      for (const ExprPtr& item : target.items) check_target(*item, token);
      return;
    }
    fail(token, "can't assign to " + quoted_name(node_name(target.kind)));
  }

  // ---- expressions, loosest first

  ExprPtr parse_expression(bool inline_if) {
    if (!ok()) return nullptr;
    Nested nested(*this);
    return inline_if ? parse_inline_if() : parse_or();
  }

  // or ["if" or ["else" inline_if]]*
  ExprPtr parse_inline_if() {
    ExprPtr value = parse_or();
    while (ok() && skip_name("if")) {
      ExprPtr condition = parse_or();
      ExprPtr otherwise;
      if (ok() && skip_name("else")) {
        Nested nested(*this);
        if (ok()) otherwise = parse_inline_if();
      }
      if (!ok()) return nullptr;
      const Place place = condition->start;
      ExprPtr node = make(ExprKind::kInlineIf, place);
      node->start = value->start;
      add_item(*node, std::move(condition));
      add_item(*node, std::move(value));
      add_item(*node, std::move(otherwise));
      value = std::move(node);
    }
    return value;
  }

  ExprPtr parse_or() {
    ExprPtr left = parse_and();
    while (ok() && is_name("or")) left = parse_right(ExprKind::kOr, std::move(left), &Parser::parse_and);
    return left;
  }

  ExprPtr parse_and() {
    ExprPtr left = parse_not();
    while (ok() && is_name("and")) left = parse_right(ExprKind::kAnd, std::move(left), &Parser::parse_not);
    return left;
  }

  // Takes the operator, then the right operand by `rule`.
  ExprPtr parse_right(ExprKind kind, ExprPtr left, ExprPtr (Parser::*rule)()) {
    const Token& token = take();
    ExprPtr node = make_over(kind, token.place, std::move(left));
    node->token = token.kind;
    ExprPtr right = (this->*rule)();
    if (!ok()) return nullptr;
    add_item(*node, std::move(right));
    return node;
  }

  ExprPtr parse_not() {
    if (!is_name("not")) return parse_compare();
    Nested nested(*this);
    if (!ok()) return nullptr;
    const Place place = take().place;
    ExprPtr item = parse_not();
    if (!ok()) return nullptr;
    ExprPtr node = make_over(ExprKind::kNot, place, std::move(item));
    node->start = place;
    return node;
  }

  std::optional<Comparison> take_comparison() {
    std::optional<Comparison> found;
    switch (current().kind) {
      case TokenKind::kEq: found = Comparison::kEq; break;
      case TokenKind::kNe: found = Comparison::kNe; break;
      case TokenKind::kLt: found = Comparison::kLt; break;
      case TokenKind::kLtEq: found = Comparison::kLtEq; break;
      case TokenKind::kGt: found = Comparison::kGt; break;
      case TokenKind::kGtEq: found = Comparison::kGtEq; break;
      case TokenKind::kName:
        if (current().text == "in") found = Comparison::kIn;
        if (current().text == "not" && look().kind == TokenKind::kName && look().text == "in") {
          take();
          found = Comparison::kNotIn;
        }
        break;
      default: break;
    }
    if (found) take();
    return found;
  }

  ExprPtr parse_compare() {
    ExprPtr left = parse_sum();
    if (!ok()) return nullptr;
    ExprPtr node;
    for (;;) {
      const Place place = current().place;
      const std::optional<Comparison> comparison = take_comparison();
      if (!comparison) break;
      if (!node) node = make_over(ExprKind::kCompare, place, std::move(left));
      node->comparisons.push_back(*comparison);
      ExprPtr right = parse_sum();
      if (!ok()) return nullptr;
      add_item(*node, std::move(right));
    }
    return node ? std::move(node) : std::move(left);
  }

  ExprPtr parse_sum() {
    ExprPtr left = parse_concat();
    while (ok() && (is(TokenKind::kAdd) || is(TokenKind::kSub))) {
      left = parse_right(ExprKind::kBinary, std::move(left), &Parser::parse_concat);
    }
    return left;
  }

  ExprPtr parse_concat() {
    ExprPtr first = parse_product();
    if (!ok() || !is(TokenKind::kTilde)) return first;
    ExprPtr node = make_over(ExprKind::kConcat, current().place, std::move(first));
    while (ok() && skip(TokenKind::kTilde)) {
      ExprPtr item = parse_product();
      if (ok()) add_item(*node, std::move(item));
    }
    return node;
  }

  ExprPtr parse_product() {
    ExprPtr left = parse_power();
    while (ok() && (is(TokenKind::kMul) || is(TokenKind::kDiv) || is(TokenKind::kFloorDiv) || is(TokenKind::kMod))) {
      left = parse_right(ExprKind::kBinary, std::move(left), &Parser::parse_power);
    }
    return left;
  }

  // Left-associative, as in the reference (2**3**2 is 64).
  ExprPtr parse_power() {
    ExprPtr left = parse_unary_filtered();
    while (ok() && is(TokenKind::kPow)) {
      left = parse_right(ExprKind::kBinary, std::move(left), &Parser::parse_unary_filtered);
    }
    return left;
  }

  ExprPtr parse_unary_filtered() { return parse_unary(true); }

  ExprPtr parse_unary(bool with_filter) {
    ExprPtr node;
    if (is(TokenKind::kSub) || is(TokenKind::kAdd)) {
      Nested nested(*this);
      if (!ok()) return nullptr;
      const Token& token = take();
      ExprPtr item = parse_unary(false);
      if (!ok()) return nullptr;
      node = make_over(token.kind == TokenKind::kSub ? ExprKind::kNegative : ExprKind::kPositive, token.place,
                       std::move(item));
      node->start = token.place;
    } else {
      node = parse_primary(false);
    }
    node = parse_postfix(std::move(node));
    return with_filter ? parse_filters_and_tests(std::move(node)) : std::move(node);
  }

  ExprPtr parse_primary(bool namespaces) {
    if (!ok()) return nullptr;
    const Token& token = current();
    switch (token.kind) {
      case TokenKind::kName: return parse_name(namespaces);
      case TokenKind::kString: return parse_string();
      case TokenKind::kInteger:
      case TokenKind::kFloat: {
        take();
        ExprPtr node = make(token.kind == TokenKind::kInteger ? ExprKind::kInteger : ExprKind::kFloat, token.place);
        node->text = token.text;
        return node;
      }
      case TokenKind::kLParen: {
        take();
        TupleOptions options;
        options.parentheses = true;
        ExprPtr node = parse_tuple(options);
        expect(TokenKind::kRParen);
        return node;
      }
      case TokenKind::kLBracket: return parse_list();
      case TokenKind::kLBrace: return parse_dict();
      default: fail("unexpected " + quoted_name(describe_token(token))); return nullptr;
    }
  }

  ExprPtr parse_name(bool namespaces) {
    const Token& token = take();
    const std::string& text = token.text;
    if (is_constant_name(text)) {
      if (text == "none" || text == "None") return make(ExprKind::kNone, token.place);
      ExprPtr node = make(ExprKind::kBool, token.place);
      node->flag = text == "true" || text == "True";
      return node;
    }
    ExprPtr node = make(ExprKind::kName, token.place);
    node->text = text;
    if (namespaces && skip(TokenKind::kDot)) {
      node->kind = ExprKind::kNsRef;
      node->attribute = take_name();
    }
    return node;
  }

  // Adjacent string constants are one.
  ExprPtr parse_string() {
    const Place place = current().place;
    std::string text;
    while (is(TokenKind::kString)) text += take().text;
    return make_literal(ExprKind::kString, place, std::move(text));
  }

  bool at_tuple_end(const TupleOptions& options) const {
    return is(TokenKind::kVariableEnd) || is(TokenKind::kBlockEnd) || is(TokenKind::kRParen) ||
           (!options.end_name.empty() && is_name(options.end_name));
  }

  // One expression, or several with commas between them (or one behind the last) as a tuple.
  ExprPtr parse_tuple(TupleOptions options) {
    if (!ok()) return nullptr;
    const Place place = current().place;
    std::vector<ExprPtr> items;
    bool is_tuple = false;
    while (ok()) {
      if (!items.empty()) expect(TokenKind::kComma);
      if (!ok() || at_tuple_end(options)) break;
      items.push_back(options.simplified ? parse_target_item(options) : parse_expression(options.inline_if));
      if (!ok() || !is(TokenKind::kComma)) break;
      is_tuple = true;
    }
    if (!ok()) return nullptr;
    if (!is_tuple && !items.empty()) return std::move(items.front());
    if (!is_tuple && !options.parentheses) {
      fail("Expected an expression, got " + quoted_name(describe_token(current())));
      return nullptr;
    }
    ExprPtr node = make(ExprKind::kTuple, place);
    for (ExprPtr& item : items) add_item(*node, std::move(item));
    return node;
  }

  ExprPtr parse_target_item(const TupleOptions& options) {
    Nested nested(*this);
    return parse_primary(options.namespaces);
  }

  ExprPtr parse_list() {
    ExprPtr node = make(ExprKind::kList, take().place);
    while (ok() && !is(TokenKind::kRBracket)) {
      if (!node->items.empty() && !expect(TokenKind::kComma)) break;
      if (is(TokenKind::kRBracket)) break;
      ExprPtr item = parse_expression(true);
      if (ok()) add_item(*node, std::move(item));
    }
    expect(TokenKind::kRBracket);
    return node;
  }

  ExprPtr parse_dict() {
    ExprPtr node = make(ExprKind::kDict, take().place);
    while (ok() && !is(TokenKind::kRBrace)) {
      if (!node->items.empty() && !expect(TokenKind::kComma)) break;
      if (is(TokenKind::kRBrace)) break;
      ExprPtr key = parse_expression(true);
      if (!expect(TokenKind::kColon)) break;
      ExprPtr value = parse_expression(true);
      if (!ok()) break;
      add_item(*node, std::move(key));
      add_item(*node, std::move(value));
    }
    expect(TokenKind::kRBrace);
    return node;
  }

  ExprPtr parse_postfix(ExprPtr node) {
    while (ok()) {
      if (is(TokenKind::kDot) || is(TokenKind::kLBracket)) {
        node = parse_subscript(std::move(node));
      } else if (is(TokenKind::kLParen)) {
        node = parse_call(std::move(node));
      } else {
        break;
      }
    }
    return node;
  }

  ExprPtr parse_filters_and_tests(ExprPtr node) {
    while (ok()) {
      if (is(TokenKind::kPipe)) {
        node = parse_filters(std::move(node), false);
      } else if (is_name("is")) {
        node = parse_test(std::move(node));
      } else if (is(TokenKind::kLParen)) {
        node = parse_call(std::move(node));
      } else {
        break;
      }
    }
    return node;
  }

  // "." name | "." integer | "[" subscript ("," subscript)* "]"
  ExprPtr parse_subscript(ExprPtr object) {
    const Token& token = take();
    if (token.kind == TokenKind::kDot) {
      const Token& member = current();
      if (member.kind == TokenKind::kName) {
        take();
        ExprPtr node = make_over(ExprKind::kGetAttr, member.place, std::move(object));
        node->text = member.text;
        return node;
      }
      if (member.kind != TokenKind::kInteger) {
        fail("expected name or number");
        return nullptr;
      }
      take();
      ExprPtr index = make(ExprKind::kInteger, member.place);
      index->text = member.text;
      ExprPtr node = make_over(ExprKind::kGetItem, token.place, std::move(object));
      add_item(*node, std::move(index));
      return node;
    }
    ExprPtr node = make_over(ExprKind::kGetItem, token.place, std::move(object));
    std::vector<ExprPtr> items;
    while (ok() && !is(TokenKind::kRBracket)) {
      if (!items.empty() && !expect(TokenKind::kComma)) break;
      items.push_back(parse_subscribed());
    }
    expect(TokenKind::kRBracket);
    if (!ok()) return nullptr;
    if (items.size() == 1) {
      add_item(*node, std::move(items.front()));
      return node;
    }
    ExprPtr tuple = make(ExprKind::kTuple, token.place);
    for (ExprPtr& item : items) add_item(*tuple, std::move(item));
    add_item(*node, std::move(tuple));
    return node;
  }

  // expression | [expression] ":" [expression] [":" [expression]]
  ExprPtr parse_subscribed() {
    const Place place = current().place;
    ExprPtr parts[3];
    if (!is(TokenKind::kColon)) {
      parts[0] = parse_expression(true);
      if (!ok() || !is(TokenKind::kColon)) return std::move(parts[0]);
    }
    take();
    const auto at_end = [&] { return is(TokenKind::kRBracket) || is(TokenKind::kComma); };
    if (!is(TokenKind::kColon) && !at_end()) parts[1] = parse_expression(true);
    if (ok() && skip(TokenKind::kColon) && !at_end()) parts[2] = parse_expression(true);
    if (!ok()) return nullptr;
    ExprPtr node = make(ExprKind::kSlice, place);
    for (ExprPtr& part : parts) add_item(*node, std::move(part));
    return node;
  }

  ExprPtr parse_call(ExprPtr callee) {
    ExprPtr node = make_over(ExprKind::kCall, current().place, std::move(callee));
    if (node->items[0]) node->place = node->items[0]->place;
    parse_arguments(*node);
    return node;
  }

  void parse_arguments(Expr& node) {
    const Token open = current();
    Arguments& call = node.call;
    const auto ensure = [&](bool valid) {
      if (!valid) fail(open, "invalid syntax for function call expression");
    };
    const auto deepen = [&](const ExprPtr& item) {
      if (item) node.depth = std::max(node.depth, item->depth + 1);
    };
    take();
    bool first = true;
    while (ok() && !is(TokenKind::kRParen)) {
      if (!first && (!expect(TokenKind::kComma) || is(TokenKind::kRParen))) break;
      first = false;
      if (skip(TokenKind::kMul)) {
        ensure(!call.star && !call.double_star);
        call.star = parse_expression(true);
        deepen(call.star);
      } else if (skip(TokenKind::kPow)) {
        ensure(!call.double_star);
        call.double_star = parse_expression(true);
        deepen(call.double_star);
      } else if (is(TokenKind::kName) && look().kind == TokenKind::kAssign) {
        ensure(!call.double_star);
        std::string key = take().text;
        take();
        call.keyword.emplace_back(std::move(key), parse_expression(true));
        deepen(call.keyword.back().second);
      } else {
        ensure(!call.star && !call.double_star && call.keyword.empty());
        call.positional.push_back(parse_expression(true));
        deepen(call.positional.back());
      }
    }
    if (ok() && node.depth > kMaxHeight) fail("expression is too deeply nested");
    expect(TokenKind::kRParen);
  }

  std::string parse_dotted_name() {
    std::string name = take_name();
    while (ok() && skip(TokenKind::kDot)) name += "." + take_name();
    return name;
  }

  // ("|" name [arguments])*; `inline_start`: the first one comes without "|" (filter blocks).
  ExprPtr parse_filters(ExprPtr node, bool inline_start) {
    while (ok() && (inline_start || is(TokenKind::kPipe))) {
      if (!inline_start) take();
      inline_start = false;
      ExprPtr filter = make_over(ExprKind::kFilter, current().place, std::move(node));
      filter->text = parse_dotted_name();
      if (ok() && is(TokenKind::kLParen)) parse_arguments(*filter);
      node = std::move(filter);
    }
    return node;
  }

  // "is" ["not"] name [arguments | operand]
  ExprPtr parse_test(ExprPtr value) {
    take();
    const bool negated = skip_name("not");
    ExprPtr test = make_over(ExprKind::kTest, current().place, std::move(value));
    test->text = parse_dotted_name();
    if (!ok()) return nullptr;
    if (is(TokenKind::kLParen)) {
      parse_arguments(*test);
    } else if (at_test_operand()) {
      if (is_name("is")) {
        fail("You cannot chain multiple tests with is");
        return nullptr;
      }
      Nested nested(*this);
      ExprPtr operand = parse_postfix(parse_primary(false));
      if (!ok()) return nullptr;
      test->depth = std::max(test->depth, operand->depth + 1);
      test->call.positional.push_back(std::move(operand));
    }
    if (!negated) return test;
    const Place place = test->place;
    return make_over(ExprKind::kNot, place, std::move(test));
  }

  bool at_test_operand() const {
    switch (current().kind) {
      case TokenKind::kName: return !is_name("else") && !is_name("or") && !is_name("and");
      case TokenKind::kString:
      case TokenKind::kInteger:
      case TokenKind::kFloat:
      case TokenKind::kLBracket:
      case TokenKind::kLBrace: return true;
      default: return false;
    }
  }

  std::string_view source_;
  std::string name_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
  int nesting_ = 0;
  Tree tree_;
  std::vector<const EndTags*> end_tags_;
  std::vector<std::string> open_tags_;
  std::optional<Error> error_;
};

}  // namespace

std::string line_text(std::string_view source, int line) {
  std::size_t begin = 0;
  for (int i = 1; i < line; ++i) {
    begin = source.find('\n', begin);
    if (begin == std::string_view::npos) return {};
    ++begin;
  }
  return std::string(source.substr(begin, source.find('\n', begin) - begin));
}

Result<Tree> parse(std::string_view source, const CompileOptions& options, const std::string& name) {
  return Parser(source, options, name).run();
}

}  // namespace rondo::jinja
