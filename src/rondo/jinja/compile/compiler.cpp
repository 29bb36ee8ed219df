#include "jinja/compile/compiler.h"

#include <algorithm>
#include <utility>

#include "jinja/builtins/filters.h"
#include "jinja/builtins/tests.h"
#include "jinja/common/place.h"
#include "jinja/compile/constants.h"
#include "jinja/compile/expression_compiler.h"
#include "jinja/compile/folding.h"
#include "jinja/compile/roles.h"
#include "jinja/compile/symbols.h"
#include "jinja/program/instructions.h"
#include "jinja/syntax/ast.h"
#include "jinja/syntax/lexer.h"
#include "jinja/types/container_methods.h"
#include "jinja/types/methods.h"
#include "jinja/types/string_methods.h"

namespace rondo::jinja {
namespace {

NameInfo name_info(std::string_view name) {
  NameInfo info;
  info.filter = find_filter(name);
  info.test = find_test(name);
  info.string_method = find_method(string_methods(), name);
  if (info.string_method != nullptr && info.string_method->markup_only) info.string_method = nullptr;
  info.list_method = find_method(list_methods(), name);
  info.dict_method = find_method(dict_methods(), name);
  info.is_plain = info.dict_method == nullptr && !name.starts_with('_');
  return info;
}

// A bound, not the exact number: every instruction between two statements counts as a push, as if nothing were ever
// popped.  Jumps within an expression only go forward, and the stack is empty at the instructions where statements
// begin.
std::uint32_t stack_size(const Program& program) {
  constexpr std::uint32_t kSpare = 4;  // a function's argument, and the list of a loop that is about to begin
  std::uint32_t most = 0;
  std::uint32_t size = 0;
  for (const Instruction& instruction : program.code) {
    switch (instruction.op) {
      case Op::kText:
      case Op::kEmitString:
      case Op::kEnterIf:
      case Op::kLeaveIf:
      case Op::kForNext: size = 0; break;
      default: break;
    }
    size += instruction.op == Op::kUnpack ? instruction.a : 1;
    most = std::max(most, size);
  }
  return most + kSpare;
}

// Markup comes from autoescape blocks and from filters that are not plain.
bool may_have_markup(const Program& program) {
  return std::any_of(program.code.begin(), program.code.end(), [&](const Instruction& instruction) {
    if (instruction.op == Op::kAutoescape) return true;
    if (instruction.op == Op::kLoadName) return program.names[instruction.a] == "lipsum";
    if (instruction.op != Op::kFilter) return false;
    const Filter* filter = program.name_infos[instruction.b].filter;
    return filter == nullptr || !filter->is_plain;
  });
}

// Redirects jumps that lead to another jump to its target.
void shorten_jumps(Program& program) {
  for (Instruction& instruction : program.code) {
    if (instruction.op != Op::kJump && instruction.op != Op::kLeaveIf) continue;
    while (program.code[instruction.a].op == Op::kJump) instruction.a = program.code[instruction.a].a;
  }
}

class Compiler : private ExpressionCompiler {
 public:
  using ExpressionCompiler::ExpressionCompiler;

  Result<Program> run() {
    escaping_.used = Escaping::is_used(tree_.body);
    program_.has_self = mentions(tree_.body, "self");
    if (may_overflow(tree_.body)) constants_ = std::make_unique<Constants>(tree_);
    const std::uint32_t root = add_function("");
    enter_function(root);
    Symbols symbols(nullptr, root);
    ScopeScanner(symbols, names_).body(tree_.body);
    const Scope scope(*this, symbols, false);
    program_.functions[root].entry = here();
    open_scope({1, 1});
    body(tree_.body);
    emit(Op::kReturn, {1, 1});
    leave_function();
    if (error_) return *std::move(error_);
    program_.compared_roles = compared_roles(tree_);
    program_.names = names_.all();
    for (const std::string& text : program_.names) program_.name_infos.push_back(name_info(text));
    for (Instruction& instruction : program_.code) {
      if (instruction.op == Op::kSlotAttr) instruction.flag = program_.name_infos[instruction.b].is_plain ? 1 : 0;
    }
    shorten_jumps(program_);
    program_.stack_size = stack_size(program_);
    program_.may_have_markup = may_have_markup(program_);
    program_.literal_texts = std::move(tree_.literal_texts);
    program_.literals = std::move(tree_.literals);
    program_.undeclared.assign(undeclared_.begin(), undeclared_.end());
    return std::move(program_);
  }

