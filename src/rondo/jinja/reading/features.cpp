#include "jinja/reading/features.h"

#include <algorithm>
#include <utility>

#include "jinja/common/place.h"
#include "jinja/syntax/ast.h"
#include "jinja/syntax/lexer.h"
#include "jinja/syntax/parser.h"

namespace rondo::jinja {
namespace {

class FeatureFinder {
 public:
  explicit FeatureFinder(const Tree& tree) : tree_(tree) {}

  std::vector<Feature> run() {
    body(tree_.body);
    std::ranges::stable_sort(features_, [](const Feature& a, const Feature& b) {
      return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
    });
    return std::move(features_);
  }

 private:
  void add(Feature::Kind kind, const std::string& name, const Arguments* arguments, const Place& place,
           const Expr* subject = nullptr) {
    Feature feature;
    feature.kind = kind;
    feature.name = name;
    if (subject != nullptr && subject->kind == ExprKind::kName) feature.subject = subject->text;
    if (arguments != nullptr) {
      feature.has_arguments = !arguments->positional.empty() || !arguments->keyword.empty();
      for (const auto& [keyword, value] : arguments->keyword) feature.keywords.push_back(keyword);
    }
    feature.place = {place.line, place.column};
    features_.push_back(std::move(feature));
  }

  void expression(const Expr* node) {
    if (node == nullptr) return;
    switch (node->kind) {
      case ExprKind::kFilter:
        add(Feature::Kind::kFilter, node->text, &node->call, node->place, node->items[0].get());
        break;
      case ExprKind::kTest: add(Feature::Kind::kTest, node->text, nullptr, node->place, node->items[0].get()); break;
      case ExprKind::kCall:
        if (node->items[0]->kind == ExprKind::kGetAttr && !is_loop(*node->items[0]->items[0]))
          add(Feature::Kind::kMethod, node->items[0]->text, &node->call, node->place);
        break;
      case ExprKind::kBinary:
        if (node->token == TokenKind::kMod && node->items[0]->kind == ExprKind::kString)
          add(Feature::Kind::kPercent, "%", nullptr, node->place);
        break;
      default: break;
    }
    for (const ExprPtr& item : node->items) expression(item.get());
    for (const ExprPtr& item : node->call.positional) expression(item.get());
    for (const auto& [name, value] : node->call.keyword) expression(value.get());
    expression(node->call.star.get());
    expression(node->call.double_star.get());
  }

  // loop.cycle() and loop.changed() belong to the language.
  static bool is_loop(const Expr& node) { return node.kind == ExprKind::kName && node.text == "loop"; }

  void body(const Body& statements) {
    for (const StmtPtr& node : statements) {
      if (node->kind == StmtKind::kGeneration) add(Feature::Kind::kStatement, "generation", nullptr, node->place);
      if (node->kind == StmtKind::kBreak) add(Feature::Kind::kStatement, "break", nullptr, node->place);
      if (node->kind == StmtKind::kContinue) add(Feature::Kind::kStatement, "continue", nullptr, node->place);
      for (const ExprPtr* part : {&node->target, &node->value, &node->test}) expression(part->get());
      for (const auto* list : {&node->items, &node->targets, &node->defaults}) {
        for (const ExprPtr& item : *list) expression(item.get());
      }
      body(node->body);
      body(node->else_body);
      for (const Body& branch : node->branches) body(branch);
    }
  }

  const Tree& tree_;
  std::vector<Feature> features_;
};

}  // namespace

std::vector<Feature> used_features(std::string_view source) {
  const Result<Tree> tree = parse(source, {}, "");
  return tree.ok() ? FeatureFinder(tree.value()).run() : std::vector<Feature>{};
}

}  // namespace rondo::jinja
