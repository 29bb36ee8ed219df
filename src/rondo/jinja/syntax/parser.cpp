#include "jinja/syntax/parser.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "jinja/common/options.h"
#include "jinja/common/place.h"
#include "jinja/syntax/ast.h"
#include "jinja/syntax/expressions.h"
#include "jinja/syntax/lexer.h"

namespace rondo::jinja {
namespace {

// The keywords that end a body: {"elif", "else", "endif"}.
using EndTags = std::vector<std::string_view>;

class Parser : private ExpressionParser {
 public:
  Parser(std::string_view source, const CompileOptions& options, const std::string& name)
      : ExpressionParser(source, options, name) {}

  Result<Tree> run() {
    tree_.body = parse_body(nullptr);
    if (error_) return *std::move(error_);
    return std::move(tree_);
  }

 private:
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

  // The part after a tag's head: [":"] "%}" body.  The end tag's name is consumed if only one is possible.
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
    node->target = parse_target({});
    expect_name("in");
    TupleOptions iterable;
    iterable.inline_if = false;
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
    std::set<std::string> seen;
    while (ok() && !is(TokenKind::kRParen)) {
      if (!node.parameters.empty() && !expect(TokenKind::kComma)) return;
      const Token& token = current();
      std::string parameter = parse_name_target();
      if (!seen.insert(parameter).second) {
        fail(token, "duplicate argument " + quoted_name(parameter) + " in function definition");
      }
      if (!ok()) return;
      node.parameters.push_back(std::move(parameter));
      if (skip(TokenKind::kAssign)) {
        node.defaults.push_back(parse_expression(true));
      } else if (!node.defaults.empty()) {
        fail("non-default argument follows default argument");
      }
    }
    expect(TokenKind::kRParen);
  }

  std::vector<const EndTags*> end_tags_;
  std::vector<std::string> open_tags_;
};

}  // namespace

Result<Tree> parse(std::string_view source, const CompileOptions& options, const std::string& name) {
  return Parser(source, options, name).run();
}

}  // namespace rondo::jinja