 private:
  void body(const Body& statements) {
    for (const StmtPtr& node : statements) {
      if (error_) return;
      statement(*node);
    }
  }

  void statement(const Stmt& node) {
    switch (node.kind) {
      case StmtKind::kOutput: output(node); break;
      case StmtKind::kIf: if_statement(node); break;
      case StmtKind::kFor: for_statement(node); break;
      case StmtKind::kSet:
        check_namespaces(*node.target);
        expression(*node.value);
        store(*node.target, true);
        break;
      case StmtKind::kSetBlock: set_block(node); break;
      case StmtKind::kMacro:
        emit(Op::kMacro, node.place, macro(node));
        emit(Op::kStoreSlot, node.place, slot(*symbols_->owner(name(node.name)), name(node.name)));
        break;
      case StmtKind::kCallBlock: call_block(node); break;
      case StmtKind::kFilterBlock: filter_block(node); break;
      case StmtKind::kWith: with_block(node); break;
      case StmtKind::kAutoescape: autoescape(node); break;
      case StmtKind::kGeneration: generation(node); break;
      case StmtKind::kBreak:
      case StmtKind::kContinue: loop_control(node); break;
    }
  }

  void output(const Stmt& node) {
    for (const ExprPtr& item : node.items) {
      if (item->kind == ExprKind::kText) {
        emit(Op::kText, item->place, item->literal);
      } else {
        output_expression(*item);
      }
    }
  }

  void output_expression(const Expr& node) {
    const std::uint32_t number = expression_number(node.start);
    const Escape escape = escaping_.of_output(node);
    const bool written_at_once =
        constants_ != nullptr ? constants_->value(node, escaping_).has_value() : is_constant(node);
    folding_ = begins_folding(node);
    if (node.kind == ExprKind::kString && escape == kEscapeAsSet) {
      emit(Op::kEmitString, node.start, node.literal);
    } else if (escape != kEscapeAsSet || written_at_once) {
      in_constant_ = written_at_once;
      if (written_at_once) {
        value_of(node);
      } else {
        expression(node);
      }
      in_constant_ = false;
      emit(Op::kEmit, node.start, number, 0, escape);
    } else if (node.kind == ExprKind::kConcat && !escaping_.used) {
      items(node.items);
      emit(Op::kEmitConcat, node.start, number, static_cast<std::uint32_t>(node.items.size()));
    } else {
      sum(node, number);
      mark_written();
      emit(Op::kEmit, node.start, number);
    }
    folding_ = false;
  }

  // Compiles a chain of `+` that is written: parts that are certainly concatenated can be written one by one.
  void sum(const Expr& node, std::uint32_t number) {
    if (node.kind != ExprKind::kBinary || node.token != TokenKind::kAdd) {
      expression(node);
      return;
    }
    sum(*node.items[0], number);
    expression(*node.items[1]);
    mark_written();
    emit(Op::kAddPart, node.place, number);
  }

  // The next instruction writes the value that is computed last.
  void mark_written() {
    Instruction& last = program_.code.back();
    if (last.op == Op::kFilter || last.op == Op::kCall) last.flag = 1;
  }

  // Numbers output expressions from 1, as far as text::Run can distinguish them.
  std::uint32_t expression_number(Place place) {
    program_.expressions.push_back(place);
    return program_.expressions.size() <= 0xFFFF ? static_cast<std::uint32_t>(program_.expressions.size()) : 0;
  }

  void if_statement(const Stmt& node) {
    const bool soft = std::exchange(soft_, true);
    emit(Op::kEnterIf, node.place);
    std::vector<std::uint32_t> exits;
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const Expr& test = *node.items[i];
      const auto flag = static_cast<std::uint8_t>(kTestOfIf | negated(test));
      const std::uint32_t jump = i == 0 ? begun_condition(test, flag) : condition(test, flag);
      body(node.branches[i]);
      exits.push_back(emit(Op::kLeaveIf, test.start));
      land(jump);
    }
    if (!node.else_body.empty()) {
      const std::uint8_t flag = negated(*node.items.back());
      emit(Op::kGuard, node.place, 0, 0, static_cast<std::uint8_t>(flag | kTestElse));
      body(node.else_body);
    }
    exits.push_back(emit(Op::kLeaveIf, node.place));
    for (const std::uint32_t exit : exits) land(exit);
    soft_ = soft;
  }

  // for: each iteration begins with a new scope for the body.
  void for_statement(const Stmt& node) {
    check_loop_target(node);
    if (node.recursive) {
      const std::uint32_t id = add_function("loop");
      expression(*node.value);
      emit(Op::kCallLoop, node.place, id);
      emit(Op::kEmit, node.place, 0, 0, 1);
      const std::uint32_t jump = emit(Op::kJump, node.place);
      enter_function(id);
      program_.functions[id].entry = here();
      loop(node, id);
      emit(Op::kReturn, node.place);
      leave_function();
      land(jump);
    } else {
      expression(*node.value);
      loop(node, function().id);
    }
  }

  void loop(const Stmt& node, std::uint32_t id) {
    const bool extended = node.recursive || mentions(node.body, "loop");
    const NameId loop_name = name("loop");
    Symbols inner(symbols_, id);
    if (extended) inner.declare_parameter(loop_name);
    ScopeScanner scanner(inner, names_);
    scanner.parameter_target(*node.target);
    scanner.body(node.body);
    const std::uint32_t filter = node.test ? loop_filter(node) : kNoFunction;
    const std::uint32_t loop_slot = extended ? slot(inner, loop_name) : kNoSlot;
    emit(Op::kForBegin, node.place, filter, loop_slot, 0, node.recursive ? 1 : 0);
    function().loops.push_back({extended ? &inner : nullptr, false, here(), {}});
    const std::uint32_t next = emit(Op::kForNext, node.target->place);
    {
      const Scope scope(*this, inner, false);
      store(*node.target, false);
      open_scope(node.place);
      body(node.body);
    }
    if (!node.else_body.empty()) emit(Op::kForCompleted, node.place);
    emit(Op::kJump, node.place, next);
    land(next);
    for (const std::uint32_t jump : function().loops.back().breaks) land(jump);
    function().loops.pop_back();
    const std::uint32_t end = emit(Op::kForEnd, node.place);
    if (!node.else_body.empty()) {
      Symbols otherwise(symbols_, id);
      ScopeScanner(otherwise, names_).body(node.else_body);
      const Scope scope(*this, otherwise, false);
      open_scope(node.place);
      body(node.else_body);
    }
    land(end);
  }

  // A function of one argument, the item, that says whether the loop accepts it.
  std::uint32_t loop_filter(const Stmt& node) {
    const std::uint32_t id = add_function("loop filter");
    const std::uint32_t jump = emit(Op::kJump, node.test->place);
    enter_function(id);
    Symbols inner(symbols_, id);
    ScopeScanner scanner(inner, names_);
    scanner.parameter_target(*node.target);
    scanner.expression(node.test.get());
    const Scope scope(*this, inner, false);
    program_.functions[id].entry = here();
    store(*node.target, false);
    open_scope(node.test->place);
    const std::uint32_t no = condition(*node.test, 0);
    emit(Op::kPushBool, node.test->place, 0, 0, 1);
    emit(Op::kReturnTop, node.test->place);
    land(no);
    emit(Op::kPushBool, node.test->place, 0, 0, 0);
    emit(Op::kReturnTop, node.test->place);
    leave_function();
    land(jump);
    return id;
  }

  void check_loop_target(const Stmt& node) {
    // The check of the outermost loop has covered all inner ones.
    if (!function().loops.empty()) return;
    if (const Expr* target = find_assigned(node, "loop")) {
      fail(target->place, "Can't assign to special loop variable in for-loop target");
    }
  }

  void loop_control(const Stmt& node) {
    const bool is_break = node.kind == StmtKind::kBreak;
    if (function().loops.empty() || function().loops.back().closed) {
      fail(node.place, is_break ? "'break' outside loop" : "'continue' not properly in loop");
      return;
    }
    if (is_break) {
      function().loops.back().breaks.push_back(emit(Op::kBreak, node.place));
    } else {
      emit(Op::kContinue, node.place, function().loops.back().next);
    }
  }

  void set_block(const Stmt& node) {
    check_namespaces(*node.target);
    {
      Symbols inner(symbols_, function().id);
      ScopeScanner(inner, names_).body(node.body);
      const Scope scope(*this, inner, false);
      open_scope(node.place);
      emit(Op::kBeginCapture, node.place);
      body(node.body);
      emit(Op::kEndCapture, node.place, 0, 0, 1);
      if (node.value) filter(*node.value);
      if (node.value && escaping_.used) emit(Op::kMarkSafe, node.place);
    }
    store(*node.target, true);
  }

  void filter_block(const Stmt& node) {
    Symbols inner(symbols_, function().id);
    ScopeScanner scanner(inner, names_);
    scanner.body(node.body);
    scanner.expression(node.value.get());
    const Scope scope(*this, inner, false);
    open_scope(node.place);
    emit(Op::kBeginCapture, node.place);
    body(node.body);
    emit(Op::kEndCapture, node.place, 0, 0, 1);
    filter(*node.value);
    emit(Op::kEmit, node.place, 0, 0, 2);
  }

  void with_block(const Stmt& node) {
    Symbols inner(symbols_, function().id);
    ScopeScanner scanner(inner, names_);
    for (const ExprPtr& target : node.targets) scanner.parameter_target(*target);
    scanner.body(node.body);
    {
      const Scope scope(*this, inner, false);
      open_scope(node.place);
    }
    for (std::size_t i = 0; i < node.targets.size(); ++i) {
      expression(*node.items[i]);
      const Scope scope(*this, inner, false);
      store(*node.targets[i], true);
    }
    const Scope scope(*this, inner, false);
    body(node.body);
  }

  void autoescape(const Stmt& node) {
    Symbols inner(symbols_, function().id);
    ScopeScanner scanner(inner, names_);
    scanner.expression(node.value.get());
    scanner.body(node.body);
    const Scope scope(*this, inner, false);
    open_scope(node.place);
    expression(*node.value);
    emit(Op::kAutoescape, node.place);
    const Escaping outside = escaping_;
    escaping_.enter(*node.value);
    body(node.body);
    escaping_ = outside;
    emit(Op::kEndAutoescape, node.place);
  }

  // In the reference, the block's body is a function of its own, so break cannot leave it.
  void generation(const Stmt& node) {
    program_.has_generation = true;
    Symbols inner(symbols_, function().id);
    ScopeScanner(inner, names_).body(node.body);
    const std::vector<std::string_view> parameters = special_parameters(node.body, inner);
    const Scope scope(*this, inner, false);
    const bool in_loop = !function().loops.empty();
    const bool closed = in_loop && std::exchange(function().loops.back().closed, true);
    emit(Op::kBeginGeneration, node.place);
    for (const std::string_view parameter : parameters) {
      if (parameter == "caller") {
        emit(Op::kPushNoCaller, node.place);
      } else {
        emit(parameter == "kwargs" ? Op::kDict : Op::kTuple, node.place);
      }
      emit(Op::kStoreSlot, node.place, slot(inner, name(parameter)));
    }
    open_scope(node.place);
    body(node.body);
    emit(Op::kEndGeneration, node.place);
    if (in_loop) function().loops.back().closed = closed;
  }

  // Which special parameters of a function a generation block reads.  Nobody passes them, so they are empty.
  std::vector<std::string_view> special_parameters(const Body& statements, Symbols& inner) {
    std::vector<std::string_view> out;
    for (const std::string_view special : {"caller", "kwargs", "varargs"}) {
      if (!mentions(statements, special)) continue;
      inner.declare_parameter(name(special));
      out.push_back(special);
    }
    return out;
  }

  void call_block(const Stmt& node) {
    const std::uint32_t caller = macro(node);
    call(*node.value, caller);
    emit(Op::kEmit, node.place, 0, 0, 2);
  }

  // Compiles a macro's or call block's function and jumps over it.
  std::uint32_t macro(const Stmt& node) {
    const std::uint32_t jump = emit(Op::kJump, node.place);
    const std::uint32_t id = add_function(node.name);
    enter_function(id);
    Symbols inner(symbols_, id);
    ScopeScanner scanner(inner, names_);
    for (const std::string& parameter : node.parameters) inner.declare_parameter(name(parameter));
    for (const ExprPtr& value : node.defaults) scanner.expression(value.get());
    scanner.body(node.body);
    const Scope scope(*this, inner, false);
    declare_special_parameters(node, id, inner);
    for (const std::string& parameter : node.parameters) {
      program_.functions[id].parameters.push_back(name(parameter));
      program_.functions[id].parameter_slots.push_back(slot(inner, name(parameter)));
    }
    program_.functions[id].entry = here();
    open_scope(node.place);
    bind_parameters(node, inner);
    body(node.body);
    emit(Op::kReturn, node.place);
    leave_function();
    land(jump);
    return id;
  }

  // caller, kwargs and varargs exist in a macro if its body mentions them.
  void declare_special_parameters(const Stmt& node, std::uint32_t id, Symbols& inner) {
    const auto parameter = [&](std::string_view special) {
      return std::find(node.parameters.begin(), node.parameters.end(), special);
    };
    const auto declare = [&](std::string_view special) {
      inner.declare_parameter(name(special));
      return slot(inner, name(special));
    };
    if (mentions(node.body, "caller")) {
      program_.functions[id].uses_caller = true;
      const auto found = parameter("caller");
      if (found == node.parameters.end()) {
        program_.functions[id].caller_slot = declare("caller");
      } else if (node.parameters.end() - found > static_cast<std::ptrdiff_t>(node.defaults.size())) {
        fail(node.place,
             "When defining macros or call blocks the special \"caller\" argument must be omitted or be "
             "given a default.");
      }
    }
    if (parameter("kwargs") == node.parameters.end() && mentions(node.body, "kwargs")) {
      program_.functions[id].kwargs_slot = declare("kwargs");
    }
    if (parameter("varargs") == node.parameters.end() && mentions(node.body, "varargs")) {
      program_.functions[id].varargs_slot = declare("varargs");
    }
  }

  void bind_parameters(const Stmt& node, const Symbols& inner) {
    const std::size_t without = node.parameters.size() - node.defaults.size();
    for (std::size_t i = 0; i < node.parameters.size(); ++i) {
      const NameId id = name(node.parameters[i]);
      const std::uint32_t target = slot(inner, id);
      const std::uint32_t bound = emit(Op::kJumpIfBound, node.place, 0, target);
      if (i < without) {
        emit(Op::kBindMissing, node.place, target, id);
      } else {
        expression(*node.defaults[i - without]);
        emit(Op::kStoreSlot, node.place, target);
      }
      land(bound);
    }
  }

  void check_namespaces(const Expr& target) {
    if (target.kind == ExprKind::kNsRef) {
      load_name(target.text, target.place);
      emit(Op::kCheckNamespace, target.place);
    }
    for (const ExprPtr& item : target.items) check_namespaces(*item);
  }
};

}  // namespace

Result<Program> compile(Tree tree, std::string source, const std::string& name) {
  return Compiler(std::move(tree), std::move(source), name).run();
}

}  // namespace rondo::jinja
